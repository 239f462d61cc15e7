//! Finds work folders of killed runs by their ledgers, releases what they hold, and deletes them.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::directory::{self, PREFIX};
use crate::stage::ledger::{self, LedgerState};
use storebench_core::guard::Folder;
use storebench_model::error::{Error, Result};

/// The work folders that were found in a directory.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AbandonedFolders {
    /// Deleted folders, and what else was released with them.
    pub deleted: Vec<PathBuf>,
    /// Folders that were left alone though their run may have ended, each with the reason.
    pub kept: Vec<(PathBuf, String)>,
    /// Folders that remain because something could not be deleted, or dropped on a running server: each with what remains.
    pub stuck: Vec<(PathBuf, String)>,
}

/// Deletes the work folders in `directory` whose run has ended, if they belong to this user: root deletes only its own. What
/// their ledgers list is released first.
pub fn clean(directory: &Path) -> Result<AbandonedFolders> {
    let reading_error = || Error::io("reading", directory);
    let place = Folder::open(directory).map_err(reading_error())?;
    let mut found = AbandonedFolders::default();
    for entry in fs::read_dir(directory).map_err(reading_error())? {
        let entry = entry.map_err(reading_error())?;
        let (name, path) = (entry.file_name(), entry.path());
        if !is_ours(&name) || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        match clean_one(&place, &name) {
            Ok(Outcome::Deleted(released)) => {
                found.deleted.extend(released);
                found.deleted.push(path);
            }
            Ok(Outcome::Kept(why)) => found.kept.push((path, why)),
            Ok(Outcome::NotOurs) => {}
            // One folder must not keep the others from being cleaned.
            Err(error) => found.stuck.push((path, error.to_string())),
        }
    }
    Ok(found)
}

/// Whether a folder could be a work folder by its name: the prefix, a process's number, and perhaps another number.
fn is_ours(name: &OsStr) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    rest.is_some_and(|rest| rest.splitn(2, '-').all(is_number))
}

enum Outcome {
    /// With what was outside of it.
    Deleted(Vec<PathBuf>),
    /// With the reason.
    Kept(String),
    /// A run uses it, or it is no work folder.
    NotOurs,
}

fn clean_one(place: &Folder, name: &OsStr) -> io::Result<Outcome> {
    let folder = match place.open_subfolder(name) {
        // It is gone, or its name is taken by something else.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Outcome::NotOurs);
        }
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            return Ok(Outcome::Kept(error.to_string()));
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let user = fs::symlink_metadata(place.path().join(name))?.uid();
            let is_ours = user == rustix::process::geteuid().as_raw();
            return if is_ours { Err(error) } else { Ok(foreign_outcome(user)) };
        }
        result => result?,
    };
    if let Some(user) = folder.foreign_owner()? {
        return Ok(foreign_outcome(user));
    }
    match ledger::read(&folder) {
        // If it is empty, a kill left it before it was marked; the system checks that.
        Err(error) if error.kind() == ErrorKind::NotFound => match place.remove_empty(name) {
            Ok(()) => Ok(Outcome::Deleted(Vec::new())),
            Err(error) if matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::NotFound) => {
                Ok(Outcome::NotOurs)
            }
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
        Ok(LedgerState::Ended(leftovers)) => {
            let released = leftovers.release(&folder)?;
            directory::empty(&folder)?;
            drop(leftovers);
            directory::remove_empty(place, name, &folder)?;
            Ok(Outcome::Deleted(released))
        }
        Ok(LedgerState::Unfinished(ledger_file)) if folder.holds_only(OsStr::new(ledger::NAME))? => {
            directory::empty(&folder)?;
            drop(ledger_file);
            directory::remove_empty(place, name, &folder)?;
            Ok(Outcome::Deleted(Vec::new()))
        }
        Ok(LedgerState::Unreadable(line)) => Ok(Outcome::Kept(format!(
            "line {line} of its {} notes what this version of storebench can't give back: clean with the version that \
             made it, or delete it yourself",
            ledger::NAME
        ))),
        Ok(LedgerState::Unknown) => Ok(Outcome::Kept(
            "its file system has no locks, so storebench can't know whether its run has ended: delete it when it has"
                .into(),
        )),
        Ok(LedgerState::AtWork | LedgerState::NoMarker | LedgerState::Unfinished(_)) => Ok(Outcome::NotOurs),
    }
}

fn foreign_outcome(user: u32) -> Outcome {
    Outcome::Kept(format!("it belongs to another user, number {user}, who can delete it"))
}

#[cfg(test)]
mod tests;
