//! Where a server is installed.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use rustix::process::Signal;
use storebench_model::sanitize::quoted;
use storebench_model::server::running::URL;
use storebench_model::server::{PROGRAMS, users};
use storebench_model::store::{OpenOptions, Result, SettingDef, StoreError};

pub struct Programs {
    pub product: &'static str,
    pub server: &'static str,
    /// The program that makes the files of a new server, if the server does not.
    pub maker: Option<&'static str>,
    /// Folders to search after PATH.
    pub folders: &'static [&'static str],
    /// Folders with a folder per version, and the prefix of their names.
    pub by_version: &'static [(&'static str, &'static str)],
    /// The arguments that make the server print its version.
    pub version: &'static [&'static str],
    /// What comes before the version in that.
    pub version_after: &'static str,
    pub oldest: &'static str,
    pub get: &'static str,
    /// The user that its packages create.
    pub user: &'static str,
    /// The signal for an orderly end.
    pub stop: Signal,
    /// Whether that signal is its exit status after an orderly end.
    pub ends_by_signal: bool,
    /// Why it ended, from its log.
    pub last_words: fn(&str) -> Option<String>,
    /// Filled by the first search.
    pub found: OnceLock<Option<InstalledServer>>,
}

/// The setting [`URL`], which every server has.
pub const fn url_setting(values: &'static str, help: &'static str) -> SettingDef {
    let setting = SettingDef::new(URL, values, "a private server", help);
    setting.varying().guarantee("what that server is set up for")
}

/// The setting [`PROGRAMS`], which every server has.
pub const PROGRAMS_SETTING: SettingDef = SettingDef::new(
    PROGRAMS,
    "a folder, by its whole path",
    "the first that are found",
    "the folder of the server's programs, to measure another version than the installed one (docs/servers.md)",
).varying();

#[derive(Debug, Clone)]
pub struct InstalledServer {
    pub server: PathBuf,
    pub maker: Option<PathBuf>,
    pub version: String,
}

impl Programs {
    /// The programs in PATH, else where systems put them, the newest first; kept, unless the server was killed as it was asked.
    pub fn installed(&self) -> Result<Option<&InstalledServer>> {
        if let Some(found) = self.found.get() {
            return Ok(found.as_ref());
        }
        let found = self.first_working(&self.folders())?;
        Ok(self.found.get_or_init(|| found).as_ref())
    }

    /// The programs in the folder that the settings name, else [`Programs::installed`]. The error says how to get what is missing.
    pub fn find_chosen(&self, options: &OpenOptions<'_>) -> Result<InstalledServer> {
        let folder = options.settings.get(PROGRAMS);
        let found = match folder {
            None => self.installed()?.cloned(),
            Some(folder) if Path::new(folder).is_absolute() => {
                self.first_working(&[PathBuf::from(folder)])?
            }
            Some(_) => None,
        };
        match (self.missing_reason(found.as_ref()), found, folder) {
            (None, Some(found), _) => Ok(found),
            (_, None, Some(folder)) => {
                let needed: Vec<&str> = [self.server].into_iter().chain(self.maker).collect();
                Err(StoreError::BadSetting(format!(
                    "{PROGRAMS} is {}: it must be the whole path of a folder with {} that runs here",
                    quoted(folder),
                    needed.join(" and ")
                )))
            }
            (why, ..) => Err(StoreError::Unsupported(why.unwrap_or_default())),
        }
    }

    /// What is missing, and how to get it. A server that was killed is not missing.
    pub fn missing_programs(&self) -> Option<String> {
        self.installed().map_or(None, |found| self.missing_reason(found))
    }

    pub fn version(&self) -> String {
        let found = self.installed().ok().flatten();
        found.map_or_else(|| "-".into(), |found| found.version.clone())
    }

