//! File systems in images: a sparse file that storebench makes in its work folder, formats, and mounts for a trial. Nothing else is ever
//! formatted, and no device of the user's is touched: a program gets the file open, never by a name, which could lead elsewhere by then.

pub mod driver;
pub mod journal;
mod loop_device;
pub mod make;
pub mod mount;

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

pub use self::driver::Driver;
pub use self::loop_device::LoopDevice;
pub use self::mount::MountedImage;
use storebench_core::kernel::system;
use storebench_model::axis::file_system::FileSystem;

/// The name under which a program finds the file on its standard input.
const STANDARD_INPUT: &str = "/proc/self/fd/0";

/// Finds a program in PATH or in the directories that distributions keep for administrators.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(Into::into));
    folders.map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// Repairs a file system after a power cut if its kind needs that: one without a journal, which systems
/// repair when they start. If it can't be repaired, mounting fails.
pub fn repair(file_system: &FileSystem, disk: &File) {
    let Some(tool) = file_system.kind().repair else { return };
    let (Some(path), Ok(disk)) = (program(tool), disk.try_clone()) else { return };
    // The exit status is also nonzero if something was repaired.
    let _ = run(Command::new(path).args(["-f", "-y"]).arg(STANDARD_INPUT), tool, disk.into());
}

/// Runs a program to its end, with a file as its standard input, out of reach of a Ctrl-C that is meant for this process. Its
/// output goes to files: a daemon that it leaves behind would hold pipes open.
fn run(command: &mut Command, name: &str, input: Stdio) -> io::Result<()> {
    let mut errors = system::file_in_memory("storebench")?;
    command.env("LC_ALL", "C").process_group(0).stdin(input).stdout(Stdio::null());
    let status = command.stderr(errors.try_clone()?).status()?;
    if status.success() {
        return Ok(());
    }
    let mut output = Vec::new();
    errors.rewind()?;
    errors.read_to_end(&mut output)?;
    let output = String::from_utf8_lossy(&output);
    let last_line =
        output.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it gave no reason");
    Err(io::Error::other(format!("{name} failed ({status}): {last_line}")))
}
