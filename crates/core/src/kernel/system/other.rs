//! Systems other than Linux, which refuse these calls, or make none where nothing depends on them.

#![allow(missing_docs, reason = "the calls are those of Linux")]

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::io::Errno;
use rustix::process::Pid;

pub const DIRECT: Option<i32> = None;

fn refused<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn file_in_memory(_name: &str) -> io::Result<File> {
    refused()
}

pub fn drop_cache(_file: &File) -> io::Result<()> {
    refused()
}

pub fn expect_reads(_file: &File, _at_random: bool) -> io::Result<()> {
    Ok(())
}

pub fn begin_writing(_file: &File, _from: i64, _bytes: i64) {}

pub fn processors() -> io::Result<Vec<usize>> {
    refused()
}

pub fn keep_to_processors(_thread: Option<Pid>, _processors: &[usize]) -> rustix::io::Result<()> {
    Err(Errno::NOSYS)
}

pub fn share_blocks(_from: &File, _to: &File) -> io::Result<()> {
    refused()
}

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

pub fn mount<'a>(
    _source: &Path,
    _at: &Path,
    _kind: &str,
    _options: impl Iterator<Item = &'a str>,
) -> io::Result<()> {
    refused()
}

pub fn unmount(_at: &Path) -> io::Result<()> {
    refused()
}

pub fn spread(_folder: &File) {}