    fn missing_reason(&self, found: Option<&InstalledServer>) -> Option<String> {
        let Programs { product, oldest, get, user, .. } = self;
        let Some(InstalledServer { version, .. }) = found else {
            return Some(format!("no {product} server is installed: {get}"));
        };
        if version_numbers(version) < version_numbers(oldest) {
            return Some(format!("{product} {version} is too old: version {oldest} or newer is needed"));
        }
        let no_user = rustix::process::geteuid().is_root() && users().is_empty();
        no_user.then(|| {
            format!("{product} should not run as root, and there is no user {user} or nobody: useradd {user}")
        })
    }

    fn folders(&self) -> Vec<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders: Vec<PathBuf> =
            std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
        folders.extend(self.folders.iter().map(PathBuf::from));
        let by_version = self.by_version.iter();
        folders.extend(by_version.flat_map(|(parent, prefix)| newest_first(Path::new(parent), prefix)));
        folders
    }

    /// The first server in these folders that prints its version; first one next to the maker of its files: they are of one version.
    fn first_working(&self, folders: &[PathBuf]) -> Result<Option<InstalledServer>> {
        let file_in = |folder: &PathBuf, name| Some(folder.join(name)).filter(|path| path.is_file());
        // In archives it is among scripts, next to the server's folder.
        let scripts_folder = |folder: &PathBuf| folder.parent().map(|parent| parent.join("scripts"));
        let find_maker = |folder| {
            let name = self.maker?;
            file_in(folder, name).or_else(|| file_in(&scripts_folder(folder)?, name))
        };
        let any_maker = folders.iter().find_map(find_maker);
        let mut candidates: Vec<(bool, PathBuf, Option<PathBuf>)> = Vec::new();
        for folder in folders {
            let own_maker = find_maker(folder);
            let is_apart = own_maker.is_none();
            let maker = own_maker.or_else(|| any_maker.clone());
            let server = file_in(folder, self.server).filter(|_| maker.is_some() == self.maker.is_some());
            candidates.extend(server.map(|server| (is_apart, server, maker)));
        }
        candidates.sort_by_key(|(is_apart, ..)| *is_apart);
        for (_, server, maker) in candidates {
            if let Some(version) = self.read_version(&server)? {
                return Ok(Some(InstalledServer { server, maker, version }));
            }
        }
        Ok(None)
    }

    pub fn version_in(&self, output: &str) -> Option<String> {
        let (_, version) = output.split_once(self.version_after)?;
        let version = version.split_whitespace().next()?;
        Some(version.split_once("-MariaDB").map_or(version, |(number, _)| number).to_owned())
    }

    /// Asks once more if it was killed: a run without a version can't be resumed.
    fn read_version(&self, server: &Path) -> Result<Option<String>> {
        let mut command = Command::new(server);
        command.args(self.version).stdin(Stdio::null());
        let was_killed = |output: &Output| output.status.signal().is_some();
        let output = command
            .output()
            .and_then(|output| if was_killed(&output) { command.output() } else { Ok(output) });
        let Ok(output) = output else { return Ok(None) };
        match was_killed(&output) {
            false => Ok(self.version_in(&String::from_utf8_lossy(&output.stdout))),
            true => Err(StoreError::Engine(format!(
                "{} was ended before it said its version ({})",
                server.display(),
                output.status
            ))),
        }
    }
}

fn version_numbers(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(|component| {
        let end = component.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(component.len());
        component[..end].parse().ok()
    });
    Some((parts.next()??, parts.next().flatten().unwrap_or(0)))
}

