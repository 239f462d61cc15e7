//! RocksDB's own benchmark tool, if installed in the version that storebench links: it chooses keys and makes values within its
//! loop too, so it is compared by wall time.

use std::path::Path;
use std::process::{Command, Stdio};

use storebench_core::cell::Data;
use storebench_core::record::Records;
use storebench_core::record::pool::Pool;
use storebench_core::store::StoreDef;
use storebench_core::units::SizeRange;

use crate::ours::Ours;
use crate::pair::{self, COMPARED, OperationTime, Side};
use crate::{Bench, CACHE_BYTES, RECORDS, shown};

/// Debian: rocksdb-tools.
const TOOL: &str = "db_bench";
/// Its names for [`COMPARED`].
const BENCHMARKS: [&str; COMPARED.len()] = ["readrandom", "overwrite"];
/// Repetitions of [`RECORDS`] operations; the median counts, as with turns.
const REPETITIONS: usize = 5;
/// Printed by builds with assertions, such as Debian's.
const ASSERTIONS_NOTE: &str = "Assertions are enabled";

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
    let mut times: [Vec<(OperationTime, OperationTime)>; COMPARED.len()] = Default::default();
    let mut has_assertions = false;
    for pair in 0..bench.pairs {
        let folder = tempfile::tempdir_in(&bench.folder).expect("a folder can be made for the pair");
        let ours_first = (pair % 2 == 0).then(|| ours(bench, store, size, pair as u64, folder.path()));
        let (theirs, with_assertions) = theirs(size, pair as u64, &folder.path().join("tool"));
        has_assertions |= with_assertions;
        let ours = ours_first.unwrap_or_else(|| ours(bench, store, size, pair as u64, folder.path()));
        times.iter_mut().zip(ours.into_iter().zip(theirs)).for_each(|(times, pair)| times.push(pair));
    }
    for (operation, pairs) in COMPARED.into_iter().zip(&times) {
        shown::row(TOOL, size.from, operation.name(), pairs, |_| None);
    }
    if has_assertions {
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
    let open_store = pair::open(store, &folder);
    let session = open_store.session().expect("every store has a session");
    let mut ours = Ours::new(session, &bench.clock, &records, seed);
    ours.load(RECORDS);
    let times = COMPARED.map(|operation| {
        let turns: Vec<OperationTime> = (0..REPETITIONS).map(|_| ours.turn(operation, RECORDS)).collect();
        OperationTime::median(&turns)
    });
    drop(ours);
    open_store.close().expect("the store can be closed");
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
    let text = String::from_utf8_lossy(&output.stdout);
    let times = BENCHMARKS.map(|name| {
        let lines = text.lines().filter(|line| line.starts_with(name) && line.contains("micros/op"));
        let turns: Vec<OperationTime> =
            lines.map(|line| OperationTime::new(1, f64::NAN, 1e9 / operations_per_s(line))).collect();
        assert_eq!(turns.len(), REPETITIONS, "the tool tells of each: {text}");
        OperationTime::median(&turns)
    });
    (times, text.contains(ASSERTIONS_NOTE))
}

/// `readrandom   :       2.005 micros/op 496253 ops/sec 0.020 seconds ...`
fn operations_per_s(line: &str) -> f64 {
    let words: Vec<&str> = line.split_whitespace().collect();
    let unit = words.iter().position(|word| *word == "ops/sec").expect("a figure has its unit");
    words[unit - 1].parse().expect("a figure is a number")
}
