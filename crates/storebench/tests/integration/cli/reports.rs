//! The reports of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use storebench_core::error::Exit;
use storebench_host::folder;
use storebench_host::run::Run;

use super::support::{Scratch, TINY, said};

const STORES: &str = "sqlite,lmdb,flat-folder";

/// Two runs, made once for all tests here: one on `laptop`, one on `server`.
fn runs() -> &'static Scratch {
    static RUNS: OnceLock<Scratch> = OnceLock::new();
    RUNS.get_or_init(|| {
        let scratch = Scratch::in_memory();
        let study =
            "--records 20,40 --record-size 1B..1KiB,1KiB..10KiB --guarantee process,power --operations 5";
        scratch
            .storebench(&format!("run crud --store {STORES},null {study} --trials 2 --hardware laptop"))
            .ends(Exit::Success);
        scratch
            .storebench(&format!("run crud --store {STORES} {TINY} --hardware server"))
            .ends(Exit::Success);
        scratch
    })
}

/// The folders of the two.
fn folders() -> [PathBuf; 2] {
    runs().runs().try_into().unwrap()
}

fn report(arguments: &str) -> String {
    let said = runs().storebench(&format!("report {arguments}")).ends(Exit::Success);
    assert!(said.err.is_empty(), "{said}");
    said.out
}

fn read(run: &Path) -> Run {
    folder::read(run).unwrap()
}

#[test]
fn the_csv_is_the_papers() {
    let [first, _] = folders();
    let text = report(&format!("{} --csv", first.display()));
    let header = "hardware,store,op,size,records,data type,measurements,sum,min,max,avg";
    assert_eq!(text.lines().next(), Some(header));
    // Guarantees, data, sizes, counts, stores; four operations, memory and space.
    assert_eq!(text.lines().count(), 1 + 2 * 2 * 2 * 2 * 3 * 6);
    let file = runs().write("paper.csv", &text);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/integration/cases/winners.py");
    let said = said(Command::new("python3").arg(script).arg(file)).ends(Exit::Success);
    let found: BTreeSet<&str> = said.out.lines().collect();
    let expected = winners(&read(&first));
    assert_eq!(found.len(), 2 * 2 * 2 * 2 * 6, "{said}");
    assert_eq!(found, expected.iter().map(String::as_str).collect());
}

/// The winners of each group from the results themselves, in the form of winners.py.
fn winners(run: &Run) -> BTreeSet<String> {
    let mut pools: BTreeMap<String, BTreeMap<&str, (u64, u64)>> = BTreeMap::new();
    for trial in &run.trials {
        let store = match trial.cell.store() {
            "sqlite" => "SQLite3",
            "flat-folder" => "FlatFolder",
            "null" => continue,
            other => other,
        };
        let measured = trial.ok().unwrap();
        let mut add = |figure: &str, count: u64, sum: u64| {
            let cell = &trial.cell;
            let (size, records) = (cell.record_size().to_string().replace("..", " to "), cell.records().from);
            let group =
                format!("laptop ({})|{}|{figure}|{size}|{records}", measured.guarantee, cell.data().name());
            let pool = pools.entry(group).or_default().entry(store).or_default();
            *pool = (pool.0 + count, pool.1 + sum);
        };
        for done in &measured.operations {
            add(&done.operation, done.count, done.sum_ns);
        }
        add("memory", 1, (measured.memory.peak_above_base_bytes as f64 / 1024.0).round() as u64);
        add("space", 1, (measured.space_efficiency().unwrap() * 100.0).round() as u64);
    }
    let group = |(name, stores): (String, BTreeMap<&str, (u64, u64)>)| {
        let averages =
            stores.into_iter().map(|(store, (count, sum))| (store, (sum as f64 / count as f64).round()));
        let averages: Vec<(&str, f64)> = averages.collect();
        let values = || averages.iter().map(|(_, average)| *average);
        let (most, least) = (values().fold(0.0, f64::max), values().fold(f64::INFINITY, f64::min));
        let wins = |average: f64| {
            if name.contains("|space|") { average >= most * 0.95 } else { average <= least * 1.05 }
        };
        let mut best: Vec<&str> =
            averages.iter().filter(|(_, average)| wins(*average)).map(|(store, _)| *store).collect();
        best.sort_unstable();
        format!("{name}|{}", best.join(","))
    };
    pools.into_iter().map(group).collect()
}

#[test]
fn the_json_has_everything() {
    let [first, second] = folders();
    let text = report(&format!("{} {} --json", first.display(), second.display()));
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let keys: Vec<&String> = document.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["effects", "findings", "format", "matrices", "published", "runs", "sections", "sizes", "slowdowns"]
    );
    for (shown, run) in document["runs"].as_array().unwrap().iter().zip([&first, &second]) {
        let run = read(run);
        assert_eq!(shown["header"], serde_json::to_value(&run.header).unwrap());
        assert_eq!(shown["trials"], serde_json::to_value(&run.trials).unwrap());
    }
    let matrices = document["matrices"].as_array().unwrap();
    assert_eq!(matrices.len(), 3, "laptop at two guarantees, server at one");
    assert!(matrices.iter().all(|matrix| !matrix["rows"].as_array().unwrap().is_empty()));
}
