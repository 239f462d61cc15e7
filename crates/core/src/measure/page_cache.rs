//! Emptying the page cache before the reads of a cold cell.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::fs::Advice;

/// How the page cache was emptied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emptied {
    /// All of the machine's, with the names and inodes that it holds, by /proc/sys/vm/drop_caches, which takes root.
    DropCaches,
    /// That of the content of the store's own files, by posix_fadvise.
    Advice,
}

impl Emptied {
    /// The word used in results.
    pub fn name(self) -> &'static str {
        match self {
            Emptied::DropCaches => "drop_caches",
            Emptied::Advice => "posix_fadvise",
        }
    }

    /// What stays in memory that a read may need, in words.
    pub fn left_warm(self) -> Option<&'static str> {
        match self {
            Emptied::DropCaches => None,
            Emptied::Advice => Some("names, inodes and other metadata of the file system"),
        }
    }
}

/// Writes all that is dirty to disk and empties the page cache of the files below `folder`, which nobody has open. As root,
/// the kernel's caches of names (dentries) and inodes are emptied, too: opening a file of a folder that was not used for a
/// while reads them from disk. Without root they can't be emptied, and finding the files to advise on warms them.
///
/// # Errors
/// The system's.
pub fn empty(folder: &Path) -> io::Result<Emptied> {
    rustix::fs::syncfs(File::open(folder)?)?;
    // 1 is the page cache, 2 names and inodes; clean ones alone, hence after the sync.
    if fs::write("/proc/sys/vm/drop_caches", "3").is_ok() {
        return Ok(Emptied::DropCaches);
    }
    let mut pending = vec![folder.to_path_buf()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                pending.push(entry.path());
            } else {
                rustix::fs::fadvise(File::open(entry.path())?, 0, None, Advice::DontNeed)?;
            }
        }
    }
    Ok(Emptied::Advice)
}
