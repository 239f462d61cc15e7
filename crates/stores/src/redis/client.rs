//! A connection to the server: commands in RESP 2, and answers that `redis-protocol` finds in what came, without copying.

use std::io::Write;
use std::ops::Range;

use redis_protocol::resp2::decode::decode_range;
use redis_protocol::resp2::types::RangeFrame;
use storebench_model::store::{Result, Session, StoreError};

use crate::support::server::socket::Socket;
use crate::support::server::{MAX_ANSWER_BYTES, error_text, unreadable};

pub const PORT: u16 = 6379;
/// proto-max-bulk-len as shipped, less room for the prefix of keys on a running server.
pub const MAX_KEY_BYTES: usize = (512 << 20) - 64;
const FIRST_BUFFER_BYTES: usize = 64 << 10;
/// Records that one command adds: it takes up to 1,048,576 words.
const MAX_RECORDS_AT_ONCE: usize = 1 << 18;

const MAX_DEPTH: usize = 4;

pub struct Client {
    pub stream: Socket,
    output: Vec<u8>,
    /// The bytes received since the last command, and room for more.
    input: Vec<u8>,
    received: usize,
    consumed: usize,
    pub key_prefix: Vec<u8>,
    shown_range: Range<usize>,
}

pub enum Answer {
    Words,
    Number(i64),
    Bytes(Range<usize>),
    Nothing,
    Many(Vec<Answer>),
}

impl Client {
    pub fn from_socket(stream: Socket) -> Client {
        Client {
            stream,
            output: Vec::new(),
            input: vec![0; FIRST_BUFFER_BYTES],
            received: 0,
            consumed: 0,
            key_prefix: Vec::new(),
            shown_range: 0..0,
        }
    }

    pub fn run(&mut self, words: &[&[u8]]) -> Result<Answer> {
        self.command(words.len());
        words.iter().for_each(|word| self.word(word));
        self.send()?;
        self.answer()
    }

    /// Fails also when the answer is no text.
    pub fn text(&mut self, words: &[&[u8]]) -> Result<String> {
        match self.run(words)? {
            Answer::Bytes(range) => Ok(String::from_utf8_lossy(self.bytes(range)).into_owned()),
            _ => Err(unreadable()),
        }
    }

