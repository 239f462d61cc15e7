//! The workload `life`: a set of constant size is overwritten, or its records are removed and inserted, many times over, with
//! figures after each tenth. Bursts may follow. At last most of it is removed, and the reclaimed space is measured.

pub(super) mod bursts;
mod concurrent_calls;
mod concurrent_work;
mod fragmentation;
mod life_worker;
mod parameters;
mod pauses;
mod set;
mod space_reclaim;

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use storebench_model::result::{
    self, Burst, CallStatistics, Counters, Disk, Fragmentation, Load, Measurements, OVERALL, OperationResult,
    Pauses, Round, WrittenRecords,
};
use storebench_model::store::{Capabilities, HeldReader, Session, Store};

use self::bursts::{BurstLoad, BurstOutcome, Schedule};
use self::concurrent_work::ConcurrentWorker;
use self::life_worker::{KINDS, LifeOrder, LifeWorker, Recorder};
use self::parameters::{LifeParameters, TENTHS};
use self::set::Churn;
use self::space_reclaim::RemainingRecords;
use crate::measure::clock::Clock;
use crate::record::pool::Pool;
use crate::record::{KEY_BYTES, Records};
use crate::workload::audit::{self, AuditOpening};
use crate::workload::batch::Batch;
use crate::workload::bench::Bench;
use crate::workload::def::{Headline, WorkloadDef, axes};
use crate::workload::elapsed::Elapsed;
use crate::workload::gauge::{Gauge, GaugeReading};
use crate::workload::load_progress::{ProgressKind, ProgressReporter};
use crate::workload::loader::{self, numbered};
use crate::workload::recorder::Record;
use crate::workload::spec::{Spec, TrialContext, TrialError};
use crate::workload::store_trial::{SettledTrial, StoreTrial, find, offered_guarantee};
use crate::workload::sync_check::AcknowledgedWrites;
use crate::workload::worker_pool::{self, into_worker};
use crate::workload::workload_error::WorkloadError;

pub static WORKLOAD: WorkloadDef = WorkloadDef {
    name: "life",
    help: "write a set of constant size many times over, then remove most of it: speed, pauses and files as a store grows old",
    axes: axes!(
        STORE CHURN READER WRITER SPACE_RECLAIM THREADS RECORD_SIZE RECORDS DATA GUARANTEE PLACE DISK
        MACHINE BACKGROUND TUNING COMPRESSION
    ),
    parameters: &["turnover", "until_steady", "bursts", "burst_period", "equal_cache", "batch", "after_load"],
    operations: &[OVERALL, KINDS[0], KINDS[1], KINDS[2], KINDS[3]],
    reason: |case| parameters::check(case).err(),
    headline: &[Headline::Throughput, Headline::Latency, Headline::Space, Headline::Memory],
    space: parameters::space,
    stored_bytes: parameters::held_bytes,
    memory: parameters::memory,
    time: parameters::time,
    time_by_rehearsal: None,
    run,
    serve: None,
};

