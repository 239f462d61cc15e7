//! The client threads, each with a session of its own: the data are loaded; then all do their transactions at once.

use std::thread::{self, ScopedJoinHandle};

use super::chunk::Makers;
use super::hall::Hall;
use super::lane::Lane;
use super::{load, warm};
use crate::measure::counters::Snapshot;
use crate::measure::device::DeviceSpec;
use crate::measure::machine_counters::{MachineCounters, MachineUse};
use crate::result::{Counters, Load, Second, Written};
use crate::store::Store;
use crate::workload::bench::Bench;
use crate::workload::driver::Stop;
use crate::workload::promise::Acknowledged;
use crate::workload::took::{Part, Took};

/// What was done, before it is summed up.
pub struct Ran {
    /// The loading.
    pub load: Load,
    /// What was loaded.
    pub loaded: Written,
    /// How long the transactions took.
    pub took: Took,
    /// What the process did meanwhile.
    pub counters: Counters,
    /// What the machine did meanwhile.
    pub seen: MachineUse,
    /// Second by second.
    pub series: Vec<Second>,
}

/// Loads the tables, warms the store, and does all transactions. `device` is that under the place. `acknowledged` gets what a promise of `power` is held to.
///
/// # Errors
/// At the first thing that goes wrong.
pub fn run(
    hall: &Hall<'_>,
    bench: &Bench<'_>,
    lanes: &mut [Lane<'_>],
    makers: Makers,
    device: &Result<DeviceSpec, String>,
    acknowledged: &mut Vec<Acknowledged>,
) -> Result<Ran, Stop> {
    let store = bench.store()?;
    let (load, loaded) = load::load(hall, makers, hall.make(store)?.as_mut(), acknowledged)?;
    warm::warm(hall, bench)?;
    let meanwhile = MachineCounters::begin(device);
    hall.seconds.begin();
    hall.epochs.iter().for_each(|epochs| epochs.begin());
    let before = Snapshot::now();
    let parts = together(hall, store, lanes)?;
    let counters = Snapshot::now().since(&before);
    let seen = meanwhile.end();
    let took = Took::of(hall.clock, &parts);
    let writes = lanes.iter().map(Lane::writes).sum();
    Acknowledged::new("transactions that write", writes, hall.work.threads, &counters).note(acknowledged);
    Ok(Ran { load, loaded, took, counters, seen, series: hall.seconds.finish() })
}

/// All threads at once; the first failure of one that says more than that another has failed.
fn together(hall: &Hall<'_>, store: &dyn Store, lanes: &mut [Lane<'_>]) -> Result<Vec<Part>, Stop> {
    let ended: Vec<Result<Part, Stop>> = thread::scope(|scope| {
        let start = |lane| scope.spawn(move || one(hall, store, lane));
        let handles: Vec<ScopedJoinHandle<'_, _>> = lanes.iter_mut().map(start).collect();
        let join = |handle: ScopedJoinHandle<'_, _>| handle.join().unwrap_or_else(|_| Err(panicked()));
        handles.into_iter().map(join).collect()
    });
    ended.into_iter().collect()
}

/// One thread, from opening its session to closing it.
fn one(hall: &Hall<'_>, store: &dyn Store, lane: &mut Lane<'_>) -> Result<Part, Stop> {
    let approach = hall.line.approach(hall.clock);
    let mut tables = hall.open(store)?;
    let settings = |error| Stop::store("reading the session's settings back", &error);
    tables.check_settings().map_err(settings)?;
    let part = lane.work(tables.as_mut(), approach)?;
    tables.check_settings().map_err(settings)?;
    Ok(part)
}

fn panicked() -> Stop {
    Stop::harness("a thread panicked")
}
