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
    stores::SQLITE.seen(evidence::of),
    stores::LEVELDB.seen(evidence::of),
    stores::ROCKSDB.seen(evidence::of),
    stores::BERKELEYDB.seen(evidence::of),
    stores::LMDB.seen(evidence::of),
    stores::LIBMDBX.seen(evidence::of),
    stores::UNQLITE.seen(evidence::of),
    stores::REDB.seen(evidence::of),
    stores::FJALL.seen(evidence::of),
    stores::SLED.seen(evidence::of),
    stores::POSTGRES.seen(evidence::of),
    stores::MARIADB.seen(evidence::of),
    stores::REDIS.seen(evidence::of),
    stores::ETCD.seen(evidence::of),
    FLAT_FOLDER.seen(evidence::of),
    NESTED_FOLDER.seen(evidence::of),
    ONE_FILE.seen(evidence::of),
    NULL,
    MEMORY,
];

/// [`STORES`], without an engine that this program loads where its library has gone.
pub fn present() -> Vec<StoreDef> {
    #[cfg(all(feature = "rocksdb", not(rocksdb_linked)))]
    if let Some(why) = stores::rocksdb_lacks() {
        let mut all = STORES.to_vec();
        for store in all.iter_mut().filter(|store| store.name == "rocksdb") {
            store.open = Err(why.clone().leak());
        }
        return all;
    }
    STORES.to_vec()
}
