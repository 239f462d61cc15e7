//! The best stores as their records are overwritten again and again.

use std::time::Duration;

use storebench_core::cell::{Axis, Cell};
use storebench_core::plan::Plan;
use storebench_core::result::{Measured, OVERALL, Run};
use storebench_core::units::{Period, counted, rough_duration, three_digits};

use super::answer::Advice;
use super::ratios::times_measured;
use crate::column::Unit;
use crate::data::merge::{Entry, measured};
use crate::data::rounds::{self, Figure};
use crate::stats::trend::Trend;

/// The study whose trials show that.
pub const STUDY: &str = "life";

/// Any record is overwritten, each as likely as any other.
pub const CHURN: &str = "uniform";

/// The times that each record is overwritten before the operations by which the stores are ranked.
pub const TIMES: u64 = 3;

/// From this share of their size on files count as kept when nine tenths of the records are removed.
const KEPT: f64 = 0.9;

/// A store whose records were overwritten many times.
#[derive(Debug, Clone, PartialEq)]
pub struct Aged {
    store: String,
    records: u64,
    trials: usize,
    /// The times that all records were overwritten, and the rounds of that.
    turnover: f64,
    rounds: usize,
    /// Operations per second in the last round over those in the first.
    speed: f64,
    /// The files after the last round over those after the first, where that can be told.
    growth: Option<f64>,
    longest_ns: u64,
    /// The files' trend over the last rounds.
    files: Option<Trend>,
    /// The files with a tenth of the records left, over those before.
    left: Option<f64>,
    /// The same after the engine gave space back in its own way, and which.
    given_back: Option<(f64, String)>,
}

/// Whether a run is of that study.
pub fn is_of_aging(run: &Run) -> bool {
    Plan::parse(&run.header.plan, "a run").is_ok_and(|plan| plan.workload.to_string() == STUDY)
}

/// The ranked stores, the best first, in runs of that study on the answer's machine with records like the question's, however many: each
/// says how many it had.
pub fn aged(advice: &Advice, runs: &[Run]) -> Vec<Aged> {
    let ranked = advice.verdict.ranking.iter();
    ranked.filter_map(|candidate| of_store(&candidate.store, advice, runs)).collect()
}

fn of_store(store: &str, advice: &Advice, runs: &[Run]) -> Option<Aged> {
    let question = &advice.question;
    let is_asked = |cell: &Cell| {
        cell.store() == store
            && cell.record_size() == question.size
            && cell.data() == question.data
            && cell.machine() == question.machine
            && cell.guarantee().tier() >= Some(question.guarantee)
            && cell.text(Axis::CHURN) == CHURN
            && !matches!(cell.text(Axis::READER), "held" | "backup")
            && cell.text(Axis::WRITER) != "batch"
            && cell.text(Axis::GIVING_BACK) != "beside"
            && cell.threads() == 1
    };
    let trials = runs.iter().enumerate().filter(|(_, run)| run.header.hardware == advice.hardware);
    let trials = trials.flat_map(|(run, of)| of.trials.iter().map(move |trial| Entry { run, trial }));
    let mut entries: Vec<Entry<'_>> = trials.filter(|entry| is_asked(&entry.trial.cell)).collect();
    // Those of one cell: the first.
    let cell = entries.first()?.trial.cell.clone();
    entries.retain(|entry| entry.trial.cell == cell);
    let all: Vec<&Measured> = measured(&entries).into_iter().map(|(_, measured)| measured).collect();
    let first = *all.first()?;
    let updates: u64 = first.rounds.iter().filter_map(|round| Some(round.operation("update")?.count)).sum();
    let space = all.iter().find_map(|one| space(one));
    let last_over_first = |figure| Some(rounds::last_over_first(&entries, figure)?.mean.value);
    Some(Aged {
        store: store.to_owned(),
        records: first.stored.records,
        trials: all.len(),
        turnover: updates as f64 / first.stored.records.max(1) as f64,
        rounds: first.rounds.len(),
        speed: last_over_first(Figure::Speed)?,
        growth: last_over_first(Figure::Files),
        longest_ns: all.iter().filter_map(|one| Some(one.operation(OVERALL)?.latency.max_ns)).max()?,
        files: rounds::trend(&all, Figure::Files),
        left: space.as_ref().map(|(left, _)| *left),
        given_back: space.and_then(|(_, given)| given),
    })
}

