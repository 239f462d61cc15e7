//! A connection to the server, by the messages of `postgres-protocol`: statements are prepared, and values travel in binary.

use std::io::{self, Read, Write};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use fallible_iterator::FallibleIterator;
use postgres_protocol::Oid;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{ErrorResponseBody, Message};
use postgres_protocol::message::frontend::{self, BindError};
use storebench_model::store::sql::{MOST_COLUMNS, Rows, SqlValue};
use storebench_model::store::{Result, StoreError};

use super::wire::{self, Columns, number_parameters};
use crate::support::server::socket::Socket;
use crate::support::server::{Connection, TransactionCommand, error_text};

const BUFFER_BYTES: usize = 64 << 10;
/// Statements and bytes under way before answers are awaited: neither side may wait for the other to read.
const WINDOW: usize = 256;
const WINDOW_BYTES: usize = 256 << 10;
/// The time limit for the server to end a closed session.
const LONGEST_END: Duration = Duration::from_secs(30);
const BINARY: i16 = 1;

pub struct Client {
    stream: Socket,
    output: BytesMut,
    input: BytesMut,
    read_buffer: Box<[u8]>,
    statement_count: usize,
    shown_bytes: Bytes,
}

pub struct Statement {
    name: String,
    parameters: Vec<Oid>,
    pub columns: Vec<Oid>,
}

