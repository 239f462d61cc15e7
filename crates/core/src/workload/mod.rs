//! What is done to a store: the short timed loop ([`driver`]), the choice of keys, and one file per workload.

pub mod audit;
pub mod bench;
pub mod choose;
pub mod crud;
pub mod device;
pub mod driver;
mod pacer;
pub mod phase;
pub mod promise;
mod zipf;
