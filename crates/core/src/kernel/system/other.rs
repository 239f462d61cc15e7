//! Systems other than Linux, which refuse these calls.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::io::Errno;
use rustix::process::Pid;

/// No flag passes by the page cache.
pub const DIRECT: Option<i32> = None;

fn refused<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

/// No file is in memory alone.
pub fn file_in_memory(_name: &str) -> io::Result<File> {
    refused()
}

/// The page cache can't be made to drop anything.
pub fn drop_cache(_file: &File) -> io::Result<()> {
    refused()
}

/// The kernel takes no hints about reads to come, and nothing depends on them.
pub fn expect_reads(_file: &File, _at_random: bool) -> io::Result<()> {
    Ok(())
}

/// Nothing begins to be written before it is synced.
pub fn begin_writing(_file: &File, _from: i64, _bytes: i64) {}

/// The processors have no known numbers.
pub fn processors() -> io::Result<Vec<usize>> {
    refused()
}

/// No thread can be kept to processors.
pub fn keep_to_processors(_thread: Option<Pid>, _processors: &[usize]) -> rustix::io::Result<()> {
    Err(Errno::NOSYS)
}

/// No files share blocks.
pub fn share_blocks(_from: &File, _to: &File) -> io::Result<()> {
    refused()
}

/// No file system is synced by itself.
pub fn sync_file_system(_file: &File) -> io::Result<()> {
    refused()
}

/// As [`sync_data`].
pub fn sync(file: &File) -> rustix::io::Result<()> {
    file.sync_all().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// On macOS `fsync` leaves data in the device's own cache: F_FULLFSYNC, which the standard library makes, does not.
pub fn sync_data(file: &File) -> rustix::io::Result<()> {
    file.sync_data().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// Nothing is mounted.
pub fn mount<'a>(
    _source: &Path,
    _at: &Path,
    _kind: &str,
    _options: impl Iterator<Item = &'a str>,
) -> io::Result<()> {
    refused()
}

/// Nothing was mounted.
pub fn unmount(_at: &Path) -> io::Result<()> {
    refused()
}

/// No file system takes advice on where folders are made.
pub fn spread(_folder: &File) {}
