//! Stores in libraries that users name: `include/storebench_store.h` in Rust, and table entries for what they export. A library
//! is loaded only by the processes of trials, and by one that asks for its table (`probe.rs`), so that one that crashes or hangs
//! costs only that process.

mod described;
mod entry;
mod ffi;
mod loaded;
mod opened;
mod probe;
#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use self::loaded::LoadedLibrary;
pub use self::probe::{COMMAND, answer_probe};
use crate::read_limited;
use crate::store::{Library, StoreDef};

/// Libraries are smaller.
const MOST_LIBRARY_BYTES: u64 = 1 << 30;

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
    let (now, then) = (short_digest(&found.sha256), short_digest(&library.sha256));
    let path = library.path.display();
    Err(format!("the library {path} has changed: its SHA-256 begins with {now}; the run began with {then}"))
}

/// The library in a file.
pub fn find(path: &Path) -> Result<Library, String> {
    let describe_error = |error: io::Error| format!("the library {}: {error}", path.display());
    let path = std::fs::canonicalize(path).map_err(describe_error)?;
    if path.to_str().is_none() {
        return Err(format!("the library {}: its name is not UTF-8", path.display()));
    }
    let bytes = read_limited::bytes(&path, MOST_LIBRARY_BYTES).map_err(describe_error)?;
    let digest = Sha256::digest(&bytes);
    let sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Library { path, sha256 })
}

/// The start of a digest, enough to distinguish builds.
pub fn short_digest(sha256: &str) -> &str {
    sha256.get(..12).unwrap_or(sha256)
}