/// The program folders of the versions in a folder.
fn newest_first(parent: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let parse_version = |name: &str| name.strip_prefix(prefix)?.parse::<f64>().ok();
    let mut found: Vec<(f64, PathBuf)> = entries
        .filter_map(|entry| Some((parse_version(entry.file_name().to_str()?)?, entry.path().join("bin"))))
        .collect();
    found.sort_by(|(first, _), (second, _)| second.total_cmp(first));
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs() -> Programs {
        Programs {
            product: "Example",
            server: "exampled",
            maker: Some("example-init"),
            folders: &[],
            by_version: &[],
            version: &["--version"],
            version_after: "Example ",
            oldest: "10.5",
            get: "apt-get install example",
            user: "example",
            stop: Signal::TERM,
            ends_by_signal: false,
            last_words: |_| None,
            found: OnceLock::new(),
        }
    }

    /// Another process writes it: a program that this one, or a child that it just starts, has open for writing can't run.
    fn script(path: &Path, line: &str) {
        let text = format!("printf '#!/bin/sh\\n%s\\n' '{line}' > \"$1\" && chmod 755 \"$1\"");
        assert!(Command::new("sh").args(["-c", &text, "sh"]).arg(path).status().unwrap().success());
    }

    #[test]
    fn the_newest_comes_first_and_other_names_do_not_count() {
        let parent = tempfile::tempdir().unwrap();
        for name in ["pgsql-9.6", "pgsql-17", "pgsql-9", "pgsql-docs", "13"] {
            fs::create_dir(parent.path().join(name)).unwrap();
        }
        let found = newest_first(parent.path(), "pgsql-");
        let names: Vec<_> = found
            .iter()
            .map(|path| path.strip_prefix(parent.path()).unwrap().display().to_string())
            .collect();
        assert_eq!(names, ["pgsql-17/bin", "pgsql-9.6/bin", "pgsql-9/bin"]);
        assert!(newest_first(Path::new("/nowhere"), "").is_empty());
    }

    #[test]
    fn a_server_beside_its_maker_comes_first_and_one_that_does_not_run_is_none() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folders = [first.path().to_path_buf(), second.path().to_path_buf()];
        let programs = programs();
        let found = || programs.first_working(&folders).unwrap();
        script(&first.path().join("exampled"), "echo Example 10.6");
        assert!(found().is_none(), "nothing makes its files");
        script(&second.path().join("example-init"), "true");
        assert_eq!(found().unwrap().server, first.path().join("exampled"));
        fs::write(second.path().join("exampled"), "").unwrap();
        assert_eq!(found().unwrap().version, "10.6", "the other does not run");
        script(&second.path().join("exampled"), "echo Example 11");
        assert_eq!(found().unwrap().version, "11");
    }

    #[test]
    fn what_makes_the_files_may_be_among_scripts() {
        let folder = tempfile::tempdir().unwrap();
        let (bin, scripts) = (folder.path().join("bin"), folder.path().join("scripts"));
        fs::create_dir(&bin).unwrap();
        fs::create_dir(&scripts).unwrap();
        script(&bin.join("exampled"), "echo Example 11");
        script(&scripts.join("example-init"), "true");
        let found = programs().first_working(&[bin]).unwrap().unwrap();
        assert_eq!(found.maker, Some(scripts.join("example-init")));
    }

    #[test]
    fn a_server_that_was_killed_is_not_one_that_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let programs = programs();
        script(&folder.path().join("example-init"), "true");
        script(&folder.path().join("exampled"), "kill -9 $$");
        let why = programs.first_working(&[folder.path().to_path_buf()]).unwrap_err();
        assert!(matches!(&why, StoreError::Engine(why) if why.contains("signal: 9")), "{why}");
        let once = "[ -e \"$0.killed\" ] && echo Example 10.6 && exit; touch \"$0.killed\"; kill -9 $$";
        script(&folder.path().join("exampled"), once);
        let found = programs.first_working(&[folder.path().to_path_buf()]).unwrap();
        assert_eq!(found.unwrap().version, "10.6");
    }

    #[test]
    fn what_is_missing_is_told() {
        let programs = programs();
        let reason = |version: &str| {
            let (server, maker) = (PathBuf::new(), None);
            programs.missing_reason(Some(&InstalledServer { server, maker, version: version.into() }))
        };
        assert!(programs.missing_reason(None).unwrap().ends_with("apt-get install example"));
        assert!(reason("10.4.2").unwrap().contains("version 10.5 or newer"));
        assert!(reason("odd").is_some());
        assert_eq!((reason("10.5"), reason("18beta1"), reason("11.0.1")), (None, None, None));
        assert_eq!(version_numbers("15.18"), Some((15, 18)));
    }
}
