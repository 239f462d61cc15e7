//! Open loops that did not keep up: operations wait ever longer, so that latency depends on the run's length and is not ranked.

use indexmap::IndexMap;
use storebench_core::workload::replay::BEHIND_US;
use storebench_model::cell::{Cell, Rate};
use storebench_model::result::{Measurements, OVERALL, OperationResult};
use storebench_model::units::{three_digits, with_commas};

use super::merge::{Entry, Merged};
use super::summary::cut_off;

/// The share of its rate that an open loop must reach to count as keeping up.
const MIN_RATE_SHARE: f64 = 0.9;

/// The lateness at its end from which a replay is behind: a single slow operation at the end of a short trace is no sign of it.
const MIN_LATE_S: f64 = 0.1;

/// The reached and the required rate; `None` if the operation kept up, and in a closed loop, which has no required rate.
fn rates(cell: &Cell, measured: &Measurements, operation: &OperationResult) -> Option<(f64, f64)> {
    let (reached, required) = match cell.rate() {
        Rate::PerSecond(required) => (overall_rate(measured, operation)?, f64::from(required)),
        Rate::Closed => replay_rates(measured, operation)?,
    };
    (reached < MIN_RATE_SHARE * required).then_some((reached, required))
}

/// The same for a trace that was replayed at its times, as a whole; `None` if it did not end late.
fn replay_rates(measured: &Measurements, operation: &OperationResult) -> Option<(f64, f64)> {
    let statistic =
        |name: &str| measured.statistics.iter().find(|entry| entry.name == name)?.value.parse::<f64>().ok();
    let behind_s = statistic(BEHIND_US)? / 1e6;
    let played_s = operation.wall_ns as f64 / 1e9;
    let operations = measured.operations.iter().filter(|result| result.operation != OVERALL);
    let count = operations.map(|result| result.count).sum::<u64>() as f64;
    let lasts_s = played_s - behind_s;
    // Time by which its reader was late was removed from the schedule, and is no fault of the store.
    let late_s = behind_s - operation.rate_over_ns.map_or(0.0, |over_ns| played_s - over_ns as f64 / 1e9);
    (late_s >= MIN_LATE_S && lasts_s > 0.0).then(|| (count / (lasts_s + late_s), count / lasts_s))
}

/// Operations per second. If several kinds alternate, the required rate is that of all together: those of one phase
/// have the same wall time to the nanosecond.
fn overall_rate(measured: &Measurements, operation: &OperationResult) -> Option<f64> {
    if let Some(overall) = measured.operation(OVERALL) {
        return overall.per_second();
    }
    let phase = |result: &OperationResult| (result.wall_ns, result.rate_over_ns);
    let same_phase = measured.operations.iter().filter(|result| phase(result) == phase(operation));
    let count: u64 = same_phase.map(|result| result.count).sum();
    Some(operation.per_second()? * count as f64 / operation.count as f64)
}

/// Whether a trial's operation did not keep up with its rate.
pub fn fell_behind(cell: &Cell, measured: &Measurements, operation: &OperationResult) -> bool {
    rates(cell, measured, operation).is_some()
}

/// The reached and the required rate of a cell's trials, as `8,580/s of 20,000/s`; `None` if most kept up.
pub fn reached_rate(entries: &[Entry<'_>], operation: &str) -> Option<String> {
    let rates_of = |entry: &Entry<'_>| {
        let measured = entry.trial.ok()?;
        Some(rates(&entry.trial.cell, measured, measured.operation(operation)?))
    };
    let rates_by_trial: Vec<Option<(f64, f64)>> = entries.iter().filter_map(rates_of).collect();
    let rates_behind: Vec<(f64, f64)> = rates_by_trial.iter().copied().flatten().collect();
    let (slowest, required) = rates_behind.iter().copied().min_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (rates_behind.len() * 2 > rates_by_trial.len())
        .then(|| format!("{}/s of {}/s", three_digits(slowest), describe_rate(required)))
}

/// A line for each contestant and operation, over all required rates.
pub fn describe_saturation(merged: &Merged<'_>) -> Vec<String> {
    let mut rates_by_name: IndexMap<(String, &str), Vec<(f64, f64)>> = IndexMap::new();
    for trial in merged.runs.iter().flat_map(|run| &run.trials) {
        let Some(measured) = trial.ok() else { continue };
        for operation in &measured.operations {
            let Some((reached, required)) = rates(&trial.cell, measured, operation) else { continue };
            let contestant = merged.layout.contestant(&trial.cell).into_owned();
            rates_by_name.entry((contestant, &operation.operation)).or_default().push((reached, required));
        }
    }
    let line = |((store, operation), rates): (&(String, &str), &Vec<(f64, f64)>)| {
        format!("Saturated, latency not ranked: {operation} of {store}{}.", describe_rates(rates))
    };
    cut_off(rates_by_name.iter().map(line).collect(), "that are saturated")
}

fn describe_rate(rate: f64) -> String {
    if rate.fract() == 0.0 { with_commas(rate as u64) } else { three_digits(rate) }
}

/// The reached and the required rates, in words that follow a store's name.
fn describe_rates(rates: &[(f64, f64)]) -> String {
    let reached = || rates.iter().map(|(reached, _)| *reached);
    let required = || rates.iter().map(|(_, required)| *required);
    let (least, most) = (required().fold(f64::INFINITY, f64::min), required().fold(0.0, f64::max));
    let (least, most) = (describe_rate(least), describe_rate(most));
    let slowest = three_digits(reached().fold(f64::INFINITY, f64::min));
    let trials = if rates.len() == 1 { String::new() } else { format!(" in {} trials", rates.len()) };
    if least == most {
        let slowest = format!("{slowest}/s of {most}/s");
        return if trials.is_empty() {
            format!(" did {slowest}")
        } else {
            format!("{trials}, the slowest did {slowest}")
        };
    }
    let fastest = three_digits(reached().fold(0.0, f64::max));
    format!(", asked for {least}/s to {most}/s, did {slowest}/s to {fastest}/s{trials}")
}

