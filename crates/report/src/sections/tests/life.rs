//! The sections of a set's life.

use std::collections::BTreeMap;

use storebench_host::run::Run;
use storebench_model::result::{
    Burst, CallStatistics, ConcurrentCalls, ConcurrentWork, Disk, FilePieces, Fragmentation, Latency,
    OVERALL, Pauses, ReclaimResult, Samples, SpaceReclaim, UpkeepCount,
};

use super::{Sample, run_for, samples, shown};

pub fn run_of(stores: &[&str]) -> Run {
    samples::run("box", &stores.iter().map(|store| Sample::new(store).ns(2000.0)).collect::<Vec<_>>())
}

/// A run after most records were removed: a store that reclaims space in its own way, and one without a way.
pub fn aged() -> Run {
    let mut run = run_of(&["sqlite", "flat-folder"]);
    let disk = |bytes| Disk { allocated_bytes: bytes, apparent_bytes: bytes, files: 1 };
    for trial in &mut run.trials {
        let compacts = trial.cell.store() == "sqlite";
        let compacted = compacts.then(|| ReclaimResult {
            by: "VACUUM".into(),
            took_ns: 12_000_000,
            peak_bytes: 60 << 10,
            disk: disk(8 << 10),
            meanwhile: None,
        });
        let reclaim = SpaceReclaim {
            removed: 45,
            value_bytes: 4_500,
            remove_ns: 1_000_000,
            disk: disk(48 << 10),
            compacted,
        };
        trial.measured.as_mut().unwrap().space_reclaim = Some(reclaim);
    }
    run
}

/// A run with bursts at two loads, of which the second is too much for one of two stores.
pub fn bursting() -> Run {
    let mut run = run_of(&["sqlite", "flat-folder"]);
    for trial in &mut run.trials {
        let is_quick = trial.cell.store() == "sqlite";
        let burst_at = |percent: f64| Burst {
            percent,
            per_second: 100.0 * percent,
            times: 10.0,
            period_ns: 60_000_000_000,
            latency: Latency { p99_ns: 1_000_000, ..Latency::default() },
            steps: 1_000,
            within_10_ms: if is_quick { 1_000 } else { 25 },
            within_100_ms: if is_quick { 1_000 } else { 240 },
            longest_ns: if is_quick { 9_000_000 } else { 3_100_000_000 },
            recovered_ns: (is_quick || percent < 90.0).then_some(2_500_000_000),
            in_pause: is_quick && percent >= 90.0,
            pauses: None,
            left_out: if is_quick || percent < 90.0 { 0 } else { 12 },
        };
        trial.measured.as_mut().unwrap().bursts = [10.0, 90.0].map(burst_at).into();
    }
    run
}

/// A run of a store with pauses during flushes, of one that reports nothing, and of one without pauses.
pub fn pausing() -> Run {
    let mut run = run_of(&["rocksdb", "redb", "flat-folder"]);
    for trial in &mut run.trials {
        let store = trial.cell.store().to_owned();
        let work = |work: &str, after, otherwise| UpkeepCount { work: work.into(), after, otherwise };
        let by_call = [("update".to_owned(), 2), ("scan".to_owned(), 12)];
        let samples = |count, each_ns: u64| Samples { count, span_ns: count * each_ns };
        let upkeep = vec![work("compaction", 3, 500), work("flush", 12, 20), work("write stall", 0, 0)];
        trial.measured.as_mut().unwrap().pauses = Some(Pauses {
            over_ns: 10_000_000,
            calls: 100_000,
            calls_ns: 4_000_000_000,
            by_call: if store == "flat-folder" { BTreeMap::new() } else { by_call.into() },
            total_ns: 1_000_000_000,
            longest_ns: 210_000_000,
            sync_ns: (store == "redb").then_some(900_000_000),
            after: samples(13, 40_000_000),
            otherwise: samples(1_000, 10_000_000),
            upkeep: if store == "rocksdb" { upkeep } else { Vec::new() },
        });
        let measured = trial.measured.as_mut().unwrap();
        let in_burst = Burst { percent: 90.0, pauses: measured.pauses.clone(), ..Burst::default() };
        if store == "redb" {
            measured.bursts = vec![Burst { percent: 10.0, ..Burst::default() }, in_burst];
        }
    }
    run
}

