//! `storebench doctor`: a page for people, JSON for scripts, and an exit code.

use std::fs;

use serde_json::Value;
use storebench_core::axis::file_system::kind::KINDS;
use storebench_core::error::Exit;
use storebench_host::plan::STUDIES;

use crate::cli::support::{Scratch, TINY};

#[test]
fn a_page_names_every_study_and_every_file_system() {
    let scratch = Scratch::new();
    let said = scratch.storebench("doctor");
    let code = said.code.unwrap();
    assert!([0, Exit::Incomplete.code().into()].contains(&code), "{said}");
    assert!(said.out.lines().all(|line| line.chars().count() <= 80), "{said}");
    let lists = |name: &str| said.out.lines().any(|line| line.trim_start().split(' ').next() == Some(name));
    assert!(STUDIES.iter().all(|study| lists(study.name)), "{said}");
    assert!(KINDS.iter().all(|kind| lists(kind.name)), "{said}");
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0, "something is left");
}

#[test]
fn scripts_read_what_people_do() {
    let scratch = Scratch::new();
    let said = scratch.storebench("doctor device --json").ends(Exit::Success);
    let found: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((found["format"].as_u64(), found["complete"].as_bool()), (Some(1), Some(true)));
    assert_eq!(found["studies"].as_array().unwrap().len(), 1);
    assert!(found["studies"][0]["can"].as_u64() > Some(0), "{said}");
    let lines =
        found["checks"].as_array().unwrap().iter().flat_map(|group| group["lines"].as_array().unwrap());
    let states: Vec<&str> = lines.map(|line| line["state"].as_str().unwrap()).collect();
    assert!(
        states.contains(&"ok") && states.iter().all(|state| ["ok", "no", "hint"].contains(state)),
        "{said}"
    );
}

#[test]
fn a_study_that_needs_more_than_there_is_fails() {
    let scratch = Scratch::new();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let plan = fs::read_to_string(root.join("studies/crud.toml")).unwrap();
    let own = plan.replacen("store = [", "store = [\"of-nobody\", ", 1);
    assert_ne!(own, plan);
    scratch.write("own.toml", own);
    let said = scratch.storebench("doctor own.toml").ends(Exit::Incomplete);
    assert!(said.out.contains("need more: this version has no store of-nobody"), "{said}");
    scratch.storebench("doctor nosuch").complains(Exit::BadPlan, &["nosuch"]);
    scratch.storebench("doctor --at nowhere").complains(Exit::BadValue, &["nowhere"]);
    // The study that it says can be run can be run.
    scratch.storebench(&format!("run own.toml --store flat-folder {TINY}")).ends(Exit::Success);
}
