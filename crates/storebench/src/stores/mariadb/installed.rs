//! Where MariaDB is installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use storebench_core::store::{Result, StoreError};

use crate::stores::support::server::{in_path, newest_first, user};

/// Folders where systems put servers that are not in everybody's PATH.
const FOLDERS: [&str; 4] = ["/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin", "/usr/libexec"];
/// Folders in which Homebrew's versions have a folder each, and how their names begin.
const BY_VERSION: [(&str, &str); 3] = [
    ("/opt/homebrew/opt", "mariadb@"),
    ("/usr/local/opt", "mariadb@"),
    ("/home/linuxbrew/.linuxbrew/opt", "mariadb@"),
];

/// The oldest version that is known to take what it is given here.
const OLDEST: (u32, u32) = (10, 5);

/// MariaDB's programs.
#[derive(Debug)]
pub struct Installed {
    pub server: PathBuf,
    /// What makes the files of a new server.
    pub maker: PathBuf,
    /// The version, such as `10.11.19-MariaDB`.
    pub version: String,
}

/// The first that is found: in PATH, else where systems put it.
pub fn installed() -> Option<&'static Installed> {
    static FOUND: OnceLock<Option<Installed>> = OnceLock::new();
    FOUND.get_or_init(find).as_ref()
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
            "no MariaDB server is installed: apt-get install mariadb-server, or brew install mariadb".into(),
        );
    };
    if numbers(&found.version).is_none_or(|version| version < OLDEST) {
        let (major, minor) = OLDEST;
        return Some(format!(
            "MariaDB {} is too old: version {major}.{minor} or newer is needed",
            found.version
        ));
    }
    let no_user = rustix::process::geteuid().is_root() && user().is_none();
    no_user
        .then(|| "MariaDB should not run as root, and there is no user mysql or nobody: useradd mysql".into())
}

fn find() -> Option<Installed> {
    let mut folders = in_path();
    folders.extend(FOLDERS.map(PathBuf::from));
    folders.extend(BY_VERSION.iter().flat_map(|(parent, prefix)| newest_first(Path::new(parent), prefix)));
    let program = |name: &str| folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
    let (server, maker) = (program("mariadbd")?, program("mariadb-install-db")?);
    let said =
        Command::new(&server).args(["--no-defaults", "--version"]).stdin(Stdio::null()).output().ok()?;
    let version = version_in(&String::from_utf8_lossy(&said.stdout))?;
    Some(Installed { server, maker, version })
}

/// Of `mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)`.
fn version_in(said: &str) -> Option<String> {
    let (_, version) = said.split_once("Ver ")?;
    let version = version.split_whitespace().next()?;
    Some(version.split_once("-MariaDB").map_or(version, |(number, _)| number).to_owned())
}

/// Its first two numbers.
fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read() {
        let said = "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)\n";
        assert_eq!(version_in(said).as_deref(), Some("10.11.19"));
        assert_eq!(version_in("of another kind"), None);
        assert_eq!(numbers("10.11.19"), Some((10, 11)));
        assert!(
            numbers("10.4.2") < Some(OLDEST) && numbers("11.0.1") > Some(OLDEST) && numbers("x").is_none()
        );
    }
}
