//! Others who change what is being deleted while it is.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use storebench_host::location::abandoned::clean;
use storebench_host::location::directory::WorkFolder;
use tempfile::TempDir;

use super::tries;
use crate::cli::support::{contents, is_root, skipped};

/// A marker of a process that has gone.
const GONE: &str = r#"{"pid":4000000000,"started":1}"#;
/// Files in a folder: deleting them takes long enough to be disturbed.
const FILES: u32 = 100;

/// A directory in which anybody may make folders, and next to it one whose files must stay.
struct Place {
    top: TempDir,
    theirs: BTreeMap<PathBuf, Vec<u8>>,
}

/// Puts files into a folder, under the same names in each, so that a wrong turn on the way to one finds another.
fn fill(folder: &Path) {
    (0..FILES).for_each(|number| fs::write(folder.join(number.to_string()), "picture").unwrap());
}

impl Place {
    fn new() -> Place {
        let top = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let theirs = top.path().join("theirs");
        fs::create_dir(top.path().join("place")).unwrap();
        for folder in ["", "inner", "trial"] {
            fs::create_dir_all(theirs.join(folder)).unwrap();
            fill(&theirs.join(folder));
        }
        let files = contents(&theirs);
        Place { top, theirs: files }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.path().join("place").join(name)
    }

    /// A folder that looks like what a killed run left.
    fn plant(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.join("inner")).unwrap();
        fill(&path);
        fill(&path.join("inner"));
        fs::write(path.join(".storebench-work"), GONE).unwrap();
        path
    }

    #[track_caller]
    fn assert_theirs_stay(&self) {
        assert_eq!(contents(&self.top.path().join("theirs")), self.theirs);
    }

    /// Does something while `path` and a link to the files that are to stay change their names all along.
    fn while_swapped<T>(&self, path: &Path, action: impl FnOnce() -> T) -> T {
        let link = self.path("link");
        symlink(self.top.path().join("theirs"), &link).unwrap();
        let is_over = AtomicBool::new(false);
        let swap = || renameat_with(CWD, path, CWD, &link, RenameFlags::EXCHANGE);
        swap().expect("the file system can swap names");
        let result = thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    // It fails once one of them has been deleted.
                    let _ = swap();
                }
            });
            let result = action();
            is_over.store(true, Ordering::Relaxed);
            result
        });
        if path.is_symlink() {
            let _ = swap();
        }
        // It may be where the folder was, if that has been deleted.
        let _ = fs::remove_file(&link).or_else(|_| fs::remove_file(path));
        result
    }
}

#[test]
fn a_folder_that_is_swapped_for_a_link_while_it_is_cleaned_leads_nowhere_else() {
    tries(10, |_| {
        let place = Place::new();
        let planted = place.plant("storebench-work-1");
        // The folder may go, or a link may be in the way: both are right.
        place.while_swapped(&planted, || (0..5).for_each(|_| drop(clean(&place.path("")))));
        place.assert_theirs_stay();
    });
}

#[test]
fn another_users_folder_stays_whatever_it_is_swapped_for() {
    if !is_root() {
        return skipped("races with another user", "needs root");
    }
    tries(5, |random| {
        let place = Place::new();
        let planted = place.plant("storebench-work-1");
        for path in [&planted, &planted.join("inner")] {
            chown(path, Some(12345), None).unwrap();
        }
        let files = contents(&planted);
        let swapped = if random.bool() { planted.clone() } else { planted.join("inner") };
        place.while_swapped(&swapped, || (0..5).for_each(|_| drop(clean(&place.path("")))));
        place.assert_theirs_stay();
        assert_eq!(contents(&planted), files);
    });
}

#[test]
fn a_run_whose_folder_is_swapped_for_a_link_deletes_nothing_behind_it() {
    tries(10, |_| {
        let place = Place::new();
        let mut work = WorkFolder::create(&place.path("")).unwrap();
        let mut stage = work.stage();
        let trial = stage.folder("trial").unwrap();
        stage.keep();
        let path = trial.parent().unwrap().to_path_buf();
        fill(&path);
        fill(&trial);
        // Dropping it gives back the trial's folder, and deletes it.
        place.while_swapped(&path, || drop(work));
        place.assert_theirs_stay();
    });
}

#[test]
fn many_who_clean_at_once_get_along() {
    tries(5, |random| {
        let place = Place::new();
        let names = (0..random.u32(1..10)).map(|number| format!("storebench-work-{number}"));
        let planted: Vec<_> = names.map(|name| place.plant(&name)).collect();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert_eq!(clean(&place.path("")).unwrap().kept, []));
            }
        });
        assert!(planted.iter().all(|path| !path.exists()));
    });
}
