//! Makes figures of results: it sorts trials into comparable groups, computes statistics, ranks stores, and decides what may be said of them:
//! best, tied, dangerous, not judged, and whether a published finding holds.
//!
//! Everything starts with [`data::merge::Merged`], which sorts the trials of any number of runs; the rest only reads it.

#![allow(missing_docs, reason = "what only storebench-report uses is named after what it is")]

pub mod claims;
pub mod column;
pub mod data;
pub mod judge;
pub mod layout;
pub mod published;
pub mod stats;
