//! Where a record lies: from a key to a path below the store's root, in a buffer that is used again.

use std::ffi::CStr;

use crate::store::{Result, StoreError};

/// What the names of files begin with that are being written and do not count yet.
pub(super) const TEMPORARY_PREFIX: &str = ".storebench-tmp-";

/// The file that stands at the root of a store that was closed, until it is opened again: what is being written has been
/// put in place or removed. Its name is none that a key can have.
pub(super) const CLOSED: &CStr = c".storebench-tmp-closed";

/// The same, and all was durable when it was closed.
pub(super) const CLOSED_DURABLE: &CStr = c".storebench-tmp-closed-durable";

/// The longest name that the usual file systems take, in bytes; also the longest key of both layouts.
pub(super) const MAX_NAME_BYTES: usize = 255;

/// How the keys are spread over directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// All files in one directory; the key is the name.
    Flat,
    /// Two levels of directories, named by two bytes of the key each; the rest is the name.
    Nested,
}

impl Layout {
    /// How many levels of directories lie between the root and the files.
    pub(super) const fn levels(self) -> usize {
        match self {
            Layout::Flat => 0,
            Layout::Nested => 2,
        }
    }

    /// Cuts a key into what names its directory and what names its file.
    ///
    /// # Errors
    /// [`StoreError::Unsupported`] for a key that can't be a path, or that would leave its place (`..`).
    pub(super) fn split(self, key: &[u8]) -> Result<(&[u8], &[u8])> {
        if key.len() > MAX_NAME_BYTES {
            return unsupported("the key is longer than a file name may be (255 bytes)");
        }
        let (directory, name) = match key.split_at_checked(self.levels() * LEVEL_BYTES) {
            Some((directory, name)) if !name.is_empty() => (directory, name),
            _ => return unsupported("the key is too short to name a file in this layout"),
        };
        if key.iter().any(|byte| matches!(byte, 0 | b'/')) {
            return unsupported("the key holds a zero byte or a slash, which a file name can't");
        }
        if name == b"." || name == b".." || directory.chunks(LEVEL_BYTES).any(|level| level == b"..") {
            return unsupported("the key would name a directory (`.` or `..`)");
        }
        if name.starts_with(TEMPORARY_PREFIX.as_bytes()) {
            return unsupported("the key begins as the store's temporary files do");
        }
        Ok((directory, name))
    }
}

/// The bytes of the key that name one level of directories.
pub(super) const LEVEL_BYTES: usize = 2;

fn unsupported<T>(why: &str) -> Result<T> {
    Err(StoreError::Unsupported(why.into()))
}

/// Writes the path of a file into `buffer`, or that of a directory (`name` is empty; ends in a slash).
///
/// # Errors
/// [`StoreError::Unsupported`] when a part holds a zero byte.
pub(super) fn join<'b>(buffer: &'b mut Vec<u8>, directory: &[u8], name: &[u8]) -> Result<&'b CStr> {
    buffer.clear();
    for level in directory.chunks(LEVEL_BYTES) {
        buffer.extend_from_slice(level);
        buffer.push(b'/');
    }
    buffer.extend_from_slice(name);
    buffer.push(0);
    CStr::from_bytes_with_nul(buffer)
        .map_err(|_| StoreError::Unsupported("a path can't hold a zero byte".into()))
}

/// Whether a name is one of a file that does not count yet.
pub(super) fn is_temporary(name: &CStr) -> bool {
    name.to_bytes().starts_with(TEMPORARY_PREFIX.as_bytes())
}
