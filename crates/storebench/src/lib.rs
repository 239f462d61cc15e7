//! The stores that storebench measures, and its command line, for its own binary and for those that add stores to it.

use storebench_core::store::StoreDef;
use storebench_core::stores::{FLAT_FOLDER, MEMORY, NESTED_FOLDER, NULL, ONE_FILE};

use self::cli::Extras;

pub mod cli;
mod evidence;
#[cfg(feature = "sqlite")]
mod sqlite_file;
#[cfg(feature = "sqlite")]
mod sqlite_values;
mod stores;

/// The optional features of storebench, as far as this build has them.
pub const EXTRAS: Extras = Extras {
    #[cfg(feature = "libmdbx")]
    begin: Some(stores::make_libmdbx_quiet),
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

/// Every store that storebench knows, in the order of its tables; those that this build lacks say so.
pub const STORES: &[StoreDef] = &[
    stores::SQLITE.seen(evidence::SQLITE),
    stores::LEVELDB.seen(evidence::LEVELDB),
    stores::ROCKSDB.seen(evidence::ROCKSDB),
    stores::BERKELEYDB.seen(evidence::BERKELEYDB),
    stores::LMDB.seen(evidence::LMDB),
    stores::LIBMDBX.seen(evidence::LIBMDBX),
    stores::UNQLITE.seen(evidence::UNQLITE),
    stores::REDB.seen(evidence::REDB),
    stores::FJALL.seen(evidence::FJALL),
    stores::SLED.seen(evidence::SLED),
    stores::POSTGRES.seen(evidence::POSTGRES),
    stores::MARIADB.seen(evidence::MARIADB),
    stores::REDIS.seen(evidence::REDIS),
    stores::ETCD.seen(evidence::ETCD),
    stores::NATS.seen(evidence::NATS),
    stores::CASSANDRA.seen(evidence::CASSANDRA),
    FLAT_FOLDER.seen(evidence::FLAT_FOLDER),
    NESTED_FOLDER.seen(evidence::NESTED_FOLDER),
    ONE_FILE.seen(evidence::ONE_FILE),
    NULL,
    MEMORY,
];
