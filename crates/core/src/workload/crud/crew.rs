//! The threads of the workload. Each has one session for as long as the store is open: what an engine keeps by session (the
//! page cache of SQLite is a connection's) is there from phase to phase, as it is in an application.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use super::{Crud, Share, Timed};
use crate::cell::Rate;
use crate::measure::clock::Clock;
use crate::measure::series::Series;
use crate::record::{KEY_BYTES, Records};
use crate::result::{Stored, Written};
use crate::store::{Session, Store};
use crate::workload::audit::Expected;
use crate::workload::driver::{Recorder, Stop, Untimed};
use crate::workload::line::StartingLine;
use crate::workload::operation::Operation;
use crate::workload::pacer::Pacer;
use crate::workload::phase::Goal;
use crate::workload::took::{Part, Took};

/// What the threads share.
pub struct Hall<'a> {
    pub plan: &'a Crud,
    pub records: &'a Records,
    clock: &'a Clock,
    /// Each locked by its thread during a round, and by the first thread between rounds.
    shares: Vec<Mutex<Share<'a>>>,
    pub series: Series,
    line: StartingLine,
}

impl<'a> Hall<'a> {
    pub fn new(
        plan: &'a Crud,
        records: &'a Records,
        clock: &'a Clock,
        shares: Vec<Mutex<Share<'a>>>,
        series: Series,
    ) -> Hall<'a> {
        let line = StartingLine::new(shares.len());
        Hall { plan, records, clock, shares, series, line }
    }

    fn threads(&self) -> u64 {
        self.shares.len() as u64
    }

    fn shares(&self) -> impl Iterator<Item = MutexGuard<'_, Share<'a>>> {
        self.shares.iter().map(|share| share.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How many records the store holds.
    pub fn live(&self) -> u64 {
        self.shares().map(|share| share.versions.len() as u64).sum()
    }

    /// The store holds its first `count` records and nothing else.
    pub fn all_loaded(&self, count: u64) {
        let threads = self.threads();
        for mut share in self.shares() {
            let mine = (count + threads - 1 - share.thread) / threads;
            share.versions.clear();
            share.versions.resize(mine as usize, 0);
        }
    }

    /// What was done besides the timed operations since this was last asked.
    pub fn take_untimed(&self) -> Untimed {
        let mut untimed = Untimed::default();
        self.shares().for_each(|mut share| untimed.add(&share.driver.take_untimed()));
        untimed
    }

    /// Writes that changed what the store holds, since this was last asked.
    pub fn take_writes(&self) -> u64 {
        self.shares().map(|mut share| std::mem::take(&mut share.writes)).sum()
    }

    /// What the store is to hold, for the audit; nothing is done with the records any more.
    pub fn expected(&self) -> Expected {
        Expected {
            seed: self.plan.seed,
            loaded: self.plan.records.from,
            versions: self.shares().map(|mut share| std::mem::take(&mut share.versions)).collect(),
            removes: self.plan.does(Operation::Remove),
            seen_gone: self.shares().map(|share| share.driver.seen_gone()).sum(),
        }
    }

    /// What the store holds, from what was written to it.
    pub fn stored(&self) -> Stored {
        let records = self.live();
        let value_bytes = |share: MutexGuard<'_, Share<'_>>| -> u64 {
            let length = |(version, position)| self.records.value_length(share.index(position), version);
            share.versions.iter().copied().zip(0..).map(|record| length(record) as u64).sum()
        };
        let value_bytes = self.shares().map(value_bytes).sum();
        Stored { records, key_bytes: records * KEY_BYTES as u64, value_bytes }
    }

    /// What was handed to the store after loading.
    pub fn written(&self) -> Written {
        self.shares().fold(Written::default(), |sum, share| sum.plus(share.written))
    }

    /// What all threads measured together.
    pub fn recorder(self) -> Result<Recorder, Stop> {
        let shares = self.shares.into_iter();
        let mut recorders =
            shares.map(|share| share.into_inner().unwrap_or_else(PoisonError::into_inner).driver.finish());
        let mut all = recorders.next().ok_or_else(|| Stop::harness("no thread was at work"))?;
        recorders.try_for_each(|recorder| all.merge(&recorder)).map_err(Stop::harness)?;
        Ok(all)
    }

    /// One thread's part of a round: the warm-up; then, with all others, the timed part.
    fn part(&self, thread: usize, session: &mut dyn Session, order: Order) -> Result<Part, Stop> {
        let Order { goal, live } = order;
        let approach = self.line.approach(self.clock);
        let goal = goal.for_thread(thread as u64, self.threads(), live);
        let mut share = self.shares[thread].lock().unwrap_or_else(PoisonError::into_inner);
        let share = &mut *share;
        let mut seconds =
            self.series.thread(thread, share.driver.latencies(goal.doing.main())).map_err(Stop::harness)?;
        let warm_up = goal.warm_up.min(goal.operations);
        share.stretch(session, self.records, &goal, warm_up, None)?;
        let (calls_before, untimed_before) = (share.driver.calls_ns(), share.driver.untimed_ticks());
        let start = approach.cross();
        seconds.restart();
        let begin = match self.plan.rate {
            Rate::Closed => self.clock.now(),
            Rate::PerSecond(rate) => {
                let pacer = Pacer::new(self.clock, start, rate, thread as u64, self.threads());
                share.driver.set_pacer(Some(pacer));
                start
            }
        };
        let over = || goal.until.is_some_and(|until| self.took(begin, self.clock.now()) >= until);
        let timed = Timed { seconds: &mut seconds, over: &over };
        let done = share.stretch(session, self.records, &goal, goal.operations - warm_up, Some(timed));
        let end = self.clock.now();
        let pacer = share.driver.set_pacer(None);
        done?;
        seconds.finish(share.driver.latencies(goal.doing.main())).map_err(Stop::harness)?;
        Ok(Part {
            begin,
            end,
            calls_ns: share.driver.calls_ns() - calls_before,
            put_back_ticks: share.driver.untimed_ticks() - untimed_before,
            stood_still_ticks: pacer.map_or(0, |pacer| pacer.stood_still()),
        })
    }

    fn took(&self, from: u64, to: u64) -> Duration {
        Duration::from_nanos(self.clock.nanoseconds(from, to))
    }
}

/// A round that is to be done by all threads, in a store that holds `live` records.
#[derive(Clone, Copy)]
struct Order {
    goal: Goal,
    live: u64,
}

/// The threads, while the store is open: the calling one, which is the first, and the others, which wait for orders.
pub struct Crew<'c, 'a> {
    hall: &'c Hall<'a>,
    session: Box<dyn Session + 'c>,
    others: Vec<Other>,
}

/// Another thread, as seen from the first.
struct Other {
    orders: SyncSender<Order>,
    parts: Receiver<Result<Part, Stop>>,
}

/// Opens a session for each thread, does `work` with them, and closes them.
pub fn with<'a, T>(
    hall: &Hall<'a>,
    store: &dyn Store,
    work: impl FnOnce(&mut Crew<'_, 'a>) -> Result<T, Stop>,
) -> Result<T, Stop> {
    thread::scope(|scope| {
        let session = open_session(store)?;
        let others = (1..hall.shares.len()).map(|thread| Other::start(scope, hall, store, thread));
        let others: Vec<_> = others.collect::<Result<_, Stop>>()?;
        let (others, handles): (Vec<_>, Vec<_>) = others.into_iter().unzip();
        // With the crew the orders end, and so do the other threads.
        let done = work(&mut Crew { hall, session, others });
        let joined: Vec<_> = handles.into_iter().map(ScopedJoinHandle::join).collect();
        if joined.iter().any(Result::is_err) { done.and(Err(panicked())) } else { done }
    })
}

