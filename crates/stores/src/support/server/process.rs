//! A server's process: runs as a user without rights, is reached by a socket in a private folder, ends with the store.
//!
//! Folders above its data may be closed, such as a private home: as root, storebench runs the server as a user that can't pass them.
//! Some servers reach their files through open folders; the others get one right of root's: to pass.

use std::fs::{self, File};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, kill_process};
use storebench_model::lifeline;
use storebench_model::read_limited;
use storebench_model::server::processes;
use storebench_model::server::{User, owner_of};
use storebench_model::store::{Result, StoreError};

use super::installed::Programs;
use super::own_server::make_folder;

/// A server may have much to recover.
const LONGEST_START: Duration = Duration::from_secs(120);
/// It writes all that is in its memory.
const LONGEST_END: Duration = Duration::from_secs(300);
/// The end of a log that is searched for reasons.
const LAST_BYTES: u64 = 1 << 20;
const PAUSE: Duration = Duration::from_millis(1);
/// The log's file, next to the socket.
pub const LOG: &str = "log";

/// Held open, so that a process without rights reaches it whatever its parents are: a socket's path has at most 107 bytes.
pub struct ReachedFolder {
    folder: File,
    path: PathBuf,
}

impl ReachedFolder {
    pub fn open(path: &Path) -> Result<ReachedFolder> {
        let folder = File::open(path).map_err(StoreError::io(format!("opening {}", path.display())))?;
        Ok(ReachedFolder { folder, path: path.to_path_buf() })
    }

    /// Its path in this process, and in one that inherits it.
    pub fn path(&self) -> PathBuf {
        if cfg!(target_os = "linux") {
            PathBuf::from(format!("/proc/self/fd/{}", self.folder.as_raw_fd()))
        } else {
            self.path.clone()
        }
    }
}

