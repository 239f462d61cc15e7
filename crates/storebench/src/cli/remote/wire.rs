//! The messages between the two machines of a remote run: a line of JSON for each, over the input and output of the
//! program on the board.

use std::collections::HashSet;
use std::io::{self, BufRead, Read, Write};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use storebench_core::cell::Cell;
use storebench_core::result::{RunHeader, TrialResult};
use storebench_core::workload::clients::link::Task;
use storebench_core::workload::clients::words::{Order, Told};
use storebench_core::workload::loading::Doing;

use crate::cli::properties::Texts;

/// The time between two messages of this machine that it is still there.
pub const BEAT: Duration = Duration::from_secs(20);
/// The length of a silence which means that the connection is lost.
pub const SILENCE: Duration = Duration::from_secs(90);

/// The longest message that is read: a result has its histograms and series in it.
const LONGEST_BYTES: u64 = 256 << 20;

/// The request to the board, first of all. The lines of the results that are here already follow it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Request {
    /// The arguments of `run`, without those that are this machine's affair.
    pub arguments: Vec<String>,
    /// The study's text, and where it comes from.
    pub text: String,
    pub origin: String,
    /// The texts of the property files that the arguments name.
    pub properties: Texts,
    /// The command line here, for the results.
    pub command: Vec<String>,
    /// The run to be resumed.
    pub resume: Option<Box<RunHeader>>,
    /// The number of lines of results that follow.
    pub results: usize,
    /// A client's part of a trial, in place of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Box<Task>>,
}

/// The later messages of this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// It is still there.
    Beat,
    /// The run is to end.
    Stop,
    /// It has all results: the board's copy may go.
    Thanks,
    /// An order to a client.
    Order(Box<Order>),
}

/// The messages of the board.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Message {
    /// First of all: it runs, and is of this version.
    Hello { version: String, format: u32 },
    /// The beginning of a new run.
    Header(Box<RunHeader>),
    /// The trials begin.
    Started { total: u64, done: u64 },
    /// Blocks are added.
    Extended { by: u64 },
    /// A trial begins.
    Trial { cell: Cell, position: u64, left_s: Option<f64> },
    /// The progress of the trial at hand in long work: which, records, of how many, in how many seconds.
    Loading { loading: Option<(Doing, u64, u64, f64)> },
    /// Something of a trial is left there for now.
    Left { why: String },
    /// A trial's log, which comes before its result.
    Log { name: String, text: String },
    /// A trial's result: the line that stands in the board's own file.
    Result(String),
    /// Text for people.
    Text(String),
    /// A client's word.
    Client(Box<Told>),
    /// The run has ended.
    Ended { interrupted: bool, failed: u64 },
    /// It ended by an error.
    Failed { exit: u8, message: String },
}

/// Writes a message as a line.
///
/// # Errors
/// When the other side has gone.
pub fn send(out: &mut dyn Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}

/// Reads a line; `None` at the end.
///
/// # Errors
/// When it can't be read, is longer than any message, or is not whole.
pub fn line(from: &mut dyn BufRead) -> io::Result<Option<String>> {
    let mut text = String::new();
    let read = from.take(LONGEST_BYTES).read_line(&mut text)?;
    match text.pop() {
        None => Ok(None),
        Some('\n') => Ok(Some(text)),
        Some(_) if read as u64 == LONGEST_BYTES => Err(io::Error::other("a message is too long")),
        Some(_) => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Reads a message; `None` at the end.
pub fn receive<T: DeserializeOwned>(from: &mut dyn BufRead) -> io::Result<Option<T>> {
    line(from)?.map(|line| serde_json::from_str(&line).map_err(io::Error::from)).transpose()
}

/// Which trials there are among some results: each is its cell and block.
#[derive(Debug, Default)]
pub struct Known(HashSet<(String, u32)>);

impl Known {
    /// Takes note of a result; whether it is new.
    pub fn add(&mut self, result: &TrialResult) -> bool {
        self.0.insert((result.cell.id(), result.block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_as_they_were_sent_and_what_is_cut_off_does_not() {
        let mut sent = Vec::new();
        send(&mut sent, &Message::Text("two\nlines \u{1b}[31m\"'".into())).unwrap();
        send(&mut sent, &Message::Ended { interrupted: true, failed: 2 }).unwrap();
        let whole = sent.clone();
        let mut from = whole.as_slice();
        let Some(Message::Text(text)) = receive(&mut from).unwrap() else { panic!("not a text") };
        assert_eq!(text, "two\nlines \u{1b}[31m\"'");
        assert!(matches!(receive(&mut from), Ok(Some(Message::Ended { interrupted: true, failed: 2 }))));
        assert!(matches!(receive::<Message>(&mut from), Ok(None)));
        for cut in 1..sent.len() {
            let mut from = &sent[..cut];
            let ended = std::iter::from_fn(|| receive::<Message>(&mut from).transpose()).find(Result::is_err);
            assert_eq!(ended.is_none(), sent[cut - 1] == b'\n', "cut at {cut}");
        }
    }
}
