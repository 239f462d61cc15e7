//! JSON for services that follow figures from commit to commit.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::column::{COLUMNS, Column, MEAN_LATENCY};
use crate::compare::FIGURES;
use crate::data::by_cell::{OfCell, cells};
use crate::data::merge::Merged;
use crate::stats::{Better, Estimate};

/// Bencher takes names of benchmarks up to this many characters.
const LONGEST_NAME: usize = 1024;

/// A figure of a cell.
struct Figure<'a> {
    of_cell: &'a OfCell<'a>,
    operation: Option<&'a str>,
    column: &'static Column,
    mean: Estimate,
    trials: usize,
}

/// The figures that `storebench compare` looks at, and those of `more`, of all cells but those of the harness's own stores.
fn figures<'a>(merged: &Merged<'_>, all: &'a [OfCell<'a>], more: &[&str]) -> Vec<Figure<'a>> {
    let columns: Vec<&'static Column> =
        COLUMNS.iter().filter(|column| FIGURES.contains(&column.id) || more.contains(&column.id)).collect();
    let mut figures = Vec::new();
    for of_cell in all.iter().filter(|of_cell| !merged.is_harness(of_cell.cell.store())) {
        let mut add = |operation: Option<&'a str>, column: &'static Column| {
            if let Some(summary) = of_cell.summary(operation.unwrap_or_default(), column) {
                figures.push(Figure {
                    of_cell,
                    operation,
                    column,
                    mean: summary.mean,
                    trials: summary.trials,
                });
            }
        };
        for operation in of_cell.operations() {
            columns.iter().filter(|c| c.is_of_operation()).for_each(|column| add(Some(operation), column));
        }
        columns.iter().filter(|c| !c.is_of_operation()).for_each(|column| add(None, column));
    }
    figures
}

/// The name of what is measured: the cell's id, where it matters the machine, the tier that was given and in what the method
/// differs, and the operation.
fn benchmark(figure: &Figure<'_>, several: bool) -> String {
    let of_cell = figure.of_cell;
    let mut name = if several { format!("{}: ", of_cell.hardware) } else { String::new() };
    name.push_str(&of_cell.cell.id());
    if let Some(tier) = of_cell.tier.filter(|tier| of_cell.cell.guarantee().tier() != Some(*tier)) {
        name.push_str(&format!(" ({tier})"));
    }
    if !of_cell.method.is_empty() {
        name.push_str(&format!(" [{}]", of_cell.method));
    }
    if let Some(operation) = figure.operation {
        name.push_str(&format!(" {operation}"));
    }
    name
}

