//! RocksDB's own benchmark tool, if installed in the version that storebench links: it chooses keys and makes values within its
//! loop too, so it is compared by wall time.

use std::path::Path;
use std::process::{Command, Stdio};

use storebench_core::record::Records;
use storebench_core::record::pool::Pool;
use storebench_model::cell::Data;
use storebench_model::store::StoreDef;
use storebench_model::units::SizeRange;

use crate::pair::{self, COMPARED, OperationTime, Ours, Side};
use crate::{Bench, CACHE_BYTES, RECORDS, shown};

/// Debian: rocksdb-tools.
const TOOL: &str = "db_bench";
/// Its names for [`COMPARED`].
const BENCHMARKS: [&str; COMPARED.len()] = ["readrandom", "overwrite"];
/// Repetitions of [`RECORDS`] operations; the median counts, as with turns.
const TIMES: usize = 5;
/// Printed by builds with assertions, such as Debian's.
const SLOWER: &str = "Assertions are enabled";

/// Rows for storebench and the tool; or a line that says why there are none.
pub fn compare(bench: &Bench, store: &StoreDef, size: SizeRange) {
    let version = (store.version)();
    match Command::new(TOOL).arg("--version").output() {
        Err(error) => {
            return println!("{TOOL}: not compared: {error} (Debian, Ubuntu: apt install rocksdb-tools)");
        }
        Ok(output) if !String::from_utf8_lossy(&output.stdout).contains(&version) => {
            return println!("{TOOL}: not compared: it is not of RocksDB {version}, which storebench links");
        }
        Ok(_) => {}
    }
    let mut measured: [Vec<(OperationTime, OperationTime)>; COMPARED.len()] = Default::default();
    let mut is_slower = false;
    for pair in 0..bench.pairs {
        let folder = tempfile::tempdir_in(&bench.folder).expect("a folder can be made for the pair");
        let first_times = (pair % 2 == 0).then(|| ours(bench, store, size, pair as u64, folder.path()));
        let (theirs, assertions) = theirs(size, pair as u64, &folder.path().join("tool"));
        is_slower |= assertions;
        let ours = first_times.unwrap_or_else(|| ours(bench, store, size, pair as u64, folder.path()));
        measured
            .iter_mut()
            .zip(ours.into_iter().zip(theirs))
            .for_each(|(measured, pair)| measured.push(pair));
    }
    for (operation, pairs) in COMPARED.into_iter().zip(&measured) {
        shown::row(TOOL, size.from, operation.name(), pairs, |_| None);
    }
    if is_slower {
        println!("{TOOL} was compiled with assertions, as it says itself, which make it slower");
    }
}

fn ours(
    bench: &Bench,
    store: &StoreDef,
    size: SizeRange,
    seed: u64,
    folder: &Path,
) -> [OperationTime; COMPARED.len()] {
    let records = Records::new(seed, size, Pool::generate(Data::Incompressible, seed, size));
    let folder = folder.join("storebench");
    std::fs::create_dir(&folder).expect("a folder can be made");
    let opened_store = pair::open(store, &folder);
    let session = opened_store.session().expect("every store has a session");
    let mut ours = Ours::new(session, &bench.clock, &records, seed);
    ours.load(RECORDS);
    let times = COMPARED.map(|operation| {
        let turns: Vec<OperationTime> = (0..TIMES).map(|_| ours.turn(operation, RECORDS)).collect();
        OperationTime::median(&turns)
    });
    drop(ours);
    opened_store.close().expect("the store can be closed");
    times
}

/// The tool's times, and whether it has assertions.
fn theirs(size: SizeRange, seed: u64, folder: &Path) -> ([OperationTime; COMPARED.len()], bool) {
    let benchmarks = BENCHMARKS.map(|name| format!("{name}[X{TIMES}]")).join(",");
    let output = Command::new(TOOL)
        .arg(format!("--benchmarks=filluniquerandom,{benchmarks}"))
        .args([format!("--db={}", folder.display()), format!("--num={RECORDS}")])
        .args([format!("--value_size={}", size.from), "--key_size=32".into(), format!("--seed={}", seed + 1)])
        .args([
            format!("--cache_size={}", CACHE_BYTES / 2),
            format!("--write_buffer_size={}", CACHE_BYTES / 4),
        ])
        // As the library is shipped: it counts comparisons of keys. The tool alone would switch that off.
        .arg("--perf_level=2")
        .args(["--disable_wal=true", "--compression_type=none", "--max_background_jobs=2", "--threads=1"])
        .stderr(Stdio::null())
        .output()
        .expect("the tool runs");
    let output = String::from_utf8_lossy(&output.stdout);
    let times = BENCHMARKS.map(|name| {
        let lines = output.lines().filter(|line| line.starts_with(name) && line.contains("micros/op"));
        let turns: Vec<OperationTime> =
            lines.map(|line| OperationTime::new(1, f64::NAN, 1e9 / per_s(line))).collect();
        assert_eq!(turns.len(), TIMES, "the tool tells of each: {output}");
        OperationTime::median(&turns)
    });
    (times, output.contains(SLOWER))
}

/// `readrandom   :       2.005 micros/op 496253 ops/sec 0.020 seconds ...`
fn per_s(line: &str) -> f64 {
    let words: Vec<&str> = line.split_whitespace().collect();
    let unit = words.iter().position(|word| *word == "ops/sec").expect("a figure has its unit");
    words[unit - 1].parse().expect("a figure is a number")
}
