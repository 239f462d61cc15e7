//! The parent's side of the recovery check (`workload/recover.rs`): how long a store takes to open after its process was killed.

use std::time::Duration;

use storebench_disk::random::Random;

use crate::error::{Error, Result};
use crate::guard;
use crate::measure::page_cache::{self, Emptied};
use crate::result::{Failure, Recovery, RecoveryCheck, Reopened};
use crate::runner::part::Room;
use crate::runner::supervise::{End, Limit};
use crate::units::counted;
use crate::workload::recover::RecoverTold;
use crate::workload::spec::{Part, RecoverPart, Spec};

/// The kills of a store of one size while its files are in memory. The first comes when it has its records; before each other one a tenth
/// as many are added at most.
const KILLS: u64 = 5;
const MOST_ADDED: u64 = 10;
/// The lives after these: after the store was closed; the same, and after a kill, with nothing of its files in memory.
const CLOSED: u64 = KILLS + 1;
const COLD_CLOSED: u64 = CLOSED + 1;
const COLD_KILLED: u64 = COLD_CLOSED + 1;
/// The longest that one of its processes may take: a while, and more the more records it adds or counts.
const LONGEST: Duration = Duration::from_secs(60);
const RECORDS_A_SECOND: u64 = 2_000;

/// A recovery check that is about to be made.
pub struct Check<'a> {
    /// The way in which its store is opened.
    pub spec: Spec,
    /// Where its processes have their files.
    pub room: Room<'a>,
    /// The seed of all that is random.
    pub seed: u64,
}

/// The outcome of a recovery check.
pub enum Checked {
    /// The result that tells it.
    As(RecoveryCheck),
    /// Acknowledged records were missing.
    Failed(String),
    /// The user interrupted it.
    Interrupted,
}

/// The end of one of its processes.
enum Lived {
    Opened(Reopened),
    Lost(String),
    Not(String),
    Interrupted,
}

impl Check<'_> {
    /// Makes it with stores of so many records, in the trial's folder, which is emptied before each.
    ///
    /// # Errors
    /// When the folder can't be emptied, or a process can't be started.
    pub fn make(&self, sizes: &[u64]) -> Result<Checked> {
        let mut made = RecoveryCheck::default();
        for records in sizes {
            self.empty()?;
            let mut recovery = Recovery { records: *records, ..Recovery::default() };
            match self.kill_again_and_again(&mut recovery)? {
                Lived::Opened(_) => made.sizes.push(recovery),
                Lived::Lost(message) => return Ok(Checked::Failed(format!("recovery check: {message}"))),
                Lived::Interrupted => return Ok(Checked::Interrupted),
                Lived::Not(reason) => {
                    made.not_made = Some(format!("with {}: {reason}", counted(*records, "record")));
                    break;
                }
            }
        }
        self.empty()?;
        Ok(Checked::As(made))
    }

    /// Nothing of it stays behind: with many records it is larger than the trial.
    fn empty(&self) -> Result<()> {
        let directory = &self.spec.directory;
        guard::remove_made(directory)
            .and_then(|()| std::fs::create_dir(directory))
            .map_err(Error::io("emptying", directory))
    }

    /// Fills a store, kills it several times, closes it, and opens it once more; then it is opened twice with nothing in memory, after it
    /// was closed and after it was killed. Gives the first end that was not as it should be.
    fn kill_again_and_again(&self, recovery: &mut Recovery) -> Result<Lived> {
        let mut random = Random::seeded(self.seed);
        let (mut records, mut added) = (0, 0);
        for life in 0..=COLD_KILLED {
            if life >= COLD_CLOSED {
                match self.emptied() {
                    Some(emptied) => recovery.cache_emptied_by = Some(emptied.name().into()),
                    None => break,
                }
            }
            let adds = match life {
                0 => recovery.records,
                1..KILLS | COLD_CLOSED => 1 + random.below((recovery.records / MOST_ADDED).max(1)),
                _ => 0,
            };
            let part = RecoverPart { records, adds, closes: matches!(life, KILLS | CLOSED | COLD_KILLED) };
            let reopened = match self.live(part)? {
                Lived::Opened(reopened) => Reopened { added, ..reopened },
                ended => return Ok(ended),
            };
            match life {
                0 => recovery.created_ns = reopened.open_ns,
                1..=KILLS => recovery.killed.push(reopened),
                CLOSED => recovery.closed = reopened,
                COLD_CLOSED => recovery.cold_closed = Some(reopened),
                _ => recovery.cold_killed = Some(reopened),
            }
            (records, added) = (records + adds, adds);
        }
        Ok(Lived::Opened(recovery.closed))
    }

    /// Nothing of the store's files is in memory, which nobody has open; `None` where that can't be had.
    fn emptied(&self) -> Option<Emptied> {
        page_cache::empty(&self.spec.directory).ok()
    }

    fn live(&self, part: RecoverPart) -> Result<Lived> {
        let counted = if part.closes { part.records } else { 0 };
        let whole = LONGEST + Duration::from_secs((part.adds + counted) / RECORDS_A_SECOND);
        let limit = Limit { whole, room: Duration::ZERO, name: "the recovery check's" };
        let (end, told) =
            self.room.run(&Spec { part: Some(Part::Recover(part)), ..self.spec.clone() }, limit)?;
        Ok(match (end, told) {
            (End::Interrupted, _) => Lived::Interrupted,
            (_, Ok(RecoverTold::Failed { reason: Failure::WrongData, message })) => Lived::Lost(message),
            (_, Ok(RecoverTold::Failed { message, .. })) => Lived::Not(message),
            (End::Well | End::Badly { signal: Some(9), .. }, Ok(RecoverTold::Opened(reopened))) => {
                Lived::Opened(reopened)
            }
            (End::Badly { message, .. }, _) => Lived::Not(message),
            (End::Unsaved(error), _) => Lived::Not(format!("its report could not be written: {error}")),
            (End::Well, Err(error)) => Lived::Not(format!("it left no readable result: {error}")),
        })
    }
}
