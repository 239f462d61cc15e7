//! The operations of a store's sessions on a connection.

use bytes::Bytes;
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use storebench_core::store::sql::{MOST_COLUMNS, SqlValue};
use storebench_core::store::{Result, StoreError};

use super::super::wire::{self, Columns, number_parameters};
use super::{Client, Statement, error_from_response, lost_error};
use crate::support::server::{Connection, TransactionCommand};

impl Connection for Client {
    type Statement = Statement;
    /// A batch is one statement for each record.
    type Inserts = ();
    type Commands = [Statement; 3];

    fn execute(&mut self, sql: &str) -> Result<()> {
        self.write(|output| frontend::query(sql, output))?;
        self.send()?;
        self.answer(|_| ()).map(drop)
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        let name = format!("s{}", self.statement_count);
        self.statement_count += 1;
        self.write(|output| {
            frontend::parse(&name, sql, [], output)?;
            frontend::describe(b'S', &name, output)
        })?;
        frontend::sync(&mut self.output);
        self.send()?;
        let (mut parameters, mut columns, mut first_error) = (Vec::new(), Vec::new(), None);
        loop {
            match self.next()? {
                Message::ParameterDescription(description) => {
                    parameters = description.parameters().collect().map_err(lost_error)?
                }
                Message::RowDescription(description) => {
                    columns = description
                        .fields()
                        .map(|field| Ok(field.type_oid()))
                        .collect()
                        .map_err(lost_error)?;
                }
                Message::ErrorResponse(response) => {
                    first_error = first_error.or(Some(error_from_response(&response)));
                }
                Message::ReadyForQuery(_) => break,
                _ => {}
            }
        }
        first_error.map_or(Ok(Statement { name, parameters, columns }), Err)
    }

    fn forget(&mut self, statement: Statement) -> Result<()> {
        self.write(|output| frontend::close(b'S', &statement.name, output))?;
        frontend::sync(&mut self.output);
        self.send()?;
        self.answer(|_| ()).map(drop)
    }

    fn prepare_portable(&mut self, sql: &str) -> Result<Statement> {
        self.prepare(&number_parameters(sql))
    }

    fn run(&mut self, statement: &Statement, values: &[SqlValue<'_>]) -> Result<u64> {
        self.rows(statement, values, |_| ())
    }

    fn query(
        &mut self,
        statement: &Statement,
        values: &[SqlValue<'_>],
        visit: &mut dyn FnMut(&[SqlValue<'_>]),
    ) -> Result<u64> {
        self.rows(statement, values, |row| {
            let mut columns = [SqlValue::Null; MOST_COLUMNS];
            let mut count = 0;
            for ((column, value), sql_type) in columns.iter_mut().zip(Columns(row)).zip(&statement.columns) {
                *column = wire::read(value, *sql_type);
                count += 1;
            }
            visit(&columns[..count]);
        })
    }

    fn get(&mut self, get: &Statement, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        // Its memory can be used again.
        self.shown_bytes = Bytes::new();
        let mut shown = Bytes::new();
        let rows = self.rows(get, &[SqlValue::Blob(key)], |row| {
            if let Some(Some(value)) = Columns(row).next() {
                shown = row.slice_ref(value);
                visit(value);
            }
        })?;
        self.shown_bytes = shown;
        Ok(rows > 0)
    }

    fn shown_value(&self) -> &[u8] {
        &self.shown_bytes
    }

    fn scan(
        &mut self,
        scan: &Statement,
        values: &[SqlValue<'_>; 2],
        visit: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<u64> {
        self.rows(scan, values, |row| {
            let mut columns = Columns(row);
            if let (Some(Some(key)), Some(Some(value))) = (columns.next(), columns.next()) {
                visit(key, value);
            }
        })
    }

    fn prepare_inserts(&mut self) -> Result<()> {
        Ok(())
    }

    fn insert_all(&mut self, insert: &Statement, (): &(), records: &[(&[u8], &[u8])]) -> Result<()> {
        let rows = records.iter().map(|(key, value)| [SqlValue::Blob(key), SqlValue::Blob(value)]);
        self.run_all(insert, rows).map(drop)
    }

    fn remove_all(&mut self, remove: &Statement, keys: &[&[u8]]) -> Result<()> {
        let removed = self.run_all(remove, keys.iter().map(|key| [SqlValue::Blob(key)]))?;
        if removed == keys.len() as u64 { Ok(()) } else { Err(StoreError::Missing) }
    }

    fn prepare_commands(&mut self) -> Result<[Statement; 3]> {
        Ok([self.prepare("BEGIN")?, self.prepare("COMMIT")?, self.prepare("ROLLBACK")?])
    }

    /// After a failed statement COMMIT rolls back, which only its tag shows.
    fn send_command(
        &mut self,
        [begin, commit, roll_back]: &[Statement; 3],
        command: TransactionCommand,
    ) -> Result<()> {
        let statement = match command {
            TransactionCommand::Begin => begin,
            TransactionCommand::Commit => commit,
            TransactionCommand::RollBack => roll_back,
        };
        self.run(statement, &[]).map(drop)
    }
}
