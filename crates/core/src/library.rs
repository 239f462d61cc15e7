//! Stores of libraries that are not built in: `include/storebench_store.h` in Rust, and entries of the table for what they export.
//!
//! A library is loaded only by the processes of trials, and by one that asks it for its table (`probe.rs`): one that crashes or hangs
//! as it is loaded costs that process.

mod described;
mod entry;
mod ffi;
mod found;
mod loaded;
mod opened;
mod probe;
#[cfg(test)]
mod tests;

use std::path::Path;

use self::loaded::Loaded;
use crate::store::{Library, StoreDef};

pub use self::found::{find, short};
pub use self::probe::{WORD, answer};

/// The entries for the stores of the library in a file, which is loaded in a process of its own.
pub fn stores(path: &Path) -> Result<Vec<StoreDef>, String> {
    let library = find(path)?;
    let described = probe::ask(&library.path)?;
    let loaded: &'static Loaded = Box::leak(Box::new(Loaded::new(library)));
    Ok(described.iter().map(|described| entry::of(described, loaded)).collect())
}

/// The same of a library that a run has found before, in this process. The error says why it can't be used; another build in its
/// file is none of the run's.
pub fn load(library: &Library) -> Result<Vec<StoreDef>, String> {
    let found = again(library)?;
    let loaded: &'static Loaded = Box::leak(Box::new(Loaded::new(found)));
    Ok(loaded.described()?.iter().map(|described| entry::of(described, loaded)).collect())
}

/// The library of a run, if it is as it was.
pub fn again(library: &Library) -> Result<Library, String> {
    let found = find(&library.path)?;
    if found.sha256 == library.sha256 {
        return Ok(found);
    }
    Err(format!(
        "the library {} has changed: its SHA-256 begins with {} where the run began with {}",
        library.path.display(),
        short(&found.sha256),
        short(&library.sha256)
    ))
}
