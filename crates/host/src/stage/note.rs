//! The resources that a run can hold outside its process: how each is noted, and how it is released.

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::process::Process;
use crate::image::mount::{self, Site};
use storebench_core::guard::Folder;
use storebench_core::measure::cgroup;
use storebench_model::server::{self, running};
use storebench_model::simulated::DISK;

/// The store's folder in a separate file system.
pub const STORE: &str = "store";

/// A line of a ledger: a resource that is held, or about to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "held", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Note {
    /// A folder or a file in the work folder. Servers that use it end before it is removed, and what its store has made on
    /// a running server is dropped.
    Folder {
        /// Its name there.
        name: String,
    },
    Group {
        folder: PathBuf,
    },
    /// A file system in an image, mounted in the work folder.
    Mount {
        /// The image's name there, or that of a simulated disk's file: the name of its folder, a slash, and [`DISK`].
        image: String,
        /// The name of the mount point.
        at: String,
    },
    /// A simulated disk: where it is mounted in the work folder, and the process that serves it.
    Disk {
        /// The name of the mount point.
        at: String,
        /// Unknown until it has been started.
        process: Option<Process>,
    },
    /// The process of a background load, whose files are in the work folder.
    Load {
        /// Unknown until it has been started.
        process: Option<Process>,
    },
    #[cfg(test)]
    Recorded {
        name: String,
        log: PathBuf,
    },
}

/// The owner of noted resources.
#[derive(Debug, Clone, Copy)]
pub struct Owner<'a> {
    pub folder: &'a Folder,
    /// The number of its process.
    pub pid: u32,
}

impl Note {
    /// Whether storebench can have written it: a name must stay within the work folder, and must not be that of the `ledger` itself.
    pub fn is_sound(&self, ledger: &str) -> bool {
        match self {
            Note::Folder { name } => is_plain(name, ledger),
            Note::Disk { at, .. } => is_plain(at, ledger),
            Note::Mount { image, at } => {
                is_plain(disk_folder(image).unwrap_or(image), ledger) && is_plain(at, ledger)
            }
            _ => true,
        }
    }

    /// Releases the resource if it exists and is storebench's; returns its path if it was outside the work folder and existed. It may
    /// have been released before, or never made. This serves the run itself, and whoever cleans up after one that was killed. If that
    /// fails, it must stay noted.
    pub fn release(&self, owner: Owner<'_>) -> io::Result<Option<PathBuf>> {
        match self {
            Note::Folder { name } => {
                let path = owner.folder.path().join(name);
                server::end_in(&path)?;
                running::drop_namespace(&path)?;
                owner.folder.remove_served(OsStr::new(name)).map(|()| None)
            }
            // A cgroup that can't be removed holds nothing, and is in nobody's way.
            Note::Group { folder } => Ok(cgroup::remove(folder).then(|| folder.clone())),
            Note::Mount { image, at } => {
                let store = owner.folder.path().join(at).join(STORE);
                server::end_in(&store)?;
                running::drop_namespace(&store)?;
                mount::detach(Site { folder: owner.folder.handle(), image, at })?;
                owner.folder.remove(OsStr::new(at))?;
                match disk_folder(image) {
                    // It is removed with the disk.
                    Some(_) => Ok(None),
                    None => owner.folder.remove(OsStr::new(image)).map(|()| None),
                }
            }
            Note::Disk { at, process } => {
                mount::detach_disk(owner.folder.handle(), at)?;
                if let Some(process) = process {
                    process.end(owner.folder.path(), owner.pid)?;
                }
                owner.folder.remove(OsStr::new(at)).map(|()| None)
            }
            Note::Load { process: None } => Ok(None),
            Note::Load { process: Some(process) } => {
                process.end(owner.folder.path(), owner.pid).map(|()| None)
            }
            #[cfg(test)]
            Note::Recorded { name, log } => super::tests::give_back(name, log).map(|()| None),
        }
    }

    /// Its path, for messages.
    pub fn path(&self, owner: Owner<'_>) -> PathBuf {
        match self {
            Note::Folder { name } | Note::Mount { at: name, .. } | Note::Disk { at: name, .. } => {
                owner.folder.path().join(name)
            }
            Note::Group { folder } => folder.clone(),
            Note::Load { .. } => owner.folder.path().to_path_buf(),
            #[cfg(test)]
            Note::Recorded { log, .. } => log.clone(),
        }
    }
}

/// The folder of a simulated disk if the image is that disk's file.
fn disk_folder(image: &str) -> Option<&str> {
    image.strip_suffix(DISK)?.strip_suffix('/')
}

/// Whether a name is in the work folder, and not the ledger's.
fn is_plain(name: &str, ledger: &str) -> bool {
    !["", ".", "..", ledger].contains(&name) && !name.contains(['/', '\0'])
}
