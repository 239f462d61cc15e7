//! How the best stores change as their records are overwritten again and again.

use std::time::Duration;

use storebench_figures::column::Unit;
use storebench_figures::data::merge::{Entry, measured};
use storebench_figures::data::rounds::{self, Figure, Growth};
use storebench_host::run::Run;
use storebench_model::cell::{Axis, Cell};
use storebench_model::result::{Disk, Measurements, OVERALL};
use storebench_model::store::{AgingRisk, Caution};
use storebench_model::units::{Period, plural, rough_bytes, rough_duration, three_digits};

use super::answer::Advice;
use super::ratios::times_measured;

/// The study that measures this.
pub const STUDY: &str = "life";

/// Every record is equally likely to be overwritten.
pub const CHURN: &str = "uniform";

/// How often each record is overwritten before the operations that rank the stores.
pub const TIMES: u64 = 3;

/// Files that keep this share of their size after nine tenths of the records are removed count as kept.
const KEPT_SHARE: f64 = 0.9;

const HELD_READER: &str = "held";

/// The engines' term for writes that wait for flushes or compactions.
const WRITE_STALL: &str = "write stall";

/// A store whose records were overwritten many times.
#[derive(Debug, Clone, PartialEq)]
pub struct AgedStore {
    store: String,
    records: u64,
    trials: usize,
    /// How often all records were overwritten, and the rounds of that.
    turnover: f64,
    rounds: usize,
    /// Operations per second in the last round over those in the first.
    speed: f64,
    /// The files after the last round over those after the first, if known.
    growth: Option<f64>,
    longest_ns: u64,
    /// Whether the files grow in the last rounds.
    late_growth: Option<Growth>,
    /// The files after the last round over those after the first, during a long read transaction.
    growth_with_reader: Option<f64>,
    /// The number of write stalls that the engine reported, and of times that it was asked.
    stalls: (u64, u64),
    /// The files with a tenth of the records left, over those before.
    kept_share: Option<f64>,
    /// The same after the engine reclaimed space in its own way, and the name of that way.
    after_reclaim: Option<(f64, String)>,
}

/// Whether a run is of that study.
pub fn is_of_aging(run: &Run) -> bool {
    run.plan().is_some_and(|plan| plan.workload.def().name == STUDY)
}

/// The ranked stores, the best first, from runs on the answer's machine with records like the question's; their number may differ, and is stated.
pub fn aged(advice: &Advice, runs: &[Run]) -> Vec<AgedStore> {
    let ranked = advice.verdict.ranking.iter();
    ranked.filter_map(|candidate| age_store(&candidate.store, advice, runs)).collect()
}

fn age_store(store: &str, advice: &Advice, runs: &[Run]) -> Option<AgedStore> {
    let question = &advice.question;
    let is_like_question = |cell: &Cell| {
        cell.store() == store
            && cell.record_size() == question.size
            && cell.data() == question.data
            && cell.machine() == question.machine
            && cell.guarantee().tier() >= Some(question.guarantee)
            && cell.text(Axis::CHURN) == CHURN
            && cell.text(Axis::READER) != "backup"
            && cell.text(Axis::WRITER) != "batch"
            && cell.text(Axis::SPACE_RECLAIM) != "concurrent"
    };
    let trials = runs.iter().enumerate().filter(|(_, run)| run.header.hardware == advice.hardware);
    let trials = trials.flat_map(|(run, source)| source.trials.iter().map(move |trial| Entry { run, trial }));
    let entries: Vec<Entry<'_>> = trials.filter(|entry| is_like_question(&entry.trial.cell)).collect();
    let has_reader = |entry: &Entry<'_>| entry.trial.cell.text(Axis::READER) == HELD_READER;
    let (read_entries, mut entries): (Vec<Entry<'_>>, Vec<Entry<'_>>) =
        entries.into_iter().partition(has_reader);
    // Trials of one cell, with the fewest threads.
    entries.sort_by_key(|entry| entry.trial.cell.threads());
    let cell = entries.first()?.trial.cell.clone();
    entries.retain(|entry| entry.trial.cell == cell);
    let measurements: Vec<&Measurements> =
        measured(&entries).into_iter().map(|(_, measured)| measured).collect();
    let first = *measurements.first()?;
    let updates: u64 = first.rounds.iter().filter_map(|round| Some(round.operation("update")?.count)).sum();
    let files_left = measurements.iter().find_map(|measurement| files_after_removal(measurement));
    let without_reader = |cell: &Cell| {
        let mut bare = cell.clone();
        bare.remove(Axis::READER);
        bare
    };
    let read_entries =
        read_entries.into_iter().filter(|entry| without_reader(&entry.trial.cell) == without_reader(&cell));
    let read_entries: Vec<Entry<'_>> = read_entries.collect();
    let last_over_first = |figure| Some(rounds::last_over_first(&entries, figure)?.mean.value);
    let longest_ns = |measured: &&Measurements| Some(measured.operation(OVERALL)?.latency.max_ns);
    Some(AgedStore {
        store: store.to_owned(),
        records: first.stored.records,
        trials: measurements.len(),
        turnover: updates as f64 / first.stored.records.max(1) as f64,
        rounds: first.rounds.len(),
        speed: last_over_first(Figure::Speed)?,
        growth: last_over_first(Figure::Files),
        longest_ns: measurements.iter().filter_map(longest_ns).max()?,
        late_growth: rounds::growth(&measurements),
        growth_with_reader: rounds::last_over_first(&read_entries, Figure::Files)
            .map(|times| times.mean.value),
        stalls: count_stalls(&measurements),
        kept_share: files_left.as_ref().map(|(share, _)| *share),
        after_reclaim: files_left.and_then(|(_, reclaimed)| reclaimed),
    })
}

