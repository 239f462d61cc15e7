//! The files that the folders leave on disk; how they behave as stores is the conformance suite's.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::config::Config;
use super::durable::{GroupSync, LISTED, LastShutdown};
use super::{FLAT_FOLDER, Folder, Layout, NESTED_FOLDER};
use crate::store::{Guarantee, Loss, OpenOptions, Result, Store, StoreDef, StoreError};

const KEY: &[u8] = b"0123456789abcdef";

fn open(def: &StoreDef, directory: &Path, guarantee: Guarantee) -> Box<dyn Store> {
    open_with(def, directory, Some(guarantee), &[]).unwrap()
}

fn open_with(
    def: &StoreDef,
    directory: &Path,
    guarantee: Option<Guarantee>,
    settings: &[(&str, &str)],
) -> Result<Box<dyn Store>> {
    let settings: BTreeMap<String, String> =
        settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let options = OpenOptions { guarantee, settings: &settings, ..OpenOptions::new(directory) };
    def.open.unwrap()(&options)
}

fn files(directory: &Path) -> Vec<String> {
    fn collect(root: &Path, directory: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(root, &path, found);
            } else {
                found.push(path.strip_prefix(root).unwrap().to_str().unwrap().into());
            }
        }
    }
    let mut found = Vec::new();
    collect(directory, directory, &mut found);
    found.sort();
    found
}

#[test]
fn a_record_lies_where_its_layout_says() {
    for guarantee in [Guarantee::Process, Guarantee::Power] {
        for (def, path) in [(FLAT_FOLDER, "0123456789abcdef"), (NESTED_FOLDER, "01/23/456789abcdef")] {
            let directory = tempfile::tempdir().unwrap();
            let store = open(&def, directory.path(), guarantee);
            let mut session = store.session().unwrap();
            session.insert(KEY, b"one").unwrap();
            assert_eq!(files(directory.path()), [path], "{} at {guarantee}", def.name);
            assert_eq!(std::fs::read(directory.path().join(path)).unwrap(), b"one");
            session.remove(KEY).unwrap();
            assert!(files(directory.path()).is_empty(), "{} at {guarantee}", def.name);
        }
    }
}

#[test]
fn temporary_files_of_a_crash_are_removed_and_never_counted() {
    for (def, folder) in [(FLAT_FOLDER, ""), (NESTED_FOLDER, "01/23/")] {
        let directory = tempfile::tempdir().unwrap();
        let store = open(&def, directory.path(), Guarantee::Power);
        store.session().unwrap().insert(KEY, b"one").unwrap();
        let leftover = directory.path().join(format!("{folder}.storebench-tmp-7-0"));
        std::fs::write(&leftover, "half").unwrap();
        assert_eq!(store.count().unwrap(), 1, "{}", def.name);
        store.close().unwrap();

        let store = open(&def, directory.path(), Guarantee::Process);
        assert!(!leftover.exists(), "{}", def.name);
        assert_eq!(store.count().unwrap(), 1, "{}", def.name);
    }
}

#[test]
fn removed_files_that_someone_has_open_are_never_counted() {
    for (def, folder) in [(FLAT_FOLDER, ""), (NESTED_FOLDER, "01/23/")] {
        let directory = tempfile::tempdir().unwrap();
        let store = open(&def, directory.path(), Guarantee::Process);
        let mut session = store.session().unwrap();
        session.insert(KEY, b"one").unwrap();
        for name in [".fuse_hidden0000000100000001", ".nfs000000000000000100000001"] {
            std::fs::write(directory.path().join(folder).join(name), "removed").unwrap();
            let key = format!("{}{name}", folder.replace('/', ""));
            let refused = session.insert(key.as_bytes(), b"two");
            assert!(matches!(refused, Err(StoreError::Unsupported(_))), "{refused:?}");
        }
        assert_eq!(store.count().unwrap(), 1, "{}", def.name);
    }
}

