//! Locks that end with the process that holds them, however that ends.

use std::io;
use std::os::fd::AsFd;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// The outcome of an attempt to lock a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// It is locked now, as long as it is open here. A process that is started meanwhile does not get it, as files are closed
    /// in it.
    Taken,
    /// Another process holds it, on whatever side of a border between process numbers.
    Held,
    /// The file system has no locks.
    Unsupported,
}

/// Tries to lock a file or folder, without waiting.
pub fn try_lock(file: impl AsFd) -> io::Result<Lock> {
    loop {
        return match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Lock::Taken),
            Err(Errno::WOULDBLOCK) => Ok(Lock::Held),
            Err(Errno::INTR) => continue,
            // Each is said by some file system, the third by NFS without a server for locks.
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOLCK | Errno::INVAL) => Ok(Lock::Unsupported),
            Err(error) => Err(error.into()),
        };
    }
}
