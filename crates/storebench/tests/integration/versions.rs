//! Versions of a server side by side: each folder of programs is a contestant.

use std::collections::BTreeSet;
use std::path::PathBuf;

use storebench_core::error::Exit;
use storebench_core::store::Setting;

use crate::cli::support::{Scratch, missing};

/// The folders of PostgreSQL's programs, as Debian has them.
fn folders() -> Vec<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    versions.map(|version| version.path().join("bin")).filter(|bin| bin.join("initdb").exists()).collect()
}

#[test]
fn programs_of_another_folder_are_a_contestant_of_their_own() {
    let folders = folders();
    let Some(folder) = folders.first() else {
        return missing("programs in a folder", "PostgreSQL is not in /usr/lib/postgresql");
    };
    let scratch = Scratch::new();
    // The same programs by another way: what the server's user can't pass would not do.
    let (one, other) = (folder.display().to_string(), folder.join("../bin").display().to_string());
    let work = "--records 20 --record-size 1B..1KiB --data incompressible --guarantee process --operations 5 --trials 1";
    let run = format!("run crud --store postgres {work} --set postgres.programs={one},{other}");
    scratch.storebench(&run).ends(Exit::Success);
    let run = scratch.results();
    assert_eq!(run.trials.len(), 2);
    let of = |setting: &Setting| (setting.name == "programs").then(|| setting.value.clone());
    let used: BTreeSet<String> =
        run.trials.iter().filter_map(|trial| trial.ok()?.settings.iter().find_map(of)).collect();
    assert_eq!(used, BTreeSet::from([one, other]));
    let version = |trial: &storebench_core::result::TrialResult| trial.ok().unwrap().store_version.clone();
    assert!(run.trials.iter().all(|trial| version(trial).starts_with(|digit: char| digit.is_ascii_digit())));
    scratch.assert_nothing_left();
}

#[test]
fn a_folder_without_programs_is_named() {
    if folders().is_empty() {
        return missing("a folder without programs", "PostgreSQL is not in /usr/lib/postgresql");
    }
    let scratch = Scratch::new();
    let empty = scratch.path().display().to_string();
    let work = "--records 20 --record-size 1B..1KiB --data incompressible --guarantee process --operations 5 --trials 1";
    for folder in [empty.as_str(), "not/whole"] {
        let said =
            scratch.storebench(&format!("run crud --store postgres {work} --set postgres.programs={folder}"));
        let told = format!("{}{}", said.out, said.err).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("it must be the whole path of a folder with postgres and initdb"), "{said}");
        assert_ne!(said.code, Some(0), "{said}");
    }
    scratch.assert_nothing_left();
}