fn run(context: &TrialContext<'_>) -> Result<Measurements, TrialError> {
    let TrialContext { stores, spec, .. } = *context;
    let (store, open) = find(stores, spec.cell.store())?;
    let offered = offered_guarantee(store, &spec.cell)?;
    let work = LifeParameters::from_parameters(&spec.cell, &spec.parameters);
    let Capabilities { keeps, persists, order, .. } = store.capabilities;
    let clock = Clock::new();
    let gauge = Gauge::for_threads(spec, &clock, work.threads).map_err(TrialError::harness)?;
    let records = records(spec, work.churn);
    let scans = work.churn == Churn::Queue && keeps && order;
    let busy = AtomicBool::new(false);
    let worker = |thread| {
        let worker = LifeWorker::new(&work, thread, (&records, &gauge, &busy), scans, spec.seed);
        worker.map(Mutex::new).map_err(TrialError::harness)
    };
    let workers: Vec<_> = (0..work.threads).map(worker).collect::<Result<_, _>>()?;
    let holds_reader = parameters::has_held_reader(&spec.cell);
    let options = spec.options(parameters::sessions(&spec.cell));
    let mut concurrent_worker = concurrent_work::WorkKind::from_cell(&spec.cell)
        .map(|kind| ConcurrentWorker::new(kind, &work, (&records, &busy), (open, options.clone())));
    let mut batch = Batch::new(work.batch, KEY_BYTES, records.largest_value());
    let mut acknowledged = Vec::with_capacity(2);
    let mut trial = StoreTrial::open((store, open), options, Some(offered), spec)?;
    let aging =
        Aging { work: &work, records: &records, gauge: &gauge, is_scannable: keeps && order, holds_reader };
    aging.probe(&trial.bench, concurrent_worker.as_ref())?;
    let outcome =
        aging.age(&trial.bench, (&workers, concurrent_worker.as_mut()), &mut batch, &mut acknowledged)?;
    trial.worked()?;
    let mut workers: Vec<LifeWorker<'_>> = workers.into_iter().map(into_worker).collect();
    let concurrent_writes =
        concurrent_worker.as_ref().map_or_else(WrittenRecords::default, ConcurrentWorker::written);
    note_writes(&outcome, &workers, concurrent_worker.as_ref(), &mut acknowledged);
    let mut trial = trial.finish(&acknowledged, keeps.then_some(work.records))?;
    // The last backup is opened when all was measured but the files, which are looked at without it.
    let finish = |worker: ConcurrentWorker<'_>| worker.finish(workers.iter().map(|worker| &worker.set));
    let concurrent_work = concurrent_worker.map(finish).transpose()?;
    let sets = workers.iter().map(|worker| &worker.set);
    let mut remaining = RemainingRecords::from_sets(sets, work.churn, &records, spec.seed);
    let audit_while_open =
        |trial: &mut SettledTrial<'_>| remaining.audit(&mut trial.bench, false, AuditOpening::Open);
    let audit_open = (keeps && !persists).then(|| audit_while_open(&mut trial)).transpose()?;
    trial.close()?;
    let SettledTrial { mut bench, measured } = trial;
    let is_persistent = keeps && persists;
    let pieces = bench.outside_location().is_none().then(|| fragmentation::pieces(bench.folder())).flatten();
    let stored = remaining.stored();
    let space_reclaim = is_persistent.then(|| remaining.reclaim_space(&mut bench, &work)).transpose()?;
    let audit_anew =
        is_persistent.then(|| remaining.audit(&mut bench, true, AuditOpening::Anew)).transpose()?;
    let find_warnings = || audit::warnings(spec.cell.data(), &stored, &measured.disk);
    let warnings = if keeps { find_warnings() } else { Vec::new() };
    let written =
        workers.iter().fold(outcome.loaded.plus(concurrent_writes), |sum, worker| sum.plus(worker.written));
    let bursts = sum_bursts(&mut workers, &work)?;
    let (operations, rounds) = results(&workers, outcome.tenths)?;
    let sum_calls = |calls_of: fn(&LifeWorker<'_>) -> CallStatistics| {
        workers.iter().map(calls_of).fold(CallStatistics::default(), CallStatistics::plus)
    };
    let (during, otherwise) =
        (sum_calls(|worker| worker.watch.during), sum_calls(|worker| worker.watch.otherwise));
    Ok(Measurements {
        load: outcome.load,
        operations,
        rounds,
        stored,
        written: Some(written),
        space_reclaim,
        fragmentation: Some(Fragmentation { pieces, ..outcome.fragmentation }),
        bursts,
        concurrent_work: concurrent_work.map(|totals| result::ConcurrentWork { during, otherwise, ..totals }),
        pauses: workers.into_iter().map(|worker| worker.watch.result()).reduce(Pauses::plus),
        audit: audit_open.or(audit_anew),
        warnings,
        ..measured
    })
}

/// Adds the threads' writes and their syncs, to check the guarantee `power`.
fn note_writes(
    outcome: &AgingOutcome,
    workers: &[LifeWorker<'_>],
    concurrent_worker: Option<&ConcurrentWorker<'_>>,
    acknowledged: &mut Vec<AcknowledgedWrites>,
) {
    const KIND: &str = "writes";
    let (shared, syncs) = concurrent_worker.map_or((0, 0), |worker| (worker.shared_writes(), worker.syncs));
    let mut writes = workers.iter().map(|worker| worker.writes).sum::<u64>().saturating_sub(shared);
    for counters in outcome.tenths.iter().map(|tenth| &tenth.gauge_reading.counters).chain(&outcome.bursts) {
        let threads = workers.len() as u64;
        AcknowledgedWrites::new(KIND, std::mem::take(&mut writes), threads, counters).note(acknowledged);
    }
    let without_concurrent = |writes: AcknowledgedWrites| writes.without_syncs(KIND, syncs);
    *acknowledged = std::mem::take(acknowledged).into_iter().map(without_concurrent).collect();
}

fn records(spec: &Spec, churn: Churn) -> Records {
    let sizes = spec.cell.record_size();
    let pool = Pool::generate(spec.cell.data(), spec.seed, sizes.span());
    let records = Records::new(spec.seed, sizes, pool);
    match churn {
        Churn::Waves => records.with_waves(),
        Churn::Queue | Churn::Log => records.ascending(),
        Churn::Uniform | Churn::Zipfian | Churn::Replace => records,
    }
}

#[derive(Clone, Copy)]
struct Aging<'a> {
    work: &'a LifeParameters,
    records: &'a Records,
    gauge: &'a Gauge<'a>,
    /// Whether all records can be scanned.
    is_scannable: bool,
    holds_reader: bool,
}

