//! Pauses: calls that take long. The engine is asked for the work that it does for itself, after each of them and now and then without
//! one, so that what comes with pauses is told from what goes on all the time.

use std::sync::atomic::{AtomicBool, Ordering};

use super::lane::KINDS;
use crate::measure::children;
use crate::measure::clock::Clock;
use crate::measure::syncs;
use crate::result::{Calls, Looks, Pauses, UpkeepSeen};
use crate::store::{Store, Upkeep};
use crate::workload::stop::Stop;

/// A call that takes longer is a pause.
const PAUSE_NS: u64 = 10_000_000;

/// The time between two looks at the engine that all threads make.
const BETWEEN_NS: f64 = 10e6;
/// Looks take no more of all time than one part of so many, and no more than one of so many after pauses.
const MOST_LOOKING: u64 = 50;
const MOST_AFTER_PAUSES: u64 = 10;

/// A thread's calls, as it makes them.
pub struct Watch<'a> {
    clock: &'a Clock,
    /// Whether other work is under way beside the steps.
    busy: &'a AtomicBool,
    was_busy: bool,
    /// The calls beside that work, and the others.
    pub beside: Calls,
    pub otherwise: Calls,
    pauses: Pauses,
    by_kind: [u64; KINDS.len()],
    /// The engine's own work at the last look, and when that was.
    last: Vec<Upkeep>,
    looked: u64,
    /// The time between two looks, in ticks, and the moment of the next.
    between: u64,
    due: u64,
    /// The time that the last look took, in ticks.
    took: u64,
    /// The end of the last call.
    ended: u64,
    /// Whether a call since the last look was a pause.
    paused: bool,
    /// The time that this thread had been in syncs when the last call ended.
    synced_ns: u64,
}

impl<'a> Watch<'a> {
    /// That of one of so many threads, beside work that `busy` tells of.
    pub fn new(clock: &'a Clock, threads: u64, busy: &'a AtomicBool) -> Watch<'a> {
        Watch {
            clock,
            busy,
            was_busy: false,
            beside: Calls::default(),
            otherwise: Calls::default(),
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

    /// A round begins.
    pub fn begin(&mut self, store: &dyn Store) -> Result<(), Stop> {
        self.last = ask(store)?;
        self.paused = false;
        self.synced_ns = syncs::of_this_thread().ns();
        self.looked = self.clock.now();
        self.due = self.looked + self.between;
        if self.pauses.sync_ns.is_none() && syncs::in_effect().is_ok() && !children::is_there() {
            self.pauses.sync_ns = Some(0);
        }
        Ok(())
    }

    /// A call of a kind has taken so long, until this moment.
    #[inline]
    pub fn called(&mut self, kind: usize, ns: u64, ended: u64) {
        let is_busy = self.busy.load(Ordering::Relaxed);
        // One that was under way when the work began or ended counts as beside it.
        if is_busy || self.was_busy { &mut self.beside } else { &mut self.otherwise }.add(ns);
        self.was_busy = is_busy;
        self.pauses.calls_ns += ns;
        self.ended = ended;
        let synced_ns = syncs::of_this_thread().ns();
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

    /// A step has ended: asks the engine where that is due.
    #[inline]
    pub fn stepped(&mut self, store: &dyn Store) -> Result<(), Stop> {
        let may_look = self.ended >= self.looked + self.took * MOST_AFTER_PAUSES;
        if (self.paused && may_look) || self.ended >= self.due { self.look(store) } else { Ok(()) }
    }

    /// A step of a schedule has ended: asks the engine where that is due, and, but after a pause, where it delays no step: the next is to
    /// begin at this moment.
    pub(crate) fn stepped_before(&mut self, store: &dyn Store, next: u64) -> Result<(), Stop> {
        let has_time = self.ended + 2 * self.took < next;
        if self.paused || has_time { self.stepped(store) } else { Ok(()) }
    }

    #[cold]
    fn look(&mut self, store: &dyn Store) -> Result<(), Stop> {
        let begin = self.clock.now();
        let now = ask(store)?;
        let span_ns = self.clock.nanoseconds(self.looked, begin);
        let Watch { pauses, last, paused, .. } = self;
        let looks = if *paused { &mut pauses.after } else { &mut pauses.otherwise };
        *looks = Looks { count: looks.count + 1, span_ns: looks.span_ns + span_ns };
        for one in &now {
            let before = last.iter().find(|other| other.work == one.work);
            let is_found = one.under_way || before.is_none_or(|before| before.count != one.count);
            let place = pauses.upkeep.iter().position(|seen| seen.work == one.work).unwrap_or_else(|| {
                pauses.upkeep.push(UpkeepSeen { work: one.work.into(), ..UpkeepSeen::default() });
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

    /// All pauses that were seen.
    pub fn result(self) -> Pauses {
        let named = KINDS.iter().zip(self.by_kind).filter(|(_, count)| *count > 0);
        let by_call = named.map(|(kind, count)| ((*kind).to_owned(), count)).collect();
        Pauses { calls: self.beside.count + self.otherwise.count, by_call, ..self.pauses }
    }
}

fn ask(store: &dyn Store) -> Result<Vec<Upkeep>, Stop> {
    store.upkeep().map_err(|error| Stop::store("reading what the engine does for itself", &error))
}
