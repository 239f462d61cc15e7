//! The workload `crud` of paper 000: load, then insert, get, update and remove single records with random keys.

mod client;
mod cost;
mod fleet;
pub mod parameters;
mod share;
mod shared;
mod trial;

use std::sync::Mutex;

use crate::measure::clock::Clock;
use crate::measure::counters::Snapshot;
use crate::measure::page_cache::EmptiedCache;
use crate::measure::series::Series;
use crate::record::{KEY_BYTES, Records};
use crate::result::{ClientReport, Counters, Load, OperationResult, StoredRecords, WrittenRecords};
use crate::store::Session;
use crate::workload::aging::Aging;
use crate::workload::audit::Expected;
use crate::workload::batch::Batch;
use crate::workload::bench::Bench;
use crate::workload::clients::Fleet;
use crate::workload::crew;
use crate::workload::def::{Headline, WorkloadDef, axes};
use crate::workload::elapsed::Elapsed;
use crate::workload::loader::{load, numbered};
use crate::workload::mix::Doing;
use crate::workload::operation::Operation;
use crate::workload::phase::{Goal, Phase};
use crate::workload::promise::Acknowledged;
use crate::workload::stop::WorkloadError;
pub(crate) use crate::workload::task::Crud;
use share::Order;
use shared::{Shared, Shares};

/// Inserts, gets, updates and removes single records.
pub static WORKLOAD: WorkloadDef = WorkloadDef {
    name: "crud",
    help: "insert, get, update and remove single records of a store",
    axes: axes!(
        STORE RECORD_SIZE RECORDS DATA GUARANTEE PLACE DISK MACHINE BACKGROUND AGE THREADS RATE TUNING
        COMPRESSION CACHE
    ),
    parameters: &[
        "operations",
        "operations_unsynced",
        "order",
        "mix",
        "duration",
        "warm_up",
        "equal_cache",
        "visit",
        "text",
        "batch",
        "after_load",
    ],
    operations: &["insert", "get", "update", "remove"],
    reason: cost::reason,
    headline: &[Headline::Latency, Headline::Space, Headline::Memory],
    space: cost::space,
    held: cost::held,
    memory: cost::memory,
    time: cost::time,
    time_by_rehearsal: None,
    run: trial::run,
    serve: Some(client::serve),
};

/// The workload's measurements.
#[derive(Debug)]
pub struct Done {
    /// The last loading.
    pub load: Load,
    /// The operations, in their order.
    pub operations: Vec<OperationResult>,
    /// The records in the store now.
    pub stored: StoredRecords,
    /// The records handed to it.
    pub written: WrittenRecords,
    /// The means by which the page cache was emptied before the reads, if it was.
    pub cache_emptied_by: Option<EmptiedCache>,
    /// Acknowledged writes with their syncs, to check a promise of `power`.
    pub(crate) acknowledged: Vec<Acknowledged>,
    /// The records that the store is to hold, to be read back.
    pub expected: Expected,
    /// The machines that had its sessions, where others had.
    pub clients: Vec<ClientReport>,
}

/// The work done, before it is summed up.
pub struct Ran {
    load: Load,
    phases: Vec<Phase>,
    cache_emptied_by: Option<EmptiedCache>,
}

struct Progress {
    /// `None` since the store was made anew.
    load: Option<Load>,
    /// Measured phases; the last one may be unfinished.
    phases: Vec<Phase>,
    cache_emptied_by: Option<EmptiedCache>,
}

enum Next {
    /// The store is full: it must be made anew.
    MakeAnew,
    /// Values are to be read from a store that was just opened.
    OpenCold,
    Finish,
}

/// All of the harness's memory, ready before the store is opened.
pub struct Prepared<'a> {
    shared: Shared<'a>,
    shares: Shares<'a>,
    batch: Batch,
    loaded: WrittenRecords,
    acknowledged: Vec<Acknowledged>,
    /// The machines with the sessions, if not this one.
    fleet: Option<Fleet>,
}