impl Client {
    /// Runs a statement and shows the columns of each row to `visit` as received; gives the number of rows shown or changed.
    fn rows(
        &mut self,
        statement: &Statement,
        values: &[SqlValue<'_>],
        visit: impl FnMut(&Bytes),
    ) -> Result<u64> {
        self.bind(statement, values)?;
        frontend::sync(&mut self.output);
        self.send()?;
        self.answer(visit)
    }

    /// Runs a statement for each row of values, all or none, without waiting for each answer. Gives the number of changed rows.
    fn run_all<'v, const N: usize>(
        &mut self,
        statement: &Statement,
        rows: impl Iterator<Item = [SqlValue<'v>; N]>,
    ) -> Result<u64> {
        let (mut changed, mut unanswered) = (0, 0);
        for row in rows {
            self.bind(statement, &row)?;
            unanswered += 1;
            if unanswered == WINDOW || self.output.len() >= WINDOW_BYTES {
                frontend::flush(&mut self.output);
                self.send()?;
                changed += self.answers(unanswered)?;
                unanswered = 0;
            }
        }
        // The statements before it are one transaction, which ends here.
        frontend::sync(&mut self.output);
        self.send()?;
        Ok(changed + self.answer(|_| ())?)
    }

    /// Copies rows into a table, all or none. `rows` receives what takes one row.
    pub fn copy_in(&mut self, sql: &str, types: &[Oid], rows: &mut Rows<'_>) -> Result<u64> {
        self.write(|output| frontend::query(sql, output))?;
        self.send()?;
        loop {
            match self.next()? {
                Message::CopyInResponse(_) => break,
                Message::ErrorResponse(response) => {
                    let error = error_from_response(&response);
                    self.answer(|_| ())?;
                    return Err(error);
                }
                _ => {}
            }
        }
        let mut data = BytesMut::with_capacity(2 * BUFFER_BYTES);
        data.extend_from_slice(b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0");
        let written = rows(&mut |row| {
            append_row(row, types, &mut data)?;
            if data.len() >= BUFFER_BYTES { self.send_data(&mut data) } else { Ok(()) }
        });
        match &written {
            Ok(()) => {
                data.extend_from_slice(&(-1_i16).to_be_bytes());
                self.send_data(&mut data)?;
                frontend::copy_done(&mut self.output);
            }
            Err(_) => self.write(|output| frontend::copy_fail("the rows could not be made", output))?,
        }
        self.send()?;
        let copied = self.answer(|_| ());
        written.and(copied)
    }

    fn send_data(&mut self, data: &mut BytesMut) -> Result<()> {
        frontend::CopyData::new(&data[..]).map_err(lost_error)?.write(&mut self.output);
        data.clear();
        self.send()
    }

    fn bind(&mut self, statement: &Statement, values: &[SqlValue<'_>]) -> Result<()> {
        let parameter_count = statement.parameters.len();
        if values.len() != parameter_count {
            let count = values.len();
            return Err(StoreError::Engine(format!("{count} values for {parameter_count} parameters")));
        }
        let length_before = self.output.len();
        let bound = frontend::bind(
            "",
            &statement.name,
            [BINARY],
            values.iter().zip(&statement.parameters),
            |(value, sql_type), output| wire::write(value, *sql_type, output),
            [BINARY],
            &mut self.output,
        );
        let bound = bound.map_err(|error| match error {
            BindError::Conversion(error) => StoreError::Engine(error.to_string()),
            BindError::Serialization(error) => StoreError::engine(error),
        });
        let bound =
            bound.and_then(|()| frontend::execute("", 0, &mut self.output).map_err(StoreError::engine));
        // Half a message would be taken for a whole one.
        bound.inspect_err(|_| self.output.truncate(length_before))
    }

    /// Appends messages, whole or not at all.
    fn write(&mut self, write: impl FnOnce(&mut BytesMut) -> io::Result<()>) -> Result<()> {
        let length_before = self.output.len();
        let written = write(&mut self.output).map_err(StoreError::engine);
        written.inspect_err(|_| self.output.truncate(length_before))
    }

    fn send(&mut self) -> Result<()> {
        let sent = self.stream.write_all(&self.output);
        self.output.clear();
        sent.map_err(|error| self.stream.lost_error(error))
    }

    /// Reads the answers to statements that were sent with a flush.
    fn answers(&mut self, mut statements: usize) -> Result<u64> {
        let mut changed = 0;
        while statements > 0 {
            match self.next()? {
                Message::CommandComplete(completion) => {
                    changed += rows_in_tag(completion.tag().map_err(lost_error)?);
                    statements -= 1;
                }
                Message::ErrorResponse(response) => {
                    let error = error_from_response(&response);
                    // It passes by all that comes before this.
                    frontend::sync(&mut self.output);
                    self.send()?;
                    self.answer(|_| ())?;
                    return Err(error);
                }
                _ => {}
            }
        }
        Ok(changed)
    }

    /// Reads answers until the server waits for more.
    fn answer(&mut self, mut visit: impl FnMut(&Bytes)) -> Result<u64> {
        let (mut count, mut first_error) = (0, None);
        loop {
            match self.next()? {
                Message::DataRow(row) => visit(row.buffer_bytes()),
                Message::CommandComplete(completion) => {
                    count += rows_in_tag(completion.tag().map_err(lost_error)?);
                }
                Message::ErrorResponse(response) => {
                    first_error = first_error.or(Some(error_from_response(&response)));
                }
                Message::ReadyForQuery(_) => return first_error.map_or(Ok(count), Err),
                _ => {}
            }
        }
    }

    fn next(&mut self) -> Result<Message> {
        loop {
            match Message::parse(&mut self.input).map_err(lost_error)? {
                Some(
                    Message::NoticeResponse(_)
                    | Message::ParameterStatus(_)
                    | Message::NotificationResponse(_),
                ) => {}
                Some(Message::ErrorResponse(response)) if is_fatal(&response) => {
                    return Err(error_from_response(&response));
                }
                Some(message) => return Ok(message),
                None => self.fill()?,
            }
        }
    }

    fn fill(&mut self) -> Result<()> {
        let count = self.stream.receive(&mut self.read_buffer)?;
        self.input.extend_from_slice(&self.read_buffer[..count]);
        Ok(())
    }
}

/// Waits until the server has ended the session and closed the socket: by then its counts are visible.
impl Drop for Client {
    fn drop(&mut self) {
        self.output.clear();
        frontend::terminate(&mut self.output);
        if self.send().is_ok() {
            self.stream.limit_end(LONGEST_END);
            while matches!(self.stream.read(&mut self.read_buffer), Ok(count) if count > 0) {}
        }
    }
}

fn append_row(row: &[SqlValue<'_>], types: &[Oid], data: &mut BytesMut) -> Result<()> {
    if row.len() != types.len() {
        return Err(StoreError::Engine(format!("{} values for {} columns", row.len(), types.len())));
    }
    data.extend_from_slice(&(row.len() as i16).to_be_bytes());
    for (value, sql_type) in row.iter().zip(types) {
        let start = data.len();
        data.extend_from_slice(&(-1_i32).to_be_bytes());
        let null = wire::write(value, *sql_type, data).map_err(StoreError::engine)?;
        if let postgres_protocol::IsNull::No = null {
            let length = i32::try_from(data.len() - start - 4).map_err(StoreError::engine)?;
            data[start..start + 4].copy_from_slice(&length.to_be_bytes());
        }
    }
    Ok(())
}

/// The number of rows in a command tag: `INSERT 0 1`, `SELECT 3`. Some have none.
fn rows_in_tag(tag: &str) -> u64 {
    tag.rsplit(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

fn lost_error(error: io::Error) -> StoreError {
    StoreError::Io { context: "talking to postgres".into(), source: error }
}

fn error_field(response: &ErrorResponseBody, letter: u8) -> String {
    let mut fields = response.fields();
    while let Ok(Some(field)) = fields.next() {
        if field.type_() == letter {
            return String::from_utf8_lossy(field.value_bytes()).into_owned();
        }
    }
    String::new()
}

fn is_fatal(response: &ErrorResponseBody) -> bool {
    matches!(error_field(response, b'V').as_str(), "FATAL" | "PANIC")
}

fn error_from_response(response: &ErrorResponseBody) -> StoreError {
    let message = error_text(&error_field(response, b'M'));
    match error_field(response, b'C').as_str() {
        // A unique index has the key.
        "23505" => StoreError::Exists,
        // It could not be put in an order with another one, or waited for one that waited for it.
        "40001" | "40P01" => StoreError::Conflict(message),
        "53100" => StoreError::Io { context: message, source: io::Error::from(io::ErrorKind::StorageFull) },
        code => StoreError::Engine(format!("{message} (SQLSTATE {code})")),
    }
}

pub struct Login<'a> {
    pub user: &'a str,
    pub database: &'a str,
    /// Called if the server wants a password.
    pub password: &'a dyn Fn() -> Result<Option<String>>,
}

impl Client {
    /// Begins a session on a new socket. Fails also without a wanted password, and for an unknown kind of proof.
    pub fn begin(stream: Socket, login: &Login<'_>) -> Result<Client> {
        let (output, input) = (BytesMut::with_capacity(BUFFER_BYTES), BytesMut::with_capacity(BUFFER_BYTES));
        let (read_buffer, shown_bytes) = (vec![0; BUFFER_BYTES].into_boxed_slice(), Bytes::new());
        let mut client = Client { stream, output, input, read_buffer, statement_count: 0, shown_bytes };
        let parameters = [("user", login.user), ("database", login.database), ("client_encoding", "UTF8")];
        frontend::startup_message(parameters, &mut client.output).map_err(StoreError::engine)?;
        client.send()?;
        client.authenticate(login)?;
        client.answer(|_| ())?;
        client.stream.end_login();
        Ok(client)
    }

    fn authenticate(&mut self, login: &Login<'_>) -> Result<()> {
        let password = || {
            (login.password)()?.ok_or_else(|| {
                let message = "the server wants a password: set PGPASSWORD, or put it into ~/.pgpass";
                StoreError::Engine(message.into())
            })
        };
        loop {
            match self.next()? {
                Message::AuthenticationOk => return Ok(()),
                Message::ErrorResponse(response) => return Err(error_from_response(&response)),
                Message::AuthenticationCleartextPassword => {
                    let password = password()?;
                    self.write(|output| frontend::password_message(password.as_bytes(), output))?;
                    self.send()?;
                }
                Message::AuthenticationMd5Password(request) => {
                    let hash = md5_hash(login.user.as_bytes(), password()?.as_bytes(), request.salt());
                    self.write(|output| frontend::password_message(hash.as_bytes(), output))?;
                    self.send()?;
                }
                Message::AuthenticationSasl(request) => {
                    let is_known =
                        request.mechanisms().any(|name| Ok(name == SCRAM_SHA_256)).map_err(lost_error)?;
                    if !is_known {
                        return Err(unknown_proof_error());
                    }
                    self.scram(password()?.as_bytes())?;
                }
                _ => return Err(unknown_proof_error()),
            }
        }
    }

    fn scram(&mut self, password: &[u8]) -> Result<()> {
        let mut scram = ScramSha256::new(password, ChannelBinding::unsupported());
        self.write(|output| frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), output))?;
        self.send()?;
        loop {
            match self.next()? {
                Message::AuthenticationSaslContinue(message) => {
                    scram.update(message.data()).map_err(lost_error)?;
                    self.write(|output| frontend::sasl_response(scram.message(), output))?;
                    self.send()?;
                }
                Message::AuthenticationSaslFinal(message) => {
                    return scram.finish(message.data()).map_err(lost_error);
                }
                Message::ErrorResponse(response) => return Err(error_from_response(&response)),
                _ => return Err(unknown_proof_error()),
            }
        }
    }
}

fn unknown_proof_error() -> StoreError {
    StoreError::Unsupported(
        "the server wants a proof of the user that storebench does not know: it knows passwords (scram-sha-256, md5) and trust"
            .into(),
    )
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_by_what_is_said() {
        assert_eq!(["INSERT 0 1", "UPDATE 12", "SELECT 3", "BEGIN"].map(rows_in_tag), [1, 12, 3, 0]);
    }

    #[test]
    fn a_row_to_copy_has_its_lengths() {
        let mut data = BytesMut::new();
        append_row(&[SqlValue::Text("ab"), SqlValue::Null], &[wire::TEXT, wire::INT4], &mut data).unwrap();
        assert_eq!(&data[..], [0, 2, 0, 0, 0, 2, b'a', b'b', 255, 255, 255, 255]);
        assert!(append_row(&[SqlValue::Null], &[], &mut data).is_err());
        assert!(append_row(&[SqlValue::Text("x")], &[wire::INT4], &mut data).is_err());
    }
}
