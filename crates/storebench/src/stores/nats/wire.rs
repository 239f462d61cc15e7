//! NATS's own protocol, lines and bytes over a blocking socket. Its authors' client for Rust calls a server by its address itself, and has an
//! asynchronous runtime; a trial's own server has no address that this process could call.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::ops::Range;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use storebench_core::store::{Result, StoreError};

use crate::stores::support::server::socket::Socket;

/// The bytes that there is room for at first.
const ROOM: usize = 64 << 10;
/// The bytes that are gathered before they are sent.
const GATHERED: usize = 1 << 20;
/// The error where a message has nobody to whom it could go.
pub const NOBODY: &str = "the server has nobody who answers: JetStream is off, or has no leader";
/// The number of the subscription to answers; others have that of their request.
const ANSWERS: u64 = 0;

/// The facts that a server begins with.
#[derive(Debug, Default, Deserialize)]
pub struct Info {
    /// Its name.
    pub server_name: String,
    /// Its version.
    pub version: String,
    /// The cluster that it is of; none of a server alone.
    #[serde(default)]
    pub cluster: String,
    /// The most bytes that a message may have.
    pub max_payload: usize,
    /// Whether it wants to know who calls.
    #[serde(default)]
    pub auth_required: bool,
    /// Whether it speaks to nobody in clear.
    #[serde(default)]
    pub tls_required: bool,
}

/// A message that was received: where its parts lie, until the next is waited for.
pub struct Message {
    /// The number of the subscription that it came by.
    pub number: u64,
    /// The subject.
    subject: Range<usize>,
    /// Headers; mostly none.
    head: Range<usize>,
    /// The rest.
    pub body: Range<usize>,
}

/// A connection.
pub struct Wire {
    socket: Socket,
    /// The facts about the server.
    pub info: Info,
    out: Vec<u8>,
    input: Vec<u8>,
    /// The bytes received, and of those the ones looked at.
    received: usize,
    seen: usize,
    /// The beginning of the subjects at which answers arrive, which is nobody else's.
    inbox: String,
    /// The number of the last request.
    asked: u64,
}

