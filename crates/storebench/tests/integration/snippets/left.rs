//! The records that a shown program leaves: storebench's own adapter for the store reads them back.

use std::path::{Path, PathBuf};
use std::process::Command;

use storebench_model::store::Store;

use super::Shown;
use crate::cli::support::Scratch;
use crate::conformance::subject::assert_holds;

/// Runs a shown program by its own `main`, twice, so that it also finds its records there, in a separate folder.
pub fn check(shown: &Shown, text: &str, program: impl Fn(&Path) -> Command) {
    let scratch = Scratch::new();
    for _ in 0..2 {
        check_output(&mut program(scratch.path()), text);
        assert_left(&*shown.open(&folder(scratch.path())), text);
    }
}

pub fn in_folder(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    command
}

/// Runs a shown program, which prints what it has found.
pub fn check_output(program: &mut Command, text: &str) {
    let output = run(program, &text);
    let lines: Vec<&str> = output.lines().collect();
    let expected = matches!(lines[..], ["apple: green", "cherry: absent" | "cherry: None"]);
    assert!(expected, "{output}\n{text}");
}

/// The output of a program, which must do well.
pub fn run(program: &mut Command, context: &dyn std::fmt::Display) -> String {
    let output = program.output().unwrap_or_else(|error| panic!("{program:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program:?}, {}:\n{errors}\n{context}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// The record that is there, and the one that is not.
pub fn assert_left(store: &dyn Store, text: &str) {
    assert_eq!(store.count().unwrap(), 1, "{text}");
    let mut session = store.session().unwrap();
    assert_holds(&mut *session, b"apple", Some(b"green"));
    assert_holds(&mut *session, b"cherry", None);
}

/// The store's folder below the one that a program ran in: a database that is one file with its companions has none.
fn folder(ran_in: &Path) -> PathBuf {
    let records_folder = ran_in.join("records");
    if records_folder.is_dir() { records_folder } else { ran_in.to_path_buf() }
}
