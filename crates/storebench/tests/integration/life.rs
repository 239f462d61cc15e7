//! The study `life` over every store: what each keeps of its files when most records are removed, and what it gives back.

mod planted;

use storebench_core::axis::Axis;
use storebench_core::cell::Cell;
use storebench_core::error::Exit;
use storebench_core::result::{Measurements, Recovery};
use storebench_core::store::{Guarantee, GuaranteeOffer, StoreDef, StoreKind};

use crate::cli::machines::can_limit;
use crate::cli::support::{Scratch, skipped};
use crate::disks::can_simulate;
use crate::file_systems::{assert_gone, with_disk};
use crate::tier;

/// Every store that this build has and this machine can run, but for the one that holds 1 MiB at most.
pub fn stores() -> Vec<&'static StoreDef> {
    let can_run = |store: &&StoreDef| match store.lacks() {
        Some(why) if store.open.is_ok() => {
            skipped(store.name, &why);
            false
        }
        lacks => lacks.is_none() && store.open.is_ok(),
    };
    let kept = |store: &&StoreDef| store.kind != StoreKind::Harness && store.name != "one-file";
    storebench::STORES.iter().filter(kept).filter(|store| tier::asks_for(store)).filter(can_run).collect()
}

/// The files when most records were removed, and when space was given back, over those before.
fn shares(measured: &Measurements) -> (f64, Option<f64>) {
    let back = measured.space_reclaim.as_ref().unwrap();
    let share = |bytes: u64| bytes as f64 / measured.disk.allocated_bytes as f64;
    let compacted = back.compacted.as_ref();
    assert!(compacted.is_none_or(|one| one.took_ns > 0 && one.peak_bytes >= one.disk.allocated_bytes));
    (share(back.disk.allocated_bytes), compacted.map(|one| share(one.disk.allocated_bytes)))
}

/// Each trial is audited after space was given back. sqlite.org, lang_vacuum.html: a file keeps its empty pages, and VACUUM gives them
/// back. LMDB's authors: the file never shrinks; a compacting copy leaves free pages out.
#[test]
fn stores_keep_or_give_back_space_as_their_documents_say() {
    let (scratch, stores) = (Scratch::new(), stores());
    let names: Vec<&str> = stores.iter().map(|store| store.name).collect();
    // As shipped, so that Redis has no log.
    let run =
        "run life --quick --records 1000 --record-size 1KiB --churn replace --turnover 1 --guarantee default";
    scratch.storebench(&format!("{run} --store {}", names.join(","))).ends(Exit::Success);
    let run = scratch.results();
    for store in stores {
        let trial = run.trials.iter().find(|trial| trial.cell.store() == store.name).unwrap();
        let measured = trial.ok().unwrap_or_else(|| panic!("{}: {:?}", store.name, trial.outcome));
        assert_eq!(measured.rounds.len(), 10);
        let (left, given_back) = shares(measured);
        let has_way = !matches!(store.name, "redis" | "sled" | "unqlite") && store.kind != StoreKind::Folder;
        assert_eq!(given_back.is_some(), has_way, "{}", store.name);
        match store.name {
            "sqlite" | "lmdb" => {
                assert!(left > 0.9, "{}: {left}", store.name);
                assert!(given_back < Some(0.5), "{}: {given_back:?}", store.name);
            }
            // Of the other layout the folders stay.
            "flat-folder" => assert!(left < 0.2, "{left}"),
            _ => {}
        }
    }
    let said = scratch.storebench("report latest --table").ends(Exit::Success);
    assert!(said.out.contains("Space reclaim") && said.out.contains("longest"), "{said}");
    scratch.assert_nothing_left();
}

