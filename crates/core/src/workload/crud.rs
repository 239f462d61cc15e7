//! The workload `crud` of paper 000: load, then insert, get, update and remove single records with random keys.

mod client;
mod cost;
mod fleet;
pub mod parameters;
mod share;
mod shared;
mod trial;

use std::sync::Mutex;
use std::time::Duration;

use storebench_model::cell::Rate;
use storebench_model::result::{
    ClientReport, Counters, Load, OperationResult, StoredRecords, WrittenRecords,
};
use storebench_model::store::Session;
use storebench_model::units::CountRange;

use crate::measure::clock::Clock;
use crate::measure::counters::Snapshot;
use crate::measure::page_cache::EmptiedCache;
use crate::measure::series::Series;
use crate::record::{KEY_BYTES, Records};
use crate::workload::aging::Aging;
use crate::workload::audit::ExpectedRecords;
use crate::workload::batch::Batch;
use crate::workload::bench::Bench;
use crate::workload::clients::Fleet;
use crate::workload::def::{Headline, WorkloadDef, axes};
use crate::workload::driver::Visit;
use crate::workload::elapsed::Elapsed;
use crate::workload::loader::{load, numbered};
use crate::workload::mix::{Mix, PhaseWork};
use crate::workload::operation::Operation;
use crate::workload::parameter::AfterLoad;
use crate::workload::phase::Phase;
use crate::workload::sync_check::AcknowledgedWrites;
use crate::workload::worker_pool;
use crate::workload::workload_error::WorkloadError;
use share::RoundOrder;
use shared::{SharedRecords, Shares};

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
    reason: |case| cost::check(case).err(),
    headline: &[Headline::Latency, Headline::Space, Headline::Memory],
    space: cost::space,
    stored_bytes: cost::held_bytes,
    memory: cost::memory,
    time: cost::time,
    time_by_rehearsal: None,
    run: trial::run,
    serve: Some(client::serve),
};

/// What a trial does to the records.
#[derive(Debug, Clone)]
pub(crate) struct Crud {
    /// The number of records that are loaded, and the number that inserts never pass.
    pub records: CountRange,
    /// Timed operations of each kind; for a mix, of all together.
    pub operations: u64,
    pub order: Vec<Operation>,
    /// Operations that alternate in one phase, in place of `order`.
    pub mix: Option<Mix>,
    pub batch: usize,
    pub after_load: AfterLoad,
    pub age: u32,
    pub visit: Visit,
    pub seed: u64,
    pub threads: u64,
    pub rate: Rate,
    /// How long each operation goes on, in place of a number.
    pub duration: Option<Duration>,
    /// Untimed operations of each kind before, on all threads together.
    pub warm_up: u64,
    /// Whether the store is reopened with an empty page cache before reads.
    pub cold: bool,
}

impl Crud {
    /// A phase's operations; `None` after the last.
    pub fn phase_work(&self, phase: usize) -> Option<PhaseWork> {
        match self.mix {
            Some(mix) => (phase == 0).then_some(PhaseWork::Mix(mix)),
            None => self.order.get(phase).copied().map(PhaseWork::One),
        }
    }

    pub fn includes(&self, operation: Operation) -> bool {
        (0..).map_while(|phase| self.phase_work(phase)).any(|work| work.includes(operation))
    }
}

/// The workload's measurements.
#[derive(Debug)]
pub(crate) struct CrudResult {
    /// The last loading.
    pub load: Load,
    pub operations: Vec<OperationResult>,
    pub stored: StoredRecords,
    pub written: WrittenRecords,
    /// The means by which the page cache was emptied before the reads, if it was.
    pub cache_emptied_by: Option<EmptiedCache>,
    pub acknowledged: Vec<AcknowledgedWrites>,
    /// The records that the store is to hold, to be read back.
    pub expected: ExpectedRecords,
    /// The machines that had its sessions, where others had.
    pub clients: Vec<ClientReport>,
}

/// The work done so far, before it is summed up.
#[derive(Default)]
pub(crate) struct CrudRun {
    /// `None` since the store was made anew.
    load: Option<Load>,
    loaded: WrittenRecords,
    /// Measured phases; the last one may be unfinished.
    phases: Vec<Phase>,
    cache_emptied_by: Option<EmptiedCache>,
}

enum NextTask {
    /// The store is full: it must be made anew.
    MakeAnew,
    /// Values are to be read from a store that was just opened.
    OpenCold,
    Finish,
}

/// All of the harness's memory, ready before the store is opened.
pub(crate) struct PreparedCrud<'a> {
    shared: SharedRecords<'a>,
    shares: Shares<'a>,
    batch: Batch,
    acknowledged: Vec<AcknowledgedWrites>,
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
    ) -> Result<PreparedCrud<'a>, String> {
        let share = |thread| self.share(thread, records, clock, check).map(Mutex::new);
        let shares = (0..self.threads).map(share).collect::<Result<_, String>>()?;
        let batch = Batch::new(self.batch, KEY_BYTES, records.largest_value());
        let series = Series::new(self.threads as usize)?;
        Ok(PreparedCrud {
            shared: SharedRecords { plan: self, records, clock, series, first: 0 },
            shares: Shares(shares),
            batch,
            acknowledged: Vec::with_capacity(1 + Operation::ALL.len()),
            fleet: None,
        })
    }
}

