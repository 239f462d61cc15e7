//! The work that is done to a store: the short timed loop ([`driver`]), the choice of keys, and one file per workload.

mod aging;
pub mod audit;
pub mod bare;
mod batch;
mod bench;
pub mod case;
pub mod choose;
pub mod clients;
pub mod crud;
pub mod cut;
mod def;
pub(crate) mod device;
pub mod driver;
mod elapsed;
mod gauge;
pub mod kill;
mod life;
pub mod load_progress;
mod loader;
pub mod mix;
pub mod operation;
mod pacer;
pub mod parameter;
mod phase;
pub mod progress_shm;
mod quanta;
mod read_buffer;
mod recorder;
pub mod recover;
pub mod replay;
pub mod shop;
pub mod spec;
mod start_barrier;
pub mod step;
mod store_trial;
mod sync_check;
pub mod table;
mod transactions;
mod worker_pool;
mod workload_error;
pub mod ycsb;
mod zipf;

#[cfg(test)]
mod tests;
