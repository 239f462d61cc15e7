//! `storebench doctor`: a page for people, JSON for scripts, and an exit code.

use std::fs;

use storebench_core::axis::file_system::kind::KINDS;
use storebench_core::error::Exit;
use storebench_host::plan::STUDIES;

use crate::cli::support::Scratch;

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
