//! Pauses: calls that take long. The engine is asked for the work that it does for itself, after each of them and now and then without
//! one, so that what comes with pauses is told from what goes on all the time.

use crate::measure::children;
use crate::measure::clock::Clock;
use crate::measure::syncs;
use crate::result::{Pauses, Upkeep};
use crate::store::Store;
use crate::workload::stop::Stop;

/// A call that takes longer is a pause.
pub const PAUSE_NS: u64 = 10_000_000;

/// The time between two looks at the engine, and the most that looks may take of all time.
const BETWEEN_NS: u64 = 10_000_000;
const MOST_LOOKING: u64 = 50;

/// A thread's pauses.
pub struct Watch {
    pauses: Pauses,
    /// The engine's figures at the last look.
    last: Vec<(&'static str, u64)>,
    /// The moment from which it is asked again.
    due: u64,
    /// The end of the last call.
    ended: u64,
    /// Whether a call since the last look was a pause.
    paused: bool,
    /// The time that this thread had been in syncs when the last call ended.
    synced_ns: u64,
}

impl Watch {
    /// That of a trial.
    pub fn new() -> Watch {
        let pauses = Pauses { over_ns: PAUSE_NS, ..Pauses::default() };
        Watch { pauses, last: Vec::new(), due: 0, ended: 0, paused: false, synced_ns: 0 }
    }

    /// A round begins.
    ///
    /// # Errors
    /// The store's own.
    pub fn begin(&mut self, store: &dyn Store, clock: &Clock) -> Result<(), Stop> {
        self.last = ask(store)?;
        self.paused = false;
        self.synced_ns = syncs::of_this_thread().ns();
        self.due = clock.now() + clock.ticks(BETWEEN_NS as f64) as u64;
        if self.pauses.sync_ns.is_none() && syncs::in_effect().is_ok() && !children::is_there() {
            self.pauses.sync_ns = Some(0);
        }
        Ok(())
    }

    /// A call has taken so long, until this moment.
    #[inline]
    pub fn called(&mut self, ns: u64, ended: u64) {
        self.pauses.calls += 1;
        self.pauses.calls_ns += ns;
        self.ended = ended;
        let synced_ns = syncs::of_this_thread().ns();
        if ns > PAUSE_NS {
            self.pause(ns, synced_ns - self.synced_ns);
        }
        self.synced_ns = synced_ns;
    }

    #[cold]
    fn pause(&mut self, ns: u64, in_syncs_ns: u64) {
        let pauses = &mut self.pauses;
        pauses.count += 1;
        pauses.total_ns += ns;
        pauses.longest_ns = pauses.longest_ns.max(ns);
        pauses.sync_ns = pauses.sync_ns.map(|all| all + in_syncs_ns.min(ns));
        self.paused = true;
    }

    /// A step has ended: asks the engine where that is due.
    ///
    /// # Errors
    /// The store's own.
    #[inline]
    pub fn stepped(&mut self, store: &dyn Store, clock: &Clock) -> Result<(), Stop> {
        if self.paused || self.ended >= self.due { self.look(store, clock) } else { Ok(()) }
    }

    #[cold]
    fn look(&mut self, store: &dyn Store, clock: &Clock) -> Result<(), Stop> {
        let begin = clock.now();
        let now = ask(store)?;
        let pauses = &mut self.pauses;
        let looks = if self.paused { &mut pauses.looks_after } else { &mut pauses.looks_otherwise };
        *looks += 1;
        for (work, figure) in &now {
            let was = self.last.iter().find(|(other, _)| other == work).map_or(0, |(_, was)| *was);
            let place = pauses.upkeep.iter().position(|one| one.work == *work).unwrap_or_else(|| {
                pauses.upkeep.push(Upkeep { work: (*work).into(), ..Upkeep::default() });
                pauses.upkeep.len() - 1
            });
            let of = &mut pauses.upkeep[place];
            *if self.paused { &mut of.after } else { &mut of.otherwise } += u64::from(was != *figure);
        }
        self.last = now;
        self.paused = false;
        let end = clock.now();
        let took = end - begin;
        self.due = end + (clock.ticks(BETWEEN_NS as f64) as u64).max(took * MOST_LOOKING);
        Ok(())
    }

    /// All that was seen.
    pub fn result(self) -> Pauses {
        self.pauses
    }
}

fn ask(store: &dyn Store) -> Result<Vec<(&'static str, u64)>, Stop> {
    store.upkeep().map_err(|error| Stop::store("reading what the engine does for itself", &error))
}
