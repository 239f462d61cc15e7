//! Published findings against real runs.

use std::fs;

use serde_json::Value;
use storebench_core::axis::Axis;
use storebench_core::error::Exit;
use storebench_host::plan;

use super::plans::OWN;
use super::support::{Scratch, TINY};

/// A claim that any run of three trials bears out.
const CLAIM: &str = r#"
[[claim]]
says = "Folders insert within a second"
source = "a colleague"
figure = ["insert"]
expect.value = { stores = ["flat-folder", "nested-folder"], range = "1ns..1s" }
"#;

/// A claim that compares.
const WINNER: &str = r#"
[[claim]]
says = "Folders are the fastest at inserting"
source = "a colleague"
figure = ["insert"]
expect.winner = { stores = ["flat-folder", "nested-folder"] }
"#;

fn json(scratch: &Scratch) -> Value {
    let said = scratch.storebench("report latest --json").ends(Exit::Success);
    serde_json::from_str(&said.out).unwrap()
}

#[test]
fn claims_of_ones_own_go_with_the_run() {
    let scratch = Scratch::in_memory();
    scratch.write("mine.toml", format!("{OWN}{CLAIM}"));
    let said = scratch.storebench("run mine.toml --trials 3").ends(Exit::Success);
    assert!(said.out.contains("Published findings") && said.out.contains("of 1 "), "{said}");
    // The run knows them, whatever becomes of the file.
    fs::remove_file(scratch.join("mine.toml")).unwrap();
    let said = scratch.storebench("report latest").ends(Exit::Success);
    assert!(said.out.contains("Folders insert within a second (a colleague)"), "{said}");
    assert!(said.out.contains("    reproduced: process 2/2; power 2/2\n      process: measured "), "{said}");
    let findings = &json(&scratch)["findings"][0]["claims"][0]["findings"];
    assert_eq!(findings[0]["verdict"], "reproduced");
    scratch
        .storebench("report latest --published")
        .complains(Exit::BadValue, &["no published table comes with the study"]);
}

#[test]
fn a_narrowed_run_has_no_verdict_on_the_whole() {
    let scratch = Scratch::in_memory();
    let sizes = OWN.replace("[\"1KiB..2KiB\"]", "[\"1KiB..2KiB\", \"2KiB..3KiB\", \"3KiB..4KiB\"]");
    scratch.write("mine.toml", format!("{sizes}{CLAIM}"));
    scratch.storebench("run mine.toml --preset one --record-size 1KiB..2KiB --trials 3").ends(Exit::Success);
    fs::remove_file(scratch.join("mine.toml")).unwrap();
    let said = scratch.storebench("report latest").ends(Exit::Success);
    let words = "unknown: process 2/2 so far looks right (1 of 3 combinations measured)";
    assert!(said.out.contains(words) && said.out.contains("takes half of its combinations"), "{said}");
    let finding = &json(&scratch)["findings"][0]["claims"][0]["findings"][0];
    assert_eq!((&finding["verdict"], &finding["looks"]), (&"unknown".into(), &"reproduced".into()));
    let coverage = serde_json::json!({ "measured": 1, "whole": 3, "short": ["2KiB..3KiB", "3KiB..4KiB"] });
    assert_eq!(finding["coverage"], coverage);
}

#[test]
fn one_trial_gives_no_verdict() {
    let scratch = Scratch::in_memory();
    scratch.write("mine.toml", format!("{OWN}{CLAIM}"));
    scratch.storebench("run mine.toml --preset one --trials 1").ends(Exit::Success);
    let said = scratch.storebench("report latest").ends(Exit::Success);
    assert!(said.out.contains("unknown: process 2/2 so far looks right"), "{said}");
    assert!(said.out.contains("takes more trials (--trials) for 2 checks"), "{said}");
    let said = scratch.storebench("report latest --csv-section verdicts").ends(Exit::Success);
    let row = said.out.lines().nth(1).unwrap();
    assert!(row.contains(",unknown,reproduced,") && row.contains("Folders insert within a second"), "{said}");
}

