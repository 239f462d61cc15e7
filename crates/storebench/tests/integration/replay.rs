//! Replays through the command line: every store, memory, times, and what is refused.

use std::fmt::Write as _;

use storebench::STORES;
use storebench_core::error::Exit;
use storebench_core::result::{OVERALL, Outcome, TrialResult};

use crate::cli::support::Scratch;
use crate::tier;

/// A trace of every operation on some hundred keys: numbered ones, one with a zero byte, and one that is too long for LMDB.
fn everything(operations: u64) -> String {
    let mut text = String::from("time_ms,operation,key_hex,size\n");
    let long = "61".repeat(600);
    for number in 0..operations {
        let key = match number % 17 {
            3 => "006b".to_owned(),
            11 => long.clone(),
            _ => format!("6b65792d{:04x}", number / 3 * 7919 % 150),
        };
        let (operation, size) = match number % 10 {
            0..4 => ("get", 0),
            4..7 => ("set", 20 + number * 37 % 900),
            7 => ("modify", 30 + number % 60),
            8 => ("remove", 0),
            _ => ("get", 0),
        };
        let _ = writeln!(text, "{number},{operation},{key},{size}");
    }
    text
}

fn peak(trial: &TrialResult) -> u64 {
    trial.measured.as_ref().unwrap().memory.peak_above_base_bytes
}

#[test]
fn every_store_plays_a_trace_and_is_read_back() {
    let scratch = Scratch::new();
    scratch.write("trace.csv", everything(2_000));
    let names: Vec<&str> = STORES
        .iter()
        .filter(|store| store.open.is_ok() && tier::asks_for(store) && store.lacks().is_none())
        .map(|store| store.name)
        .collect();
    let arguments = format!(
        "run replay --trace trace.csv --store {} --guarantee default --trials 1 --timeout 120s",
        names.join(",")
    );
    let said = scratch.storebench(&arguments).ends(Exit::Success);
    assert!(said.err.contains("2,000 operations on "), "{said}");
    assert!(said.err.contains(" keys are read or removed before the trace writes them"), "{said}");
    let run = scratch.results();
    assert_eq!(run.trials.len(), names.len());
    let mut played = Vec::new();
    for trial in &run.trials {
        let (measured, name) = (trial.measured.as_ref().unwrap(), trial.cell.store());
        assert_eq!(trial.outcome, Outcome::Ok, "{name}");
        let counts: Vec<(String, u64)> =
            measured.operations.iter().map(|one| (one.operation.clone(), one.count)).collect();
        let (all, each) = counts.split_first().unwrap();
        assert_eq!((all, each.iter().map(|(_, count)| count).sum()), (&(OVERALL.to_owned(), 2_000), 2_000));
        let audit = &measured.audit;
        assert_eq!(name == "null", audit.is_none());
        assert!(
            audit.as_ref().is_none_or(|audit| audit.read_back > 50 && audit.seen_gone > 5),
            "{name}: {audit:?}"
        );
        if name != "null" {
            played.push(counts);
        }
    }
    // All stores hit and missed alike.
    assert!(played.windows(2).all(|pair| pair[0] == pair[1]), "{played:?}");
    assert!(played[0].iter().any(|(operation, count)| operation == "miss" && *count > 0), "{played:?}");
    let said = scratch.storebench("report latest --json").ends(Exit::Success);
    assert!(said.out.contains("\"miss\""), "{said}");
}

#[test]
fn a_million_operations_take_no_more_memory_than_a_thousand() {
    let scratch = Scratch::new();
    let line = |n: u64| {
        let operation = if n.is_multiple_of(2) { "get" } else { "set" };
        format!("{n},key{:06},9,{},1,{operation},0\n", n % 5000, n % 300)
    };
    let lines = |count: u64| (0..count).map(line).collect::<String>();
    scratch.write("short", lines(1_000));
    scratch.write("long", lines(1_000_000));
    let mut peaks = Vec::new();
    for trace in ["short", "long"] {
        let arguments = format!(
            "run replay --store null --trace {trace} --guarantee default --trials 1 --out {trace}-runs"
        );
        scratch.storebench(&arguments).ends(Exit::Success);
        let run = std::fs::read_dir(scratch.join(&format!("{trace}-runs")))
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        let run = storebench_host::folder::read(&run).unwrap();
        peaks.push(peak(&run.trials[0]));
    }
    // Stacks of threads and pages of the program that are first used late.
    const MARGIN: u64 = 2 << 20;
    assert!(peaks[1] <= peaks[0] + MARGIN, "{peaks:?}");
}
