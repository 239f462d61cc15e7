//! What a run can hold outside its process: how each thing is noted, and how it is given back.

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::process::Process;
use crate::guard::Folder;
use crate::measure::cgroup;

/// A line of a ledger: a thing that is held, or is about to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "held", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Note {
    /// A folder in the work folder.
    Folder {
        /// Its name there.
        name: String,
    },
    /// A cgroup.
    Group {
        /// Where it is.
        folder: PathBuf,
    },
    /// The process of a background load, whose files are in the work folder.
    Load {
        /// Unknown until it has been started.
        process: Option<Process>,
    },
    /// What the tests hold.
    #[cfg(test)]
    Recorded { name: String, log: PathBuf },
}

/// Whose the noted things are.
#[derive(Debug, Clone, Copy)]
pub struct Owner<'a> {
    /// The work folder.
    pub folder: &'a Folder,
    /// The number of the process that took them.
    pub pid: u32,
}

impl Note {
    /// Whether it can be what storebench writes: a name is no way out of the work folder, and not that of the
    /// `ledger` itself.
    pub fn is_sound_beside(&self, ledger: &str) -> bool {
        match self {
            Note::Folder { name } => {
                !["", ".", "..", ledger].contains(&name.as_str()) && !name.contains(['/', '\0'])
            }
            _ => true,
        }
    }

    /// Gives back what it names, as far as that is there and storebench's; if it lay outside the work folder and was there,
    /// where. It may have been given back before, or never have been made. This serves the run itself, and whoever cleans up
    /// after one that was killed.
    ///
    /// # Errors
    /// When it can't be given back, and must stay noted.
    pub fn give_back(&self, owner: Owner<'_>) -> io::Result<Option<PathBuf>> {
        match self {
            Note::Folder { name } => owner.folder.remove(OsStr::new(name)).map(|()| None),
            // One that can't be removed holds nothing, and keeps nobody from anything.
            Note::Group { folder } => Ok(cgroup::remove(folder).then(|| folder.clone())),
            Note::Load { process: None } => Ok(None),
            Note::Load { process: Some(process) } => {
                process.end(owner.folder.path(), owner.pid).map(|()| None)
            }
            #[cfg(test)]
            Note::Recorded { name, log } => super::tests::give_back(name, log).map(|()| None),
        }
    }

    /// Where it is, for messages.
    pub fn path(&self, owner: Owner<'_>) -> PathBuf {
        match self {
            Note::Folder { name } => owner.folder.path().join(name),
            Note::Group { folder } => folder.clone(),
            Note::Load { .. } => owner.folder.path().to_path_buf(),
            #[cfg(test)]
            Note::Recorded { log, .. } => log.clone(),
        }
    }
}
