//! The threads, each with a session of its own: one loads, then all send their requests.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Instant;

use super::hall::Hall;
use super::lane::Lane;
use super::name::LONGEST;
use crate::measure::counters::Snapshot;
use crate::result::{Counters, Load, Second, Written};
use crate::store::{Session, Store};
use crate::workload::batch::Batch;
use crate::workload::driver::Stop;
use crate::workload::promise::Acknowledged;
use crate::workload::took::{Part, Took};

/// What was done, before it is summed up.
pub struct Ran {
    /// The loading.
    pub load: Load,
    /// What was loaded.
    pub loaded: Written,
    /// How long the requests took.
    pub took: Took,
    /// What the process did meanwhile.
    pub counters: Counters,
    /// Second by second.
    pub series: Vec<Second>,
}

/// Loads the store, and does all requests. `acknowledged` gets what a promise of `power` is held to.
///
/// # Errors
/// At the first thing that goes wrong.
pub fn run<'a>(
    hall: &Hall<'a>,
    store: &dyn Store,
    lanes: &mut [Lane<'_>],
    batch: &mut Batch,
    acknowledged: &mut Vec<Acknowledged>,
) -> Result<Ran, Stop> {
    let Some((first, others)) = lanes.split_first_mut() else {
        return Err(Stop::harness("no thread is to work"));
    };
    thread::scope(|scope| {
        let mut session = open(store)?;
        let (load, loaded) = load(hall, batch, session.as_mut(), acknowledged)?;
        let started = others.iter_mut().map(|lane| Other::start(scope, store, lane));
        let others = started.collect::<Result<Vec<_>, Stop>>()?;
        hall.series.begin();
        let before = Snapshot::now();
        others.iter().try_for_each(|other| other.go.send(()).map_err(|_| panicked()))?;
        let mine = first.work(session.as_mut());
        let mut parts = vec![mine];
        for Other { handle, .. } in others {
            parts.push(handle.join().unwrap_or_else(|_| Err(panicked())));
        }
        let counters = Snapshot::now().since(&before);
        let parts = parts.into_iter().collect::<Result<Vec<Part>, Stop>>()?;
        Ok(Ran { load, loaded, took: Took::of(hall.clock, &parts), counters, series: hall.series.finish() })
    })
}

fn open(store: &dyn Store) -> Result<Box<dyn Session + '_>, Stop> {
    store.session().map_err(|error| Stop::store("opening a session", &error))
}

fn panicked() -> Stop {
    Stop::harness("a thread panicked")
}

/// Another thread, whose session is open. Where it is dropped before it was told to go, the thread ends.
struct Other<'s> {
    go: SyncSender<()>,
    handle: ScopedJoinHandle<'s, Result<Part, Stop>>,
}

impl<'s> Other<'s> {
    /// Starts a thread, and waits until its session is open.
    fn start(
        scope: &'s Scope<'s, '_>,
        store: &'s dyn Store,
        lane: &'s mut Lane<'_>,
    ) -> Result<Other<'s>, Stop> {
        let (go, told): (SyncSender<()>, Receiver<()>) = sync_channel(1);
        let (open_sender, opened) = sync_channel(1);
        let serve = move || {
            let mut session = match open(store) {
                Ok(session) => session,
                Err(stop) => {
                    let _ = open_sender.send(Err(stop.clone()));
                    return Err(stop);
                }
            };
            let heard = open_sender.send(Ok(())).is_ok() && told.recv().is_ok();
            if heard { lane.work(session.as_mut()) } else { Err(Stop::harness("another thread failed")) }
        };
        let spawned = thread::Builder::new().spawn_scoped(scope, serve);
        let handle = spawned.map_err(|error| Stop::harness(format!("starting a thread: {error}")))?;
        opened.recv().map_err(|_| panicked())??;
        Ok(Other { go, handle })
    }
}

/// Loads the first records in batches, in their order; says also what was handed to the store.
fn load(
    hall: &Hall<'_>,
    batch: &mut Batch,
    session: &mut dyn Session,
    acknowledged: &mut Vec<Acknowledged>,
) -> Result<(Load, Written), Stop> {
    let count = hall.work.loaded;
    let mut load = Load { records: count, value_bytes: 0, store_ns: 0, counters: None };
    let mut written = Written { records: count, ..Written::default() };
    hall.versions.loaded(count);
    if count == 0 {
        return Ok((load, written));
    }
    let (mut next, mut batches) = (0, 0);
    let before = Snapshot::now();
    while next < count {
        batch.clear();
        while next < count && !batch.is_full() {
            let name = hall.definition().naming.name(next);
            batch.add(name.bytes(), |values| hall.fields.append(next, 1, values));
            next += 1;
        }
        written.key_bytes += batch.key_bytes();
        load.value_bytes += batch.value_bytes();
        let records = batch.records();
        let start = Instant::now();
        session.insert_batch(&records).map_err(|error| Stop::store("loading a batch", &error))?;
        load.store_ns += start.elapsed().as_nanos() as u64;
        batches += 1;
    }
    let counters = Snapshot::now().since(&before);
    Acknowledged::new("batches", batches, 1, &counters).note(acknowledged);
    load.counters = Some(counters);
    written.value_bytes = load.value_bytes;
    Ok((load, written))
}

/// The longest key, for a batch's memory.
pub const KEY_BYTES: usize = LONGEST;
