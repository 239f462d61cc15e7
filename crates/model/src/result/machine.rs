//! The limits that a trial ran under, as results hold them.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::words::words;

/// The limits of the machine that a trial runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum LimitKind {
    /// Memory, the page cache included, in bytes.
    Memory,
    /// Processors.
    Processors,
    /// Time of processors, in millionths of one processor's.
    Share,
    /// Bytes that are read per second from the block device under the place.
    ReadBandwidth,
    /// Bytes that are written to it per second.
    WriteBandwidth,
    /// Reads from it per second.
    ReadOperations,
    /// Writes to it per second.
    WriteOperations,
}

words!(LimitKind, shown);

impl LimitKind {
    /// A sentence.
    pub fn describe(self) -> &'static str {
        match self {
            LimitKind::Memory => "memory",
            LimitKind::Processors => "the number of processors",
            LimitKind::Share => "processor time",
            LimitKind::ReadBandwidth => "read bandwidth",
            LimitKind::WriteBandwidth => "write bandwidth",
            LimitKind::ReadOperations => "read operations",
            LimitKind::WriteOperations => "write operations",
        }
    }

    /// Whether it is of the block device under the place.
    pub fn is_of_device(self) -> bool {
        !matches!(self, LimitKind::Memory | LimitKind::Processors | LimitKind::Share)
    }
}

impl FromStr for LimitKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        LimitKind::ALL.into_iter().find(|limited| limited.name() == text).ok_or_else(|| {
            let known: Vec<&str> = LimitKind::ALL.iter().map(|limited| limited.name()).collect();
            format!("{text:?} is nothing that can be limited: there are {}", known.join(", "))
        })
    }
}

/// The machine that a trial's limits stood in for, and what came of each limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileReport {
    /// Its name in cells.
    pub name: String,
    /// Its limits.
    pub limits: Vec<LimitReport>,
    /// How often the trial was at its memory limit, so that the kernel took page cache back, or killed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit_hits: Option<u64>,
    /// The number of slices of time in which the trial's share of the processors ended before the slice did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_periods: Option<u64>,
    /// The time that its threads stood still for that, added over the processors, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
}

/// The outcome of one limit, in the units of [`LimitKind`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitReport {
    /// The resource that is limited.
    pub limit: LimitKind,
    /// The value that was asked for.
    pub asked: u64,
    /// The limit that the kernel reported for the trial's process before its work began; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_force: Option<u64>,
    /// What holds it: `cgroup v2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why it was not limited, or what the limit does not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}
