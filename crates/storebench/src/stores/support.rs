//! Parts that several stores of this crate share: the sync of a file or folder, the check of settings, and for servers their
//! processes, sockets, passwords, and those that a URL names.

#[cfg(any(feature = "mariadb", feature = "postgres", feature = "redis"))]
pub mod server;
#[cfg(test)]
pub mod testing;

use std::fs::File;
use std::path::Path;

// A build of few engines needs few of these.
#[allow(unused_imports)]
pub use storebench_core::store::{Given, expect_taken, hold_to_tier};
use storebench_core::store::{Result, StoreError};

/// Hands a file to the disk, or a folder: its list of names, which a file that was just created needs as well.
pub fn sync_path(path: &Path) -> Result<()> {
    let sync = |path| File::open(path)?.sync_all();
    sync(path).map_err(StoreError::io(format!("synchronising {}", path.display())))
}
