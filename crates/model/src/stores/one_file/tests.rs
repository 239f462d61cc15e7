//! The file that the store leaves, and changes that can't be written; the conformance suite tests the store's behaviour.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::{FILE, ONE_FILE, Records, TEMPORARY, json};
use crate::store::{Guarantee, OpenOptions, Result, Store, StoreError};

fn open(directory: &Path, guarantee: Guarantee) -> Result<Box<dyn Store>> {
    ONE_FILE.open.unwrap()(&OpenOptions { guarantee: Some(guarantee), ..OpenOptions::new(directory) })
}

#[test]
fn the_file_is_json_that_reads_as_the_records() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), Guarantee::Power).unwrap();
    let mut session = store.session().unwrap();
    session.insert(b"colour", b"blue \"dark\"").unwrap();
    session.insert(b"odd", &[0, 200]).unwrap();
    let text = fs::read_to_string(folder.path().join(FILE)).unwrap();
    assert_eq!(text, r#"{"colour":"blue \"dark\"","odd":"\u0000È"}"#);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing beside it");
}

#[test]
fn what_a_kill_left_of_a_new_file_goes() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(FILE), r#"{"a":"1"}"#).unwrap();
    fs::write(folder.path().join(TEMPORARY), r#"{"a":"#).unwrap();
    let store = open(folder.path(), Guarantee::Process).unwrap();
    assert_eq!(store.count().unwrap(), 1);
    assert!(!folder.path().join(TEMPORARY).exists());
}

#[test]
fn a_file_of_something_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (text, expected) in
        [("{\"a\":1}", "string"), ("", "EOF"), ("{} {}", "trailing"), ("{\"a\":\"Ω\"}", "no byte")]
    {
        fs::write(folder.path().join(FILE), text).unwrap();
        let error = open(folder.path(), Guarantee::Process).err().unwrap().to_string();
        assert!(error.contains("not a file of records") && error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn a_change_that_cant_be_written_leaves_all_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), Guarantee::Process).unwrap();
    let mut session = store.session().unwrap();
    session.insert(b"a", b"1").unwrap();
    // A directory of the name: nobody, not even root, can write it as a file.
    fs::create_dir(folder.path().join(TEMPORARY)).unwrap();
    let results = [
        session.insert(b"b", b"2"),
        session.update(b"a", b"2"),
        session.remove(b"a"),
        session.insert_batch(&[(b"b", b"2"), (b"b", b"3")]),
    ];
    for result in results {
        assert!(matches!(result, Err(StoreError::Io { .. })), "{result:?}");
    }
    let mut records = Vec::new();
    session.scan(b"", 10, &mut |key, value| records.push((key.to_vec(), value.to_vec()))).unwrap();
    assert_eq!(records, [(b"a".to_vec(), b"1".to_vec())]);
    assert_eq!(fs::read_to_string(folder.path().join(FILE)).unwrap(), r#"{"a":"1"}"#);
}

proptest! {
    #[test]
    fn any_records_are_read_as_they_were_written(records: Records) {
        let mut text = Vec::new();
        json::write(&records, &mut text);
        prop_assert_eq!(json::read(&text).unwrap(), records);
    }
}
