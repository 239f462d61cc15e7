//! Settings for one store.

use std::fs;
use std::sync::OnceLock;

use storebench_core::error::Exit;

use super::support::{Scratch, contents};

const WORK: &str = "--records 50 --size 100B --mix get=50,update=50";

/// One tuning, made once for all tests here.
fn tuned() -> &'static (Scratch, String) {
    static TUNED: OnceLock<(Scratch, String)> = OnceLock::new();
    TUNED.get_or_init(|| {
        let scratch = Scratch::in_memory();
        let said = scratch
            .storebench(&format!("tune sqlite {WORK} --budget 8s --html answer.html"))
            .ends(Exit::Success);
        for part in ["values can be tried", "each trial loads 50 records", "each alone beside the default"] {
            assert!(said.err.contains(part), "{part}: {said}");
        }
        scratch.assert_nothing_left();
        (scratch, said.out)
    })
}

fn folder() -> String {
    let mut names = fs::read_dir(tuned().0.join("storebench-runs")).unwrap();
    names.next().unwrap().unwrap().path().display().to_string()
}

#[test]
fn settings_are_told_with_what_was_tried_and_the_code() {
    let (scratch, out) = tuned();
    assert!(
        out.contains("Change these settings of sqlite")
            != (out.contains("Keep the default settings")
                || out.contains("Couldn't tell whether other settings")),
        "{out}"
    );
    for part in [
        "What that gains",
        "What each setting is worth",
        "page_size, from 4KiB",
        // A setting that promises less is not measured at all.
        "journal_mode=OFF: ",
        "journal_mode=PERSIST: risks more than the default.",
        "uarantee process. A kill costs nothing; a power cut can cost",
        "PRAGMA journal_mode = wal;",
    ] {
        assert!(out.contains(part), "{part} is missing:\n{out}");
    }
    assert!(!out.contains("journal_mode=WAL"), "the default itself is told:\n{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");
    let page = fs::read_to_string(scratch.join("answer.html")).unwrap();
    assert!(page.contains("What each setting is worth"));
    assert_eq!(fs::read_to_string(format!("{}/report.html", folder())).unwrap(), page);
}

#[test]
fn an_earlier_tuning_answers_again_but_not_for_other_work() {
    let (scratch, out) = tuned();
    let before = contents(scratch.path());
    let same = scratch.storebench(&format!("tune sqlite --from {}", folder())).ends(Exit::Success);
    assert_eq!(same.out, *out);
    let shown = scratch.storebench("report latest").ends(Exit::Success);
    assert!(shown.out.contains("What each setting is worth"), "{shown}");
    for (work, complaint) in [
        ("tune sqlite --records 50 --size 100B", "a mix of 50 get, 50 update"),
        (
            "tune sqlite --records 50 --size 100B --mix get=50,update=50 --guarantee power",
            "guarantee process",
        ),
        ("tune rocksdb --records 50 --size 100B", "not made to tune rocksdb"),
    ] {
        let said = scratch.storebench(&format!("{work} --from {}", folder())).ends(Exit::Nothing);
        assert!(said.err.contains(complaint), "{said}");
    }
    let said = scratch.storebench(&format!("tune sqlite {WORK} --seed 1 --from {}", folder()));
    assert!(said.ends(Exit::Usage).err.contains("cannot be used with"), "{work}", work = "--seed");
    assert_eq!(contents(scratch.path()), before, "nothing was written");
}

#[test]
fn what_can_t_be_tuned_says_why() {
    let scratch = Scratch::in_memory();
    let said = scratch.storebench(&format!("tune null {WORK}")).ends(Exit::Nothing);
    assert!(said.err.contains("null has no settings that are worth a trial"), "{said}");
    let said = scratch.storebench(&format!("tune sqlit {WORK}")).ends(Exit::UnknownStore);
    assert!(said.err.contains("did you mean sqlite?"), "{said}");
    let said =
        scratch.storebench(&format!("tune sqlite {WORK} --budget 1s --memory 1KiB")).ends(Exit::Nothing);
    assert!(said.err.contains("no settings that were tried can be taken, nor the default"), "{said}");
    scratch.assert_nothing_left();
}

#[test]
fn a_budget_that_is_too_short_still_has_an_answer() {
    let scratch = Scratch::in_memory();
    let said = scratch.storebench(&format!("tune sqlite {WORK} --budget 1ms")).ends(Exit::Success);
    assert!(said.out.contains("Asked") && said.err.contains("each alone beside the default"), "{said}");
}

#[test]
fn advice_can_end_with_tuned_settings() {
    let scratch = Scratch::in_memory();
    let said = scratch
        .storebench("advise --records 50 --size 100B --store sqlite,leveldb --budget 10s --tune")
        .ends(Exit::Success);
    let (advice, tuned) = said.out.split_once("What that gains").unwrap_or_else(|| panic!("{said}"));
    assert!(advice.contains("How sure is that?") && tuned.contains("Open it like this"), "{said}");
    assert!(said.err.contains(", half of the budget"), "{said}");
    assert_eq!(said.out.matches("Open it like this").count(), 1, "the code is that of the tuned settings");
    scratch.assert_nothing_left();
}
