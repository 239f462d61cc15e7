//! Holding a trial to limits: by cgroups of version 2, else of version 1, else by a scope of the user's systemd, else by what
//! a process may limit of itself. What takes effect is read back from the kernel by the process that is held.

mod enter;
mod files;
mod reach;
mod share;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::enter::{Order, allowed_processors};
pub use self::files::{Evidence, evidence, hold, in_force};
pub use self::reach::{Decision, Held, Reach};
pub use self::share::beyond_share;
use crate::result::Limited;

/// Limits, in the units of [`Limited`].
pub type Limits = BTreeMap<Limited, u64>;

/// A cgroup controller: the kernel's name for a kind of limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Controller {
    /// Memory.
    Memory,
    /// Which processors.
    Cpuset,
    /// Time of processors.
    Cpu,
    /// Block devices.
    Io,
}

impl Controller {
    /// Every one.
    pub const ALL: [Controller; 4] =
        [Controller::Memory, Controller::Cpuset, Controller::Cpu, Controller::Io];

    /// The controller that holds a limit.
    pub fn of(limit: Limited) -> Controller {
        match limit {
            Limited::Memory => Controller::Memory,
            Limited::Processors => Controller::Cpuset,
            Limited::Share => Controller::Cpu,
            _ => Controller::Io,
        }
    }

    /// Its name in cgroups of version 1.
    pub fn v1(self) -> &'static str {
        match self {
            Controller::Io => "blkio",
            other => other.v2(),
        }
    }

    /// Its name in cgroups of version 2.
    pub fn v2(self) -> &'static str {
        match self {
            Controller::Memory => "memory",
            Controller::Cpuset => "cpuset",
            Controller::Cpu => "cpu",
            Controller::Io => "io",
        }
    }
}

/// By what a limit is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum By {
    /// A cgroup of version 1.
    V1,
    /// A cgroup of version 2.
    V2,
    /// A scope of the user's systemd, which is a cgroup of version 2.
    Scope,
    /// The processors that the process may run on.
    Affinity,
    /// A limit of the process's own data.
    ResourceLimit,
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            By::V1 => "cgroup v1",
            By::V2 => "cgroup v2",
            By::Scope => "systemd-run --user",
            By::Affinity => "affinity",
            By::ResourceLimit => "RLIMIT_DATA",
        })
    }
}

/// The slice of time, and the part of it that a share of processors comes to, in microseconds. The slice is as short as the
/// kernel, which takes no part under a millisecond, allows, and no shorter than 10 ms.
pub fn slices(millionths: u64) -> (u64, u64) {
    const SHORTEST_US: u64 = 10_000;
    const LONGEST_US: u64 = 1_000_000;
    const LEAST_PART_US: u64 = 1_000;
    let millionths = millionths.max(1);
    let period = (LEAST_PART_US * 1_000_000).div_ceil(millionths).clamp(SHORTEST_US, LONGEST_US);
    (period, (period * millionths / 1_000_000).max(LEAST_PART_US))
}
