//! Holds a trial to limits: by cgroups of version 2, else of version 1, else by a scope of the user's systemd, else by what a
//! process may limit of itself. The process that is held reads back from the kernel what takes effect.

mod enter;
mod files;
mod processor_share;
mod support;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use storebench_model::result::LimitKind;
use storebench_model::words::words;

pub(crate) use self::enter::allowed_processors;
pub use self::enter::{LimitValues, WantedLimit};
pub use self::files::{LimitCounts, evidence, hold, read_limit};
pub use self::processor_share::beyond_share;
pub use self::support::{HeldLimit, LimitDecisions, LimitSupport};

pub(crate) type Limits = BTreeMap<LimitKind, u64>;

/// A cgroup controller, with the name of version 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::VariantArray, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Controller {
    /// Memory.
    Memory,
    /// Which processors.
    Cpuset,
    /// Time of processors.
    Cpu,
    /// Block devices.
    Io,
}

words!(Controller, all);

impl Controller {
    pub fn from_limit(limit: LimitKind) -> Controller {
        match limit {
            LimitKind::Memory => Controller::Memory,
            LimitKind::Processors => Controller::Cpuset,
            LimitKind::Share => Controller::Cpu,
            _ => Controller::Io,
        }
    }

    pub fn v1(self) -> &'static str {
        match self {
            Controller::Io => "blkio",
            other => other.name(),
        }
    }
}

/// What holds a limit.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::VariantNames,
    strum::VariantArray,
)]
pub enum LimitMechanism {
    /// A cgroup of version 1.
    #[strum(serialize = "cgroup v1")]
    V1,
    /// A cgroup of version 2.
    #[strum(serialize = "cgroup v2")]
    V2,
    /// A scope of the user's systemd, which is a cgroup of version 2.
    #[strum(serialize = "systemd-run --user")]
    Scope,
    /// The processors that the process may run on.
    #[strum(serialize = "affinity")]
    Affinity,
    /// A limit of the process's own data.
    #[strum(serialize = "RLIMIT_DATA")]
    ResourceLimit,
}

words!(LimitMechanism, shown);

/// The slice of time, and the part of it that a share of processors comes to, in microseconds. The slice is at least 10 ms, and
/// the part at least the kernel's millisecond.
pub fn slices(millionths: u64) -> (u64, u64) {
    const SHORTEST_US: u64 = 10_000;
    const LONGEST_US: u64 = 1_000_000;
    const LEAST_PART_US: u64 = 1_000;
    let millionths = millionths.max(1);
    let period = (LEAST_PART_US * 1_000_000).div_ceil(millionths).clamp(SHORTEST_US, LONGEST_US);
    (period, (period * millionths / 1_000_000).max(LEAST_PART_US))
}
