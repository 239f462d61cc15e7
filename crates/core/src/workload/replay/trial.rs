//! A trial of replay.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use storebench_model::result::{
    Counters, Load, Measurements, OVERALL, OperationResult, SPACE, SeriesPoint, StoredRecords, Warning,
    WrittenRecords,
};
use storebench_model::store::{Capabilities, Setting, Store};

use crate::measure::clock::Clock;
use crate::measure::counters::Snapshot;
use crate::measure::series::Series;
use crate::trace::{Facts, Reader, Spread};
use crate::workload::elapsed::Elapsed;
use crate::workload::recorder::Record;
use crate::workload::spec::{TrialContext, TrialError};
use crate::workload::store_trial::{StoreTrial, find, offered_guarantee};
use crate::workload::sync_check::AcknowledgedWrites;
use crate::workload::worker_pool::{self, lock_worker};
use crate::workload::workload_error::WorkloadError;

use super::audit::audit;
use super::chunk::chunk_channel;
use super::feed::{FeedOutcome, TraceFeed};
use super::key_fitter::KeyFitter;
use super::load::Loader;
use super::parameters::{ReplayParameters, Speed};
use super::player::{Player, ReplayKind, ReplayTally};
use super::values::Values;
use super::{BEHIND_US, SPEED_REACHED};

/// Runs the trial.
pub fn run(context: &TrialContext<'_>) -> Result<Measurements, TrialError> {
    let TrialContext { stores, spec, .. } = *context;
    let (store, opener) = find(stores, spec.cell.store())?;
    let guarantee = offered_guarantee(store, &spec.cell)?;
    let work = ReplayParameters::from_parameters(&spec.parameters)
        .ok_or_else(|| TrialError::harness("no trace was looked at"))?;
    let ReplayParameters { trace, reader_options, facts, speed, .. } = &work;
    let Capabilities { keeps, persists, .. } = store.capabilities;
    // All of the harness's memory is taken before the store is opened.
    let clock = Clock::new();
    let values = Values::new(spec.cell.data(), spec.seed, facts.largest_value);
    let threads = spec.cell.threads() as usize;
    let mut fitter = KeyFitter::new(&store.capabilities, facts.longest_key as usize);
    let spread = Spread::open(trace, *reader_options, *speed != Speed::Max && facts.has_whole_seconds());
    let spread = spread.map_err(TrialError::harness)?;
    let (largest, blocked_ns) = (facts.longest_key.max(64) + facts.largest_value, Arc::default());
    let (senders, receivers): (_, Vec<_>) =
        (0..threads).map(|_| chunk_channel(largest as usize, &blocked_ns)).unzip();
    let feed = TraceFeed { spread, fitter: fitter.clone(), values: &values, senders, speed: *speed };
    let reader = Reader::open(trace, *reader_options).and_then(Reader::warmed_up);
    let mut reader = reader.map_err(TrialError::harness)?;
    let mut loader = work.loads.then(|| Loader::new(facts, work.after_load));
    let player = |receiver| Player::new(&work, (&clock, &values), receiver, keeps).map(Mutex::new);
    let players = receivers.into_iter().enumerate().map(player).collect::<Result<Vec<_>, _>>();
    let players = players.map_err(TrialError::harness)?;
    let series = Series::new(threads).map_err(TrialError::harness)?;
    let mut acknowledged = Vec::with_capacity(4);
    let options = spec.options(threads as u64);
    let mut trial = StoreTrial::open((store, opener), options, Some(guarantee), spec)?;
    let (mut load, mut loaded) = (Load::default(), WrittenRecords::default());
    if let Some(loader) = &mut loader {
        let mut session = worker_pool::session(trial.bench.store()?)?;
        (reader, load, loaded) =
            loader.load(reader, session.as_mut(), &mut fitter, &values, &mut acknowledged)?;
    }
    let (feed_outcome, elapsed, counters) = play(feed, &players, trial.bench.store()?, &clock, &series)?;
    let writes = players.iter().map(|player| lock_worker(player).tally.distinct_writes).sum();
    AcknowledgedWrites::new("writes of the trace", writes, threads as u64, &counters).note(&mut acknowledged);
    let played = PlayedTrace {
        elapsed,
        threads: threads as u64,
        last_due: (*speed != Speed::Max).then(|| Duration::from_nanos(feed_outcome.last_due_ns)),
        series: series.finish(),
        counters,
        main: ReplayKind::most_frequent(facts),
    };
    trial.worked()?;
    let stored = stored_records(&work);
    let is_counted = keeps && work.is_whole() && facts.one_in == 1;
    let mut trial = trial.finish(&acknowledged, is_counted.then_some(stored.records))?;
    let changed_keys = feed_outcome.fitter.changed_keys;
    check_digest(&work, feed_outcome)?;
    let mut tally = ReplayTally::new().map_err(TrialError::harness)?;
    for player in &players {
        tally.merge(&lock_worker(player).tally).map_err(TrialError::harness)?;
    }
    // A store that does not persist is read back before it is closed; one that does, when nothing is left to measure.
    if persists {
        trial.close()?;
    }
    let read_back = || {
        audit(&mut trial.bench, persists, stored.records, reader, (&mut fitter, &values, players.as_slice()))
    };
    let audit = keeps.then(read_back).transpose()?;
    if !persists {
        trial.close()?;
    }
    let operations = played.operations(&tally)?;
    trial.measured.statistics.extend(played.statistics(facts, &tally, changed_keys));
    Ok(Measurements {
        load,
        operations,
        stored,
        written: Some(loaded.plus(tally.written)),
        audit,
        warnings: warnings(facts, keeps),
        ..trial.measured
    })
}

