//! The measuring: what a store is, what is done to it, how that is timed and written down.
//!
//! It holds no native code and shows nothing. The crate `storebench-report` makes something of the results; the crate
//! `storebench` adds one file per engine and the command line, to which it hands its table of [`store::StoreDef`]s;
//! another binary crate can hand over a table of its own.

#[cfg(not(unix))]
compile_error!("storebench is made of a Unix's calls: on Windows, build it in WSL (docs/building.md)");

pub mod axis;
pub mod bounded;
pub mod cell;
pub mod error;
pub mod guard;
pub mod kernel;
pub mod library;
pub mod lifeline;
pub mod measure;
pub mod record;
pub mod result;
pub mod server;
pub mod shown;
pub mod simulated;
pub mod store;
pub mod stores;
pub mod test_hooks;
pub mod threads;
pub mod trace;
pub mod units;
pub mod words;
pub mod workload;
