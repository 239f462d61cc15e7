//! The room that a disk has left.

use std::path::Path;

/// A file system with less room than this, in bytes, counts as full: engines write pages and blocks of this size.
const FULL_BYTES: u64 = 64 << 10;

/// Whether the file system of a path has no room for a page or two.
pub fn is_used_up(path: &Path) -> bool {
    let stat = rustix::fs::statvfs(path);
    stat.is_ok_and(|stat| stat.f_blocks > 0 && stat.f_bavail * stat.f_frsize < FULL_BYTES)
}
