//! A connection to the server: a blocking socket, and the messages of `postgres-protocol`. Statements are prepared, and values
//! travel in binary.

mod connection;
mod login;

use std::io::{self, Read, Write};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use fallible_iterator::FallibleIterator;
use postgres_protocol::Oid;
use postgres_protocol::message::backend::{ErrorResponseBody, Message};
use postgres_protocol::message::frontend::{self, BindError};
use storebench_core::store::sql::SqlValue;
use storebench_core::store::{Result, StoreError};

pub use self::login::Login;
use super::wire;
use crate::support::server::error_text;
use crate::support::server::socket::Socket;

const PIECE: usize = 64 << 10;
/// Statements and bytes under way before answers are awaited: neither side may wait for the other to read.
const WINDOW: usize = 256;
const WINDOW_BYTES: usize = 256 << 10;
/// The time limit for the server to end a closed session.
const LONGEST_END: Duration = Duration::from_secs(30);
const BINARY: i16 = 1;

pub struct Client {
    stream: Socket,
    out: BytesMut,
    input: BytesMut,
    piece: Box<[u8]>,
    /// Counts statements for their names.
    prepared: usize,
    shown: Bytes,
}

pub struct Statement {
    name: String,
    parameters: Vec<Oid>,
    columns: Vec<Oid>,
}

impl Statement {
    pub fn columns(&self) -> &[Oid] {
        &self.columns
    }
}

