//! What the page has no figures for, and what casts doubt on those it has.

use super::markup::{escape, list};
use crate::cell::{Background, Cache, Data, Rate, Tuning};
use crate::report::column::COLUMNS;
use crate::report::matrix::Matrix;
use crate::report::merge::Merged;
use crate::report::scope;
use crate::report::summary::{self, Lists};
use crate::result::{Measured, TrialResult};
use crate::stats::MIN_BLOCKS;
use crate::units::{grouped, rough_ns, three_digits};

/// Kinds that are listed before the rest is only counted.
const LISTED: usize = 40;

/// The section's content.
pub fn html(merged: &Merged<'_>, matrices: &[Option<Matrix>]) -> String {
    let missing = summary::missing(merged, matrices.iter().flatten());
    let mut out = format!("<p>{}</p>", escape(&summary::counts(merged)));
    out.push_str(&block("Doubts", &doubts(merged)));
    let scope: Vec<String> = scope::notes(merged).iter().map(|note| escape(note)).collect();
    out.push_str(&block("What the figures are of", &scope));
    out.push_str(&lists("Failed trials", "trials", &missing.failed));
    out.push_str(&lists("Unsupported", "trials", &missing.unsupported));
    out.push_str(&lists("Left out", "combinations", &missing.left_out));
    out.push_str(&lists("Not run", "combinations", &missing.not_run));
    out.push_str(&block("Not measured in this run", &not_measured(merged)));
    out
}

fn block(title: &str, items: &[String]) -> String {
    if items.is_empty() { String::new() } else { format!("<h3>{title}</h3>{}", list(items)) }
}

fn lists(title: &str, unit: &str, lists: &Lists) -> String {
    let mut items: Vec<String> = lists
        .iter()
        .take(LISTED)
        .map(|(what, alike)| {
            let what = escape(what);
            match (alike.times, escape(&alike.example).as_str()) {
                (_, "") => what,
                (1, example) => format!("{what} <small>({example})</small>"),
                (times, example) => {
                    format!("{what} <small>({} {unit}; first: {example})</small>", grouped(times as u64))
                }
            }
        })
        .collect();
    if lists.len() > LISTED {
        items.push(format!("and {} more kinds, in the data", grouped((lists.len() - LISTED) as u64)));
    }
    block(title, &items)
}

fn trials<'a>(merged: &'a Merged<'_>) -> impl Iterator<Item = &'a TrialResult> {
    merged.runs.iter().flat_map(|run| &run.trials)
}

fn measured<'a>(merged: &'a Merged<'_>) -> impl Iterator<Item = &'a Measured> {
    trials(merged).filter_map(TrialResult::ok)
}

/// What a careful reader should know before believing the figures. Each is HTML.
fn doubts(merged: &Merged<'_>) -> Vec<String> {
    let mut all: Vec<String> = summary::noise_lines(merged).iter().map(|line| escape(line)).collect();
    for run in merged.runs {
        let cores = run.header.environment.cores;
        let busy =
            run.trials.iter().filter(|trial| trial.load_1min.is_some_and(|load| load > f64::from(cores)));
        let busy = busy.count();
        if busy > 0 {
            all.push(format!(
                "{}: {busy} of {} trials began with a load average above the number of processors ({cores}); part of that may be the run itself",
                escape(&run.header.hardware),
                run.trials.len()
            ));
        }
        let creation: Vec<f64> =
            run.trials.iter().filter_map(|trial| trial.file_creation_ns).map(|ns| ns as f64).collect();
        let (low, high) =
            creation.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), ns| (l.min(*ns), h.max(*ns)));
        if high > 5.0 * low {
            all.push(format!(
                "{}: making an empty file took from {} to {} before the trials: the file system was not always equally quick",
                escape(&run.header.hardware),
                rough_ns(low),
                rough_ns(high)
            ));
        }
    }
    let idle =
        trials(merged).filter_map(|trial| trial.background.as_ref()).filter(|b| b.at_work_share < 0.99);
    let idle = idle.count();
    if idle > 0 {
        all.push(format!("The background load was not at work throughout {idle} trials"));
    }
    let blocks = trials(merged).map(|trial| trial.block as usize + 1).max().unwrap_or(0);
    if merged.runs.len() == 1 && (1..MIN_BLOCKS).contains(&blocks) {
        all.push(format!(
            "There {} only {blocks} trial{} of each cell: figures within 5 % of the best count as too close to call, and nothing is known of how much they vary",
            if blocks == 1 { "is" } else { "are" },
            if blocks == 1 { "" } else { "s" }
        ));
    }
    let shared = measured(merged).filter_map(|m| m.device.as_ref()).filter(|device| device.shared);
    let idle_rate = shared.filter_map(|device| device.idle_written_bytes_per_s).reduce(f64::max);
    if let Some(rate) = idle_rate.filter(|rate| *rate > 0.0) {
        all.push(format!(
            "The device's traffic is the whole disk's; others wrote up to {} MB/s in the idle intervals before the trials",
            three_digits(rate / 1e6)
        ));
    }
    all
}

/// Axes and figures that this run says nothing about.
fn not_measured(merged: &Merged<'_>) -> Vec<String> {
    let cells: Vec<_> = trials(merged).map(|trial| &trial.cell).collect();
    let mut all: Vec<String> = Vec::new();
    let mut unless = |known: bool, what: &str| {
        if !known {
            all.push(what.to_owned());
        }
    };
    unless(
        cells.iter().any(|c| c.background != Background::None),
        "figures beside a background load (axis background)",
    );
    unless(cells.iter().any(|c| c.threads > 1), "several threads (axis threads)");
    unless(
        cells.iter().any(|c| c.rate != Rate::Closed),
        "latency at a fixed rate, where stalls land in the tail (axis rate)",
    );
    unless(
        cells.iter().any(|c| c.cache == Cache::Cold),
        "reads that find nothing in memory (axis cache: cold)",
    );
    unless(
        cells.iter().any(|c| c.tuning == Tuning::Equal),
        "caches of one size for all engines (axis tuning: equal)",
    );
    for data in [Data::Incompressible, Data::Compressible] {
        unless(cells.iter().any(|c| c.data == data), &format!("{} data (axis data)", data.name()));
    }
    let operations = || measured(merged).flat_map(|m| &m.operations);
    unless(
        operations().any(|o| !o.series.is_empty()),
        "second by second (operations were too short, or not recorded so)",
    );
    for column in COLUMNS {
        let known = if column.is_of_operation() {
            operations().any(|operation| column.of_operation(operation).is_some())
        } else {
            measured(merged).any(|measured| column.of_trial(measured).is_some())
        };
        unless(known, &format!("{} ({})", column.title, column.id));
    }
    let mut unknown: Vec<String> = measured(merged)
        .flat_map(|measured| &measured.unknown)
        .map(|unknown| format!("{}: {}", unknown.figure, unknown.reason))
        .collect();
    unknown.sort();
    unknown.dedup();
    all.extend(unknown);
    all.iter().map(|what| escape(what)).collect()
}
