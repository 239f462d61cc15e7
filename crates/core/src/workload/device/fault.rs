//! The reasons why a file can't be measured.

use std::io;
use std::path::PathBuf;

use storebench_model::result::UnsupportedReason;
use storebench_model::units::exact_bytes;
use storebench_model::words::words;

use crate::workload::workload_error::WorkloadError;

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
