//! `storebench check`: runs as they were written are sound, changed ones are not.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use storebench_core::error::Exit;

use super::support::{Scratch, TINY};

/// A run on a machine that did nothing else, whatever runs beside this test.
fn quiet_run() -> (Scratch, PathBuf) {
    let scratch = Scratch::in_memory();
    scratch
        .storebench(&format!("run crud --quick --store flat-folder,one-file {TINY} --hardware box"))
        .ends(Exit::Success);
    let run = scratch.runs().pop().unwrap();
    change(&run, |trial| trial["others_processors"] = 0.0.into());
    (scratch, run)
}

/// Changes each trial of a run.
fn change(run: &Path, how: impl Fn(&mut Value)) {
    let file = run.join("results.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let changed = text.lines().map(|line| {
        let mut trial: Value = serde_json::from_str(line).unwrap();
        how(&mut trial);
        format!("{trial}\n")
    });
    let changed: String = changed.collect();
    fs::write(file, changed).unwrap();
}

#[test]
fn a_run_is_sound_until_a_figure_of_it_is_changed() {
    let (scratch, run) = quiet_run();
    let said = scratch.storebench("check latest").ends(Exit::Success);
    assert!(said.out.contains("sound: nothing says no") && said.out.contains("candidates"), "{said}");
    assert!(said.out.lines().all(|line| line.chars().count() <= 80), "{said}");
    change(&run, |trial| trial["measured"]["operations"][1]["latency"]["p99_ns"] = 1.into());
    let said = scratch.storebench("check latest --json").ends(Exit::Unsound);
    let found: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(found["runs"][0]["sound"], false);
    let lines = found["runs"][0]["checks"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|group| group["lines"].as_array().unwrap());
    let no: Vec<&Value> = lines.filter(|line| line["state"] == "no").collect();
    assert_eq!(no.len(), 1, "{no:?}");
    assert!(
        no[0]["name"] == "figures" && no[0]["found"].as_str().unwrap().contains("p99_ns is 1, and "),
        "{no:?}"
    );
}
