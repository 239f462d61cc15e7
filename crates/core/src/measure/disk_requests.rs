//! The requests to the simulated disk under this trial, by the disk's own counts.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use storebench_disk::counts::{self, Requests};

/// Where the disk is mounted.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// The files of this process's trial are on the disk that is mounted in a folder.
pub fn are_of(folder: &Path) {
    FOLDER.get_or_init(|| folder.to_owned());
}

/// All that were answered so far; none where there is no such disk, or its server is gone. Takes some tens of microseconds.
pub(super) fn so_far() -> Option<Requests> {
    counts::read(FOLDER.get()?).ok().map(|counts| counts.requests)
}
