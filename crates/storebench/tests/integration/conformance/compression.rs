//! Compression takes effect if a store declares it: on disk, and in the settings that are read back.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::subject::{Subject, assert_holds, by_name, for_each_keeping_privately, key};

const RECORDS: u64 = 200;
const VALUE_BYTES: usize = 40_000;

/// Text that any codec takes down to a fraction, another for each record.
fn text(number: u64) -> Vec<u8> {
    let line = format!("Record {number}: the same words, over and over, say nothing new to a codec. ");
    line.bytes().cycle().take(VALUE_BYTES).collect()
}

#[test]
fn compressed_data_takes_far_less_disk_where_declared() {
    for_each_keeping_privately(|subject| {
        if !subject.can().persists || subject.tier.is_some() {
            return; // It has no tier of its own, and needs files.
        }
        let empty = subject.anew();
        empty.open().close().unwrap();
        // A server keeps much besides the records.
        let empty = allocated(empty.directory.path());
        let (plain, plain_settings) = fill(&subject.anew(), false);
        let (compressed, compressed_settings) = fill(&subject.anew(), true);
        let (plain, compressed) = (plain.saturating_sub(empty), compressed.saturating_sub(empty));
        let data = RECORDS * VALUE_BYTES as u64;
        assert!(plain >= data, "{plain} bytes on disk for {data} that are not to be compressed");
        if subject.can().compression.is_some() {
            assert!(compressed < plain / 3, "{plain} bytes on disk, and {compressed} with compression");
            assert_ne!(plain_settings, compressed_settings, "the settings do not tell them apart");
        } else {
            assert!(compressed >= data, "{compressed} bytes for {data}: it compresses, and does not say so");
            assert_eq!(plain_settings, compressed_settings);
        }
    });
}

/// Fills a fresh store, and says what it takes on disk in bytes, and its settings.
fn fill(subject: &Subject, compression: bool) -> (u64, BTreeMap<String, String>) {
    let store = subject.open_with(|options| options.compression = compression).unwrap();
    let mut session = store.session().unwrap();
    for first in (0..RECORDS).step_by(50) {
        let owned: Vec<_> = (first..first + 50).map(|number| (key(number), text(number))).collect();
        let batch: Vec<(&[u8], &[u8])> = owned.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        session.insert_batch(&batch).unwrap();
    }
    for number in 0..RECORDS {
        assert_holds(&mut *session, &key(number), Some(&text(number)));
    }
    drop(session);
    store.settle().unwrap();
    let settings = by_name(store.settings().unwrap());
    store.close().unwrap();
    // Measured when it is closed: RocksDB, for one, gives back then the 4 MiB that it keeps at hand for its manifest.
    let bytes = allocated(subject.directory.path());
    // The choice is kept in the files, or made again with each opening; what was written is read either way.
    let store = subject.open_with(|options| options.compression = compression).unwrap();
    assert_holds(&mut *store.session().unwrap(), &key(1), Some(&text(1)));
    (bytes, settings)
}

/// The bytes of the blocks that everything below a directory takes.
fn allocated(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| match entry.metadata().unwrap() {
            about if about.is_dir() => allocated(&entry.path()),
            about => about.blocks() * 512,
        })
        .sum()
}
