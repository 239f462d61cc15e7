//! A trial of replay.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use storebench_model::result::{
    Counters, Load, Measurements, OVERALL, OperationResult, SPACE, SeriesPoint, StoredRecords, Warning,
    WrittenRecords,
};
use storebench_model::store::{Capabilities, Setting};

use crate::measure::clock::Clock;
use crate::measure::counters::Snapshot;
use crate::measure::series::Series;
use crate::trace::{Facts, Reader, Spread, TraceOperation};
use crate::workload::elapsed::Elapsed;
use crate::workload::recorder::Record;
use crate::workload::spec::{Spec, TrialContext, TrialError};
use crate::workload::store_trial::{SettledTrial, StoreTrial, find, offered_guarantee};
use crate::workload::sync_check::AcknowledgedWrites;
use crate::workload::worker_pool::{self, lock_worker};
use crate::workload::workload_error::WorkloadError;

use super::audit::audit;
use super::chunk::chunk_channel;
use super::feed::{Feed, FeedOutcome};
use super::fit::Fit;
use super::load::Loader;
use super::parameters::{ReplayParameters, Speed};
use super::player::{Player, ReplayKind, ReplayTally};
use super::values::Values;
use super::{BEHIND_US, SPEED_REACHED};

/// Runs the trial.
pub fn run(context: &TrialContext<'_>) -> Result<Measurements, TrialError> {
    let TrialContext { stores, spec, .. } = *context;
    let (store, open) = find(stores, spec.cell.store())?;
    let promised = offered_guarantee(store, &spec.cell)?;
    let work = ReplayParameters::from_parameters(&spec.parameters)
        .ok_or_else(|| TrialError::harness("no trace was looked at"))?;
    let Capabilities { keeps, persists, .. } = store.capabilities;
    let clock = Clock::new();
    let values = Values::new(spec.cell.data(), spec.seed, work.facts.largest_value);
    let mut prepared = PreparedReplay::new(&work, spec, &store.capabilities, &clock, &values)?;
    let options = spec.options(spec.cell.threads().into());
    let mut trial = StoreTrial::open((store, open), options, Some(promised), spec)?;
    let (load, loaded) = prepared.load(&trial)?;
    let (feed_outcome, conditions) = prepared.play(&trial)?;
    trial.worked()?;
    let stored = stored(&work);
    let is_counted = keeps && work.is_whole() && work.facts.one_in == 1;
    let mut trial = trial.finish(&prepared.acknowledged, is_counted.then_some(stored.records))?;
    let changed_keys = feed_outcome.fit.changed;
    check_digest(&work, feed_outcome)?;
    let tally = prepared.tally()?;
    let mut read_back = |bench: &mut _, anew| {
        let PreparedReplay { reader, fit, players, .. } = &mut prepared;
        let reader = reader.take().ok_or_else(|| WorkloadError::harness("the trace was read to its end"))?;
        audit(bench, anew, stored.records, reader, (fit, &values, &*players))
    };
    let audit_open = (keeps && !persists).then(|| read_back(&mut trial.bench, false)).transpose()?;
    trial.close()?;
    let SettledTrial { mut bench, mut measured } = trial;
    let audit_anew = (keeps && persists).then(|| read_back(&mut bench, true)).transpose()?;
    let operations = conditions.operations(&tally)?;
    measured.statistics.extend(conditions.statistics(&work.facts, &tally, changed_keys));
    Ok(Measurements {
        load,
        operations,
        stored,
        written: Some(loaded.plus(tally.written)),
        audit: audit_open.or(audit_anew),
        warnings: warnings(&work.facts, keeps),
        ..measured
    })
}

/// All of the harness's memory, ready before the store is opened.
struct PreparedReplay<'a> {
    work: &'a ReplayParameters,
    clock: &'a Clock,
    values: &'a Values,
    loader: Option<Loader>,
    /// Reads the trace before the replay and after it.
    reader: Option<Reader>,
    feed: Option<Feed<'a>>,
    fit: Fit,
    players: Vec<Mutex<Player<'a>>>,
    series: Series,
    acknowledged: Vec<AcknowledgedWrites>,
}

