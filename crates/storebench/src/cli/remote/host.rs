//! The other machine, and commands on it by the system's ssh, or adb for a phone.

use std::fmt;
use std::net::TcpStream;
use std::process::{Command, Stdio};

use storebench_model::error::{Error, Exit, Result};
use storebench_model::lifeline;
use storebench_model::sanitize::{piece, plain};

use super::program::STATIC;
use super::shell;

/// The prefix of a phone; nothing, or its serial number, follows.
const ADB: &str = "adb:";

/// The server that adb starts and leaves running: dropping this ends it.
pub struct AdbServer(());

impl AdbServer {
    /// The server that these hosts will need, unless one is running, or the user names one.
    pub fn start_for<'h>(hosts: impl IntoIterator<Item = &'h str>) -> Option<AdbServer> {
        let variables = ["ADB_SERVER_SOCKET", "ANDROID_ADB_SERVER_PORT"].map(std::env::var_os);
        let is_running =
            || variables.iter().any(Option::is_some) || TcpStream::connect(("127.0.0.1", 5037)).is_ok();
        (hosts.into_iter().any(|host| host.starts_with(ADB)) && !is_running()).then(|| AdbServer(()))
    }
}

impl Drop for AdbServer {
    fn drop(&mut self) {
        // Nothing depends on it, and possibly none was started.
        let _ = Command::new("adb").arg("kill-server").output();
    }
}

/// A machine that ssh or adb can reach.
#[derive(Debug, Clone)]
pub struct Host {
    name: String,
    /// Whether nobody is there to enter a password.
    is_unattended: bool,
}

impl Host {
    /// A host as named in an option; an error if ssh or adb could mistake it for an option, or it is no name.
    pub fn new(name: &str, option: &str) -> Result<Host> {
        if let Some(serial) = name.strip_prefix(ADB) {
            let is_bad_letter = |letter: char| !letter.is_ascii_alphanumeric() && !".:_-".contains(letter);
            if serial.starts_with('-') || serial.contains(is_bad_letter) {
                return Err(Error::bad_value(format!(
                    "{option} {}: it is no phone: write adb: or adb:SERIAL, as `adb devices` has it",
                    piece(name)
                )));
            }
            return Ok(Host::parse(name));
        }
        let address = name.strip_prefix("ssh://").unwrap_or(name);
        let (user, host) = address.rsplit_once('@').unwrap_or(("", address));
        let is_bad_letter = |letter: char| letter.is_whitespace() || letter.is_control();
        // A user's name has no colon: after it would be a password, which ssh accepts only from the keyboard.
        if host.is_empty()
            || user.contains(':')
            || name.starts_with('-')
            || address.starts_with('-')
            || host.starts_with('-')
            || name.contains(is_bad_letter)
        {
            return Err(Error::bad_value(format!(
                "{option} {}: it is not a host: write user@board, ssh://user@board:2222, a name of your ssh configuration, or adb: for a phone",
                piece(name)
            )));
        }
        Ok(Host::parse(name))
    }

    fn parse(name: &str) -> Host {
        Host { name: name.into(), is_unattended: false }
    }

    /// The host with an ssh that asks for nothing and gives up soon.
    pub fn unattended(self) -> Host {
        Host { is_unattended: true, ..self }
    }

    /// A command there that runs a script with arguments, with open input and output and deaf to Ctrl-C: it ends on request.
    pub fn command(&self, script: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.program());
        match self.phone() {
            Some(serial) => {
                // No terminal. Without a serial number the phone must be the only one.
                let chosen = [serial].into_iter().filter(|serial| !serial.is_empty());
                command.args(chosen.flat_map(|serial| ["-s", serial])).args(["shell", "-T"]);
            }
            None => {
                // No terminal and no forwarded ports; a lost connection is noticed within a minute.
                command.args(["-T", "-o", "ClearAllForwardings=yes"]);
                if self.is_unattended {
                    command.args(["-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]);
                }
                command.args(["-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4"]);
                command.args(["--", &self.name]);
            }
        }
        command.arg(shell::script(script, arguments));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        lifeline::ignore_interrupts(&mut command);
        command
    }

    /// The serial number of a phone, empty for the only one; `None` for a machine reached by ssh.
    fn phone(&self) -> Option<&str> {
        self.name.strip_prefix(ADB)
    }

    /// The kind of program that it needs: a phone lacks the C library of other systems.
    pub fn kind(&self) -> &'static str {
        if self.phone().is_some() { STATIC } else { "" }
    }

    /// storebench's default folder there; empty: in the user's cache.
    pub fn default_folder(&self) -> &'static str {
        // The only folder of a phone from which its shell may start programs.
        if self.phone().is_some() { "/data/local/tmp/storebench" } else { "" }
    }

    pub fn program(&self) -> &'static str {
        if self.phone().is_some() { "adb" } else { "ssh" }
    }

    pub fn error(&self, reason: &str) -> Error {
        Error::new(Exit::Unreachable, format!("{self}: {reason}"))
    }

    pub fn program_error(&self, error: &std::io::Error) -> Error {
        let package = if self.phone().is_some() { "Android's platform tools" } else { "OpenSSH's client" };
        self.error(&format!("{} can't be started: {error}; install {package}", self.program()))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&plain(&self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_ssh_takes_for_an_option_is_a_host() {
        for good in ["board", "user@board", "ssh://user@board:2222", "10.0.0.7", "user@fe80::1%eth0", "a@b@c"]
        {
            assert_eq!(Host::new(good, "--remote").unwrap().to_string(), good);
        }
        for phone in ["adb:", "adb:emulator-5554", "adb:192.168.0.7:5555"] {
            assert_eq!(Host::new(phone, "--remote").unwrap().to_string(), phone);
        }
        let bad = "adb:-a|adb:a b|adb:a;id||-oProxyCommand=id|user@-oProxyCommand=id|ssh://-v|ssh://|user@|\
                   ssh://user:secret@board|a b|a\tb|a\nb";
        for bad in bad.split('|') {
            assert_eq!(Host::new(bad, "--clients").unwrap_err().exit, Exit::BadValue, "{bad}");
        }
    }

    #[test]
    fn a_phone_is_reached_by_adb_and_takes_a_program_without_a_c_library() {
        let words = |host: &str| -> Vec<String> {
            let command = Host::new(host, "--remote").unwrap().command("true", &["x"]);
            let program = [command.get_program()].into_iter();
            program.chain(command.get_args()).map(|word| word.to_string_lossy().into_owned()).collect()
        };
        let script = shell::script("true", &["x"]);
        assert_eq!(words("adb:"), ["adb", "shell", "-T", &script]);
        assert_eq!(words("adb:1234"), ["adb", "-s", "1234", "shell", "-T", &script]);
        assert_eq!(words("board")[0], "ssh");
        let asks = Host::new("board", "--clients").unwrap();
        let batch = |host: &Host| host.command("true", &[]).get_args().any(|word| word == "BatchMode=yes");
        assert!(!batch(&asks) && batch(&asks.unattended()));
        let phone = Host::new("adb:", "--remote").unwrap();
        assert_eq!((phone.kind(), phone.default_folder()), ("-static", "/data/local/tmp/storebench"));
        assert!(phone.program_error(&std::io::ErrorKind::NotFound.into()).message.contains("platform tools"));
    }
}
