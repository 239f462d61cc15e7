//! `storebench compare` on real runs, some of which were made worse afterwards.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;
use storebench_core::error::Exit;

use super::support::{Scratch, TINY, another_run, fields};

/// Copies of one run of five trials: `before` as it was, `after` with other noise, `slow` thrice as slow, `one` with one
/// trial only, `other` of another machine, `broken` with failures in place of sqlite's results.
pub fn runs() -> &'static Scratch {
    static RUNS: OnceLock<Scratch> = OnceLock::new();
    RUNS.get_or_init(|| {
        let scratch = Scratch::in_memory();
        let study = TINY.replace("--trials 1", "--trials 5");
        scratch
            .storebench(&format!("run crud --store sqlite,flat-folder {study} --hardware laptop"))
            .ends(Exit::Success);
        let run = scratch.only_run();
        for name in ["before", "after", "slow", "one", "other", "broken"] {
            let to = scratch.join(name);
            assert!(Command::new("cp").arg("-r").args([&run, &to]).status().unwrap().success());
            change(&to, name);
        }
        scratch
    })
}

/// Latencies in known proportions: real ones of so few operations differ too much to tell anything.
fn change(run: &Path, name: &str) {
    let results = run.join("results.jsonl");
    let text = fs::read_to_string(&results).unwrap();
    let mut out = String::new();
    for line in text.lines() {
        let mut trial: Value = serde_json::from_str(line).unwrap();
        let block = trial["block"].as_u64().unwrap();
        if name == "one" && block > 0 {
            continue;
        }
        if name == "broken" && trial["cell"]["store"] == "sqlite" {
            trial["outcome"] =
                serde_json::json!({"status": "failed", "reason": "store", "message": "gone", "log": ""});
            trial["measured"] = Value::Null;
        }
        let wobble = if name == "after" { (block * 3) % 5 } else { block };
        let operations = trial.pointer_mut("/measured/operations").and_then(Value::as_array_mut);
        for operation in operations.into_iter().flatten() {
            let times = if name == "slow" { 3000 } else { 1000 };
            operation["sum_ns"] = (5 * times * (100 + wobble)).into();
            operation["latency"]["p99_ns"] = (2 * times * (100 + wobble)).into();
        }
        out.push_str(&format!("{trial}\n"));
    }
    fs::write(results, out).unwrap();
    another_run(run, name);
    if name == "other" {
        let header = run.join("run.json");
        let text = fs::read_to_string(&header).unwrap();
        fs::write(&header, text.replace("\"hardware\": \"laptop\"", "\"hardware\": \"server\"")).unwrap();
    }
}

#[test]
fn the_same_build_has_not_changed() {
    let said = runs().storebench("compare before after --all").ends(Exit::Success);
    assert!(said.out.contains("22 figures of 2 cells compared: none changed significantly."), "{said}");
    assert!(said.out.contains("Holm's correction"), "{said}");
    assert!(said.out.contains("the same version on both sides: sqlite"), "{said}");
    runs().storebench("compare before after --fail-above 1%").ends(Exit::Success);
}

#[test]
fn what_is_worse_fails_where_it_is_told_to() {
    let said = runs().storebench("compare before slow").ends(Exit::Success);
    assert!(said.out.contains("16 worse") && said.out.contains("×3.00"), "{said}");
    let said = runs().storebench("compare before slow --fail-above 5%").ends(Exit::Worse);
    assert!(said.err.contains("16 figures are significantly worse by more than 5%"), "{said}");
    assert!(said.out.contains("16 worse"), "what is wrong is shown too: {said}");
    runs().storebench("compare slow before --fail-above 5%").ends(Exit::Success);
    let said = runs().storebench("compare before slow --figure disk_allocated --fail-above 5%");
    said.ends(Exit::Success);
}

#[test]
fn a_cell_that_broke_fails_too() {
    let said = runs().storebench("compare before broken --fail-above 5%").ends(Exit::Worse);
    assert!(said.out.contains("measured in BASE, failed in NEW: sqlite/"), "{said}");
    assert!(said.err.contains("1 cell that BASE measured failed"), "{said}");
    runs().storebench("compare broken before --fail-above 5%").ends(Exit::Success);
}

#[test]
fn unlike_machines_are_refused_unless_told_otherwise() {
    runs()
        .storebench("compare before other")
        .complains(Exit::Unlike, &["hardware (laptop in BASE, server in NEW)", "--unlike"]);
    let said = runs().storebench("compare before other --unlike").ends(Exit::Success);
    assert!(said.out.contains("unlike: hardware: laptop in BASE, server in NEW"), "{said}");
}