impl<'a> PreparedReplay<'a> {
    fn new(
        work: &'a ReplayParameters,
        spec: &Spec,
        capabilities: &Capabilities,
        clock: &'a Clock,
        values: &'a Values,
    ) -> Result<PreparedReplay<'a>, TrialError> {
        let ReplayParameters { trace, ask, facts, speed, .. } = work;
        let threads = spec.cell.threads() as usize;
        let fit = Fit::new(capabilities, facts.longest_key as usize);
        let main = main_kind(facts);
        let spread = Spread::open(trace, *ask, *speed != Speed::Max && facts.has_whole_seconds());
        let spread = spread.map_err(TrialError::harness)?;
        let (largest, blocked_ns) = (facts.longest_key.max(64) + facts.largest_value, Arc::default());
        let (senders, incoming): (_, Vec<_>) =
            (0..threads).map(|_| chunk_channel(largest as usize, &blocked_ns)).unzip();
        let player = |thread_and_chunks| {
            let player = Player::new(work, (clock, values), thread_and_chunks, capabilities.keeps, main);
            player.map(Mutex::new).map_err(TrialError::harness)
        };
        let feed = Feed { spread, fit: fit.clone(), values, senders, speed: *speed };
        let reader = Reader::open(trace, *ask).and_then(Reader::warmed_up).map_err(TrialError::harness)?;
        Ok(PreparedReplay {
            work,
            clock,
            values,
            loader: work.loads.then(|| Loader::new(facts, work.after_load)),
            reader: Some(reader),
            feed: Some(feed),
            fit,
            players: incoming.into_iter().enumerate().map(player).collect::<Result<_, _>>()?,
            series: Series::new(threads).map_err(TrialError::harness)?,
            acknowledged: Vec::with_capacity(4),
        })
    }

    fn load(&mut self, trial: &StoreTrial<'_>) -> Result<(Load, WrittenRecords), WorkloadError> {
        let Some(loader) = &mut self.loader else {
            return Ok((Load::default(), WrittenRecords::default()));
        };
        let reader =
            self.reader.take().ok_or_else(|| WorkloadError::harness("the trace was read to its end"))?;
        let mut session = worker_pool::session(trial.bench.store()?)?;
        let (reader, load, written) =
            loader.load(reader, session.as_mut(), &mut self.fit, self.values, &mut self.acknowledged)?;
        self.reader = Some(reader);
        Ok((load, written))
    }

    fn play(&mut self, trial: &StoreTrial<'_>) -> Result<(FeedOutcome, ReplayConditions), WorkloadError> {
        let feed = self.feed.take().ok_or_else(|| WorkloadError::harness("the trace was played already"))?;
        let (store, series, timed) = (trial.bench.store()?, &self.series, self.work.speed != Speed::Max);
        let (feed_outcome, elapsed, counters) = worker_pool::run(
            self.clock,
            &self.players,
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
        )?;
        let threads = self.players.len() as u64;
        let writes = self.players.iter().map(|player| lock_worker(player).tally.fresh_writes);
        AcknowledgedWrites::new("writes of the trace", writes.sum(), threads, &counters)
            .note(&mut self.acknowledged);
        let last_due = Duration::from_nanos(feed_outcome.last_due_ns);
        let conditions = ReplayConditions {
            elapsed,
            threads,
            timed,
            behind: if timed { elapsed.wall.saturating_sub(last_due) } else { Duration::ZERO },
            series: self.series.finish(),
            counters,
            main: main_kind(&self.work.facts),
        };
        Ok((feed_outcome, conditions))
    }

    fn tally(&self) -> Result<ReplayTally, WorkloadError> {
        let mut total = ReplayTally::new().map_err(WorkloadError::harness)?;
        for player in &self.players {
            total.merge(&lock_worker(player).tally).map_err(WorkloadError::harness)?;
        }
        Ok(total)
    }
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

/// The most frequent operation, for the time series.
fn main_kind(facts: &Facts) -> ReplayKind {
    use TraceOperation::{Get, Modify, Remove, Scan, Set};
    let most_frequent = [Get, Set, Modify, Remove, Scan].into_iter().max_by_key(|does| facts.count(*does));
    most_frequent.map_or(ReplayKind::Get, |does| ReplayKind::from_operation(does, true))
}

fn stored(work: &ReplayParameters) -> StoredRecords {
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

struct ReplayConditions {
    elapsed: Elapsed,
    threads: u64,
    timed: bool,
    /// How long after its due time the last operation ended.
    behind: Duration,
    series: Vec<SeriesPoint>,
    counters: Counters,
    main: ReplayKind,
}

impl ReplayConditions {
    fn operations(&self, tally: &ReplayTally) -> Result<Vec<OperationResult>, WorkloadError> {
        let result =
            |name: &str, record: &Record| record.result(name, &self.elapsed, !self.timed, self.threads);
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
        if self.timed {
            settings.push(Setting::unverified(BEHIND_US, self.behind.as_micros()));
            settings.push(setting("schedule_stood_still_us", self.elapsed.stood_still.as_micros() as u64));
        }
        settings
    }
}
