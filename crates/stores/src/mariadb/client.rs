//! A connection to the server: a blocking socket, packets of the protocol of MySQL and MariaDB, and messages and proofs of
//! `mysql_common`. Statements are prepared, and values travel in binary.

mod connection;
mod login;

use std::io::{self, Read, Write};
use std::ops::Range;

use mysql_common::constants::{CapabilityFlags, Command, StatusFlags};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    CommonOkPacket, ErrPacket, OkPacket, OkPacketDeserializer, OkPacketKind, OldEofPacket,
};
use storebench_core::store::sql::SqlValue;
use storebench_core::store::{Result, StoreError};

pub use self::login::Login;
use super::wire::{self, ColumnKind};
use crate::support::server::socket::Socket;
use crate::support::server::{MOST_ANSWER, error_text, unreadable};

const PIECE: usize = 64 << 10;
/// Bytes under way before answers are awaited: neither side may wait for the other to read.
const WINDOW_BYTES: usize = 256 << 10;
/// Longer packets go in several parts.
const MOST_IN_PART: usize = 0xff_ffff;

pub struct Client {
    stream: Socket,
    out: Vec<u8>,
    input: Vec<u8>,
    /// The bytes of `input` that were processed.
    seen: usize,
    piece: Box<[u8]>,
    /// The next packet's sequence number.
    number: u8,
    version: String,
    /// The place of the value shown last.
    shown: Range<usize>,
}

pub struct Statement {
    id: u32,
    parameters: usize,
    columns: Vec<ColumnKind>,
}

/// Makes a file for the server to read: it calls its argument with what appends to the file.
pub type FileWriter<'m> =
    dyn FnMut(&mut dyn FnMut(&mut dyn FnMut(&mut Vec<u8>)) -> Result<()>) -> Result<()> + 'm;

enum Answer {
    Done { changed: u64, warnings: u16, more: bool },
    Rows(u64),
}

