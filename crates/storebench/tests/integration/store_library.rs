//! `--store-library`: stores of libraries that are not built in, and what is told of libraries that can't be used or misbehave.

pub mod built;

use std::fs;
use std::path::Path;

use storebench_core::error::Exit;
use storebench_core::result::{Failure, Outcome, TrialResult};
use storebench_core::store::Guarantee;

use self::built::{all_stores, example, faulty};
use crate::cli::support::{Said, Scratch, TINY};

/// A small run of a store of a library, with these arguments in place of its own.
fn run(scratch: &Scratch, library: &Path, arguments: &str) -> Said {
    let words: Vec<&str> = TINY.split_whitespace().collect();
    let own = words.chunks(2).filter(|pair| !arguments.contains(pair[0]));
    let own: Vec<String> = own.map(|pair| pair.join(" ")).collect();
    let own = own.join(" ");
    scratch.storebench(&format!("run crud {own} --store-library {} {arguments}", library.display()))
}

/// The only trial of the only run.
fn only_trial(scratch: &Scratch) -> TrialResult {
    let [trial] = scratch.results().trials.try_into().unwrap();
    trial
}

#[test]
fn a_librarys_store_is_in_the_table() {
    let scratch = Scratch::in_memory();
    let library = example("c-log").unwrap();
    let said =
        scratch.storebench(&format!("stores --store-library {}", library.display())).ends(Exit::Success);
    let line = said.out.lines().find(|line| line.starts_with("c-log ")).unwrap();
    assert!(line.contains("engine") && line.contains("1.0") && line.contains("process* power"), "{line}");
    let said = scratch
        .storebench(&format!("--store-library {} settings c-log", library.display()))
        .ends(Exit::Success);
    assert!(said.out.contains("whether each write waits for the disk"), "{}", said.out);
}

#[test]
fn a_librarys_store_runs_as_every_other_and_its_syncs_are_counted() {
    let scratch = Scratch::new();
    let library = example("c-log").unwrap();
    run(&scratch, &library, "--store c-log,flat-folder --guarantee power").ends(Exit::Success);
    let results = scratch.results();
    let info = results.header.stores.iter().find(|info| info.name == "c-log").unwrap();
    let known = info.library.as_ref().unwrap();
    assert_eq!(known.path, library.canonicalize().unwrap());
    assert_eq!(info.version, format!("library {} 1.0", &known.sha256[..12]));
    assert!(results.header.stores.iter().all(|other| other.name == "c-log" || other.library.is_none()));
    let trial = results.trials.iter().find(|trial| trial.cell.store() == "c-log").unwrap();
    let measured = trial.measured.as_ref().unwrap();
    assert_eq!(
        (measured.guarantee, measured.store_version.as_str()),
        (Guarantee::Power, info.version.as_str())
    );
    let counters = measured.operation("update").unwrap().counters.as_ref().unwrap();
    assert!(counters.syncs_by_call["fdatasync"] >= 5, "{counters:?}");
    let build = measured.store_build.as_ref().unwrap();
    assert!(build.source.contains("libc-log.so"), "{build:?}");
    scratch.storebench("report latest --table").ends(Exit::Success);
}

#[test]
fn settings_reach_a_library_and_are_held_to_the_tier() {
    let scratch = Scratch::in_memory();
    let library = example("c-log").unwrap();
    run(&scratch, &library, "--store c-log --guarantee power --set c-log.sync=fdatasync").ends(Exit::Success);
    let settings = only_trial(&scratch).measured.unwrap().settings;
    assert!(
        settings.iter().any(|setting| setting.name == "sync" && setting.value == "fdatasync"),
        "{settings:?}"
    );
    for (setting, says) in [
        ("sync=often", "sync=often is none of none, fdatasync"),
        ("sync=fdatasync", "these settings give the guarantee power, not process"),
        ("synk=none", "synk"),
    ] {
        let said = run(&scratch, &library, &format!("--store c-log --set c-log.{setting}"));
        assert!(said.code != Some(0) && said.err.contains(says), "{setting}: {}", said.err);
    }
}

