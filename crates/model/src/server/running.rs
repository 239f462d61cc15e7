//! Running servers, named by a URL: their address, and what storebench makes on them during a trial. A file in the trial's folder
//! notes it before it is made, so that whoever cleans up the folder has it dropped first.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::lifeline;

/// The setting that names one.
pub const URL: &str = "url";
/// The hidden command that drops what a folder notes.
pub const DROP_COMMAND: &str = "__drop";
const PREFIX: &str = "storebench_";
const NOTE: &str = "made-on-server.json";
/// Dropping may take this long: a killed trial's last statement must end first, for which the stores wait a minute.
const LONGEST_DROP: Duration = Duration::from_secs(75);
/// A server that took longer than this to refuse is not asked about its next leftover...
const SLOW: Duration = Duration::from_secs(2);
/// ... for this time: many leftovers cost no more than one.
const SILENCE: Duration = Duration::from_secs(5);

/// Where a server is, and as whom it is used. Never with a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The user's name.
    pub user: String,
    /// The host, or the socket.
    pub at: Endpoint,
    /// The port, where the URL names one.
    pub port: Option<u16>,
    /// The other members of a cluster, where the URL names several.
    pub others: Vec<(Endpoint, Option<u16>)>,
    /// The database, where the URL names one.
    pub database: Option<String>,
}

/// The way to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// By TCP.
    Host(String),
    /// By a Unix socket, or its folder.
    Socket(PathBuf),
}

impl Endpoint {
    /// The host as files of passwords name it.
    pub fn name(&self) -> String {
        match self {
            Endpoint::Host(name) => name.clone(),
            Endpoint::Socket(path) => path.display().to_string(),
        }
    }
}

impl Address {
    /// Reads a URL with one of these schemes: `scheme://user@host:port/database`, or `scheme://user@/database?socket=/path`; with
    /// `+unix` the socket's path comes first: `scheme+unix:///path?db=database`. A cluster's members are separated by commas:
    /// `scheme://host:port,host:port` or `scheme+unix:///path,/path`. `default` is the default user. Errors do not repeat the
    /// URL, which may hold a password, though it must not.
    pub fn read(url: &str, schemes: &[&str], default: Option<&str>) -> Result<Address, String> {
        let user = if default.is_none() { "user@" } else { "" };
        let form = format!("write it like {}://{user}host:port/database", schemes.first().unwrap_or(&""));
        let is_bad = |letter: char| letter.is_whitespace() || letter.is_control() || "#\\".contains(letter);
        if url.contains(is_bad) {
            return Err(format!("a URL has no blanks, # or \\: {form}"));
        }
        let rest = url.split_once("://").filter(|(scheme, _)| schemes.contains(scheme));
        let (scheme, rest) = rest.ok_or_else(|| format!("it is no such URL: {form}"))?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        // Behind the host there is no user.
        let has_single_at_sign = !database.contains('@') && !query.contains('@');
        let user_and_host =
            authority.rsplit_once('@').or_else(|| Some((default.filter(|_| has_single_at_sign)?, authority)));
        let (user, host) = user_and_host.ok_or_else(|| format!("the URL names no user: {form}"))?;
        if percent_decode_fully(user).contains([':', '\u{fe55}', '\u{ff1a}', ';', '/', '?']) {
            return Err(PASSWORD.into());
        }
        let mut members = Vec::new();
        for host in host.split(',') {
            let (host, port) = host_and_port(host).ok_or_else(|| format!("its port is no number: {form}"))?;
            members.push((parse_endpoint(&percent_decode(host)), port));
        }
        let (first_endpoint, port) = members.remove(0);
        let mut address = Address {
            user: percent_decode(user),
            at: first_endpoint,
            port,
            others: members,
            database: Some(percent_decode(database)).filter(|name| !name.is_empty()),
        };
        if scheme.ends_with("+unix") {
            if !host.is_empty() || database.is_empty() {
                let form = format!("write it like {scheme}:///path");
                return Err(format!("of a socket, the URL names the path alone: {form}"));
            }
            let mut paths =
                database.split(',').map(|path| format!("/{}", percent_decode(path.trim_start_matches('/'))));
            address.at = parse_endpoint(&paths.next().unwrap_or_default());
            address.others = paths.map(|path| (parse_endpoint(&path), None)).collect();
            address.database = None;
            if address.members().any(|member| member.at == Endpoint::Socket("/".into())) {
                return Err(format!("a socket's path is missing: write it like {scheme}:///path,/path"));
            }
        }
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match percent_decode_fully(name).to_lowercase().as_str() {
                "host" | "socket" if !address.others.is_empty() => {
                    let form = "name their sockets as scheme+unix:///path,/path";
                    return Err(format!("several servers are named, and the place of one: {form}"));
                }
                "host" | "socket" => address.at = parse_endpoint(&percent_decode(value)),
                "db" => address.database = Some(percent_decode(value)).filter(|name| !name.is_empty()),
                name if name.contains("pass") || name.contains("pwd") => return Err(PASSWORD.into()),
                _ => return Err("of what can follow ? in a URL, only socket, host and db are known".into()),
            }
        }
        let has_no_host =
            address.members().any(|member| matches!(&member.at, Endpoint::Host(name) if name.is_empty()));
        if has_no_host || address.user.is_empty() {
            return Err(format!("the URL names no {}: {form}", if has_no_host { "host" } else { "user" }));
        }
        Ok(address)
    }

    /// Each server that the URL names, by itself.
    pub fn members(&self) -> impl Iterator<Item = Address> {
        let first = [(self.at.clone(), self.port)];
        let members = first.into_iter().chain(self.others.iter().cloned());
        members.map(|(endpoint, port)| Address { at: endpoint, port, others: Vec::new(), ..self.clone() })
    }

    /// Where they are, in words, with the ports that the URL names.
    pub fn name(&self) -> String {
        let format_member = |member: Address| match member.port {
            Some(port) => format!("{}:{port}", member.at.name()),
            None => member.at.name(),
        };
        self.members().map(format_member).collect::<Vec<_>>().join(", ")
    }
}

