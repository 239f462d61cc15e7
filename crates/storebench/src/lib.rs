//! This crate is the command line of storebench ([`cli`]), for its own binary and for binaries that add stores or workloads.

use self::cli::Extras;

pub use storebench_stores::{STORES, present};

pub mod cli;
#[cfg(feature = "sqlite")]
mod sqlite_file;
#[cfg(feature = "sqlite")]
mod sqlite_values;

/// The optional features of storebench in this build.
pub const EXTRAS: Extras = Extras {
    #[cfg(feature = "libmdbx")]
    begin: Some(storebench_stores::make_libmdbx_quiet),
    #[cfg(not(feature = "libmdbx"))]
    begin: None,
    #[cfg(feature = "sqlite")]
    sqlite: Some(sqlite_file::open),
    #[cfg(feature = "sqlite")]
    sqlite_values: Some(sqlite_values::read),
    #[cfg(not(feature = "sqlite"))]
    sqlite: None,
    #[cfg(not(feature = "sqlite"))]
    sqlite_values: None,
};