pub fn backed_up() -> Run {
    let mut run = samples::run("box", &[Sample::new("sqlite").ns(2000.0).rounds(10)]);
    for trial in &mut run.trials {
        let took_ns = (1..=10).map(|tenth| tenth * 1_000_000).collect();
        let calls = |count, longest_ns| CallStatistics { count, longest_ns };
        let work = ConcurrentWork {
            by: "VACUUM INTO".into(),
            took_ns,
            during_steps_ns: vec![1_000_000; 10],
            bytes: vec![64 << 10; 10],
            during: calls(200, 12_000_000),
            otherwise: calls(9_800, 300_000),
        };
        trial.measured.as_mut().unwrap().concurrent_work = Some(work);
    }
    run
}

/// A run of a store that blocks writers while it reclaims space, of one that rejects them, and of one without other calls.
pub fn disturbed() -> Run {
    let mut run = run_of(&["sqlite", "rocksdb", "redb"]);
    for trial in &mut run.trials {
        let store = trial.cell.store().to_owned();
        let measured = trial.measured.as_mut().unwrap();
        let calls = |count, longest_ns| CallStatistics { count, longest_ns };
        let meanwhile = (store != "redb").then(|| ConcurrentCalls {
            reads: calls(40, 90_000),
            writes: if store == "sqlite" { calls(1, 48_000_000) } else { CallStatistics::default() },
            reads_before: calls(100, 80_000),
            writes_before: calls(100, 120_000),
            refused: (store == "rocksdb").then(|| "the file is locked".into()),
        });
        let compacted =
            ReclaimResult { by: "VACUUM".into(), took_ns: 50_000_000, meanwhile, ..ReclaimResult::default() };
        measured.space_reclaim = Some(SpaceReclaim { compacted: Some(compacted), ..SpaceReclaim::default() });
    }
    run
}

/// A run of a store whose scans take three times as long when it is old, and of one without order.
pub fn fragmented() -> Run {
    let mut run = run_of(&["sqlite", "flat-folder"]);
    for trial in &mut run.trials {
        let in_order = trial.cell.store() == "sqlite";
        let scans = |ns: u64| if in_order { vec![ns, ns + 100, 9 * ns] } else { Vec::new() };
        let files = if in_order { 2 } else { 100 };
        trial.measured.as_mut().unwrap().fragmentation = Some(Fragmentation {
            fresh_scans_ns: scans(900),
            aged_scans_ns: scans(2_900),
            pieces: Some(FilePieces { files, pieces: files + 5 }),
        });
    }
    run
}

/// A run of four stores: one keeps its files, one pauses for long, one is slow.
pub fn unequal() -> Run {
    let stores = [("sqlite", 2000.0), ("lmdb", 2000.0), ("redb", 2000.0), ("flat-folder", 9000.0)];
    let mut run = samples::run("box", &stores.map(|(store, ns)| Sample::new(store).ns(ns).rounds(10)));
    for trial in &mut run.trials {
        let store = trial.cell.store().to_owned();
        let measured = trial.measured.as_mut().unwrap();
        let full = 2 << 20;
        measured.stored.value_bytes = full;
        measured.disk.allocated_bytes = full;
        let left_bytes = if store == "lmdb" { full } else { full / 8 };
        let disk = Disk { allocated_bytes: left_bytes, apparent_bytes: left_bytes, files: 1 };
        measured.space_reclaim = Some(SpaceReclaim { removed: 45, disk, ..SpaceReclaim::default() });
        let mut overall = measured.operations[0].clone();
        overall.operation = OVERALL.into();
        if store == "redb" {
            overall.latency.max_ns *= 50;
        }
        measured.operations.insert(0, overall);
    }
    run
}

