//! Files that a user asked for.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Writes a file. One that was there before is replaced in one step, so that it is never left in half.
///
/// # Errors
/// When it can't be written; what was there before is as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        // A pipe, a terminal, a folder: nothing that may be replaced.
        return fs::write(path, bytes).map_err(Error::io("writing", path));
    }
    replace_by(path, |beside| fs::write(beside, bytes).map_err(Error::io("writing", path)))
}

/// Has a file written beside the one that is wanted, and puts it in its place when it is whole.
///
/// # Errors
/// Those of `write`, and of renaming; then nothing is left beside.
pub fn replace_by(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    // What a killed process left there is of no use.
    let _ = fs::remove_file(&beside);
    let renamed = || fs::rename(&beside, path).map_err(Error::io("writing", path));
    let written = write(&beside).and_then(|()| renamed());
    if written.is_err() {
        // What went wrong is told; whether there was a part to delete does not matter.
        let _ = fs::remove_file(&beside);
    }
    written
}