#[test]
fn a_wrong_claim_is_told_by_line_before_anything_runs() {
    let scratch = Scratch::in_memory();
    let line = OWN.lines().count() + 2;
    for (from, to, word) in [
        ("[\"insert\"]", "[\"inserts\"]", "did you mean insert?"),
        (
            "\"nested-folder\"] }",
            "\"nested-floder\"] }",
            "this version has no store \"nested-floder\" (did you mean nested-folder?)",
        ),
        ("{ stores =", "{ within = 0.1, stores =", "1 or more"),
    ] {
        scratch.write("mine.toml", format!("{OWN}{}", WINNER.replacen(from, to, 1)));
        let words = ["the plan mine.toml", &format!("line {line}: "), word];
        scratch.storebench("run mine.toml").complains(Exit::BadPlan, &words);
    }
    assert!(scratch.runs().is_empty());
}

#[test]
fn a_claim_that_was_broken_in_a_run_is_told() {
    let scratch = Scratch::in_memory();
    scratch.write("mine.toml", format!("{OWN}{CLAIM}"));
    scratch.storebench("run mine.toml --preset one --trials 1").ends(Exit::Success);
    let header = scratch.only_run().join("run.json");
    let text = fs::read_to_string(&header).unwrap();
    fs::write(&header, text.replace("figure = [\\\"insert\\\"]", "figure = [\\\"inserts\\\"]")).unwrap();
    let words = ["the plan in run.json", "line ", "\"inserts\" is no figure (did you mean insert?)"];
    scratch.storebench("report latest").complains(Exit::BadPlan, &words);
}

#[test]
fn every_claim_of_crud_is_checked_on_a_real_run() {
    let scratch = Scratch::in_memory();
    let study = "--store sqlite,leveldb,rocksdb,berkeleydb,flat-folder,nested-folder --records 100..200 \
                 --record-size 1B..1KiB,10KiB..12KiB --operations 10 --trials 1 --guarantee process";
    let said = scratch.storebench(&format!("run crud {study}")).ends(Exit::Success);
    let number = plan::find("crud").unwrap().claims.len();
    assert!(said.out.contains(&format!("of {number} ")), "{said}");
    let document = json(&scratch);
    let claims = document["findings"][0]["claims"].as_array().unwrap();
    assert_eq!(claims.len(), number);
    let decided = |claim: &&Value| {
        let findings = claim["findings"].as_array().unwrap();
        findings.iter().any(|finding| finding["measured"].is_string())
    };
    // Those of more records, of two disks and of a load can't be.
    assert!(claims.iter().filter(decided).count() >= 30, "{claims:#?}");
    for finding in claims.iter().flat_map(|claim| claim["findings"].as_array().unwrap()) {
        let checks: u64 = finding["checks"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        let missing = finding["missing"].as_array().unwrap();
        assert_eq!(checks > 0, missing.is_empty(), "{finding:#?}");
    }
}

#[test]
fn the_preset_of_the_paper_compresses_both_kinds_of_data_as_its_stores_did() {
    let scratch = Scratch::in_memory();
    let mut plan = plan::find("crud").unwrap();
    plan.apply_preset("paper").unwrap();
    assert_eq!(plan.axes.texts(Axis::COMPRESSION), ["on"]);
    let small = "--background none --store leveldb,rocksdb --records 20 --record-size 1KiB..2KiB --trials 1 --operations 5";
    scratch.storebench(&format!("run crud --preset paper {small}")).ends(Exit::Success);
    for trial in scratch.results().trials {
        let settings = &trial.ok().unwrap().settings;
        let codec = settings.iter().find(|setting| setting.name == "compression").unwrap();
        assert!(codec.value.to_lowercase().contains("snappy"), "{}: {codec:?}", trial.cell.id());
    }
}

#[test]
fn published_tables_stand_beside_a_run() {
    let scratch = Scratch::in_memory();
    let study = TINY.replace("--records 20", "--records 100").replace("process", "default");
    scratch
        .storebench(&format!(
            "run crud --store sqlite,leveldb,rocksdb,berkeleydb,flat-folder,nested-folder {study}"
        ))
        .ends(Exit::Success);
    let said = scratch.storebench("report latest --published hdd").ends(Exit::Success);
    assert!(said.out.contains("Published table hdd: hard disk, undisturbed"), "{said}");
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("of 5 combinations agree") && words.contains("165 that this run does not have"),
        "{said}"
    );
    scratch
        .storebench("report latest --published tape")
        .complains(Exit::BadValue, &["\"tape\"", "there are ext4, hdd"]);
    scratch.storebench("report latest --published hdd --json").ends(Exit::Usage);
    assert_eq!(json(&scratch)["published"][0]["table"], "ext4");
}