#[cfg(test)]
mod tests {
    use storebench_model::axis::Value;
    use storebench_model::cell::Axis;
    use storebench_model::store::Setting;
    use storebench_samples::{Sample, blocks};

    use super::*;
    use crate::data::matrix::{AbsenceReason, matrices};

    #[test]
    fn what_does_not_keep_up_is_told_and_not_ranked() {
        let open_cell = Sample::new("lmdb").cell().with(Axis::RATE, Axis::RATE.read("20000/s").unwrap());
        let block = vec![Sample::new("lmdb"), Sample::new("redb")];
        let mut run = blocks("box", &[block.clone(), block.clone(), block]);
        for trial in &mut run.trials {
            let is_redb = trial.cell.store() == "redb";
            let store = Value::word(trial.cell.store());
            trial.cell = open_cell.clone().with(Axis::STORE, store);
            for operation in &mut trial.measured.as_mut().unwrap().operations {
                // A thousand operations: at 20,000/s they take 50 ms.
                let keeps_up = is_redb || operation.operation != "insert";
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
        assert_eq!(contest("insert"), (1, Some(AbsenceReason::Saturated)));
        assert_eq!(contest("get"), (2, None));
        assert_eq!(contest("memory"), (2, None));
        let figures: Vec<_> = ["insert", "get"].map(|figure| figure.parse().unwrap()).into();
        let pools = crate::data::findings::pools(&merged, &figures);
        let counted = |pool: usize| {
            let figures = pools[pool][0].cells.values().next().unwrap();
            figures.values().filter(|series| !series.is_empty()).count()
        };
        assert_eq!((counted(0), counted(1)), (1, 2), "claims rank no more than the matrix");
        let line =
            "Saturated, latency not ranked: insert of lmdb in 3 trials, the slowest did 8,580/s of 20,000/s.";
        assert_eq!(describe_saturation(&merged), [line]);
    }

    /// Of 1,000 operations in 50 ms, the store of samples, 200 are updates: 4,000/s of them, and 20,000/s of all.
    #[test]
    fn operations_that_come_in_turn_are_judged_together() {
        let mut run = blocks("box", &[vec![Sample::new("lmdb")]]);
        let trial = &mut run.trials[0];
        trial.cell = trial.cell.clone().with(Axis::RATE, Axis::RATE.read("20000/s").unwrap());
        let measured = trial.measured.as_mut().unwrap();
        measured.operations.truncate(2);
        for (operation, (count, wall_ns)) in measured.operations.iter_mut().zip([(800, 7), (200, 7)]) {
            (operation.count, operation.wall_ns, operation.rate_over_ns) = (count, wall_ns, Some(50_000_000));
        }
        let behind = |measured: &Measurements| {
            let behind = |operation| fell_behind(&trial.cell, measured, operation);
            measured.operations.iter().filter(|operation| behind(*operation)).count()
        };
        assert_eq!(behind(measured), 0);
        // In separate phases each would have to reach the rate.
        measured.operations[1].wall_ns = 8;
        assert_eq!(behind(measured), 2);
    }

    #[test]
    fn several_rates_are_told_in_one_line() {
        assert_eq!(describe_rates(&[(8580.0, 2e4)]), " did 8,580/s of 20,000/s");
        let several = describe_rates(&[(8580.0, 2e4), (9000.0, 8e4), (8000.0, 2e4)]);
        assert_eq!(several, ", asked for 20,000/s to 80,000/s, did 8,000/s to 9,000/s in 3 trials");
    }

    #[test]
    fn a_replay_that_ended_late_is_saturated() {
        let block = || vec![Sample::new("lmdb"), Sample::new("redb")];
        let mut run = blocks("box", &[block(), block(), block()]);
        for trial in &mut run.trials {
            let late_us = if trial.cell.store() == "lmdb" { 4_000_000 } else { 1_100_000 };
            let measured = trial.measured.as_mut().unwrap();
            measured.statistics.push(Setting::unverified(BEHIND_US, late_us));
            for operation in &mut measured.operations {
                // A second of its schedule stood still, as the trace was not read in time.
                (operation.wall_ns, operation.rate_over_ns) = (14_000_000_000, Some(13_000_000_000));
            }
        }
        let runs = [run];
        let merged = Merged::new(&runs, &[]);
        let matrix = &matrices(&merged)[0];
        for row in matrix.rows.iter().filter(|row| ["insert", "get"].contains(&row.figure.name.as_str())) {
            assert_eq!(row.contests[0].contenders.len(), 1, "redb is 0.1 s late in 12.9 s");
            assert_eq!(row.contests[0].absent[0].why, AbsenceReason::Saturated);
        }
        let lines = describe_saturation(&merged);
        // 4,000 operations in 10 s, and in 13 s of the schedule that continued.
        let ending = "insert of lmdb in 3 trials, the slowest did 308/s of 400/s.";
        assert!(lines.len() == 4 && lines[0].ends_with(ending), "{lines:?}");
    }

    #[test]
    fn what_ends_a_short_trace_is_no_sign() {
        let mut run = blocks("box", &[vec![Sample::new("lmdb")]]);
        let measured = run.trials[0].measured.as_mut().unwrap();
        measured.statistics.push(Setting::unverified(BEHIND_US, 90_000));
        measured.operations.iter_mut().for_each(|operation| operation.wall_ns = 250_000_000);
        assert_eq!(describe_saturation(&Merged::new(&[run], &[])), Vec::<String>::new());
    }
}
