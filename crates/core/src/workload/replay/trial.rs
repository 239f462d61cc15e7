//! A trial of replay.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::measure::clock::Clock;
use crate::measure::counters::Snapshot;
use crate::measure::series::Series;
use crate::result::{
    Counters, Load, Measurements, OVERALL, OperationResult, SPACE, Second, StoredRecords, Warning,
    WrittenRecords,
};
use crate::store::{Capabilities, Setting};
use crate::trace::{Facts, Form, Reader, Spread, TraceOperation};
use crate::workload::elapsed::Elapsed;
use crate::workload::spec::{Spec, TrialContext, TrialError};
use crate::workload::store_trial::{SettledTrial, StoreTrial, find, offered_guarantee};
use crate::workload::sync_check::AcknowledgedWrites;
use crate::workload::worker_pool::{self, lock_worker};
use crate::workload::workload_error::WorkloadError;

use super::audit::HeldRecords;
use super::chunk::chunk_channel;
use super::feed::{Feed, FeedOutcome};
use super::fit::Fit;
use super::load::Loader;
use super::parameters::{ReplayParameters, Speed};
use super::player::{Player, ReplayKind, ReplayTally};
use super::values::Values;
use super::{BEHIND_US, SPEED_REACHED};

/// Runs the trial.
pub fn run(asked: &TrialContext<'_>) -> Result<Measurements, TrialError> {
    let TrialContext { stores, spec, .. } = *asked;
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
    let played = prepared.play(&trial)?;
    trial.worked()?;
    let stored = stored(&work);
    let counted = keeps && work.is_whole() && work.facts.one_in == 1;
    let mut trial = trial.finish(&prepared.acknowledged, counted.then_some(stored.records))?;
    prepared.check_digest(&work, played.fed)?;
    let tally = prepared.tally()?;
    let mut audited = |bench: &mut _, anew| {
        let PreparedReplay { reader, fit, players, .. } = &mut prepared;
        let reader = reader.take().ok_or_else(|| WorkloadError::harness("the trace was read to its end"))?;
        HeldRecords { reader, fit, values: &values, players, records: stored.records }.audit(bench, anew)
    };
    let open = (keeps && !persists).then(|| audited(&mut trial.bench, false)).transpose()?;
    trial.close()?;
    let SettledTrial { mut bench, mut measured } = trial;
    let anew = (keeps && persists).then(|| audited(&mut bench, true)).transpose()?;
    let operations = played.how.operations(&tally)?;
    measured.statistics.extend(played.how.statistics(&work.facts, &tally, played.changed_keys));
    Ok(Measurements {
        load,
        operations,
        stored,
        written: Some(loaded.plus(tally.written)),
        audit: open.or(anew),
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

/// The outcome of the replay.
struct ReplayOutcome {
    fed: FeedOutcome,
    how: ReplayConditions,
    changed_keys: u64,
}

impl<'a> PreparedReplay<'a> {
    fn new(
        work: &'a ReplayParameters,
        spec: &Spec,
        capabilities: &Capabilities,
        clock: &'a Clock,
        values: &'a Values,
    ) -> Result<PreparedReplay<'a>, TrialError> {
        let ReplayParameters { trace, ask, facts, speed, loads, .. } = work;
        let threads = spec.cell.threads() as usize;
        let fit = Fit::new(capabilities, facts.longest_key as usize);
        let (key, value) = (facts.longest_key.max(64) as usize, facts.largest_value as usize);
        let main = main_kind(facts);
        let whole_seconds = *speed != Speed::Max && facts.has_whole_seconds();
        let spread = Spread::open(trace, *ask, whole_seconds).map_err(TrialError::harness)?;
        let blocked_ns = Arc::default();
        let (senders, incoming): (_, Vec<_>) =
            (0..threads).map(|_| chunk_channel(key + value, &blocked_ns)).unzip();
        let timed = *speed != Speed::Max;
        let player = |own| {
            let (check, largest) = ((capabilities.keeps, facts.form == Form::RocksDb), (key, value));
            let player = Player::new((clock, values), own, timed, check, *loads, main, largest);
            player.map(Mutex::new).map_err(TrialError::harness)
        };
        let feed = Feed { spread, fit: fit.clone(), values, senders, speed: *speed };
        let reader = Reader::open(trace, *ask).and_then(Reader::warmed_up).map_err(TrialError::harness)?;
        Ok(PreparedReplay {
            work,
            clock,
            values,
            loader: loads.then(|| Loader::new(facts, work.after_load)),
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
        let session = trial.bench.store()?.session();
        let mut session = session.map_err(|error| WorkloadError::store("opening a session", &error))?;
        let (reader, load, written) =
            loader.load(reader, session.as_mut(), &mut self.fit, self.values, &mut self.acknowledged)?;
        self.reader = Some(reader);
        Ok((load, written))
    }

    fn play(&mut self, trial: &StoreTrial<'_>) -> Result<ReplayOutcome, WorkloadError> {
        let feed = self.feed.take().ok_or_else(|| WorkloadError::harness("the trace was played already"))?;
        let (store, series, timed) = (trial.bench.store()?, &self.series, self.work.speed != Speed::Max);
        let (fed, elapsed, counters) = worker_pool::run(
            self.clock,
            &self.players,
            || worker_pool::session(store),
            |_| Ok(()),
            |crew| {
                series.begin();
                let before = Snapshot::now();
                let (fed, elapsed) = thread::scope(|scope| {
                    let reading = scope.spawn(|| feed.run());
                    let elapsed = crew.round(series);
                    let panicked = |_| Err("the thread that reads the trace panicked".into());
                    (reading.join().unwrap_or_else(panicked), elapsed)
                });
                // A store that failed ends the reading, too: its own error comes first.
                let elapsed = elapsed?;
                Ok((fed.map_err(WorkloadError::harness)?, elapsed, before.until_now()))
            },
        )?;
        let threads = self.players.len() as u64;
        let writes = self.players.iter().map(|player| lock_worker(player).tally.fresh_writes);
        AcknowledgedWrites::new("writes of the trace", writes.sum(), threads, &counters)
            .note(&mut self.acknowledged);
        let last_due = Duration::from_nanos(fed.last_due_ns);
        let how = ReplayConditions {
            elapsed,
            threads,
            timed,
            behind: if timed { elapsed.wall.saturating_sub(last_due) } else { Duration::ZERO },
            series: self.series.finish(),
            counters,
            main: main_kind(&self.work.facts),
        };
        Ok(ReplayOutcome { changed_keys: fed.fit.changed(), fed, how })
    }

    /// Whether the played trace is the one that was examined.
    fn check_digest(&self, work: &ReplayParameters, fed: FeedOutcome) -> Result<(), TrialError> {
        let found =
            fed.spread.into_reader().digest(&|| false).map_err(TrialError::harness)?.unwrap_or_default();
        if found == work.facts.sha256 {
            return Ok(());
        }
        Err(TrialError::harness(format!(
            "the trace {} has changed since the run began: its SHA-256 was {} and is {found}",
            work.trace.display(),
            work.facts.sha256
        )))
    }

    fn tally(&self) -> Result<ReplayTally, WorkloadError> {
        let mut all = ReplayTally::new().map_err(WorkloadError::harness)?;
        for player in &self.players {
            all.merge(&lock_worker(player).tally).map_err(WorkloadError::harness)?;
        }
        Ok(all)
    }
}

/// The most frequent operation, for the time series.
fn main_kind(facts: &Facts) -> ReplayKind {
    let kinds = [
        (TraceOperation::Get, ReplayKind::Get),
        (TraceOperation::Set, ReplayKind::Set),
        (TraceOperation::Modify, ReplayKind::Modify),
        (TraceOperation::Remove, ReplayKind::Remove),
        (TraceOperation::Scan, ReplayKind::Scan),
    ];
    kinds.into_iter().max_by_key(|(does, _)| facts.count(*does)).map_or(ReplayKind::Get, |(_, kind)| kind)
}

fn stored(work: &ReplayParameters) -> StoredRecords {
    let facts = &work.facts;
    let kept = |of: u64| if work.loads { of } else { 0 };
    StoredRecords {
        records: facts.written_keys + kept(facts.kept_keys),
        key_bytes: facts.written_key_bytes + kept(facts.kept_key_bytes),
        value_bytes: facts.written_value_bytes + kept(facts.kept_value_bytes),
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
    series: Vec<Second>,
    counters: Counters,
    main: ReplayKind,
}

impl ReplayConditions {
    fn operations(&self, tally: &ReplayTally) -> Result<Vec<OperationResult>, WorkloadError> {
        let done =
            ReplayKind::ALL.into_iter().filter(|kind| tally.recorder.latencies(*kind as usize).count() > 0);
        let done: Vec<ReplayKind> = done.collect();
        let all = tally
            .recorder
            .merge_kinds(ReplayKind::ALL.map(|kind| kind as usize))
            .map_err(WorkloadError::harness)?;
        let all = all.result(OVERALL, &self.elapsed, !self.timed, self.threads)?;
        let mut results = vec![OperationResult { counters: Some(self.counters.clone()), ..all }];
        for kind in &done {
            results.push(self.operation(*kind, done.len() == 1, tally)?);
        }
        Ok(results)
    }

    fn operation(
        &self,
        kind: ReplayKind,
        alone: bool,
        tally: &ReplayTally,
    ) -> Result<OperationResult, WorkloadError> {
        let record = tally.recorder.kind_record(kind as usize);
        Ok(OperationResult {
            // Which of several operations made a sync is not known.
            counters: alone.then(|| self.counters.clone()),
            series: if kind == self.main { self.series.clone() } else { Vec::new() },
            ..record.result(kind.name(), &self.elapsed, !self.timed, self.threads)?
        })
    }

    /// More facts for readers of the results.
    fn statistics(&self, facts: &Facts, tally: &ReplayTally, changed_keys: u64) -> Vec<Setting> {
        let one = |name: &str, value: u64| Setting::unverified(format!("replay.{name}"), value);
        let mut all = vec![
            one("operations_not_played", facts.skip),
            one("operations_with_a_key_made_to_fit", changed_keys),
            one("reads_of_values_too_short_to_tell_their_write", tally.short_reads),
        ];
        let wall_ns = self.elapsed.wall.as_nanos();
        if facts.has_times() && facts.span_ns > 0 && wall_ns > 0 {
            all.push(Setting::unverified(
                SPEED_REACHED,
                format!("{:.4}", facts.span_ns as f64 / wall_ns as f64),
            ));
        }
        if self.timed {
            all.push(Setting::unverified(BEHIND_US, self.behind.as_micros()));
            all.push(one("schedule_stood_still_us", self.elapsed.stood_still.as_micros() as u64));
        }
        all
    }
}
