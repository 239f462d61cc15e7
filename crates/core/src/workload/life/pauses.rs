//! Pauses: calls that take long. The engine's background work is asked for after each of them and now and then without one, which
//! separates what comes with pauses from what goes on all the time.

use std::sync::atomic::{AtomicBool, Ordering};

use super::life_worker::KINDS;
use crate::measure::children;
use crate::measure::clock::Clock;
use crate::measure::syncs;
use crate::result::{CallStatistics, Pauses, Samples, UpkeepCount};
use crate::store::{Store, Upkeep};
use crate::workload::workload_error::WorkloadError;

/// Longer calls are pauses.
const PAUSE_NS: u64 = 10_000_000;

/// The least time between two looks of all threads at the engine.
const BETWEEN_NS: f64 = 10e6;
/// Looks take at most one part in this many of all time, and as much again after pauses.
const MOST_LOOKING: u64 = 50;
const MOST_AFTER_PAUSES: u64 = 10;

pub struct PauseWatch<'a> {
    clock: &'a Clock,
    /// Whether other work is under way.
    busy: &'a AtomicBool,
    was_busy: bool,
    /// Calls during that work, and the others.
    pub beside: CallStatistics,
    pub otherwise: CallStatistics,
    pauses: Pauses,
    by_kind: [u64; KINDS.len()],
    /// The engine's work at the last look, and when that was.
    last: Vec<Upkeep>,
    looked: u64,
    /// Ticks between two looks, and when the next is due.
    between: u64,
    due: u64,
    /// Ticks of the last look.
    took: u64,
    ended: u64,
    /// Whether a call since the last look was a pause.
    paused: bool,
    /// This thread's time in syncs when the last call ended.
    synced_ns: u64,
}

impl<'a> PauseWatch<'a> {
    /// For one of `threads` threads; `busy` is set during other work.
    pub fn new(clock: &'a Clock, threads: u64, busy: &'a AtomicBool) -> PauseWatch<'a> {
        PauseWatch {
            clock,
            busy,
            was_busy: false,
            beside: CallStatistics::default(),
            otherwise: CallStatistics::default(),
            pauses: Pauses { over_ns: PAUSE_NS, ..Pauses::default() },
            by_kind: [0; KINDS.len()],
            last: Vec::new(),
            looked: 0,
            between: clock.ticks(BETWEEN_NS * threads as f64) as u64,
            due: 0,
            took: 0,
            ended: 0,
            paused: false,
            synced_ns: 0,
        }
    }

    pub fn begin(&mut self, store: &dyn Store) -> Result<(), WorkloadError> {
        self.last = ask(store)?;
        self.paused = false;
        self.synced_ns = syncs::count_this_thread().ns();
        self.looked = self.clock.now();
        self.due = self.looked + self.between;
        if self.pauses.sync_ns.is_none() && syncs::check_counting().is_ok() && !children::is_there() {
            self.pauses.sync_ns = Some(0);
        }
        Ok(())
    }

    /// Notes a call that ended now.
    #[inline]
    pub fn called(&mut self, kind: usize, ns: u64, ended: u64) {
        let is_busy = self.busy.load(Ordering::Relaxed);
        // A call during the begin or end of the work counts as during it.
        if is_busy || self.was_busy { &mut self.beside } else { &mut self.otherwise }.add(ns);
        self.was_busy = is_busy;
        self.pauses.calls_ns += ns;
        self.ended = ended;
        let synced_ns = syncs::count_this_thread().ns();
        if ns > PAUSE_NS {
            self.pause(kind, ns, synced_ns - self.synced_ns);
        }
        self.synced_ns = synced_ns;
    }

    #[cold]
    fn pause(&mut self, kind: usize, ns: u64, in_syncs_ns: u64) {
        self.by_kind[kind] += 1;
        let pauses = &mut self.pauses;
        pauses.total_ns += ns;
        pauses.longest_ns = pauses.longest_ns.max(ns);
        pauses.sync_ns = pauses.sync_ns.map(|all| all + in_syncs_ns.min(ns));
        self.paused = true;
    }

    /// Asks the engine after a step, if due.
    #[inline]
    pub fn stepped(&mut self, store: &dyn Store) -> Result<(), WorkloadError> {
        let may_look = self.ended >= self.looked + self.took * MOST_AFTER_PAUSES;
        if (self.paused && may_look) || self.ended >= self.due { self.take_sample(store) } else { Ok(()) }
    }

    /// Asks the engine after a step of a schedule, if due, and, except after a pause, only if that does not delay the next step at `next`.
    pub(crate) fn stepped_before(&mut self, store: &dyn Store, next: u64) -> Result<(), WorkloadError> {
        let has_time = self.ended + 2 * self.took < next;
        if self.paused || has_time { self.stepped(store) } else { Ok(()) }
    }

    #[cold]
    fn take_sample(&mut self, store: &dyn Store) -> Result<(), WorkloadError> {
        let begin = self.clock.now();
        let now = ask(store)?;
        let span_ns = self.clock.nanoseconds(self.looked, begin);
        let PauseWatch { pauses, last, paused, .. } = self;
        let looks = if *paused { &mut pauses.after } else { &mut pauses.otherwise };
        *looks = Samples { count: looks.count + 1, span_ns: looks.span_ns + span_ns };
        for one in &now {
            let before = last.iter().find(|other| other.work == one.work);
            let is_found = one.under_way || before.is_none_or(|before| before.count != one.count);
            let place = pauses.upkeep.iter().position(|seen| seen.work == one.work).unwrap_or_else(|| {
                pauses.upkeep.push(UpkeepCount { work: one.work.into(), ..UpkeepCount::default() });
                pauses.upkeep.len() - 1
            });
            let seen = &mut pauses.upkeep[place];
            *if *paused { &mut seen.after } else { &mut seen.otherwise } += u64::from(is_found);
        }
        *last = now;
        *paused = false;
        self.looked = self.clock.now();
        self.took = self.looked - begin;
        self.due = self.looked + self.between.max(self.took * MOST_LOOKING);
        Ok(())
    }

    pub fn result(self) -> Pauses {
        let named = KINDS.iter().zip(self.by_kind).filter(|(_, count)| *count > 0);
        let by_call = named.map(|(kind, count)| ((*kind).to_owned(), count)).collect();
        Pauses { calls: self.beside.count + self.otherwise.count, by_call, ..self.pauses }
    }
}

fn ask(store: &dyn Store) -> Result<Vec<Upkeep>, WorkloadError> {
    store.upkeep().map_err(|error| WorkloadError::store("reading what the engine does for itself", &error))
}
