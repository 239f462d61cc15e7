//! States after power cuts: of stores that keep what they promise, and of one that does not.

use std::process::Command;

use storebench_core::error::Exit;
use storebench_core::result::{
    Control, CutCheck, CutResults, FaultCheck, FaultKind, FaultOutcome, FindingCount, Phase, StateFinding,
};
use storebench_host::run::Run;

use crate::cli::support::{Scratch, TINY, is_root, skipped};
use crate::file_systems::{assert_gone, can_mount, with_disk};

/// Whether this machine can make up states after power cuts on ext4; if it can't, the test says so.
fn can_cut() -> bool {
    if !is_root() || !std::path::Path::new("/dev/fuse").exists() {
        skipped("states after power cuts", "needs root and /dev/fuse");
        return false;
    }
    can_mount("ext4:4096")
}

fn cuts<'r>(run: &'r Run, store: &str) -> &'r CutResults {
    let trial = run.trials.iter().find(|trial| trial.cell.store() == store).unwrap();
    match trial.ok().and_then(|measured| measured.cut_check.as_ref()) {
        Some(CutCheck::Made(cuts)) => cuts,
        other => panic!("{store}: {other:?} {:?}", trial.outcome),
    }
}

/// The states of one store with settings, checked against a guarantee.
fn judged(store: &str, guarantee: &str, set: &str, states: u32) -> (Scratch, CutResults) {
    let scratch = with_disk();
    let run = format!("run crash --store {store} --cuts {states} {set} {TINY} --at disk");
    let run = run.replace("--guarantee process", &format!("--guarantee {guarantee}"));
    scratch.storebench(&run).ends(Exit::Success);
    let run = scratch.results();
    let cuts = cuts(&run, store).clone();
    (scratch, cuts)
}

#[test]
fn what_is_synced_survives_and_each_control_is_noticed() {
    if !can_cut() {
        return;
    }
    let (scratch, cuts) = judged("lmdb", "power", "", 20);
    assert_eq!((cuts.states(), cuts.of(StateFinding::Held)), (20, 20), "{cuts:?}");
    assert!(cuts.steps == 300 && cuts.flushes > 100 && cuts.requests > cuts.flushes, "{cuts:?}");
    assert!(cuts.bad.is_empty() && cuts.open_ns.len() == 20, "{cuts:?}");
    // While it was created, wrote, settled (which may ask nothing of the disk) and recovered.
    let states = |phase| cuts.phases.get(&phase).map_or(0, |states| states.states);
    let [creating, writing, settling, recovering] = Phase::ALL.map(states);
    assert!(creating > 0 && writing >= 12 && recovering > 0, "{cuts:?}");
    assert_eq!(creating + writing + settling + recovering, 20);
    for control in Control::ALL {
        let FindingCount { states, caught } = cuts.controls[&control];
        assert!(states > 0 && caught > 0, "{control:?}: {cuts:?}");
    }
    let said = scratch.storebench("report latest").ends(Exit::Success);
    let joined = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("lmdb: nothing acknowledged was lost in 20 states"), "{said}");
    let said = scratch.storebench("crash show latest").ends(Exit::Success);
    assert!(said.out.contains("No state was kept"), "{said}");
    scratch.storebench("crash show latest 0.1").complains(Exit::BadValue, &["no state 0.1"]);
    assert_gone(&scratch);
}

/// Held to a tier that these settings don't give: its folder is not synced after the journal was deleted (sqlite.org, PRAGMA
/// synchronous).
#[test]
fn sqlite_loses_its_last_commit_with_full_and_a_deleted_journal_and_not_with_extra() {
    if !can_cut() {
        return;
    }
    let set = "--set sqlite.journal_mode=DELETE --set sqlite.synchronous=";
    let (scratch, cuts) = judged("sqlite", "power", &format!("{set}FULL"), 20);
    assert!(cuts.of(StateFinding::Lost) > 0, "{cuts:?}");
    assert_eq!(cuts.of(StateFinding::Held) + cuts.of(StateFinding::Lost), cuts.states(), "{cuts:?}");
    assert!(cuts.lost_steps.iter().all(|lost| *lost == 1), "no more than the last: {cuts:?}");
    let said = scratch.storebench("report latest").ends(Exit::Success);
    assert!(said.out.contains("power asked for, process given"), "{said}");
    let settings = "settings: sqlite.journal_mode=DELETE, sqlite.synchronous=FULL";
    assert!(said.out.contains(settings), "what is the same in all trials stands in the text: {said}");
    can_be_repeated(&scratch, &cuts);
    let (_, cuts) = judged("sqlite", "power", &format!("{set}EXTRA"), 20);
    assert_eq!(cuts.of(StateFinding::Held), cuts.states(), "{cuts:?}");
}

