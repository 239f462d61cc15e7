//! Where a record lies: from a key to a path below the store's root, in a buffer that is used again.

use std::ffi::CStr;
use std::fmt;

use crate::store::{Result, StoreError};

/// The prefix of files that are being written and do not count yet.
pub(super) const TEMPORARY_PREFIX: &str = ".storebench-tmp-";

/// In the root of a closed store, until it is opened again: there are no temporary files. No key can have this name.
pub(super) const CLOSED: &CStr = c".storebench-tmp-closed";

/// Also: all was durable when it was closed.
pub(super) const CLOSED_DURABLE: &CStr = c".storebench-tmp-closed-durable";

/// Under these names FUSE and NFS keep a removed file while someone has it open, and a moment longer.
const HIDDEN_PREFIXES: [&[u8]; 2] = [b".fuse_hidden", b".nfs"];

/// The longest name of the usual file systems, in bytes; also the longest key of both layouts.
pub(super) const MAX_NAME_BYTES: usize = 255;

/// How keys are spread over directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    /// Between the root and the files.
    pub levels: usize,
    /// Bytes of the key per level; the rest is the file's name.
    pub level_bytes: usize,
}

impl Layout {
    pub(crate) const FLAT: Layout = Layout { levels: 0, level_bytes: 1 };
    pub(crate) const NESTED: Layout = Layout { levels: 2, level_bytes: 2 };

    /// Splits a key into directory and file. Fails with [`StoreError::Unsupported`] if it can't be a path, or would leave its place (`..`).
    pub(super) fn split(self, key: &[u8]) -> Result<(&[u8], &[u8])> {
        if key.len() > MAX_NAME_BYTES {
            return unsupported("the key is longer than a file name may be (255 bytes)");
        }
        let (directory, name) = match key.split_at_checked(self.levels * self.level_bytes) {
            Some((directory, name)) if !name.is_empty() => (directory, name),
            _ => return unsupported("the key is too short to name a file in this layout"),
        };
        if key.iter().any(|byte| matches!(byte, 0 | b'/')) {
            return unsupported("the key holds a zero byte or a slash, which a file name can't");
        }
        let is_dots = |part: &[u8]| matches!(part, b"." | b"..");
        if is_dots(name) || directory.chunks(self.level_bytes).any(is_dots) {
            return unsupported("the key would name a directory (`.` or `..`)");
        }
        if is_temporary(name) {
            return unsupported("the key begins as the store's temporary files do");
        }
        if is_hidden(name) {
            return unsupported("the key begins as the files do that FUSE and NFS have removed, but hide");
        }
        Ok((directory, name))
    }

    /// Writes a file's path into `buffer`, or a directory's (`name` is empty; ends in a slash). Fails for a zero byte.
    pub fn join<'b>(self, buffer: &'b mut Vec<u8>, directory: &[u8], name: &[u8]) -> Result<&'b CStr> {
        buffer.clear();
        for level in directory.chunks(self.level_bytes) {
            buffer.extend_from_slice(level);
            buffer.push(b'/');
        }
        buffer.extend_from_slice(name);
        buffer.push(0);
        CStr::from_bytes_with_nul(buffer)
            .map_err(|_| StoreError::Unsupported("a path can't hold a zero byte".into()))
    }
}

/// As noted: `levels=2 level_bytes=2`.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "levels={}", self.levels)?;
        if self.levels > 0 { write!(f, " level_bytes={}", self.level_bytes) } else { Ok(()) }
    }
}

fn unsupported<T>(why: &str) -> Result<T> {
    Err(StoreError::Unsupported(why.into()))
}

pub(super) fn is_temporary(name: &[u8]) -> bool {
    name.starts_with(TEMPORARY_PREFIX.as_bytes())
}

/// Whether a file was removed, and is there only because someone has it open.
pub(super) fn is_hidden(name: &[u8]) -> bool {
    HIDDEN_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
