//! The workload `androbench` of paper 004: transactions that insert, update and delete rows of an application's table through
//! prepared statements, on stores that speak SQL. One statement alone is a transaction by itself in every engine; several have a
//! `begin` before them and a `commit` after. Updated rows are drawn evenly, deleted ones without repetition.

mod check;
mod parameters;
mod rows;
mod table;

use std::time::{Duration, Instant};

use storebench_model::result::{Load, Measurements};
use storebench_model::store::sql::{BulkLoad, SqlSession};
use storebench_model::store::{Loss, StoreDef};

use self::parameters::AndrobenchParameters;
use self::rows::{COLUMNS, TABLE};
use self::table::{Messages, Table};
use super::{KINDS, TransactionWorker, check_settings, run_phases};
use crate::measure::clock::Clock;
use crate::measure::counters::Snapshot;
use crate::workload::def::{Headline, WorkloadDef, axes};
use crate::workload::gauge::Gauge;
use crate::workload::spec::{TrialContext, TrialError};
use crate::workload::store_trial::{SettledTrial, StoreTrial, find, offered_guarantee};
use crate::workload::sync_check::AcknowledgedWrites;
use crate::workload::worker_pool::{self, into_worker, lock_worker};
use crate::workload::workload_error::WorkloadError;

pub static WORKLOAD: WorkloadDef = WorkloadDef {
    name: "androbench",
    help: "insert, update and delete rows of an application's table in SQL transactions",
    axes: axes!(STORE ROWS STATEMENTS GUARANTEE PLACE DISK MACHINE BACKGROUND RATE TUNING),
    parameters: &["operations", "body", "equal_cache", "after_load"],
    operations: &["insert", "update", "delete"],
    reason: |case| parameters::check(case).err(),
    headline: &[Headline::Latency, Headline::Space, Headline::Memory],
    space: parameters::space,
    stored_bytes: parameters::held_bytes,
    memory: parameters::memory,
    time: parameters::time,
    time_by_rehearsal: Some(parameters::time_by_rehearsal),
    run,
    serve: None,
};

fn run(context: &TrialContext<'_>) -> Result<Measurements, TrialError> {
    let TrialContext { stores, spec, .. } = *context;
    let (store, opener) = find(stores, spec.cell.store())?;
    let promised = spec.cell.guarantee().tier();
    offered_guarantee(store, &spec.cell)?;
    let clock = Clock::new();
    let work = AndrobenchParameters::from_parameters(&spec.cell, &spec.parameters);
    let gauge = Gauge::for_threads(spec, &clock, 1).map_err(TrialError::harness)?;
    let messages = Messages::prepare(work, spec.seed);
    let workers = TransactionWorker::new(messages, work.transactions, work.rate, &gauge)
        .map_err(TrialError::harness)?;
    let (mut load, mut acknowledged) = (Load::default(), Vec::with_capacity(1 + KINDS));
    // With `default`, settings decide the guarantee.
    let mut trial = StoreTrial::open((store, opener), spec.options(1), promised, spec)?;
    let opened = trial.bench.store()?;
    // All is done in one session.
    let prepare = |table: &mut Table<'_>| {
        load = load_rows(table.session.as_mut(), &mut lock_worker(&workers[0]).transactions)?;
        load.rest = (load.records > 0).then(|| spec.parameters.after_load().wait()).flatten();
        table.prepare()
    };
    let operations = worker_pool::run(
        &clock,
        &workers,
        || Table::make(opened).map(Box::new),
        prepare,
        |pool| {
            let operations = run_phases(&workers[0], pool, Duration::ZERO, &mut acknowledged)?;
            check_settings(pool.handle.session.as_mut())?;
            Ok(operations)
        },
    )?;
    if let Some(counters) = &load.counters {
        acknowledged.insert(0, AcknowledgedWrites::new("loads", 1, 1, counters));
    }
    trial.worked()?;
    let [TransactionWorker { transactions: messages, .. }] = workers.map(into_worker);
    let mut trial = trial.finish(&acknowledged, None)?;
    trial.close()?;
    let SettledTrial { mut bench, measured } = trial;
    let audit = messages.audit(&mut bench)?;
    Ok(Measurements {
        power_cut: power_cut(store, &measured),
        load,
        operations,
        stored: messages.stored(),
        written: Some(messages.written()),
        audit: Some(audit),
        ..measured
    })
}

/// What a power cut can do to a store with these settings.
fn power_cut(store: &StoreDef, measured: &Measurements) -> Option<Loss> {
    let danger = store.offer(measured.guarantee)?.danger(&measured.settings)?;
    Some(danger.power_cut)
}

/// Loads the first rows, in key order.
fn load_rows(session: &mut dyn SqlSession, messages: &mut Messages) -> Result<Load, WorkloadError> {
    let (count, source) = (messages.work.rows, messages.source);
    let mut load = Load { records: count, ..Load::default() };
    if count == 0 {
        return Ok(load);
    }
    let names = COLUMNS.map(|(name, _)| name);
    let mut row = source.empty_row();
    let before = Snapshot::now();
    let start = Instant::now();
    let target = BulkLoad { table: TABLE, columns: &names, sorted: true };
    let rows_loaded = session.bulk_load(&target, &mut |add| {
        for id in 0..count {
            source.fill(&mut row, id, 0);
            load.value_bytes += row.value_bytes();
            add(&row.values())?;
        }
        Ok(())
    });
    load.store_ns = start.elapsed().as_nanos() as u64;
    let rows_loaded = rows_loaded.map_err(WorkloadError::during("loading the table"))?;
    if rows_loaded != count {
        return Err(WorkloadError::harness(format!(
            "{rows_loaded} rows were loaded, but {count} were given"
        )));
    }
    load.counters = Some(before.until_now());
    messages.written.records += count;
    messages.written.value_bytes += load.value_bytes;
    Ok(load)
}
