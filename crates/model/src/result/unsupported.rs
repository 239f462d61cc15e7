//! Why a file can't be measured.

use serde::{Deserialize, Serialize};

use crate::axis::device::values::{BLOCK_BYTES, SECTOR_BYTES};
use crate::units::exact_bytes;

/// Why a combination can't be measured, here or anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "lack", rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum UnsupportedReason {
    #[error(
        "a block is a multiple of {} bytes, from {} to {}",
        SECTOR_BYTES,
        exact_bytes(*BLOCK_BYTES.start()),
        exact_bytes(*BLOCK_BYTES.end())
    )]
    BlockSize,
    #[error("each thread needs a separate block: the file must have at least {}", exact_bytes(*.least_bytes))]
    FileTooSmall { least_bytes: u64 },
    #[error("a read has nothing to sync")]
    NothingToSync,
    #[error("the file system refuses O_DIRECT")]
    DirectRefused,
    /// `O_DIRECT` takes other block sizes here, as a rule multiples of the device's logical blocks.
    #[error("O_DIRECT takes blocks in multiples of {} here", exact_bytes(*.multiple_of))]
    BlockUnaligned { multiple_of: u64 },
    /// The file can't be dropped from memory: no device is below it, or its bytes need not come from it.
    #[error("{percent} % of the file stays in memory when it is dropped from the page cache")]
    StaysInMemory { percent: u8 },
}
