//! Where PostgreSQL is installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use storebench_core::store::{Result, StoreError};

use crate::stores::support::server::{in_path, newest_first, user};

/// The oldest version that is known to take what it is given here.
const OLDEST: u32 = 12;

/// Folders in which versions have a folder each, and how their names begin; Debian's, Red Hat's, Homebrew's.
const BY_VERSION: [(&str, &str); 5] = [
    ("/usr/lib/postgresql", ""),
    ("/usr", "pgsql-"),
    ("/opt/homebrew/opt", "postgresql@"),
    ("/usr/local/opt", "postgresql@"),
    ("/home/linuxbrew/.linuxbrew/opt", "postgresql@"),
];

/// PostgreSQL's programs.
#[derive(Debug)]
pub struct Installed {
    folder: PathBuf,
    /// The whole version, such as `15.18`.
    pub version: String,
    /// Its first part.
    pub major: u32,
}

impl Installed {
    /// A program of it.
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// The first that is found: in PATH, else the newest where systems put it.
pub fn installed() -> Option<&'static Installed> {
    static FOUND: OnceLock<Option<Installed>> = OnceLock::new();
    FOUND.get_or_init(|| folders().into_iter().find_map(looked_at)).as_ref()
}

/// The same, for what can't do without.
///
/// # Errors
/// What is missing, and how to get it.
pub fn needed() -> Result<&'static Installed> {
    match (lacks(), installed()) {
        (None, Some(found)) => Ok(found),
        (why, _) => Err(StoreError::Unsupported(why.unwrap_or_default())),
    }
}

/// What is missing here, and how to get it.
pub fn lacks() -> Option<String> {
    let Some(found) = installed() else {
        return Some(
            "no PostgreSQL server is installed: apt-get install postgresql, or brew install postgresql"
                .into(),
        );
    };
    if found.major < OLDEST {
        return Some(format!("PostgreSQL {} is too old: version {OLDEST} or newer is needed", found.version));
    }
    let no_user = rustix::process::geteuid().is_root() && user().is_none();
    no_user.then(|| {
        "PostgreSQL refuses to run as root, and there is no user postgres or nobody: useradd postgres".into()
    })
}

fn folders() -> Vec<PathBuf> {
    let mut folders = in_path();
    folders.extend(BY_VERSION.iter().flat_map(|(parent, prefix)| newest_first(Path::new(parent), prefix)));
    folders
}

fn looked_at(folder: PathBuf) -> Option<Installed> {
    if !["initdb", "postgres"].iter().all(|name| folder.join(name).is_file()) {
        return None;
    }
    let said = Command::new(folder.join("postgres")).arg("--version").stdin(Stdio::null()).output().ok()?;
    let version = version_in(&String::from_utf8_lossy(&said.stdout))?;
    let major = version.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()?;
    Some(Installed { folder, version, major })
}

/// Of `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)`.
fn version_in(said: &str) -> Option<String> {
    let (_, version) = said.split_once("(PostgreSQL) ")?;
    version.split_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_version_is_read() {
        let said = "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n";
        assert_eq!(version_in(said).as_deref(), Some("15.18"));
        assert_eq!(version_in("postgres (PostgreSQL) 18beta1\n").as_deref(), Some("18beta1"));
        assert_eq!(version_in("postgres, of another kind"), None);
    }

    #[test]
    fn a_folder_without_the_programs_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert!(looked_at(folder.path().into()).is_none());
        for name in ["initdb", "postgres"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        assert!(looked_at(folder.path().into()).is_none(), "they don't run");
    }
}
