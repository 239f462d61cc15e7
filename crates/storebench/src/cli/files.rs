//! Writes files that the user asked for.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use storebench_core::guard::Folder;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::read_limited;

use super::output::{print_export, print_note, take_standard_output};
use super::runs;

const STANDARD_OUTPUT: &str = "-";

/// What each document begins with, before the name of its command.
pub const DOCUMENT_MARK: &str = "<!-- Written by `storebench ";
/// The mark in the head of every storebench page.
const PAGE_MARK: &[u8] = b"<meta name=\"generator\" content=\"storebench ";
/// The part of a page that must contain the mark, in bytes.
const HEAD: usize = 1024;

/// Refuses to overwrite a file that storebench did not make, by `is_ours`: a slip on the command line must not cost anybody's data.
pub fn refuse_theirs(path: &Path, is_ours: impl FnOnce(&Path) -> bool) -> Result<()> {
    if fs::symlink_metadata(path).is_err() || is_ours(path) {
        return Ok(());
    }
    let message = format!(
        "{} already exists and was not written by storebench: name another file, or delete it",
        path.display()
    );
    Err(Error::new(Exit::NotStorebench, message))
}

/// Fails if a page could not be written later: better now than after minutes of measuring.
pub fn check_page_path(path: &Path) -> Result<()> {
    if takes_standard_output(path) {
        return Ok(());
    }
    refuse_theirs(path, is_page)?;
    can_write_into_parent(path)
}

/// The same for a new file.
pub fn check_new_path(path: &Path) -> Result<()> {
    if takes_standard_output(path) {
        return Ok(());
    }
    refuse_existing(path)?;
    can_write_into_parent(path)
}

/// Whether a name means standard output, which is then reserved.
fn takes_standard_output(path: &Path) -> bool {
    let is_output = is_standard_output(path);
    if is_output {
        take_standard_output();
    }
    is_output
}

pub fn is_standard_output(path: &Path) -> bool {
    path == Path::new(STANDARD_OUTPUT)
}

/// Refuses standard output for what can't go there.
pub fn refuse_standard_output(option: &str, path: &Path, why: &str) -> Result<()> {
    if !is_standard_output(path) {
        return Ok(());
    }
    Err(Error::bad_value(format!("{option} - can't go to standard output: {why}")))
}

/// Reports that a file was written, unless it was standard output.
pub fn print_written(path: &Path) {
    if !is_standard_output(path) {
        print_note(&format!("written: {}", path.display()));
    }
}

fn can_write_into_parent(path: &Path) -> Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match parent {
        Some(parent) => fs::read_dir(parent).map(drop).map_err(Error::io("writing into", parent)),
        None => Ok(()),
    }
}

/// Writes a page. An existing storebench page is replaced in one step, so that it is never incomplete; any other file stays.
pub fn page(path: &Path, text: &[u8]) -> Result<()> {
    if takes_standard_output(path) {
        return print_export(text);
    }
    refuse_theirs(path, is_page)?;
    write(path, text)
}

/// The page in a folder of runs. If others have put something else under its name, it is neither followed nor waited for.
pub fn page_in(folder: &Path) -> Result<PathBuf> {
    let path = folder.join("report.html");
    refuse_theirs(&path, |path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file()))?;
    Ok(path)
}

/// Writes a new file. One that exists stays unchanged, with an error.
pub fn new(path: &Path, text: &[u8]) -> Result<()> {
    if takes_standard_output(path) {
        return print_export(text);
    }
    refuse_existing(path)?;
    write(path, text)
}

/// Refuses to overwrite anything except an empty file, a pipe or a terminal.
fn refuse_existing(path: &Path) -> Result<()> {
    let is_free = |metadata: fs::Metadata| !metadata.is_dir() && metadata.len() == 0;
    if fs::symlink_metadata(path).is_err() || fs::metadata(path).is_ok_and(is_free) {
        return Ok(());
    }
    let message = format!("{} already exists: name another file, or delete it", path.display());
    Err(Error::new(Exit::NotStorebench, message))
}

fn write(path: &Path, text: &[u8]) -> Result<()> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        // A pipe or a terminal, which can't be replaced.
        return fs::write(path, text).map_err(Error::io("writing", path));
    }
    replace_by(path, |part_path| {
        let mut file = File::create_new(part_path).map_err(Error::io("writing", path))?;
        file.write_all(text).map_err(Error::io("writing", path))
    })
}

/// Whether a file is a storebench page, or empty, or not a regular file but writable.
fn is_page(path: &Path) -> bool {
    let Ok(metadata) = fs::metadata(path) else { return false };
    if !metadata.is_file() {
        return !metadata.is_dir();
    }
    let is_ours = |head: Vec<u8>| {
        let is_document = head.is_empty() || head.starts_with(DOCUMENT_MARK.as_bytes());
        is_document || head.windows(PAGE_MARK.len()).any(|bytes| bytes == PAGE_MARK)
    };
    read_limited::start(path, HEAD).is_ok_and(is_ours)
}

/// Has `write` create a file next to the wanted one, and renames it when it is complete. After an error no partial file remains.
pub fn replace_by(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let part_path = unused_part_path(path);
    let rename = || fs::rename(&part_path, path).map_err(Error::io("writing", path));
    let result = write(&part_path).and_then(|()| rename());
    if result.is_err() {
        // The first error counts; whether there was a partial file does not matter.
        let _ = fs::remove_file(&part_path);
    }
    result
}

/// Fills a directory that the user named with files, all or none: it is made if missing, and must be empty.
pub fn fill(doing: &str, path: &Path, write: impl FnOnce() -> Result<()>) -> Result<()> {
    let is_new = !path.exists();
    runs::make_directory(doing, path)?;
    if fs::read_dir(path).map_err(Error::io("looking into", path))?.next().is_some() {
        return Err(Error::bad_value(format!("{} is not empty: name a new directory", path.display())));
    }
    write().inspect_err(|_| {
        // The first error is the one for the user.
        let _ = Folder::open(path).and_then(|folder| folder.empty(None));
        if is_new {
            let _ = fs::remove_dir(path);
        }
    })
}

fn unused_part_path(path: &Path) -> PathBuf {
    let name = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}-{number}.part", std::process::id()));
        PathBuf::from(name)
    };
    (0..).map(name).find(|name| fs::symlink_metadata(name).is_err()).unwrap_or_else(|| name(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_filled_or_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let half = || {
            fs::write(path.join("half"), "").map_err(Error::io("", &path)).and(Err(Error::bad_value("full")))
        };
        assert!(fill("making", &path, half).is_err() && !path.exists());
        fs::create_dir(&path).unwrap();
        assert!(fill("making", &path, half).is_err() && fs::read_dir(&path).unwrap().count() == 0);
        fs::write(path.join("mine"), "").unwrap();
        assert!(fill("making", &path, half).is_err() && fs::read_dir(&path).unwrap().count() == 1);
    }
}
