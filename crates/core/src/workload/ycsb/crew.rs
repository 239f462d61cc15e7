//! The threads, each with a session of its own: one loads; then all send their requests, round by round.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope, ScopedJoinHandle};

use super::hall::Hall;
use super::lane::Lane;
use super::name::LONGEST;
use super::work::Between;
use crate::measure::counters::Snapshot;
use crate::result::{Counters, Disk, Load, Second, Written};
use crate::store::{Session, Store};
use crate::workload::batch::Batch;
use crate::workload::bench::Bench;
use crate::workload::driver::Stop;
use crate::workload::loader;
use crate::workload::promise::Acknowledged;
use crate::workload::took::{Part, Took};

/// What was done, before it is summed up.
pub struct Ran {
    /// The loading.
    pub load: Load,
    /// What was loaded.
    pub loaded: Written,
    /// The rounds, in their order.
    pub rounds: Vec<Round>,
}

/// One round, before it is summed up.
#[derive(Debug, Clone, Default)]
pub struct Round {
    /// How long the requests took.
    pub took: Took,
    /// What the process did meanwhile.
    pub counters: Counters,
    /// Second by second.
    pub series: Vec<Second>,
    /// The store's files after it; nothing where there is only one round.
    pub disk: Disk,
}

impl Round {
    /// Both, one after the other, with the files after the second.
    fn then(mut self, next: &Round) -> Round {
        let offset_s = self.took.wall.as_secs() as u32;
        let moved = |second: &Second| Second { at_s: second.at_s + offset_s, ..second.clone() };
        self.series.extend(next.series.iter().map(moved));
        Round {
            took: self.took.plus(next.took),
            counters: self.counters.plus(&next.counters),
            series: self.series,
            disk: next.disk.clone(),
        }
    }
}

impl Ran {
    /// All rounds together.
    pub fn together(&self) -> Round {
        let Some((first, rest)) = self.rounds.split_first() else { return Round::default() };
        rest.iter().fold(first.clone(), Round::then)
    }
}

/// Loads the store, and does all rounds. `acknowledged` gets what a promise of `power` is held to.
///
/// # Errors
/// At the first thing that goes wrong.
pub fn run(
    hall: &Hall<'_>,
    bench: &mut Bench<'_>,
    lanes: &mut [Lane<'_>],
    batch: &mut Batch,
    acknowledged: &mut Vec<Acknowledged>,
) -> Result<Ran, Stop> {
    let (count, closes) = (hall.work.rounds, hall.work.between == Between::Close);
    let mut loaded = None;
    let mut rounds = Vec::with_capacity(count);
    while rounds.len() < count {
        let several = if closes { 1 } else { count };
        let loading = |session: &mut dyn Session| {
            if loaded.is_none() {
                loaded = Some(load(hall, batch, session, acknowledged)?);
            }
            Ok(())
        };
        let after = |mut round: Round| {
            if count > 1 && !closes {
                round.disk = bench.disk().map_err(unmeasured)?;
            }
            rounds.push(round);
            Ok(())
        };
        while_open(hall, bench.store()?, lanes, several, loading, after)?;
        if closes {
            bench.close()?;
            if let Some(last) = rounds.last_mut() {
                last.disk = bench.disk().map_err(unmeasured)?;
            }
            bench.reopen()?;
        }
    }
    let (load, loaded) = loaded.ok_or_else(|| Stop::harness("nothing was loaded"))?;
    Ok(Ran { load, loaded, rounds })
}

fn unmeasured(error: std::io::Error) -> Stop {
    Stop::harness(format!("measuring the store's files after a round: {error}"))
}

/// Does some rounds with the same sessions. `load` gets the first of them before the others are opened; `after` each round.
fn while_open(
    hall: &Hall<'_>,
    store: &dyn Store,
    lanes: &mut [Lane<'_>],
    rounds: usize,
    load: impl FnOnce(&mut dyn Session) -> Result<(), Stop>,
    mut after: impl FnMut(Round) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let Some((first, others)) = lanes.split_first_mut() else {
        return Err(Stop::harness("no thread is to work"));
    };
    thread::scope(|scope| {
        let mut session = open(store)?;
        load(session.as_mut())?;
        let started = others.iter_mut().map(|lane| Other::start(scope, store, lane));
        let started = started.collect::<Result<Vec<_>, Stop>>()?;
        let (others, handles): (Vec<_>, Vec<_>) = started.into_iter().unzip();
        let mut crew = Crew { hall, first, session, others };
        let done = (0..rounds).try_for_each(|_| after(crew.round()?));
        // With the crew the orders end, and so do the other threads.
        drop(crew);
        let joined: Vec<_> = handles.into_iter().map(ScopedJoinHandle::join).collect();
        if joined.iter().any(Result::is_err) { done.and(Err(panicked())) } else { done }
    })
}

fn open(store: &dyn Store) -> Result<Box<dyn Session + '_>, Stop> {
    store.session().map_err(|error| Stop::store("opening a session", &error))
}

fn panicked() -> Stop {
    Stop::harness("a thread panicked")
}

/// The threads, while the store is open: the calling one, which is the first, and the others, which wait for orders.
struct Crew<'c, 'h, 'l> {
    hall: &'c Hall<'h>,
    first: &'c mut Lane<'l>,
    session: Box<dyn Session + 'c>,
    others: Vec<Other>,
}

