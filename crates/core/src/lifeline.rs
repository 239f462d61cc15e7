//! Processes that end with the one that started them, however that ends, and together with all that they started. This is the
//! processes' own half of it; those that a run's ledger names are ended by whoever replays it, too.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process_group};

/// The name by which people look for this program's processes.
pub const NAME: &str = "storebench";

/// Where to start this program from again: the file that this process runs, also where a new build has taken its name since. So
/// all trials of a run are of one program. Fails when the system can't tell where it is.
pub fn this_program() -> io::Result<PathBuf> {
    let running = Path::new("/proc/self/exe");
    if running.exists() { Ok(running.into()) } else { std::env::current_exe() }
}

/// Has the system keep the ends of this process's children for it, also if whoever started this process ignores theirs: an ignored
/// signal stays ignored.
pub fn hear_of_children() {
    // SAFETY: it makes a system call, and sets no handler.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Gives a process that was started from [`this_program`] its name; it is called `exe` otherwise.
pub fn take_name() {
    #[cfg(target_os = "linux")]
    if let Ok(name) = std::ffi::CString::new(NAME) {
        // Nothing depends on it.
        let _ = rustix::thread::set_name(&name);
    }
}

/// Asks the kernel to end this process when its parent ends, and makes sure that the parent had not ended before. Fails when the
/// kernel refuses, or the parent has gone.
pub fn die_with_parent(parent: u32) -> Result<(), String> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| format!("asking to end with the parent: {error}"))?;
    match rustix::process::getppid() {
        Some(now) if now.as_raw_nonzero().get() as u32 == parent => Ok(()),
        _ => Err("the process that started this one has gone".into()),
    }
}

/// Makes a program that is not ours end when the thread that starts it ends.
pub fn tie(command: &mut Command) -> &mut Command {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
        let parent = std::process::id();
        let ask = move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            match rustix::process::getppid() {
                Some(now) if now.as_raw_nonzero().get() as u32 == parent => Ok(()),
                _ => Err(io::Error::from_raw_os_error(libc::ESRCH)),
            }
        };
        // SAFETY: between fork and exec the closure makes two system calls and allocates nothing.
        unsafe { command.pre_exec(ask) };
    }
    command
}

/// Makes a program that is not ours live on when Ctrl-C is pressed on a terminal that it shares with this one, which ends it
/// in its own time.
pub fn deafen(command: &mut Command) -> &mut Command {
    use std::os::unix::process::CommandExt;
    let ignore = || {
        // SAFETY: it makes a system call, and sets no handler.
        match unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) } {
            libc::SIG_ERR => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    // SAFETY: between fork and exec the closure makes a system call and allocates nothing.
    unsafe { command.pre_exec(ignore) };
    command
}

/// Kills a process that leads a group of its own, and all that it started. It must not have been waited for, so that its number
/// is still its own. Fails when it may not be killed.
pub fn end_group(child: &Child) -> io::Result<()> {
    match kill_process_group(pid(child)?, Signal::KILL) {
        Err(error) if error != rustix::io::Errno::SRCH => Err(error.into()),
        _ => Ok(()),
    }
}

/// A process's number.
pub fn pid(child: &Child) -> io::Result<Pid> {
    Pid::from_raw(child.id() as i32).ok_or_else(|| io::Error::other("a process without a number"))
}
