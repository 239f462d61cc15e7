//! The folder of a site: which files in it are storebench's, so that a later site replaces them and touches nothing else.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use storebench_core::guard::Folder;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::read_limited;
use storebench_report::site::{FOLDERS, Page};

use crate::cli::runs;

const MARKER: &str = ".storebench-site";
/// More bytes than it has, whatever the number of pages.
const MOST_MARKER: u64 = 64 << 20;
const MARKER_HEAD: &str = "storebench site: the files below were made by it, and the next one deletes them";

/// A folder that is free for a site, or has one.
pub struct SiteFolder {
    path: PathBuf,
    /// The files of the existing site.
    old_files: BTreeSet<String>,
}

pub fn is_site(folder: &Path) -> bool {
    folder.join(MARKER).is_file()
}

impl SiteFolder {
    /// Examines a folder that a user named, and makes it if missing; [`Exit::NotStorebench`] if it holds something other than a site.
    pub fn open(path: &Path) -> Result<SiteFolder> {
        let mut entries = fs::read_dir(path).ok();
        let is_free = entries.as_mut().is_none_or(|entries| entries.next().is_none());
        let old_files = match read_limited::bytes(&path.join(MARKER), MOST_MARKER) {
            Ok(text) => {
                parse_marker(&String::from_utf8_lossy(&text)).ok_or_else(|| foreign_file(path, MARKER))?
            }
            Err(_) if is_free => BTreeSet::new(),
            Err(_) => {
                let message = format!(
                    "{} already exists and no site is in it: --out takes a new directory, or one that site has made",
                    path.display()
                );
                return Err(Error::new(Exit::NotStorebench, message));
            }
        };
        runs::make_directory("making the site's folder", path)?;
        let path = runs::directory("--out", path)?;
        Ok(SiteFolder { path, old_files })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a site over the existing one. If a file of this name is not the site's, nothing has been deleted.
    pub fn write(&self, pages: &[Page]) -> Result<()> {
        let names: BTreeSet<String> = pages.iter().map(|page| page.name.clone()).collect();
        let foreign =
            names.difference(&self.old_files).find(|name| fs::symlink_metadata(self.path.join(name)).is_ok());
        if let Some(name) = foreign {
            return Err(foreign_file(&self.path, name));
        }
        let folder = Folder::open(&self.path).map_err(Error::io("writing into", &self.path))?;
        for name in FOLDERS {
            match folder.make(OsStr::new(name), 0o777) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    folder.open_subfolder(OsStr::new(name)).map_err(|_| foreign_file(&self.path, name))?;
                }
                result => drop(result.map_err(Error::io("making", &self.path.join(name)))?),
            }
        }
        // Whatever ends this early, the next site knows which files are storebench's.
        self.write_marker(&folder, &names.union(&self.old_files).cloned().collect())?;
        for name in &self.old_files {
            self.delete(&folder, name)?;
        }
        for page in pages {
            let path = self.path.join(&page.name);
            let write = |mut file: File| file.write_all(page.text.as_bytes());
            File::create_new(&path).and_then(write).map_err(Error::io("writing", &path))?;
        }
        self.write_marker(&folder, &names)
    }

    fn write_marker(&self, folder: &Folder, names: &BTreeSet<String>) -> Result<()> {
        let path = self.path.join(MARKER);
        let part_path = format!("{MARKER}.part");
        let text = std::iter::once(MARKER_HEAD)
            .chain(names.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join("\n");
        let replace = || {
            ignore_missing(folder.remove_file(OsStr::new(&part_path)))?;
            let mut file = File::create_new(self.path.join(&part_path))?;
            file.write_all(format!("{text}\n").as_bytes())?;
            file.sync_all()?;
            fs::rename(self.path.join(&part_path), &path)
        };
        replace().map_err(Error::io("writing", &path))
    }

    /// Deletes a file of the earlier site, if it still exists.
    fn delete(&self, folder: &Folder, name: &str) -> Result<()> {
        let result = match name.split_once('/') {
            Some((folder_name, file)) => folder
                .open_subfolder(OsStr::new(folder_name))
                .and_then(|subfolder| subfolder.remove_file(OsStr::new(file))),
            None => folder.remove_file(OsStr::new(name)),
        };
        ignore_missing(result).map_err(Error::io("deleting", &self.path.join(name)))
    }
}

/// A file that is already gone is no error.
fn ignore_missing(result: std::io::Result<()>) -> std::io::Result<()> {
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn foreign_file(path: &Path, name: &str) -> Error {
    let message = format!(
        "{} was not written by storebench: name another --out, or delete it",
        path.join(name).display()
    );
    Error::new(Exit::NotStorebench, message)
}

/// The names in a marker; `None` if it is not storebench's, or names a file that no site has.
fn parse_marker(text: &str) -> Option<BTreeSet<String>> {
    let is_plain = |name: &str| !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\']);
    let is_page = |name: &str| match name.split_once('/') {
        Some((folder, file)) => FOLDERS.contains(&folder) && is_plain(file) && file.ends_with(".html"),
        None => ["index.html", "runs.html", "style.css"].contains(&name),
    };
    let names = text.strip_prefix(MARKER_HEAD)?.lines().filter(|line| !line.is_empty());
    names.map(|name| is_page(name).then(|| name.to_owned())).collect()
}