const PASSWORD: &str = "a URL with a password would stand in results and in the list of processes: leave the password out of it, and \
     give it by the environment or a file (docs/servers.md)";

fn parse_endpoint(host: &str) -> Endpoint {
    if host.starts_with('/') { Endpoint::Socket(host.into()) } else { Endpoint::Host(host.to_owned()) }
}

/// `host`, `host:port` or `[address]:port`.
fn host_and_port(text: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, rest) = rest.split_once(']')?;
            (address, rest.strip_prefix(':'))
        }
        None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    Some((host, port.map(str::parse).transpose().ok()?))
}

/// Decodes `%2F` and the like.
fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|two| std::str::from_utf8(two).ok());
        match digits.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Decodes until nothing is left to decode.
fn percent_decode_fully(text: &str) -> String {
    let mut text = text.to_owned();
    loop {
        let next = percent_decode(&text);
        // Each decoding makes it shorter.
        if next.len() >= text.len() {
            return next;
        }
        text = next;
    }
}

/// What is made on a server for a trial: a schema, a database, or keys with a prefix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerNamespace {
    /// The store's name.
    pub store: String,
    /// Where the server is.
    pub url: String,
    /// The name of what was made.
    pub name: String,
}

impl ServerNamespace {
    /// What the store of this folder has made on its server, if anything. Fails when its note can't be read, or names anything else.
    pub fn read_note(folder: &Path) -> io::Result<Option<ServerNamespace>> {
        let text = match fs::read(folder.join(NOTE)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        let namespace: ServerNamespace = serde_json::from_slice(&text)?;
        let rest = namespace.name.strip_prefix(PREFIX).unwrap_or_default();
        if rest.len() != 16 || !rest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(io::Error::new(ErrorKind::InvalidData, "it names what storebench does not make"));
        }
        Ok(Some(namespace))
    }

    /// Notes in a store's folder what is about to be made for it, under a new name. It is synced when this returns.
    pub fn note(folder: &Path, store: &str, url: &str) -> io::Result<ServerNamespace> {
        let mut random = [0; 8];
        File::open("/dev/urandom")?.read_exact(&mut random)?;
        let name = format!("{PREFIX}{:016x}", u64::from_ne_bytes(random));
        let namespace = ServerNamespace { store: store.into(), url: url.into(), name };
        namespace.keep(folder)?;
        Ok(namespace)
    }

