//! The specification of a measurement: the way in which one file is read or written.

use std::time::Duration;

use super::fault::Unsupported;
use crate::axis::device::values::{BLOCK_BYTES, Io, Pattern, SECTOR_BYTES, Sync};

/// The amount that is read or written, by all threads together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Amount {
    /// So many blocks, divided evenly among the threads.
    Operations(u64),
    /// As many as are begun in this time.
    Duration(Duration),
}

/// The way in which one file is read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The order of the blocks.
    pub pattern: Pattern,
    /// The bytes that one operation reads or writes: a multiple of 512, up to 16 MiB.
    pub block: u64,
    /// The file's size in bytes; rounded down to whole blocks.
    pub file: u64,
    /// The way in which the file is open.
    pub io: Io,
    /// When writes are made durable.
    pub sync: Sync,
    /// Whether the file is dropped from the page cache before the clock starts, else it is read into it. Where the page cache
    /// is passed by, it is dropped in any case.
    pub cold: bool,
    /// Threads, each with one operation at a time; 0 counts as 1.
    pub threads: u32,
    /// The amount that is read or written.
    pub amount: Amount,
    /// The seed of the content and of the order of random blocks.
    pub seed: u64,
}

impl Spec {
    /// Blocks in the file.
    pub fn blocks(&self) -> u64 {
        self.file / self.block.max(1)
    }

    /// The size that the file really has, in bytes.
    pub fn file_bytes(&self) -> u64 {
        self.blocks() * self.block
    }

    /// Threads, at least one.
    pub(super) fn threads(&self) -> u64 {
        u64::from(self.threads.max(1))
    }

    /// Whether what is read was in no page cache, so that no block may be read twice.
    pub(super) fn reads_cold(&self) -> bool {
        self.cold && !self.pattern.writes() && !self.io.is_direct()
    }

    /// Why this can be measured nowhere, if so. What a place does not offer shows there only.
    pub fn unsupported(&self) -> Option<Unsupported> {
        let syncs = self.sync != Sync::None || self.io.is_dsync();
        if !BLOCK_BYTES.contains(&self.block) || !self.block.is_multiple_of(SECTOR_BYTES) {
            Some(Unsupported::BlockSize)
        } else if self.blocks() < self.threads() {
            Some(Unsupported::FileTooSmall { least_bytes: self.block * self.threads() })
        } else if syncs && !self.pattern.writes() {
            Some(Unsupported::NothingToSync)
        } else {
            None
        }
    }
}
