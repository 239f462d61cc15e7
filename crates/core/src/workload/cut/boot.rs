//! Another boot of the machine, as far as a store can ask: after a power cut there has been one.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::thread::{UnshareFlags, unshare_unsafe};

const NUMBERS: &str = "/proc/sys/kernel/random";

const PROGRAM: &str = "/proc/self/exe";

/// Restarts this process with another boot id, unless it has one. libmdbx reads the id when it is loaded, keeps it in its file,
/// and trusts what it has not synced as long as it finds the same. Fails when this process may not mount, or can't be restarted.
pub(super) fn restart_with_new_boot_id() -> io::Result<()> {
    if !show_other_boot_id()? {
        return Ok(());
    }
    let mut arguments = env::args_os();
    let mut command = Command::new(PROGRAM);
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    Err(command.args(arguments).exec())
}

/// Shows this thread and its children another boot id; `false` if they see it already.
fn show_other_boot_id() -> io::Result<bool> {
    let folder = Path::new(NUMBERS);
    // It is the only number that is shown then. Where there is none to be seen, nobody can ask for it.
    let Ok(number) = fs::read(folder.join("uuid")) else { return Ok(false) };
    // SAFETY: the view of mounts alone becomes this thread's own; no descriptors do.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS)? };
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
    mount("tmpfs", folder, "tmpfs", MountFlags::empty(), None)?;
    fs::write(folder.join("boot_id"), number)?;
    Ok(true)
}