impl Wire {
    /// Begins to speak over a socket that is connected, as a user with a password where there is one.
    ///
    /// # Errors
    /// The server's; when it is none of NATS.
    pub fn over(socket: Socket, user: Option<(&str, &str)>) -> Result<Wire> {
        let mut random = [0; 16];
        let drawn = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut random));
        drawn.map_err(StoreError::io("drawing a name for answers"))?;
        let mut wire = Wire {
            socket,
            info: Info::default(),
            out: Vec::new(),
            input: vec![0; ROOM],
            received: 0,
            seen: 0,
            inbox: format!("_INBOX.{:032x}", u128::from_ne_bytes(random)),
            asked: 0,
        };
        let length = wire.line()?;
        let told = wire.input[..length].strip_prefix(b"INFO ").ok_or_else(odd)?;
        wire.info = serde_json::from_slice(told).map_err(|_| odd())?;
        wire.seen = length + 2;
        if wire.info.tls_required {
            return Err(StoreError::Engine("the server wants TLS, which is not spoken here".into()));
        }
        if wire.info.auth_required && user.is_none() {
            return Err(StoreError::Engine("the server wants a password: set NATS_PASSWORD".into()));
        }
        let mut about = json!({
            "verbose": false, "pedantic": false, "headers": true, "no_responders": true, "protocol": 1,
            "name": "storebench", "lang": "rust", "version": env!("CARGO_PKG_VERSION"),
        });
        if let Some((name, password)) = user {
            (about["user"], about["pass"]) = (name.into(), password.into());
        }
        // Nothing fails that is written to memory.
        let _ = write!(wire.out, "CONNECT {about}\r\nSUB {}.> {ANSWERS}\r\nPING\r\n", wire.inbox);
        wire.send()?;
        while wire.control()? != Control::Pong {}
        wire.socket.let_in();
        Ok(wire)
    }

    /// Sets the longest time that an answer may take; without one, a session waits as long as the server works.
    ///
    /// # Errors
    /// The system's.
    pub fn wait_at_most(&mut self, longest: Option<Duration>) -> Result<()> {
        self.socket.set_read_timeout(longest).map_err(StoreError::io("setting a time limit"))
    }

    /// A subject at which what is sent arrives here.
    pub fn own_subject(&mut self) -> String {
        self.asked += 1;
        format!("{}.{}", self.inbox, self.asked)
    }

    /// Begins to listen at a subject of its own, at which a stream can be sent, with the number of its messages: a stream is sent to nobody
    /// who listens there among others.
    ///
    /// # Errors
    /// The system's.
    pub fn listen(&mut self) -> Result<(String, u64)> {
        self.asked += 1;
        let subject = format!("{}-{}", self.inbox, self.asked);
        self.out.extend_from_slice(format!("SUB {subject} {}\r\n", self.asked).as_bytes());
        self.send()?;
        Ok((subject, self.asked))
    }

    /// Ends that.
    ///
    /// # Errors
    /// The system's.
    pub fn end_listening(&mut self, number: u64) -> Result<()> {
        self.out.extend_from_slice(format!("UNSUB {number}\r\n").as_bytes());
        self.send()
    }

    /// Sends a message, and waits for the answer.
    ///
    /// # Errors
    /// The server's; where there is nobody who answers.
    pub fn ask(&mut self, subject: &[&[u8]], head: &[u8], body: &[u8]) -> Result<Message> {
        let answer = self.own_subject();
        self.append(subject, Some(&answer), head, body);
        self.send()?;
        loop {
            let message = self.message()?;
            // One before it was given up.
            if &self.input[message.subject.clone()] == answer.as_bytes() {
                return self.held(message);
            }
        }
    }

    /// Sends a message to which there is no answer, at the latest with the next that has one.
    ///
    /// # Errors
    /// The system's.
    pub fn post(&mut self, subject: &[&[u8]], head: &[u8], body: &[u8]) -> Result<()> {
        self.append(subject, None, head, body);
        if self.out.len() < GATHERED { Ok(()) } else { self.send() }
    }

    /// Sends a message whose answer arrives at this subject, among others.
    ///
    /// # Errors
    /// The system's.
    pub fn send_for(&mut self, subject: &[&[u8]], answer: &str, body: &[u8]) -> Result<()> {
        self.append(subject, Some(answer), b"", body);
        self.send()
    }

    /// The subject of a message.
    pub fn subject(&self, message: &Message) -> &[u8] {
        &self.input[message.subject.clone()]
    }

    /// The next message.
    ///
    /// # Errors
    /// The server's.
    pub fn message(&mut self) -> Result<Message> {
        loop {
            if let Control::Message(message) = self.control()? {
                return Ok(message);
            }
        }
    }

    /// The bytes of a message.
    pub fn bytes(&self, at: Range<usize>) -> &[u8] {
        &self.input[at]
    }

    /// The value of a message's header.
    pub fn header(&self, message: &Message, name: &str) -> Option<&[u8]> {
        let lines = self.input[message.head.clone()].split(|byte| *byte == b'\n').skip(1);
        lines
            .filter_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b":"))
            .map(<[u8]>::trim_ascii)
            .next()
    }

    /// The number of a message's state, such as 404; `None` where it has none.
    pub fn state(&self, message: &Message) -> Option<&[u8]> {
        let first = self.input[message.head.clone()].strip_prefix(b"NATS/1.0 ")?;
        first.get(..3)
    }

    /// An answer that is none says why.
    fn held(&self, message: Message) -> Result<Message> {
        match self.state(&message) {
            Some(b"503") => Err(StoreError::Engine(NOBODY.into())),
            _ => Ok(message),
        }
    }

    fn append(&mut self, subject: &[&[u8]], answer: Option<&str>, head: &[u8], body: &[u8]) {
        let out = &mut self.out;
        out.extend_from_slice(if head.is_empty() { b"PUB " } else { b"HPUB " });
        subject.iter().for_each(|part| out.extend_from_slice(part));
        out.push(b' ');
        if let Some(answer) = answer {
            out.extend_from_slice(answer.as_bytes());
            out.push(b' ');
        }
        if !head.is_empty() {
            // Nothing fails that is written to memory.
            let _ = write!(out, "{} ", head.len());
        }
        let _ = write!(out, "{}\r\n", head.len() + body.len());
        out.extend_from_slice(head);
        out.extend_from_slice(body);
        out.extend_from_slice(b"\r\n");
    }

    fn send(&mut self) -> Result<()> {
        let sent = self.socket.write_all(&self.out);
        self.out.clear();
        sent.map_err(|error| self.socket.lost(error))
    }

    /// The next thing that the server says.
    fn control(&mut self) -> Result<Control> {
        if self.seen == self.received {
            (self.seen, self.received) = (0, 0);
        }
        let length = self.line()?;
        let line = &self.input[self.seen..self.seen + length];
        let end = |wire: &mut Wire| wire.seen += length + 2;
        match line.first() {
            Some(b'M' | b'H') => self.body_of(length).map(Control::Message),
            Some(b'P') if line.starts_with(b"PONG") => {
                end(self);
                Ok(Control::Pong)
            }
            Some(b'P') if line.starts_with(b"PING") => {
                end(self);
                self.out.extend_from_slice(b"PONG\r\n");
                self.send()?;
                Ok(Control::Other)
            }
            Some(b'+' | b'I') => {
                end(self);
                Ok(Control::Other)
            }
            Some(b'-') => {
                let told =
                    String::from_utf8_lossy(line).trim_start_matches("-ERR ").trim_matches('\'').to_owned();
                end(self);
                Err(StoreError::Engine(told))
            }
            _ => Err(odd()),
        }
    }

    /// The message whose first line has so many bytes: `MSG subject number [answer] bytes`, with an H before it and the bytes of headers
    /// before all where it has any.
    fn body_of(&mut self, length: usize) -> Result<Message> {
        let line = std::str::from_utf8(&self.input[self.seen..self.seen + length]).map_err(|_| odd())?;
        let words: Vec<&str> = line.split(' ').collect();
        let number =
            |back: usize| -> Option<usize> { words.get(words.len().checked_sub(back)?)?.parse().ok() };
        let all = number(1).ok_or_else(odd)?;
        let head =
            if words[0] == "HMSG" { number(2).filter(|head| *head <= all).ok_or_else(odd)? } else { 0 };
        let subject = words.get(1).ok_or_else(odd)?.len();
        let subscription = words.get(2).and_then(|word| word.parse().ok()).ok_or_else(odd)?;
        let begins = words[0].len() + 1;
        self.until(length + 2 + all + 2)?;
        let (line, start) = (self.seen, self.seen + length + 2);
        self.seen = start + all + 2;
        Ok(Message {
            number: subscription,
            subject: line + begins..line + begins + subject,
            head: start..start + head,
            body: start + head..start + all,
        })
    }

    /// The bytes of the next line, without its end.
    fn line(&mut self) -> Result<usize> {
        let mut looked = 0;
        loop {
            let there = &self.input[self.seen..self.received];
            if let Some(end) = there[looked..].windows(2).position(|two| two == b"\r\n") {
                return Ok(looked + end);
            }
            looked = there.len().saturating_sub(1);
            self.fill()?;
        }
    }

    /// Receives until so many bytes are there that were not looked at.
    fn until(&mut self, bytes: usize) -> Result<()> {
        while self.received - self.seen < bytes {
            self.fill()?;
        }
        Ok(())
    }

    fn fill(&mut self) -> Result<()> {
        if self.received == self.input.len() && self.seen > 0 {
            self.input.copy_within(self.seen..self.received, 0);
            (self.received, self.seen) = (self.received - self.seen, 0);
        }
        if self.received == self.input.len() {
            self.input.resize(2 * self.received, 0);
        }
        let count = loop {
            match self.socket.read(&mut self.input[self.received..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read.map_err(|error| self.socket.lost(error))?,
            }
        };
        if count == 0 {
            let ended = io::Error::new(ErrorKind::UnexpectedEof, "it has ended the connection");
            return Err(self.socket.lost(ended));
        }
        self.received += count;
        Ok(())
    }
}