impl Crew<'_, '_, '_> {
    /// Does a round on all threads together.
    fn round(&mut self) -> Result<Round, Stop> {
        let hall = self.hall;
        hall.series.begin();
        let before = Snapshot::now();
        self.others.iter().try_for_each(|other| other.go.send(()).map_err(|_| panicked()))?;
        let mine = self.first.work(self.session.as_mut());
        let theirs = self.others.iter().map(|other| other.parts.recv().unwrap_or_else(|_| Err(panicked())));
        let parts: Vec<_> = std::iter::once(mine).chain(theirs).collect();
        let counters = Snapshot::now().since(&before);
        let parts = parts.into_iter().collect::<Result<Vec<Part>, Stop>>()?;
        let took = Took::of(hall.clock, &parts);
        Ok(Round { took, counters, series: hall.series.finish(), disk: Disk::default() })
    }
}

/// Another thread, as seen from the first. Where it is dropped, the thread ends.
struct Other {
    go: SyncSender<()>,
    parts: Receiver<Result<Part, Stop>>,
}

impl Other {
    /// Starts a thread, and waits until its session is open.
    fn start<'s>(
        scope: &'s Scope<'s, '_>,
        store: &'s dyn Store,
        lane: &'s mut Lane<'_>,
    ) -> Result<(Other, ScopedJoinHandle<'s, ()>), Stop> {
        let (go, told): (SyncSender<()>, Receiver<()>) = sync_channel(1);
        let (done, parts) = sync_channel(1);
        let (open_sender, opened) = sync_channel(1);
        let serve = move || {
            let mut session = match open(store) {
                Ok(session) => session,
                Err(stop) => return drop(open_sender.send(Err(stop))),
            };
            let mut heard = open_sender.send(Ok(())).is_ok();
            while heard && told.recv().is_ok() {
                heard = done.send(lane.work(session.as_mut())).is_ok();
            }
        };
        let spawned = thread::Builder::new().spawn_scoped(scope, serve);
        let handle = spawned.map_err(|error| Stop::harness(format!("starting a thread: {error}")))?;
        opened.recv().map_err(|_| panicked())??;
        Ok((Other { go, parts }, handle))
    }
}

/// Loads the first records; says also what was handed to the store.
fn load(
    hall: &Hall<'_>,
    batch: &mut Batch,
    session: &mut dyn Session,
    acknowledged: &mut Vec<Acknowledged>,
) -> Result<(Load, Written), Stop> {
    let count = hall.work.loaded;
    hall.versions.loaded(count);
    let add = |batch: &mut Batch, record| {
        let name = hall.definition().naming.name(record);
        batch.add(name.bytes(), |values| hall.fields.append(record, 1, values));
    };
    loader::load(count, batch, session, acknowledged, add)
}

/// The longest key, for a batch's memory.
pub const KEY_BYTES: usize = LONGEST;
