//! The reasons why a file can't be measured.

use std::fmt;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::axis::device::values::{BLOCK_BYTES, SECTOR_BYTES};
use crate::units::exact_bytes;
use crate::workload::workload_error::WorkloadError;

/// Why a combination can't be measured, here or anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "lack", rename_all = "kebab-case")]
pub enum UnsupportedReason {
    BlockSize,
    FileTooSmall {
        least_bytes: u64,
    },
    NothingToSync,
    DirectRefused,
    /// `O_DIRECT` takes other block sizes here, as a rule multiples of the device's logical blocks.
    BlockUnaligned {
        multiple_of: u64,
    },
    /// The file can't be dropped from memory: no device is below it, or its bytes need not come from it.
    StaysInMemory {
        percent: u8,
    },
}

impl fmt::Display for UnsupportedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnsupportedReason::BlockSize => write!(
                f,
                "a block is a multiple of {SECTOR_BYTES} bytes, from {} to {}",
                exact_bytes(*BLOCK_BYTES.start()),
                exact_bytes(*BLOCK_BYTES.end())
            ),
            UnsupportedReason::FileTooSmall { least_bytes } => write!(
                f,
                "each thread needs a separate block: the file must have at least {}",
                exact_bytes(*least_bytes)
            ),
            UnsupportedReason::NothingToSync => f.write_str("a read has nothing to sync"),
            UnsupportedReason::DirectRefused => f.write_str("the file system refuses O_DIRECT"),
            UnsupportedReason::BlockUnaligned { multiple_of } => {
                write!(f, "O_DIRECT takes blocks in multiples of {} here", exact_bytes(*multiple_of))
            }
            UnsupportedReason::StaysInMemory { percent } => {
                write!(f, "{percent} % of the file stays in memory when it is dropped from the page cache")
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DeviceStep {
    Make,
    LayOut,
    Open,
    Advise,
    Read,
    Write,
    Sync,
    Delete,
}

impl DeviceStep {
    fn describe(self) -> &'static str {
        match self {
            DeviceStep::Make => "making",
            DeviceStep::LayOut => "laying out",
            DeviceStep::Open => "opening",
            DeviceStep::Advise => "preparing the page cache for",
            DeviceStep::Read => "reading",
            DeviceStep::Write => "writing",
            DeviceStep::Sync => "syncing",
            DeviceStep::Delete => "deleting",
        }
    }
}

#[derive(Debug)]
pub enum DeviceError {
    Unsupported(UnsupportedReason),
    NoRoom {
        path: PathBuf,
        needed_bytes: u64,
        free_bytes: u64,
    },
    Io {
        step: DeviceStep,
        path: PathBuf,
        /// In bytes, for what was done at one place.
        offset: Option<u64>,
        source: io::Error,
    },
    Harness(String),
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

impl From<UnsupportedReason> for DeviceError {
    fn from(unsupported: UnsupportedReason) -> DeviceError {
        DeviceError::Unsupported(unsupported)
    }
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceError::Unsupported(unsupported) => unsupported.fmt(f),
            DeviceError::NoRoom { path, needed_bytes, free_bytes } => write!(
                f,
                "the file takes {}, and {} has {} free: make room, or choose a smaller file or another disk",
                exact_bytes(*needed_bytes),
                path.display(),
                exact_bytes(*free_bytes)
            ),
            DeviceError::Io { step, path, offset, source } => {
                write!(f, "{} {}", step.describe(), path.display())?;
                if let Some(offset) = offset {
                    write!(f, " at byte {offset}")?;
                }
                write!(f, ": {source}")
            }
            DeviceError::Harness(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for DeviceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            DeviceError::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<WorkloadError> for DeviceError {
    fn from(error: WorkloadError) -> DeviceError {
        DeviceError::Harness(error.message)
    }
}