/// Each backup has all records while they are overwritten, removed and inserted: the trial opens it and counts. And threads that write at once
/// leave what the audit looks for.
#[test]
fn backups_are_whole_while_several_threads_write() {
    let (scratch, stores) = (Scratch::new(), stores());
    let backs_up = |store: &&&StoreDef| store.capabilities.backup;
    let names: Vec<&str> = stores.iter().filter(backs_up).map(|store| store.name).collect();
    let run = "run life --quick --records 2000 --record-size 1KiB --churn uniform,replace,log --reader backup --threads 2";
    scratch
        .storebench(&format!("{run} --guarantee process,none --store {},redb", names.join(",")))
        .ends(Exit::Success);
    let run = scratch.results();
    for store in &names {
        // Where SQLite has no WAL, a backup would keep writers waiting.
        let all = || run.trials.iter().filter(|trial| trial.cell.store() == *store);
        let whole: Vec<_> = all().filter_map(|trial| trial.ok()?.concurrent_work.as_ref()).collect();
        assert!(whole.len() >= 3, "{store}: {:?}", all().map(|trial| &trial.outcome).collect::<Vec<_>>());
        for backups in whole {
            assert_eq!((backups.took_ns.len(), backups.bytes.len()), (10, 10));
            assert!(backups.bytes.iter().all(|bytes| *bytes > 2_000 * 1_024), "{store}: {backups:?}");
        }
    }
    assert!(run.trials.iter().all(|trial| trial.cell.store() != "redb"), "it has no backup of its own");
    let said = scratch.storebench("report latest --table").ends(Exit::Success);
    assert!(said.out.contains("VACUUM INTO") && said.out.contains("checkpoint"), "{said}");
    scratch.assert_nothing_left();
}

/// Each trial's audit reads what was overwritten meanwhile. postgresql.org, sql-vacuum.html: FULL "requires an ACCESS EXCLUSIVE lock", which
/// even reads wait for.
#[test]
fn who_may_work_while_space_is_given_back_is_seen() {
    let (scratch, stores) = (Scratch::new(), stores());
    let kept = |offer: &GuaranteeOffer| offer.guarantee >= Guarantee::Process;
    let able = |store: &&&StoreDef| store.capabilities.compacts_beside && store.offers.iter().any(kept);
    let names = |all: &[&StoreDef]| all.iter().map(|store| store.name).collect::<Vec<_>>().join(",");
    let run =
        "run life --quick --records 4000 --record-size 1KiB --churn uniform --turnover 1 --guarantee process";
    let run = format!("{run} --space-reclaim concurrent --store {}", names(&stores));
    scratch.storebench(&run).ends(Exit::Success);
    let run = scratch.results();
    for store in stores.iter().filter(able) {
        let trial = run.trials.iter().find(|trial| trial.cell.store() == store.name).unwrap();
        let measured = trial.ok().unwrap_or_else(|| panic!("{}: {:?}", store.name, trial.outcome));
        let compacted = measured.space_reclaim.as_ref().and_then(|back| back.compacted.as_ref()).unwrap();
        let calls = compacted.meanwhile.as_ref().unwrap_or_else(|| panic!("{}: {compacted:?}", store.name));
        assert_eq!(calls.refused, None, "{}", store.name);
        assert!(calls.reads_before.count > 0 && calls.writes_before.count > 0, "{}: {calls:?}", store.name);
        // In a few milliseconds a thread may not have its turn.
        if compacted.took_ns > 20_000_000 {
            assert!(calls.reads.count > 0 && calls.writes.count > 0, "{}: {compacted:?}", store.name);
        }
        if store.name == "postgres" {
            assert!(compacted.took_ns > 5_000_000, "too short to see who waits: {compacted:?}");
            assert!(calls.reads.plus(calls.writes).longest_ns > compacted.took_ns / 4, "{compacted:?}");
        }
    }
    let measured: Vec<&str> = run.trials.iter().map(|trial| trial.cell.store()).collect();
    assert_eq!(measured.len(), stores.iter().filter(able).count(), "the others have no way: {measured:?}");
    let said = scratch.storebench("report latest --table").ends(Exit::Success);
    assert!(
        said.out.contains("Space reclaim during other work") && said.out.contains("longest write"),
        "{said}"
    );
    scratch.assert_nothing_left();
}