/// Makes a command run as this user, end with this process, and hold these folders open. With `opens_by_path` it also gets the
/// right to pass their parents. Fails when it can't be put under the servers' limits.
pub fn unprivileged(
    command: &mut Command,
    user: Option<&'static User>,
    inherited: &[&ReachedFolder],
    opens_by_path: bool,
) -> Result<()> {
    // Before it gives up the right to.
    processes::join_cgroups(command).map_err(StoreError::io("holding the server to limits"))?;
    command
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin:/usr/sbin:/sbin"), ("LC_ALL", "C"), ("TZ", "UTC")])
        .current_dir("/");
    if let Some(libraries) = std::env::var_os("LD_LIBRARY_PATH") {
        command.env("LD_LIBRARY_PATH", libraries);
    }
    #[cfg(target_os = "linux")]
    let right = if opens_by_path { user.and_then(|_| right_to_pass()) } else { None };
    #[cfg(not(target_os = "linux"))]
    let _ = opens_by_path;
    let folders: Vec<RawFd> = inherited.iter().map(|inherited| inherited.folder.as_raw_fd()).collect();
    let drop_privileges = move || {
        let check = |failed: bool| if failed { Err(std::io::Error::last_os_error()) } else { Ok(()) };
        for folder in &folders {
            // SAFETY: the number is of an open folder, and the call takes no pointer.
            check(unsafe { libc::fcntl(*folder, libc::F_SETFD, 0) } != 0)?;
        }
        let Some(user) = user else { return Ok(()) };
        // SAFETY: no groups are handed over.
        check(unsafe { libc::setgroups(0, std::ptr::null()) } != 0)?;
        // SAFETY: it takes no pointer.
        check(unsafe { libc::setgid(user.gid) } != 0)?;
        #[cfg(target_os = "linux")]
        rustix::thread::set_keep_capabilities(right.is_some())?;
        // SAFETY: it takes no pointer.
        check(unsafe { libc::setuid(user.uid) } != 0)?;
        #[cfg(target_os = "linux")]
        right.map_or(Ok(()), take_right)?;
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes system calls and allocates nothing.
    unsafe { command.pre_exec(drop_privileges) };
    // After that: a change of the user takes it back.
    lifeline::tie_to_parent(command);
    Ok(())
}

/// The folder of sockets and logs, removed with the last process that uses it.
pub struct SocketFolder(pub PathBuf);

impl Drop for SocketFolder {
    fn drop(&mut self) {
        // Nothing in there is of interest any more.
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        entries.for_each(|entry| drop(fs::remove_file(entry.path())));
        let _ = fs::remove_dir(&self.0);
    }
}

pub struct ServerProcess {
    child: Child,
    folder: Arc<SocketFolder>,
    log: String,
    programs: &'static Programs,
    has_ended: bool,
}

impl ServerProcess {
    /// Starts a server whose output goes to the file `log` in a folder.
    pub fn start(
        programs: &'static Programs,
        command: &mut Command,
        folder: Arc<SocketFolder>,
        log: String,
    ) -> Result<ServerProcess> {
        let file = File::create(folder.0.join(&log)).map_err(StoreError::io("making the server's log"))?;
        let error_file = file.try_clone().map_err(StoreError::io("making the server's log"))?;
        command.stdin(Stdio::null()).stdout(file).stderr(error_file);
        let child = command.spawn().map_err(StoreError::io(format!("starting {}", programs.server)))?;
        processes::add_server(child.id());
        Ok(ServerProcess { child, folder, log, programs, has_ended: false })
    }

    /// Waits until `is_ready` accepts each process number. The error has the message of the server that ended.
    pub fn wait_for_all(
        processes: &mut [ServerProcess],
        mut is_ready: impl FnMut(u32) -> bool,
    ) -> Result<()> {
        let start = Instant::now();
        while !processes.iter().all(|process| is_ready(process.child.id())) {
            for process in &mut *processes {
                process.expect_at_work()?;
            }
            if start.elapsed() > LONGEST_START {
                let name = processes.first().map_or("the server", |process| process.programs.server);
                let message = format!("{name} was not ready after {} s", LONGEST_START.as_secs());
                return Err(StoreError::Engine(message));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    fn expect_at_work(&mut self) -> Result<()> {
        let name = self.programs.server;
        let ended = self.child.try_wait().map_err(StoreError::io(format!("waiting for {name}")))?;
        let Some(status) = ended else { return Ok(()) };
        self.has_ended = true;
        processes::remove_server(self.child.id());
        Err(StoreError::Engine(format!("{name} did not start: {}", self.last_words(status))))
    }

    fn last_words(&self, status: ExitStatus) -> String {
        let log = read_limited::end(&self.folder.0.join(&self.log), LAST_BYTES);
        let log = String::from_utf8_lossy(&log);
        (self.programs.last_words)(&log).unwrap_or_else(|| {
            let line = log.lines().rfind(|line| !line.trim().is_empty());
            line.map_or_else(|| status.to_string(), |line| format!("{status}; its log ends with: {line}"))
        })
    }

    /// Ends it in order: it writes what is in its memory, and closes its files. Fails when it ends otherwise, or not in time.
    pub fn end(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.has_ended, true) {
            return Ok(());
        }
        let (status, name) = (self.terminate(), self.programs.server);
        processes::remove_server(self.child.id());
        let status = status.map_err(StoreError::io(format!("ending {name}")))?;
        let is_expected_signal =
            self.programs.ends_by_signal && status.signal() == Some(self.programs.stop.as_raw());
        if !status.success() && !is_expected_signal {
            return Err(StoreError::Engine(format!("{name} ended badly: {}", self.last_words(status))));
        }
        Ok(())
    }

    fn terminate(&mut self) -> std::io::Result<ExitStatus> {
        if let Some(pid) = Pid::from_raw(self.child.id().cast_signed()) {
            // One that has ended by itself is not there any more.
            let _ = kill_process(pid, self.programs.stop);
        }
        let start = Instant::now();
        while start.elapsed() < LONGEST_END {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(PAUSE);
        }
        self.child.kill()?;
        self.child.wait()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // Whoever wants to know how it ended asks for it.
        let _ = self.end();
    }
}

pub fn new_folder(parent: &Path, prefix: &str, user: Option<&User>) -> Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("{prefix}-{}-{number}", std::process::id()));
        // One of a process that had the same number and was killed.
        if fs::symlink_metadata(&folder).is_err() {
            make_folder(&folder, user)?;
            return Ok(folder);
        }
    }
}