impl Client {
    /// Runs a statement and shows the columns of each row to `see` as received; gives the number of rows shown or changed.
    fn rows(
        &mut self,
        statement: &Statement,
        values: &[SqlValue<'_>],
        see: impl FnMut(&Bytes),
    ) -> Result<u64> {
        self.bind(statement, values)?;
        frontend::sync(&mut self.out);
        self.send()?;
        self.answer(see)
    }

    /// Runs a statement for each row of values, all or none, without waiting for each answer. Gives the number of changed rows.
    fn run_all<'v, const N: usize>(
        &mut self,
        statement: &Statement,
        rows: impl Iterator<Item = [SqlValue<'v>; N]>,
    ) -> Result<u64> {
        let (mut changed, mut under_way) = (0, 0);
        for row in rows {
            self.bind(statement, &row)?;
            under_way += 1;
            if under_way == WINDOW || self.out.len() >= WINDOW_BYTES {
                frontend::flush(&mut self.out);
                self.send()?;
                changed += self.answers(under_way)?;
                under_way = 0;
            }
        }
        // The statements before it are one transaction, which ends here.
        frontend::sync(&mut self.out);
        self.send()?;
        Ok(changed + self.answer(|_| ())?)
    }

    /// Copies rows into a table, all or none. `rows` receives what takes one row.
    pub fn copy_in(
        &mut self,
        sql: &str,
        of: &[Oid],
        rows: &mut storebench_core::store::sql::Rows<'_>,
    ) -> Result<u64> {
        self.write(|out| frontend::query(sql, out))?;
        self.send()?;
        loop {
            match self.next()? {
                Message::CopyInResponse(_) => break,
                Message::ErrorResponse(told) => {
                    let error = error_of(&told);
                    self.answer(|_| ())?;
                    return Err(error);
                }
                _ => {}
            }
        }
        let mut data = BytesMut::with_capacity(2 * PIECE);
        data.extend_from_slice(b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0");
        let made = rows(&mut |row| {
            append_row(row, of, &mut data)?;
            if data.len() >= PIECE { self.hand_over(&mut data) } else { Ok(()) }
        });
        match &made {
            Ok(()) => {
                data.extend_from_slice(&(-1_i16).to_be_bytes());
                self.hand_over(&mut data)?;
                frontend::copy_done(&mut self.out);
            }
            Err(_) => self.write(|out| frontend::copy_fail("the rows could not be made", out))?,
        }
        self.send()?;
        let copied = self.answer(|_| ());
        made.and(copied)
    }

    fn hand_over(&mut self, data: &mut BytesMut) -> Result<()> {
        frontend::CopyData::new(&data[..]).map_err(lost_error)?.write(&mut self.out);
        data.clear();
        self.send()
    }

    fn bind(&mut self, statement: &Statement, values: &[SqlValue<'_>]) -> Result<()> {
        let wanted = statement.parameters.len();
        if values.len() != wanted {
            return Err(StoreError::Engine(format!("{} values for {wanted} parameters", values.len())));
        }
        let before = self.out.len();
        let bound = frontend::bind(
            "",
            &statement.name,
            [BINARY],
            values.iter().zip(&statement.parameters),
            |(value, of), out| wire::write(value, *of, out),
            [BINARY],
            &mut self.out,
        );
        let bound = bound.map_err(|error| match error {
            BindError::Conversion(error) => StoreError::Engine(error.to_string()),
            BindError::Serialization(error) => StoreError::engine(error),
        });
        let bound = bound.and_then(|()| frontend::execute("", 0, &mut self.out).map_err(StoreError::engine));
        // Half a message would be taken for a whole one.
        bound.inspect_err(|_| self.out.truncate(before))
    }

    /// Appends messages, whole or not at all.
    fn write(&mut self, write: impl FnOnce(&mut BytesMut) -> io::Result<()>) -> Result<()> {
        let before = self.out.len();
        write(&mut self.out).map_err(StoreError::engine).inspect_err(|_| self.out.truncate(before))
    }

    fn send(&mut self) -> Result<()> {
        let sent = self.stream.write_all(&self.out);
        self.out.clear();
        sent.map_err(|error| self.stream.lost_error(error))
    }

    /// Reads the answers to statements that were sent with a flush.
    fn answers(&mut self, mut awaited: usize) -> Result<u64> {
        let mut changed = 0;
        while awaited > 0 {
            match self.next()? {
                Message::CommandComplete(done) => {
                    changed += rows_in_tag(done.tag().map_err(lost_error)?);
                    awaited -= 1;
                }
                Message::ErrorResponse(told) => {
                    let error = error_of(&told);
                    // It passes by all that comes before this.
                    frontend::sync(&mut self.out);
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
    fn answer(&mut self, mut see: impl FnMut(&Bytes)) -> Result<u64> {
        let (mut count, mut failed) = (0, None);
        loop {
            match self.next()? {
                Message::DataRow(row) => see(row.buffer_bytes()),
                Message::CommandComplete(done) => count += rows_in_tag(done.tag().map_err(lost_error)?),
                Message::ErrorResponse(told) => failed = failed.or(Some(error_of(&told))),
                Message::ReadyForQuery(_) => return failed.map_or(Ok(count), Err),
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
                Some(Message::ErrorResponse(told)) if ends_the_session(&told) => return Err(error_of(&told)),
                Some(message) => return Ok(message),
                None => self.fill()?,
            }
        }
    }

    fn fill(&mut self) -> Result<()> {
        let count = loop {
            match self.stream.read(&mut self.piece) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read.map_err(|error| self.stream.lost_error(error))?,
            }
        };
        if count == 0 {
            let ended = io::Error::new(io::ErrorKind::UnexpectedEof, "it has ended the connection");
            return Err(self.stream.lost_error(ended));
        }
        self.input.extend_from_slice(&self.piece[..count]);
        Ok(())
    }
}

/// Waits until the server has ended the session and closed the socket: by then its counts are visible.
impl Drop for Client {
    fn drop(&mut self) {
        self.out.clear();
        frontend::terminate(&mut self.out);
        if self.send().is_ok() {
            self.stream.ends_within(LONGEST_END);
            while matches!(self.stream.read(&mut self.piece), Ok(count) if count > 0) {}
        }
    }
}

/// Appends a row in COPY's format.
fn append_row(row: &[SqlValue<'_>], of: &[Oid], data: &mut BytesMut) -> Result<()> {
    if row.len() != of.len() {
        return Err(StoreError::Engine(format!("{} values for {} columns", row.len(), of.len())));
    }
    data.extend_from_slice(&(row.len() as i16).to_be_bytes());
    for (value, of) in row.iter().zip(of) {
        let at = data.len();
        data.extend_from_slice(&(-1_i32).to_be_bytes());
        let there = wire::write(value, *of, data).map_err(StoreError::engine)?;
        if let postgres_protocol::IsNull::No = there {
            let length = i32::try_from(data.len() - at - 4).map_err(StoreError::engine)?;
            data[at..at + 4].copy_from_slice(&length.to_be_bytes());
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

fn field(told: &ErrorResponseBody, letter: u8) -> String {
    let mut fields = told.fields();
    while let Ok(Some(field)) = fields.next() {
        if field.type_() == letter {
            return String::from_utf8_lossy(field.value_bytes()).into_owned();
        }
    }
    String::new()
}

fn ends_the_session(told: &ErrorResponseBody) -> bool {
    matches!(field(told, b'V').as_str(), "FATAL" | "PANIC")
}

fn error_of(told: &ErrorResponseBody) -> StoreError {
    let message = error_text(&field(told, b'M'));
    match field(told, b'C').as_str() {
        // A unique index has the key.
        "23505" => StoreError::Exists,
        // It could not be put in an order with another one, or waited for one that waited for it.
        "40001" | "40P01" => StoreError::Conflict(message),
        "53100" => StoreError::Io { context: message, source: io::Error::from(io::ErrorKind::StorageFull) },
        code => StoreError::Engine(format!("{message} (SQLSTATE {code})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_by_what_is_said() {
        assert_eq!(
            [
                rows_in_tag("INSERT 0 1"),
                rows_in_tag("UPDATE 12"),
                rows_in_tag("SELECT 3"),
                rows_in_tag("BEGIN")
            ],
            [1, 12, 3, 0]
        );
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
