//! A connection to the server, by messages and proofs of `mysql_common`: statements are prepared, and values travel in binary.

use std::io::{self, Write};
use std::ops::Range;

use mysql_common::auth::plugins::{AuthProc, ChallengeResponsePlugin, Context};
use mysql_common::constants::{CapabilityFlags, Command, StatusFlags};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    AuthPlugin, AuthSwitchRequest, Column, CommonOkPacket, ErrPacket, HandshakePacket, HandshakeResponse,
    OkPacket, OkPacketDeserializer, OkPacketKind, OldEofPacket, StmtPacket,
};
use mysql_common::proto::MySerialize;
use storebench_model::store::sql::{MOST_COLUMNS, Rows, SqlValue};
use storebench_model::store::{Result, StoreError};

use super::wire::{self, ColumnKind};
use crate::support::server::socket::Socket;
use crate::support::server::{Connection, MAX_ANSWER_BYTES, TransactionCommand, error_text, unreadable};

const BUFFER_BYTES: usize = 64 << 10;
/// Bytes under way before answers are awaited: neither side may wait for the other to read.
const WINDOW_BYTES: usize = 256 << 10;
/// Longer packets go in several parts.
const MAX_PART_BYTES: usize = 0xff_ffff;

pub struct Client {
    stream: Socket,
    output: Vec<u8>,
    input: Vec<u8>,
    consumed: usize,
    read_buffer: Box<[u8]>,
    sequence: u8,
    pub version: String,
    shown_range: Range<usize>,
}

pub struct Statement {
    id: u32,
    parameters: usize,
    columns: Vec<ColumnKind>,
}

enum Answer {
    Done { changed: u64, warnings: u16, more: bool },
    Rows(u64),
}