/// The number of write stalls that engines reported, and of times that they were asked; 0 of 0 if they never report any.
fn count_stalls(measurements: &[&Measurements]) -> (u64, u64) {
    let count = |measured: &&Measurements| {
        let pauses = measured.pauses.as_ref()?;
        let stalls = pauses.upkeep.iter().find(|upkeep| upkeep.work == WRITE_STALL)?;
        Some((stalls.after + stalls.otherwise, pauses.after.count + pauses.otherwise.count))
    };
    measurements.iter().filter_map(count).fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1))
}

/// The files after most records were removed, and after the engine reclaimed space, over those before.
fn files_after_removal(measured: &Measurements) -> Option<(f64, Option<(f64, String)>)> {
    let reclaim = measured.space_reclaim.as_ref()?;
    let full_bytes = Some(measured.disk.allocated_bytes as f64).filter(|full_bytes| *full_bytes > 0.0)?;
    let share = |disk: &Disk| disk.allocated_bytes as f64 / full_bytes;
    let reclaimed = reclaim.compacted.as_ref().map(|result| (share(&result.disk), result.by.clone()));
    Some((share(&reclaim.disk), reclaimed))
}

pub(super) fn describe(advice: &Advice) -> Vec<String> {
    let (age, period) = (advice.age, advice.question.overwritten);
    let writes = advice.question.mix.writes();
    let ranking = match age {
        0 if period.is_none() || !writes || advice.aged.is_empty() => None,
        0 => Some("The ranking is of a fresh database: these runs have no other that answers it.".into()),
        times => Some(format!("The ranking is of records that had each been overwritten {times} times.")),
    };
    let aging = match (advice.aged.as_slice(), period) {
        _ if !writes => Vec::new(),
        ([], None) if age > 0 => vec!["--overwritten 1d measures how the best change when they are overwritten again and again.".into()],
        ([], None) => vec!["All figures are of a fresh database; --overwritten 1d measures how it ages.".into()],
        ([], Some(_)) if age > 0 => vec![
            "How the best change when they are overwritten again and again was not measured.".into(),
        ],
        ([], Some(_)) => vec![
            "All figures are of a fresh database: these runs did not let it grow old. Measure it without --from.".into(),
        ],
        (aged, period) => aged.iter().map(|store| describe_store(store, period)).collect(),
    };
    let cautions = if writes { cautions(advice) } else { Vec::new() };
    ranking.into_iter().chain(aging).chain(cautions).collect()
}

/// The warnings of the recommended store's authors about effects that these runs did not measure.
fn cautions(advice: &Advice) -> Vec<String> {
    let Some(best) = advice.verdict.ranking.first() else { return Vec::new() };
    let aged = advice.aged.iter().find(|aged| aged.store == best.store);
    let is_measured = |caution: &&Caution| match caution.of {
        AgingRisk::Space => aged.is_some_and(|aged| aged.kept_share.is_some()),
        AgingRisk::Readers => aged.is_some_and(|aged| aged.growth_with_reader.is_some()),
        AgingRisk::Waits => aged.is_some_and(|aged| aged.stalls.1 > 0),
    };
    let unmeasured = advice.cautions.iter().filter(|caution| !is_measured(caution));
    unmeasured
        .map(|caution| {
            format!("{}, not measured here: {} (source: {}).", best.store, caution.says, caution.source)
        })
        .collect()
}

