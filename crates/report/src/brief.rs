//! The end of a run in a few lines, before its tables: what to use, how sure that is, what to do next.

use std::collections::BTreeMap;
use std::time::Duration;

use storebench_core::units::{grouped, rough_duration};
use storebench_host::run::Run;

use crate::data::matrix::Matrix;
use crate::page;
use crate::report::Report;
use crate::terminal::grid::{Style, wrap};

/// Groups, such as guarantees, that are answered before the rest is only counted.
const ANSWERED: usize = 3;

/// Trials of the run that is named as the next, where this one has fewer.
const MANY: u32 = 7;

/// The lines, each ended, and an empty one; nothing where no two stores can be compared.
pub fn text(report: &Report<'_>, style: Style) -> String {
    let answers = page::answers(report);
    let matrices: Vec<&Matrix> = report.readable().iter().flatten().collect();
    let [decided, not_judged, all] = compared(&matrices);
    let (Some(run), true) = (report.merged.runs.first(), all > 0) else { return String::new() };
    let mut lines: Vec<String> =
        answers.iter().take(ANSWERED).map(|(name, answer)| format!("{name}: {answer}")).collect();
    if answers.len() > ANSWERED {
        lines.push(format!("And {} more, each with a table below.", answers.len() - ANSWERED));
    }
    let trials = Trials::of(run);
    lines.extend(matrices.iter().take(ANSWERED).flat_map(|matrix| {
        let at = if matrix.title.is_empty() { &matrix.hardware } else { &matrix.title };
        matrix.dangers.iter().map(move |danger| format!("Danger, {at}: {danger}"))
    }));
    lines.push(sure(decided, all - not_judged, &trials));
    lines.push(match not_judged {
        0 => next(&trials, decided < all),
        _ => "Next: the same with nothing else running.".to_owned(),
    });
    let lines: String = lines.iter().map(|line| wrap(line, style.width, "  ")).collect();
    format!("{lines}\n")
}

/// The comparisons in which one store is best, those that are not judged, and all that there are.
fn compared(matrices: &[&Matrix]) -> [usize; 3] {
    let contests = || matrices.iter().flat_map(|matrix| &matrix.rows).flat_map(|row| &row.contests);
    let held = contests().filter(|contest| contest.contenders.len() > 1);
    let decided = held.clone().filter(|contest| contest.is_decided());
    let not_judged = held.clone().filter(|contest| contest.is_not_judged());
    [decided.count(), not_judged.count(), held.count()]
}

/// The trials of a run's cells.
struct Trials {
    /// The fewest that a cell has, and the most.
    fewest: u32,
    most: u32,
    /// The time that one of each takes.
    one_of_each_s: f64,
}

impl Trials {
    fn of(run: &Run) -> Trials {
        let mut cells: BTreeMap<String, (u32, f64)> = BTreeMap::new();
        for trial in &run.trials {
            let (count, took_s) = cells.entry(trial.cell.id()).or_default();
            *count += 1;
            *took_s += trial.took_s();
        }
        let counts = || cells.values().map(|(count, _)| *count);
        Trials {
            fewest: counts().min().unwrap_or(0),
            most: counts().max().unwrap_or(0),
            one_of_each_s: cells.values().map(|(count, took_s)| took_s / f64::from(*count)).sum(),
        }
    }
}

fn sure(decided: usize, all: usize, trials: &Trials) -> String {
    let trials = match trials {
        Trials { fewest, most, .. } if fewest < most => format!("{fewest} to {most} trials"),
        Trials { most: 1, .. } => "1 trial".to_owned(),
        Trials { most, .. } => format!("{most} trials"),
    };
    let with = format!("with {trials} of each store");
    match (decided, all) {
        (_, 0) => "How sure: no store is named.".to_owned(),
        (0, _) if trials == "1 trial" => format!("How sure: {with} there are candidates, and no winner."),
        (0, 1) => format!("How sure: the best are too close to call {with}."),
        (_, 1) => format!("How sure: one store is best {with}, beyond what trials vary by."),
        (0, _) => {
            format!("How sure: in none of {} comparisons is one store best, {with}.", grouped(all as u64))
        }
        _ if decided == all => {
            format!("How sure: in all {} comparisons one store is best, {with}.", grouped(all as u64))
        }
        _ => format!(
            "How sure: in {} of {} comparisons one store is best, {with}; in the others the best are too close to call.",
            grouped(decided as u64),
            grouped(all as u64)
        ),
    }
}

