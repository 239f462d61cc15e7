//! Files that a user asked for.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use storebench_core::bounded;
use storebench_core::error::{Error, Exit, Result};
use storebench_core::guard::Folder;

use super::output::{print_export, take_standard_output, tell};
use super::runs;

/// The name that stands for standard output.
const STANDARD_OUTPUT: &str = "-";

/// The mark in the head of every page of storebench.
const PAGE_MARK: &[u8] = b"<meta name=\"generator\" content=\"storebench ";
/// The part of a page within which it stands, in bytes.
const HEAD: usize = 1024;

/// Refuses to write over a file that storebench did not make: a slip on the command line must not cost anybody's data. `ours`
/// looks at what is there.
///
/// # Errors
/// [`Exit::NotStorebench`].
pub fn refuse_theirs(path: &Path, ours: impl FnOnce(&Path) -> bool) -> Result<()> {
    if fs::symlink_metadata(path).is_err() || ours(path) {
        return Ok(());
    }
    let message = format!(
        "{} already exists and was not written by storebench: name another file, or delete it",
        path.display()
    );
    Err(Error::new(Exit::NotStorebench, message))
}

/// Fails where a page could not be written afterwards: better now than after minutes of measuring.
///
/// # Errors
/// When there is no directory for it, or something is there that is not ours.
pub fn can_write_page(path: &Path) -> Result<()> {
    if takes_standard_output(path) {
        return Ok(());
    }
    refuse_theirs(path, is_page)?;
    can_write_beside(path)
}

/// Fails where a file could not be written afterwards that must be a new one.
///
/// # Errors
/// When there is no directory for it, or something is there already.
pub fn can_write_new(path: &Path) -> Result<()> {
    if takes_standard_output(path) {
        return Ok(());
    }
    refuse_any(path)?;
    can_write_beside(path)
}

/// Whether a name stands for standard output, which is then kept for what is written there.
fn takes_standard_output(path: &Path) -> bool {
    let takes = is_standard_output(path);
    if takes {
        take_standard_output();
    }
    takes
}

/// Whether a name stands for standard output.
pub fn is_standard_output(path: &Path) -> bool {
    path == Path::new(STANDARD_OUTPUT)
}

/// Refuses the name of standard output for what can't go there.
///
/// # Errors
/// [`Exit::BadValue`].
pub fn refuse_standard_output(option: &str, path: &Path, why: &str) -> Result<()> {
    if !is_standard_output(path) {
        return Ok(());
    }
    Err(Error::bad_value(format!("{option} - can't go to standard output: {why}")))
}

/// Tells that a file was written; what went to standard output is there to be seen.
pub fn tell_written(path: &Path) {
    if !is_standard_output(path) {
        tell(&format!("written: {}", path.display()));
    }
}

fn can_write_beside(path: &Path) -> Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match parent {
        Some(parent) => fs::read_dir(parent).map(drop).map_err(Error::io("writing into", parent)),
        None => Ok(()),
    }
}

/// Writes a page. One of storebench's that was there before is replaced in one step, so that it is never left in half.
///
/// # Errors
/// When it can't be written, or something is there that is not ours; what was there before is as it was.
pub fn page(path: &Path, text: &[u8]) -> Result<()> {
    if takes_standard_output(path) {
        return print_export(text);
    }
    refuse_theirs(path, is_page)?;
    write(path, text)
}

/// The page in a folder of runs, in which others may have put something under its name that is neither followed nor waited for.
///
/// # Errors
/// [`Exit::NotStorebench`].
pub fn page_in(folder: &Path) -> Result<PathBuf> {
    let path = folder.join("report.html");
    refuse_theirs(&path, |path| fs::symlink_metadata(path).is_ok_and(|there| there.is_file()))?;
    Ok(path)
}

/// Writes a new file.
///
/// # Errors
/// When it can't be written, or something is there already, which is as it was.
pub fn new(path: &Path, text: &[u8]) -> Result<()> {
    if takes_standard_output(path) {
        return print_export(text);
    }
    refuse_any(path)?;
    write(path, text)
}

/// Refuses to write over anything, but for an empty file, a pipe or a terminal.
fn refuse_any(path: &Path) -> Result<()> {
    let free = |there: fs::Metadata| !there.is_dir() && there.len() == 0;
    if fs::symlink_metadata(path).is_err() || fs::metadata(path).is_ok_and(free) {
        return Ok(());
    }
    let message = format!("{} already exists: name another file, or delete it", path.display());
    Err(Error::new(Exit::NotStorebench, message))
}

