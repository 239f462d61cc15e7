//! Processes that end with their parent, however it ends, and with all that they started. This is the process's half; those that
//! a run's ledger names are ended by whoever replays it, too.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process_group};

/// The name by which people look for this program's processes.
pub const NAME: &str = "storebench";

/// The file that this process runs, also if a new build has taken its name since, so that all trials of a run are of one program.
pub fn this_program() -> io::Result<PathBuf> {
    let running = Path::new("/proc/self/exe");
    if running.exists() { Ok(running.into()) } else { std::env::current_exe() }
}

/// Has the system keep the ends of child processes for this one, even if its parent ignores them: an ignored signal stays ignored.
pub fn receive_child_signals() {
    // SAFETY: it makes a system call, and sets no handler.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Names a process that was started from [`this_program`], which would be called `exe`.
pub fn set_process_name() {
    #[cfg(target_os = "linux")]
    if let Ok(name) = std::ffi::CString::new(NAME) {
        let _ = rustix::thread::set_name(&name);
    }
}

/// Asks the kernel to end this process when its parent ends, and checks that the parent is still there.
pub fn die_with_parent(parent: u32) -> Result<(), String> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| format!("asking to end with the parent: {error}"))?;
    if has_parent(parent) { Ok(()) } else { Err("the process that started this one has gone".into()) }
}

fn has_parent(number: u32) -> bool {
    rustix::process::getppid().is_some_and(|parent| parent.as_raw_nonzero().get() as u32 == number)
}

/// Makes another program end when the thread that starts it ends.
pub fn tie_to_parent(command: &mut Command) -> &mut Command {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
        let parent = std::process::id();
        let set_death_signal = move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            if has_parent(parent) { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
        };
        // SAFETY: between fork and exec the closure makes two system calls and allocates nothing.
        unsafe { command.pre_exec(set_death_signal) };
    }
    command
}

/// Makes another program ignore Ctrl-C on a shared terminal: this one ends it in time.
pub fn ignore_interrupts(command: &mut Command) -> &mut Command {
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

/// Kills a process that leads a group, and all that it started. It must not have been waited for, so that its number is still its own.
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
