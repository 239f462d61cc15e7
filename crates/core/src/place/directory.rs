//! A work folder in a directory of the user's: made with a marker, deleted only by its marker, on every way out; what a
//! kill left behind is found and deleted at the next start.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::probe::{self, Probe};
use crate::error::{Error, Result};

/// How the names of work folders begin.
const PREFIX: &str = "storebench-work-";
/// The marker that says a folder is storebench's.
const MARKER: &str = ".storebench-work";

/// Who made a work folder.
#[derive(Debug, Serialize, Deserialize, PartialEq, Eq)]
struct Owner {
    pid: u32,
    /// The process's start in clock ticks since boot, so that a number used again is not taken for it.
    started: Option<u64>,
}

/// A work folder. Dropping it deletes it.
#[derive(Debug)]
pub struct WorkFolder {
    path: PathBuf,
}

impl WorkFolder {
    /// Makes a work folder in `directory`, which exists.
    ///
    /// # Errors
    /// When it can't be made there.
    pub fn create(directory: &Path) -> Result<WorkFolder> {
        let name = format!("{PREFIX}{}", std::process::id());
        let path = (0..)
            .map(|number| directory.join(if number == 0 { name.clone() } else { format!("{name}-{number}") }))
            .find(|path| !path.exists())
            .unwrap_or_else(|| directory.join(&name));
        fs::create_dir(&path).map_err(Error::io("making the work folder", &path))?;
        let folder = WorkFolder { path };
        let owner = Owner { pid: std::process::id(), started: started(std::process::id()) };
        let text = serde_json::to_string(&owner).unwrap_or_default();
        let marker = folder.path.join(MARKER);
        fs::write(&marker, text).map_err(Error::io("writing", &marker))?;
        spread(&folder.path);
        Ok(folder)
    }

    /// An empty folder within it for a trial; what was there under this name is deleted.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn trial(&self, name: &str) -> Result<PathBuf> {
        let path = self.path.join(name);
        remove(&path).map_err(Error::io("deleting", &path))?;
        fs::create_dir(&path).map_err(Error::io("making", &path))?;
        Ok(path)
    }

    /// What the place costs, from a folder within it that is deleted again.
    ///
    /// # Errors
    /// When it can't be probed.
    pub fn probe(&self) -> Result<Probe> {
        let folder = self.trial("probe")?;
        let place = self.path.parent().unwrap_or(&self.path);
        let probe = probe::probe(&folder).map_err(Error::io("probing", place))?;
        self.clear(&folder)?;
        Ok(probe)
    }

    /// Deletes a trial's folder.
    ///
    /// # Errors
    /// When it can't be deleted.
    pub fn clear(&self, trial: &Path) -> Result<()> {
        debug_assert!(trial.starts_with(&self.path));
        remove(trial).map_err(Error::io("deleting", trial))
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // What can't be deleted now is found by its marker at the next start.
        let _ = remove_work(&self.path);
    }
}

/// Asks the file system to put the folders made in `path` far from one another. ext4 does not use a deleted file's place
/// again for minutes, and looks at each such place when it makes a file nearby: a trial must not pay for the deletions of
/// the one before it. Other file systems don't know the attribute, and need none.
fn spread(path: &Path) {
    #[cfg(target_os = "linux")]
    if let Ok(folder) = fs::File::open(path)
        && let Ok(flags) = rustix::fs::ioctl_getflags(&folder)
    {
        let _ = rustix::fs::ioctl_setflags(&folder, flags | rustix::fs::IFlags::TOPDIR);
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Deletes a work folder, its marker last, so that a deletion that was cut off can be finished later.
fn remove_work(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name() == MARKER {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?
        } else {
            fs::remove_file(entry.path())?
        }
    }
    fs::remove_file(path.join(MARKER))?;
    fs::remove_dir(path)
}

/// Deletes work folders in `directory` whose process is gone; returns those deleted.
///
/// # Errors
/// When the directory can't be read, or a folder can't be deleted.
pub fn clean(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut cleaned = Vec::new();
    for entry in fs::read_dir(directory).map_err(Error::io("reading", directory))? {
        let entry = entry.map_err(Error::io("reading", directory))?;
        let named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if named && is_folder && is_abandoned(&entry.path()) {
            remove_work(&entry.path()).map_err(Error::io("deleting", &entry.path()))?;
            cleaned.push(entry.path());
        }
    }
    Ok(cleaned)
}

/// Whether a folder is a work folder (its marker can be read) whose process is gone, and ours to delete: what another
/// user's run left is theirs to clean, and must not keep us from working.
fn is_abandoned(path: &Path) -> bool {
    let user = rustix::process::geteuid();
    if !user.is_root() && fs::metadata(path).map_or(true, |folder| folder.uid() != user.as_raw()) {
        return false;
    }
    let Ok(text) = fs::read_to_string(path.join(MARKER)) else { return false };
    let Ok(owner) = serde_json::from_str::<Owner>(&text) else { return false };
    match started(owner.pid) {
        None => !Path::new("/proc").join(owner.pid.to_string()).exists(),
        now => now != owner.started,
    }
}

fn started(pid: u32) -> Option<u64> {
    procfs::process::Process::new(pid as i32)
        .and_then(|process| process.stat())
        .ok()
        .map(|stat| stat.starttime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_folder_goes_when_dropped() {
        let place = tempfile::tempdir().unwrap();
        let work = WorkFolder::create(place.path()).unwrap();
        let second = WorkFolder::create(place.path()).unwrap();
        let trial = work.trial("t1").unwrap();
        fs::write(trial.join("x"), "y").unwrap();
        assert!(fs::read_dir(work.trial("t1").unwrap()).unwrap().next().is_none());
        assert_eq!(clean(place.path()).unwrap(), Vec::<PathBuf>::new(), "its process is alive");
        drop((work, second));
        assert!(fs::read_dir(place.path()).unwrap().next().is_none());
    }

    #[test]
    fn only_abandoned_folders_with_a_marker_are_cleaned() {
        let place = tempfile::tempdir().unwrap();
        let make = |name: &str, marker: Option<&str>| {
            let path = place.path().join(name);
            fs::create_dir_all(path.join("inner")).unwrap();
            fs::write(path.join("inner/file"), "x").unwrap();
            if let Some(text) = marker {
                fs::write(path.join(MARKER), text).unwrap();
            }
            path
        };
        let gone = make("storebench-work-1", Some(r#"{"pid":4000000000,"started":1}"#));
        let reused =
            make("storebench-work-2", Some(&format!(r#"{{"pid":{},"started":1}}"#, std::process::id())));
        let unmarked = make("storebench-work-3", None);
        let garbled = make("storebench-work-4", Some("hello"));
        let users = make("photos", Some(r#"{"pid":4000000000,"started":1}"#));
        let mut cleaned = clean(place.path()).unwrap();
        cleaned.sort();
        assert_eq!(cleaned, [gone.clone(), reused.clone()]);
        assert!(!gone.exists() && !reused.exists());
        assert!(
            unmarked.join("inner/file").exists()
                && garbled.join("inner/file").exists()
                && users.join("inner/file").exists()
        );
    }
}
