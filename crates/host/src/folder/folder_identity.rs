//! Checks that a run's folder was not moved or deleted: its files stay open in that case, and results that nobody can find would be lost.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use storebench_model::error::{Error, Exit, Result};

/// Where a folder and its results file are, by name and by identity.
#[derive(Debug)]
pub(super) struct FolderIdentity {
    path: PathBuf,
    results: PathBuf,
    folder: File,
    folder_identity: Identity,
    results_identity: Identity,
}

/// A file's device and inode number.
type Identity = (u64, u64);

fn identity(file: &fs::Metadata) -> Identity {
    (file.dev(), file.ino())
}

/// The identity of the file or folder of this name, if there is one.
fn file_identity(path: &Path) -> Option<Identity> {
    fs::metadata(path).ok().map(|file| identity(&file))
}

impl FolderIdentity {
    /// Notes where a folder is, with its file `results`, which is open.
    pub(super) fn note(path: &Path, name: &str, results: &File) -> io::Result<FolderIdentity> {
        let folder = File::open(path)?;
        Ok(FolderIdentity {
            path: path.to_path_buf(),
            results: path.join(name),
            folder_identity: identity(&folder.metadata()?),
            results_identity: identity(&results.metadata()?),
            folder,
        })
    }

    pub(super) fn check(&self) -> Result<()> {
        let is_there = file_identity(&self.path) == Some(self.folder_identity);
        let new_path = if is_there { None } else { self.find_new_path() };
        let message = match new_path {
            _ if is_there && file_identity(&self.results) == Some(self.results_identity) => return Ok(()),
            _ if is_there => format!(
                "{} was deleted or replaced while the run was at work: start the run again, and leave its folder alone",
                self.results.display()
            ),
            Some(new_path) => format!(
                "the run's folder {} was moved to {} while the run was at work; its results are there: resume it with \
                 storebench run --resume {}",
                self.path.display(),
                new_path.display(),
                new_path.display()
            ),
            None => format!(
                "the run's folder {} was deleted while the run was at work, and its results with it: start the run again",
                self.path.display()
            ),
        };
        Err(Error::new(Exit::NotStorebench, message))
    }

    fn find_new_path(&self) -> Option<PathBuf> {
        let path = fs::read_link(format!("/proc/self/fd/{}", self.folder.as_raw_fd())).ok()?;
        (file_identity(&path) == Some(self.folder_identity)).then_some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_moved_is_told_with_its_new_place_and_one_that_was_deleted_as_such() {
        let runs = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (runs.path().join("run"), runs.path().join("elsewhere"));
        fs::create_dir(&path).unwrap();
        let results = File::create(path.join("results.jsonl")).unwrap();
        let whereabouts = FolderIdentity::note(&path, "results.jsonl", &results).unwrap();
        let message = || whereabouts.check().unwrap_err().message;
        assert!(whereabouts.check().is_ok());
        fs::rename(&path, &elsewhere).unwrap();
        assert!(message().contains(&format!("was moved to {}", elsewhere.display())), "{}", message());
        fs::create_dir(&path).unwrap();
        fs::write(path.join("results.jsonl"), "").unwrap();
        assert!(message().contains("was moved to"), "another folder of this name is not it");
        fs::remove_dir_all(&path).unwrap();
        fs::rename(&elsewhere, &path).unwrap();
        assert!(whereabouts.check().is_ok());
        fs::remove_file(path.join("results.jsonl")).unwrap();
        assert!(message().contains("results.jsonl was deleted or replaced"), "{}", message());
        fs::remove_dir_all(&path).unwrap();
        assert!(message().contains("was deleted while the run was at work"), "{}", message());
    }
}
