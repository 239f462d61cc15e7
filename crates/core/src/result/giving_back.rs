//! The space that comes back when records are removed, as results hold it.

use serde::{Deserialize, Serialize};

use super::{Calls, Disk};

/// Most records of a store were removed. All files are measured while it is closed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivingBack {
    /// The records that were removed.
    pub removed: u64,
    /// Bytes of the values that are left.
    pub value_bytes: u64,
    /// The time that removing took, in nanoseconds.
    pub remove_ns: u64,
    /// The store's files afterwards.
    pub disk: Disk,
    /// The outcome of the engine's own way to give space back; nothing where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compacted: Option<Compacted>,
}

/// Space was given back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compacted {
    /// By what: `VACUUM`.
    pub by: String,
    /// The time that it took, in nanoseconds.
    pub took_ns: u64,
    /// The most that the files took meanwhile, as far as that was seen: they were looked at every few milliseconds.
    pub peak_bytes: u64,
    /// The files afterwards.
    pub disk: Disk,
    /// The calls of others meanwhile, where there were to be any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meanwhile: Option<Meanwhile>,
}

/// The calls of others while space was given back, and as many before it as show what they take otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meanwhile {
    /// Reads while space was given back.
    pub reads: Calls,
    /// Overwriting meanwhile.
    pub writes: Calls,
    /// Reads before that.
    pub reads_before: Calls,
    /// Overwriting before that.
    pub writes_before: Calls,
    /// The calls to which the engine gave an error, and its words. Each was the last of its thread meanwhile, and was done when it was
    /// made again afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}