/// sqlite.org, pragma.html: with INCREMENTAL, free pages stay in the file until `incremental_vacuum` removes them.
#[test]
fn sqlite_gives_back_its_free_pages_some_at_a_time() {
    let scratch = Scratch::new();
    let run =
        "run life --quick --store sqlite --set sqlite.auto_vacuum=INCREMENTAL --records 1000 --churn waves";
    let all = "--record-size 100B..2KiB --space-reclaim alone,concurrent --guarantee process";
    scratch.storebench(&format!("{run} {all}")).ends(Exit::Success);
    let run = scratch.results();
    let all: Vec<&Measurements> = run.trials.iter().filter_map(|trial| trial.ok()).collect();
    let [alone, beside] = all.as_slice() else { panic!("{:?}", run.trials) };
    // Before space was given back both had the same records.
    assert_eq!(alone.stored, beside.stored);
    for measured in all {
        let (left, given_back) = shares(measured);
        assert!(left > 0.9 && given_back < Some(0.5), "{left} {given_back:?}");
        let compacted = measured.space_reclaim.as_ref().unwrap().compacted.as_ref().unwrap();
        assert_eq!(compacted.by, "incremental_vacuum");
    }
    scratch.assert_nothing_left();
}

/// sqlite.org, wal.html: the writer whose commit makes the log reach 1,000 pages runs the checkpoint.
#[test]
fn checkpoints_of_sqlite_are_seen_and_large_batches_make_steps_wait() {
    let scratch = Scratch::new();
    let run = "run life --quick --store sqlite --records 4000 --record-size 4KiB --churn uniform --writer none,batch";
    scratch.storebench(&format!("{run} --guarantee process")).ends(Exit::Success);
    let run = scratch.results();
    let of = |writer: &str| {
        let trial = run.trials.iter().find(|trial| trial.cell.text(Axis::WRITER) == writer).unwrap();
        trial.ok().unwrap_or_else(|| panic!("{:?}", trial.outcome)).clone()
    };
    let (alone, beside) = (of("none"), of("batch"));
    let checkpoints = |measured: &Measurements| {
        let upkeep = &measured.pauses.as_ref().unwrap().upkeep;
        upkeep.iter().find(|one| one.work == "checkpoint").map(|one| one.after + one.otherwise)
    };
    assert!(checkpoints(&alone) >= Some(3), "{:?}", alone.pauses);
    assert_eq!(beside.concurrent_work.as_ref().map(|batches| batches.took_ns.len()), Some(10));
    assert!(alone.concurrent_work.is_none());
    let shares = [&alone, &beside].map(|one| one.operation("update").unwrap().latency.max_ns);
    let batch = *beside.concurrent_work.as_ref().unwrap().took_ns.iter().min().unwrap();
    assert!(shares[1] > batch / 2, "one waits for the other: {shares:?}, {batch}");
    scratch.assert_nothing_left();
}

/// redb's design.md, "Database repair": after an unclean shutdown it walks the data tree. LMDB has nothing to repair.
#[test]
fn redb_reads_all_of_its_file_to_open_after_a_kill() {
    let scratch = Scratch::new();
    let run =
        "run life --quick --store redb,lmdb --records 100 --turnover 1 --churn uniform --recovery 1000,30000";
    scratch.storebench(run).ends(Exit::Success);
    let run = scratch.results();
    let read = |store: &str| {
        let trial = run.trials.iter().find(|trial| trial.cell.store() == store).unwrap();
        let check =
            trial.ok().unwrap_or_else(|| panic!("{:?}", trial.outcome)).recovery_check.clone().unwrap();
        let [few, many] = check.sizes.as_slice() else { panic!("{check:?}") };
        let killed = |size: &Recovery| size.killed.iter().filter_map(|one| one.read_bytes).min().unwrap();
        (killed(few), killed(many), many.closed.read_bytes.unwrap())
    };
    let (few, many, closed) = read("redb");
    // Values of up to 400 bytes.
    assert!(many > 30_000 * 200 && many > 10 * few, "{few}, {many}");
    assert!(closed < many / 10, "{closed}, {many}");
    let (_, many, _) = read("lmdb");
    assert!(many < 1 << 20, "{many}");
}