/// The right that root can pass on here: to pass and read what is closed. Containers mostly lack it, and have the one to write, too.
#[cfg(target_os = "linux")]
fn right_to_pass() -> Option<rustix::thread::CapabilitySet> {
    use rustix::thread::{CapabilitySet, capabilities};
    let permitted = capabilities(None).ok()?.permitted;
    [CapabilitySet::DAC_READ_SEARCH, CapabilitySet::DAC_OVERRIDE]
        .into_iter()
        .find(|right| permitted.contains(*right))
}

/// Takes on the right to pass, after a change of user. Called between fork and exec: it only makes system calls.
#[cfg(target_os = "linux")]
fn take_right(right: rustix::thread::CapabilitySet) -> std::io::Result<()> {
    use rustix::thread::{CapabilitySets, configure_capability_in_ambient_set, set_capabilities};
    set_capabilities(None, CapabilitySets { effective: right, permitted: right, inheritable: right })?;
    Ok(configure_capability_in_ambient_set(right, true)?)
}

/// The topmost folder above the data that the server, running as another user, can't pass.
pub fn closed_above(folder: &Path) -> Option<(PathBuf, &'static User)> {
    let user = owner_of(folder)?;
    #[cfg(target_os = "linux")]
    if right_to_pass().is_some() {
        return None;
    }
    closed_for(user.uid, user.gid, folder).map(|closed| (closed, user))
}

fn closed_for(uid: u32, gid: u32, folder: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(folder).ok()?;
    let parents: Vec<&Path> = folder.ancestors().skip(1).collect();
    let is_closed = |path: &Path| {
        let pass_bit = |metadata: fs::Metadata| match () {
            () if metadata.uid() == uid => metadata.mode() & 0o100,
            () if metadata.gid() == gid => metadata.mode() & 0o010,
            () => metadata.mode() & 0o001,
        };
        fs::metadata(path).is_ok_and(|metadata| pass_bit(metadata) == 0)
    };
    parents.into_iter().rev().find(|path| is_closed(path)).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_topmost_folder_that_is_closed_is_found() {
        let root = tempfile::tempdir().unwrap();
        let (outer, inner) = (root.path().join("outer"), root.path().join("outer/inner"));
        let data = inner.join("own");
        fs::create_dir_all(&data).unwrap();
        let metadata = fs::metadata(&data).unwrap();
        let (uid, gid) = (metadata.uid() + 1, metadata.gid() + 1);
        let set_modes = |root_mode: u32, outer_mode: u32, inner_mode: u32| {
            for (path, mode) in [(root.path(), root_mode), (&outer, outer_mode), (&inner, inner_mode)] {
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            }
        };
        let canonical = |path: &Path| Some(fs::canonicalize(path).unwrap());
        set_modes(0o711, 0o700, 0o700);
        assert_eq!(closed_for(uid, gid, &data), canonical(&outer));
        assert_eq!(closed_for(metadata.uid(), gid, &data), None);
        set_modes(0o711, 0o711, 0o710);
        assert_eq!(closed_for(uid, gid, &data), canonical(&inner));
        assert_eq!(closed_for(uid, metadata.gid(), &data), None, "its group passes");
        set_modes(0o711, 0o711, 0o755);
        assert_eq!(closed_for(uid, gid, &data), None);
    }
}
