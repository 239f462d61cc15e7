//! A trial's memory, its processor time, and its files.

use serde::{Deserialize, Serialize};

/// Memory of the trial's process, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Resident before the store was opened, with the harness's own buffers filled.
    pub base_bytes: u64,
    /// The peak of resident memory, less the base.
    pub peak_above_base_bytes: u64,
    /// The same without pages of mapped files, which the kernel can drop at any time: the peak less those above the base that were
    /// resident when the last operation had returned, and no less than all else that was resident then. No kernel tells the peak
    /// of all else: one that was reached while fewer such pages were resident is understated by the difference, one reached
    /// while more were is overstated. Absent where the kernel does not count these pages, and in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_without_mapped_files_bytes: Option<u64>,
    /// The most that the trial's cgroup was charged for at once, from just before the store was opened until the last
    /// operation had returned: resident memory, page cache, and what the kernel keeps for both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_with_page_cache_bytes: Option<u64>,
}

/// Processor time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Cpu {
    pub user_ns: u64,
    pub system_ns: u64,
}

/// The store's files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disk {
    /// Blocks allocated to files and folders, as `du` counts.
    pub allocated_bytes: u64,
    /// The files' lengths.
    pub apparent_bytes: u64,
    /// Number of files.
    pub files: u64,
}