/// The things that a server says.
enum Control {
    Message(Message),
    Pong,
    Other,
}

impl PartialEq for Control {
    fn eq(&self, other: &Control) -> bool {
        matches!((self, other), (Control::Pong, Control::Pong) | (Control::Other, Control::Other))
    }
}

/// An answer that is none to what was asked.
pub fn odd() -> StoreError {
    StoreError::Engine("the server sent an answer that can't be read".into())
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::os::unix::net::UnixStream;

    use super::*;

    /// A session with a made server, which answers the first request with these pieces, its inbox in the place of `@`.
    fn answered(pieces: &'static [&'static str]) -> Result<(Wire, Message)> {
        let (near, far) = UnixStream::pair().unwrap();
        let server = std::thread::spawn(move || {
            let (mut out, mut lines) = (far.try_clone().unwrap(), BufReader::new(far).lines());
            let info = "INFO {\"server_name\":\"s\",\"version\":\"2.15.1\",\"max_payload\":1024}\r\n";
            out.write_all(info.as_bytes()).unwrap();
            let mut next = || lines.next().unwrap().unwrap();
            let subscribed = (next(), next(), next()).1;
            out.write_all(b"+OK\r\nPONG\r\n").unwrap();
            let inbox = subscribed.split(' ').nth(1).unwrap().replace('>', "1");
            let asked = (next(), next(), next()).0;
            assert!(asked.starts_with("PUB a.b _INBOX.") && asked.ends_with(".1 3"), "{asked}");
            for piece in pieces {
                out.write_all(piece.replace('@', &inbox).as_bytes()).unwrap();
                std::thread::sleep(Duration::from_millis(2));
            }
            assert!(!pieces[0].starts_with("PING") || next() == "PONG");
        });
        let mut wire = Wire::over(near.into(), None)?;
        let message = wire.ask(&[b"a", b".b"], b"", b"x\r\n")?;
        server.join().unwrap();
        Ok((wire, message))
    }

    #[test]
    fn an_answer_is_found_in_pieces_among_others() {
        const PIECES: &[&str] = &[
            "PING\r\nMSG _INBOX.other 1 2\r\nno\r\nHMSG @ 1 ",
            "39 42\r",
            "\nNATS/1.0\r\nKV-Operation: ",
            "DEL\r\nA: b c\r\n\r\n",
            "a\r\n",
            "\r\n",
        ];
        let (wire, message) = answered(PIECES).unwrap();
        assert_eq!(wire.bytes(message.body.clone()), b"a\r\n");
        assert_eq!(wire.header(&message, "KV-Operation"), Some(&b"DEL"[..]));
        assert_eq!((wire.header(&message, "KV"), wire.state(&message)), (None, None));
    }

    #[test]
    fn nobody_who_answers_errors_and_nonsense_are_told() {
        let why = |pieces| answered(pieces).err().unwrap().to_string();
        assert!(why(&["HMSG @ 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n"]).contains("has no leader"));
        assert!(why(&["-ERR 'Maximum Payload Violation'\r\n"]).contains("Maximum Payload Violation"));
        assert!(why(&["HTTP/1.0 400 Bad Request\r\n"]).contains("can't be read"));
    }
}
