//! The specification of a measurement: the way in which one file is read or written.

use std::time::Duration;

use storebench_model::axis::device::values::{BLOCK_BYTES, Io, Pattern, SECTOR_BYTES, Sync};

use storebench_model::result::UnsupportedReason;

/// By all threads together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Amount {
    /// Blocks, divided evenly among the threads.
    Operations(u64),
    /// As many as begin in this time.
    Duration(Duration),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    pub pattern: Pattern,
    /// Bytes of an operation: a multiple of 512, up to 16 MiB.
    pub block: u64,
    /// Bytes, rounded down to whole blocks.
    pub file: u64,
    pub io: Io,
    pub sync: Sync,
    /// Whether the file is dropped from the page cache before the clock starts, or read into it. With direct I/O it is always dropped.
    pub cold: bool,
    /// With one operation at a time each; 0 counts as 1.
    pub threads: u32,
    pub amount: Amount,
    /// For the content and the order of random blocks.
    pub seed: u64,
}

impl Spec {
    pub fn blocks(&self) -> u64 {
        self.file / self.block.max(1)
    }

    pub fn file_bytes(&self) -> u64 {
        self.blocks() * self.block
    }

    pub(super) fn threads(&self) -> u64 {
        u64::from(self.threads.max(1))
    }

    /// Why this can be measured nowhere, if so. A location may refuse more.
    pub fn unsupported(&self) -> Option<UnsupportedReason> {
        let syncs = self.sync != Sync::None || self.io.is_dsync();
        if !BLOCK_BYTES.contains(&self.block) || !self.block.is_multiple_of(SECTOR_BYTES) {
            Some(UnsupportedReason::BlockSize)
        } else if self.blocks() < self.threads() {
            Some(UnsupportedReason::FileTooSmall { least_bytes: self.block * self.threads() })
        } else if syncs && !self.pattern.writes() {
            Some(UnsupportedReason::NothingToSync)
        } else {
            None
        }
    }
}

#[cfg(test)]
impl Spec {
    /// One thread and a file of 64 blocks of 4 KiB, as many as are read or written.
    pub(crate) fn small(pattern: Pattern) -> Spec {
        Spec {
            pattern,
            block: 4096,
            file: 64 * 4096,
            io: Io::Buffered,
            sync: Sync::None,
            cold: false,
            threads: 1,
            amount: Amount::Operations(64),
            seed: 3,
        }
    }
}
