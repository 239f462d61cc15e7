//! Stores that look right while they are measured: each is noticed in its first trial. And one that does what it says
//! passes however a trial is run.

use storebench_core::error::Exit;
use storebench_core::result::{Outcome, TrialResult};

use super::support::{Scratch, TINY, assert_complete, outcomes};

/// Each lie, what brings it to light, how its trial is judged, and what the message says.
const LIES: &[(&str, &str, &str, &[&str])] = &[
    ("drops-updates", "", "wrong-data", &["is not what was written last", "closed and opened anew"]),
    ("keeps-removed", "", "wrong-data", &["is still there, though it was just removed"]),
    ("revives-removed", "", "wrong-data", &["is still there, though it was removed", "once more"]),
    ("loses", "--records 10000 --operations 20", "wrong-data", &["is missing", "closed and opened anew"]),
    ("never-syncs", "--guarantee power", "unsynced", &["promises power", "made 0 syncs for", "acknowledged"]),
    ("never-syncs", "--guarantee power --threads 2", "unsynced", &["promises power", "made 0 syncs for"]),
    ("forgets", "", "wrong-data", &["is missing", "closed and opened anew"]),
    ("hides", "", "wrong-data", &[KILLED, "is missing after its process was killed"]),
    ("hides", "--guarantee power", "unsynced", &["made 0 syncs for"]),
    ("writes-at-close", "", "wrong-data", &[KILLED, "is missing after its process was killed"]),
    ("writes-at-close", "--guarantee power", "unsynced", &["made 0 syncs for"]),
    ("caches-static", "", "wrong-data", &[KILLED, "has another value"]),
    ("caches-static", "--guarantee power", "unsynced", &[KILLED, "has another value"]),
    ("sync-other", "--guarantee power", "unsynced", &[KILLED, UNDONE]),
    ("sync-empty", "--guarantee power", "unsynced", &[KILLED, UNDONE]),
    ("sync-fake", "--guarantee power", "unsynced", &[KILLED, UNDONE]),
];

const KILLED: &str = "kill check: the acknowledged record ";
const UNDONE: &str = "after its process was killed and what it had written and not synced was undone";

/// The arguments of [`TINY`] with some of them changed.
fn tiny(changes: &str) -> String {
    let words: Vec<&str> = changes.split_whitespace().collect();
    let changed: Vec<&str> = words.iter().copied().filter(|word| word.starts_with("--")).collect();
    let kept: Vec<&str> = TINY.split_whitespace().collect();
    // A number of operations and a duration exclude each other.
    let drops =
        |name: &str| changed.contains(&name) || (name == "--operations" && changed.contains(&"--duration"));
    let kept = kept.chunks(2).filter(|pair| !drops(pair[0])).flatten().copied();
    kept.chain(words).collect::<Vec<_>>().join(" ")
}

#[test]
fn each_lie_is_noticed_in_its_first_trial() {
    for (store, how, reason, says) in LIES {
        let scratch = Scratch::new();
        let said =
            scratch.faulty(&format!("run crud --store {store} {}", tiny(how))).ends(Exit::TrialsFailed);
        let run = scratch.results();
        assert_eq!(outcomes(&run), [(*store, *reason)], "{said}");
        let Outcome::Failed { message, .. } = &run.trials[0].outcome else { panic!("{said}") };
        for words in *says {
            assert!(message.contains(words), "{store} {how}: {message}");
        }
        scratch.assert_nothing_left();
    }
}

#[test]
fn a_store_without_syncs_is_not_recommended_for_power() {
    let scratch = Scratch::new();
    let how = tiny("--guarantee power");
    scratch.faulty(&format!("run crud --store never-syncs,flat-folder {how}")).ends(Exit::TrialsFailed);
    let said = scratch.faulty("advise --from latest --records 20 --size 1B..1KiB --guarantee power");
    let said = said.ends(Exit::Success);
    let text = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Measured alone: flat-folder") && !text.contains("Recommended"), "{said}");
    assert!(text.contains("never-syncs: failed: the store promises power"), "{said}");
}

#[test]
fn what_takes_less_disk_than_its_values_does_not_win_space() {
    let scratch = Scratch::new();
    let said = scratch
        .faulty(&format!("run crud --store hides,honest {}", tiny("--record-size 10KiB --guarantee none")))
        .ends(Exit::Success);
    let run = scratch.results();
    let of = |store: &str| run.trials.iter().find(|trial| trial.cell.store() == store).unwrap().ok().unwrap();
    let [doubt] = of("hides").doubts.as_slice() else { panic!("{:?}", of("hides").doubts) };
    assert_eq!(doubt.figure, "space");
    assert_eq!((of("hides").space_efficiency(), of("honest").doubts.len()), (None, 0));
    let text = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Doubtful, not ranked: space of hides/10KiB/"), "{said}");
    let json = scratch.faulty("report latest --json").ends(Exit::Success).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let rows = json["matrices"][0]["rows"].as_array().unwrap();
    let space = &rows.iter().find(|row| row["name"] == "space").unwrap()["contests"][0];
    assert_eq!(space["contenders"][0]["store"], "honest");
    assert_eq!(space["absent"][0], serde_json::json!({"store": "hides", "why": "doubted"}));
    let page = std::fs::read_to_string(scratch.only_run().join("report.html")).unwrap();
    assert!(page.contains("Doubtful, not ranked: space of hides"), "the page tells, too");
}

/// Ways to run a trial, and how often keys were removed and looked for.
const WAYS: &[(&str, u64)] = &[
    ("", 5),
    ("--threads 2", 5),
    ("--warm-up 3", 8),
    ("--duration 200ms", 0),
    ("--duration 200ms --threads 2 --rate 500/s", 0),
    ("--cache cold", 5),
    // Inserts fill it several times, so that it is made anew.
    ("--records 20..30 --operations 50", 50),
    ("--record-size 1B", 5),
];

#[test]
fn a_store_that_does_what_it_says_passes_however_it_is_run() {
    for (how, gone) in WAYS {
        let scratch = Scratch::new();
        let how = tiny(&format!("{how} --guarantee process,power"));
        scratch.faulty(&format!("run crud --store honest,flat-folder {how}")).ends(Exit::Success);
        let run = scratch.results();
        assert_complete(&run, 4, 1);
        for trial in &run.trials {
            assert_passed(trial, *gone, &how);
        }
    }
}

/// Fails unless everything that the store held was read back, twice. A removed key is looked for before it is put back.
#[track_caller]
fn assert_passed(trial: &TrialResult, gone: u64, how: &str) {
    let measured = trial.ok().unwrap_or_else(|| panic!("{how}: {:?}", trial.outcome));
    let audit = measured.audit.as_ref().unwrap();
    assert_eq!((audit.records, audit.read_back, audit.reopened), (measured.stored.records, audit.records, 2));
    let removed = measured.operation("remove").unwrap();
    assert_eq!(audit.seen_gone, removed.put_back, "{how}");
    assert!(gone == 0 || gone == audit.seen_gone, "{how}: {audit:?}");
    assert!((10..=16).contains(&audit.removed) && audit.took_ns > 0, "{how}: {audit:?}");
    assert!(measured.doubts.is_empty(), "{how}: {:?}", measured.doubts);
}