#[test]
fn keys_that_would_leave_their_place_are_refused() {
    let long = vec![b'a'; 256];
    let flat: &[&[u8]] = &[b"", b".", b"..", b"a/b", b"/a", b"a\0b", b".storebench-tmp-0-0", &long];
    let nested: &[&[u8]] = &[b"", b"abcd", b"..abcd", b"ab..cd", b"abcd.", b"abcd..", b"ab/cdef", b"abcd\0"];
    for (def, keys) in [(FLAT_FOLDER, flat), (NESTED_FOLDER, nested)] {
        for guarantee in [Guarantee::Process, Guarantee::Power] {
            let parent = tempfile::tempdir().unwrap();
            let directory = parent.path().join("store");
            std::fs::create_dir(&directory).unwrap();
            let store = open(&def, &directory, guarantee);
            let mut session = store.session().unwrap();
            for key in keys {
                let context = format!("{} at {guarantee}: {:?}", def.name, String::from_utf8_lossy(key));
                let is_refused = |result| matches!(result, Err(StoreError::Unsupported(_)));
                assert!(is_refused(session.insert(key, b"x")), "{context}");
                assert!(is_refused(session.update(key, b"x")), "{context}");
                assert!(is_refused(session.remove(key)), "{context}");
                assert!(is_refused(session.get(key, &mut |_| ()).map(drop)), "{context}");
                assert!(is_refused(session.insert_batch(&[(KEY, b"x"), (key, b"x")])), "{context}");
            }
            let strays: Vec<String> = files(parent.path());
            let is_in_place = |path: &String| !path.contains("tmp") && path.starts_with("store/");
            assert!(strays.iter().all(is_in_place), "{strays:?}");
        }
    }
}

#[test]
fn a_batch_that_fails_in_the_middle_leaves_no_temporary_file() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&NESTED_FOLDER, directory.path(), Guarantee::Power);
    // A file stands where the second record's directory would be.
    std::fs::write(directory.path().join("ff"), "in the way").unwrap();
    let mut session = store.session().unwrap();
    let failed = session.insert_batch(&[(KEY, b"one"), (b"ffffffff", b"two")]);
    assert!(matches!(failed, Err(StoreError::Io { .. })), "{failed:?}");
    assert_eq!(files(directory.path()), ["ff"]);
}

#[test]
fn a_synced_folder_puts_each_file_in_place_by_rename() {
    for def in [FLAT_FOLDER, NESTED_FOLDER] {
        let directory = tempfile::tempdir().unwrap();
        let store = open(&def, directory.path(), Guarantee::Power);
        let mut session = store.session().unwrap();
        session.insert(KEY, b"the old value").unwrap();
        let path = directory.path().join(&files(directory.path())[0]);
        // A file that is held open keeps the old content only if it is replaced and not written over.
        let mut old_file = std::fs::File::open(path).unwrap();
        session.update(KEY, b"new").unwrap();
        let mut old = String::new();
        std::io::Read::read_to_string(&mut old_file, &mut old).unwrap();
        assert_eq!(old, "the old value", "{}", def.name);
    }
}

/// A store at `power` that syncs a batch in the given way, whatever the file system allows.
fn folder_with_group(directory: &Path, layout: Layout, group: GroupSync) -> Folder {
    let root = File::open(directory).unwrap();
    let (sessions, fresh_directories) = (AtomicU64::new(0), AtomicUsize::new(0));
    let config = Config { layout, rename: true, sync_file: true, sync_folder: true };
    Folder { root, config, group, sessions, fresh_directories }
}

#[test]
fn a_batch_is_whole_in_either_way_to_sync_it() {
    for layout in [Layout::FLAT, Layout::NESTED] {
        for group in [GroupSync::FileSystem, GroupSync::EachFile] {
            let directory = tempfile::tempdir().unwrap();
            let store = folder_with_group(directory.path(), layout, group);
            let mut session = store.session().unwrap();
            session.insert(b"aabbccdd", b"old").unwrap();
            session
                .insert_batch(&[(b"aabbccdd", b"new"), (b"aabbccee", b"two"), (b"ccddeeff", b"3")])
                .unwrap();
            store.settle().unwrap();
            let mut content: Vec<Vec<u8>> = files(directory.path())
                .into_iter()
                .map(|path| std::fs::read(directory.path().join(path)).unwrap())
                .collect();
            content.sort();
            assert_eq!(content, [&b"3"[..], b"new", b"two"], "{layout:?}, {group:?}");
            assert_eq!(store.fresh_directories.load(Ordering::SeqCst), 0, "{layout:?}, {group:?}");
        }
    }
}