impl Client {
    /// Runs a statement that gives at most one row of one column; gives the place of its bytes, valid until the next call.
    fn run_single(&mut self, statement: &Statement, values: &[SqlValue<'_>]) -> Result<Option<Range<usize>>> {
        self.append(statement, values.len(), values.iter().copied())?;
        self.send()?;
        let Answer::Rows(_) = self.answer()? else { return Ok(None) };
        self.skip_packets(statement.columns.len() + 1)?;
        let mut found = None;
        loop {
            let row = self.packet()?;
            if self.is_end_of_rows(&row)? {
                return Ok(found);
            }
            let mut bytes: &[u8] = &[];
            wire::read_row(&self.input[row.clone()], &statement.columns, |_, value| {
                if let SqlValue::Blob(value) = value {
                    bytes = value;
                }
            })?;
            // A single value ends where its row ends.
            found = Some(row.end - bytes.len()..row.end);
        }
    }

    /// Runs statements, which `append_next` appends one by one, without waiting for each answer. Gives the number of changed rows.
    fn run_all(&mut self, mut append_next: impl FnMut(&mut Client) -> Result<bool>) -> Result<u64> {
        let (mut changed, mut unanswered, mut first_error) = (0, 0, None);
        loop {
            let more = match append_next(self) {
                Ok(more) => more,
                Err(error) => {
                    first_error = first_error.or(Some(error));
                    false
                }
            };
            unanswered += u64::from(more);
            if !more || self.output.len() >= WINDOW_BYTES {
                self.send()?;
                for _ in 0..std::mem::take(&mut unanswered) {
                    match self.answers(&[], |_| Ok(())) {
                        Ok(rows) => changed += rows,
                        Err(error @ StoreError::Io { .. }) => return Err(error),
                        Err(error) => first_error = first_error.or(Some(error)),
                    }
                }
            }
            if let Some(error) = first_error {
                return Err(error);
            }
            if !more {
                return Ok(changed);
            }
        }
    }

    /// Runs a statement that reads a file from this connection, to which `append` adds each row; gives the numbers of rows and warnings.
    pub fn load(
        &mut self,
        sql: &str,
        rows: &mut Rows<'_>,
        mut append: impl FnMut(&[SqlValue<'_>], &mut Vec<u8>) -> Result<()>,
    ) -> Result<(u64, u16)> {
        self.send_packet(Command::COM_QUERY, sql.as_bytes())?;
        let request = self.packet()?;
        match self.input[request.clone()].first() {
            Some(&0xfb) => {}
            Some(&0xff) => return Err(error_from_packet(&self.input[request])),
            _ => return Err(StoreError::Engine("the server did not ask for the file".into())),
        }
        let mut file = Vec::with_capacity(2 * BUFFER_BYTES);
        let written = rows(&mut |row| {
            append(row, &mut file)?;
            if file.len() >= BUFFER_BYTES { self.send_data(&mut file) } else { Ok(()) }
        });
        self.send_data(&mut file)?;
        // An empty packet ends it.
        self.frame(|_| ());
        self.send()?;
        let answer = self.answer();
        written?;
        match answer? {
            Answer::Done { changed, warnings, .. } => Ok((changed, warnings)),
            Answer::Rows(_) => Err(StoreError::Engine("the server answered a load with rows".into())),
        }
    }

    fn send_data(&mut self, file: &mut Vec<u8>) -> Result<()> {
        if file.is_empty() {
            return Ok(());
        }
        self.frame(|output| output.extend_from_slice(file));
        file.clear();
        self.send()
    }

    /// Fails when there are not as many values as the statement has parameters.
    fn append<'v>(
        &mut self,
        statement: &Statement,
        count: usize,
        values: impl Iterator<Item = SqlValue<'v>> + Clone,
    ) -> Result<()> {
        let parameter_count = statement.parameters;
        if count != parameter_count {
            return Err(StoreError::Engine(format!("{count} values for {parameter_count} parameters")));
        }
        self.command(|output| wire::write_execution(statement.id, parameter_count, values, output));
        Ok(())
    }

    fn send_packet(&mut self, command: Command, argument: &[u8]) -> Result<()> {
        self.command(|output| {
            output.push(command as u8);
            output.extend_from_slice(argument);
        });
        self.send()
    }

    fn command(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.sequence = 0;
        self.frame(write);
    }

    /// Appends a packet, with its length and number first.
    fn frame(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.output.len();
        self.output.extend_from_slice(&[0; 4]);
        write(&mut self.output);
        let mut part_start = start;
        loop {
            let remaining = self.output.len() - part_start - 4;
            let length = remaining.min(MAX_PART_BYTES);
            self.output[part_start..part_start + 3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
            self.output[part_start + 3] = self.sequence;
            self.sequence = self.sequence.wrapping_add(1);
            if length < MAX_PART_BYTES {
                return;
            }
            part_start += 4 + length;
            // The bytes that follow move; only a command that is longer than 16 MiB pays for it.
            self.output.splice(part_start..part_start, [0; 4]);
        }
    }

    fn send(&mut self) -> Result<()> {
        // All that came before has been looked at.
        self.input.clear();
        self.consumed = 0;
        let sent = self.stream.write_all(&self.output);
        self.output.clear();
        sent.map_err(|error| self.stream.lost_error(error))
    }

    /// Reads the answers to one command and shows each row to `visit`; gives the number of rows shown or changed.
    fn answers(&mut self, columns: &[ColumnKind], mut visit: impl FnMut(&[u8]) -> Result<()>) -> Result<u64> {
        let mut count = 0;
        loop {
            match self.answer()? {
                Answer::Done { changed, more, .. } => {
                    count += changed;
                    if !more {
                        return Ok(count);
                    }
                }
                Answer::Rows(column_count) => {
                    debug_assert!(columns.is_empty() || columns.len() as u64 == column_count);
                    let column_count = usize::try_from(column_count).map_err(StoreError::engine)?;
                    self.skip_packets(column_count.saturating_add(1))?;
                    let mut visited = Ok(());
                    let more = loop {
                        self.drop_consumed();
                        let row = self.packet()?;
                        if self.is_end_of_rows(&row)? {
                            break has_more_results(&parse_ok::<OldEofPacket>(&self.input[row])?);
                        }
                        count += 1;
                        if visited.is_ok() {
                            visited = visit(&self.input[row]);
                        }
                    };
                    visited?;
                    if !more {
                        return Ok(count);
                    }
                }
            }
        }
    }

    fn answer(&mut self) -> Result<Answer> {
        let reply = self.packet()?;
        let reply = &self.input[reply];
        match reply.first() {
            Some(0) => {
                let summary = parse_ok::<CommonOkPacket>(reply)?;
                let (changed, warnings) = (summary.affected_rows(), summary.warnings());
                Ok(Answer::Done { changed, warnings, more: has_more_results(&summary) })
            }
            Some(0xff) => Err(error_from_packet(reply)),
            // It asks for a file that nobody offered.
            Some(0xfb) | None => Err(unreadable()),
            Some(_) => ParseBuf(reply).checked_eat_lenenc_int().map(Answer::Rows).ok_or_else(unreadable),
        }
    }

    fn is_end_of_rows(&self, row: &Range<usize>) -> Result<bool> {
        let packet = &self.input[row.clone()];
        match packet.first() {
            Some(0xff) => Err(error_from_packet(packet)),
            first => Ok(first == Some(&0xfe) && packet.len() < 9),
        }
    }

    fn skip_packets(&mut self, count: usize) -> Result<()> {
        (0..count).try_for_each(|_| {
            self.drop_consumed();
            self.packet().map(drop)
        })
    }

    fn drop_consumed(&mut self) {
        if self.consumed >= 4 * BUFFER_BYTES {
            self.input.drain(..self.consumed);
            self.consumed = 0;
        }
    }

    fn packet(&mut self) -> Result<Range<usize>> {
        let start = self.consumed + 4;
        let mut end = start;
        loop {
            // The header of this part ends the one before it.
            let header = end - if end == start { 4 } else { 0 };
            self.await_bytes(header + 4)?;
            let [low, middle, high, sequence] =
                [0, 1, 2, 3].map(|offset| self.input.get(header + offset).copied().unwrap_or_default());
            self.sequence = sequence.wrapping_add(1);
            let length = u32::from_le_bytes([low, middle, high, 0]) as usize;
            if header != start - 4 {
                self.input.drain(header..header + 4);
            }
            if end - start > MAX_ANSWER_BYTES {
                return Err(unreadable());
            }
            self.await_bytes(end + length)?;
            end += length;
            if length < MAX_PART_BYTES {
                self.consumed = end;
                return Ok(start..end);
            }
        }
    }

    fn await_bytes(&mut self, count: usize) -> Result<()> {
        while self.input.len() < count {
            let read = self.stream.receive(&mut self.read_buffer)?;
            self.input.extend_from_slice(&self.read_buffer[..read]);
        }
        Ok(())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.output.clear();
        let _ = self.send_packet(Command::COM_QUIT, &[]);
    }
}

fn parse_ok<K: OkPacketKind>(packet: &[u8]) -> Result<OkPacket<'_>> {
    let parsed: OkPacketDeserializer<'_, K> =
        ParseBuf(packet).parse(CapabilityFlags::CLIENT_PROTOCOL_41).map_err(lost_error)?;
    Ok(parsed.into_inner())
}

fn has_more_results(packet: &OkPacket<'_>) -> bool {
    packet.status_flags().contains(StatusFlags::SERVER_MORE_RESULTS_EXISTS)
}

fn lost_error(error: io::Error) -> StoreError {
    StoreError::Io { context: "talking to the server".into(), source: error }
}

fn error_from_packet(packet: &[u8]) -> StoreError {
    // A state comes first, but not before the session has begun.
    let capabilities = match packet.get(3) {
        Some(b'#') => CapabilityFlags::CLIENT_PROTOCOL_41,
        _ => CapabilityFlags::empty(),
    };
    let Ok(ErrPacket::Error(error)) = ParseBuf(packet).parse(capabilities) else {
        return StoreError::Engine("the server sent an error that can't be read".into());
    };
    let (code, message) = (error.error_code(), error_text(&error.message_str()));
    /// By MariaDB's list of errors.
    const EXISTS: u16 = 1062;
    const DISK_FULL: [u16; 2] = [1021, 1114];
    /// Lock wait timeout, deadlock, and a row that has changed since it was read.
    const CONFLICTS: [u16; 3] = [1205, 1213, 1020];
    match code {
        EXISTS => StoreError::Exists,
        code if CONFLICTS.contains(&code) => StoreError::Conflict(format!("{message} (error {code})")),
        code if DISK_FULL.contains(&code) || message.contains("No space left on device") => {
            StoreError::Io { context: message, source: io::Error::from(io::ErrorKind::StorageFull) }
        }
        code => StoreError::Engine(format!("{message} (error {code})")),
    }
}

const MAX_PACKET_BYTES: u32 = 1 << 30;

pub struct Login<'a> {
    pub user: &'a str,
    pub password: &'a str,
    pub database: Option<&'a str>,
}

struct Proof<'a> {
    password: &'a str,
    scramble: &'a [u8],
    is_local: bool,
}