/// Its outcome before it is summed up.
struct AgingOutcome {
    load: Load,
    loaded: WrittenRecords,
    tenths: Vec<Tenth>,
    /// For each load with a burst.
    bursts: Vec<Counters>,
    fragmentation: Fragmentation,
}

struct Tenth {
    elapsed: Elapsed,
    gauge_reading: GaugeReading,
    disk: Disk,
}

/// The last tenths, in which a trend is looked for.
const TREND_TENTHS: usize = 5;

type LifePool<'c, 's, 'a> = worker_pool::WorkerPool<'c, dyn Session + 's, LifeWorker<'a>, LifeOrder<'s>>;

impl<'a> Aging<'a> {
    fn age(
        self,
        bench: &Bench<'_>,
        (workers, concurrent_worker): (&[Mutex<LifeWorker<'a>>], Option<&mut ConcurrentWorker<'_>>),
        batch: &mut Batch,
        acknowledged: &mut Vec<AcknowledgedWrites>,
    ) -> Result<AgingOutcome, WorkloadError> {
        let store: &dyn Store = bench.store()?;
        let LifeParameters { records: count, after_load, .. } = *self.work;
        let (mut load, mut loaded, mut fresh_scans_ns) = Default::default();
        let (tenths, aged_scans_ns, bursts) = worker_pool::run(
            self.gauge.clock,
            workers,
            || worker_pool::session(store),
            |session| {
                let records = self.records;
                let add = numbered(count, |batch, index| {
                    batch.add(&records.key(index), |values| records.append_value(index, 0, values));
                });
                (load, loaded) = loader::load(Some(count), batch, session, acknowledged, after_load, add)?;
                fresh_scans_ns = self.scans(session)?;
                Ok(())
            },
            |pool| {
                let reader = self.hold_reader(store)?;
                let tenths = self.tenths(bench, (pool, store), concurrent_worker)?;
                drop(reader);
                let scans_ns = self.scans(&mut *pool.handle)?;
                let bursts = self.bursts((pool, store), &tenths)?;
                Ok((tenths, scans_ns, bursts))
            },
        )?;
        let fragmentation = Fragmentation { fresh_scans_ns, aged_scans_ns, pieces: None };
        Ok(AgingOutcome { load, loaded, tenths, bursts, fragmentation })
    }

    /// Checks that the open store has a reader or a backup, if one is wanted.
    fn probe(
        self,
        bench: &Bench<'_>,
        concurrent_worker: Option<&ConcurrentWorker<'_>>,
    ) -> Result<(), TrialError> {
        let store = bench.store()?;
        if let Some(concurrent_worker) = concurrent_worker
            && !concurrent_worker.is_possible(store)?
        {
            let why = "with these settings no backup can be made while others write";
            return Err(TrialError::Unsupported(why.into()));
        }
        if self.holds_reader && self.hold_reader(store)?.is_none() {
            let why = "with these settings a reader that is held would keep writers from their work";
            return Err(TrialError::Unsupported(why.into()));
        }
        Ok(())
    }

    fn hold_reader(self, store: &dyn Store) -> Result<Option<Box<dyn HeldReader + '_>>, WorkloadError> {
        let reader = if self.holds_reader { store.hold_reader() } else { Ok(None) };
        reader.map_err(WorkloadError::during("holding a reader"))
    }