/// The first bad state is reported, and its disk is usable without storebench: what was lost is missing there.
fn can_be_repeated(scratch: &Scratch, cuts: &CutResults) {
    let bad = &cuts.bad[0];
    let kept = bad.kept.as_ref().unwrap();
    // Where the folder is not synced, nothing that the disk was asked for need be missing.
    assert!(kept.missing.len() as u64 <= kept.pieces_before, "{kept:?}");
    let name = bad.name(0);
    let said = scratch.storebench("crash show latest").ends(Exit::Success);
    assert!(said.out.contains(&format!("{name}: sqlite")), "{said}");
    let said = scratch.storebench(&format!("crash show latest {name}")).ends(Exit::Success);
    assert!(said.out.contains("newest lost") && said.out.contains("journal_mode=delete"), "{said}");
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for told in [
        "lost: the newest acknowledged steps; all before them are there",
        "promised: power excludes that; with these settings the store gives process",
        "do: leave out the settings that make it give process",
        &format!("{name} --to DIR"),
    ] {
        assert!(words.contains(told), "{told}: {said}");
    }
    scratch.storebench(&format!("crash export latest {name} --to state")).ends(Exit::Success);
    let state = scratch.path().join("state");
    let steps = std::fs::read_to_string(state.join("history.jsonl")).unwrap();
    assert_eq!(steps.lines().count() as u64, bad.begun[0]);
    let script = Command::new(state.join("look.sh")).output().unwrap();
    assert!(script.status.success(), "{script:?}");
    let files = std::fs::read_dir(state.join("mnt/store")).unwrap().count();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(
        mounts.lines().any(|line| line.contains("/state/mnt ") && line.contains("nosuid,nodev")),
        "{mounts}"
    );
    let unmounted = Command::new("umount").arg(state.join("mnt")).status().unwrap();
    assert!(unmounted.success() && files > 0);
    scratch
        .storebench(&format!("crash export latest {name} --to state"))
        .complains(Exit::BadValue, &["not empty"]);
}

#[test]
fn weaker_settings_lose_what_their_documents_say() {
    if !can_cut() {
        return;
    }
    // sqlite.org, wal.html: with NORMAL a commit can be rolled back by a power cut, and the database stays consistent.
    let (_, cuts) = judged("sqlite", "power", "--set sqlite.synchronous=NORMAL", 20);
    assert!(cuts.of(StateFinding::Lost) > 0, "{cuts:?}");
    assert_eq!(
        cuts.of(StateFinding::Held) + cuts.of(StateFinding::Lost),
        cuts.states(),
        "never a hole: {cuts:?}"
    );
    // lmdb.h: MDB_NOMETASYNC may undo the last committed transaction.
    let (_, cuts) = judged("lmdb", "power", "--set lmdb.nometasync=true", 20);
    assert!(cuts.of(StateFinding::Lost) > 0, "{cuts:?}");
    assert_eq!(cuts.of(StateFinding::Held) + cuts.of(StateFinding::Lost), cuts.states(), "{cuts:?}");
    // The same, MDB_NOSYNC: it may corrupt the database, where the file system does not keep the order of writes.
    let (_, cuts) = judged("lmdb", "power", "--set lmdb.nosync=true", 20);
    assert!(cuts.states() > cuts.of(StateFinding::Held) + cuts.of(StateFinding::Lost), "{cuts:?}");
}

#[test]
fn sessions_that_write_at_once_are_held_to_one_order() {
    if !can_cut() {
        return;
    }
    let (_, cuts) = judged("sqlite", "power", "--threads 3", 10);
    assert_eq!((cuts.sessions, cuts.steps), (3, 300));
    assert_eq!(cuts.of(StateFinding::Held), cuts.states(), "{cuts:?}");
}