impl Context for &Proof<'_> {
    fn pass(&self) -> &[u8] {
        self.password.as_bytes()
    }

    fn is_ipc_transport(&self) -> bool {
        self.is_local
    }

    fn is_tls_transport(&self) -> bool {
        false
    }

    fn scramble(&self) -> &[u8] {
        self.scramble
    }

    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}

impl Client {
    /// Begins a session on a new socket. Fails also for an unknown kind of proof.
    pub fn begin(stream: Socket, login: &Login<'_>) -> Result<Client> {
        let is_local = stream.is_local();
        let mut client = Client {
            stream,
            output: Vec::with_capacity(BUFFER_BYTES),
            input: Vec::with_capacity(BUFFER_BYTES),
            consumed: 0,
            read_buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            sequence: 0,
            version: String::new(),
            shown_range: 0..0,
        };
        let packet = client.packet()?;
        let packet = client.input[packet].to_vec();
        if packet.first() == Some(&0xff) {
            return Err(error_from_packet(&packet));
        }
        let greeting: HandshakePacket<'_> = ParseBuf(&packet).parse(()).map_err(lost_error)?;
        client.version = greeting.server_version_str().into_owned();
        client.answer_greeting(&greeting, login, is_local)?;
        client.stream.end_login();
        Ok(client)
    }