/// Three trials of a store that gets larger and slower each round; of one that wrote little in as many; of one with neither after six.
pub fn trending() -> Run {
    let block = || {
        ["lmdb", "leveldb", "redb"]
            .map(|store| Sample::new(store).rounds(if store == "redb" { 6 } else { 12 }))
            .to_vec()
    };
    let mut run = samples::blocks("box", &[block(), block(), block()]);
    for trial in run.trials.iter_mut().filter(|trial| trial.cell.store() == "lmdb") {
        let measured = trial.measured.as_mut().unwrap();
        measured.disk = measured.rounds[11].disk.clone();
        let writes = measured.rounds.iter_mut().flat_map(|round| &mut round.operations);
        writes.for_each(|operation| operation.value_bytes = 16 << 20);
    }
    for trial in run.trials.iter_mut().filter(|trial| trial.cell.store() == "redb") {
        let rounds = &mut trial.measured.as_mut().unwrap().rounds;
        let first = rounds[0].clone();
        rounds.iter_mut().for_each(|round| round.clone_from(&first));
    }
    run
}

#[test]
fn what_a_life_did_to_files_calls_and_scans_is_told() {
    let sections =
        ["space_reclaim", "space_reclaim_concurrent", "concurrent_work", "bursts", "fragmentation"];
    for section in sections {
        insta::assert_snapshot!(section, shown(section, run_for(section), true));
    }
}

#[test]
fn pauses_are_told_with_the_work_that_came_with_them() {
    let text = shown("pauses", pausing(), true);
    insta::assert_snapshot!("pauses", text);
    assert!(!text.contains("flat-folder") && !text.contains("write stall"), "{text}");
}

#[test]
fn rounds_that_rise_or_fall_are_told_from_those_that_do_not() {
    let text = shown("trends", trending(), true);
    insta::assert_snapshot!("trends", text);
    let line = |store: &str| text.lines().find(|line| line.starts_with(store)).unwrap_or_default();
    assert!(line("lmdb").contains("falls") && line("lmdb").contains("rises"), "{text}");
    assert!(line("lmdb").ends_with("14") && line("leveldb").ends_with('-'), "its logs may be all: {text}");
    assert!(!line("redb").contains("falls") && !line("redb").contains("rises"), "{text}");
}

#[test]
fn each_store_is_named_with_what_it_is_furthest_behind_in() {
    let text = shown("weakest", unequal(), true);
    insta::assert_snapshot!("weakest", text);
    let line = |store: &str| text.lines().find(|line| line.starts_with(store)).unwrap_or_default();
    assert!(line("lmdb").contains("removed the files take 100 %"), "{text}");
    assert!(line("redb").contains("the longest call took"), "{text}");
    assert!(line("flat-folder").contains("4.50 times the median"), "{text}");
    assert!(line("sqlite").is_empty(), "nothing stands out: {text}");
}

/// A log of some MiB with little data, and a minimum file size, are no sign of space that is never reclaimed.
#[test]
fn files_below_the_least_size_and_what_little_removed_data_leaves_are_no_weakness() {
    let mut run = unequal();
    let lmdb = run.trials.iter_mut().filter(|trial| trial.cell.store() == "lmdb");
    for measured in lmdb.filter_map(|trial| trial.measured.as_mut()) {
        measured.stored.value_bytes = 1 << 20;
        measured.disk.allocated_bytes = 900 << 10;
    }
    let text = shown("weakest", run, true);
    assert!(!text.lines().any(|line| line.starts_with("lmdb")), "{text}");
}

/// redb and UnQLite are the only ones at `power`.
#[test]
fn of_two_stores_each_is_compared_with_the_other() {
    let mut run = unequal();
    run.trials.retain(|trial| ["sqlite", "redb"].contains(&trial.cell.store()));
    let text = shown("weakest", run, true);
    assert!(text.contains("times that of the only other store"), "{text}");
}
