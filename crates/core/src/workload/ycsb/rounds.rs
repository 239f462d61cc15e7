//! The rounds of a trial: one thread loads; then all send their requests, round by round.

use std::sync::Mutex;

use storebench_model::result::{Counters, Disk, Load, SeriesPoint, WrittenRecords};
use storebench_model::store::Session;

use super::parameters::BetweenRounds;
use super::shared::YcsbContext;
use super::ycsb_worker::YcsbWorker;
use crate::measure::counters::Snapshot;
use crate::workload::aging::Aging;
use crate::workload::batch::Batch;
use crate::workload::bench::Bench;
use crate::workload::elapsed::Elapsed;
use crate::workload::loader::{self, numbered};
use crate::workload::sync_check::AcknowledgedWrites;
use crate::workload::worker_pool;
use crate::workload::workload_error::WorkloadError;

/// Measurements before they are summed up.
pub struct YcsbRun {
    pub load: Load,
    pub loaded: WrittenRecords,
    pub rounds: Vec<YcsbRound>,
}

/// Measurements before they are summed up.
#[derive(Debug, Clone, Default)]
pub struct YcsbRound {
    pub elapsed: Elapsed,
    pub counters: Counters,
    pub series: Vec<SeriesPoint>,
    /// The store's files after it; empty if there is only one round.
    pub disk: Disk,
}

impl YcsbRound {
    /// Adds the next round; the files are those after it.
    pub fn add_round(mut self, next: YcsbRound) -> YcsbRound {
        let offset_s = self.elapsed.wall.as_secs() as u32;
        let shift = |second: SeriesPoint| SeriesPoint { at_s: second.at_s + offset_s, ..second };
        self.series.extend(next.series.into_iter().map(shift));
        YcsbRound {
            elapsed: self.elapsed.add_later(next.elapsed),
            counters: self.counters.plus(&next.counters),
            series: self.series,
            disk: next.disk,
        }
    }
}

/// Loads the store, and does all rounds. `acknowledged` receives what the guarantee `power` is held to. Stops at the first thing
/// that goes wrong.
pub fn run(
    shared: &YcsbContext<'_>,
    bench: &mut Bench<'_>,
    workers: &[Mutex<YcsbWorker<'_>>],
    batch: &mut Batch,
    acknowledged: &mut Vec<AcknowledgedWrites>,
) -> Result<YcsbRun, WorkloadError> {
    let (count, closes_between) = (shared.work.rounds, shared.work.between_rounds == BetweenRounds::Close);
    let mut loaded = None;
    // The same sessions do all rounds until the store is closed.
    let rounds_while_open = if closes_between { 1 } else { count };
    let mut rounds: Vec<YcsbRound> = Vec::with_capacity(count);
    while rounds.len() < count {
        let open_bench: &Bench<'_> = bench;
        let store = open_bench.store()?;
        worker_pool::run(
            shared.clock,
            workers,
            || worker_pool::session(store),
            |session| {
                if loaded.is_none() {
                    loaded = Some(load(shared, batch, session, acknowledged)?);
                }
                Ok(())
            },
            |pool| {
                for _ in 0..rounds_while_open {
                    shared.series.begin();
                    let before = Snapshot::now();
                    let elapsed = pool.round(())?;
                    let (counters, series) = (before.until_now(), shared.series.finish());
                    let is_measured = count > 1 && !closes_between;
                    let disk = if is_measured { measure_disk(open_bench)? } else { Disk::default() };
                    rounds.push(YcsbRound { elapsed, counters, series, disk });
                }
                Ok(())
            },
        )?;
        if closes_between {
            bench.close()?;
            if let Some(last) = rounds.last_mut() {
                last.disk = measure_disk(bench)?;
            }
            bench.reopen()?;
        }
    }
    let (load, loaded) = loaded.ok_or_else(|| WorkloadError::harness("nothing was loaded"))?;
    Ok(YcsbRun { load, loaded, rounds })
}

fn measure_disk(bench: &Bench<'_>) -> Result<Disk, WorkloadError> {
    let measuring_error = |error| format!("measuring the store's files after a round: {error}");
    bench.disk().map_err(|error: std::io::Error| WorkloadError::harness(measuring_error(error)))
}

/// Loads the first records; gives also what was handed to the store.
fn load(
    shared: &YcsbContext<'_>,
    batch: &mut Batch,
    session: &mut dyn Session,
    acknowledged: &mut Vec<AcknowledgedWrites>,
) -> Result<(Load, WrittenRecords), WorkloadError> {
    let count = shared.work.loaded;
    shared.versions.mark_loaded(count);
    let add = |batch: &mut Batch, record| {
        let key = shared.definition().naming.key(record);
        batch.add(key.bytes(), |values| shared.fields.append(record, 1, values));
    };
    let aging = Aging { records: count, times: shared.work.age, after: shared.work.after_load };
    let after_load = aging.after_load();
    let mut result =
        loader::load(Some(count), batch, session, acknowledged, after_load, numbered(count, add))?;
    aging.age(&mut result, session, acknowledged, |record, version, key, value| {
        key.extend_from_slice(shared.definition().naming.key(record).bytes());
        shared.fields.append(record, 1 + version, value);
    })?;
    Ok(result)
}
