//! Builds of RocksDB that are loaded, next to the one that is linked.

use std::collections::BTreeSet;
use std::process::Command;

use storebench_model::error::Exit;
use storebench_model::result::{KillCheck, Measurements, OperationResult};
use storebench_stores::PREFIXES;

use crate::cli::support::{Scratch, missing};

/// The file that scripts/rocksdb-authors.sh has fetched.
fn library() -> Option<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/rocksdb-authors.sh");
    let output = Command::new("sh").args([script, "--where"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().nth(1).map(str::to_owned)
}

#[cfg(feature = "rocksdb")]
#[test]
fn a_library_that_is_loaded_syncs_as_often_as_the_one_that_is_linked() {
    if PREFIXES.contains(&("rocksdb", None)) {
        return missing("RocksDB that is linked", "this build loads its authors'");
    }
    let Some(file) = library() else {
        return missing("RocksDB as its authors build it", "scripts/rocksdb-authors.sh did not fetch it");
    };
    let scratch = Scratch::new();
    let work = "--records 20 --record-size 1B..1KiB --data incompressible --guarantee power --operations 20 --trials 1";
    let run = format!("run crud --store rocksdb {work} --set rocksdb.library=linked,{file}");
    scratch.storebench(&run).ends(Exit::Success);
    let run = scratch.results();
    let measurements: Vec<&Measurements> = run.trials.iter().map(|trial| trial.ok().unwrap()).collect();
    let [one, other] = measurements.as_slice() else { panic!("{} trials", measurements.len()) };
    for (one, other) in one.operations.iter().zip(&other.operations) {
        let syncs = |operation: &OperationResult| operation.counters.as_ref().unwrap().syncs_by_call.clone();
        assert_eq!(syncs(one), syncs(other), "{}", one.operation);
        let is_write = !["get", "scan"].contains(&&*one.operation);
        assert!(!is_write || syncs(one)["fdatasync"] >= 20, "{}", one.operation);
    }
    for measured in [one, other] {
        let check = measured.kill_check.as_ref();
        assert!(matches!(check, Some(KillCheck::Held { undone: true, .. })), "{check:?}");
    }
    let sources: BTreeSet<&str> =
        measurements.iter().map(|measured| measured.store_build.as_ref().unwrap().source.as_str()).collect();
    assert_eq!(sources.len(), 2, "{sources:?}");
    let output = scratch.storebench("report latest").ends(Exit::Success);
    assert!(output.out.contains(&format!("library={file}")), "{output}");
    scratch.assert_nothing_left();
}