#[test]
fn directories_that_were_never_synced_stay_fresh() {
    let directory = tempfile::tempdir().unwrap();
    let store = folder_with_group(directory.path(), Layout::NESTED, GroupSync::FileSystem);
    // A file can't take the place of a directory.
    std::fs::create_dir_all(directory.path().join("aa/bb/ccdd")).unwrap();
    let mut session = store.session().unwrap();
    assert!(session.insert(b"aabbccdd", b"one").is_err());
    assert_eq!(store.fresh_directories.load(Ordering::SeqCst), 0, "the directory was there before");
    // Nothing can be opened or made below a link to nowhere.
    std::os::unix::fs::symlink("nowhere", directory.path().join("ee")).unwrap();
    assert!(session.insert(b"eeffgghh", b"one").is_err());
    assert_eq!(store.fresh_directories.load(Ordering::SeqCst), 1);
    session.insert(b"iijjkkll", b"one").unwrap();
    let fresh = store.fresh_directories.load(Ordering::SeqCst);
    assert_eq!(fresh, 1, "its own were synced, the other's were not");
}

fn listed_at_opening(def: &StoreDef, directory: &Path, guarantee: Guarantee) -> (Box<dyn Store>, u64) {
    let before = LISTED.get();
    let store = open(def, directory, guarantee);
    (store, LISTED.get() - before)
}

#[test]
fn a_store_that_was_closed_is_opened_without_listing_a_directory() {
    use Guarantee::{Power, Process};
    for def in [FLAT_FOLDER, NESTED_FOLDER] {
        for (first, second) in [(Process, Process), (Power, Power), (Power, Process), (Process, Power)] {
            let context = format!("{}, {first} then {second}", def.name);
            let directory = tempfile::tempdir().unwrap();
            let store = open(&def, directory.path(), first);
            store.session().unwrap().insert(KEY, b"one").unwrap();
            store.close().unwrap();
            let (store, listed) = listed_at_opening(&def, directory.path(), second);
            assert_eq!(listed, 0, "{context}");
            assert_eq!(files(directory.path()).len(), 1, "{context}: only the record while it is open");
            // As after a crash: it was never closed.
            drop(store);
            let (store, listed) = listed_at_opening(&def, directory.path(), second);
            assert!(listed > 0, "{context}");
            assert_eq!(store.count().unwrap(), 1, "{context}");
            store.close().unwrap();
            assert_eq!(open(&def, directory.path(), first).count().unwrap(), 1, "{context}");
        }
    }
}

#[test]
fn where_files_are_synced_one_by_one_only_what_may_not_be_durable_is_listed() {
    for (closed_at, listed) in [(Guarantee::Power, false), (Guarantee::Process, true)] {
        let directory = tempfile::tempdir().unwrap();
        let store = open(&NESTED_FOLDER, directory.path(), closed_at);
        store.session().unwrap().insert(KEY, b"one").unwrap();
        store.close().unwrap();
        let root = File::open(directory.path()).unwrap();
        let last_shutdown = LastShutdown::take(&root, Layout::NESTED).unwrap();
        let before = LISTED.get();
        super::make_durable(&root, Layout::NESTED, GroupSync::EachFile, last_shutdown).unwrap();
        assert_eq!(LISTED.get() > before, listed, "closed at {closed_at}");
    }
}

#[test]
fn keys_are_spread_over_as_many_levels_as_are_set() {
    for (settings, path) in [
        (&[("levels", "1"), ("level_bytes", "3")][..], "012/3456789abcdef"),
        (&[("levels", "4"), ("level_bytes", "1")], "0/1/2/3/456789abcdef"),
        (&[("levels", "3")], "01/23/45/6789abcdef"),
    ] {
        for guarantee in [Guarantee::Process, Guarantee::Power] {
            let directory = tempfile::tempdir().unwrap();
            let store = open_with(&NESTED_FOLDER, directory.path(), Some(guarantee), settings).unwrap();
            let mut session = store.session().unwrap();
            session.insert(KEY, b"one").unwrap();
            session.insert_batch(&[(b"0123456789abcdee", b"two")]).unwrap();
            assert!(files(directory.path()).contains(&path.to_owned()), "{settings:?} {guarantee}");
            let dots = session.insert(b"....456789abcdef", b"x");
            let parts_are_dots = settings != [("levels", "1"), ("level_bytes", "3")];
            assert_eq!(dots.is_err(), parts_are_dots, "{settings:?}: {dots:?}");
            drop(session);
            assert_eq!(store.count().unwrap(), if parts_are_dots { 2 } else { 3 });
        }
    }
}

