//! A trial of crud.

use std::path::Path;

use storebench_model::cell::Cache;
use storebench_model::result::Measurements;
use storebench_model::store::Capabilities;

use super::parameters::CrudParameters;
use super::{Crud, CrudResult, fleet};
use crate::measure::clock::Clock;
use crate::measure::page_cache::EmptiedCache;
use crate::record::Records;
use crate::record::pool::Pool;
use crate::workload::audit::{self, AuditOpening};
use crate::workload::clients::Fleet;
use crate::workload::spec::{Spec, TrialContext, TrialError};
use crate::workload::store_trial::{SettledTrial, StoreTrial, find, offered_guarantee};

/// Prepares all of the harness's memory, opens the store, drives it, measures.
pub fn run(context: &TrialContext<'_>) -> Result<Measurements, TrialError> {
    let TrialContext { stores, spec, reach } = *context;
    let (store, open) = find(stores, spec.cell.store())?;
    let offered = offered_guarantee(store, &spec.cell)?;
    let clock = Clock::new();
    let work = CrudParameters::for_cell(&spec.parameters, &spec.cell);
    let records = records(spec, work.text.as_deref())?;
    let crud = crud(spec, &work);
    let mut prepared =
        crud.prepare(&records, &clock, store.capabilities.keeps).map_err(TrialError::harness)?;
    prepared.fleet = Fleet::connect(spec, reach, crud.threads)?;
    let mut trial = StoreTrial::open((store, open), spec.options(crud.threads), Some(offered), spec)?;
    let run = prepared.run(&mut trial.bench)?;
    trial.worked()?;
    let CrudResult { load, operations, stored, written, cache_emptied_by, acknowledged, expected, clients } =
        prepared.into_result(run)?;
    let Capabilities { keeps, persists, .. } = store.capabilities;
    let mut trial = trial.finish(&acknowledged, keeps.then_some(stored.records))?;
    // A store that does not persist is read back before it is closed; one that does, when nothing is left to measure.
    let audit_open = (keeps && !persists)
        .then(|| expected.audit(&mut trial.bench, &records, AuditOpening::Open))
        .transpose()?;
    trial.close()?;
    let SettledTrial { mut bench, measured } = trial;
    let mut warnings =
        if keeps { audit::warnings(spec.cell.data(), &stored, &measured.disk) } else { Vec::new() };
    warnings.extend(fleet::warnings(&clients, &operations));
    let audit_anew =
        (keeps && persists).then(|| expected.audit(&mut bench, &records, AuditOpening::Anew)).transpose()?;
    Ok(Measurements {
        load,
        operations,
        stored,
        written: Some(written),
        cache_emptied_by: cache_emptied_by.map(|emptied| emptied.name().into()),
        cache_left_warm: cache_emptied_by.and_then(EmptiedCache::left_warm).map(str::to_owned),
        audit: audit_open.or(audit_anew),
        clients,
        warnings,
        ..measured
    })
}

/// Fails when the files that values are made from can't be read.
pub fn records(spec: &Spec, text: Option<&Path>) -> Result<Records, TrialError> {
    let sizes = spec.cell.record_size();
    let pool = match text {
        Some(folder) if spec.cell.data() == storebench_model::cell::Data::Compressible => {
            Pool::from_directory(folder, sizes.span()).map_err(TrialError::harness)?
        }
        _ => Pool::generate(spec.cell.data(), spec.seed, sizes.span()),
    };
    Ok(Records::new(spec.seed, sizes, pool))
}

pub fn crud(spec: &Spec, work: &CrudParameters) -> Crud {
    Crud {
        records: spec.cell.records(),
        operations: work.operations,
        order: work.order.clone(),
        mix: work.mix,
        batch: work.batch as usize,
        after_load: spec.parameters.after_load(),
        age: spec.cell.age(),
        visit: work.visit,
        seed: spec.seed,
        threads: u64::from(spec.cell.threads()),
        rate: spec.cell.rate(),
        duration: work.duration,
        warm_up: work.warm_up,
        cold: spec.cell.cache() == Cache::Cold,
    }
}