fn describe_store(aged: &AgedStore, period: Option<Period>) -> String {
    let percent = |share: f64| format!("{} %", three_digits(100.0 * share));
    let growth = aged
        .growth
        .map_or_else(String::new, |times| format!(", files {} times as large", three_digits(times)));
    let mut line = format!(
        "{}, {} overwritten {} times over: in the last tenth {} times as fast as in the first{growth}; longest pause {} ({}).",
        aged.store,
        plural(aged.records, "record"),
        Unit::Count.show(aged.turnover),
        three_digits(aged.speed),
        Unit::Nanoseconds.show(aged.longest_ns as f64),
        times_measured(aged.trials),
    );
    line += &aged.late_growth.map_or_else(String::new, |growth| describe_growth(aged, growth, period));
    if let Some(times) = aged.growth_with_reader {
        line += &format!(
            " While a reader was held, its files were {} times as large after the last tenth as after the first.",
            three_digits(times)
        );
    }
    line += &match aged.stalls {
        (_, 0) => String::new(),
        (0, asked) => format!(" It reported no write stall, asked {asked} times."),
        (reported, asked) => {
            format!(" It reported a write stall {reported} of the {asked} times that it was asked.")
        }
    };
    if let Some(kept) = aged.kept_share.filter(|kept| *kept >= KEPT_SHARE) {
        line += &format!(" With nine tenths of its records removed it keeps {} of its files", percent(kept));
        line += &match &aged.after_reclaim {
            Some((share, method)) => format!("; {method} leaves {}.", percent(*share)),
            None => ".".into(),
        };
    }
    line
}

fn describe_growth(aged: &AgedStore, files: Growth, period: Option<Period>) -> String {
    let rounds = match files {
        Growth::None => return " Its files have no upward trend at the end.".into(),
        Growth::Cleared(share) => {
            return format!(
                " Its files still grow at the end while it is open; closed, they take {} % of that.",
                three_digits(100.0 * share)
            );
        }
        Growth::Short(bytes) => {
            return format!(
                " Its files still grow at the end; {} were written meanwhile, so logs can be all of that.",
                rough_bytes(bytes as f64)
            );
        }
        Growth::Doubles(rounds) => rounds,
    };
    let turnovers = aged.turnover / aged.rounds.max(1) as f64 * rounds;
    let when = match period {
        Some(Period(period)) => format!("after {}", long_duration(period.mul_f64(turnovers))),
        None => format!("after being overwritten {} times more", three_digits(turnovers)),
    };
    format!(" Its files still grow at the end: at that pace they are twice as large {when}.")
}

/// `3 days`, or a shorter time as elsewhere.
fn long_duration(duration: Duration) -> String {
    match duration.as_secs() / 86_400 {
        0 | 1 => rough_duration(duration),
        days => plural(days, "day"),
    }
}

#[cfg(test)]
mod tests {
    use storebench_host::plan;
    use storebench_model::result::{Pauses, ReclaimResult, Samples, SpaceReclaim, UpkeepCount};
    use storebench_samples::{Sample, blocks, run};

    use super::super::question::Question;
    use super::super::tests::{advice, question};
    use super::*;
    use crate::terminal::grid::Style;

