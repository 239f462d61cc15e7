//! One operation of a trace.

use xxhash_rust::xxh3::xxh3_64;

use super::operation::OperationName;

/// One operation of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its position in the trace; that of the first is 1.
    pub position: u64,
    /// When it was done, in nanoseconds after the first, and never before the one ahead of it.
    pub time_ns: u64,
    /// The trace's own name for the operation.
    pub word: &'static OperationName,
    /// Its key.
    pub key: &'a [u8],
    /// Bytes of its value, where the trace has them, as it does of each write; of a scan, the number of records.
    pub size: Option<u64>,
}

impl Entry<'_> {
    /// A number that stands for its key.
    pub fn hash(&self) -> u64 {
        key_hash(self.key)
    }
}

/// A number that stands for a key of a trace.
pub fn key_hash(key: &[u8]) -> u64 {
    xxh3_64(key)
}
