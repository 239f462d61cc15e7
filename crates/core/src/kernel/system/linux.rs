//! The calls on Linux.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::fs::{
    Advice, IFlags, MemfdFlags, fadvise, ioctl_ficlone, ioctl_getflags, ioctl_setflags, memfd_create, syncfs,
};
use rustix::mount::{MountFlags, UnmountFlags};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The flag of a file that is opened to be read and written past the page cache.
pub const DIRECT: Option<i32> = Some(libc::O_DIRECT);

/// A file in memory alone.
pub fn file_in_memory(name: &str) -> io::Result<File> {
    Ok(memfd_create(name, MemfdFlags::CLOEXEC)?.into())
}

/// Asks the kernel to drop what the page cache has of a file.
pub fn drop_cache(file: &File) -> io::Result<()> {
    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}

pub(crate) fn expect_reads(file: &File, at_random: bool) -> io::Result<()> {
    Ok(fadvise(file, 0, None, if at_random { Advice::Random } else { Advice::Sequential })?)
}

/// Starts writeback of a part of a file.
pub fn begin_writing(file: &File, offset: i64, bytes: i64) {
    // SAFETY: the file is open, and the call takes numbers alone.
    unsafe { libc::sync_file_range(file.as_raw_fd(), offset, bytes, libc::SYNC_FILE_RANGE_WRITE) };
}

/// The processors that this process may use, by number.
pub fn processors() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|number| set.is_set(*number)).collect())
}

pub(crate) fn keep_to_processors(thread: Option<Pid>, processors: &[usize]) -> rustix::io::Result<()> {
    let mut set = CpuSet::new();
    processors.iter().for_each(|number| set.set(*number));
    sched_setaffinity(thread, &set)
}

/// Makes one file share the blocks of another.
pub fn share_blocks(source: &File, target: &File) -> io::Result<()> {
    Ok(ioctl_ficlone(target, source)?)
}

/// Syncs the file system that a file is on.
pub fn sync_file_system(file: &File) -> io::Result<()> {
    Ok(syncfs(file)?)
}

/// Syncs a file with all its metadata.
pub fn sync(file: &File) -> rustix::io::Result<()> {
    rustix::fs::fsync(file)
}

/// Syncs a file's data, and the metadata that reading them takes.
pub fn sync_data(file: &File) -> rustix::io::Result<()> {
    rustix::fs::fdatasync(file)
}

/// Mounts a file system with the kernel's options and its own; without devices and setuid programs.
pub fn mount<'a>(
    source: &Path,
    mount_point: &Path,
    kind: &str,
    options: impl Iterator<Item = &'a str>,
) -> io::Result<()> {
    let (flags, own_options) = flags_of(options);
    let own_options = std::ffi::CString::new(own_options).map_err(io::Error::other)?;
    let flags = flags | MountFlags::NODEV | MountFlags::NOSUID;
    Ok(rustix::mount::mount(source, mount_point, kind, flags, Some(own_options.as_c_str()))?)
}

/// Unmounts a folder, but no link to one.
pub fn unmount(mount_point: &Path) -> io::Result<()> {
    Ok(rustix::mount::unmount(mount_point, UnmountFlags::NOFOLLOW)?)
}

/// Asks the file system to put the folders made in this one far apart, by a hash of their names (ext4).
pub fn spread(folder: &File) {
    if let Ok(flags) = ioctl_getflags(folder) {
        let _ = ioctl_setflags(folder, flags | IFlags::TOPDIR);
    }
}

/// Splits options into flags of mount(2) and the file system's own.
fn flags_of<'a>(options: impl Iterator<Item = &'a str>) -> (MountFlags, String) {
    const FLAGS: [(&str, MountFlags); 8] = [
        ("noatime", MountFlags::NOATIME),
        ("nodiratime", MountFlags::NODIRATIME),
        ("relatime", MountFlags::RELATIME),
        ("strictatime", MountFlags::STRICTATIME),
        ("lazytime", MountFlags::LAZYTIME),
        ("sync", MountFlags::SYNCHRONOUS),
        ("dirsync", MountFlags::DIRSYNC),
        ("noexec", MountFlags::NOEXEC),
    ];
    let (mut flags, mut own_options) = (MountFlags::empty(), Vec::new());
    for option in options {
        match FLAGS.iter().find(|(name, _)| *name == option) {
            Some((_, flag)) => flags |= *flag,
            None => own_options.push(option),
        }
    }
    (flags, own_options.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_told_from_the_file_system_s_own_options() {
        let (flags, own_options) = flags_of("noatime,data=journal,commit=60,sync".split(','));
        assert_eq!(flags, MountFlags::NOATIME | MountFlags::SYNCHRONOUS);
        assert_eq!(own_options, "data=journal,commit=60");
        assert_eq!(flags_of([].into_iter()), (MountFlags::empty(), String::new()));
    }
}
