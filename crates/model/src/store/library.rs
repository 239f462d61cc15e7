//! The user's library that a store comes from.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A library of stores, given by `--store-library`. Two are the same where their bytes are, wherever they lie.
#[derive(Debug, Clone, Eq, Serialize, Deserialize)]
pub struct Library {
    /// Its file, by its absolute path.
    pub path: PathBuf,
    /// The SHA-256 of that, in hexadecimal digits: another build is another version.
    pub sha256: String,
}

impl PartialEq for Library {
    fn eq(&self, other: &Library) -> bool {
        self.sha256 == other.sha256
    }
}
