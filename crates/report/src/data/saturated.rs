//! Open loops that were not kept up with. Their operations wait longer and longer for their turn: such a latency says how long
//! the run was, and is not ranked.

use indexmap::IndexMap;
use storebench_core::cell::{Cell, Rate};
use storebench_core::result::OperationResult;
use storebench_core::units::{grouped, three_digits};

use super::merge::{Entry, Merged};
use super::summary::LISTED;

/// The share of its rate that an open loop must reach to count as kept up with.
const KEPT_UP: f64 = 0.9;

/// The rate that was reached, and the one that was asked for; `None` where the first kept up with the second, and in a
/// closed loop, which asks for none.
fn rates(cell: &Cell, operation: &OperationResult) -> Option<(f64, u32)> {
    let Rate::PerSecond(asked) = cell.rate() else { return None };
    let reached = operation.per_second()?;
    (reached < KEPT_UP * f64::from(asked)).then_some((reached, asked))
}

/// Whether a trial's operation did not keep up with its rate.
pub fn fell_behind(cell: &Cell, operation: &OperationResult) -> bool {
    rates(cell, operation).is_some()
}

/// What some trials of one cell did of the rate asked for, as `8,580/s of 20,000/s`; `None` where most kept up.
pub fn of(entries: &[Entry<'_>], operation: &str) -> Option<String> {
    let all = || entries.iter().filter_map(|entry| Some((entry, entry.trial.ok()?.operation(operation)?)));
    let behind: Vec<(f64, u32)> = all().filter_map(|(entry, done)| rates(&entry.trial.cell, done)).collect();
    let (slowest, asked) = behind.iter().copied().min_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (behind.len() * 2 > all().count())
        .then(|| format!("{}/s of {}/s", three_digits(slowest), grouped(asked.into())))
}

/// What to say of them: a line for each contestant and operation, over all rates that were asked for.
pub fn lines(merged: &Merged<'_>) -> Vec<String> {
    let mut found: IndexMap<(String, &str), Vec<(f64, u32)>> = IndexMap::new();
    for trial in merged.runs.iter().flat_map(|run| &run.trials) {
        for operation in trial.ok().into_iter().flat_map(|measured| &measured.operations) {
            let Some((reached, asked)) = rates(&trial.cell, operation) else { continue };
            let contestant = merged.layout.contestant(&trial.cell).into_owned();
            found.entry((contestant, &operation.operation)).or_default().push((reached, asked));
        }
    }
    let line = |((store, operation), rates): (&(String, &str), &Vec<(f64, u32)>)| {
        format!("Saturated, latency not ranked: {operation} of {store}{}.", in_words(rates))
    };
    let mut lines: Vec<String> = found.iter().take(LISTED).map(line).collect();
    if found.len() > LISTED {
        lines.push(format!("And {} more that are saturated.", found.len() - LISTED));
    }
    lines
}

/// What was reached of what was asked for, in words that follow a store's name.
fn in_words(rates: &[(f64, u32)]) -> String {
    let reached = || rates.iter().map(|(reached, _)| *reached);
    let asked = || rates.iter().map(|(_, asked)| *asked);
    let (Some(least), Some(most)) = (asked().min(), asked().max()) else { return String::new() };
    let slowest = three_digits(reached().fold(f64::INFINITY, f64::min));
    let trials = if rates.len() == 1 { String::new() } else { format!(" in {} trials", rates.len()) };
    if least == most {
        let slowest = format!("{slowest}/s of {}/s", grouped(most.into()));
        return if trials.is_empty() {
            format!(" did {slowest}")
        } else {
            format!("{trials}, the slowest did {slowest}")
        };
    }
    let fastest = three_digits(reached().fold(0.0, f64::max));
    let (least, most) = (grouped(least.into()), grouped(most.into()));
    format!(", asked for {least}/s to {most}/s, did {slowest}/s to {fastest}/s{trials}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::matrix::{Why, matrices};
    use crate::data::samples::{Sample, blocks};

    #[test]
    fn what_does_not_keep_up_is_told_and_not_ranked() {
        let asked = Sample::new("lmdb").cell().with(
            storebench_core::cell::Axis::RATE,
            storebench_core::cell::Axis::RATE.read("20000/s").unwrap(),
        );
        let block = vec![Sample::new("lmdb"), Sample::new("redb")];
        let mut run = blocks("box", &[block.clone(), block.clone(), block]);
        for trial in &mut run.trials {
            let store = trial.cell.store() == "lmdb";
            trial.cell = asked.clone().with(
                storebench_core::cell::Axis::STORE,
                storebench_core::axis::Value::word(if store { "lmdb" } else { "redb" }),
            );
            for operation in &mut trial.measured.as_mut().unwrap().operations {
                // A thousand operations: at 20,000/s they take 50 ms.
                let keeps_up = !store || operation.operation != "insert";
                operation.rate_over_ns = Some(if keeps_up { 50_000_000 } else { 116_550_000 });
            }
        }
        let runs = [run];
        let merged = Merged::new(&runs, &[]);
        let matrix = &matrices(&merged)[0];
        let contest = |name: &str| {
            let row = matrix.rows.iter().find(|row| row.figure.name == name).unwrap();
            (row.contests[0].contenders.len(), row.contests[0].absent.first().map(|absent| absent.why))
        };
        assert_eq!(contest("insert"), (1, Some(Why::Saturated)));
        assert_eq!(contest("get"), (2, None));
        assert_eq!(contest("memory"), (2, None));
        let figures: Vec<_> = ["insert", "get"].map(|figure| figure.parse().unwrap()).into();
        let pools = crate::data::findings::pools(&merged, &figures);
        let counted = |pool: usize| {
            let figures = pools[pool][0].cells.values().next().unwrap();
            figures.values().filter(|series| !series.is_empty()).count()
        };
        assert_eq!((counted(0), counted(1)), (1, 2), "claims rank no more than the matrix");
        assert_eq!(
            lines(&merged),
            [
                "Saturated, latency not ranked: insert of lmdb in 3 trials, the slowest did 8,580/s of 20,000/s."
            ]
        );
    }

    #[test]
    fn several_rates_are_told_in_one_line() {
        assert_eq!(in_words(&[(8580.0, 20_000)]), " did 8,580/s of 20,000/s");
        assert_eq!(
            in_words(&[(8580.0, 20_000), (9000.0, 80_000), (8000.0, 20_000)]),
            ", asked for 20,000/s to 80,000/s, did 8,000/s to 9,000/s in 3 trials"
        );
    }

    #[test]
    fn a_closed_loop_is_never_saturated() {
        let runs = [crate::data::samples::study()];
        assert_eq!(lines(&Merged::new(&runs, &[])), Vec::<String>::new());
    }
}
