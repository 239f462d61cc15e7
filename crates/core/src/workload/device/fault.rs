//! The reasons why a file can't be measured.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use storebench_model::axis::device::values::{BLOCK_BYTES, SECTOR_BYTES};
use storebench_model::units::exact_bytes;
use storebench_model::words::words;

use crate::workload::workload_error::WorkloadError;

/// Why a combination can't be measured, here or anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "lack", rename_all = "kebab-case")]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames)]
#[allow(missing_docs)]
pub enum DeviceStep {
    #[strum(serialize = "making")]
    Make,
    #[strum(serialize = "laying out")]
    LayOut,
    #[strum(serialize = "opening")]
    Open,
    #[strum(serialize = "preparing the page cache for")]
    Advise,
    #[strum(serialize = "reading")]
    Read,
    #[strum(serialize = "writing")]
    Write,
    #[strum(serialize = "syncing")]
    Sync,
    #[strum(serialize = "deleting")]
    Delete,
}

words!(DeviceStep);

#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    #[error(transparent)]
    Unsupported(#[from] UnsupportedReason),
    #[error(
        "the file takes {}, and {} has {} free: make room, or choose a smaller file or another disk",
        exact_bytes(*.needed_bytes),
        .path.display(),
        exact_bytes(*.free_bytes)
    )]
    NoRoom { path: PathBuf, needed_bytes: u64, free_bytes: u64 },
    #[error("{} {}{}: {source}", .step.name(), .path.display(), at_byte(*.offset))]
    Io {
        step: DeviceStep,
        path: PathBuf,
        /// In bytes, for what was done at one place.
        offset: Option<u64>,
        source: io::Error,
    },
    #[error("{0}")]
    Harness(String),
}

fn at_byte(offset: Option<u64>) -> String {
    offset.map_or_else(String::new, |offset| format!(" at byte {offset}"))
}

impl DeviceError {
    /// Whether the disk, or this user's quota, is full.
    pub(crate) fn is_disk_full(&self) -> bool {
        match self {
            DeviceError::NoRoom { .. } => true,
            DeviceError::Io { source, .. } => {
                matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            }
            DeviceError::Unsupported(_) | DeviceError::Harness(_) => false,
        }
    }
}

impl From<WorkloadError> for DeviceError {
    fn from(error: WorkloadError) -> DeviceError {
        DeviceError::Harness(error.message)
    }
}