/// The files after most records were removed, and after the engine gave space back, over those before.
fn space(measured: &Measured) -> Option<(f64, Option<(f64, String)>)> {
    let back = measured.giving_back.as_ref()?;
    let full = Some(measured.disk.allocated_bytes as f64).filter(|full| *full > 0.0)?;
    let given = back.compacted.as_ref().map(|by| (by.disk.allocated_bytes as f64 / full, by.by.clone()));
    Some((back.disk.allocated_bytes as f64 / full, given))
}

/// In sentences, a line for each store; one line where there is none.
pub fn lines(advice: &Advice) -> Vec<String> {
    let (age, every) = (advice.age, advice.question.overwritten);
    let writes = advice.question.mix.writes();
    let ranking = match age {
        0 if every.is_none() || !writes || advice.aged.is_empty() => None,
        0 => Some("The ranking is of a fresh database: these runs have no other that answers it.".into()),
        times => Some(format!("The ranking is of records that had each been overwritten {times} times.")),
    };
    let later = match (advice.aged.as_slice(), every) {
        _ if !writes => Vec::new(),
        ([], None) if age > 0 => vec!["--overwritten 1d measures how the best change when they are overwritten again and again.".into()],
        ([], None) => vec!["All figures are of a fresh database; --overwritten 1d measures how it ages.".into()],
        ([], Some(_)) if age > 0 => vec![
            "How the best change when they are overwritten again and again was not measured.".into(),
        ],
        ([], Some(_)) => vec![
            "All figures are of a fresh database: these runs did not let it grow old. Measure it without --from.".into(),
        ],
        (aged, every) => aged.iter().map(|store| line(store, every)).collect(),
    };
    ranking.into_iter().chain(later).collect()
}

fn line(aged: &Aged, every: Option<Period>) -> String {
    let percent = |share: f64| format!("{} %", three_digits(100.0 * share));
    let files = aged
        .growth
        .map_or_else(String::new, |times| format!(", files {} times as large", three_digits(times)));
    let mut line = format!(
        "{}, {} overwritten {} times over: in the last tenth {} times as fast as in the first{files}; longest pause {} ({}).",
        aged.store,
        counted(aged.records, "record"),
        Unit::Count.show(aged.turnover),
        three_digits(aged.speed),
        Unit::Nanoseconds.show(aged.longest_ns as f64),
        times_measured(aged.trials),
    );
    line += &aged.files.map_or_else(String::new, |files| trend(aged, files, every));
    if let Some(left) = aged.left.filter(|left| *left >= KEPT) {
        line += &format!(" With nine tenths of its records removed it keeps {} of its files", percent(left));
        line += &match &aged.given_back {
            Some((given, by)) => format!("; {by} leaves {}.", percent(*given)),
            None => ".".into(),
        };
    }
    line
}

/// Whether the files still grow, and when they will be twice as large.
fn trend(aged: &Aged, files: Trend, every: Option<Period>) -> String {
    if !files.is_told || files.per_step <= 0.0 {
        return " Its files have no upward trend at the end.".into();
    }
    let turnovers = aged.turnover / aged.rounds.max(1) as f64 / files.per_step;
    let when = match every {
        Some(Period(every)) => format!("after {}", long(every.mul_f64(turnovers))),
        None => format!("after being overwritten {} times more", three_digits(turnovers)),
    };
    format!(" Its files still grow at the end: at that pace they are twice as large {when}.")
}

/// `3 days`, or a shorter time as elsewhere.
fn long(duration: Duration) -> String {
    match duration.as_secs() / 86_400 {
        0 | 1 => rough_duration(duration),
        days => counted(days, "day"),
    }
}

#[cfg(test)]
mod tests {
    use storebench_core::plan;
    use storebench_core::result::{Compacted, Disk, GivingBack};

    use super::super::question::Question;
    use super::super::tests::{advice, question};
    use super::*;
    use crate::data::samples::{Sample, blocks, run};
    use crate::terminal::grid::Style;

