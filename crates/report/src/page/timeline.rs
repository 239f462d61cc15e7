//! Second by second: operations and latencies of one trial of each cell, the one that took longest, with as many points as
//! the page has room for.

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;
use storebench_core::result::Second;

use super::cells::Row;

/// Points of all timelines together, about; each is some ten bytes of the page.
const POINTS: usize = 100_000;

/// Points of one timeline.
const MOST: usize = 240;
const FEWEST: usize = 8;

/// The timelines of all cells that have any.
#[derive(Debug, Serialize)]
pub struct Timelines {
    /// By operation.
    by_operation: IndexMap<String, Vec<Timeline>>,
}

/// One trial's.
#[derive(Debug, Serialize)]
struct Timeline {
    /// The cell's number.
    cell: usize,
    /// The block of the trial.
    block: u32,
    /// Seconds that each point stands for.
    step_s: u32,
    at_s: Vec<u32>,
    /// Operations in a second, on average.
    per_s: Vec<f64>,
    /// The worst second's.
    p50_ns: Vec<u64>,
    p99_ns: Vec<u64>,
    max_ns: Vec<u64>,
}

impl Timelines {
    /// Takes them from all trials.
    pub fn new(rows: &[Row<'_>], operations: &IndexSet<String>) -> Timelines {
        let mut found: Vec<(&String, usize, u32, &[Second])> = Vec::new();
        for operation in operations {
            for (cell, row) in rows.iter().enumerate() {
                if let Some((block, seconds)) = longest(row, operation) {
                    found.push((operation, cell, block, seconds));
                }
            }
        }
        let each = (POINTS / found.len().max(1)).clamp(FEWEST, MOST);
        let mut by_operation: IndexMap<String, Vec<Timeline>> = IndexMap::new();
        for (operation, cell, block, seconds) in found {
            by_operation.entry(operation.clone()).or_default().push(timeline(cell, block, seconds, each));
        }
        Timelines { by_operation }
    }
}

/// The trial with the most seconds; `None` where none has two.
fn longest<'a>(row: &Row<'a>, operation: &str) -> Option<(u32, &'a [Second])> {
    let trials = row.entries.iter().filter_map(|entry| Some((entry.trial.block, entry.trial.ok()?)));
    let series = trials
        .filter_map(|(block, measured)| Some((block, measured.operation(operation)?.series.as_slice())));
    series.filter(|(_, seconds)| seconds.len() > 1).max_by_key(|(_, seconds)| seconds.len())
}

/// Puts seconds together so that there are at most `points`, and no stall is lost.
fn timeline(cell: usize, block: u32, seconds: &[Second], points: usize) -> Timeline {
    let span = seconds.last().map_or(0, |last| last.at_s) as usize + 1;
    let step = span.div_ceil(points).max(1) as u32;
    let mut line = Timeline {
        cell,
        block,
        step_s: step,
        at_s: Vec::new(),
        per_s: Vec::new(),
        p50_ns: Vec::new(),
        p99_ns: Vec::new(),
        max_ns: Vec::new(),
    };
    // A second without an operation has no entry in the results, and is a point here: nothing was done in it.
    for at in (0..span as u32).step_by(step as usize) {
        let within = seconds.iter().filter(|second| (at..at + step).contains(&second.at_s));
        let worst = |of: fn(&Second) -> u64| within.clone().map(of).max().unwrap_or(0);
        let count: u64 = within.clone().map(|second| second.count).sum();
        line.at_s.push(at);
        line.per_s.push(super::numbers::rounded(count as f64 / f64::from(step), 4));
        line.p50_ns.push(worst(|second| second.p50_ns));
        line.p99_ns.push(worst(|second| second.p99_ns));
        line.max_ns.push(worst(|second| second.max_ns));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_is_never_lost() {
        let second = |at_s| {
            let slow = if at_s == 501 { 1000 } else { 1 };
            Second { at_s, count: 10, p50_ns: 5, p99_ns: 7 * slow, max_ns: 9 * slow }
        };
        // Nothing ended in the seconds from 600 to 699.
        let seconds: Vec<Second> = (0..1000).filter(|at| !(600..700).contains(at)).map(second).collect();
        let line = timeline(3, 1, &seconds, 100);
        assert_eq!((line.step_s, line.at_s.len()), (10, 100));
        assert_eq!((line.max_ns[50], line.p99_ns[50], line.max_ns[49]), (9000, 7000, 9));
        assert_eq!((line.per_s[59], line.per_s[60]), (10.0, 0.0));
    }
}
