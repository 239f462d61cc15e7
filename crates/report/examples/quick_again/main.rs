//! The share of the stores named alone that another quick run would name again: draws pairs of quick runs from a recorded run of many
//! more trials, and judges the stores that they name alone by each other and by all that was recorded.
//!
//! usage: cargo run --release -p storebench-report --example quick_again -- RUN TRIALS SECONDS
//!
//! Each quick run has so many trials of each cell, in blocks that were recorded as a whole. What remains of its seconds goes to what is
//! undecided, as in `storebench run --budget`. Blocks are drawn with replacement (a bootstrap): of two halves of what was recorded, one
//! would be high wherever the other is low.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic, reason = "a program for developers")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use storebench_core::cell::Cell;
use storebench_core::folder;
use storebench_core::result::{Run, TrialResult};
use storebench_report::data::matrix::matrices;
use storebench_report::data::merge::Merged;
use storebench_report::data::{looks, undecided};

/// Pairs of quick runs that are drawn.
const PAIRS: u64 = 24;

/// The stores at the top of each comparison.
type Tops = BTreeMap<String, BTreeSet<String>>;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, trials, seconds] = &arguments[..] else { panic!("usage: quick_again RUN TRIALS SECONDS") };
    let (trials, seconds) = (trials.parse().unwrap(), seconds.parse().unwrap());
    let recorded = folder::read(Path::new(path)).unwrap();
    let all: BTreeSet<u32> = recorded.trials.iter().map(|trial| trial.block).collect();
    let all: Vec<u32> = all.into_iter().collect();
    let often = tops(&recorded);
    let (mut named, mut best, mut both, mut candidate, mut took_s) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for seed in 0..PAIRS {
        let mut random = fastrand::Rng::with_seed(seed);
        let runs = [(); 2].map(|()| {
            let blocks: Vec<u32> = all.iter().map(|_| all[random.usize(..all.len())]).collect();
            quick(&recorded, &blocks, trials, seconds)
        });
        took_s += runs.iter().flat_map(|run| &run.trials).map(TrialResult::took_s).sum::<f64>();
        let tops = [tops(&runs[0]), tops(&runs[1])];
        for (here, there) in [(&tops[0], &tops[1]), (&tops[1], &tops[0])] {
            for (comparison, stores) in here.iter().filter(|(_, stores)| stores.len() == 1) {
                let share = |is: bool| f64::from(u8::from(is));
                named += 1.0;
                best += share(stores.is_subset(&often[comparison]));
                both += share(there[comparison] == *stores);
                candidate += share(stores.is_subset(&there[comparison]));
            }
        }
    }
    let runs = 2.0 * PAIRS as f64;
    println!(
        "{} comparisons; in {:.0} s, {:.1} stores named alone",
        often.len(),
        took_s / runs,
        named / runs
    );
    println!("among the best of all trials: {:.1} %", 100.0 * best / named);
    println!(
        "alone in both runs: {:.1} %; a candidate in the other: {:.1} %",
        100.0 * both / named,
        100.0 * candidate / named
    );
}

/// The quick run that would have come of these blocks.
fn quick(recorded: &Run, blocks: &[u32], trials: u32, seconds: f64) -> Run {
    let mut cells: Vec<Cell> = Vec::new();
    let mut at: HashMap<(String, u32), &TrialResult> = HashMap::new();
    for trial in &recorded.trials {
        at.insert((trial.cell.id(), trial.block), trial);
        if !cells.contains(&trial.cell) {
            cells.push(trial.cell.clone());
        }
    }
    let mut run = Run { header: recorded.header.clone(), trials: Vec::new() };
    run.header.looks = if seconds > 0.0 { looks::from(trials) } else { Vec::new() };
    run.header.strict_early = seconds > 0.0;
    let mut left_s = seconds;
    for (block, from) in (0..).zip(blocks) {
        let certain = block < trials;
        let next =
            if certain { (0..cells.len()).collect() } else { undecided::next(&run, &cells, &[], None) };
        for index in next {
            let Some(trial) = at.get(&(cells[index].id(), *from)).filter(|_| certain || left_s > 0.0) else {
                continue;
            };
            left_s -= trial.took_s();
            run.trials.push(TrialResult { block, ..(*trial).clone() });
        }
    }
    run
}

fn tops(run: &Run) -> Tops {
    let mut tops = Tops::new();
    for matrix in matrices(&Merged::new(std::slice::from_ref(run), &[])) {
        for row in &matrix.rows {
            for (column, contest) in matrix.columns.iter().zip(&row.contests) {
                let stores = contest.winners().map(|winner| winner.store.clone()).collect();
                tops.insert(format!("{} {} {:?} {column:?}", matrix.title, row.figure.name, row.at), stores);
            }
        }
    }
    tops
}
