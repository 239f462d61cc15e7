//! A library's file and its digest.

use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::read_limited;
use crate::store::Library;

/// Libraries are smaller.
const MOST_BYTES: u64 = 1 << 30;

/// The library in a file.
pub fn find(path: &Path) -> Result<Library, String> {
    let describe_error = |error: io::Error| format!("the library {}: {error}", path.display());
    let path = std::fs::canonicalize(path).map_err(describe_error)?;
    if path.to_str().is_none() {
        return Err(format!("the library {}: its name is not UTF-8", path.display()));
    }
    let bytes = read_limited::bytes(&path, MOST_BYTES).map_err(describe_error)?;
    let digest = Sha256::digest(&bytes);
    let sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Library { path, sha256 })
}

/// The start of a digest, enough to distinguish builds.
pub fn short(sha256: &str) -> &str {
    sha256.get(..12).unwrap_or(sha256)
}
