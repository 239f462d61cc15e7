//! Runs and plans that name a store which this version does not have: one that an earlier version had, or somebody's own.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use storebench_core::error::Exit;

use super::plans::OWN;
use super::support::{Scratch, TINY, another_run};

/// What every refusal says.
const REFUSED: [&str; 2] = ["this version has no store \"bygone\"", "it has sqlite, leveldb"];

/// A text in which a store of this version, and one of its settings, have names that nobody knows.
fn renamed(text: &str) -> String {
    text.replace("nested-folder.write", "bygone.pace").replace("nested-folder", "bygone")
}

/// A copy of a run in which they do.
fn with_a_removed_store(run: &Path, copy: &Path) {
    assert!(Command::new("cp").arg("-r").args([run, copy]).status().unwrap().success());
    for file in ["run.json", "results.jsonl"] {
        let path = copy.join(file);
        fs::write(&path, renamed(&fs::read_to_string(&path).unwrap())).unwrap();
    }
}

/// The folders of a run's two parts. One setting of the store has several values in it, another has one.
fn parts(scratch: &Scratch) -> [PathBuf; 2] {
    let settings = "--set nested-folder.write=overwrite,rename --set nested-folder.levels=1";
    for part in [1, 2] {
        let run = format!("run crud --store flat-folder,nested-folder {TINY} {settings} --shard {part}/2");
        scratch.storebench(&run).ends(Exit::Success);
    }
    scratch.runs().try_into().unwrap()
}

#[test]
fn a_run_of_a_removed_store_is_merged_reported_compared_and_shown() {
    let scratch = Scratch::in_memory();
    let parts = parts(&scratch);
    for (number, part) in (1..).zip(&parts) {
        with_a_removed_store(part, &scratch.join(&format!("old-{number}")));
    }
    let merge = format!("merge {} {} --out whole", parts[0].display(), parts[1].display());
    scratch.storebench(&merge).ends(Exit::Success);
    scratch.storebench("merge old-1 old-2 --out runs/old").ends(Exit::Success);
    for form in ["", "--table", "--json", "--csv", "--html -"] {
        let said = scratch.storebench(&format!("report runs/old {form}")).ends(Exit::Success);
        assert!(said.out.contains("bygone"), "{form}: {said}");
    }
    // No figure depends on what this version knows of a store.
    let rows = |run: &str| {
        let said = scratch.storebench(&format!("report {run} --csv")).ends(Exit::Success);
        let rows = renamed(&said.out).replace("bygone write=", "bygone pace=");
        rows.lines().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    assert_eq!(rows("runs/old"), rows("whole"));
    scratch.storebench("report runs/old --sqlite old.sqlite").ends(Exit::Success);
    with_a_removed_store(&scratch.join("whole"), &scratch.join("runs/other"));
    another_run(&scratch.join("runs/other"), "other");
    let said = scratch.storebench("compare runs/old runs/other").ends(Exit::Success);
    assert!(said.out.contains("bygone"), "{said}");
    scratch.storebench("site runs --out site").ends(Exit::Success);
    assert!(scratch.join("site/stores/bygone.html").exists());
    let work = "--records 20 --size 1B..1KiB --from runs/old";
    let said = scratch.storebench(&format!("advise {work}"));
    let ends = [Exit::Success, Exit::Nothing].map(|exit| Some(i32::from(exit.code())));
    assert!(ends.contains(&said.code), "{said}");
}

#[test]
fn a_plan_with_a_removed_store_is_refused_before_anything_runs() {
    let scratch = Scratch::in_memory();
    let [part, _] = parts(&scratch);
    with_a_removed_store(&part, &scratch.join("old"));
    let settings = "[settings.nested-folder]\nlevels = \"1\"\n";
    scratch.write("old.toml", renamed(&format!("{OWN}{settings}")));
    let before = scratch.contents();
    for command in [
        "run --resume old",
        "run old.toml",
        "run old.toml --store flat-folder",
        "run crud --store bygone",
        "run crud --set bygone.pace=9",
        "settings bygone",
        "tune bygone --records 20 --size 1KiB",
        "advise --store bygone --records 20 --size 1KiB",
    ] {
        scratch.storebench(command).complains(Exit::UnknownStore, &REFUSED);
    }
    let said = scratch.storebench("doctor old.toml").ends(Exit::Incomplete);
    assert!(said.out.contains("this version has no store bygone"), "{said}");
    assert!(scratch.contents() == before, "nothing is made for what can't run");
}