    fn answer_greeting(
        &mut self,
        greeting: &HandshakePacket<'_>,
        login: &Login<'_>,
        is_local: bool,
    ) -> Result<()> {
        let mut scramble = greeting.nonce();
        let mut kind = greeting.auth_plugin().unwrap_or(AuthPlugin::MysqlNativePassword).into_owned();
        // A method that is not known here is replaced: the server may know another.
        if kind.init().is_err() {
            kind = AuthPlugin::MysqlNativePassword;
        }
        let mut plugin = kind.init().map_err(unknown_proof_error)?;
        let proof = Proof { password: login.password, scramble: &scramble, is_local };
        let first_proof = plugin.run(&proof, &scramble).map_err(unknown_proof_error)?;
        let response = HandshakeResponse::new(
            first_proof.data(),
            (8, 0, 0),
            Some(login.user.as_bytes()),
            login.database.map(str::as_bytes),
            Some(kind),
            WANTED_CAPABILITIES & greeting.capabilities(),
            None,
            MAX_PACKET_BYTES,
        );
        self.frame(|output| response.serialize(output));
        self.send()?;
        loop {
            let packet = self.packet()?;
            let packet = self.input[packet].to_vec();
            match packet.first() {
                Some(0) => return Ok(()),
                Some(0xff) => return Err(error_from_packet(&packet)),
                // Another kind of proof.
                Some(0xfe) => {
                    let request: AuthSwitchRequest<'_> = ParseBuf(&packet).parse(()).map_err(lost_error)?;
                    scramble = request.plugin_data().to_vec();
                    plugin = request.auth_plugin().init().map_err(unknown_proof_error)?;
                    self.send_proof(&mut plugin, login, &scramble, is_local, &scramble)?;
                }
                Some(1) => self.send_proof(&mut plugin, login, &scramble, is_local, &packet[1..])?,
                _ => return Err(StoreError::Engine("the server's greeting can't be understood".into())),
            }
        }
    }

