//! The other machine, and commands on it over the system's ssh.

use std::fmt;
use std::process::{Command, Stdio};

use storebench_core::error::{Error, Exit, Result};
use storebench_core::lifeline;
use storebench_core::shown::{piece, plain};

use super::shell;

/// A machine that ssh knows the way to.
#[derive(Debug, Clone)]
pub struct Host(String);

impl Host {
    /// A host as the user names it.
    ///
    /// # Errors
    /// When ssh could take it for an option, or it is no name at all.
    pub fn new(name: &str) -> Result<Host> {
        let bare = name.strip_prefix("ssh://").unwrap_or(name);
        let (user, host) = bare.rsplit_once('@').unwrap_or(("", bare));
        let odd = |letter: char| letter.is_whitespace() || letter.is_control();
        // A user's name has no colon: what follows one would be a password, which ssh takes from nowhere but the keyboard.
        if host.is_empty()
            || user.contains(':')
            || name.starts_with('-')
            || bare.starts_with('-')
            || host.starts_with('-')
            || name.contains(odd)
        {
            let message = format!(
                "--remote {}: it is not a host: write user@board, ssh://user@board:2222, or a name of your ssh configuration",
                piece(name)
            );
            return Err(Error::bad_value(message));
        }
        Ok(Host(name.into()))
    }

    /// A command there that runs a script with arguments, with its input and output open and deaf to Ctrl-C: it ends when it
    /// is told to.
    pub fn command(&self, script: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("ssh");
        // No terminal and no forwarded ports; a connection that is lost is noticed within a minute.
        command.args(["-T", "-o", "ClearAllForwardings=yes"]);
        command.args(["-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4"]);
        command.args(["--", &self.0, &shell::script(script, arguments)]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        lifeline::deafen(&mut command);
        command
    }

    /// An error that names the host and what went wrong with it.
    pub fn error(&self, what: &str) -> Error {
        Error::new(Exit::Unreachable, format!("{self}: {what}"))
    }

    /// The error where there is no ssh.
    pub fn no_ssh(&self, error: &std::io::Error) -> Error {
        self.error(&format!("ssh can't be started: {error}; install OpenSSH's client"))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&plain(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_ssh_takes_for_an_option_is_a_host() {
        for good in ["board", "user@board", "ssh://user@board:2222", "10.0.0.7", "user@fe80::1%eth0", "a@b@c"]
        {
            assert_eq!(Host::new(good).unwrap().to_string(), good);
        }
        let bad = [
            "",
            "-oProxyCommand=id",
            "user@-oProxyCommand=id",
            "ssh://-v",
            "ssh://",
            "user@",
            "ssh://user:secret@board",
            "a b",
            "a\tb",
            "a\nb",
        ];
        for bad in bad {
            assert_eq!(Host::new(bad).unwrap_err().exit, Exit::BadValue, "{bad}");
        }
    }
}
