//! The workload `ycsb`: the Yahoo! Cloud Serving Benchmark's core workload, by its own property files, on any store.
//!
//! Every thread reads and writes all records, by one of YCSB's distributions. What is read is checked against the versions
//! that it may have by then ([`versions`]). docs/ycsb.md says where this differs from YCSB's own program, and why.

mod check;
mod crew;
pub mod definition;
mod fields;
pub mod file;
mod hall;
mod lane;
pub mod law;
pub mod name;
mod order;
pub mod property;
mod recorder;
mod scanned;
mod scramble;
mod versions;
pub mod work;

use crate::axis::Axis;
use crate::cell::Tuning;
use crate::measure::clock::Clock;
use crate::result::{Measured, OVERALL, OperationResult, Stored, Written};
use crate::store::{Capabilities, OpenOptions};
use crate::workload::audit::{self, Reading};
use crate::workload::batch::Batch;
use crate::workload::crud::work::{BATCH, COMPRESSION, DURATION, EQUAL_CACHE, OPERATIONS};
use crate::workload::driver::{Record, Stop};
use crate::workload::on_store::{OnStore, Settled, find};
use crate::workload::promise::Acknowledged;
use crate::workload::spec::{Asked, Ended, Spec};
use crate::workload::table::{Headline, WorkloadDef};
use crew::Ran;
use definition::Kind;
use hall::Hall;
use lane::Lane;
use recorder::Recorder;
use work::Work;

/// YCSB's core workload.
pub static WORKLOAD: WorkloadDef = WorkloadDef {
    name: "ycsb",
    help: "YCSB's workloads: reads, updates, inserts, scans and read-modify-writes by weight",
    axes: &[
        Axis::STORE,
        Axis::WORKLOAD,
        Axis::DISTRIBUTION,
        Axis::RECORDS,
        Axis::DATA,
        Axis::GUARANTEE,
        Axis::PLACE,
        Axis::MACHINE,
        Axis::BACKGROUND,
        Axis::THREADS,
        Axis::RATE,
        Axis::TUNING,
    ],
    parameters: &[
        &OPERATIONS,
        &DURATION,
        &work::MAX_TIME,
        &property::PROPERTIES,
        &EQUAL_CACHE,
        &COMPRESSION,
        &BATCH,
    ],
    operations: &[
        OVERALL,
        Kind::Read.name(),
        Kind::Update.name(),
        Kind::Insert.name(),
        Kind::Scan.name(),
        Kind::ReadModifyWrite.name(),
    ],
    reason: work::reason,
    headline: &[Headline::Throughput, Headline::Latency, Headline::Space, Headline::Memory],
    space: work::space,
    memory: work::memory,
    time: work::time,
    time_by_rehearsal: None,
    run,
};

fn run(asked: &Asked<'_>) -> Result<Measured, Ended> {
    let Asked { stores, spec } = *asked;
    let (store, open) = find(stores, spec.cell.store())?;
    let tier = spec.cell.guarantee().tier();
    let Some(promised) = store.resolve(tier) else {
        let why = format!("{} does not offer the guarantee {}", store.name, spec.cell.guarantee());
        return Err(Ended::Unsupported(why));
    };
    let work = Work::of(&spec.cell, &spec.parameters).map_err(Ended::Unsupported)?;
    let Capabilities { keeps, persists, .. } = store.capabilities;
    let clock = Clock::new();
    let hall = Hall::new(work, spec.cell.data(), spec.seed, &clock, keeps).map_err(Ended::harness)?;
    let lanes = (0..hall.work.threads).map(|thread| Lane::new(&hall, thread, spec.seed));
    let mut lanes = lanes.collect::<Result<Vec<_>, String>>().map_err(Ended::harness)?;
    let mut batch = Batch::new(hall.work.batch as usize, crew::KEY_BYTES, hall.fields.largest());
    let mut acknowledged = Vec::with_capacity(2);
    let mut trial = OnStore::begin((store, open), options(&hall, spec), Some(promised), spec)?;
    let ran = crew::run(&hall, trial.bench.store()?, &mut lanes, &mut batch, &mut acknowledged)?;
    trial.worked()?;
    let (recorder, written, writes) = together(lanes)?;
    Acknowledged::new("writes", writes, hall.work.threads, &ran.counters).note(&mut acknowledged);
    let stored = stored(&hall);
    let mut trial = trial.settled(&acknowledged, keeps.then_some(stored.records))?;
    // What does not persist is read back before it is closed; what does, when nothing is left to measure.
    let read_back =
        |trial: &mut Settled<'_>, reading| check::audit(&hall, &mut trial.bench, spec.seed, reading);
    let open = (keeps && !persists).then(|| read_back(&mut trial, Reading::Open)).transpose()?;
    trial.close()?;
    let doubts =
        if keeps { audit::doubts(spec.cell.data(), &stored, &trial.measured.disk) } else { Vec::new() };
    let anew = (keeps && persists).then(|| read_back(&mut trial, Reading::Anew)).transpose()?;
    let operations = results(&hall, &recorder, &ran)?;
    Ok(Measured {
        written: Some(ran.loaded.plus(written)),
        load: ran.load,
        operations,
        stored,
        audit: open.or(anew),
        doubts,
        ..trial.measured
    })
}

