//! Making files durable: one by one, or the whole file system at once where that is honest.

use std::ffi::CStr;
use std::fs::File;
use std::io::{Read, Write};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::path::{CLOSED, CLOSED_DURABLE, Layout, is_hidden, is_temporary};
use crate::store::{Result, StoreError};
use crate::words::words;

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames)]
pub(super) enum GroupSync {
    #[strum(serialize = "syncfs, fsync of the root directory")]
    FileSystem,
    #[strum(serialize = "fsync of each file and directory")]
    EachFile,
}

words!(GroupSync);

impl GroupSync {
    /// What the file system of `directory` allows.
    pub(super) fn for_directory(directory: &File) -> GroupSync {
        if syncfs_is_whole(directory) { GroupSync::FileSystem } else { GroupSync::EachFile }
    }
}

/// Syncs the file system that holds `root`. Fails also for anyone's write that failed since `root` was opened (Linux 5.8).
#[cfg(target_os = "linux")]
pub(super) fn sync_file_system(root: &File) -> Result<()> {
    use std::os::fd::AsRawFd;

    unsafe extern "C" {
        // The C library's own, so that a program that counts its synchronisations sees this one too.
        fn syncfs(fd: std::ffi::c_int) -> std::ffi::c_int;
    }
    // SAFETY: the descriptor is open as long as `root` is borrowed, and the call touches no memory of ours.
    if unsafe { syncfs(root.as_raw_fd()) } != 0 {
        return Err(StoreError::io("sync the file system")(std::io::Error::last_os_error()));
    }
    // ext2 and the FAT family hand everything to the device in syncfs, but flush the device's cache only in fsync.
    root.sync_all().map_err(StoreError::io("sync the root directory"))
}

/// There is no such call, and [`GroupSync::for_directory`] never asks for it.
#[cfg(not(target_os = "linux"))]
pub(super) fn sync_file_system(root: &File) -> Result<()> {
    root.sync_all().map_err(StoreError::io("sync the root directory"))
}

