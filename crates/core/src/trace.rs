//! Traces: files of operations that an application did, one after the other, with their times, keys and sizes. They are
//! streamed: whatever a file's length, its reader holds one line of it.

mod census;
mod facts;
mod form;
mod line;
mod reader;
mod source;
mod spread;
mod summary;
mod word;
mod zipf;

pub use self::census::{EXACT, Skew};
pub use self::facts::Facts;
pub use self::form::Form;
pub use self::reader::{Ask, Reader};
pub use self::spread::Spread;
pub use self::summary::{Share, Sizes, Summary, Touched};
pub use self::word::{Does, Word};

use xxhash_rust::xxh3::xxh3_64;

/// One operation of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its position in the trace; that of the first is 1.
    pub position: u64,
    /// When it was done, in nanoseconds after the first, and never before the one ahead of it.
    pub time_ns: u64,
    /// The trace's own name for the operation.
    pub word: &'static Word,
    /// Its key.
    pub key: &'a [u8],
    /// Bytes of its value, where the trace tells them; of a scan, the number of records.
    pub size: u64,
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

#[cfg(test)]
pub(crate) mod made;