/// Plays the trace on all threads.
fn play(
    feed: TraceFeed<'_>,
    players: &[Mutex<Player<'_>>],
    store: &dyn Store,
    clock: &Clock,
    series: &Series,
) -> Result<(FeedOutcome, Elapsed, Counters), WorkloadError> {
    worker_pool::run(
        clock,
        players,
        || worker_pool::session(store),
        |_| Ok(()),
        |pool| {
            series.begin();
            let before = Snapshot::now();
            let (feed_outcome, elapsed) = thread::scope(|scope| {
                let reading = scope.spawn(|| feed.run());
                let elapsed = pool.round(series);
                let panicked = |_| Err("the thread that reads the trace panicked".into());
                (reading.join().unwrap_or_else(panicked), elapsed)
            });
            // A store that failed ends the reading, too: its own error comes first.
            let elapsed = elapsed?;
            Ok((feed_outcome.map_err(WorkloadError::harness)?, elapsed, before.until_now()))
        },
    )
}

/// Whether the played trace is the one that was examined.
fn check_digest(work: &ReplayParameters, feed_outcome: FeedOutcome) -> Result<(), TrialError> {
    let sha256 = feed_outcome.spread.reader.digest(&|| false).map_err(TrialError::harness)?;
    let sha256 = sha256.unwrap_or_default();
    if sha256 == work.facts.sha256 {
        return Ok(());
    }
    Err(TrialError::harness(format!(
        "the trace {} has changed since the run began: its SHA-256 was {} and is {sha256}",
        work.trace.display(),
        work.facts.sha256
    )))
}

fn stored_records(work: &ReplayParameters) -> StoredRecords {
    let facts = &work.facts;
    let if_loaded = |count: u64| if work.loads { count } else { 0 };
    StoredRecords {
        records: facts.written_keys + if_loaded(facts.kept_keys),
        key_bytes: facts.written_key_bytes + if_loaded(facts.kept_key_bytes),
        value_bytes: facts.written_value_bytes + if_loaded(facts.kept_value_bytes),
    }
}

fn warnings(facts: &Facts, keeps: bool) -> Vec<Warning> {
    if !keeps || facts.one_in == 1 {
        return Vec::new();
    }
    let reason =
        format!("one in {} of the keys was counted: what the store holds is an estimate", facts.one_in);
    vec![Warning { figure: SPACE.into(), reason }]
}

/// What was measured while the trace was played.
struct PlayedTrace {
    elapsed: Elapsed,
    threads: u64,
    /// When the last operation was due, if it was played at the trace's times.
    last_due: Option<Duration>,
    series: Vec<SeriesPoint>,
    counters: Counters,
    main: ReplayKind,
}

impl PlayedTrace {
    fn operations(&self, tally: &ReplayTally) -> Result<Vec<OperationResult>, WorkloadError> {
        let is_closed = self.last_due.is_none();
        let result =
            |name: &str, record: &Record| record.result(name, &self.elapsed, is_closed, self.threads);
        let kinds = || ReplayKind::ALL.into_iter().zip(tally.recorder.all());
        let kinds_done = || kinds().filter(|(_, record)| record.latencies.count() > 0);
        let total = tally.recorder.merge_kinds(0..ReplayKind::ALL.len()).map_err(WorkloadError::harness)?;
        let counters = Some(self.counters.clone());
        let mut results = vec![OperationResult { counters, ..result(OVERALL, &total)? }];
        for (kind, record) in kinds_done() {
            results.push(OperationResult {
                // Which of several operations made a sync is not known.
                counters: (kinds_done().count() == 1).then(|| self.counters.clone()),
                series: if kind == self.main { self.series.clone() } else { Vec::new() },
                ..result(kind.name(), record)?
            });
        }
        Ok(results)
    }

    /// More facts for readers of the results.
    fn statistics(&self, facts: &Facts, tally: &ReplayTally, changed_keys: u64) -> Vec<Setting> {
        let setting = |name: &str, value: u64| Setting::unverified(format!("replay.{name}"), value);
        let mut settings = vec![
            setting("operations_not_played", facts.skip),
            setting("operations_with_a_key_made_to_fit", changed_keys),
            setting("reads_of_values_too_short_to_tell_their_write", tally.short_reads),
        ];
        let wall_ns = self.elapsed.wall.as_nanos();
        if facts.has_times() && facts.span_ns > 0 && wall_ns > 0 {
            let times = facts.span_ns as f64 / wall_ns as f64;
            settings.push(Setting::unverified(SPEED_REACHED, format!("{times:.4}")));
        }
        if let Some(last_due) = self.last_due {
            let behind = self.elapsed.wall.saturating_sub(last_due);
            settings.push(Setting::unverified(BEHIND_US, behind.as_micros()));
            settings.push(setting("schedule_stood_still_us", self.elapsed.stood_still.as_micros() as u64));
        }
        settings
    }
}
