//! The processes of servers that this one has started, and the cgroups that hold them.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

static SERVERS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

static CGROUPS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Has all servers that are started from now on held by these cgroups, by their folders.
pub fn set_cgroups(cgroups: Vec<PathBuf>) {
    *CGROUPS.lock().unwrap_or_else(PoisonError::into_inner) = cgroups;
}

/// Whether cgroups hold servers, and not this process.
pub fn is_held_apart() -> bool {
    !cgroups().is_empty()
}

/// The folders of the cgroups that hold servers.
pub fn cgroups() -> Vec<PathBuf> {
    CGROUPS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Makes a server's process join the cgroups that hold servers, before it gives up the right to.
pub fn join_cgroups(command: &mut Command) -> io::Result<()> {
    for cgroup in cgroups() {
        let procs = cgroup.join("cgroup.procs");
        let open = File::options().write(true).open(&procs);
        let open =
            open.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", procs.display())))?;
        // SAFETY: between fork and exec the closure makes a system call and allocates nothing.
        unsafe { command.pre_exec(move || (&open).write_all(b"0")) };
    }
    Ok(())
}

/// Adds a server that this process started, and waits for once it has [been removed](remove_server).
pub fn add_server(server: u32) {
    SERVERS.lock().unwrap_or_else(PoisonError::into_inner).push(server);
}

/// Removes a server that is about to be ended.
pub fn remove_server(server: u32) {
    SERVERS.lock().unwrap_or_else(PoisonError::into_inner).retain(|known| *known != server);
}

/// Whether any server is at work.
pub fn has_servers() -> bool {
    !list().is_empty()
}

/// The servers that are at work.
pub fn list() -> Vec<u32> {
    SERVERS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
