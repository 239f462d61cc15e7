//! Files in a run's folder, under names that others may have given to something else.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::Folder;
use crate::error::{Error, Exit, Result};
use crate::read_limited;

/// Opens a file for reading and writing, and makes it if it is missing. `name` is relative to `folder`; no link in it is
/// followed, and a pipe is not waited for. Fails with [`Exit::NotStorebench`] when there is no plain file, it has another name,
/// or its owner is not the folder's.
pub fn open(folder: &Path, name: &str) -> Result<File> {
    let path = folder.join(name);
    let foreign = |what: &str| {
        let message =
            format!("{} is {what}, where storebench keeps one of its files: delete it", path.display());
        Error::new(Exit::NotStorebench, message)
    };
    let failed = |error: io::Error| match Errno::from_io_error(&error) {
        // The errors that systems give for a link to a file, a link to a folder, a folder, and a socket.
        Some(Errno::LOOP | Errno::NOTDIR) => foreign("a link, or lies behind one"),
        Some(Errno::ISDIR | Errno::NXIO) => foreign("no file"),
        _ => Error::io("opening", &path)(error),
    };
    let (within, last) = open_parent(folder, name).map_err(failed)?;
    let file = within.open_file(last, OFlags::CREATE, 0o666).map_err(failed)?;
    let there = file.metadata().map_err(failed)?;
    let owners = [rustix::process::geteuid().as_raw(), within.handle().metadata().map_err(failed)?.uid()];
    if !there.is_file() {
        return Err(foreign("no file"));
    }
    if there.nlink() > 1 {
        return Err(foreign("a file that has another name, too"));
    }
    if !owners.contains(&there.uid()) {
        return Err(foreign("another user's file"));
    }
    Ok(file)
}

/// Opens a plain file of at most `most` bytes for reading. `name` is relative to `folder`, and no link in it is followed; a pipe
/// is not waited for. Fails with [`ErrorKind::InvalidInput`] when it is a link, no file, or outside of the folder, and with
/// [`ErrorKind::FileTooLarge`] when it is longer.
pub fn plain_file(folder: &Path, name: &str, most: u64) -> io::Result<File> {
    let refused = |what: &str| io::Error::new(ErrorKind::InvalidInput, what);
    if name.split('/').any(|part| [".", ".."].contains(&part)) {
        return Err(refused("it is not in the folder"));
    }
    let opened = open_parent(folder, name).and_then(|(within, last)| within.file_to_read(last));
    let file = opened.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::LOOP) => refused("it is a link"),
        Some(Errno::NOTDIR) if name.contains('/') => refused("it lies behind a link"),
        Some(Errno::NXIO) => refused("it is no file"),
        _ => error,
    })?;
    let there = file.metadata()?;
    match () {
        () if !there.is_file() => Err(refused("it is no file")),
        () if there.len() > most => Err(read_limited::too_long(most)),
        () => Ok(file),
    }
}

/// Opens as [`open`] does, and empties the file if it is ours.
pub fn rewrite(folder: &Path, name: &str) -> Result<File> {
    let file = open(folder, name)?;
    file.set_len(0).map_err(Error::io("emptying", &folder.join(name)))?;
    Ok(file)
}

/// Deletes a file or a link, if it is there, but no folder. `name` is relative to `folder`, and no link in it is followed.
pub fn remove(folder: &Path, name: &str) -> Result<()> {
    match open_parent(folder, name).and_then(|(within, last)| within.remove_file(last)) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Error::io("deleting", &folder.join(name))(error))
        }
        _ => Ok(()),
    }
}

fn open_parent<'a>(folder: &Path, name: &'a str) -> io::Result<(Folder, &'a OsStr)> {
    let mut parts = name.split('/').map(OsStr::new);
    let last = parts.next_back().unwrap_or_default();
    let within = parts.try_fold(Folder::open(folder)?, |folder, part| folder.open_subfolder(part))?;
    Ok((within, last))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_made_and_rewritten_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("logs")).unwrap();
        let path = folder.path().join("logs/1.log");
        rewrite(folder.path(), "logs/1.log").unwrap();
        fs::write(&path, "text").unwrap();
        open(folder.path(), "logs/1.log").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
        rewrite(folder.path(), "logs/1.log").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "");
        for _ in 0..2 {
            remove(folder.path(), "logs/1.log").unwrap();
            assert!(!path.exists());
        }
    }

    #[test]
    fn links_pipes_and_long_files_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("run/logs")).unwrap();
        fs::write(at("theirs"), "text").unwrap();
        fs::write(at("run/logs/1.log"), "text").unwrap();
        symlink("../theirs", at("run/link")).unwrap();
        symlink("logs", at("run/linked")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("run/pipe"), rustix::fs::Mode::RWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("run/socket")).unwrap();
        let read = |name: &str, most: u64| plain_file(&at("run"), name, most);
        assert_eq!(io::read_to_string(read("logs/1.log", 4).unwrap()).unwrap(), "text");
        for (name, most, kind) in [
            ("link", 9, ErrorKind::InvalidInput),
            ("pipe", 9, ErrorKind::InvalidInput),
            ("socket", 9, ErrorKind::InvalidInput),
            ("logs", 9, ErrorKind::InvalidInput),
            ("../theirs", 9, ErrorKind::InvalidInput),
            ("logs/1.log", 3, ErrorKind::FileTooLarge),
            ("logs/2.log", 9, ErrorKind::NotFound),
        ] {
            assert_eq!(read(name, most).unwrap_err().kind(), kind, "{name}");
        }
        assert_eq!(read("linked/1.log", 9).unwrap_err().to_string(), "it lies behind a link");
        assert!(read(at("theirs").to_str().unwrap(), 9).is_err());
    }

    #[test]
    fn what_is_no_file_of_the_run_is_refused_and_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("theirs"), "text").unwrap();
        symlink("theirs", at("link")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        fs::hard_link(at("theirs"), at("second")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        fs::write(at("folder/inner"), "text").unwrap();
        symlink("folder", at("linked")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for name in ["link", "dangling", "second", "folder", "linked/inner", "pipe", "socket"] {
            let error = rewrite(folder.path(), name).unwrap_err();
            assert_eq!(error.exit, Exit::NotStorebench, "{name}: {error}");
            assert!(error.message.contains("keeps one of its files"), "{name}: {error}");
        }
        remove(folder.path(), "link").unwrap();
        assert!(!at("link").is_symlink(), "a link goes, not what it leads to");
        assert!(remove(folder.path(), "linked/inner").is_err() && remove(folder.path(), "folder").is_err());
        for name in ["theirs", "folder/inner"] {
            assert_eq!(fs::read_to_string(at(name)).unwrap(), "text", "{name}");
        }
        assert!(!at("nowhere").exists());
    }
}