fn write(path: &Path, text: &[u8]) -> Result<()> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        // A pipe, a terminal: nothing that may be replaced.
        return fs::write(path, text).map_err(Error::io("writing", path));
    }
    replace_by(path, |beside| {
        let mut file = File::create_new(beside).map_err(Error::io("writing", path))?;
        file.write_all(text).map_err(Error::io("writing", path))
    })
}

/// Whether a file is a page of storebench's, or holds nothing, or is no file at all but can be written to.
fn is_page(path: &Path) -> bool {
    let Ok(there) = fs::metadata(path) else { return false };
    if !there.is_file() {
        return !there.is_dir();
    }
    let is_ours =
        |head: Vec<u8>| head.is_empty() || head.windows(PAGE_MARK.len()).any(|bytes| bytes == PAGE_MARK);
    bounded::start(path, HEAD).is_ok_and(is_ours)
}

/// Has a file written beside the one that is wanted, and puts it in its place when it is whole. `write` makes the file, whose
/// name nothing has.
///
/// # Errors
/// Those of `write`, and of renaming; then nothing is left beside.
pub fn replace_by(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let beside = unused_beside(path);
    let renamed = || fs::rename(&beside, path).map_err(Error::io("writing", path));
    let written = write(&beside).and_then(|()| renamed());
    if written.is_err() {
        // The first error is told; whether there was a part to delete does not matter.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Fills a directory that a user named with files, all or none: it is made if it is missing, and holds nothing else.
///
/// # Errors
/// [`Exit::BadValue`] when it holds something; those of `write`. Then the directory is as it was.
pub fn fill(doing: &str, path: &Path, write: impl FnOnce() -> Result<()>) -> Result<()> {
    let is_new = !path.exists();
    runs::make_directory(doing, path)?;
    if fs::read_dir(path).map_err(Error::io("looking into", path))?.next().is_some() {
        return Err(Error::bad_value(format!("{} is not empty: name a new directory", path.display())));
    }
    write().inspect_err(|_| {
        // The error is what the user has to know.
        let _ = Folder::open(path).and_then(|folder| folder.empty(None));
        if is_new {
            let _ = fs::remove_dir(path);
        }
    })
}

fn unused_beside(path: &Path) -> PathBuf {
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
    fn only_pages_of_ours_are_replaced_and_nothing_beside_them_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.html");
        let ours = format!("<!doctype html>{}0.1.0\">", String::from_utf8_lossy(PAGE_MARK));
        fs::write(folder.path().join("x.html.part"), "mine").unwrap();
        for _ in 0..2 {
            page(&path, ours.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), ours);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        for theirs in ["<!doctype html><title>my garden</title>", "a,b\n1,2\n"] {
            fs::write(&path, theirs).unwrap();
            assert_eq!(page(&path, ours.as_bytes()).unwrap_err().exit, Exit::NotStorebench);
            assert!(can_write_page(&path).is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), theirs);
        }
        assert_eq!(page(folder.path(), b"").unwrap_err().exit, Exit::NotStorebench);
        fs::write(&path, "").unwrap();
        page(&path, ours.as_bytes()).unwrap();
        page(Path::new("/dev/null"), ours.as_bytes()).unwrap();
        assert!(can_write_page(&folder.path().join("none/x.html")).is_err());
    }

    #[test]
    fn nothing_but_a_file_in_a_folder_of_runs_is_its_page() {
        let folder = tempfile::tempdir().unwrap();
        page_in(folder.path()).unwrap();
        std::os::unix::fs::symlink("/dev/null", folder.path().join("report.html")).unwrap();
        assert_eq!(page_in(folder.path()).unwrap_err().exit, Exit::NotStorebench);
    }

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

    #[test]
    fn a_new_file_takes_the_place_of_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.txt");
        can_write_new(&path).unwrap();
        new(&path, b"figures").unwrap();
        assert_eq!(can_write_new(&path).unwrap_err().exit, Exit::NotStorebench);
        assert!(new(&path, b"others").is_err() && new(folder.path(), b"").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "figures");
        fs::write(&path, "").unwrap();
        new(&path, b"others").unwrap();
        new(Path::new("/dev/null"), b"").unwrap();
        assert!(can_write_new(&folder.path().join("none/x.txt")).is_err());
    }
}