impl Client {
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Runs a statement that gives at most one row of one column; gives the place of its bytes, valid until the next call.
    fn run_single(&mut self, statement: &Statement, values: &[SqlValue<'_>]) -> Result<Option<Range<usize>>> {
        self.append(statement, values.len(), values.iter().copied())?;
        self.send()?;
        let Answer::Rows(_) = self.answer()? else { return Ok(None) };
        self.pass_by(statement.columns.len() + 1)?;
        let mut found = None;
        loop {
            let row = self.packet()?;
            if self.ends(&row)? {
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

    /// Runs statements without waiting for each answer: `next` appends one of them, until it has no more. Gives the number of
    /// changed rows, or the server's first error when all answers are in.
    fn run_all(&mut self, mut next: impl FnMut(&mut Client) -> Result<bool>) -> Result<u64> {
        let (mut changed, mut under_way, mut failed) = (0, 0, None);
        loop {
            let more = match next(self) {
                Ok(more) => more,
                Err(error) => {
                    failed = failed.or(Some(error));
                    false
                }
            };
            under_way += u64::from(more);
            if !more || self.out.len() >= WINDOW_BYTES {
                self.send()?;
                for _ in 0..std::mem::take(&mut under_way) {
                    match self.answers(&[], |_| Ok(())) {
                        Ok(rows) => changed += rows,
                        Err(error @ StoreError::Io { .. }) => return Err(error),
                        Err(error) => failed = failed.or(Some(error)),
                    }
                }
            }
            if let Some(error) = failed {
                return Err(error);
            }
            if !more {
                return Ok(changed);
            }
        }
    }

    /// Runs a statement that reads a file from this connection; gives the numbers of its rows and warnings. `make` receives what
    /// appends to the file.
    pub fn load(&mut self, sql: &str, make: &mut FileWriter<'_>) -> Result<(u64, u16)> {
        self.command(|out| {
            out.push(Command::COM_QUERY as u8);
            out.extend_from_slice(sql.as_bytes());
        });
        self.send()?;
        let told = self.packet()?;
        match self.input[told.clone()].first() {
            Some(&0xfb) => {}
            Some(&0xff) => return Err(error_of(&self.input[told])),
            _ => return Err(StoreError::Engine("the server did not ask for the file".into())),
        }
        let mut file = Vec::with_capacity(2 * PIECE);
        let made = make(&mut |append| {
            append(&mut file);
            if file.len() >= PIECE { self.hand_over(&mut file) } else { Ok(()) }
        });
        self.hand_over(&mut file)?;
        // An empty packet ends it.
        self.frame(|_| ());
        self.send()?;
        let answer = self.answer();
        made?;
        match answer? {
            Answer::Done { changed, warnings, .. } => Ok((changed, warnings)),
            Answer::Rows(_) => Err(StoreError::Engine("the server answered a load with rows".into())),
        }
    }

    fn hand_over(&mut self, file: &mut Vec<u8>) -> Result<()> {
        if file.is_empty() {
            return Ok(());
        }
        self.frame(|out| out.extend_from_slice(file));
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
        let wanted = statement.parameters;
        if count != wanted {
            return Err(StoreError::Engine(format!("{count} values for {wanted} parameters")));
        }
        self.command(|out| wire::write_execution(statement.id, wanted, values, out));
        Ok(())
    }

    fn command(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.number = 0;
        self.frame(write);
    }

    /// Appends a packet, with its length and number first.
    fn frame(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.out.len();
        self.out.extend_from_slice(&[0; 4]);
        write(&mut self.out);
        let mut part = start;
        loop {
            let rest = self.out.len() - part - 4;
            let length = rest.min(MOST_IN_PART);
            self.out[part..part + 3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
            self.out[part + 3] = self.number;
            self.number = self.number.wrapping_add(1);
            if length < MOST_IN_PART {
                return;
            }
            part += 4 + length;
            // The bytes that follow move; only a command that is longer than 16 MiB pays for it.
            self.out.splice(part..part, [0; 4]);
        }
    }

    fn send(&mut self) -> Result<()> {
        // All that came before has been looked at.
        self.input.clear();
        self.seen = 0;
        let sent = self.stream.write_all(&self.out);
        self.out.clear();
        sent.map_err(|error| self.stream.lost_error(error))
    }

    /// Reads the answers to one command and shows each row to `see`; gives the number of rows shown or changed.
    fn answers(&mut self, columns: &[ColumnKind], mut see: impl FnMut(&[u8]) -> Result<()>) -> Result<u64> {
        let mut count = 0;
        loop {
            match self.answer()? {
                Answer::Done { changed, more, .. } => {
                    count += changed;
                    if !more {
                        return Ok(count);
                    }
                }
                Answer::Rows(described) => {
                    debug_assert!(columns.is_empty() || columns.len() as u64 == described);
                    let described = usize::try_from(described).map_err(StoreError::engine)?;
                    self.pass_by(described.saturating_add(1))?;
                    let mut odd = Ok(());
                    let more = loop {
                        self.forget_some();
                        let row = self.packet()?;
                        if self.ends(&row)? {
                            break more_follow(&parse_ok::<OldEofPacket>(&self.input[row])?);
                        }
                        count += 1;
                        if odd.is_ok() {
                            odd = see(&self.input[row]);
                        }
                    };
                    odd?;
                    if !more {
                        return Ok(count);
                    }
                }
            }
        }
    }

    fn answer(&mut self) -> Result<Answer> {
        let told = self.packet()?;
        let told = &self.input[told];
        match told.first() {
            Some(0) => {
                let done = parse_ok::<CommonOkPacket>(told)?;
                let (changed, warnings, more) = (done.affected_rows(), done.warnings(), more_follow(&done));
                Ok(Answer::Done { changed, warnings, more })
            }
            Some(0xff) => Err(error_of(told)),
            // It asks for a file that nobody offered.
            Some(0xfb) | None => Err(unreadable()),
            Some(_) => ParseBuf(told).checked_eat_lenenc_int().map(Answer::Rows).ok_or_else(unreadable),
        }
    }

    /// Whether a packet ends the rows.
    fn ends(&self, row: &Range<usize>) -> Result<bool> {
        let told = &self.input[row.clone()];
        match told.first() {
            Some(0xff) => Err(error_of(told)),
            first => Ok(first == Some(&0xfe) && told.len() < 9),
        }
    }

    /// Skips packets.
    fn pass_by(&mut self, count: usize) -> Result<()> {
        (0..count).try_for_each(|_| {
            self.forget_some();
            self.packet().map(drop)
        })
    }

    /// Drops processed input once it is large.
    fn forget_some(&mut self) {
        if self.seen >= 4 * PIECE {
            self.input.drain(..self.seen);
            self.seen = 0;
        }
    }

    fn packet(&mut self) -> Result<Range<usize>> {
        let start = self.seen + 4;
        let mut end = start;
        loop {
            // The header of this part ends the one before it.
            let header = end - if end == start { 4 } else { 0 };
            self.await_bytes(header + 4)?;
            let [low, middle, high, number] =
                [0, 1, 2, 3].map(|at| self.input.get(header + at).copied().unwrap_or_default());
            self.number = number.wrapping_add(1);
            let length = u32::from_le_bytes([low, middle, high, 0]) as usize;
            if header != start - 4 {
                self.input.drain(header..header + 4);
            }
            if end - start > MOST_ANSWER {
                return Err(unreadable());
            }
            self.await_bytes(end + length)?;
            end += length;
            if length < MOST_IN_PART {
                self.seen = end;
                return Ok(start..end);
            }
        }
    }

    fn await_bytes(&mut self, count: usize) -> Result<()> {
        while self.input.len() < count {
            let read = match self.stream.read(&mut self.piece) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(|error| self.stream.lost_error(error))?,
            };
            if read == 0 {
                let ended = io::Error::new(io::ErrorKind::UnexpectedEof, "it has ended the connection");
                return Err(self.stream.lost_error(ended));
            }
            self.input.extend_from_slice(&self.piece[..read]);
        }
        Ok(())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.out.clear();
        self.command(|out| out.push(Command::COM_QUIT as u8));
        let _ = self.send();
    }
}

fn parse_ok<K: OkPacketKind>(told: &[u8]) -> Result<OkPacket<'_>> {
    let read: OkPacketDeserializer<'_, K> =
        ParseBuf(told).parse(CapabilityFlags::CLIENT_PROTOCOL_41).map_err(lost_error)?;
    Ok(read.into_inner())
}

fn more_follow(done: &OkPacket<'_>) -> bool {
    done.status_flags().contains(StatusFlags::SERVER_MORE_RESULTS_EXISTS)
}

fn lost_error(error: io::Error) -> StoreError {
    StoreError::Io { context: "talking to the server".into(), source: error }
}

fn error_of(told: &[u8]) -> StoreError {
    // A state comes first, but not before the session has begun.
    let form = match told.get(3) {
        Some(b'#') => CapabilityFlags::CLIENT_PROTOCOL_41,
        _ => CapabilityFlags::empty(),
    };
    let Ok(ErrPacket::Error(error)) = ParseBuf(told).parse(form) else {
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

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    fn pair() -> (Client, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let client = Client {
            stream: ours.into(),
            out: Vec::new(),
            input: Vec::new(),
            seen: 0,
            piece: vec![0; PIECE].into_boxed_slice(),
            number: 0,
            version: String::new(),
            shown: 0..0,
        };
        (client, theirs)
    }

    #[test]
    fn packets_of_any_length_come_back_as_they_were_sent() {
        for length in [0, 1, MOST_IN_PART - 1, MOST_IN_PART, MOST_IN_PART + 1, 2 * MOST_IN_PART] {
            let (mut client, mut theirs) = pair();
            let payload: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            client.command(|out| out.extend_from_slice(&payload));
            client.frame(|out| out.push(9));
            let sent = std::mem::take(&mut client.out);
            let writer = std::thread::spawn(move || theirs.write_all(&sent));
            let first = client.packet().unwrap();
            assert!(client.input[first] == payload[..], "{length}");
            let second = client.packet().unwrap();
            assert_eq!(client.input[second], [9]);
            writer.join().unwrap().unwrap();
        }
    }

    #[test]
    fn errors_are_told_in_the_terms_of_a_store() {
        let told =
            |code: u16, text: &str| error_of(&[&[0xff], &code.to_le_bytes()[..], text.as_bytes()].concat());
        assert!(matches!(told(1213, "#40001Deadlock found"), StoreError::Conflict(_)));
        assert!(matches!(told(1062, "#23000Duplicate entry"), StoreError::Exists));
        assert!(matches!(told(1114, "#HY000The table is full"), StoreError::Io { .. }));
        assert!(matches!(told(1105, "#HY000[x]: No space left on device"), StoreError::Io { .. }));
        assert_eq!(told(1040, "Too many connections").to_string(), "Too many connections (error 1040)");
        assert_eq!(told(1045, "#28000Access denied").to_string(), "Access denied (error 1045)");
    }
}
