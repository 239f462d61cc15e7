//! Messages from a load to its parent, and the clock that both read.

use serde::{Deserialize, Serialize};

/// A message from a load to its parent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "kebab-case")]
pub enum Message {
    /// The load is ready and has started; progress counts from here.
    AtWork {
        /// The work, in words.
        description: String,
        /// The unit of progress.
        unit: String,
    },
    /// Progress; sent about twenty times a second, also during preparation.
    Progress {
        /// The time: [`now_ns`].
        at_ns: u64,
        /// The amount done so far, in the unit of progress.
        done: f64,
        /// Whether a request waits for the disk: such a load keeps the disk busy.
        #[serde(default)]
        waiting: bool,
    },
    /// This machine lacks something that the load needs.
    Unsupported {
        /// What is missing, and what to do.
        why: String,
    },
    /// The load can't go on.
    Failed {
        /// Why.
        why: String,
    },
}

/// Why a load ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadStop {
    /// This machine lacks something that the load needs.
    Unsupported(String),
    /// Something went wrong.
    Failed(String),
}

impl LoadStop {
    /// The error of an action that is named by `doing`; for `map_err`.
    pub(super) fn failed<E: std::fmt::Display>(doing: &str) -> impl FnOnce(E) -> LoadStop {
        move |error| LoadStop::Failed(format!("{doing}: {error}"))
    }
}

/// Nanoseconds on a clock that all processes of this machine share.
pub fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