    /// A run of that study in which each round takes a tenth of the first longer and leaves 20,000 bytes more.
    fn life() -> Run {
        let mut run = blocks("box", &[vec![Sample::new("lmdb").ns(1000.0).rounds(10)]]);
        run.header.plan = plan::find(STUDY).unwrap().to_toml().unwrap();
        for trial in &mut run.trials {
            trial.cell = trial.cell.clone().with(Axis::CHURN, Axis::CHURN.read(CHURN).unwrap());
            let measured = trial.measured.as_mut().unwrap();
            let mut overall = measured.rounds[0].operations[0].clone();
            for round in &mut measured.rounds {
                round.operations.truncate(1);
                round.operations[0].operation = "update".into();
                round.operations[0].count = measured.stored.records;
                round.operations[0].value_bytes = 16 << 20;
            }
            overall.operation = OVERALL.into();
            overall.latency.max_ns = 120_000_000;
            measured.operations = vec![overall];
            measured.disk = measured.rounds[9].disk.clone();
            let full = measured.disk.allocated_bytes;
            let disk = |bytes| Disk { allocated_bytes: bytes, apparent_bytes: bytes, files: 1 };
            let compacted =
                ReclaimResult { by: "a copy".into(), disk: disk(full / 8), ..ReclaimResult::default() };
            let compacted = Some(compacted);
            let reclaim = SpaceReclaim { disk: disk(full), compacted, ..SpaceReclaim::default() };
            measured.space_reclaim = Some(reclaim);
        }
        run
    }

    fn describe_aging(overwritten: Option<&str>, life: &[Run]) -> Vec<String> {
        let fresh = run("box", &[Sample::new("lmdb").ns(1000.0), Sample::new("redb").ns(1500.0)]);
        describe_aging_with(overwritten, &[fresh], life)
    }

    fn describe_aging_with(overwritten: Option<&str>, runs: &[Run], life: &[Run]) -> Vec<String> {
        let every = overwritten.map(|text| text.parse().unwrap());
        let mut answer = advice(&Question { overwritten: every, ..question() }, runs).unwrap();
        answer.aged = aged(&answer, life);
        assert!(answer.text(None, Style { width: 100, colour: false }).contains("As it grows old"));
        describe(&answer)
    }

    #[test]
    fn a_store_that_still_grows_is_told_with_the_days_until_it_is_twice_as_large() {
        let lines = describe_aging(Some("1d"), &[life()]);
        let [_, line] = lines.as_slice() else { panic!("{lines:?}") };
        for expected in [
            "overwritten 10 times over: in the last tenth 0.526 times as fast as in the first",
            "longest pause 120 ms (measured once).",
            "at that pace they are twice as large after 12 days.",
            "it keeps 100 % of its files; a copy leaves 12.5 %.",
        ] {
            assert!(line.contains(expected), "{expected}: {line}");
        }
        let without = describe_aging(None, &[life()]);
        assert!(without[0].contains("after being overwritten 12."), "{without:?}");
    }

    #[test]
    fn records_that_were_overwritten_answer_who_overwrites_and_fresh_ones_who_does_not() {
        let fresh = run("box", &[Sample::new("lmdb").ns(1000.0), Sample::new("redb").ns(1500.0)]);
        let mut old = run("box", &[Sample::new("lmdb").ns(9000.0), Sample::new("redb").ns(3500.0)]);
        for trial in &mut old.trials {
            trial.cell.set(Axis::AGE, Axis::AGE.read("3").unwrap());
        }
        let best = |overwritten: Option<&str>, runs: &[Run]| {
            let overwritten = overwritten.map(|text| text.parse().unwrap());
            let answer = advice(&Question { overwritten, ..question() }, runs).unwrap();
            (answer.verdict.ranking[0].store.clone(), answer.age)
        };
        let runs = [fresh.clone(), old];
        assert_eq!(best(Some("1d"), &runs), ("redb".into(), 3));
        assert_eq!(best(None, &runs), ("lmdb".into(), 0));
        assert_eq!(best(Some("1d"), &runs[..1]), ("lmdb".into(), 0));
        assert_eq!(best(None, &runs[1..]), ("redb".into(), 3));
        let lines = describe_aging_with(Some("1d"), &runs, &[]);
        assert_eq!(lines[0], "The ranking is of records that had each been overwritten 3 times.");
        assert!(lines[1].contains("was not measured"), "{lines:?}");
        let lines = describe_aging_with(Some("1d"), &runs[..1], &[life()]);
        assert_eq!(lines[0], "The ranking is of a fresh database: these runs have no other that answers it.");
    }

    #[test]
    fn files_that_stay_have_no_day_and_what_gives_space_back_no_warning() {
        let mut life = life();
        let measured = life.trials[0].measured.as_mut().unwrap();
        measured.rounds.iter_mut().for_each(|round| round.disk.allocated_bytes = 4096);
        measured.space_reclaim.as_mut().unwrap().disk.allocated_bytes /= 2;
        let lines = describe_aging(Some("1d"), &[life]);
        assert!(lines[1].ends_with("Its files have no upward trend at the end."), "{lines:?}");
    }

