//! The work that is done to a store: the short timed loop ([`driver`]), the choice of keys, and one file per workload.

mod aging;
pub mod audit;
pub mod bare;
mod batch;
mod bench;
pub mod case;
pub mod choose;
pub mod clients;
mod crew;
pub mod crud;
pub mod cut;
mod def;
pub(crate) mod device;
pub mod driver;
mod elapsed;
mod gauge;
pub mod kill;
mod life;
mod line;
mod loader;
pub mod loading;
pub mod mix;
mod on_store;
pub mod operation;
mod pacer;
pub mod parameter;
mod phase;
mod promise;
mod quanta;
mod read_buffer;
mod recorder;
pub mod recover;
pub mod replay;
pub mod shop;
pub mod spec;
pub mod step;
mod stop;
pub mod table;
mod task;
pub mod told;
mod transactions;
pub mod ycsb;
mod zipf;

#[cfg(test)]
mod tests;
