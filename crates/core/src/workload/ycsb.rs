//! The workload `ycsb`: the core workload of the Yahoo! Cloud Serving Benchmark, by its own property files, on any store. Every
//! thread reads and writes all records, by one of YCSB's distributions. Reads are checked against the versions that they may have
//! ([`versions`]). docs/ycsb.md says where this differs from YCSB's program, and why.

mod check;
mod choice;
pub mod definition;
pub mod dialect;
mod fields;
pub mod file;
pub mod parameters;
pub mod property;
mod rank_scatter;
mod record_key;
mod recorder;
mod rounds;
mod scanned_records;
mod shared;
mod versions;
mod ycsb_worker;

use std::sync::Mutex;

use storebench_model::cell::{Data, Rate};
use storebench_model::result::{
    DISK_GROWTH, Disk, Load, Measurements, OVERALL, OperationResult, Round, StoredRecords, Warning,
    WrittenRecords,
};
use storebench_model::store::Capabilities;

use crate::measure::clock::Clock;
use crate::workload::audit::{self, AuditOpening};
use crate::workload::batch::Batch;
use crate::workload::def::{Headline, WorkloadDef, axes};
use crate::workload::recorder::Record;
use crate::workload::spec::{TrialContext, TrialError};
use crate::workload::store_trial::{StoreTrial, find, offered_guarantee};
use crate::workload::sync_check::AcknowledgedWrites;
use crate::workload::worker_pool::into_worker;
use crate::workload::workload_error::WorkloadError;
use definition::Kind;
use parameters::YcsbParameters;
use record_key::MAX_KEY_BYTES;
use recorder::Recorder;
use rounds::{YcsbRound, YcsbRun};
use shared::YcsbContext;
use ycsb_worker::YcsbWorker;

/// YCSB's core workload.
pub static WORKLOAD: WorkloadDef = WorkloadDef {
    name: "ycsb",
    help: "YCSB's workloads: reads, updates, inserts, scans and read-modify-writes by weight",
    axes: axes!(
        STORE WORKLOAD DISTRIBUTION RECORDS DATA GUARANTEE PLACE DISK MACHINE BACKGROUND AGE THREADS
        RATE TUNING COMPRESSION
    ),
    parameters: &[
        "operations",
        "duration",
        "max_time",
        "rounds",
        "between_rounds",
        "properties",
        "equal_cache",
        "batch",
        "after_load",
    ],
    operations: &[
        OVERALL,
        Kind::Read.name(),
        Kind::Update.name(),
        Kind::Insert.name(),
        Kind::Scan.name(),
        Kind::ReadModifyWrite.name(),
    ],
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
    let (store, opener) = find(stores, spec.cell.store())?;
    let guarantee = offered_guarantee(store, &spec.cell)?;
    let work =
        YcsbParameters::from_parameters(&spec.cell, &spec.parameters).map_err(TrialError::Unsupported)?;
    let Capabilities { keeps, persists, .. } = store.capabilities;
    let clock = Clock::new();
    let shared =
        YcsbContext::new(work, spec.cell.data(), spec.seed, &clock, keeps).map_err(TrialError::harness)?;
    let workers = (0..shared.work.threads).map(|thread| YcsbWorker::new(&shared, thread, spec.seed));
    let workers = workers.map(|worker| worker.map(Mutex::new));
    let workers = workers.collect::<Result<Vec<_>, String>>().map_err(TrialError::harness)?;
    let mut batch = Batch::new(shared.work.batch as usize, MAX_KEY_BYTES, shared.fields.largest());
    let mut acknowledged = Vec::with_capacity(2);
    let options = spec.options(shared.work.threads);
    let mut trial = StoreTrial::open((store, opener), options, Some(guarantee), spec)?;
    let rounds_run = rounds::run(&shared, &mut trial.bench, &workers, &mut batch, &mut acknowledged)?;
    trial.worked()?;
    let (recorders, written, writes) = join_workers(workers)?;
    let total = rounds_run.rounds.iter().cloned().reduce(YcsbRound::add_round).unwrap_or_default();
    AcknowledgedWrites::new("writes", writes, shared.work.threads, &total.counters).note(&mut acknowledged);
    let stored = count_stored(&shared);
    let mut trial = trial.finish(&acknowledged, keeps.then_some(stored.records))?;
    // A store that does not persist is read back before it is closed; one that does, when nothing is left to measure.
    if persists {
        trial.close()?;
    }
    let opening = if persists { AuditOpening::Anew } else { AuditOpening::Open };
    let read_back = || check::audit(&shared, &mut trial.bench, spec.seed, opening);
    let audit = keeps.then(read_back).transpose()?;
    if !persists {
        trial.close()?;
    }
    let rounds = summarize_rounds(&shared, &recorders, &rounds_run)?;
    let warnings = match keeps {
        true => warnings(spec.cell.data(), &stored, (&rounds_run.load, &rounds), &trial.measured.disk),
        false => Vec::new(),
    };
    let operations = results(&shared, &Recorder::sum(recorders.iter().cloned())?, &total)?;
    Ok(Measurements {
        written: Some(rounds_run.loaded.plus(written)),
        load: rounds_run.load,
        operations,
        rounds,
        stored,
        audit,
        warnings,
        ..trial.measured
    })
}

