//! A folder that is held open: what is done in it is done there, whatever its name leads to later.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;

use storebench_model::server;

/// Rounds of emptying a folder in which something appears meanwhile: a killed process may end its last call.
const ROUNDS: u32 = 16;
const PAUSE: Duration = Duration::from_millis(10);

/// A folder that is held open.
#[derive(Debug)]
pub struct Folder {
    handle: File,
    path: PathBuf,
    /// Whose folders may be deleted in it.
    owner: u32,
    /// Whether folders of the users that servers run as may be deleted, too.
    is_served: bool,
}

impl Folder {
    /// A directory that a user named, links included.
    pub fn open(path: &Path) -> io::Result<Folder> {
        // A relative name of one word lies in the working directory.
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let handle = openat(CWD, path, FOLDER.difference(OFlags::NOFOLLOW), Mode::empty())?;
        let owner = rustix::process::geteuid().as_raw();
        Ok(Folder { handle: handle.into(), path: path.into(), owner, is_served: false })
    }

    /// A folder in it. No link is followed, and no mounted file system entered.
    pub fn open_subfolder(&self, name: &OsStr) -> io::Result<Folder> {
        let path = self.path.join(name);
        let mount_error = || {
            let message = format!("another file system is mounted on {}: unmount it first", path.display());
            io::Error::new(ErrorKind::CrossesDevices, message)
        };
        let handle = open_folder(&self.handle, name)
            .map_err(|error| if error.kind() == ErrorKind::CrossesDevices { mount_error() } else { error })?;
        if handle.metadata()?.dev() != self.handle.metadata()?.dev() {
            return Err(mount_error());
        }
        Ok(Folder { handle, path, owner: self.owner, is_served: self.is_served })
    }

    /// Makes a folder in it, with these permissions less the umask. Fails when another user's takes its place.
    pub fn make(&self, name: &OsStr, permissions: u32) -> io::Result<Folder> {
        mkdirat(&self.handle, name, Mode::from_raw_mode(permissions as _))?;
        self.open_subfolder(name).and_then(Folder::adopt_owner).inspect_err(|_| {
            // Nothing has been put into it.
            let _ = unlinkat(&self.handle, name, AtFlags::REMOVEDIR);
        })
    }

    /// Makes a file that only this user may read and write. Fails when there is something of this name.
    pub fn make_file(&self, name: &OsStr) -> io::Result<File> {
        self.open_file(name, OFlags::CREATE | OFlags::EXCL, 0o600)
    }

    /// Opens a file for reading and writing, or whatever has this name except links and folders; never waits for a pipe.
    pub fn file(&self, name: &OsStr) -> io::Result<File> {
        self.open_file(name, OFlags::empty(), 0)
    }

