//! Folders for tests to which it is no matter on which disk a store's files lie. A server's syncs are not seen there.

use std::path::Path;
use std::sync::LazyLock;

use rustix::fs::{Mode, OFlags};
use tempfile::TempDir;

/// The memory that a file system in it must have free, in bytes, for all tests at once.
const ROOM: u64 = 4 << 30;

/// A fresh folder, its name beginning with `prefix`: in memory where the system has a file system there that can do what the
/// engines ask for, else on the disk of the build. A sync costs nothing there, and ext4 without a journal looks long for a
/// place for each file that is made soon after others were deleted.
pub fn folder(prefix: &str) -> TempDir {
    static PLACE: LazyLock<&Path> = LazyLock::new(|| {
        let memory = Path::new("/dev/shm");
        if is_fit(memory) { memory } else { Path::new(env!("CARGO_TARGET_TMPDIR")) }
    });
    tempfile::Builder::new().prefix(prefix).tempdir_in(*PLACE).unwrap()
}

/// Whether there is room, and files can be opened past the page cache, as some settings have it.
fn is_fit(memory: &Path) -> bool {
    let has_room =
        || rustix::fs::statvfs(memory).is_ok_and(|status| status.f_bavail * status.f_frsize >= ROOM);
    let Ok(folder) = tempfile::tempdir_in(memory) else { return false };
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::DIRECT;
    has_room() && rustix::fs::open(folder.path().join("direct"), flags, Mode::RUSR | Mode::WUSR).is_ok()
}
