//! The work that is done to a store: the short timed loop ([`driver`]), the choice of keys, and one file per workload.

mod aging;
pub mod audit;
pub mod bare;
pub mod batch;
pub mod bench;
pub mod case;
pub mod choose;
pub mod clients;
pub mod crew;
pub mod crud;
pub mod cut;
pub mod def;
pub mod device;
pub mod driver;
pub mod elapsed;
mod gauge;
pub mod kill;
pub mod life;
pub mod line;
mod loader;
pub mod loading;
pub mod mix;
pub mod on_store;
pub mod operation;
pub mod pacer;
pub mod parameter;
pub mod phase;
pub mod promise;
pub mod quanta;
mod read_buffer;
pub mod recorder;
pub mod recover;
pub mod replay;
pub mod shop;
pub mod spec;
pub mod step;
pub mod stop;
pub mod table;
pub mod task;
pub mod told;
pub mod transactions;
pub mod ycsb;
mod zipf;

#[cfg(test)]
mod tests;
