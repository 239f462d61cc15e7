//! Another boot of the machine, as far as a store can ask: after a power cut there has been one.

use std::path::Path;
use std::{fs, io};

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// The kernel's random numbers, among them that of the boot.
const NUMBERS: &str = "/proc/sys/kernel/random";

/// Shows this thread, and those that it starts, another number of the boot. libmdbx keeps the number in its file, and
/// trusts what it has not synced for as long as it finds the same.
///
/// # Errors
/// Where this process may not mount anything.
pub(super) fn another() -> io::Result<()> {
    let folder = Path::new(NUMBERS);
    // Where there is none to be seen, nobody can ask for it.
    let Ok(number) = fs::read(folder.join("uuid")) else { return Ok(()) };
    // SAFETY: the view of mounts alone becomes this thread's own; no descriptors do.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS)? };
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
    mount("tmpfs", folder, "tmpfs", MountFlags::empty(), None)?;
    fs::write(folder.join("boot_id"), number)
}
