//! The conformance suite: the contract of every store, at every guarantee that it offers and as shipped.
//!
//! One test per aspect, each of which walks the whole table of stores; a failure names the store and the tier.
//! `STOREBENCH_TEST_STORE=sqlite` narrows the tests to one store.

mod compression;
mod keys_and_values;
mod kill;
mod random;
mod reading;
mod records;
mod reopening;
mod settings;
mod shares;
mod standing;
pub mod subject;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod syncs;
mod table;
mod threads;
mod transactions;