    /// Opens as [`Folder::file`] does, with more flags.
    pub(crate) fn open_file(&self, name: &OsStr, extra_flags: OFlags, permissions: u32) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(openat(&self.handle, name, flags | extra_flags, Mode::from_raw_mode(permissions as _))?.into())
    }

    pub(super) fn open_to_read(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(openat(&self.handle, name, flags, Mode::empty())?.into())
    }

    /// Deletes whatever has this name, a folder with all in it. Fails at a folder of another user; what was deleted before has gone.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        match unlinkat(&self.handle, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            // The error that some systems give for a folder, and all for what may not be deleted.
            Err(Errno::PERM) => self.remove_folder(name).map_err(|error| match error.kind() {
                ErrorKind::NotADirectory => Errno::PERM.into(),
                _ => error,
            }),
            Err(Errno::ISDIR) => self.remove_folder(name),
            Err(error) => Err(error.into()),
        }
    }

    /// Deletes as [`Folder::remove`] does, and also folders of users that servers run as.
    pub fn remove_served(&self, name: &OsStr) -> io::Result<()> {
        let subfolder = match self.open_subfolder(name) {
            Ok(subfolder) if subfolder.foreign_owner()?.is_none() => subfolder,
            _ => return self.remove(name),
        };
        Folder { is_served: true, ..subfolder }.empty(None)?;
        self.remove_empty(name)
    }

    /// Deletes a file, a link or a pipe, but no folder.
    pub fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.handle, name, AtFlags::empty())?)
    }

    /// Renames what it holds; what has the new name is replaced if it is a file or an empty folder.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.handle, from, &self.handle, to)?)
    }

    /// Deletes an empty folder.
    pub fn remove_empty(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.handle, name, AtFlags::REMOVEDIR)?)
    }

    /// Deletes all but `kept`, again until nothing is there: a killed process may still end its last call. Fails at another user's folder.
    pub fn empty(&self, kept: Option<&OsStr>) -> io::Result<()> {
        for round in 0..ROUNDS {
            if round > 1 {
                std::thread::sleep(PAUSE);
            }
            if !self.delete_entries(kept)? {
                return Ok(());
            }
        }
        // Whoever adds to it goes on.
        Err(ErrorKind::DirectoryNotEmpty.into())
    }

    /// Whether it holds nothing but what has this name.
    pub fn holds_only(&self, name: &OsStr) -> io::Result<bool> {
        for entry in Dir::read_from(&self.handle)? {
            let entry = entry?;
            let found = entry.file_name().to_bytes();
            if ![b".".as_slice(), b"..", name.as_bytes()].contains(&found) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether both are the same folder, under whatever names.
    pub fn is_same(&self, other: &Folder) -> io::Result<bool> {
        let (own, other) = (self.handle.metadata()?, other.handle.metadata()?);
        Ok((own.dev(), own.ino()) == (other.dev(), other.ino()))
    }

    /// The folder's owner, if that is not the one whose folders may be deleted in it.
    pub fn foreign_owner(&self) -> io::Result<Option<u32>> {
        Ok(Some(self.handle.metadata()?.uid()).filter(|user| *user != self.owner))
    }

    /// The open folder itself.
    pub fn handle(&self) -> &File {
        &self.handle
    }

    /// Its name when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        let folder = match self.open_subfolder(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        let is_server_user =
            |user: u32| self.is_served && server::users().iter().any(|server| server.uid == user);
        match folder.foreign_owner()?.filter(|user| !is_server_user(*user)) {
            Some(user) => return Err(folder.belongs_to(user)),
            None => folder.empty(None)?,
        }
        self.remove_empty(name)
    }

    /// Deletes entries but `kept`; gives whether there were any.
    fn delete_entries(&self, kept: Option<&OsStr>) -> io::Result<bool> {
        let mut found = false;
        for entry in Dir::read_from(&self.handle)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." || Some(name) == kept {
                continue;
            }
            found = true;
            match entry.file_type() {
                FileType::Directory => self.remove_folder(name)?,
                _ => self.remove(name)?,
            }
        }
        Ok(found)
    }

    /// Notes the owner of a folder that this process has just made: this user, or the one that a file system without owners names.
    fn adopt_owner(mut self) -> io::Result<Folder> {
        if let Some(user) = self.foreign_owner()? {
            if self.owner_of_files()? != user {
                return Err(self.belongs_to(user));
            }
            self.owner = user;
        }
        Ok(self)
    }

    /// The owner of files that this process makes in it.
    fn owner_of_files(&self) -> io::Result<u32> {
        let name = format!(".storebench-owner-{}", std::process::id());
        let owner = self.make_file(OsStr::new(&name))?.metadata()?.uid();
        self.remove(OsStr::new(&name))?;
        Ok(owner)
    }

    fn belongs_to(&self, user: u32) -> io::Error {
        let message = format!("{} belongs to another user, number {user}", self.path.display());
        io::Error::new(ErrorKind::PermissionDenied, message)
    }
}

/// Deletes a folder that this process made, with what a server left there as another user. Fails also when there is none.
pub fn remove_made(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(ErrorKind::InvalidInput.into());
    };
    let mut parent = Folder::open(parent)?;
    parent.owner = parent.open_subfolder(name)?.adopt_owner()?.owner;
    parent.remove_served(name)
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

fn open_folder(parent: &File, name: &OsStr) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    match rustix::fs::openat2(parent, name, FOLDER, Mode::empty(), rustix::fs::ResolveFlags::NO_XDEV) {
        // A kernel that does not have the call, or a sandbox that does not let it through.
        Err(Errno::NOSYS | Errno::PERM) => {}
        other => return Ok(other?.into()),
    }
    Ok(openat(parent, name, FOLDER, Mode::empty())?.into())
}

#[cfg(test)]
mod tests;
