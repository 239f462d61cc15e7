use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::*;
use crate::location::directory::WorkFolder;
use storebench_core::guard::{Lock, try_lock};

/// A directory with folders in it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A folder with a file in a folder in it, and a marker.
    fn make(&self, name: &str, marker: Option<&str>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.join("inner")).unwrap();
        fs::write(path.join("inner/file"), "x").unwrap();
        if let Some(text) = marker {
            fs::write(path.join(ledger::NAME), text).unwrap();
        }
        path
    }

    fn clean(&self) -> AbandonedFolders {
        let mut found = clean(self.0.path()).unwrap();
        found.deleted.sort();
        found
    }

    fn deleted(&self) -> Vec<PathBuf> {
        self.clean().deleted
    }
}

/// No process has this number: the kernel's largest is 2^22.
const GONE: &str = r#"{"pid":4000000000,"started":1}"#;
const LOCKED: &str = r#"{"pid":1,"started":1,"life":"lock"}"#;

#[test]
fn only_abandoned_folders_with_a_marker_are_cleaned() {
    let place = Place::new();
    let gone = place.make("storebench-work-1", Some(GONE));
    let reused = format!(r#"{{"pid":{},"started":1}}"#, std::process::id());
    let reused = place.make("storebench-work-2", Some(&reused));
    let unmarked = place.make("storebench-work-3", None);
    let garbled = place.make("storebench-work-4", Some("hello"));
    let users = place.make("photos", Some(GONE));
    assert_eq!(place.deleted(), [gone.clone(), reused.clone()]);
    assert!(!gone.exists() && !reused.exists());
    assert!([unmarked, garbled, users].iter().all(|folder| folder.join("inner/file").exists()));
}

#[test]
fn a_lock_tells_life_and_no_process_number() {
    let place = Place::new();
    let path = place.make("storebench-work-1", Some(LOCKED));
    let locked_file = fs::File::open(path.join(ledger::NAME)).unwrap();
    assert_eq!(try_lock(&locked_file).unwrap(), Lock::Taken);
    // An older marker is left alone while it is locked, too: another process is deleting its folder.
    let older = place.make("storebench-work-2", Some(GONE));
    let older_locked_file = fs::File::open(older.join(ledger::NAME)).unwrap();
    assert_eq!(try_lock(&older_locked_file).unwrap(), Lock::Taken);
    assert_eq!(place.clean(), AbandonedFolders::default());
    drop((locked_file, older_locked_file));
    // The process with the number 1 is alive, and works on something else.
    assert_eq!(place.deleted(), [path, older]);
}

#[test]
fn a_process_that_is_started_does_not_get_the_lock() {
    let place = Place::new();
    let work = WorkFolder::create(place.0.path()).unwrap();
    let mut child = Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
    // As after a kill: the lock is gone, the folder stays.
    let entry = fs::read_dir(place.0.path()).unwrap().next().unwrap().unwrap();
    fs::write(entry.path().join("x"), "y").unwrap();
    assert_eq!(place.clean(), AbandonedFolders::default());
    let marker = entry.path().join(ledger::NAME);
    let text = fs::read(&marker).unwrap();
    drop(work);
    fs::create_dir(entry.path()).unwrap();
    fs::write(&marker, text).unwrap();
    assert_eq!(place.deleted(), [entry.path()]);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_a_kill_left_before_the_marker_was_whole_is_cleaned() {
    let place = Place::new();
    let empty = place.path("storebench-work-5");
    fs::create_dir(&empty).unwrap();
    let mut expected = vec![empty];
    for (number, text) in ["", "{\"pid\":12", "\0\0\0\0"].iter().enumerate() {
        let path = place.path(&format!("storebench-work-6-{number}"));
        fs::create_dir(&path).unwrap();
        fs::write(path.join(ledger::NAME), text).unwrap();
        expected.push(path);
    }
    // A folder with any other content was not left by a kill.
    let filled = place.make("storebench-work-7", Some(""));
    let named = place.path("storebench-work-notes");
    fs::create_dir(&named).unwrap();
    assert_eq!(place.deleted(), expected);
    assert!(filled.join("inner/file").exists() && named.exists());
}

#[test]
fn a_marker_is_a_file_and_nothing_that_could_be_waited_for() {
    let place = Place::new();
    let paths = [1, 2, 3, 4].map(|number| place.make(&format!("storebench-work-{number}"), None));
    let [pipe, link, folder, socket] = paths.each_ref().map(|path| path.join(ledger::NAME));
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    fs::write(place.path("marker"), GONE).unwrap();
    symlink("../marker", &link).unwrap();
    fs::create_dir(&folder).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert_eq!(place.clean(), AbandonedFolders::default());
    assert!(paths.iter().all(|path| path.join("inner/file").exists()));
}

#[test]
fn a_link_to_a_work_folder_is_no_work_folder() {
    let place = Place::new();
    let elsewhere = Place::new();
    let theirs = elsewhere.make("storebench-work-1", Some(GONE));
    symlink(&theirs, place.path("storebench-work-1")).unwrap();
    let marked = place.make("storebench-work-2", Some(GONE));
    symlink(&theirs, marked.join("link")).unwrap();
    assert_eq!(place.deleted(), [marked]);
    assert!(theirs.join("inner/file").exists() && theirs.join(ledger::NAME).exists());
}

#[test]
fn another_users_folder_is_kept_and_so_is_one_without_locks() {
    let place = Place::new();
    let unlocked = place.make("storebench-work-1", Some(r#"{"pid":1,"started":1,"life":"unknown"}"#));
    let [(path, why)] = place.clean().kept.try_into().unwrap();
    assert!(path == unlocked && why.contains("no locks"), "{why}");
    fs::remove_dir_all(&unlocked).unwrap();
    let theirs = place.make("storebench-work-2", Some(GONE));
    if let Err(error) = std::os::unix::fs::chown(&theirs, Some(12345), None) {
        return println!("not tried: giving a folder away: {error}");
    }
    let found = place.clean();
    let [(path, why)] = found.kept.as_slice() else { panic!("{found:?}") };
    assert!(*path == theirs && why.contains("another user, number 12345"), "{why}");
    assert!(found.deleted.is_empty() && theirs.join("inner/file").exists());
}

/// Nobody who cleans takes a folder from under the process that is making it.
#[test]
fn making_and_cleaning_at_the_same_time_get_along() {
    let place = Place::new();
    std::thread::scope(|scope| {
        let maker = scope.spawn(|| {
            for _ in 0..300 {
                let mut work = WorkFolder::create(place.0.path()).unwrap();
                let mut stage = work.stage();
                let trial = stage.folder("t").unwrap();
                fs::write(trial.join("file"), "x").unwrap();
                assert!(trial.join("file").exists());
            }
        });
        while !maker.is_finished() {
            assert_eq!(place.clean().kept, []);
        }
        maker.join().unwrap();
    });
    assert_eq!(place.clean(), AbandonedFolders::default());
    assert!(fs::read_dir(place.0.path()).unwrap().next().is_none());
}

/// For example a folder of a user that no longer exists.
#[test]
fn one_that_can_not_be_deleted_keeps_nobody_from_the_others() {
    let place = Place::new();
    let [first, stuck, last] =
        [1, 2, 3].map(|number| place.make(&format!("storebench-work-{number}"), Some(GONE)));
    let inner = stuck.join("inner");
    match rustix::process::geteuid().is_root() {
        true => std::os::unix::fs::chown(&inner, Some(12345), None).unwrap(),
        false => fs::set_permissions(&inner, std::os::unix::fs::PermissionsExt::from_mode(0o500)).unwrap(),
    }
    let AbandonedFolders { deleted, kept, stuck: stuck_folders } = place.clean();
    assert_eq!((deleted, kept), (vec![first, last], Vec::new()));
    let [(path, why)] = stuck_folders.try_into().unwrap();
    assert_eq!(path, stuck);
    assert!(why.contains("inner") || why.contains("denied"), "{why}");
    if !rustix::process::geteuid().is_root() {
        fs::set_permissions(&inner, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    }
}