impl PreparedCrud<'_> {
    /// Loads the store and does all operations. Stops at the first thing that goes wrong.
    pub fn run(&mut self, bench: &mut Bench<'_>) -> Result<CrudRun, WorkloadError> {
        let mut run = CrudRun::default();
        loop {
            match self.run_while_open(bench, &mut run)? {
                NextTask::MakeAnew => {
                    bench.fresh()?;
                    run.load = None;
                }
                NextTask::OpenCold => run.cache_emptied_by = Some(bench.reopen_cold()?),
                NextTask::Finish => break,
            }
        }
        if let Some(fleet) = &mut self.fleet {
            fleet::gather_results(fleet, &self.shares)?;
        }
        Ok(run)
    }

    /// Works while the store is open, with the same sessions throughout: this process's, or its clients'.
    fn run_while_open(&mut self, bench: &Bench<'_>, run: &mut CrudRun) -> Result<NextTask, WorkloadError> {
        let PreparedCrud { shared, shares, batch, acknowledged, fleet } = self;
        let (shared, shares, store) = (&*shared, &*shares, bench.store()?);
        let both = (shared, shares);
        if let Some(fleet) = fleet {
            let anew = load_anew(both, worker_pool::session(store)?.as_mut(), batch, run, acknowledged)?;
            fleet::open(fleet, bench, anew)?;
            return run_rounds(both, run, acknowledged, |phase, order| {
                fleet::round(fleet, shares, phase, order)
            });
        }
        worker_pool::run(
            shared.clock,
            &shares.0,
            || worker_pool::session(store),
            |_| Ok(()),
            |pool| {
                load_anew(both, pool.handle.as_mut(), batch, run, acknowledged)?;
                run_rounds(both, run, acknowledged, |_, order| {
                    let before = Snapshot::now();
                    let elapsed = pool.round(order)?;
                    Ok((elapsed, before.until_now()))
                })
            },
        )
    }

    /// The measurements.
    pub fn into_result(self, run: CrudRun) -> Result<CrudResult, WorkloadError> {
        let CrudRun { load, loaded, phases, cache_emptied_by } = run;
        let (stored, expected) =
            (self.shares.stored(self.shared.records), self.shares.expected(self.shared.plan));
        let written = loaded.plus(self.shares.written());
        let recorder = self.shares.recorder()?;
        let operations = phases.into_iter().map(|phase| phase.results(&recorder));
        Ok(CrudResult {
            load: load.ok_or_else(|| WorkloadError::harness("nothing was loaded"))?,
            operations: operations.collect::<Result<Vec<_>, WorkloadError>>()?.concat(),
            stored,
            written,
            cache_emptied_by,
            acknowledged: self.acknowledged,
            expected,
            clients: self.fleet.map_or_else(Vec::new, Fleet::reports),
        })
    }
}

/// Loads and ages a new store; gives the number of records, if it did.
fn load_anew(
    (shared, shares): (&SharedRecords<'_>, &Shares<'_>),
    session: &mut dyn Session,
    batch: &mut Batch,
    run: &mut CrudRun,
    acknowledged: &mut Vec<AcknowledgedWrites>,
) -> Result<Option<u64>, WorkloadError> {
    if run.load.is_some() {
        return Ok(None);
    }
    let SharedRecords { plan, records, .. } = *shared;
    let count = plan.records.from;
    shares.set_loaded(count);
    let add = |batch: &mut Batch, index| {
        batch.add(&records.key(index), |values| records.append_value(index, 0, values));
    };
    let fill = numbered(count, add);
    let aging = Aging { records: count, times: plan.age, after: plan.after_load };
    let mut loaded = load(Some(count), batch, session, acknowledged, aging.after_load(), fill)?;
    aging.age(&mut loaded, session, acknowledged, |index, version, key, value| {
        key.extend_from_slice(&records.key(index));
        records.append_value(index, version as u8, value);
    })?;
    (run.load, run.loaded) = (Some(loaded.0), run.loaded.plus(loaded.1));
    Ok(Some(count))
}

/// Does rounds of all phases while the store can stay open; `work` does one, of the phase with this number.
fn run_rounds<'s>(
    (shared, shares): (&'s SharedRecords<'_>, &Shares<'_>),
    run: &mut CrudRun,
    acknowledged: &mut Vec<AcknowledgedWrites>,
    mut work: impl FnMut(usize, RoundOrder<'s>) -> Result<(Elapsed, Counters), WorkloadError>,
) -> Result<NextTask, WorkloadError> {
    let plan = shared.plan;
    loop {
        if run.phases.last().is_none_or(Phase::is_over) {
            let Some(doing) = plan.phase_work(run.phases.len()) else { return Ok(NextTask::Finish) };
            if doing.includes(Operation::Get) && plan.cold && run.cache_emptied_by.is_none() {
                return Ok(NextTask::OpenCold);
            }
            run.phases.push(Phase::new(doing, plan));
        }
        let number = run.phases.len().saturating_sub(1);
        let Some(phase) = run.phases.last_mut() else { continue };
        let live = shares.live();
        let Some(goal) = phase.goal(live) else { continue };
        if goal.operations == 0 {
            return Ok(NextTask::MakeAnew);
        }
        shared.series.begin();
        let (elapsed, counters) = work(number, RoundOrder { shared, goal, live })?;
        let (kind, threads) = (name_writes(goal.doing), plan.threads);
        AcknowledgedWrites::new(kind, shares.take_writes(), threads, &counters).note(acknowledged);
        phase.count(counters, &shares.take_untimed());
        phase.add(goal, elapsed, shared.series.finish());
    }
}

fn name_writes(doing: PhaseWork) -> &'static str {
    match doing {
        PhaseWork::One(Operation::Insert) => "inserts",
        PhaseWork::One(Operation::Get) => "writes next to gets",
        PhaseWork::One(Operation::Update) => "updates",
        PhaseWork::One(Operation::Remove) => "removals and records put back",
        PhaseWork::Mix(_) => "writes of the mix",
    }
}

#[cfg(test)]
pub(super) mod tests;
