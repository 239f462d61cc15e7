//! The stores that storebench measures, and its command line, for its own binary and for those that add stores to it.

use storebench_core::store::StoreDef;
use storebench_core::stores::{FLAT_FOLDER, MEMORY, NESTED_FOLDER, NULL, ONE_FILE};

use self::cli::Extras;

pub mod cli;
#[cfg(feature = "sqlite")]
mod sqlite_file;
#[cfg(feature = "sqlite")]
mod sqlite_values;
mod stores;

/// The optional features of storebench, as far as this build has them.
pub const EXTRAS: Extras = Extras {
    #[cfg(feature = "sqlite")]
    sqlite: Some(sqlite_file::open),
    #[cfg(feature = "sqlite")]
    sqlite_values: Some(sqlite_values::read),
    #[cfg(not(feature = "sqlite"))]
    sqlite: None,
    #[cfg(not(feature = "sqlite"))]
    sqlite_values: None,
};

/// Every store that storebench knows, in the order of its tables; those that this build lacks say so.
pub const STORES: &[StoreDef] = &[
    stores::SQLITE,
    stores::LEVELDB,
    stores::ROCKSDB,
    stores::BERKELEYDB,
    stores::LMDB,
    stores::UNQLITE,
    stores::REDB,
    stores::FJALL,
    stores::POSTGRES,
    stores::MARIADB,
    FLAT_FOLDER,
    NESTED_FOLDER,
    ONE_FILE,
    NULL,
    MEMORY,
];