fn open_session(store: &dyn Store) -> Result<Box<dyn Session + '_>, Stop> {
    store.session().map_err(|error| Stop::store("opening a session", &error))
}

fn panicked() -> Stop {
    Stop::harness("a thread panicked")
}

impl Other {
    /// Starts a thread, and waits until its session is open.
    fn start<'s>(
        scope: &'s Scope<'s, '_>,
        hall: &'s Hall<'_>,
        store: &'s dyn Store,
        thread: usize,
    ) -> Result<(Other, ScopedJoinHandle<'s, ()>), Stop> {
        let (orders, to_do) = sync_channel::<Order>(1);
        let (done, parts) = sync_channel(1);
        let (open, opened) = sync_channel(1);
        let serve = move || {
            let mut session = match open_session(store) {
                Ok(session) => session,
                Err(stop) => return drop(open.send(Err(stop))),
            };
            let mut heard = open.send(Ok(())).is_ok();
            while heard && let Ok(order) = to_do.recv() {
                heard = done.send(hall.part(thread, session.as_mut(), order)).is_ok();
            }
        };
        let handle = thread::Builder::new()
            .spawn_scoped(scope, serve)
            .map_err(|error| Stop::harness(format!("starting a thread: {error}")))?;
        opened.recv().map_err(|_| panicked())??;
        Ok((Other { orders, parts }, handle))
    }
}

impl Crew<'_, '_> {
    /// The first thread's session.
    pub fn session(&mut self) -> &mut dyn Session {
        self.session.as_mut()
    }

    /// Does a round on all threads together; says how long it took.
    pub fn work(&mut self, goal: Goal) -> Result<Took, Stop> {
        let order = Order { goal, live: self.hall.live() };
        for other in &self.others {
            other.orders.send(order).map_err(|_| panicked())?;
        }
        let mine = self.hall.part(0, self.session.as_mut(), order);
        let theirs = self.others.iter().map(|other| other.parts.recv().unwrap_or_else(|_| Err(panicked())));
        let parts: Vec<_> = std::iter::once(mine).chain(theirs).collect();
        let parts = parts.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(Took::of(self.hall.clock, &parts))
    }
}

#[cfg(test)]
mod tests;
