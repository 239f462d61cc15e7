//! The parent's side of the recovery check (`workload/recover.rs`): how long a store takes to open after its process was killed.

use std::time::Duration;

use storebench_disk::random::Random;

use crate::runner::check_process::CheckRoom;
use crate::runner::child_process::{ProcessEnd, TimeLimit};
use crate::runner::kill::{CheckOutcome, empty};
use storebench_core::measure::page_cache;
use storebench_core::workload::recover::RecoveryMessage;
use storebench_core::workload::spec::{CheckPart, RecoverEnd, RecoverPart, Spec};
use storebench_model::error::Result;
use storebench_model::result::{Failure, Recovery, RecoveryCheck, Reopening};
use storebench_model::units::plural;

/// The kills of a store of one size with its files in memory.
const KILLS: usize = 5;
/// The most records added at once, as a fraction of those at first.
const MOST_ADDED: u64 = 10;
/// The most records added before a power cut: a journal of unsynced data is kept in memory.
const MOST_BEFORE_CUT: u64 = 10_000;

/// A process in which the store is opened, used and ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StoreLife {
    /// Creates it, with its first records.
    First,
    Killed,
    /// The last of these after a kill: nothing is added, and the store is closed.
    LastKilled,
    Closed,
    /// After a close, with none of its files in memory.
    ColdClosed,
    /// After a kill, with none of its files in memory.
    ColdKilled,
    /// Up to a power cut. Journalling its writes takes time, so the time of its opening means nothing.
    BeforeCut,
    Cut,
}

impl StoreLife {
    /// The lives of a store in their order, with a power cut if wanted.
    fn all(cuts: bool) -> Vec<StoreLife> {
        let closed = [StoreLife::Closed, StoreLife::ColdClosed, StoreLife::ColdKilled];
        let cut: &[StoreLife] = if cuts { &[StoreLife::BeforeCut, StoreLife::Cut] } else { &[] };
        let killed = [StoreLife::Killed; KILLS - 1];
        [&[StoreLife::First][..], &killed, &[StoreLife::LastKilled], &closed, cut].concat()
    }

    fn is_cold(self) -> bool {
        matches!(self, StoreLife::ColdClosed | StoreLife::ColdKilled | StoreLife::Cut)
    }

    fn end(self) -> RecoverEnd {
        match self {
            StoreLife::First | StoreLife::Killed | StoreLife::ColdClosed => RecoverEnd::Killed,
            StoreLife::LastKilled | StoreLife::Closed | StoreLife::ColdKilled | StoreLife::Cut => {
                RecoverEnd::Closes
            }
            StoreLife::BeforeCut => RecoverEnd::Cut,
        }
    }

    /// The records that it adds: up to a tenth of the first ones, so that the log's fill varies.
    fn count_of_records(self, first: u64, random: &mut Random) -> u64 {
        let draw_some =
            |random: &mut Random, most: u64| 1 + random.below((first / MOST_ADDED).clamp(1, most));
        match self {
            StoreLife::First => first,
            StoreLife::Killed | StoreLife::Closed | StoreLife::ColdClosed => draw_some(random, u64::MAX),
            StoreLife::BeforeCut => draw_some(random, MOST_BEFORE_CUT),
            StoreLife::LastKilled | StoreLife::ColdKilled | StoreLife::Cut => 0,
        }
    }

    fn keep(self, recovery: &mut Recovery, opened: Reopening) {
        match self {
            StoreLife::First => recovery.created_ns = opened.open_ns,
            StoreLife::Killed | StoreLife::LastKilled => recovery.killed.push(opened),
            StoreLife::Closed => recovery.closed = opened,
            StoreLife::ColdClosed => recovery.cold_closed = Some(opened),
            StoreLife::ColdKilled => recovery.cold_killed = Some(opened),
            StoreLife::BeforeCut => {}
            StoreLife::Cut => recovery.cut = Some(opened),
        }
    }
}

/// The longest that one of its processes may take, plus a time for each record that it adds or counts.
const MAX_WAIT: Duration = Duration::from_secs(60);
const RECORDS_A_SECOND: u64 = 2_000;

/// A recovery check that is about to be made.
pub struct RecoveryChecker<'a> {
    pub spec: Spec,
    pub room: CheckRoom<'a>,
    pub seed: u64,
    /// Whether it has a power cut: for a store that promises to survive one.
    pub cuts: bool,
}