/// Whether `syncfs` reaches the device here. FUSE and 9p do not pass it on, so only file systems known to be whole count.
#[cfg(target_os = "linux")]
fn syncfs_is_whole(directory: &File) -> bool {
    const WHOLE_SYNCFS: [u32; 11] = [
        0x0000_EF53, // ext2, ext3, ext4
        0x5846_5342, // XFS
        0x9123_683E, // Btrfs
        0xF2F5_2010, // F2FS
        0x2FC1_2FC1, // ZFS
        0xCA45_1A4E, // bcachefs
        0x0000_4D44, // FAT
        0x2011_BAB0, // exFAT
        0x7366_746E, // NTFS (ntfs3)
        0x794C_7630, // overlayfs
        0x0102_1994, // tmpfs
    ];
    // The magic numbers have 32 bits, whatever the width and the sign of the field.
    rustix::fs::fstatfs(directory).is_ok_and(|stat| WHOLE_SYNCFS.contains(&(stat.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
fn syncfs_is_whole(_: &File) -> bool {
    false
}

/// How a store was left by whoever had it open last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastShutdown {
    /// Not closed, or new: there may be temporary files, and what is there may not be durable.
    Open,
    /// Closed, without temporary files.
    Closed,
    /// Closed, and durable.
    Durable,
}

impl LastShutdown {
    /// How the store below `root` was left; from now on it counts as open. Lists no directory, so that what was cold stays so.
    /// Fails with [`StoreError::SettingNotTaken`] when it was closed with another layout, and leaves it closed.
    pub(super) fn take(root: &File, layout: Layout) -> Result<LastShutdown> {
        let durable = read_noted_layout(root, CLOSED_DURABLE)?;
        let closed = read_noted_layout(root, CLOSED)?;
        for layout_at_close in [&durable, &closed].into_iter().flatten() {
            // One without a word is of a store that was closed before layouts could be set.
            if !layout_at_close.is_empty() && *layout_at_close != layout.to_string() {
                return Err(StoreError::SettingNotTaken {
                    name: "levels, level_bytes".into(),
                    asked: layout.to_string(),
                    read_back: layout_at_close.clone(),
                });
            }
        }
        for name in [CLOSED_DURABLE, CLOSED] {
            match rustix::fs::unlinkat(root, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(StoreError::io("open a closed folder")(error)),
            }
        }
        Ok(match (durable, closed) {
            (Some(_), _) => LastShutdown::Durable,
            (None, Some(_)) => LastShutdown::Closed,
            (None, None) => LastShutdown::Open,
        })
    }

    /// Notes how a store is left. A failure only costs time: the next opening walks through everything.
    pub(super) fn note(root: &File, layout: Layout, durable: bool) {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
        let name = if durable { CLOSED_DURABLE } else { CLOSED };
        if let Ok(file) = rustix::fs::openat(root, name, flags, super::FILE_MODE) {
            let _ = File::from(file).write_all(layout.to_string().as_bytes());
        }
    }
}

/// The layout in a note; `None` without one.
fn read_noted_layout(root: &File, name: &CStr) -> Result<Option<String>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(root, name, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(StoreError::io("open a closed folder")(error)),
    };
    let mut noted = String::new();
    file.take(LONGEST_NOTE).read_to_string(&mut noted).map_err(StoreError::io("open a closed folder"))?;
    Ok(Some(noted))
}

/// Notes are shorter, in bytes.
const LONGEST_NOTE: u64 = 100;

pub(super) enum FileVisit<'a> {
    File(&'a File, &'a CStr),
    /// After all that is in it.
    Directory(&'a File),
}

/// Visits every file of the layout below `directory`, and every directory after its content.
pub(super) fn walk(
    directory: &File,
    layout: Layout,
    visit: &mut dyn FnMut(FileVisit<'_>) -> Result<()>,
) -> Result<()> {
    #[cfg(test)]
    LISTED.set(LISTED.get() + 1);
    for entry in Dir::read_from(directory).map_err(StoreError::io("list a directory"))? {
        let entry = entry.map_err(StoreError::io("list a directory"))?;
        let name = entry.file_name();
        match entry.file_type() {
            // Some file systems do not say what an entry is; then its name must do.
            FileType::RegularFile | FileType::Unknown
                if layout.levels == 0 && !is_dots(name) && !is_hidden(name.to_bytes()) =>
            {
                visit(FileVisit::File(directory, name))?;
            }
            FileType::Directory | FileType::Unknown
                if layout.levels > 0 && !is_dots(name) && name.count_bytes() == layout.level_bytes =>
            {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                let subdirectory = rustix::fs::openat(directory, name, flags, Mode::empty());
                let subdirectory = File::from(subdirectory.map_err(StoreError::io("open a directory"))?);
                walk(&subdirectory, Layout { levels: layout.levels - 1, ..layout }, visit)?;
            }
            _ => {}
        }
    }
    visit(FileVisit::Directory(directory))
}

#[cfg(test)]
thread_local! {
    pub(super) static LISTED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

fn is_dots(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

pub(super) fn sync_all(root: &File, layout: Layout, group: GroupSync) -> Result<()> {
    match group {
        GroupSync::FileSystem => sync_file_system(root),
        GroupSync::EachFile => walk(root, layout, &mut |visit| match visit {
            FileVisit::File(directory, name) => {
                let flags = OFlags::RDONLY | OFlags::CLOEXEC;
                let file = rustix::fs::openat(directory, name, flags, Mode::empty());
                File::from(file.map_err(StoreError::io("open a file"))?)
                    .sync_all()
                    .map_err(StoreError::io("sync a file"))
            }
            FileVisit::Directory(directory) => {
                directory.sync_all().map_err(StoreError::io("sync a directory"))
            }
        }),
    }
}

pub(super) fn count(root: &File, layout: Layout) -> Result<u64> {
    let mut files = 0;
    walk(root, layout, &mut |visit| {
        files += u64::from(matches!(visit, FileVisit::File(_, name) if !is_temporary(name.to_bytes())));
        Ok(())
    })?;
    Ok(files)
}

pub(super) fn remove_temporaries(root: &File, layout: Layout) -> Result<()> {
    walk(root, layout, &mut |visit| match visit {
        FileVisit::File(directory, name) if is_temporary(name.to_bytes()) => {
            rustix::fs::unlinkat(directory, name, AtFlags::empty())
                .map_err(StoreError::io("remove a temporary file"))
        }
        _ => Ok(()),
    })
}
