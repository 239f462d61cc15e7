//! The server's process.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use storebench_core::server::{self, DATA, Segment};
use storebench_core::store::{Result, StoreError};

use super::client::Client;
use super::installed;
use crate::stores::support::server::{Process, Reached, Saying, Way, new_folder, unprivileged};

/// The name of its socket, in a folder that is its alone.
const SOCKET: &str = ".s.PGSQL.5432";
/// The file in which it tells its number, and that it is ready.
const PID_FILE: &str = "postmaster.pid";

const SAYING: Saying = Saying { name: "postgres", stop: Signal::INT, last_words };

/// A server at work. Dropping it ends it.
pub struct Server {
    process: Process,
    socket: Reached,
}

impl Server {
    /// Starts a server on the data in `directory`, and waits until it is ready.
    ///
    /// # Errors
    /// What it says; when it does not come up.
    pub fn start(directory: &Path, beside: Option<&Path>, settings: &[String]) -> Result<Server> {
        let found = installed::needed()?;
        // A server of a process that was killed may still be about to end.
        server::end_in(directory).map_err(StoreError::io("ending the server of before"))?;
        // It names that server; while nobody has waited for a process that was killed, PostgreSQL takes it for one at work.
        let pid_file = directory.join(DATA).join(PID_FILE);
        match fs::remove_file(&pid_file) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(StoreError::io(format!("deleting {}", pid_file.display()))(error));
            }
            _ => {}
        }
        let data = Reached::open(&directory.join(DATA))?;
        let at = new_folder(beside.unwrap_or(directory), "socket")?;
        let socket = Reached::open(&at)?;
        let mut command = Command::new(found.program("postgres"));
        command.arg("-D").arg(data.path());
        for setting in settings {
            command.args(["-c", setting]);
        }
        let place = format!("unix_socket_directories={}", socket.path().display());
        command.args(["-c", "listen_addresses=", "-c", &place, "-c", "unix_socket_permissions=0700"]);
        // Of the other kinds a kill would leave something outside the folder.
        command.args(["-c", "dynamic_shared_memory_type=mmap"]);
        unprivileged(&mut command, &[&data, &socket], Way::Held)?;
        let mut process = Process::start(&SAYING, &mut command, at)?;
        process.wait_until(|pid| is_ready(&pid_file, pid))?;
        Ok(Server { process, socket })
    }

    /// A connection.
    ///
    /// # Errors
    /// The server's.
    pub fn connect(&self) -> Result<Client> {
        Client::connect(&self.socket.path().join(SOCKET))
    }

    /// Ends it in order.
    ///
    /// # Errors
    /// When it ends otherwise, or not in time.
    pub fn stop(self) -> Result<()> {
        self.process.stop()
    }
}

/// Its file says so in the eighth line.
fn is_ready(file: &Path, pid: u32) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let mut lines = text.lines().map(str::trim);
    lines.next() == Some(pid.to_string().as_str()) && lines.nth(6) == Some("ready")
}

/// The few bytes of the system's shared memory by which it knows whether another is at work on its data: its file notes them in
/// the seventh line.
pub fn shared_memory(data: &Path) -> Option<Segment> {
    segment_in(&fs::read_to_string(data.join(PID_FILE)).ok()?)
}

fn segment_in(text: &str) -> Option<Segment> {
    let mut words = text.lines().nth(6)?.split_whitespace();
    let key: u32 = words.next()?.parse().ok()?;
    Some(Segment { key: key.cast_signed(), number: words.next()?.parse().ok()? })
}

/// The last line that says what is wrong.
fn last_words(log: &str) -> Option<String> {
    let told = ["FATAL:  ", "PANIC:  ", "postgres: "];
    let of = |line: &str| told.iter().find_map(|mark| Some(line.split_once(mark)?.1.to_owned()));
    log.lines().rev().find_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_and_number_of_its_shared_memory_stand_in_the_seventh_line() {
        let text = "5275\n/data\n1795386360\n5432\n/run\n\n  5309225         4\nready   \n";
        assert_eq!(segment_in(text), Some(Segment { key: 5_309_225, number: 4 }));
        assert_eq!(segment_in("5275\n/data\n"), None);
        assert_eq!(segment_in(&text.replace("5309225", "many")), None);
    }
}