enum LifeEnd {
    Opened(Reopening),
    NotUndone(String),
    Lost(String),
    CannotCheck(String),
}

impl RecoveryChecker<'_> {
    /// Makes the check with stores of these numbers of records, in the trial's folder, which is emptied before each. The store has
    /// failed it if acknowledged records were missing.
    pub fn make(&self, sizes: &[u64]) -> Result<CheckOutcome<RecoveryCheck>> {
        let mut check = RecoveryCheck::default();
        for records in sizes {
            empty(&self.spec.directory)?;
            let mut recovery = Recovery { records: *records, ..Recovery::default() };
            match self.run_lives(&mut recovery)? {
                LifeEnd::Opened(_) => check.sizes.push(recovery),
                LifeEnd::NotUndone(why) => {
                    recovery.not_cut = Some(why);
                    check.sizes.push(recovery);
                }
                LifeEnd::Lost(message) => {
                    return Ok(Err((Failure::WrongData, format!("recovery check: {message}"))));
                }
                LifeEnd::CannotCheck(reason) => {
                    check.not_made = Some(format!("with {}: {reason}", plural(*records, "record")));
                    break;
                }
            }
        }
        // Nothing of it may remain: with many records it is larger than the trial.
        empty(&self.spec.directory)?;
        Ok(Ok(check))
    }

    /// Runs the lives of a store. Returns the first bad end.
    fn run_lives(&self, recovery: &mut Recovery) -> Result<LifeEnd> {
        let mut random = Random::seeded(self.seed);
        let (mut records, mut added) = (0, 0);
        for life in StoreLife::all(self.cuts) {
            if life.is_cold() {
                // Nobody has the store's files open.
                match page_cache::empty(&self.spec.directory) {
                    Ok(emptied) => recovery.cache_emptied_by = Some(emptied.name().into()),
                    Err(_) => {
                        let why = "the files can't be taken out of memory";
                        recovery.not_cut = self.cuts.then(|| why.into());
                        break;
                    }
                }
            }
            let adds = life.count_of_records(recovery.records, &mut random);
            match self.run_life(RecoverPart { records, adds, is_cold: life.is_cold(), end: life.end() })? {
                LifeEnd::Opened(opened) => life.keep(recovery, Reopening { added, ..opened }),
                LifeEnd::Lost(message) if life == StoreLife::Cut => {
                    return Ok(LifeEnd::Lost(format!("{message}, and what it had not synced was undone")));
                }
                ended => return Ok(ended),
            }
            (records, added) = (records + adds, adds);
        }
        Ok(LifeEnd::Opened(recovery.closed))
    }

    fn run_life(&self, part: RecoverPart) -> Result<LifeEnd> {
        let counted = if part.end == RecoverEnd::Closes { part.records } else { 0 };
        let whole = MAX_WAIT + Duration::from_secs((part.adds + counted) / RECORDS_A_SECOND);
        let limit = TimeLimit { whole, room: Duration::ZERO, name: "the recovery check's" };
        let (end, message) =
            self.room.run(&Spec { part: Some(CheckPart::Recover(part)), ..self.spec.clone() }, limit)?;
        Ok(match (end, message) {
            (_, Ok(RecoveryMessage::Failed { reason: Failure::WrongData, message })) => {
                LifeEnd::Lost(message)
            }
            (_, Ok(RecoveryMessage::Failed { message, .. })) => LifeEnd::CannotCheck(message),
            (
                ProcessEnd::Well | ProcessEnd::Badly { signal: Some(9), .. },
                Ok(RecoveryMessage::Opened(reopened)),
            ) => LifeEnd::Opened(reopened),
            (ProcessEnd::Badly { signal: Some(9), .. }, Ok(RecoveryMessage::NotUndone(why))) => {
                LifeEnd::NotUndone(why)
            }
            (ProcessEnd::Badly { message, .. }, _) => LifeEnd::CannotCheck(message),
            (ProcessEnd::Unsaved(error), _) => {
                LifeEnd::CannotCheck(format!("its report could not be written: {error}"))
            }
            (ProcessEnd::Well, Ok(RecoveryMessage::NotUndone(why))) => {
                LifeEnd::CannotCheck(format!("it was not killed: {why}"))
            }
            (ProcessEnd::Well, Err(error)) => {
                LifeEnd::CannotCheck(format!("it left no readable result: {error}"))
            }
        })
    }
}
