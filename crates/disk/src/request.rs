//! Requests to a disk.

use serde::{Deserialize, Serialize};

/// A moment or a time of a disk's clock, in nanoseconds.
pub(crate) type Nanos = u64;

pub(crate) const MICROSECOND: Nanos = 1_000;
pub(crate) const MILLISECOND: Nanos = 1_000_000;
pub(crate) const SECOND: Nanos = 1_000_000_000;

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Bytes are read.
    Read,
    /// Bytes are written, perhaps into a cache of the disk's that a power cut empties.
    Write,
    /// Bytes are given up.
    Discard,
    /// All that was written before must survive a power cut.
    Flush,
}

/// A request to a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Its kind.
    pub kind: Kind,
    /// The first byte that it concerns; 0 for a flush.
    pub at: u64,
    /// The number of bytes; 0 for a flush.
    pub bytes: u64,
}

impl Request {
    /// Reads bytes from `at` on.
    pub fn read(at: u64, bytes: u64) -> Request {
        Request { kind: Kind::Read, at, bytes }
    }

    /// Writes bytes from `at` on.
    pub fn write(at: u64, bytes: u64) -> Request {
        Request { kind: Kind::Write, at, bytes }
    }

    /// Gives up bytes from `at` on.
    pub fn discard(at: u64, bytes: u64) -> Request {
        Request { kind: Kind::Discard, at, bytes }
    }

    /// Makes what was written before durable.
    pub fn flush() -> Request {
        Request { kind: Kind::Flush, at: 0, bytes: 0 }
    }

    /// The byte after the last that it concerns.
    pub fn end(&self) -> u64 {
        self.at.saturating_add(self.bytes)
    }
}
