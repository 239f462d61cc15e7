//! Plans: the user's own, and what is wrong with them.

use std::fs;

use storebench_core::error::Exit;

use super::support::{Scratch, assert_complete};

/// A plan of a user's own.
pub const OWN: &str = r#"format = 1
name = "mine"
title = "Folders for thumbnails"
workload = "crud"
trials = 2
operations = 5
order = ["insert", "get"]
batch = 10
visit = "touch"
compression = "off"
seed = 7
size_limit = "1MiB"
timeout = "1m"

[axes]
store = ["flat-folder", "nested-folder"]
record_size = ["1KiB..2KiB"]
records = ["20..40"]
data = ["incompressible"]
guarantee = ["process", "power"]

[presets.one]
description = "half of it"
guarantee = ["process"]
"#;

#[test]
fn a_plan_of_ones_own_runs() {
    let scratch = Scratch::in_memory();
    scratch.write("mine.toml", OWN);
    let said = scratch.storebench("run mine.toml").ends(Exit::Success);
    assert!(said.out.contains("study mine"), "{said}");
    let run = scratch.results();
    assert_complete(&run, 4, 2);
    assert!(scratch.only_run().file_name().unwrap().to_string_lossy().starts_with("mine-"));
    assert_eq!(run.header.title, "Folders for thumbnails");
    for trial in &run.trials {
        let operations = &trial.ok().unwrap().operations;
        let shown: Vec<_> = operations.iter().map(|done| (done.operation.as_str(), done.count)).collect();
        assert_eq!(shown, [("insert", 5), ("get", 5)]);
    }
    let preset = scratch.storebench("run mine.toml --preset one --dry-run").ends(Exit::Success);
    assert!(preset.out.contains("2 cells"), "{preset}");
}

#[test]
fn records_are_like_ones_own_data() {
    let scratch = Scratch::in_memory();
    for number in 0..20 {
        scratch.write(&format!("own/{number}"), "the same words ".repeat(40 + number));
    }
    let run = "run life --quick --store flat-folder --churn uniform --records 30 --turnover 1 --like own";
    let said = scratch.storebench(run).ends(Exit::Success);
    assert!(said.err.contains("your data: 20 values: median") && said.err.contains("compressible"), "{said}");
    let run = scratch.results();
    let [trial] = run.trials.as_slice() else { panic!("{:?}", run.trials) };
    assert_eq!(trial.cell.data().name(), "compressible");
    let stored = &trial.ok().unwrap().stored;
    let mean = stored.value_bytes / stored.records;
    assert!((600..900).contains(&mean), "values of 600 to 885 bytes have a mean of {mean}");
    for (with, word) in [("--record-size 1KiB", "--record-size"), ("--data incompressible", "--data")] {
        let both = format!("run life --quick --like own {with}");
        scratch.storebench(&both).complains(Exit::Usage, &["--like", word]);
    }
    scratch.storebench("run life --quick --like nowhere").complains(Exit::BadValue, &["--like: ", "nowhere"]);
}

#[test]
fn a_wrong_plan_is_told_by_line() {
    let scratch = Scratch::in_memory();
    for (from, to, words) in [
        ("trials = 2", "trails = 2", &["line 5", "`trails`", "did you mean trials?"] as &[_]),
        ("guarantee = [\"process\", \"power\"]", "colour = [\"red\"]", &["line 20", "`colour`"]),
        ("records =", "recrods =", &["line 18", "`recrods`", "did you mean records?"]),
        ("workload = \"crud\"", "workload = \"cruel\"", &["line 4", "\"cruel\"", "did you mean crud?"]),
        ("\"incompressible\"", "\"incompresible\"", &["line 19", "did you mean incompressible?"]),
        ("seed = 7", "seed = \"seven\"", &["line 11", "seven"]),
        ("seed = 7", "", &["`seed`"]),
        ("trials = 2", "trials =", &["line 5"]),
        ("format = 1", "format = 2", &["format = 2", "reads format = 1"]),
        ("1KiB..2KiB", "2KiB..1KiB", &["line 17", "2KiB..1KiB"]),
        ("[\"insert\", \"get\"]", "[]", &["order", "at least 1"]),
        ("name = \"mine\"", "name = \"../mine\"", &["name = \"../mine\"", "lower-case letters"]),
        ("\"nested-folder\"]", "\"flat-folder\"]", &["store names flat-folder twice"]),
    ] {
        assert!(OWN.contains(from), "{from}");
        scratch.write("mine.toml", OWN.replacen(from, to, 1));
        let words = [&["the plan mine.toml"], words].concat();
        scratch.storebench("run mine.toml").complains(Exit::BadPlan, &words);
    }
    scratch.write("mine.toml", OWN.replace("\"flat-folder\"", "\"flatfolder\""));
    scratch
        .storebench("run mine.toml")
        .complains(Exit::UnknownStore, &["\"flatfolder\"", "did you mean flat-folder?"]);
    assert!(scratch.runs().is_empty());
}

#[test]
fn a_plan_that_cannot_be_read_says_why() {
    let scratch = Scratch::in_memory();
    scratch.write("binary.toml", b"\xFF\xFE\x00");
    fs::create_dir(scratch.join("folder.toml")).unwrap();
    for (name, word) in
        [("nowhere.toml", "No such file"), ("binary.toml", "UTF-8"), ("folder.toml", "directory")]
    {
        scratch.storebench(&format!("run {name}")).complains(Exit::BadPlan, &[name, "can't be read", word]);
    }
    scratch.storebench("run crudd").complains(Exit::BadPlan, &["\"crudd\"", "did you mean crud?"]);
    scratch
        .storebench("run crud --preset slow")
        .complains(Exit::BadPlan, &["crud has no preset \"slow\"", "quick"]);
    scratch.write("mine.toml", OWN);
    scratch
        .storebench("run mine.toml --quick")
        .complains(Exit::BadPlan, &["mine has no preset \"quick\"", "one"]);
}
