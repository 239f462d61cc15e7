//! The words between a load and its parent, and the clock that both read.

use serde::{Deserialize, Serialize};

/// A message from a load to its parent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "kebab-case")]
pub enum Message {
    /// It has prepared what it needs and is at work; progress counts from here.
    AtWork {
        /// The work that it does, in words.
        description: String,
        /// The unit of its progress.
        unit: String,
    },
    /// Its progress; sent about twenty times a second, also while it prepares.
    Progress {
        /// When: [`now_ns`].
        at_ns: u64,
        /// The amount done so far, in its unit.
        done: f64,
        /// Whether the disk has yet to answer it: a load that waits for the disk keeps it busy.
        #[serde(default)]
        waiting: bool,
    },
    /// This machine lacks what it needs.
    Unsupported {
        /// The missing need, and what to do.
        why: String,
    },
    /// It can't go on.
    Failed {
        /// Why.
        why: String,
    },
}

/// Why a load does not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// This machine lacks what it needs.
    Unsupported(String),
    /// Something went wrong.
    Failed(String),
}

impl Stop {
    /// Something went wrong while `doing` something; for `map_err`.
    pub(super) fn failed<E: std::fmt::Display>(doing: &str) -> impl FnOnce(E) -> Stop {
        move |error| Stop::Failed(format!("{doing}: {error}"))
    }
}

/// Nanoseconds on a clock that all processes of this machine share.
pub fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