/// How the store is opened.
fn options<'s>(hall: &Hall<'_>, spec: &'s Spec) -> OpenOptions<'s> {
    OpenOptions {
        directory: &spec.directory,
        guarantee: spec.cell.guarantee().tier(),
        compression: hall.work.compression.is_on(spec.cell.data()),
        cache_bytes: (spec.cell.tuning() == Tuning::Equal).then_some(hall.work.equal_cache),
        settings: &spec.settings,
        sessions: hall.work.threads as usize,
    }
}

/// What all threads measured, what they handed to the store, and how many writes changed it for certain.
fn together(lanes: Vec<Lane<'_>>) -> Result<(Recorder, Written, u64), Stop> {
    let (mut written, mut writes) = (Written::default(), 0);
    let mut all: Option<Recorder> = None;
    for lane in lanes {
        let (own, changed) = lane.written();
        (written, writes) = (written.plus(own), writes + changed);
        match &mut all {
            Some(all) => all.merge(&lane.finish()).map_err(Stop::harness)?,
            None => all = Some(lane.finish()),
        }
    }
    let all = all.ok_or_else(|| Stop::harness("no thread was at work"))?;
    Ok((all, written, writes))
}

/// What the store holds, from what was written to it.
fn stored(hall: &Hall<'_>) -> Stored {
    let records = hall.versions.inserted();
    let name = |record| hall.definition().naming.name(record).bytes().len() as u64;
    let value_bytes = hall.fields.bytes(&hall.versions, records);
    Stored { records, key_bytes: (0..records).map(name).sum(), value_bytes }
}

/// All requests together, then each kind that occurs.
fn results(hall: &Hall<'_>, recorder: &Recorder, ran: &Ran) -> Result<Vec<OperationResult>, Stop> {
    let main = hall.definition().main();
    let all = result(OVERALL, &recorder.all().map_err(Stop::harness)?, hall, ran)?;
    let mut results = vec![OperationResult { counters: Some(ran.counters.clone()), ..all }];
    for kind in Kind::ALL {
        let record = recorder.of(kind).map_err(Stop::harness)?;
        if !hall.definition().does(kind) && record.latencies.count() == 0 {
            continue;
        }
        let one = result(kind.name(), &record, hall, ran)?;
        let alone = hall.definition().share(kind) == 1.0 && kind != Kind::ReadModifyWrite;
        results.push(OperationResult {
            // Which of several kinds made a sync is not known.
            counters: alone.then(|| ran.counters.clone()),
            series: if kind == main { ran.series.clone() } else { Vec::new() },
            ..one
        });
    }
    Ok(results)
}

fn result(name: &str, record: &Record, hall: &Hall<'_>, ran: &Ran) -> Result<OperationResult, Stop> {
    let count = record.latencies.count();
    let (rate, threads) = (hall.work.rate, hall.work.threads);
    Ok(OperationResult {
        operation: name.into(),
        count,
        errors: record.errors,
        wall_ns: ran.took.wall.as_nanos() as u64,
        sum_ns: record.latencies.sum_ns(),
        rate_over_ns: ran.took.rate_over_ns(rate, threads).filter(|_| count > 0),
        harness_share: ran.took.harness_share(rate, threads).filter(|_| count > 0),
        value_bytes: record.value_bytes,
        warm_up: 0,
        put_back: 0,
        device_written_bytes: None,
        latency: record.latencies.summary().map_err(Stop::harness)?,
        counters: None,
        series: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
