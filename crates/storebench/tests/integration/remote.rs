//! A separate sshd on 127.0.0.1, as this user, with new keys; gone with the test. What is done with it: cases/remote.txt and clients.txt.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use storebench_model::lifeline;

use crate::cli::support::{Scratch, is_root, skipped};

/// Where Debian and others put it, which is in no user's PATH.
const SSHD: &str = "/usr/sbin/sshd";

/// The other machine: this one, by ssh. Its name is `board`; as a client of a trial it is two, `alpha` and `beta`.
pub struct Board {
    sshd: Child,
    /// Keys and settings.
    folder: Scratch,
}

impl Board {
    /// Starts it; `None` without sshd. Its cache is the folder `board` of the test.
    pub fn start(scratch: &Scratch) -> Option<Board> {
        if !Path::new(SSHD).exists() {
            skipped("remote runs", "sshd is missing: scripts/setup.sh test installs it");
            return None;
        }
        let (folder, cache) = (Scratch::new(), scratch.join("board"));
        fs::create_dir(&cache).unwrap();
        for key in ["host", "user"] {
            let path = folder.join(key);
            let status =
                Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path).status();
            assert!(status.unwrap().success());
        }
        // A port that was free a moment ago may be taken by now.
        let sshd = (0..10).find_map(|_| start_sshd(&folder, &cache));
        Some(Board { sshd: sshd.expect("sshd does not start"), folder })
    }

    /// A PATH whose ssh knows the way there.
    pub fn path(&self) -> String {
        format!("{}:{}", self.folder.join("bin").display(), std::env::var("PATH").unwrap())
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        let _ = self.sshd.kill();
        let _ = self.sshd.wait();
    }
}

/// Starts sshd on a port, and writes down how it is reached.
fn start_sshd(folder: &Scratch, cache: &Path) -> Option<Child> {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let file_path = |name: &str| folder.join(name).display().to_string();
    let settings = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\n\
         UsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\nSetEnv XDG_CACHE_HOME={}\n",
        file_path("host"),
        file_path("user.pub"),
        cache.display(),
    );
    folder.write("sshd_config", settings);
    let user = Command::new("id").arg("-un").output().unwrap();
    let client = format!(
        "Host board alpha beta\n HostName 127.0.0.1\n Port {port}\n User {} IdentityFile {}\n IdentitiesOnly yes\n BatchMode yes\n \
         UserKnownHostsFile {}\n",
        String::from_utf8(user.stdout).unwrap(),
        file_path("user"),
        file_path("known"),
    );
    folder.write("ssh_config", client);
    folder.write(
        "known",
        format!("[127.0.0.1]:{port} {}", fs::read_to_string(folder.join("host.pub")).unwrap()),
    );
    let ssh = String::from_utf8(Command::new("sh").args(["-c", "command -v ssh"]).output().unwrap().stdout)
        .unwrap();
    let script = format!("#!/bin/sh\nexec {} -F {} \"$@\"\n", ssh.trim(), file_path("ssh_config"));
    let ssh = folder.write("bin/ssh", script);
    fs::set_permissions(ssh, fs::Permissions::from_mode(0o755)).unwrap();

    let mut command = sshd_command();
    command
        .args([SSHD, "-D", "-e", "-f", &file_path("sshd_config")])
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let mut sshd = lifeline::tie_to_parent(&mut command).spawn().unwrap();
    for _ in 0..500 {
        if sshd.try_wait().unwrap().is_some() {
            return None;
        }
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Some(sshd);
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let _ = sshd.kill();
    let _ = sshd.wait();
    None
}

/// The command that starts sshd. Root's wants a folder that only the system's own service makes: here in a /run of its own.
fn sshd_command() -> Command {
    if !is_root() || Path::new("/run/sshd").exists() {
        return Command::new("env");
    }
    let mut command = Command::new("unshare");
    let script = "mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && exec \"$@\"";
    command.args(["--mount", "sh", "-c", script, "sh"]);
    command
}