#[test]
fn a_life_can_be_lived_on_file_systems_disks_and_machines() {
    if !can_simulate() {
        return;
    }
    let scratch = with_disk();
    let machine = if can_limit("a life on a machine") { "here,beaglebone-black" } else { "here" };
    let run = format!(
        "run life --quick --store sqlite,flat-folder --records 50 --turnover 1 --churn uniform --guarantee process \
         --place ext4:4096 --disk here,recorder --machine {machine} --at disk"
    );
    scratch.storebench(&run).ends(Exit::Success);
    let run = scratch.results();
    assert_eq!(run.trials.len(), 4 * machine.split(',').count());
    for trial in &run.trials {
        let (cell, measured) = (&trial.cell, trial.ok().unwrap_or_else(|| panic!("{:?}", trial.outcome)));
        assert_eq!((measured.rounds.len(), measured.space_reclaim.as_ref().unwrap().removed), (10, 45));
        let requests = trial.disk.as_ref().map(|disk| disk.counts.requests.writes.requests);
        assert_eq!(requests > Some(0), cell.disk() == "recorder", "{}: {requests:?}", cell.id());
        assert_eq!(trial.machine.is_some(), cell.machine() != "here", "{}", cell.id());
    }
    let said = scratch.storebench("report latest --table").ends(Exit::Success);
    assert!(said.out.contains("Space reclaim") && said.out.contains("recorder"), "{said}");
    assert_gone(&scratch);
}

/// sqlite.org, wal.html, "Avoiding Excessively Large WAL Files": a checkpoint can't go past what a reader still sees, so the WAL grows without
/// bound. lmdb.h: a long read transaction keeps pages from being used again.
#[test]
fn files_grow_under_a_reader_that_is_held() {
    let scratch = Scratch::new();
    let run = "run life --quick --store sqlite,lmdb,flat-folder --reader none,held --records 1000 --record-size 1KiB --churn uniform";
    scratch.storebench(&format!("{run} --guarantee process,none")).ends(Exit::Success);
    let run = scratch.results();
    let bytes = |store: &str, reader: &str| {
        let of = |cell: &Cell| cell.store() == store && cell.text(Axis::READER) == reader;
        let in_wal = |cell: &Cell| store != "sqlite" || cell.guarantee().tier() == Some(Guarantee::Process);
        let trial = run.trials.iter().find(|trial| of(&trial.cell) && in_wal(&trial.cell));
        trial.unwrap().ok().unwrap().rounds.last().unwrap().disk.allocated_bytes
    };
    for store in ["sqlite", "lmdb"] {
        let (held, none) = (bytes(store, "held"), bytes(store, "none"));
        assert!(held > 2 * none, "{store}: {held} beside {none}");
    }
    let of_folder = |cell: &Cell| cell.store() == "flat-folder" && cell.text(Axis::READER) == "held";
    assert!(run.trials.iter().all(|trial| !of_folder(&trial.cell)), "it has no such reader");
    // Its journal would keep writers waiting.
    let blocks =
        |cell: &Cell| cell.guarantee().tier() == Some(Guarantee::None) && cell.text(Axis::READER) == "held";
    let trial =
        run.trials.iter().find(|trial| trial.cell.store() == "sqlite" && blocks(&trial.cell)).unwrap();
    assert!(trial.ok().is_none(), "{:?}", trial.outcome);
    scratch.assert_nothing_left();
}
