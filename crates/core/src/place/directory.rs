//! A work folder in a directory of the user's: made with a marker, deleted only by its marker, on every way out; what a
//! kill left behind is found and deleted at the next start ([`super::abandoned`]).

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::marker;
use super::probe::{self, Probe};
use crate::error::{Error, Exit, Result};
use crate::guard::Folder;

/// How the names of work folders begin; the number of the process that made it follows.
pub(super) const PREFIX: &str = "storebench-work-";
/// Work folders of one process number in a directory, at most: containers can count their processes alike.
const MOST: u32 = 1000;

/// A work folder, which nobody else may look into. Dropping it deletes it.
#[derive(Debug)]
pub struct WorkFolder {
    path: PathBuf,
    name: OsString,
    place: Folder,
    folder: Folder,
    /// The marker, locked as long as the run is at work.
    _marker: File,
}

impl WorkFolder {
    /// Makes a work folder in `directory`, which exists.
    ///
    /// # Errors
    /// When it can't be made or marked there; then nothing of it is left.
    pub fn create(directory: &Path) -> Result<WorkFolder> {
        let name = format!("{PREFIX}{}", std::process::id());
        for number in 0..MOST {
            let name = OsString::from(if number == 0 { name.clone() } else { format!("{name}-{number}") });
            let place = Folder::open(directory).map_err(Error::io("opening", directory))?;
            match WorkFolder::make(place, name) {
                Ok(Some(made)) => return Ok(made),
                Ok(None) => {}
                Err((what, path, error)) => return Err(Error::io(what, &path)(error)),
            }
        }
        let message = format!(
            "{} holds {MOST} folders whose names begin with {name}: delete those that no run is at work in",
            directory.display()
        );
        Err(Error::new(Exit::Failure, message))
    }

    /// `None` when there is something of this name, or the folder was taken for one that a kill had left.
    fn make(
        place: Folder,
        name: OsString,
    ) -> std::result::Result<Option<WorkFolder>, (&'static str, PathBuf, io::Error)> {
        let path = place.path().join(&name);
        let folder = match place.make(&name, 0o700) {
            Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {
                return Ok(None);
            }
            Err(error) => return Err(("making the work folder", path, error)),
            Ok(folder) => folder,
        };
        match marker::write(&folder) {
            Ok(None) => Ok(None),
            Ok(Some(marker)) => {
                spread(folder.handle());
                Ok(Some(WorkFolder { path, name, place, folder, _marker: marker }))
            }
            Err(error) => {
                // It holds nothing else. What can't be deleted is found by its name at the next start.
                let _ = remove(&place, &name, &folder);
                Err(("writing", path.join(marker::NAME), error))
            }
        }
    }

    /// An empty folder within it for a trial; what was there under this name is deleted.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn trial(&self, name: &str) -> Result<PathBuf> {
        let path = self.path.join(name);
        self.folder.remove(OsStr::new(name)).map_err(Error::io("deleting", &path))?;
        self.folder.make(OsStr::new(name), 0o777).map_err(Error::io("making", &path))?;
        Ok(path)
    }

    /// What the place costs, from a folder within it that is deleted again.
    ///
    /// # Errors
    /// When it can't be probed.
    pub fn probe(&self) -> Result<Probe> {
        let folder = self.trial("probe")?;
        let probe = probe::probe(&folder).map_err(Error::io("probing", self.place.path()))?;
        self.clear(&folder)?;
        Ok(probe)
    }

    /// Deletes a trial's folder.
    ///
    /// # Errors
    /// When it can't be deleted.
    pub fn clear(&self, trial: &Path) -> Result<()> {
        debug_assert!(trial.parent() == Some(&self.path));
        let name = trial.file_name().unwrap_or_default();
        self.folder.remove(name).map_err(Error::io("deleting", trial))
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // What can't be deleted now is found by its marker at the next start.
        let _ = remove(&self.place, &self.name, &self.folder);
    }
}

/// Deletes a work folder that has this name in its place: its marker last, so that a deletion that was cut off can be finished
/// later.
pub(super) fn remove(place: &Folder, name: &OsStr, folder: &Folder) -> io::Result<()> {
    let marker = OsStr::new(marker::NAME);
    folder.empty(Some(marker))?;
    folder.remove(marker)?;
    let removed = match place.within(name) {
        Ok(there) if there.is(folder)? => place.remove_empty(name),
        Ok(_) => Err(io::Error::other("something else has taken its name")),
        Err(error) => Err(error),
    };
    match removed {
        // Another process cleans up, too, and took the empty folder.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Asks the file system to put the folders made in this one far from one another. ext4 does not use a deleted file's place
/// again for minutes, and looks at each such place when it makes a file nearby: a trial must not pay for the deletions of
/// the one before it. Other file systems don't know the attribute, and need none.
fn spread(folder: &File) {
    #[cfg(target_os = "linux")]
    if let Ok(flags) = rustix::fs::ioctl_getflags(folder) {
        let _ = rustix::fs::ioctl_setflags(folder, flags | rustix::fs::IFlags::TOPDIR);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::place::abandoned::{Found, clean};

    #[test]
    fn a_work_folder_goes_when_dropped() {
        let place = tempfile::tempdir().unwrap();
        let work = WorkFolder::create(place.path()).unwrap();
        let second = WorkFolder::create(place.path()).unwrap();
        let trial = work.trial("t1").unwrap();
        fs::write(trial.join("x"), "y").unwrap();
        assert!(fs::read_dir(work.trial("t1").unwrap()).unwrap().next().is_none());
        assert_eq!(clean(place.path()).unwrap(), Found::default(), "its process is alive");
        drop((work, second));
        assert!(fs::read_dir(place.path()).unwrap().next().is_none());
    }

    #[test]
    fn nobody_else_may_look_into_a_work_folder() {
        let place = tempfile::tempdir().unwrap();
        let work = WorkFolder::create(place.path()).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&work.path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn what_takes_the_name_of_a_work_folder_stays() {
        let place = tempfile::tempdir().unwrap();
        let work = WorkFolder::create(place.path()).unwrap();
        fs::rename(&work.path, place.path().join("moved")).unwrap();
        fs::create_dir_all(work.path.join("theirs")).unwrap();
        fs::write(work.path.join(marker::NAME), "theirs").unwrap();
        let path = work.path.clone();
        drop(work);
        assert!(path.join("theirs").exists());
        assert_eq!(fs::read_to_string(path.join(marker::NAME)).unwrap(), "theirs");
    }
}
