//! The thread that reads the trace: it makes keys and values, and hands each operation to the thread that its key belongs to.

use crate::trace::{Spread, TraceOperation, key_hash};

use super::chunk::{ChunkSender, ReplayStep};
use super::key_fitter::KeyFitter;
use super::parameters::Speed;
use super::values::Values;

/// In timed replays, operations due within this many nanoseconds are handed over together.
const SLICE_NS: u64 = 1_000_000;

pub(crate) struct TraceFeed<'a> {
    pub spread: Spread,
    pub fitter: KeyFitter,
    pub values: &'a Values,
    pub senders: Vec<ChunkSender>,
    pub speed: Speed,
}

pub(crate) struct FeedOutcome {
    pub spread: Spread,
    pub fitter: KeyFitter,
    /// In nanoseconds after the first.
    pub last_due_ns: u64,
}

impl TraceFeed<'_> {
    /// Reads the trace. Ends early, without an error, when a thread that plays has ended.
    pub fn run(self) -> Result<FeedOutcome, String> {
        let TraceFeed { mut spread, mut fitter, values, mut senders, speed } = self;
        let (mut slice_ns, mut last_due_ns) = (0, 0);
        while let Some(entry) = spread.next_entry()? {
            if entry.word.does == TraceOperation::Skip {
                continue;
            }
            let due_ns = match speed {
                Speed::Max => 0,
                Speed::Times(times) => (entry.time_ns as f64 / times) as u64,
            };
            if due_ns >= slice_ns + SLICE_NS {
                slice_ns = due_ns;
                if senders.iter_mut().try_for_each(ChunkSender::flush).is_err() {
                    break;
                }
            }
            last_due_ns = due_ns;
            let is_scan = entry.word.does == TraceOperation::Scan;
            let key = if is_scan { fitter.fit_scan_start(entry.key) } else { fitter.fit_key(entry.key) };
            let size = entry.size.unwrap_or_default() as usize;
            let hash = key_hash(key);
            let player = player_index(hash, senders.len());
            let Ok(chunk) = senders[player].chunk() else { break };
            let start = chunk.bytes.len();
            chunk.bytes.extend_from_slice(key);
            let middle = chunk.bytes.len();
            if entry.word.does.writes() {
                values.append(hash, entry.position, size, &mut chunk.bytes);
            }
            chunk.steps.push(ReplayStep {
                operation: entry.word.does,
                position: entry.position,
                due_ns,
                hash,
                records: size,
                key: start..middle,
                value: middle..chunk.bytes.len(),
            });
        }
        // A thread that plays may have ended.
        let _ = senders.iter_mut().try_for_each(ChunkSender::flush);
        Ok(FeedOutcome { spread, fitter, last_due_ns })
    }
}

pub(crate) fn player_index(hash: u64, players: usize) -> usize {
    (hash >> 32) as usize % players
}
