use storebench_model::store::Store;
use tempfile::TempDir;

use super::{LEVELDB, compaction_is_due};
use crate::support::testing::{new_folder, open, opened, setting};

fn filled(folder: &TempDir, compression: bool) -> Box<dyn Store> {
    let store = open(&LEVELDB, folder.path(), None, compression, &[]).unwrap();
    let mut session = store.session().unwrap();
    for number in 0..200_u32 {
        session.insert(&number.to_be_bytes(), &b"the same text again ".repeat(100)).unwrap();
    }
    drop(session);
    store.settle().unwrap();
    store
}

#[test]
fn the_codec_is_read_from_the_tables_once_there_are_any() {
    for (compression, codec) in [(true, "snappy"), (false, "none")] {
        let folder = new_folder();
        let store = filled(&folder, compression);
        assert_eq!(setting(&*store, "codec of table blocks"), codec);
        assert_eq!(setting(&*store, "compression"), codec);
    }
    let fresh = new_folder();
    let settings = opened(&LEVELDB, &fresh, None, &[]).settings().unwrap();
    assert!(settings.iter().all(|setting| setting.name != "codec of table blocks"), "there is no table yet");
}

#[test]
fn settling_writes_the_memory_table_to_a_file() {
    let folder = new_folder();
    let store = filled(&folder, false);
    let tables: u64 = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "ldb"))
        .map(|entry| entry.metadata().unwrap().len())
        .sum();
    assert!(tables >= 200 * 2000, "{tables} bytes in tables");
    assert_eq!(store.count().unwrap(), 200);
}

/// It looks at what the engine holds after reading more, with compression, as plain blocks of mapped files are not cached.
#[test]
fn a_total_cache_bounds_what_the_engine_keeps() {
    const TOTAL: u64 = 1 << 20;
    let folder = new_folder();
    let mut options = storebench_model::store::OpenOptions {
        compression: true,
        ..storebench_model::store::OpenOptions::new(folder.path())
    };
    let mut measure_memory = |cache_bytes| {
        options.cache_bytes = cache_bytes;
        let store = (LEVELDB.open.unwrap())(&options).unwrap();
        let mut session = store.session().unwrap();
        for number in 0..4_000_u32 {
            session.insert(&number.to_be_bytes(), &[number as u8; 1000]).unwrap();
        }
        store.settle().unwrap();
        for number in 0..4_000_u32 {
            assert!(session.get(&number.to_be_bytes(), &mut |_| ()).unwrap());
        }
        drop(session);
        let statistics = store.statistics().unwrap();
        let usage = statistics.iter().find(|setting| setting.name == "approximate-memory-usage").unwrap();
        usage.value.parse::<u64>().unwrap()
    };
    let as_shipped = measure_memory(None);
    let bounded = measure_memory(Some(TOTAL));
    assert!(as_shipped > 2 * TOTAL, "{as_shipped} bytes held as shipped");
    assert!(bounded <= TOTAL, "{bounded} bytes held, of {TOTAL} that may be");
}

#[test]
fn blocks_and_filters_are_set() {
    opened(&LEVELDB, &new_folder(), None, &[("block_size", "16384"), ("bloom_bits", "10")]);
}

#[test]
fn it_is_told_whether_the_library_has_assertions() {
    let folder = new_folder();
    let build = opened(&LEVELDB, &folder, None, &[]).build().unwrap();
    assert_eq!(build.not_ranked.is_some(), build.assertions.unwrap(), "{build:?}");
    if build.source.contains("built by storebench") {
        assert!(build.not_ranked.is_none() && build.flags.unwrap().contains("-DNDEBUG"));
    }
}

#[test]
fn a_full_level_is_due() {
    let table = |level: usize, count: usize, bytes: u64| {
        let lines = (0..count).map(|number| format!(" {number}:{bytes}['a' @ 1 : 1 .. 'b' @ 2 : 1]\n"));
        format!("--- level {level} ---\n{}", lines.collect::<String>())
    };
    assert!(!compaction_is_due(""));
    assert!(!compaction_is_due(&table(0, 3, 4 << 20)));
    assert!(compaction_is_due(&table(0, 4, 1)));
    assert!(!compaction_is_due(&table(1, 5, 2 << 20)));
    assert!(compaction_is_due(&table(1, 6, 2 << 20)));
    assert!(!compaction_is_due(&table(2, 6, 2 << 20)));
    assert!(!compaction_is_due(&table(6, 1, 1 << 62)));
}
