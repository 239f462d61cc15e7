use std::fs;
use std::path::Path;
use std::process::Command;

use storebench_model::store::{Guarantee, OpenOptions, StoreError};

use super::config::SETTINGS;
use super::library::{LIBRARY, Library};
use super::{ROCKSDB, work_done};
use crate::support::GivenSettings;
use crate::support::testing::{after_kill, new_folder, open, opened, refused, setting};

#[test]
fn the_codec_is_read_back() {
    for (compression, settings, codec) in [
        (false, &[][..], "kNoCompression"),
        (true, &[], "kSnappyCompression"),
        (true, &[("compression", "kZSTD")], "kZSTD"),
        (false, &[("compression", "kZSTD")], "kNoCompression"),
    ] {
        let folder = new_folder();
        let store = open(&ROCKSDB, folder.path(), None, compression, settings).unwrap();
        assert_eq!(setting(&*store, "compression"), codec);
    }
}

#[test]
fn settings_are_read_back() {
    let folder = new_folder();
    let settings = [
        ("write_buffer_size", "1048576"),
        ("block_cache_size", "2097152"),
        ("block_size", "16384"),
        ("max_background_jobs", "3"),
        ("max_open_files", "100"),
        ("compaction_style", "kCompactionStyleUniversal"),
    ];
    let store = opened(&ROCKSDB, &folder, None, &settings);
    for (name, value) in settings {
        assert_eq!(setting(&*store, name), value, "{name}");
    }
    assert_eq!(setting(&*store, "rocksdb_version"), (ROCKSDB.version)());
    assert!(setting(&*store, "filter_policy").contains("null"));
    let folder = new_folder();
    let store = opened(&ROCKSDB, &folder, None, &[("bloom_bits", "10")]);
    assert!(setting(&*store, "filter_policy").contains("bloomfilter"));
    assert_eq!(setting(&*store, "bloom_bits"), "10");
}

#[test]
fn a_total_cache_is_split_in_halves() {
    const TOTAL: u64 = 16 << 20;
    let folder = new_folder();
    let options = OpenOptions { cache_bytes: Some(TOTAL), ..OpenOptions::new(folder.path()) };
    let store = (ROCKSDB.open.unwrap())(&options).unwrap();
    let number = |name| setting(&*store, name).parse::<u64>().unwrap();
    assert_eq!(number("block_cache_size"), TOTAL / 2);
    assert_eq!(number("write_buffer_size") * number("max_write_buffer_number"), TOTAL / 2);
}

#[test]
fn records_in_order_become_sorted_files_past_the_log() {
    let folder = new_folder();
    let store = opened(&ROCKSDB, &folder, None, &[]);
    let bytes_of = |kind: &str| -> Vec<u64> {
        let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
        let files = files.filter(|file| file.path().extension().is_some_and(|extension| extension == kind));
        files.map(|file| file.metadata().unwrap().len()).collect()
    };
    let mut session = store.session().unwrap();
    let value = vec![7; 1 << 20];
    let append = |number: &u32| session.append_batch(&[(&number.to_be_bytes(), &value)]).unwrap();
    let handed_over = (0..70).filter(append).count();
    // One is full, and the next is being written.
    assert_eq!(handed_over, 1);
    assert_eq!((bytes_of("sst").len(), bytes_of("new").len()), (1, 1));
    session.end_appending().unwrap();
    assert_eq!((bytes_of("sst").len(), bytes_of("new").len()), (2, 0));
    assert!(bytes_of("sst").iter().sum::<u64>() > 70 << 20);
    assert!(bytes_of("log").iter().sum::<u64>() < 1 << 20, "{:?}", bytes_of("log"));
    // A batch in no order is refused, and a file that was not handed over is deleted.
    assert!(matches!(session.append_batch(&[(b"b", b""), (b"a", b"")]), Err(StoreError::Engine(_))));
    session.append_batch(&[(b"c", b"")]).unwrap();
    drop(session);
    assert_eq!(bytes_of("new").len(), 0);
    assert_eq!(store.count().unwrap(), 70);
}

/// Compares the mark in the file or archive with the system's linker, which knows only shared libraries.
#[test]
fn it_is_told_whether_the_library_has_assertions() {
    let folder = new_folder();
    let build = opened(&ROCKSDB, &folder, None, &[]).build().unwrap();
    let name = c"_ZN7rocksdb9SyncPoint11GetInstanceEv";
    // SAFETY: the name is a string; the address is not used.
    let sync_points = unsafe { !libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()).is_null() };
    assert_eq!(build.assertions, Some(sync_points), "{build:?}");
    assert_eq!(build.not_ranked.is_some(), sync_points, "{build:?}");
    if build.source.contains("built by storebench") {
        assert!(!sync_points && build.flags.unwrap().contains("-DNDEBUG"));
    }
}

fn compile_library(file: &Path, names: impl Iterator<Item = String>) -> String {
    let source = file.with_extension("c");
    fs::write(&source, names.map(|name| format!("void {name}(void) {{}}\n")).collect::<String>()).unwrap();
    let compiled = Command::new("cc").args(["-shared", "-o"]).arg(file).arg(source).status().unwrap();
    assert!(compiled.success());
    file.display().to_string()
}