fn several_machines(all: &[OfCell<'_>]) -> bool {
    all.windows(2).any(|pair| pair[0].hardware != pair[1].hardware)
}

#[derive(Serialize)]
struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

/// Writes Bencher Metric Format: by benchmark and measure a value, with the ends of its interval. The mean latency goes to
/// Bencher's own measure `latency`, operations per second to its `throughput`; the others have the columns' names.
///
/// # Errors
/// The writer's errors.
pub fn bencher(merged: &Merged<'_>, out: &mut dyn Write) -> io::Result<()> {
    let all = cells(merged);
    let several = several_machines(&all);
    let mut document: BTreeMap<String, BTreeMap<String, Metric>> = BTreeMap::new();
    for figure in figures(merged, &all, &["throughput"]) {
        let interval = figure.mean.interval;
        let metric = Metric {
            value: figure.mean.value,
            lower_value: interval.map(|interval| interval.low),
            upper_value: interval.map(|interval| interval.high),
        };
        let measure = match figure.column.id {
            id if id == MEAN_LATENCY.id => "latency".into(),
            id => id.replace('_', "-"),
        };
        let name: String = benchmark(&figure, several).chars().take(LONGEST_NAME).collect();
        document.entry(name).or_default().insert(measure, metric);
    }
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
}

#[derive(Serialize)]
struct Entry {
    name: String,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

/// Writes github-action-benchmark's `customSmallerIsBetter`: a list of names, units and values, with the larger side of
/// the interval as the range.
///
/// # Errors
/// The writer's errors.
pub fn smaller_is_better(merged: &Merged<'_>, out: &mut dyn Write) -> io::Result<()> {
    let all = cells(merged);
    let several = several_machines(&all);
    let entry = |figure: Figure<'_>| {
        let mean = figure.mean;
        let side = mean.interval.map(|i| (i.high - mean.value).max(mean.value - i.low));
        let version = figure.of_cell.version().unwrap_or("unknown");
        Entry {
            name: format!("{}: {}", benchmark(&figure, several), figure.column.title),
            unit: figure.column.unit.name(),
            value: mean.value,
            range: side.map(|side| format!("± {side}")),
            extra: format!(
                "hardware: {}\nversion: {version}\ntrials: {}",
                figure.of_cell.hardware, figure.trials
            ),
        }
    };
    let figures = figures(merged, &all, &[]).into_iter();
    let lower = figures.filter(|figure| figure.column.better == Better::Lower);
    serde_json::to_writer_pretty(&mut *out, &lower.map(entry).collect::<Vec<_>>())?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use storebench_core::result::{Run, TrialResult};
    use storebench_core::store::Guarantee;

    use super::*;
    use crate::data::samples::{Sample, blocks, run};

    type Form = fn(&Merged<'_>, &mut dyn Write) -> io::Result<()>;

    fn written(form: Form, runs: &[Run]) -> Value {
        let mut out = Vec::new();
        form(&Merged::new(runs, &["null"]), &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    fn two_trials() -> Run {
        blocks("box", &[1000.0, 1100.0].map(|ns| vec![Sample::new("lmdb").ns(ns), Sample::new("null")]))
    }

    const CELL: &str = "lmdb/1B..1KiB/100..500/incompressible/process";

    #[test]
    fn two_trials_have_their_range() {
        let latency = |ns: f64| Sample::new("lmdb").ns(ns);
        let run = blocks("box", &[vec![latency(1000.0)], vec![latency(1e9)]]);
        let metric = &written(bencher, &[run])[&format!("{CELL} insert")]["latency"];
        let end = |name: &str| metric[name].as_f64().unwrap();
        assert_eq!((end("lower_value"), end("upper_value")), (1000.0, 1e9));
    }

    #[test]
    fn bencher_gets_values_with_their_intervals() {
        let mut twice = two_trials();
        twice.trials.extend(
            two_trials().trials.into_iter().map(|trial| TrialResult { block: trial.block + 2, ..trial }),
        );
        let document = written(bencher, &[twice]);
        let benchmarks: Vec<&String> = document.as_object().unwrap().keys().collect();
        let expected =
            ["", " get", " insert", " remove", " update"].map(|operation| format!("{CELL}{operation}"));
        assert_eq!(benchmarks, expected.iter().collect::<Vec<_>>());
        let insert = &document[&format!("{CELL} insert")];
        let measures: Vec<&String> = insert.as_object().unwrap().keys().collect();
        assert_eq!(measures, ["latency", "latency-p99", "throughput"]);
        let latency = |name: &str| insert["latency"][name].as_f64().unwrap();
        assert!((latency("value") - 1048.8).abs() < 0.1);
        assert!(latency("lower_value") < 1000.0 && latency("upper_value") > 1100.0);
        let measures: Vec<&String> = document[CELL].as_object().unwrap().keys().collect();
        assert_eq!(measures, ["disk-allocated", "load-time", "memory-peak-above-base"]);
        // Slugs are limited to 64 characters, names to 1024.
        let long = written(bencher, &[run("box", &[Sample::new(&"x".repeat(2000))])]);
        assert!(long.as_object().unwrap().keys().all(|name| name.chars().count() <= 1024));
    }

    #[test]
    fn without_a_second_trial_there_is_no_interval() {
        let runs = [run("box", &[Sample::new("lmdb")])];
        let metric = &written(bencher, &runs)[&format!("{CELL} get")]["latency"];
        assert_eq!(metric.as_object().unwrap().len(), 1);
        assert!(written(smaller_is_better, &runs)[0].get("range").is_none());
    }

    #[test]
    fn smaller_is_better_lists_what_is() {
        let list = written(smaller_is_better, &[two_trials()]);
        let list = list.as_array().unwrap();
        assert_eq!(list.len(), 4 * 2 + 3);
        assert_eq!(list[0]["name"], format!("{CELL} insert: mean"));
        assert_eq!((&list[0]["unit"], list[0]["value"].is_number()), (&"ns".into(), true));
        assert!(list[0]["range"].as_str().unwrap().starts_with("± "));
        assert_eq!(list[0]["extra"], "hardware: box\nversion: 1.2.3\ntrials: 2");
        let names: std::collections::BTreeSet<&str> =
            list.iter().map(|entry| entry["name"].as_str().unwrap()).collect();
        assert_eq!(names.len(), list.len());
    }

    #[test]
    fn machines_and_tiers_are_told_apart() {
        let default = |tier| Sample::new("sqlite").guarantee("default").tier(tier);
        let runs = [run("a", &[default(Guarantee::Power)]), run("b", &[default(Guarantee::Process)])];
        let document = written(bencher, &runs);
        let names: Vec<&String> = document.as_object().unwrap().keys().collect();
        assert!(
            names.iter().any(|name| name.starts_with("a: ") && name.contains("default (power)")),
            "{names:?}"
        );
        assert_eq!(names.len(), 10);
    }
}
