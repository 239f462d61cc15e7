//! What all rooms share: it defines a store ([`store`]), the axes and cells of a plan ([`axis`], [`cell`]), the results of trials ([`result`]),
//! errors and units. It has the stores that need no library, and loads stores from shared libraries.

#[cfg(not(unix))]
compile_error!("storebench is made of a Unix's calls: on Windows, build it in WSL (docs/building.md)");

pub mod axis;
pub mod cell;
pub mod error;
pub mod library;
pub mod lifeline;
pub mod read_limited;
pub mod result;
pub mod sanitize;
pub mod server;
pub mod simulated;
pub mod store;
pub mod stores;
pub mod test_hooks;
pub mod threads;
pub mod units;
pub mod words;