#[test]
fn settings_that_name_nothing_here_or_are_out_of_bounds_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    for (def, setting) in [
        (FLAT_FOLDER, ("levels", "1")),
        (NESTED_FOLDER, ("levels", "0")),
        (NESTED_FOLDER, ("levels", "5")),
        (NESTED_FOLDER, ("level_bytes", "4")),
        (FLAT_FOLDER, ("write", "append")),
        (FLAT_FOLDER, ("sync_file", "1")),
    ] {
        let refused = open_with(&def, directory.path(), None, &[setting]).err();
        assert!(matches!(refused, Some(StoreError::BadSetting(_))), "{setting:?}: {refused:?}");
    }
}

#[test]
fn a_folder_that_was_closed_with_another_layout_is_not_opened() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&NESTED_FOLDER, directory.path(), Guarantee::Process);
    store.session().unwrap().insert(KEY, b"one").unwrap();
    store.close().unwrap();
    for _ in 0..2 {
        let refused = open_with(&NESTED_FOLDER, directory.path(), None, &[("levels", "1")]).err();
        assert!(matches!(refused, Some(StoreError::SettingNotTaken { .. })), "{refused:?}");
    }
    assert_eq!(open(&NESTED_FOLDER, directory.path(), Guarantee::Process).count().unwrap(), 1);
}

/// For every way to write: the guarantee that results, what accidents can cost, and whether an open file keeps the old value.
#[test]
fn the_guarantee_follows_from_how_files_are_written_and_what_is_synced() {
    use Guarantee::{Power, Process};
    let cases = [
        ("overwrite", false, false, Process, Loss::Unfinished, Loss::Torn),
        ("overwrite", true, false, Process, Loss::Unfinished, Loss::Torn),
        ("overwrite", false, true, Process, Loss::Unfinished, Loss::Torn),
        ("overwrite", true, true, Power, Loss::Unfinished, Loss::Unfinished),
        ("rename", false, false, Process, Loss::Nothing, Loss::Torn),
        ("rename", true, false, Process, Loss::Nothing, Loss::Newest),
        ("rename", false, true, Process, Loss::Nothing, Loss::Torn),
        ("rename", true, true, Power, Loss::Nothing, Loss::Nothing),
    ];
    for (write, sync_file, sync_folder, guarantee, kill, power_cut) in cases {
        let (file, folder) = (sync_file.to_string(), sync_folder.to_string());
        let settings = [("write", write), ("sync_file", &file), ("sync_folder", &folder)];
        let directory = tempfile::tempdir().unwrap();
        let store = open_with(&FLAT_FOLDER, directory.path(), None, &settings).unwrap();
        assert_eq!(store.guarantee(), guarantee, "{settings:?}");
        let danger = FLAT_FOLDER.offer(guarantee).unwrap().danger(&store.settings().unwrap()).unwrap();
        assert_eq!((danger.kill, danger.power_cut), (kill, power_cut), "{settings:?}");

        let mut session = store.session().unwrap();
        session.insert(KEY, b"the old value").unwrap();
        let mut old_file = File::open(directory.path().join(&files(directory.path())[0])).unwrap();
        session.update(KEY, b"new").unwrap();
        let mut seen = String::new();
        std::io::Read::read_to_string(&mut old_file, &mut seen).unwrap();
        assert_eq!(seen == "the old value", write == "rename", "{settings:?}: {seen}");
        drop(session);
        store.close().unwrap();

        let other_guarantee = if guarantee == Power { Process } else { Power };
        let refused = open_with(&FLAT_FOLDER, directory.path(), Some(other_guarantee), &settings).err();
        let context = format!("{settings:?} at {other_guarantee}: {refused:?}");
        assert!(matches!(refused, Some(StoreError::BadSetting(_))), "{context}");
    }
}