#[test]
fn a_run_is_resumed_with_the_library_that_it_began_with() {
    let scratch = Scratch::in_memory();
    let library = scratch.join("libmine.so");
    fs::copy(example("c-log").unwrap(), &library).unwrap();
    run(&scratch, &library, "--store c-log").ends(Exit::Success);
    let results = scratch.only_run().join("results.jsonl");
    let resume = format!("run --resume {}", scratch.only_run().display());
    let again = || fs::write(&results, "").unwrap();
    again();
    scratch.storebench(&resume).ends(Exit::Success);
    assert_eq!(only_trial(&scratch).outcome, Outcome::Ok);
    again();
    let moved = scratch.join("moved.so");
    fs::rename(&library, &moved).unwrap();
    let said = scratch.storebench(&resume).ends(Exit::OtherVersion);
    assert!(
        said.err.contains("libmine.so: No such file") && said.err.contains("--store-library FILE"),
        "{}",
        said.err
    );
    scratch.storebench(&format!("{resume} --store-library {}", moved.display())).ends(Exit::Success);
    again();
    let mut other = fs::read(&moved).unwrap();
    other.push(0);
    fs::write(&library, other).unwrap();
    let said = scratch.storebench(&resume).ends(Exit::OtherVersion);
    assert!(said.err.contains("has changed: its SHA-256 begins with"), "{}", said.err);
}

#[test]
fn a_library_that_can_not_be_used_is_told_before_anything_runs() {
    let scratch = Scratch::in_memory();
    let text = scratch.write("text.so", "no library");
    let folder = scratch.path().to_path_buf();
    let mut cases = vec![
        (scratch.join("missing.so"), "missing.so: No such file"),
        (text, "it can't be loaded: "),
        (folder, "is not a file"),
    ];
    let faults = [
        ("NO_SYMBOL", "exports no function storebench_stores"),
        ("NULL", "does not serve version 1 of storebench_store.h"),
        ("OTHER_VERSION", "is of version 7 of storebench_store.h, and this storebench knows version 1"),
        ("NO_STORES", "tells of 0 stores"),
        ("SMALL", "an entry of its table has 100 bytes where"),
        ("NO_PUT", "faulty: NULL where a function is needed: put, batch"),
        ("NO_SCAN", "faulty: NULL where a function is needed: scan"),
        ("BAD_NAME", "the name \"C log!\" has others than"),
        ("TAKEN_NAME", "has a store sqlite, and so is storebench's own called"),
        ("NO_OFFERS", "faulty: offers has none"),
        ("NO_VERSION", "faulty: version is NULL"),
        ("UNBOUND", "there_is_no_such_function"),
        ("CRASH_LOAD", "crashed with signal 11 when it was asked for its stores"),
        ("CRASH_ASK", "crashed with signal 11 when it was asked for its stores"),
        ("EXIT_ASK", "ended its process with exit code 3 when it was asked"),
        ("ANSWERS_ASK", "tells of 0 stores"),
        ("HANG_ASK", "did not tell its stores within 10s"),
        ("HANG_LOAD", "did not tell its stores within 10s"),
    ];
    cases.extend(faults.map(|(fault, says)| (faulty(fault, scratch.path()), says)));
    std::thread::scope(|scope| {
        for (library, says) in &cases {
            let scratch = &scratch;
            scope.spawn(move || {
                let said = run(scratch, library, "--store faulty").ends(Exit::BadValue);
                let last = said.err.lines().last().unwrap();
                assert!(
                    last.contains(says) && last.contains(&*library.to_string_lossy()),
                    "{says}: {}",
                    said.err
                );
            });
        }
    });
    assert!(scratch.runs().is_empty());
    scratch.assert_nothing_left();
}

#[test]
fn what_a_library_forks_outlives_neither_a_question_nor_a_trial() {
    let scratch = Scratch::in_memory();
    let library = faulty("FORK_LOAD", scratch.path());
    scratch.storebench(&format!("stores --store-library {}", library.display())).ends(Exit::Success);
    scratch.assert_nothing_left();
    run(&scratch, &library, "--store faulty").ends(Exit::Success);
    scratch.assert_nothing_left();
}