impl Crud {
    /// Takes all memory that the harness will need. `check` is whether the store keeps what it is given.
    pub fn prepare<'a>(
        &'a self,
        records: &'a Records,
        clock: &'a Clock,
        check: bool,
    ) -> Result<Prepared<'a>, String> {
        let share = |thread| self.share(thread, records, clock, check).map(Mutex::new);
        let shares = (0..self.threads).map(share).collect::<Result<_, String>>()?;
        let batch = Batch::new(self.batch, KEY_BYTES, records.largest_value());
        let series = Series::new(self.threads as usize)?;
        Ok(Prepared {
            shared: Shared { plan: self, records, clock, series, first: 0 },
            shares: Shares(shares),
            batch,
            loaded: WrittenRecords::default(),
            acknowledged: Vec::with_capacity(1 + Operation::ALL.len()),
            fleet: None,
        })
    }
}

impl Prepared<'_> {
    pub(crate) fn spread_over(&mut self, fleet: Option<Fleet>) {
        self.fleet = fleet;
    }

    /// Loads the store and does all operations. Stops at the first thing that goes wrong.
    pub fn run(&mut self, bench: &mut Bench<'_>) -> Result<Ran, WorkloadError> {
        let mut progress = Progress { load: None, phases: Vec::new(), cache_emptied_by: None };
        loop {
            match self.while_open(bench, &mut progress)? {
                Next::MakeAnew => {
                    bench.fresh()?;
                    progress.load = None;
                }
                Next::OpenCold => progress.cache_emptied_by = Some(bench.reopen_cold()?),
                Next::Finish => break,
            }
        }
        if let Some(fleet) = &mut self.fleet {
            fleet::gather(fleet, &self.shares)?;
        }
        let Progress { load, phases, cache_emptied_by } = progress;
        let load = load.ok_or_else(|| WorkloadError::harness("nothing was loaded"))?;
        Ok(Ran { load, phases, cache_emptied_by })
    }

    /// Works while the store is open, with the same sessions throughout: this process's, or its clients'.
    fn while_open(&mut self, bench: &Bench<'_>, progress: &mut Progress) -> Result<Next, WorkloadError> {
        let Prepared { shared, shares, batch, loaded, acknowledged, fleet } = self;
        let (shared, shares, store) = (&*shared, &*shares, bench.store()?);
        let mut loading = Loading { shared, shares, batch, loaded };
        if let Some(fleet) = fleet {
            let anew = loading.load(crew::session(store)?.as_mut(), progress, acknowledged)?;
            fleet::open(fleet, bench, anew)?;
            return rounds((shared, shares), progress, acknowledged, |phase, order| {
                fleet::round(fleet, shares, phase, order)
            });
        }
        crew::with(
            shared.clock,
            &shares.0,
            || crew::session(store),
            |_| Ok(()),
            |crew| {
                loading.load(crew.handle.as_mut(), progress, acknowledged)?;
                rounds((shared, shares), progress, acknowledged, |_, order| {
                    let before = Snapshot::now();
                    let elapsed = crew.round(order)?;
                    Ok((elapsed, before.until_now()))
                })
            },
        )
    }

    /// The measurements.
    pub fn done(self, ran: Ran) -> Result<Done, WorkloadError> {
        let Ran { load, phases, cache_emptied_by } = ran;
        let (stored, written) =
            (self.shares.stored(self.shared.records), self.loaded.plus(self.shares.written()));
        let expected = self.shares.expected(self.shared.plan);
        let clients = self.fleet.map_or_else(Vec::new, Fleet::reports);
        let acknowledged = self.acknowledged;
        let recorder = self.shares.recorder()?;
        let operations: Vec<_> =
            phases.into_iter().map(|phase| phase.results(&recorder)).collect::<Result<_, WorkloadError>>()?;
        let operations = operations.concat();
        Ok(Done { load, operations, stored, written, cache_emptied_by, acknowledged, expected, clients })
    }
}

