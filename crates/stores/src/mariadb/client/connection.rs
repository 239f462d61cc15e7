//! The statements of a store's sessions on a connection.

use mysql_common::constants::Command;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{Column, StmtPacket};
use storebench_core::store::sql::{MOST_COLUMNS, SqlValue};
use storebench_core::store::{Result, StoreError};

use super::super::wire::{self, ColumnKind};
use super::{Client, Statement, error_from_packet, lost_error};
use crate::support::server::{Connection, TransactionCommand};

/// Rows that one statement adds of a batch, the most first; a batch takes several statements, in one transaction.
const ROWS_AT_ONCE: [usize; 2] = [64, 8];

impl Connection for Client {
    type Statement = Statement;
    type Inserts = [Statement; 2];
    type Commands = ();

    fn execute(&mut self, sql: &str) -> Result<()> {
        self.send_packet(Command::COM_QUERY, sql.as_bytes())?;
        self.answers(&[], |_| Ok(())).map(drop)
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        self.send_packet(Command::COM_STMT_PREPARE, sql.as_bytes())?;
        let reply = self.packet()?;
        let reply = &self.input[reply];
        if reply.first() == Some(&0xff) {
            return Err(error_from_packet(reply));
        }
        let reply: StmtPacket = ParseBuf(reply).parse(()).map_err(lost_error)?;
        let (parameters, count) = (usize::from(reply.num_params()), usize::from(reply.num_columns()));
        if parameters > 0 {
            self.skip_packets(parameters + 1)?;
        }
        let mut columns = Vec::with_capacity(count);
        for _ in 0..count {
            let packet = self.packet()?;
            let column: Column = ParseBuf(&self.input[packet]).parse(()).map_err(lost_error)?;
            columns.push(ColumnKind::from_column(&column));
        }
        if count > 0 {
            self.skip_packets(1)?;
        }
        Ok(Statement { id: reply.statement_id(), parameters, columns })
    }

    fn forget(&mut self, statement: Statement) -> Result<()> {
        self.send_packet(Command::COM_STMT_CLOSE, &statement.id.to_le_bytes())
    }

    fn run(&mut self, statement: &Statement, values: &[SqlValue<'_>]) -> Result<u64> {
        self.append(statement, values.len(), values.iter().copied())?;
        self.send()?;
        self.answers(&statement.columns, |_| Ok(()))
    }

    fn query(
        &mut self,
        statement: &Statement,
        values: &[SqlValue<'_>],
        visit: &mut dyn FnMut(&[SqlValue<'_>]),
    ) -> Result<u64> {
        self.append(statement, values.len(), values.iter().copied())?;
        self.send()?;
        self.answers(&statement.columns, |row| {
            let mut columns = [SqlValue::Null; MOST_COLUMNS];
            let count = statement.columns.len().min(MOST_COLUMNS);
            wire::read_row(row, &statement.columns[..count], |number, value| columns[number] = value)?;
            visit(&columns[..count]);
            Ok(())
        })
    }

    fn get(&mut self, get: &Statement, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let found = self.run_single(get, &[SqlValue::Blob(key)])?;
        self.shown_range = found.clone().unwrap_or(0..0);
        if found.is_some() {
            visit(self.shown_value());
        }
        Ok(found.is_some())
    }

    fn shown_value(&self) -> &[u8] {
        self.input.get(self.shown_range.clone()).unwrap_or_default()
    }

    fn scan(
        &mut self,
        scan: &Statement,
        values: &[SqlValue<'_>; 2],
        visit: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<u64> {
        self.query(scan, values, &mut |row| {
            if let [SqlValue::Blob(key), SqlValue::Blob(value)] = row {
                visit(key, value);
            }
        })
    }

    fn prepare_inserts(&mut self) -> Result<[Statement; 2]> {
        let mut insert = |rows: usize| {
            let values = vec!["(?, ?)"; rows].join(", ");
            self.prepare(&format!("INSERT INTO records (k, v) VALUES {values}"))
        };
        let [large, small] = ROWS_AT_ONCE;
        Ok([insert(large)?, insert(small)?])
    }

    fn insert_all(
        &mut self,
        insert: &Statement,
        inserts: &[Statement; 2],
        records: &[(&[u8], &[u8])],
    ) -> Result<()> {
        let statements = || ROWS_AT_ONCE.into_iter().zip(inserts).chain([(1, insert)]);
        let mut remaining = records;
        self.all_or_none(|client| {
            let added = client.run_all(|client| {
                let Some((rows, statement)) = statements().find(|(rows, _)| *rows <= remaining.len()) else {
                    return Ok(false);
                };
                let (batch, later) = remaining.split_at(rows);
                let values =
                    batch.iter().flat_map(|(key, value)| [SqlValue::Blob(key), SqlValue::Blob(value)]);
                client.append(statement, 2 * rows, values)?;
                remaining = later;
                Ok(true)
            });
            added.map(drop)
        })
    }

    fn remove_all(&mut self, remove: &Statement, keys: &[&[u8]]) -> Result<()> {
        let mut remaining = keys.iter();
        self.all_or_none(|client| {
            let removed = client.run_all(|client| {
                let Some(key) = remaining.next() else { return Ok(false) };
                client.append(remove, 1, [SqlValue::Blob(key)].into_iter()).map(|()| true)
            })?;
            if removed == keys.len() as u64 { Ok(()) } else { Err(StoreError::Missing) }
        })
    }

    fn prepare_commands(&mut self) -> Result<()> {
        Ok(())
    }

    fn send_command(&mut self, (): &(), command: TransactionCommand) -> Result<()> {
        self.execute(match command {
            TransactionCommand::Begin => "START TRANSACTION",
            TransactionCommand::Commit => "COMMIT",
            TransactionCommand::RollBack => "ROLLBACK",
        })
    }
}

impl Client {
    pub fn all_or_none<T>(&mut self, work: impl FnOnce(&mut Client) -> Result<T>) -> Result<T> {
        self.send_command(&(), TransactionCommand::Begin)?;
        let outcome =
            work(self).and_then(|value| self.send_command(&(), TransactionCommand::Commit).map(|()| value));
        // The first error counts.
        outcome.inspect_err(|_| drop(self.send_command(&(), TransactionCommand::RollBack)))
    }
}
