//! `storebench check` and `storebench submit`: runs as they were written are sound, changed ones are not, and what is submitted can be
//! checked again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use storebench_core::error::Exit;

use super::support::{STOREBENCH, Scratch, TINY, contents};

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

#[test]
fn what_is_submitted_is_the_run_as_it_is_and_the_site_names_who_measured_it() {
    let (scratch, run) = quiet_run();
    let name = run.file_name().unwrap().to_str().unwrap().to_owned();
    let said = scratch.storebench("submit latest --by Ada --into mine/new").ends(Exit::Success);
    assert!(
        said.err.contains("the files name this machine box") && said.err.contains("and the directory: "),
        "{said}"
    );
    let place = scratch.join("mine/new/results/box").join(&name);
    for file in ["run.json", "results.jsonl"] {
        assert_eq!(fs::read(place.join(file)).unwrap(), fs::read(run.join(file)).unwrap());
    }
    assert_eq!(fs::read_dir(&place).unwrap().count(), 3, "nothing else is published");
    let text = fs::read_to_string(scratch.join("mine/new/pull-request.md")).unwrap();
    assert!(
        text.contains("| measured by | Ada |") && text.contains("follow from their histograms"),
        "{text}"
    );
    scratch.storebench(&format!("check mine/new/results/box/{name}")).ends(Exit::Success);
    scratch.storebench("site mine/new/results --out site").ends(Exit::Success);
    let runs = fs::read_to_string(scratch.join("site/runs.html")).unwrap();
    assert!(runs.contains("<td>Ada</td><td>nobody</td>"), "{runs}");

    // The commands of the workflow of such a collection.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let workflow = fs::read_to_string(root.join("examples/results/results.yml")).unwrap();
    let commands: Vec<&str> = workflow
        .lines()
        .filter_map(|line| line.split_once("run: /tmp/storebench/bin/storebench "))
        .map(|(_, words)| words)
        .collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    for words in commands {
        let command = format!("{STOREBENCH} {words}");
        let mut shell = Command::new("/bin/sh");
        let ended = shell.args(["-euc", &command]).current_dir(scratch.join("mine/new")).output().unwrap();
        assert!(ended.status.success(), "{command}: {ended:?}");
    }
    assert!(scratch.join("mine/new/site/index.html").exists());

    let before = contents(&scratch.join("mine"));
    let said = scratch.storebench("submit latest --by Ada --into mine/new").ends(Exit::BadValue);
    assert!(said.err.contains("--into takes a new directory"), "{said}");
    scratch.storebench("submit latest --by . --into mine").ends(Exit::BadValue);
    let said = Scratch::in_memory().storebench("submit nowhere --by Ada --into x").ends(Exit::NotStorebench);
    assert!(said.err.contains("nowhere"), "{said}");
    change(&run, |trial| trial["others_processors"] = 99.0.into());
    let said = scratch.storebench("submit latest --by Ada --into other").ends(Exit::Unsound);
    assert!(said.out.contains("other programs     no"), "{said}");
    assert!(contents(&scratch.join("mine")) == before && !scratch.join("other").exists());
}
