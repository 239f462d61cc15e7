//! A work folder in a directory of the user's: made with a ledger, deleted only according to its ledger, however the run ends. What a
//! kill left is deleted at the next start ([`super::abandoned`]).

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

use crate::stage::ledger::{self, Ledger};
use crate::stage::{Holdings, Stage};
use storebench_core::guard::Folder;
use storebench_core::kernel::system;
use storebench_core::measure::probe::{self, Probe};
use storebench_model::error::{Error, Exit, Result};

/// The prefix of the names of work folders; the number of the process that made it follows.
pub(super) const PREFIX: &str = "storebench-work-";
/// The most work folders of one process number in a directory: containers can have the same process numbers.
const MOST: u32 = 1000;
/// How often the deletion of an empty folder is retried, and the pause between tries.
const MOST_TRIES: u32 = 50;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// A work folder that only this user may read. Dropping it releases all that is held with it, and deletes it.
#[derive(Debug)]
pub struct WorkFolder {
    name: OsString,
    place: Folder,
    holdings: Holdings,
}

impl WorkFolder {
    /// Makes a work folder in `directory`, which exists. If it or its ledger can't be made, it is removed again.
    pub fn create(directory: &Path) -> Result<WorkFolder> {
        let name = format!("{PREFIX}{}", std::process::id());
        for number in 0..MOST {
            let name = OsString::from(if number == 0 { name.clone() } else { format!("{name}-{number}") });
            let place = Folder::open(directory).map_err(Error::io("opening", directory))?;
            if let Some(work) = WorkFolder::make(place, name)? {
                return Ok(work);
            }
        }
        let message = format!(
            "{} holds {MOST} folders whose names begin with {name}: delete the folders of runs that have ended",
            directory.display()
        );
        Err(Error::new(Exit::Failure, message))
    }

    /// `None` if the name is taken, or another process mistook the folder for one that a kill had left.
    fn make(place: Folder, name: OsString) -> Result<Option<WorkFolder>> {
        let path = place.path().join(&name);
        let folder = match place.make(&name, 0o700) {
            Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {
                return Ok(None);
            }
            result => result.map_err(Error::io("making the work folder", &path))?,
        };
        match Ledger::create(&folder) {
            Ok(None) => Ok(None),
            Ok(Some(ledger)) => {
                system::spread(folder.handle());
                Ok(Some(WorkFolder { name, place, holdings: Holdings::new(folder, ledger) }))
            }
            Err(error) => {
                // It holds nothing else. If it can't be deleted, the next start finds it by its name.
                let _ = empty(&folder).and_then(|()| remove_empty(&place, &name, &folder));
                Err(Error::io("writing", &path.join(ledger::NAME))(error))
            }
        }
    }

    /// A stage for a trial.
    pub fn stage(&mut self) -> Stage<'_> {
        self.holdings.stage()
    }

    /// Measures the costs of the place in a folder that is deleted again.
    pub fn probe(&mut self) -> Result<Probe> {
        let mut stage = self.holdings.stage();
        let folder = stage.folder("probe")?;
        let probe = probe::probe(&folder).map_err(Error::io("probing", self.place.path()))?;
        stage.release()?;
        Ok(probe)
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // Leftovers that can't be released or deleted now are found by their ledger at the next start.
        if self.holdings.release().is_ok() && empty(&self.holdings.folder).is_ok() {
            self.holdings.ledger.close();
            let _ = remove_empty(&self.place, &self.name, &self.holdings.folder);
        }
    }
}

/// Deletes everything in a work folder, its ledger last, so that an interrupted deletion can be finished later.
pub(super) fn empty(folder: &Folder) -> io::Result<()> {
    let ledger = OsStr::new(ledger::NAME);
    folder.empty(Some(ledger))?;
    folder.remove(ledger)
}

/// Deletes the work folder of this name, whose ledger is deleted and closed. FUSE and NFS keep a file that is deleted while open under a
/// hidden name, until they learn that it was closed, which may take a moment.
pub(super) fn remove_empty(place: &Folder, name: &OsStr, folder: &Folder) -> io::Result<()> {
    for attempt in 0.. {
        let removed = match place.open_subfolder(name) {
            Ok(current) if current.is_same(folder)? => place.remove_empty(name),
            Ok(_) => Err(io::Error::other("something else has taken its name")),
            Err(error) => Err(error),
        };
        match removed {
            // Another process cleans up as well, and took the empty folder.
            Err(error) if error.kind() == ErrorKind::NotFound => break,
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty && attempt < MOST_TRIES => {
                std::thread::sleep(BETWEEN_TRIES);
            }
            result => return result,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::location::abandoned::{AbandonedFolders, clean};

    #[test]
    fn a_work_folder_goes_when_dropped() {
        let place = tempfile::tempdir().unwrap();
        let mut work = WorkFolder::create(place.path()).unwrap();
        let second = WorkFolder::create(place.path()).unwrap();
        let permissions = fs::metadata(work.holdings.folder.path()).unwrap().permissions();
        let mode = std::os::unix::fs::PermissionsExt::mode(&permissions);
        assert_eq!(mode & 0o777, 0o700, "nobody else may look into it");
        let mut stage = work.stage();
        let trial = stage.folder("t1").unwrap();
        fs::write(trial.join("x"), "y").unwrap();
        assert!(fs::read_dir(stage.folder("t1").unwrap()).unwrap().next().is_none());
        drop(stage);
        assert!(!trial.exists());
        assert_eq!(clean(place.path()).unwrap(), AbandonedFolders::default(), "its process is alive");
        drop((work, second));
        assert!(fs::read_dir(place.path()).unwrap().next().is_none());
    }

    #[test]
    fn what_takes_the_name_of_a_work_folder_stays() {
        let place = tempfile::tempdir().unwrap();
        let work = WorkFolder::create(place.path()).unwrap();
        let path = work.holdings.folder.path().to_path_buf();
        fs::rename(&path, place.path().join("moved")).unwrap();
        fs::create_dir_all(path.join("theirs")).unwrap();
        fs::write(path.join(ledger::NAME), "theirs").unwrap();
        drop(work);
        assert!(path.join("theirs").exists());
        assert_eq!(fs::read_to_string(path.join(ledger::NAME)).unwrap(), "theirs");
    }
}
