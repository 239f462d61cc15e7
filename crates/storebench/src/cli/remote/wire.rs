//! The messages between the two machines of a remote run: lines of JSON over the input and output of the program on the board.

use std::collections::HashSet;
use std::io::{self, BufRead, Read, Write};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use storebench_core::workload::clients::link::ClientTask;
use storebench_core::workload::clients::messages::{ClientOrder, ClientReply};
use storebench_core::workload::load_progress::ProgressKind;
use storebench_model::cell::Cell;
use storebench_model::result::{RunHeader, TrialResult};

use crate::cli::properties::Texts;

/// The time between two signs of life from this machine.
pub const BEAT: Duration = Duration::from_secs(20);
/// A silence of this length means that the connection is lost.
pub const SILENCE: Duration = Duration::from_secs(90);

/// The longest message: a result includes its histograms and series.
const LONGEST_BYTES: u64 = 256 << 20;

/// The first message to the board. The lines of existing results follow it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Request {
    /// The arguments of `run`, without those that concern this machine.
    pub arguments: Vec<String>,
    /// The study's text, and its source.
    pub text: String,
    pub origin: String,
    /// The texts of the property files that the arguments name.
    pub properties: Texts,
    /// The command line here, for the results.
    pub command: Vec<String>,
    pub resume: Option<Box<RunHeader>>,
    /// The number of lines of results that follow.
    pub results: usize,
    /// A client's part of a trial, instead of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Box<ClientTask>>,
}

/// This machine's later messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoardSignal {
    /// A sign of life.
    Beat,
    Stop,
    /// All results are here: the board's copy may be deleted.
    Thanks,
    Order(Box<ClientOrder>),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Message {
    /// The first message: it runs, and has this version.
    Hello {
        version: String,
        format: u32,
    },
    /// The beginning of a new run.
    Header(Box<RunHeader>),
    Started {
        total: u64,
        done: u64,
    },
    /// Blocks are added.
    Extended {
        by: u64,
    },
    Trial {
        cell: Cell,
        position: u64,
        left_s: Option<f64>,
    },
    /// Progress of the trial in long work: which, records, of how many, in how many seconds.
    Loading {
        loading: Option<(ProgressKind, u64, u64, f64)>,
    },
    /// Something of a trial is left there for now.
    Left {
        why: String,
    },
    /// A trial's log, before its result.
    Log {
        name: String,
        text: String,
    },
    /// A trial's result: the line in the board's own file.
    Result(String),
    /// Text for people.
    Text(String),
    /// A client's message.
    Client(Box<ClientReply>),
    Ended {
        interrupted: bool,
        failed: u64,
    },
    Failed {
        exit: u8,
        message: String,
    },
}

/// Writes a message as a line; an error if the other side is gone.
pub fn send(out: &mut dyn Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}

/// Reads a line; `None` at the end. One that is too long or incomplete is an error.
pub fn read_line(reader: &mut dyn BufRead) -> io::Result<Option<String>> {
    let mut text = String::new();
    let length = reader.take(LONGEST_BYTES).read_line(&mut text)?;
    match text.pop() {
        None => Ok(None),
        Some('\n') => Ok(Some(text)),
        Some(_) if length as u64 == LONGEST_BYTES => Err(io::Error::other("a message is too long")),
        Some(_) => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Reads a message; `None` at the end.
pub fn receive<T: DeserializeOwned>(reader: &mut dyn BufRead) -> io::Result<Option<T>> {
    read_line(reader)?.map(|line| serde_json::from_str(&line).map_err(io::Error::from)).transpose()
}

/// The trials in some results, each by cell and block.
#[derive(Debug, Default)]
pub struct KnownTrials(HashSet<(String, u32)>);

impl KnownTrials {
    /// Adds a result; returns whether it is new.
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
        let mut reader = whole.as_slice();
        let Some(Message::Text(text)) = receive(&mut reader).unwrap() else { panic!("not a text") };
        assert_eq!(text, "two\nlines \u{1b}[31m\"'");
        assert!(matches!(receive(&mut reader), Ok(Some(Message::Ended { interrupted: true, failed: 2 }))));
        assert!(matches!(receive::<Message>(&mut reader), Ok(None)));
        for cut in 1..sent.len() {
            let mut reader = &sent[..cut];
            let error =
                std::iter::from_fn(|| receive::<Message>(&mut reader).transpose()).find(Result::is_err);
            assert_eq!(error.is_none(), sent[cut - 1] == b'\n', "cut at {cut}");
        }
    }
}
