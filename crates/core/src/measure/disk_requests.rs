//! Requests to the simulated disk under this trial, by the disk's own counts.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use storebench_disk::counts::{self, Requests};

static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Sets the folder where the disk under this trial is mounted.
pub fn are_of(folder: &Path) {
    FOLDER.get_or_init(|| folder.to_owned());
}

/// The requests answered so far; none if there is no such disk, or its server is gone. Takes some tens of microseconds.
pub(super) fn so_far() -> Option<Requests> {
    counts::read(FOLDER.get()?).ok().map(|counts| counts.requests)
}
