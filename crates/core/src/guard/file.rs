//! Files in a run's folder, under names that others may have given to something else.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::read_limited;

use super::Folder;

/// Opens a file for reading and writing, and makes it if it is missing. `name` is relative to `folder`; no link in it is
/// followed, and a pipe is not waited for. Fails with [`Exit::NotStorebench`] when there is no plain file, it has another name,
/// or its owner is not the folder's.
pub fn open(folder: &Path, name: &str) -> Result<File> {
    let path = folder.join(name);
    let foreign_error = |object: &str| {
        let message =
            format!("{} is {object}, where storebench keeps one of its files: delete it", path.display());
        Error::new(Exit::NotStorebench, message)
    };
    let open_error = |error: io::Error| match Errno::from_io_error(&error) {
        // The errors that systems give for a link to a file, a link to a folder, a folder, and a socket.
        Some(Errno::LOOP | Errno::NOTDIR) => foreign_error("a link, or lies behind one"),
        Some(Errno::ISDIR | Errno::NXIO) => foreign_error("no file"),
        _ => Error::io("opening", &path)(error),
    };
    let (parent, last) = open_parent(folder, name).map_err(open_error)?;
    let file = parent.open_file(last, OFlags::CREATE, 0o666).map_err(open_error)?;
    let metadata = file.metadata().map_err(open_error)?;
    let owners = [rustix::process::geteuid().as_raw(), parent.handle().metadata().map_err(open_error)?.uid()];
    if !metadata.is_file() {
        return Err(foreign_error("no file"));
    }
    if metadata.nlink() > 1 {
        return Err(foreign_error("a file that has another name, too"));
    }
    if !owners.contains(&metadata.uid()) {
        return Err(foreign_error("another user's file"));
    }
    Ok(file)
}

/// Opens a plain file of at most `max_bytes` bytes for reading. `name` is relative to `folder`, and no link in it is followed; a
/// pipe is not waited for. Fails with [`ErrorKind::InvalidInput`] when it is a link, no file, or outside of the folder, and with
/// [`ErrorKind::FileTooLarge`] when it is longer.
pub fn plain_file(folder: &Path, name: &str, max_bytes: u64) -> io::Result<File> {
    let refusal = |reason: &str| io::Error::new(ErrorKind::InvalidInput, reason);
    if name.split('/').any(|part| [".", ".."].contains(&part)) {
        return Err(refusal("it is not in the folder"));
    }
    let opened = open_parent(folder, name).and_then(|(parent, last)| parent.open_to_read(last));
    let file = opened.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::LOOP) => refusal("it is a link"),
        Some(Errno::NOTDIR) if name.contains('/') => refusal("it lies behind a link"),
        Some(Errno::NXIO) => refusal("it is no file"),
        _ => error,
    })?;
    let metadata = file.metadata()?;
    match () {
        () if !metadata.is_file() => Err(refusal("it is no file")),
        () if metadata.len() > max_bytes => Err(read_limited::too_long(max_bytes)),
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
    match open_parent(folder, name).and_then(|(parent, last)| parent.remove_file(last)) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Error::io("deleting", &folder.join(name))(error))
        }
        _ => Ok(()),
    }
}

fn open_parent<'a>(folder: &Path, name: &'a str) -> io::Result<(Folder, &'a OsStr)> {
    let mut parts = name.split('/').map(OsStr::new);
    let last = parts.next_back().unwrap_or_default();
    let parent = parts.try_fold(Folder::open(folder)?, |folder, part| folder.open_subfolder(part))?;
    Ok((parent, last))
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
        let path_of = |name: &str| folder.path().join(name);
        fs::create_dir_all(path_of("run/logs")).unwrap();
        fs::write(path_of("theirs"), "text").unwrap();
        fs::write(path_of("run/logs/1.log"), "text").unwrap();
        symlink("../theirs", path_of("run/link")).unwrap();
        symlink("logs", path_of("run/linked")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path_of("run/pipe"), rustix::fs::Mode::RWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path_of("run/socket")).unwrap();
        let read = |name: &str, max_bytes: u64| plain_file(&path_of("run"), name, max_bytes);
        assert_eq!(io::read_to_string(read("logs/1.log", 4).unwrap()).unwrap(), "text");
        for (name, max_bytes, kind) in [
            ("link", 9, ErrorKind::InvalidInput),
            ("pipe", 9, ErrorKind::InvalidInput),
            ("socket", 9, ErrorKind::InvalidInput),
            ("logs", 9, ErrorKind::InvalidInput),
            ("../theirs", 9, ErrorKind::InvalidInput),
            ("logs/1.log", 3, ErrorKind::FileTooLarge),
            ("logs/2.log", 9, ErrorKind::NotFound),
        ] {
            assert_eq!(read(name, max_bytes).unwrap_err().kind(), kind, "{name}");
        }
        assert_eq!(read("linked/1.log", 9).unwrap_err().to_string(), "it lies behind a link");
        assert!(read(path_of("theirs").to_str().unwrap(), 9).is_err());
    }

    #[test]
    fn what_is_no_file_of_the_run_is_refused_and_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path_of = |name: &str| folder.path().join(name);
        fs::write(path_of("theirs"), "text").unwrap();
        symlink("theirs", path_of("link")).unwrap();
        symlink("nowhere", path_of("dangling")).unwrap();
        fs::hard_link(path_of("theirs"), path_of("second")).unwrap();
        fs::create_dir(path_of("folder")).unwrap();
        fs::write(path_of("folder/inner"), "text").unwrap();
        symlink("folder", path_of("linked")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path_of("pipe"), rustix::fs::Mode::RWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path_of("socket")).unwrap();
        for name in ["link", "dangling", "second", "folder", "linked/inner", "pipe", "socket"] {
            let error = rewrite(folder.path(), name).unwrap_err();
            assert_eq!(error.exit, Exit::NotStorebench, "{name}: {error}");
            assert!(error.message.contains("keeps one of its files"), "{name}: {error}");
        }
        remove(folder.path(), "link").unwrap();
        assert!(!path_of("link").is_symlink(), "a link goes, not what it leads to");
        assert!(remove(folder.path(), "linked/inner").is_err() && remove(folder.path(), "folder").is_err());
        for name in ["theirs", "folder/inner"] {
            assert_eq!(fs::read_to_string(path_of(name)).unwrap(), "text", "{name}");
        }
        assert!(!path_of("nowhere").exists());
    }
}
