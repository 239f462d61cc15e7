//! A trial of crud, in a process of its own.

use std::path::Path;
use std::time::Instant;

use super::work::Work;
use super::{Crud, Done, Prepared};
use crate::cell::{Cache, Tuning};
use crate::measure::clock::Clock;
use crate::measure::counters::Snapshot;
use crate::measure::page_cache::Emptied;
use crate::measure::watch::{Seen, Watch};
use crate::measure::{disk, process, syncs};
use crate::record::Records;
use crate::record::pool::Pool;
use crate::result::{Counters, Failure, Measured};
use crate::store::{Capabilities, Guarantee, Kind, OpenFn, OpenOptions, Setting, StoreDef, StoreError};
use crate::workload::audit::{self, Reading};
use crate::workload::bench::Bench;
use crate::workload::driver::Stop;
use crate::workload::promise::Acknowledged;
use crate::workload::spec::{Asked, Ended, Spec};

/// Runs the trial: prepares all of the harness's memory, opens the store, drives it, measures.
///
/// # Errors
/// When it fails, or the store can't do this.
pub fn run(asked: &Asked<'_>) -> Result<Measured, Ended> {
    let Asked { stores, spec } = *asked;
    let (store, open) = find(stores, spec.cell.store())?;
    let asked = spec.cell.guarantee().tier();
    let Some(promised) = store.resolve(asked) else {
        return Err(Ended::Unsupported(format!(
            "{} does not offer the guarantee {}",
            store.name,
            spec.cell.guarantee()
        )));
    };
    let clock = Clock::new();
    let work = Work::of(&spec.parameters);
    let records = records(spec, work.text.as_deref())?;
    let crud = crud(spec, &work);
    let prepared = crud.prepare(&records, &clock, store.capabilities.keeps).map_err(Ended::harness)?;
    let options = OpenOptions {
        directory: &spec.directory,
        guarantee: asked,
        compression: work.compression.is_on(spec.cell.data()),
        cache_bytes: (spec.cell.tuning() == Tuning::Equal).then_some(work.equal_cache),
        settings: &spec.settings,
        sessions: crud.threads as usize,
    };
    measure(store, open, options, prepared, &records, promised, spec)
}

fn find<'a>(stores: &'a [StoreDef], name: &str) -> Result<(&'a StoreDef, OpenFn), Ended> {
    let store = stores.iter().find(|store| store.name == name);
    let store =
        store.ok_or_else(|| Ended::Unsupported(format!("this storebench does not know the store {name}")))?;
    store.open.map(|open| (store, open)).map_err(|why| Ended::Unsupported(why.into()))
}

fn records(spec: &Spec, text: Option<&Path>) -> Result<Records, Ended> {
    let size = spec.cell.record_size();
    let pool = match text {
        Some(folder) if spec.cell.data() == crate::cell::Data::Compressible => {
            Pool::from_directory(folder, size).map_err(Ended::harness)?
        }
        _ => Pool::generate(spec.cell.data(), spec.seed, size),
    };
    Ok(Records::new(spec.seed, size, pool))
}

fn crud(spec: &Spec, work: &Work) -> Crud {
    Crud {
        records: spec.cell.records(),
        operations: work.operations,
        order: work.order.clone(),
        mix: work.mix,
        batch: work.batch as usize,
        visit: work.visit,
        seed: spec.seed,
        threads: u64::from(spec.cell.threads()),
        rate: spec.cell.rate(),
        duration: work.duration,
        warm_up: work.warm_up,
        cold: spec.cell.cache() == Cache::Cold,
    }
}

