//! The harness of storebench: what a store is, what is done to it, how that is measured and shown.
//!
//! It holds no native code. The crate `storebench` adds one file per engine and hands its table of
//! [`store::StoreDef`]s to [`cli::main`]; another binary crate can hand over a table of its own.

pub mod background;
pub mod cell;
pub mod claims;
pub mod cli;
pub mod column;
pub mod crash_writer;
pub mod error;
pub mod estimate;
pub mod folder;
mod guard;
mod lifeline;
pub mod like;
pub mod measure;
pub mod place;
pub mod plan;
pub mod published;
pub mod record;
pub mod report;
pub mod result;
pub mod runner;
pub mod schedule;
mod shown;
pub mod stage;
pub mod stats;
pub mod store;
pub mod stores;
mod threads;
pub mod units;
pub mod workload;