    /// Does ten tenths, and more until the set is steady, if asked for.
    fn tenths<'s>(
        self,
        bench: &Bench<'_>,
        (pool, store): (&mut LifePool<'_, 's, 'a>, &'s dyn Store),
        mut concurrent_worker: Option<&mut ConcurrentWorker<'_>>,
    ) -> Result<Vec<Tenth>, WorkloadError> {
        let most_tenths = self.work.most_tenths();
        let mut tenths: Vec<Tenth> = Vec::with_capacity(most_tenths);
        let figures = |tenth: &Tenth| [tenth.elapsed.wall.as_secs_f64(), tenth.disk.allocated_bytes as f64];
        let has_aged = |tenths: &[Tenth]| is_steady(&tenths.iter().map(figures).collect::<Vec<_>>());
        let mut progress = ProgressReporter::new(ProgressKind::Writing, self.work.steps * TENTHS as u64);
        while tenths.len() < TENTHS || (tenths.len() < most_tenths && !has_aged(&tenths)) {
            let mut steps = || self.gauge.measure(|| pool.round(LifeOrder { bursts: None, store }));
            let (elapsed, gauge_reading) = match &mut concurrent_worker {
                Some(concurrent_worker) => concurrent_worker.run_during(store, &mut steps)?,
                None => steps()?,
            };
            let disk = bench
                .disk_without(concurrent_work::BACKUP)
                .map_err(|error| WorkloadError::harness(format!("measuring files: {error}")))?;
            tenths.push(Tenth { elapsed, gauge_reading, disk });
            if tenths.len() == TENTHS {
                progress.total = self.work.steps * most_tenths as u64;
            }
            progress.report(self.work.steps * tenths.len() as u64);
        }
        Ok(tenths)
    }

    fn bursts<'s>(
        self,
        (pool, store): (&mut LifePool<'_, 's, 'a>, &'s dyn Store),
        tenths: &[Tenth],
    ) -> Result<Vec<Counters>, WorkloadError> {
        // Steps per second at the end of its life.
        let last = &tenths[tenths.len() - TREND_TENTHS..];
        let wall = last.iter().map(|tenth| tenth.elapsed.wall).sum::<Duration>();
        let per_second = last.len() as f64 * self.work.steps as f64 / wall.as_secs_f64().max(1e-9);
        let burst = |load: &BurstLoad| {
            let schedule = Schedule::for_load(*load, per_second, self.work.burst_period);
            let order = LifeOrder { bursts: Some(schedule), store };
            let (_, gauge_reading) = self.gauge.measure(|| pool.round(order))?;
            Ok(gauge_reading.counters)
        };
        self.work.bursts.iter().map(burst).collect()
    }

    /// The times of scans over all records, if they have an order.
    fn scans(self, session: &mut (dyn Session + '_)) -> Result<Vec<u64>, WorkloadError> {
        match self.is_scannable {
            true => fragmentation::scans(session, self.work.records, self.gauge.clock),
            false => Ok(Vec::new()),
        }
    }
}

/// Whether no figure has a trend over the last tenths, so that the set has grown old; too few are not steady.
fn is_steady<const FIGURES: usize>(tenths: &[[f64; FIGURES]]) -> bool {
    let Some(last) = tenths.last_chunk::<TREND_TENTHS>() else { return false };
    (0..FIGURES).all(|figure| !has_trend(&last.map(|tenth| tenth[figure])))
}

/// Whether each is more than the one before it, or each less. Five random ones are so in one of 60 cases.
fn has_trend(figures: &[f64; TREND_TENTHS]) -> bool {
    figures.is_sorted_by(|previous, next| previous < next)
        || figures.is_sorted_by(|previous, next| previous > next)
}

fn sum_bursts(workers: &mut [LifeWorker<'_>], work: &LifeParameters) -> Result<Vec<Burst>, WorkloadError> {
    let mut outcomes: Vec<_> =
        workers.iter_mut().map(|worker| std::mem::take(&mut worker.bursts).into_iter()).collect();
    work.bursts
        .iter()
        .map(|_| BurstOutcome::result(outcomes.iter_mut().filter_map(Iterator::next).collect()))
        .collect()
}

/// All tenths together, then each.
fn results(
    workers: &[LifeWorker<'_>],
    tenths: Vec<Tenth>,
) -> Result<(Vec<OperationResult>, Vec<Round>), WorkloadError> {
    let threads = workers.len() as u64;
    let mut rounds = Vec::with_capacity(tenths.len());
    let mut elapsed = Elapsed::default();
    let mut total: Option<Recorder> = None;
    for (number, tenth) in tenths.into_iter().enumerate() {
        let recorder =
            Recorder::sum(workers.iter().filter_map(|worker| worker.measured.get(number).cloned()))?;
        let mut operations = results_by_kind(&recorder, &tenth.elapsed, threads)?;
        if let Some(first) = operations.first_mut() {
            *first = tenth.gauge_reading.add_to(std::mem::take(first));
            // The whole trial's would hold ten of them.
            first.series = Vec::new();
        }
        rounds.push(Round { operations, disk: tenth.disk });
        elapsed = elapsed.add_later(tenth.elapsed);
        total = Some(Recorder::sum(total.into_iter().chain([recorder]))?);
    }
    let total = total.ok_or_else(|| WorkloadError::harness("nothing was written"))?;
    Ok((results_by_kind(&total, &elapsed, threads)?, rounds))
}

fn results_by_kind(
    recorder: &Recorder,
    elapsed: &Elapsed,
    threads: u64,
) -> Result<Vec<OperationResult>, WorkloadError> {
    let result = |name: &str, record: &Record| record.result(name, elapsed, true, threads);
    let total = recorder.merge_kinds(0..KINDS.len()).map_err(WorkloadError::harness)?;
    let mut results = vec![result(OVERALL, &total)?];
    for (name, record) in KINDS.iter().zip(recorder.all()) {
        if record.latencies.count() > 0 {
            results.push(result(name, record)?);
        }
    }
    Ok(results)
}

#[cfg(test)]
mod tests;
