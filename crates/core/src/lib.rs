//! The measuring: what a store is, what is done to it, how that is timed and written down.
//!
//! It holds no native code and shows nothing. The crate `storebench-report` makes something of the results; the crate
//! `storebench` adds one file per engine and the command line, to which it hands its table of [`store::StoreDef`]s;
//! another binary crate can hand over a table of its own.

#[cfg(not(unix))]
compile_error!("storebench is made of a Unix's calls: on Windows, build it in WSL (docs/building.md)");

pub mod axis;
pub mod background;
pub mod bounded;
pub mod cell;
pub mod error;
pub mod folder;
pub mod guard;
pub mod image;
pub mod kept;
mod kernel;
pub mod library;
pub mod lifeline;
pub mod like;
pub mod machine;
pub mod measure;
pub mod place;
pub mod plan;
pub mod record;
pub mod result;
pub mod runner;
pub mod schedule;
pub mod server;
pub mod shard;
pub mod shown;
pub mod simulated;
pub mod stage;
pub mod store;
pub mod stores;
pub mod test_hooks;
mod threads;
pub mod trace;
pub mod units;
pub mod words;
pub mod workload;