/// Opens the store, runs the workload, lets the store settle and closes it, measuring all along.
fn measure(
    store: &StoreDef,
    open: OpenFn,
    options: OpenOptions<'_>,
    mut prepared: Prepared<'_>,
    records: &Records,
    promised: Guarantee,
    spec: &Spec,
) -> Result<Measured, Ended> {
    // Looked at here, so that its memory is the harness's own; where they don't count, the result says so.
    let _ = syncs::in_effect();
    let mut watch = Watch::start(options.directory, &spec.device);
    process::reset_peak().map_err(Ended::harness)?;
    let base = process::resident().map_err(Ended::harness)?;
    watch.charge_to(&spec.group);
    let mut bench = Bench::open(open, options).map_err(unsupported_or_failed)?;
    let guarantee = given(&bench, promised)?;
    let settings = read_settings(&bench)?;
    let ran = prepared.run(&mut bench)?;
    watch.burst();
    let peak = process::resident().map_err(Ended::harness)?;
    let Done { load, operations, stored, written, cache_emptied_by, acknowledged, expected } =
        prepared.done(ran)?;
    if guarantee == Guarantee::Power && store.kind != Kind::Server {
        acknowledged.iter().try_for_each(Acknowledged::check)?;
    }
    let (settle_ns, settle_counters) = settle(&bench)?;
    let Seen { cpu, processors, device, charged_bytes, unknown } = watch.settled();
    let Capabilities { keeps, persists, .. } = store.capabilities;
    if keeps {
        check_count(&bench, stored.records)?;
    }
    let statistics =
        bench.store()?.statistics().map_err(|error| Stop::store("reading statistics", &error))?;
    let store_build = bench.store()?.build();
    // Some settings, such as the compression of files on disk, can be read back only now.
    let settings = merge(settings, read_settings(&bench)?);
    // What does not persist is read back before it is closed; what does, when nothing is left to measure.
    let open =
        (keeps && !persists).then(|| expected.audit(&mut bench, records, Reading::Open)).transpose()?;
    bench.close()?;
    let disk = disk::usage(bench.folder()).map_err(Ended::harness)?;
    let doubts = if keeps { audit::doubts(spec.cell.data(), &stored, &disk) } else { Vec::new() };
    let anew = (keeps && persists).then(|| expected.audit(&mut bench, records, Reading::Anew)).transpose()?;
    Ok(Measured {
        guarantee,
        store_version: (store.version)(),
        store_build,
        settings,
        statistics,
        load,
        operations,
        settle_ns,
        settle_counters: Some(settle_counters),
        memory: peak.above(&base, charged_bytes),
        cpu,
        disk,
        stored,
        written: Some(written),
        device,
        processors,
        cache_emptied_by: cache_emptied_by.map(|emptied| emptied.name().into()),
        cache_left_warm: cache_emptied_by.and_then(Emptied::left_warm).map(str::to_owned),
        audit: open.or(anew),
        doubts,
        unknown,
    })
}

/// The guarantee that the open store gives, which must be the one promised.
fn given(bench: &Bench<'_>, promised: Guarantee) -> Result<Guarantee, Ended> {
    let guarantee = bench.store()?.guarantee();
    if guarantee == promised {
        return Ok(guarantee);
    }
    Err(Ended::harness(format!("the store gives the guarantee {guarantee} where {promised} was promised")))
}

/// Lets the store settle; how long that took in nanoseconds, and what the process did.
fn settle(bench: &Bench<'_>) -> Result<(u64, Counters), Ended> {
    let before = Snapshot::now();
    let start = Instant::now();
    bench.store()?.settle().map_err(|error| Stop::store("settling", &error))?;
    let settle_ns = start.elapsed().as_nanos() as u64;
    Ok((settle_ns, Snapshot::now().since(&before)))
}

fn read_settings(bench: &Bench<'_>) -> Result<Vec<Setting>, Ended> {
    Ok(bench.store()?.settings().map_err(|error| Stop::store("reading settings", &error))?)
}

/// The settings at the end, and those that only the start could tell.
fn merge(at_start: Vec<Setting>, mut at_end: Vec<Setting>) -> Vec<Setting> {
    let known: Vec<String> = at_end.iter().map(|setting| setting.name.clone()).collect();
    at_end.extend(at_start.into_iter().filter(|setting| !known.contains(&setting.name)));
    at_end
}

fn check_count(bench: &Bench<'_>, expected: u64) -> Result<(), Ended> {
    let count = bench.store()?.count().map_err(|error| Stop::store("counting", &error))?;
    if count == expected {
        return Ok(());
    }
    let message = format!("the store counts {count} records where {expected} were written");
    Err(Ended::Failed(Stop { failure: Failure::WrongData, message, operation: None }))
}

fn unsupported_or_failed(error: StoreError) -> Ended {
    match error {
        StoreError::Unsupported(message) => Ended::Unsupported(message),
        other => Ended::Failed(Stop::store("opening the store", &other)),
    }
}
