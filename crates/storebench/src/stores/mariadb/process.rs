//! The files of a server, made by mariadb-install-db, and its process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;
use storebench_core::server::{self, DATA};
use storebench_core::store::{OpenOptions, Result, StoreError};

use super::client::{Client, Login};
use super::config::Plan;
use super::installed;
use crate::stores::support::server::{
    Process, Reached, Saying, Template, Way, closed_above, make_folder, new_folder, unprivileged,
};
use crate::stores::support::socket::Socket;

/// The name of its socket, in a folder that is its alone.
const SOCKET: &str = "socket";
/// The user of the database, who may do all.
const USER: &str = "root";
/// The database of the trial's tables.
const DATABASE: &str = "storebench";

const SAYING: Saying = Saying { name: "mariadbd", stop: Signal::TERM, last_words };

/// Makes the files of a new server in the store's folder, unless they are there.
///
/// # Errors
/// What MariaDB or the system says.
pub fn prepare(options: &OpenOptions<'_>) -> Result<()> {
    let plan = Plan::new(options)?;
    let fixed = plan.fixed_with_files();
    let template = Template {
        name: format!("mariadb-{}{}", installed::needed()?.version, fixed.join("").replace('=', "")),
        sign: "mysql",
        make: &|data| make_files(data, &fixed, &plan.addresses()),
    };
    template.prepare(options)
}

/// Runs mariadb-install-db for a folder that is not there yet.
fn make_files(data: &Path, fixed: &[String], addresses: &str) -> Result<()> {
    let found = installed::needed()?;
    make_folder(data)?;
    passes_to(data)?;
    let reached = Reached::open(data)?;
    let mut command = Command::new(&found.maker);
    command
        .arg("--no-defaults")
        .arg(format!("--datadir={}", reached.path().display()))
        // Several at once meet in /tmp, where it puts tables by the same names.
        .arg(format!("--tmpdir={}", reached.path().display()))
        .args(["--skip-test-db", "--auth-root-authentication-method=normal", "--skip-name-resolve"])
        .args(fixed)
        .arg(addresses)
        .stdin(Stdio::null());
    unprivileged(&mut command, &[&reached], Way::Passed)?;
    let ended = command.output().map_err(StoreError::io("starting mariadb-install-db"))?;
    if ended.status.success() {
        return Ok(());
    }
    let said = [ended.stdout, ended.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let why = last_words(&said).unwrap_or_else(|| format!("{}: {}", ended.status, said.trim()));
    Err(StoreError::Engine(format!("mariadb-install-db failed: {why}")))
}

/// A server at work. Dropping it ends it.
pub struct Server {
    process: Process,
    socket: Reached,
    /// Where it puts what is for a moment, held open as long as it may.
    moment: (PathBuf, Reached),
}

impl Server {
    /// Starts a server on the data in `directory`, and waits until it is ready.
    ///
    /// # Errors
    /// What it says; when it does not come up.
    pub fn start(directory: &Path, beside: Option<&Path>, settings: &[String]) -> Result<Server> {
        let found = installed::needed()?;
        let data = directory.join(DATA);
        passes_to(&data)?;
        // A server of a process that was killed may still be about to end.
        server::end_in(directory).map_err(StoreError::io("ending the server of before"))?;
        let data = Reached::open(&data)?;
        let moment_at = new_folder(directory, "moment")?;
        let moment = Reached::open(&moment_at)?;
        let at = new_folder(beside.unwrap_or(directory), "socket")?;
        let socket = Reached::open(&at)?;
        let mut command = Command::new(&found.server);
        command.arg("--no-defaults");
        for (name, path) in [
            ("datadir", data.path()),
            ("tmpdir", moment.path()),
            ("socket", socket.path().join(SOCKET)),
            ("pid-file", socket.path().join("number")),
        ] {
            command.arg(format!("--{name}={}", path.display()));
        }
        command
            .args(["--skip-networking", "--skip-log-bin", "--skip-name-resolve"])
            .args(["--max-allowed-packet=1G", "--local-infile=1"])
            .args(settings);
        unprivileged(&mut command, &[&data, &moment, &socket], Way::Passed)?;
        let mut process = Process::start(&SAYING, &mut command, at)?;
        let path = socket.path().join(SOCKET);
        process.wait_until(|_| connect(&path, None).is_ok())?;
        connect(&path, None)?
            .execute(&format!("CREATE DATABASE IF NOT EXISTS {DATABASE} CHARACTER SET utf8mb4"))?;
        Ok(Server { process, socket, moment: (moment_at, moment) })
    }

    /// A connection.
    ///
    /// # Errors
    /// The server's.
    pub fn connect(&self) -> Result<Client> {
        connect(&self.socket.path().join(SOCKET), Some(DATABASE))
    }

    /// Ends it in order.
    ///
    /// # Errors
    /// When it ends otherwise, or not in time.
    pub fn stop(self) -> Result<()> {
        self.process.stop()?;
        // It is empty by now; where it is not, it goes with the store's folder.
        let _ = fs::remove_dir(self.moment.0);
        Ok(())
    }
}

/// It opens its files by their paths, even those that it was shown another way to.
fn passes_to(folder: &Path) -> Result<()> {
    closed_above(folder).map_or(Ok(()), |(closed, user)| {
        Err(StoreError::Unsupported(format!(
            "MariaDB runs as the user {} here, who can't pass {}: run storebench as another user than root, or give this \
             container the capability DAC_READ_SEARCH",
            user.name,
            closed.display()
        )))
    })
}

fn connect(socket: &Path, database: Option<&str>) -> Result<Client> {
    let socket = Socket::unix(socket).map_err(StoreError::io("connecting to mariadbd"))?;
    let mut client = Client::begin(socket, &Login { user: USER, password: "", database: None })?;
    if let Some(database) = database {
        client.execute(&format!("USE {database}"))?;
    }
    Ok(client)
}

/// The first line that says what is wrong: those after it follow from it.
fn last_words(log: &str) -> Option<String> {
    let of = |line: &str| {
        let after = line.split_once("[ERROR] ").map(|(_, after)| after);
        after.or_else(|| line.strip_prefix("ERROR: ")).map(str::to_owned)
    };
    log.lines().find_map(|line| of(line).filter(|words| words != "Aborting"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_that_tell_something_count() {
        let log = "2026-11-23  4:52:45 0 [Note] starts\n2026-11-23  4:52:45 0 [ERROR] Aborting\nERROR: 1051  Unknown table\n";
        assert_eq!(last_words(log).as_deref(), Some("1051  Unknown table"));
        assert_eq!(
            last_words("2026 0 [ERROR] no plugin\n2026 0 [ERROR] more\n").as_deref(),
            Some("no plugin")
        );
        assert_eq!(last_words("all is well\n0 [ERROR] Aborting\n"), None);
    }
}