    /// A run of that study in which each round takes a tenth of the first longer and leaves 20,000 bytes more.
    fn life() -> Run {
        let mut run = blocks("box", &[vec![Sample::new("lmdb").ns(1000.0).rounds(10)]]);
        run.header.plan = plan::find(STUDY).unwrap().to_toml().unwrap();
        for trial in &mut run.trials {
            trial.cell = trial.cell.clone().with(Axis::CHURN, Axis::CHURN.read(CHURN).unwrap());
            let measured = trial.measured.as_mut().unwrap();
            let mut of = measured.rounds[0].operations[0].clone();
            for round in &mut measured.rounds {
                round.operations.truncate(1);
                round.operations[0].operation = "update".into();
                round.operations[0].count = measured.stored.records;
            }
            of.operation = OVERALL.into();
            of.latency.max_ns = 120_000_000;
            measured.operations = vec![of];
            let full = measured.disk.allocated_bytes;
            let disk = |bytes| Disk { allocated_bytes: bytes, apparent_bytes: bytes, files: 1 };
            let compacted = Compacted { by: "a copy".into(), disk: disk(full / 8), ..Compacted::default() };
            measured.giving_back =
                Some(GivingBack { disk: disk(full), compacted: Some(compacted), ..GivingBack::default() });
        }
        run
    }

    fn answered(overwritten: Option<&str>, life: &[Run]) -> Vec<String> {
        let fresh = run("box", &[Sample::new("lmdb").ns(1000.0), Sample::new("redb").ns(1500.0)]);
        answered_by(overwritten, &[fresh], life)
    }

    fn answered_by(overwritten: Option<&str>, runs: &[Run], life: &[Run]) -> Vec<String> {
        let every = overwritten.map(|text| text.parse().unwrap());
        let mut answer = advice(&Question { overwritten: every, ..question() }, runs).unwrap();
        answer.aged = aged(&answer, life);
        assert!(answer.text(None, Style { width: 100, colour: false }).contains("As it grows old"));
        lines(&answer)
    }

    #[test]
    fn a_store_that_still_grows_is_told_with_the_days_until_it_is_twice_as_large() {
        let lines = answered(Some("1d"), &[life()]);
        let [_, line] = lines.as_slice() else { panic!("{lines:?}") };
        for says in [
            "overwritten 10 times over: in the last tenth 0.526 times as fast as in the first",
            "longest pause 120 ms (measured once).",
            "at that pace they are twice as large after 12 days.",
            "it keeps 100 % of its files; a copy leaves 12.5 %.",
        ] {
            assert!(line.contains(says), "{says}: {line}");
        }
        let without = answered(None, &[life()]);
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
        let both = [fresh.clone(), old];
        assert_eq!(best(Some("1d"), &both), ("redb".into(), 3));
        assert_eq!(best(None, &both), ("lmdb".into(), 0));
        assert_eq!(best(Some("1d"), &both[..1]), ("lmdb".into(), 0));
        assert_eq!(best(None, &both[1..]), ("redb".into(), 3));
        let told = answered_by(Some("1d"), &both, &[]);
        assert_eq!(told[0], "The ranking is of records that had each been overwritten 3 times.");
        assert!(told[1].contains("was not measured"), "{told:?}");
        let told = answered_by(Some("1d"), &both[..1], &[life()]);
        assert_eq!(told[0], "The ranking is of a fresh database: these runs have no other that answers it.");
    }

    #[test]
    fn files_that_stay_have_no_day_and_what_gives_space_back_no_warning() {
        let mut life = life();
        let measured = life.trials[0].measured.as_mut().unwrap();
        measured.rounds.iter_mut().for_each(|round| round.disk.allocated_bytes = 4096);
        measured.giving_back.as_mut().unwrap().disk.allocated_bytes /= 2;
        let lines = answered(Some("1d"), &[life]);
        assert!(lines[1].ends_with("Its files have no upward trend at the end."), "{lines:?}");
    }

    #[test]
    fn an_answer_without_them_says_so_unless_nothing_is_written() {
        assert!(answered(None, &[])[0].contains("--overwritten 1d"));
        assert!(answered(Some("1d"), &[])[0].contains("did not let it grow old"));
        let fresh = run("box", &[Sample::new("lmdb")]);
        let reads = advice(&Question { mix: "get=1".parse().unwrap(), ..question() }, &[fresh]).unwrap();
        assert_eq!(lines(&reads), Vec::<String>::new());
        assert!(is_of_aging(&life()) && !is_of_aging(&run("box", &[])));
    }
}