struct Loading<'p, 'a> {
    shared: &'p Shared<'a>,
    shares: &'p Shares<'a>,
    batch: &'p mut Batch,
    loaded: &'p mut WrittenRecords,
}

impl Loading<'_, '_> {
    /// Loads and ages a new store; gives the number of records, if it did.
    fn load(
        &mut self,
        session: &mut dyn Session,
        progress: &mut Progress,
        acknowledged: &mut Vec<Acknowledged>,
    ) -> Result<Option<u64>, WorkloadError> {
        if progress.load.is_some() {
            return Ok(None);
        }
        let Shared { plan, records, .. } = *self.shared;
        let count = plan.records.from;
        self.shares.all_loaded(count);
        let add = |batch: &mut Batch, index| {
            batch.add(&records.key(index), |values| records.append_value(index, 0, values));
        };
        let fill = numbered(count, add);
        let aging = Aging { records: count, times: plan.age, after: plan.after_load };
        let after = aging.after_load();
        let mut done = load(Some(count), self.batch, session, acknowledged, after, fill)?;
        aging.age(&mut done, session, acknowledged, |index, version, key, value| {
            key.extend_from_slice(&records.key(index));
            records.append_value(index, version as u8, value);
        })?;
        (progress.load, *self.loaded) = (Some(done.0), self.loaded.plus(done.1));
        Ok(Some(count))
    }
}

/// Does rounds of all phases while the store can stay open; `work` does one, of the phase with this number.
fn rounds<'s>(
    (shared, shares): (&'s Shared<'_>, &Shares<'_>),
    progress: &mut Progress,
    acknowledged: &mut Vec<Acknowledged>,
    mut work: impl FnMut(usize, Order<'s>) -> Result<(Elapsed, Counters), WorkloadError>,
) -> Result<Next, WorkloadError> {
    let plan = shared.plan;
    loop {
        if progress.phases.last().is_none_or(Phase::is_over) {
            let Some(doing) = plan.doing(progress.phases.len()) else {
                return Ok(Next::Finish);
            };
            let reads = doing.does(Operation::Get);
            if reads && plan.cold && progress.cache_emptied_by.is_none() {
                return Ok(Next::OpenCold);
            }
            progress.phases.push(Phase::new(doing, plan));
        }
        let number = progress.phases.len().saturating_sub(1);
        let Some(phase) = progress.phases.last_mut() else { continue };
        let live = shares.live();
        match phase.goal(live) {
            Some(goal) if goal.operations == 0 => return Ok(Next::MakeAnew),
            Some(goal) => {
                let work = || work(number, Order { shared, goal, live });
                round(shared, shares, work, phase, goal, acknowledged)?;
            }
            None => continue,
        }
    }
}

fn round(
    shared: &Shared<'_>,
    shares: &Shares<'_>,
    work: impl FnOnce() -> Result<(Elapsed, Counters), WorkloadError>,
    phase: &mut Phase,
    goal: Goal,
    acknowledged: &mut Vec<Acknowledged>,
) -> Result<(), WorkloadError> {
    shared.series.begin();
    let (elapsed, counters) = work()?;
    let (what, threads) = (written_by(goal.doing), shared.plan.threads);
    Acknowledged::new(what, shares.take_writes(), threads, &counters).note(acknowledged);
    phase.count(counters, &shares.take_untimed());
    phase.add(goal, elapsed, shared.series.finish());
    Ok(())
}

fn written_by(doing: Doing) -> &'static str {
    match doing {
        Doing::One(Operation::Insert) => "inserts",
        Doing::One(Operation::Get) => "writes next to gets",
        Doing::One(Operation::Update) => "updates",
        Doing::One(Operation::Remove) => "removals and records put back",
        Doing::Mix(_) => "writes of the mix",
    }
}

#[cfg(test)]
mod tests;
