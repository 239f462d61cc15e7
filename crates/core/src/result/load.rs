//! The loading of a trial's records.

use serde::{Deserialize, Serialize};

use super::{Counters, Rest};

/// Loading, before the first operation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Records loaded.
    pub records: u64,
    /// Bytes of their values.
    pub value_bytes: u64,
    /// Time within the store's calls, in nanoseconds.
    pub store_ns: u64,
    /// Counters of the process over the loading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counters>,
    /// The writes after it that made the set old, where there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aged: Option<Aged>,
    /// The rest after it; absent where operations began at once, as in all older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Rest>,
}

/// The records that were loaded were overwritten before the first operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aged {
    /// The times that each was.
    pub times: u32,
    /// Time within the store's calls, in nanoseconds.
    pub store_ns: u64,
}
