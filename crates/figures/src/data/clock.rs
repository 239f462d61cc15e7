//! The limits of the timed loop's clock, and its cost: a difference of latencies that may come from the clock decides nothing.

use std::collections::BTreeMap;

use storebench_core::measure::clock::{HIDDEN_NS, HIDDEN_SHARE, TSC};
use storebench_core::workload::operation::Operation;
use storebench_model::result::{Environment, OVERALL};
use storebench_model::units::rough_ns;

use super::merge::Merged;
use crate::column::{ClockLimit, Column, MEAN_LATENCY};
use crate::stats::{Resolution, Scale};

/// A latency is short if the clock's cost is more than this fraction of it.
const MIN_CLOCK_COSTS: f64 = 20.0;

/// Operations that read, in crud, ycsb (also all operations together) and batch.
const READS: [&str; 6] = ["get", "read", "scan", "read-modify-write", "select", OVERALL];

/// The resolution that the clocks of some runs give a figure of one operation with this number of threads.
///
/// A latency includes about half of each of the two clock readings around it. The processor may overlap both with the
/// operation, or neither: two stores may differ by one reading's cost for that alone. The
/// counter also does not wait for the last data that a read fetches.
pub fn resolution<'e>(
    environments: impl Iterator<Item = &'e Environment> + Clone,
    column: &Column,
    operation: &str,
    threads: u32,
) -> Resolution {
    let scale = match column.clocked {
        ClockLimit::No => return Resolution::default(),
        ClockLimit::Latency => Scale::Nanoseconds,
        ClockLimit::Rate => Scale::PerSecond { threads: f64::from(threads) },
    };
    let reads_ahead = READS.contains(&operation) && environments.clone().any(|e| e.clock == TSC);
    Resolution {
        fixed_ns: environments.map(|environment| environment.clock_ns).fold(0.0, f64::max),
        share: if reads_ahead { HIDDEN_SHARE } else { 0.0 },
        share_at_most_ns: if reads_ahead { HIDDEN_NS } else { 0.0 },
        scale,
    }
}

/// The resolution of the mean time of a mix with this share of gets: the hidden part of a get counts by that share.
pub fn resolution_of_mix<'e>(
    environments: impl Iterator<Item = &'e Environment> + Clone,
    gets: f64,
) -> Resolution {
    let get = resolution(environments, &MEAN_LATENCY, Operation::Get.name(), 1);
    Resolution { share_at_most_ns: get.share_at_most_ns * gets, ..get }
}

/// The clock's cost on each machine with latencies short enough for it to matter, with the shortest.
pub fn notes<'m>(
    merged: &Merged<'_>,
    latencies_ns: impl IntoIterator<Item = (&'m str, Option<f64>)>,
) -> Vec<String> {
    let mut shortest: BTreeMap<&str, f64> = BTreeMap::new();
    for (hardware, ns) in latencies_ns {
        let Some(ns) = ns else { continue };
        let least = shortest.entry(hardware).or_insert(f64::INFINITY);
        *least = least.min(ns);
    }
    let note = |(hardware, shortest): (&str, f64)| {
        let runs_of_hardware = merged.runs.iter().filter(|run| run.header.hardware == hardware);
        let cost = runs_of_hardware.map(|run| run.header.environment.clock_ns).fold(0.0, f64::max);
        (shortest < MIN_CLOCK_COSTS * cost).then(|| {
            format!(
                "A reading of the clock costs {} on {hardware}. Every latency includes about one: more than a twentieth of those \
                 below {}.",
                rough_ns(cost),
                rough_ns(MIN_CLOCK_COSTS * cost)
            )
        })
    };
    shortest.into_iter().filter_map(note).collect()
}

#[cfg(test)]
mod tests {
    use storebench_host::run::Run;
    use storebench_samples::{Sample, blocks};

    use super::*;
    use crate::column::{COLUMNS, PEAK_MEMORY};
    use crate::data::matrix::{Matrix, matrices};
    use crate::judge::Rule;

    /// Three blocks of two stores with these gets, in ns; the clock costs 10 ns.
    fn run(gets: [f64; 2]) -> Run {
        let block = |wobble: f64| {
            let [a, b] = gets.map(|ns| ns * 2.0 * wobble);
            vec![Sample::new("lmdb").ns(a), Sample::new("redb").ns(b)]
        };
        blocks("box", &[1.0, 1.1, 0.9].map(block))
    }

    fn get(runs: &[Run]) -> (bool, Option<Rule>) {
        let matrix = matrices(&Merged::new(runs, &[])).remove(0);
        let row = matrix.rows.iter().find(|row| row.figure.name == "get").unwrap();
        let runner_up = &row.contests[0].contenders[1];
        (runner_up.verdict.wins(), runner_up.verdict.rule())
    }

    #[test]
    fn a_get_that_is_two_percent_quicker_at_250_ns_wins_nothing() {
        assert_eq!(get(&[run([250.0, 255.0])]), (true, Some(Rule::Clock)));
        // 10 ns, and a tenth of 320 ns.
        assert_eq!(get(&[run([250.0, 320.0])]), (false, Some(Rule::Interval)));
        assert_eq!(get(&[run([250_000.0, 255_000.0])]), (false, Some(Rule::Interval)));
        // A clock that waits costs more, and hides nothing.
        let mut slower_run = run([500.0, 530.0]);
        assert_eq!(get(std::slice::from_ref(&slower_run)), (true, Some(Rule::Clock)));
        slower_run.header.environment.clock = "monotonic".into();
        assert_eq!(get(std::slice::from_ref(&slower_run)), (false, Some(Rule::Interval)));
        slower_run.header.environment.clock_ns = 40.0;
        assert_eq!(get(&[slower_run]), (true, Some(Rule::Clock)));
    }

    #[test]
    fn only_what_is_timed_by_it_is_limited_by_it() {
        let run = run([250.0, 255.0]);
        let resolution_of = |column: &Column, operation: &str| {
            resolution(std::iter::once(&run.header.environment), column, operation, 2)
        };
        assert_eq!(resolution_of(&PEAK_MEMORY, "trial"), Resolution::default());
        let insert = resolution_of(&MEAN_LATENCY, "insert");
        assert_eq!((insert.fixed_ns, insert.share), (10.0, 0.0));
        assert_eq!(resolution_of(&COLUMNS[0], "get").scale, Scale::PerSecond { threads: 2.0 });
    }

    #[test]
    fn the_cost_of_the_clock_is_noted_with_short_latencies() {
        let note = |ns| {
            let runs = [run([ns, ns])];
            let merged = Merged::new(&runs, &[]);
            notes(&merged, matrices(&merged).iter().map(Matrix::clocked))
        };
        let short = note(150.0);
        assert_eq!(short.len(), 1);
        assert!(short[0].starts_with("A reading of the clock costs 10.0 ns on box"), "{short:?}");
        assert!(note(1000.0).is_empty());
    }
}