/// The next step, and how long it takes by what this run's trials took.
fn next(trials: &Trials, is_open: bool) -> String {
    let advise = "storebench advise answers for your own records";
    if !is_open {
        return format!("Next: {advise}.");
    }
    let more = if trials.most < MANY { MANY } else { trials.most.saturating_mul(2) };
    let all_s = trials.one_of_each_s * f64::from(more);
    let time = Duration::try_from_secs_f64(all_s.round().max(1.0)).map(rough_duration);
    let time = time.map_or_else(|_| String::new(), |time| format!(" takes about {time} and"));
    format!("Next: the same with --trials {more}{time} tells closer stores apart; {advise}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::merge::Merged;
    use crate::data::samples::{Sample, blocks};

    fn told(count: usize, second: impl Fn(usize) -> f64) -> String {
        let block = |number| {
            let noise = [1.0, 1.02, 0.99, 1.01, 1.0][number % 5];
            vec![
                Sample::new("lmdb").ns(100_000.0 * noise),
                Sample::new("redb").ns(second(number)),
                Sample::new("sqlite").ns(900_000.0 / noise),
            ]
        };
        let run = blocks("box", &(0..count).map(block).collect::<Vec<_>>());
        let merged = Merged::new(std::slice::from_ref(&run), &[]);
        text(&Report::new(&merged), Style { width: 100, colour: false })
    }

    #[test]
    fn three_lines_say_what_to_use_how_sure_that_is_and_what_to_do_next() {
        let clear = told(5, |number| 200_000.0 + number as f64);
        let lines: Vec<&str> = clear.lines().collect();
        assert!(
            lines[0].starts_with("Guarantee process: lmdb is the best everywhere. Prefer lmdb for insert,"),
            "{clear}"
        );
        assert_eq!(
            lines[lines.len() - 3..],
            [
                "How sure: in all 6 comparisons one store is best, with 5 trials of each store.",
                "Next: storebench advise answers for your own records.",
                ""
            ]
        );
        assert!(clear.lines().all(|line| line.chars().count() <= 100), "{clear}");
        let open = told(2, |number| 101_000.0 + number as f64);
        assert!(
            open.contains("in none of 6 comparisons is one store best, with 2 trials of each store."),
            "{open}"
        );
        // 6 trials of 1.5 s in two blocks.
        assert!(open.contains("--trials 7 takes about 32 s and tells closer stores apart"), "{open}");
    }

    #[test]
    fn beside_other_programs_nothing_is_named_and_no_trials_are_advised() {
        let block = vec![Sample::new("lmdb"), Sample::new("redb").ns(1800.0)];
        let mut run = blocks("box", &vec![block; 3]);
        run.header.environment.cores = 2;
        run.trials.iter_mut().for_each(|trial| trial.others_processors = Some(1.8));
        let merged = Merged::new(std::slice::from_ref(&run), &[]);
        let told = text(&Report::new(&merged), Style { width: 200, colour: false });
        assert!(told.contains("Not judged: 4 of 6 comparisons, as other"), "not by time: {told}");
        assert!(told.contains("How sure: in all 2 comparisons one store is best, with 3"), "{told}");
        assert!(told.contains("Next: the same with nothing else running.") && !told.contains("--trials"));
        assert!(!told.contains("Prefer lmdb for insert"), "{told}");
    }

    #[test]
    fn stores_of_which_some_were_measured_more_often_are_told_so() {
        let mut block = |number: usize| {
            let noise = [1.0, 1.02, 0.99, 1.01, 1.0][number % 5];
            vec![Sample::new("lmdb").ns(100_000.0 * noise), Sample::new("redb").ns(101_000.0 / noise)]
        };
        let mut all: Vec<_> = (0..6).map(&mut block).collect();
        all.iter_mut().skip(3).for_each(|block| block.truncate(1));
        let run = blocks("box", &all);
        let merged = Merged::new(std::slice::from_ref(&run), &[]);
        let told = text(&Report::new(&merged), Style { width: 100, colour: false });
        assert!(told.contains("with 3 to 6 trials of each store"), "{told}");
        // One trial of each takes 2 x 1.5 s, whatever they had.
        assert!(told.contains("--trials 7 takes about 21 s"), "{told}");
    }

    #[test]
    fn where_nothing_is_compared_nothing_is_said() {
        let run = blocks("box", &[vec![Sample::new("lmdb")]]);
        let merged = Merged::new(std::slice::from_ref(&run), &[]);
        assert_eq!(text(&Report::new(&merged), Style { width: 100, colour: false }), "");
    }
}
