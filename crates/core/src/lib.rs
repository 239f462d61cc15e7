//! This crate measures stores: it defines a store ([`store`]), does the work ([`workload`]), times each call ([`measure`]), and
//! defines results ([`result`]). It has no native code and prints nothing. `storebench-host` runs trials in processes,
//! `storebench-report` reads results, `storebench-stores` has the engines, and `storebench` the command line, to which another
//! binary can pass its own table of [`store::StoreDef`]s.

#[cfg(not(unix))]
compile_error!("storebench is made of a Unix's calls: on Windows, build it in WSL (docs/building.md)");

pub mod axis;
pub mod cell;
pub mod error;
pub mod guard;
pub mod kernel;
pub mod library;
pub mod lifeline;
pub mod measure;
pub mod read_limited;
pub mod record;
pub mod result;
pub mod sanitize;
pub mod server;
pub mod simulated;
pub mod store;
pub mod stores;
pub mod test_hooks;
pub mod threads;
pub mod trace;
pub mod units;
pub mod words;
pub mod workload;