#[test]
fn a_fault_is_told_or_does_no_harm() {
    if !can_cut() {
        return;
    }
    let scratch = with_disk();
    let run = format!("run crash --store lmdb --cuts 0 --faults 2 {TINY} --at disk");
    let run = run.replace("--guarantee process", "--guarantee power");
    scratch.storebench(&run).ends(Exit::Success);
    let run = scratch.results();
    let measured = run.trials[0].ok().unwrap();
    let Some(FaultCheck::Made(faults)) = &measured.fault_check else { panic!("{:?}", measured.fault_check) };
    assert!(measured.cut_check.is_none());
    for kind in FaultKind::ALL {
        let struck: u64 = FaultOutcome::ALL.iter().map(|aftermath| faults.of(kind, *aftermath)).sum();
        assert!(struck > 0, "{kind:?} struck nothing: {faults:?}");
    }
    // Without checksums a flipped bit can't be distinguished from the one that was written.
    let silent = faults.silent.iter().filter(|silent| silent.kind != FaultKind::BitFlip);
    assert_eq!(silent.count(), 0, "{faults:?}");
    for kind in [FaultKind::WriteForEver, FaultKind::FlushForEver, FaultKind::NoSpace] {
        assert_eq!(faults.of(kind, FaultOutcome::Unharmed), 0, "{kind:?} goes unnoticed: {faults:?}");
    }
    let said = scratch.storebench("report latest").ends(Exit::Success);
    assert!(said.out.contains("the file system is full"), "{said}");
    assert_gone(&scratch);
}

#[test]
fn a_server_is_cut_with_its_process() {
    if !can_cut_server("postgres") {
        return;
    }
    let (scratch, cuts) = judged("postgres", "power", "", 5);
    assert_eq!(cuts.of(StateFinding::Held), cuts.states(), "{cuts:?}");
    assert!(cuts.states() > 0, "{cuts:?}");
    assert_gone(&scratch);
}

#[test]
fn a_place_that_is_no_image_has_no_states_and_says_why() {
    let scratch = with_disk();
    scratch.storebench(&format!("run crud --store sqlite --cuts 5 {TINY} --at disk")).ends(Exit::Success);
    let run = scratch.results();
    let check = run.trials[0].ok().unwrap().cut_check.as_ref().unwrap();
    assert!(
        matches!(check, CutCheck::NotMade { reason } if reason.contains("--place ext4:4096")),
        "{check:?}"
    );
}

/// The folder is not synced after a file was renamed in it: POSIX promises nothing then, and ext2 and XFS keep to that.
#[test]
fn a_file_that_was_renamed_can_vanish_where_its_folder_is_not_synced() {
    for (mkfs, place) in [("ext2", "ext2:4096"), ("xfs", "xfs")] {
        if !can_cut() || !can_mount(mkfs) {
            continue;
        }
        let set = |sync_folder: bool| {
            format!(
                "--place {place} --set flat-folder.write=rename --set flat-folder.sync_folder={sync_folder}"
            )
        };
        let (_, cuts) = judged("flat-folder", "power", &set(false), 20);
        assert!(cuts.of(StateFinding::Lost) > 0, "{place}: {cuts:?}");
        let (_, cuts) = judged("flat-folder", "power", &set(true), 10);
        assert_eq!(cuts.of(StateFinding::Held), cuts.states(), "{place}: {cuts:?}");
    }
}

#[test]
fn the_time_of_opening_after_a_kill_is_measured() {
    let scratch = Scratch::new();
    let run = format!("run crud --store sqlite,redb,memory --recovery 100,2000 {TINY}");
    scratch.storebench(&run).ends(Exit::Success);
    let run = scratch.results();
    for trial in &run.trials {
        let check = trial.ok().unwrap().recovery_check.as_ref().unwrap();
        if trial.cell.store() == "memory" {
            assert!(check.sizes.is_empty() && check.not_made.is_some(), "{check:?}");
            continue;
        }
        let records: Vec<u64> = check.sizes.iter().map(|size| size.records).collect();
        assert_eq!((records.as_slice(), &check.not_made), ([100, 2_000].as_slice(), &None));
        for size in &check.sizes {
            let added: Vec<u64> = size.killed.iter().map(|reopened| reopened.added).collect();
            assert_eq!((added.len(), added[0]), (5, size.records));
            assert!(size.killed.iter().all(|reopened| reopened.open_ns > 0 && reopened.first_read_ns > 0));
            let held: u64 = added.iter().sum();
            assert_eq!((size.closed.records, size.closed.added), (held, 0), "{size:?}");
            // With a cold cache: after it was closed, then after it was killed with more.
            let [closed, killed] = [size.cold_closed, size.cold_killed].map(Option::unwrap);
            let closed_with = held + closed.added;
            assert_eq!(
                (closed.records, killed.records),
                (closed_with, closed_with + killed.added),
                "{size:?}"
            );
            assert!(closed.added > 0 && killed.added > 0 && size.cache_emptied_by.is_some(), "{size:?}");
            assert!(size.created_ns > 0 && size.closed.close_ns.is_some(), "{size:?}");
            // redb is at `power`, with a power cut among the lives.
            let cut = (trial.cell.store() == "redb").then(|| killed.records + size.cut.unwrap().added);
            assert_eq!(size.cut.map(|cut| cut.records), cut, "{:?}: {size:?}", trial.cell);
            assert!(size.not_cut.is_none() && size.cut.is_none_or(|cut| cut.added > 0), "{size:?}");
            assert!(size.killed.iter().chain([&closed]).all(|one| one.first_write_ns > 0), "{size:?}");
        }
    }
    let said = scratch.storebench("report latest").ends(Exit::Success);
    assert!(said.out.contains("Opening: how long a store takes"), "{said}");
    scratch
        .storebench(&format!("run crud --store sqlite --recovery 0 {TINY}"))
        .complains(Exit::BadValue, &["recovery"]);
    scratch.assert_nothing_left();
}

