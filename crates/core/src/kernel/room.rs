//! The room that a disk has left.

use std::path::Path;

/// A file system with less room than this, in bytes, counts as full: engines write pages and blocks of this size.
const FULL_BYTES: u64 = 64 << 10;

/// Whether the file system of a path has no room for a page or two.
pub fn is_used_up(path: &Path) -> bool {
    let there = rustix::fs::statvfs(path);
    there.is_ok_and(|there| there.f_blocks > 0 && there.f_bavail * there.f_frsize < FULL_BYTES)
}
