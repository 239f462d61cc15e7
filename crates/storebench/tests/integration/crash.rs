//! States after power cuts: of stores that keep what they promise, and of one that does not.

use storebench_core::error::Exit;
use storebench_core::result::{Control, CutCheck, Cuts, Finding, Run};

use crate::cli::support::{TINY, assert_complete, is_root, skipped};
use crate::file_systems::{assert_gone, can_mount, with_disk};

/// Whether this machine can make up states after power cuts on ext4; where it can't, the test says so.
fn can_cut() -> bool {
    if !is_root() || !std::path::Path::new("/dev/fuse").exists() {
        skipped("states after power cuts", "needs root and /dev/fuse");
        return false;
    }
    can_mount("ext4:4096")
}

fn cuts<'r>(run: &'r Run, store: &str) -> &'r Cuts {
    let trial = run.trials.iter().find(|trial| trial.cell.store() == store).unwrap();
    match trial.ok().and_then(|measured| measured.cut_check.as_ref()) {
        Some(CutCheck::Made(cuts)) => cuts,
        other => panic!("{store}: {other:?} {:?}", trial.outcome),
    }
}

#[test]
fn what_is_synced_survives_and_a_disk_that_ignores_flushes_is_noticed() {
    if !can_cut() {
        return;
    }
    let scratch = with_disk();
    let run = format!("run crash --store sqlite,lmdb --cuts 8 {TINY} --at disk");
    let run = run.replace("--guarantee process", "--guarantee power");
    scratch.storebench(&run).ends(Exit::Success);
    let run = scratch.results();
    assert_complete(&run, 2, 1);
    for store in ["sqlite", "lmdb"] {
        let cuts = cuts(&run, store);
        assert_eq!((cuts.states(), cuts.of(Finding::Held)), (8, 8), "{store}: {cuts:?}");
        assert!(cuts.steps == 300 && cuts.flushes > 100 && cuts.requests > cuts.flushes, "{store}: {cuts:?}");
        let caught = cuts.controls[&Control::NoFlush];
        // The store may have no use any more for something that such a disk forgets.
        assert!(caught.caught > 0 && caught.caught * 2 >= caught.states, "{store}: {cuts:?}");
    }
    let said = scratch.storebench("report latest").ends(Exit::Success);
    let joined = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("lmdb: nothing acknowledged was lost in 8 states"), "{said}");
    assert_gone(&scratch);
}

#[test]
fn sqlite_loses_its_last_commit_with_full_and_a_deleted_journal_and_not_with_extra() {
    if !can_cut() {
        return;
    }
    let lost = |synchronous: &str, guarantee: &str| {
        let scratch = with_disk();
        let set = format!("--set sqlite.journal_mode=DELETE --set sqlite.synchronous={synchronous}");
        let run = format!("run crash --store sqlite --cuts 16 {set} {TINY} --at disk");
        let run = run.replace("--guarantee process", guarantee);
        scratch.storebench(&run).ends(Exit::Success);
        let run = scratch.results();
        let cuts = cuts(&run, "sqlite");
        assert_eq!(cuts.of(Finding::Held) + cuts.of(Finding::Lost), cuts.states(), "{cuts:?}");
        assert!(cuts.lost_steps.iter().all(|lost| *lost == 1), "no more than the last: {cuts:?}");
        cuts.of(Finding::Lost)
    };
    // Its folder is not synced after the journal was deleted (sqlite.org, PRAGMA synchronous).
    assert!(lost("FULL", "--guarantee default") > 0);
    assert_eq!(lost("EXTRA", "--guarantee power"), 0);
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
