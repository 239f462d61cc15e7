//! Pauses: calls that take long. The engine's background work is asked for after each of them and now and then without one, which
//! separates what comes with pauses from what goes on all the time.

use std::sync::atomic::{AtomicBool, Ordering};

use storebench_model::result::{CallStatistics, Pauses, Samples, UpkeepCount};
use storebench_model::store::{Store, Upkeep};

use super::life_worker::KINDS;
use crate::measure::clock::Clock;
use crate::measure::syncs;
use crate::workload::workload_error::WorkloadError;
use storebench_model::server::processes;

/// Longer calls are pauses.
const PAUSE_NS: u64 = 10_000_000;

/// The least time between two samples of all threads.
const SAMPLE_INTERVAL_NS: f64 = 10e6;
/// Sampling takes at most one part in this many of all time, and as much again after pauses.
const SAMPLING_SHARE: u64 = 50;
const SAMPLING_SHARE_AFTER_PAUSES: u64 = 10;

pub struct PauseWatch<'a> {
    clock: &'a Clock,
    /// Whether other work is under way.
    busy: &'a AtomicBool,
    was_busy: bool,
    /// Calls during that work, and the others.
    pub during: CallStatistics,
    pub otherwise: CallStatistics,
    pauses: Pauses,
    by_kind: [u64; KINDS.len()],
    /// The engine's work at the last sample, and when that was taken.
    last: Vec<Upkeep>,
    sampled_at: u64,
    /// Ticks between two samples, and when the next is due.
    interval: u64,
    next_sample: u64,
    /// Ticks that the last sample took.
    sampling_ticks: u64,
    call_end: u64,
    /// Whether a call since the last sample was a pause.
    had_pause: bool,
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
            during: CallStatistics::default(),
            otherwise: CallStatistics::default(),
            pauses: Pauses { over_ns: PAUSE_NS, ..Pauses::default() },
            by_kind: [0; KINDS.len()],
            last: Vec::new(),
            sampled_at: 0,
            interval: clock.ticks(SAMPLE_INTERVAL_NS * threads as f64) as u64,
            next_sample: 0,
            sampling_ticks: 0,
            call_end: 0,
            had_pause: false,
            synced_ns: 0,
        }
    }

    pub fn begin(&mut self, store: &dyn Store) -> Result<(), WorkloadError> {
        self.last = read_upkeep(store)?;
        self.had_pause = false;
        self.synced_ns = syncs::count_this_thread().ns;
        self.sampled_at = self.clock.now();
        self.next_sample = self.sampled_at + self.interval;
        if self.pauses.sync_ns.is_none() && syncs::check_counting().is_ok() && !processes::has_servers() {
            self.pauses.sync_ns = Some(0);
        }
        Ok(())
    }

    /// Notes a call that ended now.
    #[inline]
    pub fn note_call(&mut self, kind: usize, ns: u64, call_end: u64) {
        let is_busy = self.busy.load(Ordering::Relaxed);
        // A call during the begin or end of the work counts as during it.
        if is_busy || self.was_busy { &mut self.during } else { &mut self.otherwise }.add(ns);
        self.was_busy = is_busy;
        self.pauses.calls_ns += ns;
        self.call_end = call_end;
        let synced_ns = syncs::count_this_thread().ns;
        if ns > PAUSE_NS {
            self.note_pause(kind, ns, synced_ns - self.synced_ns);
        }
        self.synced_ns = synced_ns;
    }

    #[cold]
    fn note_pause(&mut self, kind: usize, ns: u64, in_syncs_ns: u64) {
        self.by_kind[kind] += 1;
        let pauses = &mut self.pauses;
        pauses.total_ns += ns;
        pauses.longest_ns = pauses.longest_ns.max(ns);
        pauses.sync_ns = pauses.sync_ns.map(|all| all + in_syncs_ns.min(ns));
        self.had_pause = true;
    }

    /// Asks the engine after a step, if due.
    #[inline]
    pub fn sample_if_due(&mut self, store: &dyn Store) -> Result<(), WorkloadError> {
        let may_sample = self.call_end >= self.sampled_at + self.sampling_ticks * SAMPLING_SHARE_AFTER_PAUSES;
        if (self.had_pause && may_sample) || self.call_end >= self.next_sample {
            self.take_sample(store)
        } else {
            Ok(())
        }
    }

    /// Asks the engine after a step of a schedule, if due, and, except after a pause, only if that does not delay the next step at `next`.
    pub(crate) fn sample_before(&mut self, store: &dyn Store, next: u64) -> Result<(), WorkloadError> {
        let has_time = self.call_end + 2 * self.sampling_ticks < next;
        if self.had_pause || has_time { self.sample_if_due(store) } else { Ok(()) }
    }

    #[cold]
    fn take_sample(&mut self, store: &dyn Store) -> Result<(), WorkloadError> {
        let begin = self.clock.now();
        let upkeep = read_upkeep(store)?;
        let span_ns = self.clock.nanoseconds(self.sampled_at, begin);
        let PauseWatch { pauses, last, had_pause, .. } = self;
        let samples = if *had_pause { &mut pauses.after } else { &mut pauses.otherwise };
        *samples = Samples { count: samples.count + 1, span_ns: samples.span_ns + span_ns };
        for task in &upkeep {
            let earlier = last.iter().find(|earlier| earlier.work == task.work);
            let is_found = task.under_way || earlier.is_none_or(|earlier| earlier.count != task.count);
            let index = pauses.upkeep.iter().position(|count| count.work == task.work).unwrap_or_else(|| {
                pauses.upkeep.push(UpkeepCount { work: task.work.into(), ..UpkeepCount::default() });
                pauses.upkeep.len() - 1
            });
            let count = &mut pauses.upkeep[index];
            *if *had_pause { &mut count.after } else { &mut count.otherwise } += u64::from(is_found);
        }
        *last = upkeep;
        *had_pause = false;
        self.sampled_at = self.clock.now();
        self.sampling_ticks = self.sampled_at - begin;
        self.next_sample = self.sampled_at + self.interval.max(self.sampling_ticks * SAMPLING_SHARE);
        Ok(())
    }

    pub fn result(self) -> Pauses {
        let called_kinds = KINDS.iter().zip(self.by_kind).filter(|(_, count)| *count > 0);
        let by_call = called_kinds.map(|(kind, count)| ((*kind).to_owned(), count)).collect();
        Pauses { calls: self.during.count + self.otherwise.count, by_call, ..self.pauses }
    }
}

fn read_upkeep(store: &dyn Store) -> Result<Vec<Upkeep>, WorkloadError> {
    store.upkeep().map_err(WorkloadError::during("reading what the engine does for itself"))
}