    pub fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.input[range]
    }

    /// Sends commands, and waits for as many answers.
    fn write(&mut self, answers: usize) -> Result<()> {
        self.send()?;
        // Each answer is read, so that none is taken for the next command's.
        let mut written = Ok(());
        for _ in 0..answers {
            match self.answer() {
                // No more answers come.
                Err(error @ StoreError::Io { .. }) => return Err(error),
                answer => written = written.and(answer.map(drop)),
            }
        }
        written
    }

    pub fn count(&mut self) -> Result<u64> {
        if self.key_prefix.is_empty() {
            return match self.run(&[b"DBSIZE"])? {
                Answer::Number(count) => u64::try_from(count).map_err(StoreError::engine),
                _ => Err(unreadable()),
            };
        }
        let mut keys = Vec::new();
        self.each_page(|client, page| {
            keys.extend(page.into_iter().map(|range| client.bytes(range).to_vec()));
            Ok(())
        })?;
        // A key may be shown twice.
        keys.sort_unstable();
        keys.dedup();
        Ok(keys.len() as u64)
    }

    /// Removes all keys of the session. A killed session's commands may still arrive: it ends when a scan finds none.
    pub fn remove_all(&mut self) -> Result<()> {
        loop {
            let mut found_any = false;
            self.each_page(|client, page| {
                if page.is_empty() {
                    return Ok(());
                }
                found_any = true;
                let keys: Vec<Vec<u8>> = page.into_iter().map(|range| client.bytes(range).to_vec()).collect();
                let words: Vec<&[u8]> =
                    [&b"UNLINK"[..]].into_iter().chain(keys.iter().map(Vec::as_slice)).collect();
                client.run(&words).map(drop)
            })?;
            if !found_any {
                return Ok(());
            }
        }
    }

    /// Shows the places of the session's keys, some at a time.
    fn each_page(
        &mut self,
        mut visit: impl FnMut(&mut Client, Vec<Range<usize>>) -> Result<()>,
    ) -> Result<()> {
        let pattern = [&self.key_prefix[..], b"*"].concat();
        let mut cursor = b"0".to_vec();
        loop {
            let answer = self.run(&[b"SCAN", &cursor, b"MATCH", &pattern, b"COUNT", b"1000"])?;
            let Answer::Many(parts) = answer else { return Err(unreadable()) };
            let Ok([Answer::Bytes(next), Answer::Many(keys)]) = <[Answer; 2]>::try_from(parts) else {
                return Err(unreadable());
            };
            cursor = self.bytes(next).to_vec();
            let keys = keys
                .into_iter()
                .filter_map(|key| if let Answer::Bytes(range) = key { Some(range) } else { None });
            visit(self, keys.collect())?;
            if cursor == b"0" {
                return Ok(());
            }
        }
    }

    fn command(&mut self, words: usize) {
        self.append_head(b'*', words);
    }

    fn word(&mut self, word: &[u8]) {
        self.append_head(b'$', word.len());
        self.output.extend_from_slice(word);
        self.output.extend_from_slice(b"\r\n");
    }

    fn key(&mut self, key: &[u8]) {
        self.append_head(b'$', self.key_prefix.len() + key.len());
        self.output.extend_from_slice(&self.key_prefix);
        self.output.extend_from_slice(key);
        self.output.extend_from_slice(b"\r\n");
    }

    fn append_head(&mut self, sign: u8, count: usize) {
        self.output.push(sign);
        // Nothing fails that is written to memory.
        let _ = write!(self.output, "{count}\r\n");
    }

    fn send(&mut self) -> Result<()> {
        // All that came before has been looked at.
        (self.received, self.consumed) = (0, 0);
        let sent = self.stream.write_all(&self.output);
        self.output.clear();
        sent.map_err(|error| self.stream.lost_error(error))
    }

    fn answer(&mut self) -> Result<Answer> {
        loop {
            let start = self.consumed;
            check_depth(&self.input[start..self.received])?;
            let found = decode_range(&self.input[start..self.received]).map_err(StoreError::engine)?;
            if let Some((frame, length)) = found {
                self.consumed += length;
                return self.convert_frame(frame, start);
            }
            self.fill()?;
        }
    }

    fn convert_frame(&self, frame: RangeFrame, start: usize) -> Result<Answer> {
        Ok(match frame {
            RangeFrame::SimpleString(_) => Answer::Words,
            RangeFrame::Integer(number) => Answer::Number(number),
            RangeFrame::BulkString((from, to)) => Answer::Bytes(start + from..start + to),
            RangeFrame::Null => Answer::Nothing,
            RangeFrame::Array(frames) => {
                let answers = frames.into_iter().map(|frame| self.convert_frame(frame, start));
                Answer::Many(answers.collect::<Result<_>>()?)
            }
            RangeFrame::Error((from, to)) => {
                let message = String::from_utf8_lossy(&self.input[start + from..start + to]);
                return Err(StoreError::Engine(error_text(&message)));
            }
        })
    }

    fn fill(&mut self) -> Result<()> {
        if self.received > MAX_ANSWER_BYTES {
            return Err(unreadable());
        }
        if self.received == self.input.len() {
            self.input.resize(2 * self.received, 0);
        }
        self.received += self.stream.receive(&mut self.input[self.received..])?;
        Ok(())
    }
}

/// Each record is a key.
impl Session for Client {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_key(key)?;
        self.command(3);
        self.word(b"SET");
        self.key(key);
        self.word(value);
        self.write(1)
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.insert(key, value)
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.command(2);
        self.word(b"GET");
        self.key(key);
        self.send()?;
        match self.answer()? {
            Answer::Bytes(range) => {
                self.shown_range = range.clone();
                visit(&self.input[range]);
                Ok(true)
            }
            Answer::Nothing => Ok(false),
            _ => Err(unreadable()),
        }
    }

    fn copied(&self) -> Option<&[u8]> {
        Some(&self.input[self.shown_range.clone()])
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        self.remove_batch(&[key])
    }

    fn scan(&mut self, _: &[u8], _: usize, _: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        Err(StoreError::Unsupported("Redis keeps its keys in no order".into()))
    }

    /// All or none.
    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        records.iter().try_for_each(|(key, _)| check_key(key))?;
        let pieces = records.chunks(MAX_RECORDS_AT_ONCE);
        let (count, is_one) = (pieces.len(), pieces.len() == 1);
        if count == 0 {
            return Ok(());
        }
        if !is_one {
            self.command(1);
            self.word(b"MULTI");
        }
        for piece in pieces {
            self.command(1 + 2 * piece.len());
            self.word(b"MSET");
            for (key, value) in piece {
                self.key(key);
                self.word(value);
            }
        }
        if !is_one {
            self.command(1);
            self.word(b"EXEC");
        }
        self.write(if is_one { 1 } else { count + 2 })
    }

    /// All or none; missing ones are skipped.
    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        self.command(1 + keys.len());
        self.word(b"DEL");
        keys.iter().for_each(|key| self.key(key));
        self.write(1)
    }
}