#[test]
fn two_libraries_with_a_store_of_one_name_clash() {
    let scratch = Scratch::in_memory();
    let [one, other] = ["NONE", "MISCOUNTS"].map(|fault| faulty(fault, scratch.path()));
    let said = scratch
        .storebench(&format!("stores --store-library {} --store-library {}", one.display(), other.display()))
        .ends(Exit::BadValue);
    assert!(
        said.err.contains("libmiscounts.so has a store faulty, and so is that of")
            && said.err.contains("libnone.so")
    );
}

/// The one by a binding is measured beside it.
#[test]
fn every_sqlite_is_of_one_version() {
    let version = |name: &str| {
        let def = all_stores().iter().find(|def| def.name == name)?;
        (def.version)().split_whitespace().last().map(str::to_owned)
    };
    let own = version("sqlite").unwrap();
    let bound = version("python-sqlite");
    assert!(bound.as_ref().is_none_or(|version| *version == own), "{bound:?} and {own}");
}

#[test]
fn a_library_is_for_this_machine() {
    let scratch = Scratch::in_memory();
    let library = example("c-log").unwrap();
    let said = run(&scratch, &library, "--store c-log --remote nobody@nowhere.invalid").ends(Exit::BadValue);
    assert!(said.err.contains("--store-library is for runs on this machine"), "{}", said.err);
}

#[test]
fn a_library_that_misbehaves_in_a_trial_costs_that_trial() {
    use Failure::{Crashed, Harness, Store, TimedOut, Unsynced, WrongData};
    let cases = [
        ("CRASH_OPEN", "process", Crashed, "signal 11"),
        ("FAIL_OPEN", "process", Store, "xxxxxxxx"),
        ("MUTE_OPEN", "process", Store, "the library's open failed and did not say why"),
        ("CRASH_PUT", "process", Crashed, "signal 11"),
        ("HANG_PUT", "process", TimedOut, "took longer than the limit"),
        ("EXIT_PUT", "process", Crashed, "ended with exit code 0 before it had a result"),
        ("BAD_CODE", "process", Store, "the library's put gave 77, which is no SB_ code"),
        ("BAD_VALUE", "process", Store, "the library's get showed 5 bytes at 0x0"),
        ("OTHER_TIER", "process", Harness, "gives the guarantee none where process was promised"),
        ("DROPS_PUTS", "process", WrongData, ""),
        ("MISCOUNTS", "process", WrongData, "26 records where 25"),
        ("NEVER_SYNCS", "power", Unsynced, "syncs for"),
        ("FORGETS", "process", WrongData, ""),
    ];
    std::thread::scope(|scope| {
        for (fault, guarantee, failure, says) in cases {
            scope.spawn(move || {
                let scratch = Scratch::in_memory();
                let library = faulty(fault, scratch.path());
                let said =
                    run(&scratch, &library, &format!("--store faulty --guarantee {guarantee} --timeout 5s"));
                assert!(said.code != Some(0), "{fault}");
                let Some(_) = scratch.runs().first() else { panic!("{fault}: {}", said.err) };
                let outcome = only_trial(&scratch).outcome;
                let Outcome::Failed { reason, message, .. } = outcome else { panic!("{fault}: {outcome:?}") };
                assert_eq!(reason, failure, "{fault}: {message}");
                assert!(message.contains(says), "{fault}: {message}");
                scratch.assert_nothing_left();
            });
        }
    });
    let scratch = Scratch::in_memory();
    let library = faulty("PRINTS", scratch.path());
    run(&scratch, &library, "--store faulty").ends(Exit::Success);
    let scratch = Scratch::in_memory();
    run(&scratch, &faulty("NULL_HANDLE", scratch.path()), "--store faulty").ends(Exit::Success);
    let log = fs::read_to_string(scratch.only_run().join("logs/000000.log")).unwrap();
    let count = |word: &str| log.lines().filter(|line| *line == word).count();
    // The kill check leaves one open.
    assert!(count("closed") > 0 && count("opened") <= count("closed") + 1, "{log}");
}