    #[test]
    fn what_logs_or_closing_can_explain_has_no_day() {
        let mut life = life();
        let change = |life: &mut Run, change: fn(&mut Measurements)| {
            change(life.trials[0].measured.as_mut().unwrap());
            describe_aging(Some("1d"), std::slice::from_ref(life))[1].clone()
        };
        let little = change(&mut life, |measured| {
            measured.rounds.iter_mut().for_each(|round| round.operations[0].value_bytes = 1 << 20);
        });
        assert!(little.contains("were written meanwhile, so logs can be all of that."), "{little}");
        let cleared = change(&mut life, |measured| measured.disk.allocated_bytes /= 4);
        assert!(cleared.contains("closed, they take 25.0 % of that."), "{cleared}");
        assert!([little, cleared].iter().all(|line| !line.contains("twice as large")));
    }

    /// A warning from the documentation appears only without a measured figure.
    #[test]
    fn what_documentation_warns_of_is_said_of_the_best_where_it_was_not_measured() {
        const CAUTIONS: &[Caution] = &[
            Caution { of: AgingRisk::Space, says: "it keeps its pages", source: "a" },
            Caution { of: AgingRisk::Readers, says: "readers make it grow", source: "b" },
            Caution { of: AgingRisk::Waits, says: "writes may wait", source: "c" },
        ];
        let describe_aging = |life: &[Run], mix: &str| {
            let fresh = run("box", &[Sample::new("lmdb")]);
            let asked = Question { mix: mix.parse().unwrap(), ..question() };
            let mut answer = advice(&asked, &[fresh]).unwrap();
            answer.cautions = CAUTIONS;
            answer.aged = aged(&answer, life);
            describe(&answer)
        };
        let fresh = describe_aging(&[], "update=1");
        assert_eq!(fresh.len(), 4);
        assert_eq!(fresh[1], "lmdb, not measured here: it keeps its pages (source: a).");
        assert_eq!(describe_aging(&[], "get=1"), Vec::<String>::new());
        let alone = describe_aging(&[life()], "update=1");
        let [_, readers, waits] = alone.as_slice() else { panic!("{alone:?}") };
        assert!(readers.contains("readers") && waits.contains("may wait"), "{alone:?}");
        let mut stalled = life();
        let pauses = Pauses {
            after: Samples { count: 8, span_ns: 0 },
            upkeep: vec![UpkeepCount { work: WRITE_STALL.into(), after: 2, otherwise: 1 }],
            ..Pauses::default()
        };
        stalled.trials[0].measured.as_mut().unwrap().pauses = Some(pauses);
        let mut with_reader = stalled.trials[0].clone();
        with_reader.cell.set(Axis::READER, Axis::READER.read(HELD_READER).unwrap());
        with_reader.measured.as_mut().unwrap().rounds[9].disk.allocated_bytes *= 5;
        stalled.trials.insert(0, with_reader);
        // A store that was asked and reported none was measured, too.
        let mut quick = stalled.clone();
        for trial in &mut quick.trials {
            let pauses = trial.measured.as_mut().unwrap().pauses.as_mut();
            pauses.unwrap().upkeep[0] = UpkeepCount { work: WRITE_STALL.into(), after: 0, otherwise: 0 };
        }
        let lines = describe_aging(&[quick], "update=1");
        assert!(lines.len() == 1 && lines[0].contains("no write stall, asked 8 times"), "{lines:?}");
        let lines = describe_aging(&[stalled], "update=1");
        let [line] = lines.as_slice() else { panic!("{lines:?}") };
        assert!(line.contains("While a reader was held, its files were 20.0 times as large"), "{line}");
        assert!(line.contains("a write stall 3 of the 8 times"), "{line}");
    }

    #[test]
    fn an_answer_without_them_says_so_unless_nothing_is_written() {
        assert!(describe_aging(None, &[])[0].contains("--overwritten 1d"));
        assert!(describe_aging(Some("1d"), &[])[0].contains("did not let it grow old"));
        let fresh = run("box", &[Sample::new("lmdb")]);
        let reads = advice(&Question { mix: "get=1".parse().unwrap(), ..question() }, &[fresh]).unwrap();
        assert_eq!(describe(&reads), Vec::<String>::new());
        assert!(is_of_aging(&life()) && !is_of_aging(&run("box", &[])));
    }
}
