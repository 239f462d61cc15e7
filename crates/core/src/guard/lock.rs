//! Locks that the system releases when the process that holds them ends.

use std::io;
use std::os::fd::AsFd;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// The outcome of an attempt to lock a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// It is locked as long as it is open here. A process started meanwhile does not get the lock: files are closed in it.
    Taken,
    /// Another process holds it, in whatever container.
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
            // Each is given by some file system, the third by NFS without a lock server.
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOLCK | Errno::INVAL) => Ok(Lock::Unsupported),
            Err(error) => Err(error.into()),
        };
    }
}
