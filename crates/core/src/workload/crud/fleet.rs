//! The trial's side of crud with sessions on clients: gives orders, and puts the results where this process would have its own.

use std::sync::Mutex;

use storebench_model::cell::Rate;
use storebench_model::result::{ClientPhase, ClientReport, Counters, OperationResult, Warning};
use storebench_model::server::running::ServerNamespace;

use super::share::{RecordShare, RoundOrder};
use super::shared::Shares;
use crate::workload::bench::Bench;
use crate::workload::clients::messages::{
    ClientResults, ClientRound, OperationMeasurements, RoundResult, unpack_bytes,
};
use crate::workload::clients::{Fleet, FleetRound};
use crate::workload::driver::{Recorder, UntimedWork};
use crate::workload::elapsed::Elapsed;
use crate::workload::mix::PhaseWork;
use crate::workload::operation::Operation;
use crate::workload::recorder::Record;
use crate::workload::worker_pool::lock_worker;
use crate::workload::workload_error::WorkloadError;

const MIX: &str = "mix";

pub fn open(fleet: &mut Fleet, bench: &Bench<'_>, loaded_records: Option<u64>) -> Result<(), WorkloadError> {
    let namespace = ServerNamespace::read_note(bench.folder())
        .map_err(|error| WorkloadError::harness(format!("reading what was made: {error}")))?;
    let elsewhere = || WorkloadError::harness("the store is on no server that clients can reach");
    fleet.open(&namespace.ok_or_else(elsewhere)?, loaded_records)
}

pub fn round(
    fleet: &mut Fleet,
    shares: &Shares<'_>,
    phase: usize,
    RoundOrder { shared, goal, live }: RoundOrder<'_>,
) -> Result<(Elapsed, Counters), WorkloadError> {
    let round =
        ClientRound { phase, operations: goal.operations, warm_up: goal.warm_up, until: goal.until, live };
    let name = match goal.doing {
        PhaseWork::One(operation) => operation.name(),
        PhaseWork::Mix(_) => MIX,
    };
    let is_closed = shared.plan.rate == Rate::Closed;
    let FleetRound { elapsed, counters, began, client_results } = fleet.round(round, name, is_closed)?;
    for (first, result) in client_results {
        put_results(shares, first, &result).map_err(|why| fleet.error(first, &why))?;
        let added = shared.series.add_packed(began, &result.seconds);
        added.map_err(|why| fleet.error(first, &why))?;
    }
    Ok((elapsed, counters))
}

/// Puts a client's results where its threads would have put them.
fn put_results(shares: &Shares<'_>, first: usize, result: &RoundResult) -> Result<(), String> {
    let untimed = result.untimed.as_slice().try_into().map_err(|_| "it reported other operations")?;
    let threads = shares.0.get(first..).unwrap_or_default();
    for (share, records) in threads.iter().zip(&result.records) {
        // Versions come at the end.
        lock_worker(share).versions.resize(*records as usize, 0);
    }
    let share = threads.first().ok_or("it reported threads that are not its own")?;
    let mut share = lock_worker(share);
    share.driver.untimed.add(&UntimedWork { counts: untimed, ..UntimedWork::default() });
    share.writes += result.writes;
    share.written = result.written;
    Ok(())
}

/// Takes the clients' measurements, and their records' versions.
pub fn gather_results(fleet: &mut Fleet, shares: &Shares<'_>) -> Result<(), WorkloadError> {
    for (threads, results) in fleet.finish()? {
        let first = threads.start;
        let outcome = shares.0.get(threads).ok_or_else(|| "it has other threads".to_owned());
        let outcome = outcome.and_then(|shares| take_results(shares, &results));
        outcome.map_err(|why| fleet.error(first, &why))?;
    }
    Ok(())
}

fn take_results(shares: &[Mutex<RecordShare<'_>>], results: &ClientResults) -> Result<(), String> {
    if results.versions.len() != shares.len() {
        return Err("it reported threads that are not its own".into());
    }
    for (share, versions) in shares.iter().zip(&results.versions) {
        let mut share = lock_worker(share);
        share.versions = unpack_bytes(versions, share.versions.len())?;
    }
    if results.kinds.len() != Operation::ALL.len() {
        return Err("it reported other operations".into());
    }
    let mut recorder = Recorder::new()?;
    for (number, kind) in results.kinds.iter().enumerate() {
        let OperationMeasurements { latencies, errors, value_bytes, conflicts } = kind;
        *recorder.kind_record_mut(number) = Record {
            latencies: latencies.unpack()?,
            errors: *errors,
            value_bytes: *value_bytes,
            conflicts: *conflicts,
        };
    }
    let Some(share) = shares.first() else { return Ok(()) };
    lock_worker(share).driver.add_measured(&recorder, results.seen_gone)
}

/// Warnings about operations with saturated clients: they may say more about these than about the store.
pub fn warnings(clients: &[ClientReport], operations: &[OperationResult]) -> Vec<Warning> {
    let warning = |operation: &OperationResult| {
        let name = &operation.operation;
        let why = |client: &ClientReport| {
            let is_of_operation = |phase: &&ClientPhase| phase.operation == MIX || phase.operation == *name;
            let why = client.phases.iter().filter(is_of_operation).find_map(ClientPhase::saturation)?;
            Some(format!("the client {} was saturated: {why}", client.host))
        };
        let why: Vec<String> = clients.iter().filter_map(why).collect();
        (!why.is_empty()).then(|| Warning { figure: name.clone(), reason: why.join("; ") })
    };
    operations.iter().filter_map(warning).collect()
}

#[cfg(test)]
mod tests;