    fn send_proof(
        &mut self,
        plugin: &mut AuthProc,
        login: &Login<'_>,
        scramble: &[u8],
        is_local: bool,
        challenge: &[u8],
    ) -> Result<()> {
        let proof = Proof { password: login.password, scramble, is_local };
        let step = plugin.run(&proof, challenge).map_err(unknown_proof_error)?;
        let Some(packet) = step.data() else { return Ok(()) };
        self.frame(|output| output.extend_from_slice(packet));
        self.send()
    }
}

const WANTED_CAPABILITIES: CapabilityFlags = CapabilityFlags::CLIENT_PROTOCOL_41
    .union(CapabilityFlags::CLIENT_LONG_PASSWORD)
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    .union(CapabilityFlags::CLIENT_MULTI_STATEMENTS)
    .union(CapabilityFlags::CLIENT_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PS_MULTI_RESULTS)
    // Rows are loaded as a file that this client makes; it reads none.
    .union(CapabilityFlags::CLIENT_LOCAL_FILES)
    // An update that changes nothing has found its row all the same.
    .union(CapabilityFlags::CLIENT_FOUND_ROWS);

fn unknown_proof_error(error: impl std::fmt::Display) -> StoreError {
    StoreError::Unsupported(format!(
        "the server wants a proof of the user that storebench does not know, or has no password for ({error})"
    ))
}

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

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    fn pair() -> (Client, UnixStream) {
        let (client_end, server_end) = UnixStream::pair().unwrap();
        let client = Client {
            stream: client_end.into(),
            output: Vec::new(),
            input: Vec::new(),
            consumed: 0,
            read_buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            sequence: 0,
            version: String::new(),
            shown_range: 0..0,
        };
        (client, server_end)
    }

    #[test]
    fn packets_of_any_length_come_back_as_they_were_sent() {
        for length in [0, 1, MAX_PART_BYTES - 1, MAX_PART_BYTES, MAX_PART_BYTES + 1, 2 * MAX_PART_BYTES] {
            let (mut client, mut server_end) = pair();
            let payload: Vec<u8> = (0..length).map(|index| (index % 251) as u8).collect();
            client.command(|output| output.extend_from_slice(&payload));
            client.frame(|output| output.push(9));
            let sent = std::mem::take(&mut client.output);
            let writer = std::thread::spawn(move || server_end.write_all(&sent));
            let first = client.packet().unwrap();
            assert!(client.input[first] == payload[..], "{length}");
            let second = client.packet().unwrap();
            assert_eq!(client.input[second], [9]);
            writer.join().unwrap().unwrap();
        }
    }

    #[test]
    fn errors_are_told_in_the_terms_of_a_store() {
        let error = |code: u16, text: &str| {
            error_from_packet(&[&[0xff], &code.to_le_bytes()[..], text.as_bytes()].concat())
        };
        assert!(matches!(error(1213, "#40001Deadlock found"), StoreError::Conflict(_)));
        assert!(matches!(error(1062, "#23000Duplicate entry"), StoreError::Exists));
        assert!(matches!(error(1114, "#HY000The table is full"), StoreError::Io { .. }));
        assert!(matches!(error(1105, "#HY000[x]: No space left on device"), StoreError::Io { .. }));
        assert_eq!(error(1040, "Too many connections").to_string(), "Too many connections (error 1040)");
        assert_eq!(error(1045, "#28000Access denied").to_string(), "Access denied (error 1045)");
    }
}