/// All threads' measurements in each round, what they handed to the store, and the writes that certainly changed it.
fn join_workers(
    workers: Vec<Mutex<YcsbWorker<'_>>>,
) -> Result<(Vec<Recorder>, WrittenRecords, u64), WorkloadError> {
    let (mut written, mut writes) = (WrittenRecords::default(), 0);
    let mut rounds: Vec<Vec<Recorder>> = Vec::new();
    for worker in workers.into_iter().map(into_worker) {
        (written, writes) = (written.plus(worker.written), writes + worker.writes);
        let recorders = worker.finish();
        rounds.resize_with(recorders.len(), Vec::new);
        rounds.iter_mut().zip(recorders).for_each(|(round, recorder)| round.push(recorder));
    }
    let rounds = rounds.into_iter().map(Recorder::sum).collect::<Result<_, _>>()?;
    Ok((rounds, written, writes))
}

/// Each round's figures, if there are several.
fn summarize_rounds(
    shared: &YcsbContext<'_>,
    recorders: &[Recorder],
    rounds_run: &YcsbRun,
) -> Result<Vec<Round>, WorkloadError> {
    if rounds_run.rounds.len() < 2 {
        return Ok(Vec::new());
    }
    let rounds = recorders.iter().zip(&rounds_run.rounds);
    let summarize = |(recorder, figures): (&Recorder, &YcsbRound)| {
        let mut operations = results(shared, recorder, figures)?;
        // The whole trial's results hold them.
        operations.iter_mut().for_each(|operation| operation.series = Vec::new());
        Ok(Round { operations, disk: figures.disk.clone() })
    };
    rounds.map(summarize).collect()
}

/// Warnings about disk figures, at the end and over the rounds.
fn warnings(
    data: Data,
    stored: &StoredRecords,
    (load, rounds): (&Load, &[Round]),
    disk: &Disk,
) -> Vec<Warning> {
    let mut warnings = audit::warnings(data, stored, disk);
    let holds_less =
        |first: &Round| first.disk.allocated_bytes > 0 && first.disk.allocated_bytes < load.value_bytes;
    if data == Data::Incompressible && rounds.first().is_some_and(holds_less) {
        let reason = "after the first round the store's files held less than its values, the rest being in memory while it is \
                      open: say between_rounds = \"close\"";
        warnings.push(Warning { figure: DISK_GROWTH.into(), reason: reason.into() });
    }
    warnings
}

fn count_stored(shared: &YcsbContext<'_>) -> StoredRecords {
    let records = shared.versions.inserted();
    let key_bytes = |record| shared.definition().naming.key(record).bytes().len() as u64;
    let value_bytes = shared.fields.bytes(&shared.versions, records);
    StoredRecords { records, key_bytes: (0..records).map(key_bytes).sum(), value_bytes }
}

fn results(
    shared: &YcsbContext<'_>,
    recorder: &Recorder,
    round: &YcsbRound,
) -> Result<Vec<OperationResult>, WorkloadError> {
    let main_kind = shared.definition().main_kind();
    let result = |name: &str, record: &Record| {
        record.result(name, &round.elapsed, shared.work.rate == Rate::Closed, shared.work.threads)
    };
    let total = recorder::merge_all(recorder).map_err(WorkloadError::harness)?;
    let overall = result(OVERALL, &total)?;
    let mut results = vec![OperationResult { counters: Some(round.counters.clone()), ..overall }];
    for kind in Kind::ALL {
        let record = recorder::merge_kind(recorder, kind).map_err(WorkloadError::harness)?;
        if !shared.definition().includes(kind) && record.latencies.count() == 0 {
            continue;
        }
        let is_only_kind = shared.definition().share(kind) == 1.0 && kind != Kind::ReadModifyWrite;
        results.push(OperationResult {
            // Which of several kinds made a sync is not known.
            counters: is_only_kind.then(|| round.counters.clone()),
            series: if kind == main_kind { round.series.clone() } else { Vec::new() },
            ..result(kind.name(), &record)?
        });
    }
    Ok(results)
}

#[cfg(test)]
mod tests;
