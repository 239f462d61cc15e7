//! Stores in libraries that users name: `include/storebench_store.h` in Rust, and table entries for what they export. A library
//! is loaded only by the processes of trials, and by one that asks for its table (`probe.rs`), so that one that crashes or hangs
//! costs only that process.

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

use self::loaded::LoadedLibrary;
use crate::store::{Library, StoreDef};

pub use self::found::{find, short};
pub use self::probe::{WORD, answer};

/// The entries for the stores of a library, which another process loads.
pub fn stores(path: &Path) -> Result<Vec<StoreDef>, String> {
    let library = find(path)?;
    let described = probe::ask(&library.path)?;
    let loaded: &'static LoadedLibrary = Box::leak(Box::new(LoadedLibrary::new(library)));
    Ok(described.iter().map(|described| entry::store_def(described, loaded)).collect())
}

/// Loads a library that a run has found before into this process. Fails when its file is another build.
pub fn load(library: &Library) -> Result<Vec<StoreDef>, String> {
    let found = reload(library)?;
    let loaded: &'static LoadedLibrary = Box::leak(Box::new(LoadedLibrary::new(found)));
    Ok(loaded.describe_stores()?.iter().map(|described| entry::store_def(described, loaded)).collect())
}

/// The library of a run, if its file is unchanged.
pub fn reload(library: &Library) -> Result<Library, String> {
    let found = find(&library.path)?;
    if found.sha256 == library.sha256 {
        return Ok(found);
    }
    let (path, now, then) = (library.path.display(), short(&found.sha256), short(&library.sha256));
    Err(format!("the library {path} has changed: its SHA-256 begins with {now}; the run began with {then}"))
}