fn needed_names() -> impl Iterator<Item = String> {
    let names = include_str!("ffi.rs").split("pub fn ").skip(1).filter_map(|text| text.split('(').next());
    names.map(str::to_owned)
}

#[test]
fn a_file_that_is_no_library_of_rocksdb_is_refused() {
    let folder = new_folder();
    let file = |name: &str| folder.path().join(name);
    let missing = file("missing.so").display().to_string();
    let empty = file("empty.so");
    fs::write(&empty, "").unwrap();
    let mut bytes = fs::read(compile_library(&file("none.so"), std::iter::empty())).unwrap();
    bytes[18] ^= 1;
    let foreign = file("foreign.so");
    fs::write(&foreign, bytes).unwrap();
    let other_names = needed_names().filter(|name| name != "rocksdb_get_pinned");
    for (library, why) in [
        ("librocksdb.so", "is not "),
        (&missing, "No such file"),
        (&empty.display().to_string(), "file too short"),
        (&foreign.display().to_string(), "it is for another processor"),
        (&file("none.so").display().to_string(), "it has no function rocksdb_close: it is not RocksDB"),
        (&compile_library(&file("old.so"), other_names), "it has no function rocksdb_get_pinned"),
    ] {
        let error = refused(&ROCKSDB, &new_folder(), None, &[(LIBRARY, library)]);
        let is_told = matches!(&error, StoreError::BadSetting(message) if message.contains(why));
        assert!(is_told, "{library}: {error}");
    }
}

#[test]
fn a_library_that_is_loaded_tells_its_build() {
    let folder = new_folder();
    let build = |name: &str, more_names: &[&str]| {
        let names = needed_names().chain(more_names.iter().map(|name| (*name).to_owned()));
        let settings = [(LIBRARY.to_owned(), compile_library(&folder.path().join(name), names))].into();
        let options = OpenOptions { settings: &settings, ..OpenOptions::new(folder.path()) };
        Library::from_settings(&GivenSettings::new(&options, SETTINGS).unwrap()).unwrap().build()
    };
    let release = build("release.so", &[]);
    assert!(release.source.starts_with("the library release.so, SHA-256 "), "{release:?}");
    assert_eq!((release.flags, release.assertions, release.not_ranked), (None, Some(false), None));
    let checked = build("checked.so", &["_ZN7rocksdb9SyncPoint11GetInstanceEv"]);
    assert_eq!((checked.assertions, checked.not_ranked.is_some()), (Some(true), true));
}

#[test]
fn its_authors_build_does_as_the_one_that_is_linked() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/rocksdb-authors.sh");
    let output = Command::new("sh").args([script, "--where"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let Some((version, file)) = printed.trim().split_once('\n') else {
        let why = "scripts/rocksdb-authors.sh did not run";
        assert!(std::env::var_os("STOREBENCH_TEST_STRICT").is_none(), "{why}");
        return println!("not tried: {why}");
    };
    let folder = new_folder();
    let store = opened(&ROCKSDB, &folder, None, &[(LIBRARY, file), ("block_size", "16384")]);
    assert_eq!((store.version().as_deref(), &*setting(&*store, LIBRARY)), (Some(version), file));
    let build = store.build().unwrap();
    assert!(build.source.starts_with("its authors' build, librocksdbjni-"), "{build:?}");
    assert_eq!(build.assertions, Some(false));
    for (tier, survivors) in [(Guarantee::None, 0), (Guarantee::Process, 3), (Guarantee::Power, 3)] {
        assert_eq!(after_kill(&ROCKSDB, tier, &[(LIBRARY, file)]), survivors, "{tier}");
    }
}

const NOW: &str = "\
** Compaction Stats [default] **
Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) Comp(sec) Comp(cnt) Avg(sec)
----------------------------------------------------------------------------------------------------------------------------------------
  L0      2/0   17.84 MB   0.5      0.0     0.0      0.0       0.1      0.1       0.0   1.0      0.0    210.6      0.55        13    0.042
  L1      3/1   51.36 MB   0.0      0.2     0.1      0.1       0.2      0.1       0.0   1.5    312.5    244.8      0.68         4    0.171
 Sum      5/1   69.20 MB   0.0      0.2     0.1      0.1       0.3      0.2       0.0   2.5    173.1    229.5      1.23        17    0.072
Write Stall (count): l0-file-count-limit-delays: 2, memtable-limit-stops: 1, total-delays: 2, total-stops: 1
";

#[test]
fn flushes_compactions_and_stalls_are_read_out_of_the_text() {
    assert_eq!(work_done(NOW), [13, 4, 3]);
    assert_eq!(work_done(""), [0; 3]);
    let old_line = "Stalls(count): 1 level0_slowdown, 2 memtable_slowdown, interval 7 total count";
    assert_eq!(work_done(old_line), [0, 0, 3]);
}