    /// Notes it in a store's folder: a store opened there uses what was made, and makes nothing. It is synced when this returns.
    pub fn keep(&self, folder: &Path) -> io::Result<()> {
        let mut file = File::create(folder.join(NOTE))?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.sync_all()?;
        // Not every file system syncs folders.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    }

    /// Strikes out the note of a folder: what it named has been dropped.
    pub fn strike_note(folder: &Path) -> io::Result<()> {
        fs::remove_file(folder.join(NOTE))
    }
}

/// The error that something on a server could not be dropped: what is left there, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UndroppedNamespace(String);

/// Whether it is a server that keeps what was made there, as it can't be reached or does not drop it.
pub fn is_undropped(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<UndroppedNamespace>())
}

/// Drops what the store of this folder has made on its server, if anything, through another process of this program, as the
/// store's code talks to its server. Fails when it can't be dropped ([`is_undropped`]).
pub fn drop_namespace(folder: &Path) -> io::Result<()> {
    if fs::symlink_metadata(folder.join(NOTE)).is_err() {
        return Ok(());
    }
    let namespace = ServerNamespace::read_note(folder).ok().flatten();
    let mut unresponsive = UNRESPONSIVE.lock().unwrap_or_else(PoisonError::into_inner);
    if let (Some(namespace), Some(unresponsive)) = (&namespace, &*unresponsive)
        && unresponsive.namespace.url == namespace.url
        && unresponsive.since.elapsed() < SILENCE
    {
        let message = unresponsive.message.replace(&unresponsive.namespace.name, &namespace.name);
        return Err(io::Error::other(UndroppedNamespace(message)));
    }
    let start = Instant::now();
    let message = run_to_drop(folder).unwrap_or_else(|error| error.to_string());
    if message.is_empty() {
        return Ok(());
    }
    if let Some(namespace) = namespace.filter(|_| start.elapsed() > SLOW) {
        *unresponsive =
            Some(UnresponsiveServer { namespace, since: Instant::now(), message: message.clone() });
    }
    Err(io::Error::other(UndroppedNamespace(message)))
}

/// A server that did not drop in time what was made on it.
struct UnresponsiveServer {
    namespace: ServerNamespace,
    since: Instant,
    message: String,
}

static UNRESPONSIVE: Mutex<Option<UnresponsiveServer>> = Mutex::new(None);