#[test]
fn one_trial_claims_nothing_and_a_gate_on_it_is_refused() {
    let said = runs().storebench("compare before one").ends(Exit::Success);
    assert!(said.out.contains("Nothing can be called significant here"), "{said}");
    runs()
        .storebench("compare before one --fail-above 5%")
        .complains(Exit::Nothing, &["no figure has three trials on each side", "--trials 5"]);
}

#[test]
fn bad_input_is_named() {
    for (arguments, exit, words) in [
        ("before before", Exit::BadValue, &["before is named twice"] as &[_]),
        ("before ./after/../before", Exit::BadValue, &["is named twice"]),
        ("before,after after", Exit::BadValue, &["after is named twice"]),
        ("before nowhere", Exit::NotStorebench, &["there is no run nowhere"]),
        (
            "before after --figure latency_meen",
            Exit::BadValue,
            &["latency_meen", "did you mean latency_mean?"],
        ),
        ("before after --figure files", Exit::BadValue, &["files", "can be compared"]),
        ("before after --fail-above lots", Exit::BadValue, &["--fail-above", "write it like 5%"]),
        ("before after --json --markdown", Exit::Usage, &["--json", "--markdown"]),
        ("before", Exit::Usage, &["<NEW>", "storebench compare --help"]),
        ("before after --html nowhere/x.html", Exit::Failure, &["nowhere/x.html"]),
    ] {
        runs().storebench(&format!("compare {arguments}")).complains(exit, words);
    }
}

#[test]
fn sets_of_runs_stand_together() {
    let document = json("before,slow after");
    assert_eq!(
        (document["base"].as_array().unwrap().len(), &document["observations"]),
        (2, &"trials".into())
    );
    assert_eq!(document["figures"][0]["base"]["trials"], 10);
}

fn json(arguments: &str) -> Value {
    let said = runs().storebench(&format!("compare {arguments} --json")).ends(Exit::Success);
    serde_json::from_str(&said.out).unwrap()
}

#[test]
fn every_field_of_the_json_is_described() {
    let mut names = BTreeSet::new();
    for arguments in ["before slow", "before broken", "broken before", "before other --unlike"] {
        fields(&json(arguments), &mut names);
    }
    // Settings have not changed here; their fields are those of `settings` and of every change.
    assert!(names.len() > 40, "{names:?}");
    let page = |name: &str| {
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/").to_owned() + name).unwrap()
    };
    let pages = page("compare.md") + &page("results.md");
    let missing: Vec<_> = names.iter().filter(|name| !pages.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/compare.md does not tell of {missing:?}");
}

#[test]
fn markdown_and_the_page_say_the_same() {
    let said = runs().storebench("compare before slow --markdown").ends(Exit::Success);
    assert!(
        said.out
            .starts_with("### storebench: NEW against BASE\n\n**22 figures of 2 cells compared: 16 worse"),
        "{said}"
    );
    let said = runs().storebench("compare before slow --html page.html").ends(Exit::Success);
    assert!(said.out.is_empty() && said.err.contains("written: page.html"), "{said}");
    let page = fs::read_to_string(runs().join("page.html")).unwrap();
    assert!(page.contains("22 figures of 2 cells compared: 16 worse") && page.ends_with("</html>\n"));
}

#[test]
fn cells_of_one_run_meet_across_an_axis_when_that_is_asked_for() {
    let scratch = runs();
    let same = "compare before before";
    scratch.storebench(same).complains(Exit::BadValue, &["named twice"]);
    let said = scratch.storebench(&format!("{same} --across store=sqlite,flat-folder")).ends(Exit::Success);
    assert!(said.out.contains("across store: sqlite in BASE, flat-folder in NEW"), "{said}");
    assert!(said.out.contains("sqlite → flat-folder"), "{said}");
    let json =
        scratch.storebench(&format!("{same} --across store=sqlite,flat-folder --json")).ends(Exit::Success);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["across"][0]["axis"], "store");
    assert!(json["figures"].as_array().is_some_and(|figures| !figures.is_empty()), "{json}");
    for (across, exit, says) in [
        ("store=sqlite,lmdb", Exit::Nothing, "no cell of NEW was run at store=lmdb"),
        ("store=sqlite", Exit::BadValue, "two values"),
        ("store=sqlite,sqlite", Exit::BadValue, "both sides"),
        ("shop=a,b", Exit::BadValue, "is not an axis"),
    ] {
        scratch.storebench(&format!("{same} --across {across}")).complains(exit, &[says]);
    }
}
