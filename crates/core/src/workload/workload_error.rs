//! Why a workload stopped before its end.

use storebench_model::result::Failure;
use storebench_model::store::StoreError;

use crate::workload::operation::Operation;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkloadError {
    pub failure: Failure,
    pub message: String,
    pub operation: Option<Operation>,
}

impl WorkloadError {
    /// A failure of the store outside the timed loop.
    pub fn store(doing: &str, error: &StoreError) -> WorkloadError {
        let failure = if is_disk_full(error) { Failure::DiskFull } else { Failure::Store };
        WorkloadError { failure, message: format!("{doing}: {error}"), operation: None }
    }

    /// [`WorkloadError::store`], for `map_err`.
    pub(crate) fn during(doing: &str) -> impl Fn(StoreError) -> WorkloadError + Copy {
        move |error| WorkloadError::store(doing, &error)
    }

    #[cold]
    pub(crate) fn wrong_data(message: impl Into<String>) -> WorkloadError {
        WorkloadError { failure: Failure::WrongData, message: message.into(), operation: None }
    }

    pub fn harness(message: impl Into<String>) -> WorkloadError {
        WorkloadError { failure: Failure::Harness, message: message.into(), operation: None }
    }
}

/// Engines pass the system's message on in their own texts; they share the system's phrase or have their own name for it.
fn is_disk_full(error: &StoreError) -> bool {
    match error {
        StoreError::Io { source, .. } => {
            matches!(source.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
        }
        other => {
            let text = other.to_string().to_lowercase();
            ["no space left", "disk is full", "disk quota", "enospc"]
                .iter()
                .any(|phrase| text.contains(phrase))
        }
    }
}
