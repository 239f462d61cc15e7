//! The kinds of servers that stores start, as far as needed to end one that has lost its starter, and to clean up what it leaves.
//! They come with the stores' entries.

use std::path::Path;
use std::sync::OnceLock;

/// A kind of server.
#[derive(Debug)]
pub struct ServerKind {
    /// The file names of its programs. Processes of no other are ended.
    pub programs: &'static [&'static str],
    /// The users that its packages bring, as whom it runs where storebench runs as root.
    pub users: &'static [&'static str],
    /// The System V shared memory of a server for its data's folder, if any, which a kill leaves behind. Called for any possible folder.
    pub shared_memory: fn(data: &Path) -> Option<Segment>,
}

/// A segment of the system's shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Its key.
    pub key: i32,
    /// Its number, which may be another's by now; `None` if it was not noted.
    pub number: Option<i32>,
}

static KNOWN: OnceLock<Vec<&'static ServerKind>> = OnceLock::new();

/// Makes kinds of servers known to the whole process. Only the first call counts.
pub fn add(servers: &[&'static ServerKind]) {
    let _ = KNOWN.set(servers.to_vec());
}

pub fn all() -> &'static [&'static ServerKind] {
    KNOWN.get().map(Vec::as_slice).unwrap_or_default()
}

/// Whether a file name is a server's program.
pub fn is_program(name: &str) -> bool {
    all().iter().any(|known| known.programs.contains(&name))
}

/// A kind for tests. It notes key and number of its segment in a file `segment`.
#[cfg(test)]
pub(crate) static EXAMPLE: ServerKind = ServerKind {
    programs: &["exampled"],
    users: &[],
    shared_memory: |data| {
        let text = std::fs::read_to_string(data.join("segment")).ok()?;
        let (key, number) = text.split_once(' ')?;
        Some(Segment { key: key.parse().ok()?, number: number.parse().ok() })
    },
};