/// The server closes a session that sends a longer key.
fn check_key(key: &[u8]) -> Result<()> {
    if key.len() <= MAX_KEY_BYTES {
        return Ok(());
    }
    Err(StoreError::Unsupported(format!("Redis takes keys of up to {MAX_KEY_BYTES} bytes here")))
}

/// Refuses deeply nested arrays before decoding: each takes room on the stack.
fn check_depth(mut rest: &[u8]) -> Result<()> {
    // How many answers each array that was begun still lacks.
    let mut open_arrays: Vec<u64> = Vec::new();
    while rest.first() == Some(&b'*') || !open_arrays.is_empty() {
        let Some(end) = rest.windows(2).position(|bytes| bytes == b"\r\n") else { return Ok(()) };
        let (head, tail) = (&rest[..end], &rest[end + 2..]);
        let count =
            head.get(1..).and_then(|count| str::from_utf8(count).ok()?.parse::<u64>().ok()).unwrap_or(0);
        match head.first() {
            Some(b'*') if count > 0 => {
                open_arrays.push(count);
                if open_arrays.len() > MAX_DEPTH {
                    return Err(unreadable());
                }
                rest = tail;
                continue;
            }
            Some(b'$') if head != b"$-1" => {
                let end = usize::try_from(count).ok().and_then(|count| count.checked_add(2));
                let Some(tail) = end.and_then(|end| tail.get(end..)) else { return Ok(()) };
                rest = tail;
            }
            _ => rest = tail,
        }
        // An answer is complete, and with it each array whose last it was.
        while let Some(missing) = open_arrays.last_mut() {
            *missing -= 1;
            if *missing > 0 {
                break;
            }
            open_arrays.pop();
        }
        if open_arrays.is_empty() {
            return Ok(());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;

    fn pair() -> (Client, UnixStream) {
        let (near, far) = UnixStream::pair().unwrap();
        (Client::from_socket(near.into()), far)
    }

    #[test]
    fn a_command_is_written_as_the_protocol_has_it_and_an_answer_is_found_in_pieces() {
        let (mut client, mut server) = pair();
        client.key_prefix = b"p:".to_vec();
        let answering = std::thread::spawn(move || {
            let mut command = vec![0; 23];
            server.read_exact(&mut command).unwrap();
            for piece in ["$7", "\r\nab\r", "\ncd", "e\r", "\n"] {
                server.write_all(piece.as_bytes()).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            command
        });
        let mut seen = Vec::new();
        assert!(client.get(b"k\0", &mut |value| seen = value.to_vec()).unwrap());
        assert_eq!((seen.as_slice(), client.copied()), (&b"ab\r\ncde"[..], Some(&b"ab\r\ncde"[..])));
        assert_eq!(answering.join().unwrap(), b"*2\r\n$3\r\nGET\r\n$4\r\np:k\0\r\n");
    }

    #[test]
    fn an_answer_of_a_write_that_failed_is_not_taken_for_that_of_the_next_command() {
        let (mut client, mut server) = pair();
        server.write_all(b"-OOM no memory\r\n+OK\r\n").unwrap();
        let message = client.write(2).unwrap_err().to_string();
        assert!(message.contains("OOM"), "{message}");
        server.write_all(b":7\r\n").unwrap();
        assert!(matches!(client.run(&[b"DBSIZE"]), Ok(Answer::Number(7))));
    }

    #[test]
    fn errors_are_told_in_the_server_s_words_and_nonsense_is_refused() {
        for (answer, why) in [
            ("-OOM no memory\r\n", "OOM no memory"),
            ("*2\r\n$1\r\na\r\n-ERR b\r\n", "ERR b"),
            ("!x\r\n", ""),
            ("+OK\r\n", "can't be read"),
            (&"*1\r\n".repeat(10_000), "can't be read"),
            ("*2\r\n$1\r\na\r\n*1\r\n*1\r\n*1\r\n*1\r\n", "can't be read"),
            (&format!("-{}\r\n", "long ".repeat(1000)), "long long"),
        ] {
            let (mut client, mut server) = pair();
            server.write_all(answer.as_bytes()).unwrap();
            let message = client.get(b"k", &mut |_| ()).unwrap_err().to_string();
            assert!(message.contains(why) && message.len() < 400, "{answer}: {message}");
        }
        // Arrays next to each other are no arrays in each other.
        check_depth(&b"*3\r\n*1\r\n:1\r\n*1\r\n$1\r\na\r\n*2\r\n*0\r\n*1\r\n*-1\r\n".repeat(9)).unwrap();
        let (mut client, server) = pair();
        drop(server);
        assert!(matches!(client.insert(b"k", b"v"), Err(StoreError::Io { .. })));
    }
}