/// mdbx.h, MDBX_SAFE_NOSYNC: after a system crash the last transactions are lost, and the database goes back to the last one that was synced
/// as a whole. It knows that there was one by the number of the boot, which it reads as it is loaded. One that was never synced may not
/// open, or not pass its own check.
#[test]
fn libmdbx_without_syncs_mixes_no_states() {
    if !can_cut() {
        return;
    }
    let (_, cuts) = judged("libmdbx", "process", "", 30);
    let mixed = [StateFinding::Hole, StateFinding::Wrong, StateFinding::Resurrected];
    assert!(
        mixed.iter().all(|finding| cuts.of(*finding) == 0) && cuts.of(StateFinding::Lost) > 0,
        "{cuts:?}"
    );
}

/// Whether a check found more than acknowledged steps that were lost.
fn is_damaged(cuts: &CutResults) -> bool {
    let damage = [
        StateFinding::Hole,
        StateFinding::Wrong,
        StateFinding::Refused,
        StateFinding::Unusable,
        StateFinding::Unsound,
    ];
    damage.iter().any(|finding| cuts.of(*finding) > 0)
}

/// Whether a server can be had here, and disks cut under it.
fn can_cut_server(name: &str) -> bool {
    let server = storebench::STORES.iter().find(|store| store.name == name).unwrap();
    match server.lacks() {
        Some(why) => {
            skipped(name, &why);
            false
        }
        None => can_cut(),
    }
}

/// redis.io, Redis persistence: with everysec a disaster may cost a second of writes, with always none.
#[test]
fn redis_loses_what_it_syncs_once_a_second() {
    if !can_cut_server("redis") {
        return;
    }
    let (_, cuts) = judged("redis", "power", "--set redis.appendfsync=everysec", 10);
    assert!(cuts.of(StateFinding::Lost) > 0, "{cuts:?}");
    let (_, cuts) = judged("redis", "power", "", 10);
    assert_eq!(cuts.of(StateFinding::Held), cuts.states(), "{cuts:?}");
}

/// postgresql.org, Write Ahead Log: with full_page_writes off, a page that is half written when the power fails can't be repaired. Of the
/// states that are cut during a checkpoint on a disk that tears pages one in seven was damaged; of the settings as shipped none is.
/// Without torn blocks a page of 8 KiB can still be half written, as it is two of them: nothing follows from that side.
#[test]
fn postgres_without_full_page_writes_is_damaged_where_pages_tear() {
    if !can_cut_server("postgres") {
        return;
    }
    let off = "--settling --set postgres.full_page_writes=off";
    let torn = |seed: u32| judged("postgres", "power", &format!("--torn --seed {seed} {off}"), 40).1;
    assert!((1..=3).any(|seed| is_damaged(&torn(seed))), "no state of three checks was damaged");
    let (_, shipped) = judged("postgres", "power", "--torn --settling", 20);
    assert_eq!(shipped.of(StateFinding::Held), shipped.states(), "{shipped:?}");
    let settling = shipped.phases.get(&Phase::Settling).map_or(0, |states| states.states);
    assert_eq!(settling, 16, "the others are cut while they recover: {shipped:?}");
}

/// postgresql.org, Write Ahead Log: turning fsync off can corrupt the database when the power fails. One check need not meet a state in
/// which that shows.
#[test]
fn postgres_without_syncs_is_damaged_by_a_power_cut() {
    if !can_cut_server("postgres") {
        return;
    }
    let torn = |seed: u32| {
        judged("postgres", "power", &format!("--torn --seed {seed} --set postgres.fsync=off"), 20).1
    };
    let found = (1..=5).any(|seed| is_damaged(&torn(seed)));
    assert!(found, "no state of five checks was damaged");
}
