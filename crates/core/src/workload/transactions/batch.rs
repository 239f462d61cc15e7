//! The workload `batch` of paper 002: transactions of many statements that insert, select and delete the rows of a small table,
//! each row once and in a random order. On stores that speak SQL a transaction is that many prepared statements between `begin`
//! and `commit`; on others the rows are records, and it is a batch to insert, a batch to remove, or that many single reads.

mod parameters;
mod play;
mod rows;
mod table;

use storebench_model::cell::Rate;
use storebench_model::result::{Audit, Measurements, StoredRecords};
use storebench_model::store::sql::SqlValue;
use storebench_model::store::{Capabilities, Store};

use self::parameters::BatchParameters;
use self::play::BatchTransactions;
use self::table::{Records, Rows, Table};
use super::{KINDS, TransactionWorker, run_phases};
use crate::measure::clock::Clock;
use crate::workload::bench::Bench;
use crate::workload::def::{Headline, WorkloadDef, axes};
use crate::workload::gauge::Gauge;
use crate::workload::spec::{TrialContext, TrialError};
use crate::workload::store_trial::{SettledTrial, StoreTrial, find, offered_guarantee};
use crate::workload::worker_pool::{self, into_worker};
use crate::workload::workload_error::WorkloadError;

pub static WORKLOAD: WorkloadDef = WorkloadDef {
    name: "batch",
    help: "insert, select and delete the rows of a small table in large transactions",
    axes: axes!(STORE TRANSACTIONS STATEMENTS GUARANTEE PLACE DISK MACHINE BACKGROUND TUNING),
    parameters: &["rest", "equal_cache"],
    operations: &["insert", "select", "delete"],
    reason: |case| parameters::check(case).err(),
    headline: &[Headline::Latency, Headline::Memory],
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
    let promised = spec.cell.guarantee().tier();
    let guarantee = offered_guarantee(store, &spec.cell)?;
    let clock = Clock::new();
    let work = BatchParameters::from_parameters(&spec.cell, &spec.parameters);
    let capabilities = &store.capabilities;
    let gauge = Gauge::for_threads(spec, &clock, 1).map_err(TrialError::harness)?;
    let transactions = BatchTransactions::prepare(work, spec.seed, capabilities.keeps);
    let workers = TransactionWorker::new(transactions, work.transactions, Rate::Closed, &gauge)
        .map_err(TrialError::harness)?;
    let mut acknowledged = Vec::with_capacity(KINDS);
    let mut trial = StoreTrial::open((store, opener), spec.options(1), promised.map(|_| guarantee), spec)?;
    let store = trial.bench.store()?;
    let operations = worker_pool::run(
        &clock,
        &workers,
        || open_table(store, capabilities),
        |_| Ok(()),
        |pool| run_phases(&workers[0], pool, work.rest, &mut acknowledged),
    )?;
    trial.worked()?;
    let [TransactionWorker { transactions, .. }] = workers.map(into_worker);
    let mut trial = trial.finish(&acknowledged, (capabilities.keeps && !capabilities.sql).then_some(0))?;
    trial.close()?;
    let SettledTrial { mut bench, measured } = trial;
    let audit =
        (capabilities.keeps && capabilities.persists).then(|| audit(&mut bench, capabilities)).transpose()?;
    Ok(Measurements {
        operations,
        // Every row was deleted.
        stored: StoredRecords::default(),
        written: Some(transactions.written()),
        audit,
        ..measured
    })
}

fn open_table<'s>(
    store: &'s dyn Store,
    capabilities: &Capabilities,
) -> Result<Box<dyn Table + 's>, WorkloadError> {
    if capabilities.sql {
        let session = store.sql().map_err(WorkloadError::during("opening a session"))?;
        return Ok(Box::new(Rows::make(session)?));
    }
    Ok(Box::new(Records(worker_pool::session(store)?)))
}

/// Checks that deleted rows stay away after the store was closed and opened anew.
fn audit(bench: &mut Bench<'_>, capabilities: &Capabilities) -> Result<Audit, WorkloadError> {
    let start = std::time::Instant::now();
    bench.reopen()?;
    let remaining = count_rows(bench.store()?, capabilities)?;
    bench.close()?;
    if remaining > 0 {
        return Err(WorkloadError::wrong_data(format!(
            "{remaining} rows are there, though all were deleted, when the store had been opened anew"
        )));
    }
    Ok(Audit { reopened: 1, took_ns: start.elapsed().as_nanos() as u64, ..Audit::default() })
}

fn count_rows(store: &dyn Store, capabilities: &Capabilities) -> Result<u64, WorkloadError> {
    let count_error = WorkloadError::during("counting the rows that are left");
    if !capabilities.sql {
        return store.count().map_err(count_error);
    }
    let mut session = store.sql().map_err(count_error)?;
    let mut remaining = u64::MAX;
    let sql = format!("SELECT count(*) FROM {}", rows::TABLE);
    let result = session.prepare(&sql).and_then(|query| {
        session.query(query, &[], &mut |row| {
            if let [SqlValue::Integer(count)] = row {
                remaining = u64::try_from(*count).unwrap_or(u64::MAX);
            }
        })
    });
    result.map_err(count_error)?;
    Ok(remaining)
}

#[cfg(test)]
mod tests;