/// The message of the command that drops it; empty on success.
fn run_to_drop(folder: &Path) -> io::Result<String> {
    let mut command = Command::new(lifeline::this_program()?);
    command.arg(DROP_COMMAND).arg(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    // Ctrl-C ends a run; what it made is dropped all the same.
    let mut child = lifeline::ignore_interrupts(&mut command).spawn()?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > LONGEST_DROP {
            child.kill()?;
            child.wait()?;
            let name =
                ServerNamespace::read_note(folder)?.map_or_else(String::new, |namespace| namespace.name);
            return Ok(format!("{name} could not be dropped within {} s", LONGEST_DROP.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let mut message = String::new();
    if let Some(mut error) = child.stderr.take() {
        error.read_to_string(&mut message)?;
    }
    let message = message.trim().trim_start_matches(&format!("{}: ", lifeline::NAME));
    Ok(if status.success() { String::new() } else { message.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Result<Address, String> {
        Address::read(url, &["example", "ex"], None)
    }

    #[test]
    fn a_url_may_name_no_user_where_there_is_one_for_all_and_a_socket_alone() {
        let read = |url: &str| Address::read(url, &["example", "example+unix"], Some("everybody"));
        let tcp = read("example://box:7/3").unwrap();
        assert_eq!((tcp.user.as_str(), tcp.port), ("everybody", Some(7)));
        assert_eq!(tcp.at, Endpoint::Host("box".into()));
        let socket = read("example+unix:///run/a%20b?db=3").unwrap();
        assert_eq!((socket.user.as_str(), socket.at), ("everybody", Endpoint::Socket("/run/a b".into())));
        assert_eq!((tcp.database, socket.database), (Some("3".into()), Some("3".into())));
        assert_eq!(read("example+unix://me@/run/socket").unwrap().user, "me");
        assert_eq!(read("example+unix:///run/a,/run/b").unwrap().name(), "/run/a, /run/b");
        let members = read("example://one:1,[::1]:2,three").unwrap();
        assert_eq!((members.name(), members.others[1].1), ("one:1, ::1:2, three".into(), None));
        assert_eq!(members.members().map(|member| member.port).collect::<Vec<_>>(), [Some(1), Some(2), None]);
        for (url, why) in [
            ("example://one:1,", "names no host"),
            ("example+unix:///run/a,", "path is missing"),
            ("example://a,b/?socket=/run/c", "several servers are named"),
            ("example+unix://box/secret", "the path alone"),
            ("example+unix://", "the path alone"),
            ("example://:secret@box", "leave the password out"),
            ("example+unix://:secret@/run/socket", "leave the password out"),
            ("example+unix:///run/socket?password=secret", "leave the password out"),
            ("example:///secret", "no host"),
            ("example://@box/secret", "no user"),
            ("example://me:7/secret@box", "no user"),
        ] {
            let error = read(url).unwrap_err();
            assert!(error.contains(why) && !error.contains("secret"), "{url}: {error}");
        }
    }

    #[test]
    fn a_url_says_where_and_as_whom() {
        let tcp = read("ex://me@box:5433/shop").unwrap();
        assert_eq!((tcp.user.as_str(), tcp.port, tcp.database.as_deref()), ("me", Some(5433), Some("shop")));
        assert_eq!(tcp.at, Endpoint::Host("box".into()));
        let short = read("example://me@[::1]").unwrap();
        assert_eq!((short.at, short.port, short.database), (Endpoint::Host("::1".into()), None, None));
        let socket = Endpoint::Socket("/run/a b".into());
        assert_eq!(read("example://me@%2Frun%2Fa%20b/x").unwrap().at, socket);
        let by_name = read("example://a%40b@/x?host=/run/a%20b").unwrap();
        assert_eq!((by_name.at, by_name.user.as_str()), (socket, "a@b"));
    }

    #[test]
    fn what_is_wrong_is_told_and_nothing_of_it_repeated() {
        for (url, why) in [
            ("nonsense", "no such URL"),
            ("other://me@box/secret", "no such URL"),
            ("example://box/secret", "no user"),
            ("example://me@/secret", "no host"),
            ("example://@box/secret", "no user"),
            ("example://me@box:secret/x", "no number"),
            ("example://me:secret@box/x", "leave the password out"),
            ("example://me:sec@ret@box/x", "leave the password out"),
            ("example://me@box/x?password=secret", "leave the password out"),
            ("example://me@box/x?sslmode=secret", "only socket, host and db"),
        ] {
            let error = read(url).unwrap_err();
            assert!(error.contains(why) && !error.contains("secret"), "{url}: {error}");
        }
    }

    #[test]
    fn a_note_is_read_as_it_was_written_and_others_are_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(ServerNamespace::read_note(folder.path()).unwrap(), None);
        drop_namespace(folder.path()).unwrap();
        let first = ServerNamespace::note(folder.path(), "shop", "example://me@box").unwrap();
        assert_eq!(ServerNamespace::read_note(folder.path()).unwrap(), Some(first.clone()));
        let second = ServerNamespace::note(folder.path(), "shop", "example://me@box").unwrap();
        assert_ne!(first.name, second.name);
        for name in ["public", "storebench_", "storebench_x; DROP SCHEMA a", "storebench_0123456789abcdeg"] {
            let bad = ServerNamespace { name: name.into(), ..first.clone() };
            fs::write(folder.path().join(NOTE), serde_json::to_vec(&bad).unwrap()).unwrap();
            assert!(ServerNamespace::read_note(folder.path()).is_err(), "{name}");
        }
        ServerNamespace::strike_note(folder.path()).unwrap();
        assert_eq!(ServerNamespace::read_note(folder.path()).unwrap(), None);
    }
}
