//! Servers that trials start: the user that they run as under root, and how to end what is left of one. A server belongs to the
//! folder of its data, which is its working folder or holds its open files. So whoever cleans up the folder finds it, whatever
//! happened to the process that started it.

pub mod processes;
pub mod relay;
pub mod running;
mod server_kind;
#[cfg(target_os = "linux")]
mod shared_memory;

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

pub use self::server_kind::{Segment, ServerKind, add};

/// The file that says that a server may be at work in a folder. It is made before the server is started.
pub const MARK: &str = "server";
/// The folder of its data, in that folder.
pub const DATA: &str = "data";

/// The setting that names the folder of a server's programs.
pub const PROGRAMS: &str = "programs";

/// Whether a setting says which server it is, and nothing of how that works.
pub fn identifies_server(setting: &str) -> bool {
    [running::URL, PROGRAMS].contains(&setting)
}

/// How long killed processes may take to end, on a machine that is busy with others.
const LONGEST_END: Duration = Duration::from_secs(60);

/// A user as whom servers run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct User {
    pub name: &'static str,
    pub uid: u32,
    pub gid: u32,
}

/// The users that servers run as, since they refuse root: existing users of known servers, then `nobody`. None if this process is
/// not root. On a file system without owners all belongs to the first.
pub fn users() -> &'static [User] {
    // The users from before servers were made known, and from after.
    static USERS: [OnceLock<Vec<User>>; 2] = [OnceLock::new(), OnceLock::new()];
    let users = &USERS[usize::from(!server_kind::all().is_empty())];
    users.get_or_init(|| {
        let names = server_kind::all().iter().flat_map(|known| known.users).copied().chain(["nobody"]);
        if rustix::process::geteuid().is_root() { names.filter_map(find_user).collect() } else { Vec::new() }
    })
}

/// The user of these names as whom a server runs, so that one server can't reach another's files; else `nobody`, else any.
pub fn user_of(names: &[&str]) -> Option<&'static User> {
    users().iter().find(|user| names.contains(&user.name)).or(users().last())
}

/// As whom the server of these data runs: as their owner.
pub fn owner_of(data: &Path) -> Option<&'static User> {
    let owner = fs::symlink_metadata(data).ok()?.uid();
    users().iter().find(|user| user.uid == owner)
}

fn find_user(name: &'static str) -> Option<User> {
    let text = CString::new(name).ok()?;
    let mut entry = std::mem::MaybeUninit::<libc::passwd>::zeroed();
    let mut buffer = [0; 4096];
    let mut found = std::ptr::null_mut();
    // SAFETY: the name ends with a zero; entry, buffer and pointer are ours, the buffer's length is its own. What the entry
    // points to lies in the buffer and is not used.
    let failed = unsafe {
        libc::getpwnam_r(text.as_ptr(), entry.as_mut_ptr(), buffer.as_mut_ptr(), buffer.len(), &raw mut found)
    };
    if failed != 0 || found.is_null() {
        return None;
    }
    // SAFETY: all zeroes are a valid entry, and the call has filled it.
    let entry = unsafe { entry.assume_init() };
    Some(User { name, uid: entry.pw_uid, gid: entry.pw_gid })
}

/// Ends servers at work in a folder whose starter has gone, and what they left outside it, if its [`MARK`] says that there is one.
pub fn end_in(folder: &Path) -> io::Result<()> {
    if fs::symlink_metadata(folder.join(MARK)).is_err() {
        return Ok(());
    }
    let Ok(folder) = fs::canonicalize(folder) else { return Ok(()) };
    let start = Instant::now();
    loop {
        let processes = find_processes(&folder);
        if processes.is_empty() {
            break;
        }
        for pid in &processes {
            match kill_process(*pid, Signal::KILL) {
                Err(error) if error != rustix::io::Errno::SRCH => return Err(error.into()),
                _ => {}
            }
        }
        if start.elapsed() > LONGEST_END {
            let message = format!("the server in {} was killed and does not end", folder.display());
            return Err(io::Error::new(io::ErrorKind::TimedOut, message));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    #[cfg(target_os = "linux")]
    {
        // Its data, or those that were being made for all trials.
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        entries.for_each(|entry| shared_memory::remove_shared_memory(&entry.path(), LONGEST_END));
    }
    Ok(())
}

/// Processes of servers whose working folder, or an open file, lies in this folder.
fn find_processes(folder: &Path) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_ours = |proc: &PathBuf| {
        let link = |name| fs::read_link(proc.join(name)).ok();
        let is_server = || {
            let program = link("exe")?;
            let name = program.file_name()?.to_str()?.trim_end_matches(" (deleted)").to_owned();
            server_kind::is_program(&name).then_some(())
        };
        let leads_into_folder =
            |link: PathBuf| fs::read_link(link).is_ok_and(|target| target.starts_with(folder));
        let open = || fs::read_dir(proc.join("fd")).into_iter().flatten().flatten();
        is_server().is_some()
            && (leads_into_folder(proc.join("cwd")) || open().any(|file| leads_into_folder(file.path())))
    };
    let pids = entries.filter_map(|entry| {
        let number: i32 = entry.file_name().to_str()?.parse().ok()?;
        Pid::from_raw(number).filter(|_| is_ours(&entry.path()))
    });
    pids.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_its_name() {
        assert_eq!(find_user("root").map(|user| (user.uid, user.gid)), Some((0, 0)));
        assert_eq!(find_user("no such user"), None);
        assert!(users().iter().all(|user| user.uid != 0));
    }

    /// Another process in the folder stays.
    #[test]
    fn only_servers_are_ended() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(MARK), "").unwrap();
        let mut other =
            std::process::Command::new("sleep").arg("60").current_dir(folder.path()).spawn().unwrap();
        end_in(folder.path()).unwrap();
        assert!(other.try_wait().unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
    }

    /// A copy of `sleep` with a server's name stands for one.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_server_in_the_folder_is_ended_and_one_elsewhere_is_not() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let data = folder.path().join(DATA);
        fs::create_dir(&data).unwrap();
        add(&[&server_kind::EXAMPLE]);
        let program = elsewhere.path().join(server_kind::EXAMPLE.programs[0]);
        let sleep = ["/bin/sleep", "/usr/bin/sleep"].into_iter().find(|path| Path::new(path).exists());
        fs::copy(sleep.unwrap(), &program).unwrap();
        let start =
            |folder: &Path| std::process::Command::new(&program).arg("60").current_dir(folder).spawn();
        let (mut inside, mut outside) = (start(&data).unwrap(), start(elsewhere.path()).unwrap());
        // Whoever started it reaps it; here that is this test.
        let ended = std::thread::scope(|scope| {
            let reaped = scope.spawn(|| inside.wait().unwrap());
            end_in(folder.path()).unwrap();
            assert!(!reaped.is_finished(), "no mark, no search");
            fs::write(folder.path().join(MARK), "").unwrap();
            end_in(folder.path()).unwrap();
            reaped.join().unwrap()
        });
        assert!(!ended.success());
        assert!(outside.try_wait().unwrap().is_none());
        outside.kill().unwrap();
        outside.wait().unwrap();
    }
}
