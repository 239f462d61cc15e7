//! The messages between a trial's process and its clients.

use std::io::{Read, Write};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};
use storebench_model::result::{Counters, Failure, WrittenRecords};
use storebench_model::server::running::ServerNamespace;

use crate::measure::latency::PackedLatencies;
use crate::workload::elapsed::Elapsed;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the doc comment of each says what its fields are")]
pub enum ClientOrder {
    /// Asks for its clock.
    Ping,
    /// Open sessions on what was made on the server; `loaded` is the number of records if it was loaded anew.
    Open { made: ServerNamespace, loaded: Option<u64> },
    /// Prepare a round, up to what is timed.
    Round(ClientRound),
    /// Start the timed part at this moment of its clock.
    Start { at_ns: u64 },
    /// Send all measurements.
    Finish,
}

/// A round, which all clients do together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientRound {
    /// The phase of the workload, by its number.
    pub phase: usize,
    /// The most operations of all threads, warm-up included.
    pub operations: u64,
    /// The number of them that are not measured.
    pub warm_up: u64,
    /// The longest that the timed part may go on.
    pub until: Option<Duration>,
    /// Records in the store.
    pub live: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the doc comment of each says what its fields are")]
pub enum ClientReply {
    Alive,
    Pong {
        at_ns: u64,
    },
    Opened,
    /// It waits for the start.
    Ready,
    Done(Box<RoundResult>),
    Finished(Box<ClientResults>),
    Failed {
        reason: Failure,
        message: String,
    },
}

/// A client's part of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundResult {
    /// Nanoseconds from the common start to its first thread's begin.
    pub begin_ns: u64,
    /// The time by which the last of its threads was late at the starting line, in nanoseconds.
    pub late_ns: u64,
    /// The time of its threads.
    pub elapsed: Elapsed,
    /// The time by which an open loop ended late, in nanoseconds.
    pub behind_ns: u64,
    /// Operations that were timed.
    pub count: u64,
    /// Operations that were not, by kind.
    pub untimed: Vec<u64>,
    /// Writes that changed what the store holds.
    pub writes: u64,
    /// All that it has written so far.
    pub written: WrittenRecords,
    /// Records that each of its threads has now.
    pub records: Vec<u64>,
    /// The counters of its process.
    pub counters: Counters,
    /// The processors that it may use.
    pub processors: u32,
    /// The share of their time that its process took, while it was timed.
    pub cpu_share: f64,
    /// The share that all programs took; `None` if the round was too short to show.
    pub busy_share: Option<f64>,
    /// The histogram of each second, packed.
    pub seconds: Vec<(u32, String)>,
}

/// All that a client has measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientResults {
    /// Each kind of operation.
    pub kinds: Vec<OperationMeasurements>,
    /// The versions of each thread's records, packed.
    pub versions: Vec<String>,
    /// Removed keys that were looked for and were gone.
    pub seen_gone: u64,
}

/// The measurements of a kind of operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperationMeasurements {
    pub(crate) latencies: PackedLatencies,
    /// Failed operations.
    pub errors: u64,
    /// Value bytes written or read.
    pub value_bytes: u64,
    /// Transactions that were done again.
    pub conflicts: u64,
}

/// Packs bytes as text: many of them are alike.
pub fn pack_bytes(bytes: &[u8]) -> Result<String, String> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    packed.map(|packed| BASE64.encode(packed)).map_err(|error| error.to_string())
}

/// Unpacks the bytes of a text; fails unless there are `length` of them.
pub fn unpack_bytes(text: &str, length: usize) -> Result<Vec<u8>, String> {
    let packed = BASE64.decode(text).map_err(|error| error.to_string())?;
    let (mut bytes, limit) = (Vec::with_capacity(length), length as u64 + 1);
    DeflateDecoder::new(packed.as_slice())
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.len() == length { Ok(bytes) } else { Err(format!("it is not of {length} records")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_arrive_as_they_were_and_no_others_are_taken() {
        let mut random = fastrand::Rng::with_seed(9);
        for length in [0, 1, 70_000] {
            let versions: Vec<u8> = (0..length).map(|_| random.u8(0..3)).collect();
            let text = pack_bytes(&versions).unwrap();
            assert_eq!(unpack_bytes(&text, length).unwrap(), versions);
            assert!(unpack_bytes(&text, length + 1).is_err());
        }
        let many = pack_bytes(&vec![0; 1 << 20]).unwrap();
        assert!(many.len() < 20_000 && unpack_bytes(&many, 10).is_err());
        assert!(unpack_bytes("no base64", 1).is_err() && unpack_bytes("AAAA", 1).is_err());
    }
}
