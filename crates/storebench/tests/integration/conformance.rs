//! The conformance suite: one test for each aspect of the contract, over the whole table of stores at the guarantees that they offer.
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
