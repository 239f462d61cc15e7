//! This crate has the engines and servers that storebench measures, one file per store, and the table of stores ([`STORES`]). A
//! native store is compiled with its feature; without it, [`store!`] makes a table entry that names the feature.

use storebench_model::store::StoreDef;
use storebench_model::stores::{FLAT_FOLDER, MEMORY, NESTED_FOLDER, NULL, ONE_FILE};

/// Imports a native store's table entry or makes a stand-in: feature (the store's name), the module's constant, what the store
/// is, in half a line, and its kind, if not an engine.
macro_rules! store {
    ($feature:literal, $module:ident::$name:ident, $summary:literal) => {
        store!($feature, $module::$name, $summary, Engine);
    };
    ($feature:literal, $module:ident::$name:ident, $summary:literal, $kind:ident) => {
        #[cfg(feature = $feature)]
        use self::$module::$name;
        #[cfg(not(feature = $feature))]
        const $name: StoreDef = StoreDef::not_built(
            $feature,
            storebench_model::store::StoreKind::$kind,
            $summary,
            concat!("build with --features ", $feature),
        );
    };
}

#[cfg(feature = "berkeleydb")]
mod berkeleydb;
#[cfg_attr(not(feature = "default"), allow(dead_code, reason = "a build with few stores needs few of them"))]
mod compiled;
#[cfg(feature = "etcd")]
mod etcd;
mod evidence;
#[cfg(feature = "fjall")]
mod fjall;
#[cfg(test)]
mod headers;
#[cfg(feature = "leveldb")]
mod leveldb;
#[cfg(feature = "libmdbx")]
mod libmdbx;
#[cfg(any(
    feature = "berkeleydb",
    feature = "leveldb",
    feature = "libmdbx",
    feature = "rocksdb",
    feature = "unqlite"
))]
mod linked;
#[cfg(feature = "lmdb")]
mod lmdb;
#[cfg(any(feature = "libmdbx", feature = "lmdb"))]
mod mapped;
#[cfg(feature = "mariadb")]
mod mariadb;
#[cfg(any(feature = "berkeleydb", feature = "unqlite"))]
mod one_session;
#[cfg(any(feature = "leveldb", feature = "libmdbx", feature = "rocksdb", feature = "unqlite"))]
mod opaque;
#[cfg(any(feature = "leveldb", feature = "rocksdb"))]
mod owned;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redb")]
mod redb;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "rocksdb")]
mod rocksdb;
#[cfg(feature = "sled")]
mod sled;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg_attr(not(feature = "default"), allow(dead_code, reason = "a build with few stores needs few of it"))]
mod support;
#[cfg(feature = "unqlite")]
mod unqlite;

#[cfg(feature = "libmdbx")]
pub use self::libmdbx::make_quiet as make_libmdbx_quiet;

store!("sqlite", sqlite::SQLITE, "SQL database in one file (B-tree)");
store!("leveldb", leveldb::LEVELDB, "log-structured merge tree");
store!("rocksdb", rocksdb::ROCKSDB, "log-structured merge tree");
store!("berkeleydb", berkeleydb::BERKELEYDB, "B-tree, with or without transactions");
store!("lmdb", lmdb::LMDB, "memory-mapped B+tree, copy on write");
store!("libmdbx", libmdbx::LIBMDBX, "memory-mapped B+tree, copy on write, from LMDB");
store!("unqlite", unqlite::UNQLITE, "linear hash table in one file");
store!("redb", redb::REDB, "copy-on-write B-trees in one file, in Rust");
store!("fjall", fjall::FJALL, "log-structured merge tree, in Rust");
store!("sled", sled::SLED, "B+tree on a log of pages, in Rust");
store!("postgres", postgres::POSTGRES, "PostgreSQL, a private server for each trial", Server);
store!(
    "mariadb",
    mariadb::MARIADB,
    "MariaDB with InnoDB or MyRocks, a private server for each trial",
    Server
);
store!("redis", redis::REDIS, "Redis, a private server for each trial", Server);
store!("etcd", etcd::ETCD, "etcd, a private server for each trial, or a cluster of three", Server);

/// The folders of the libraries that this build is linked with, by feature, for programs to compile with the same ones. Empty if
/// the compiler finds a library by itself.
pub const PREFIXES: [(&str, Option<&str>); 5] = [
    ("berkeleydb", option_env!("STOREBENCH_BERKELEYDB_PREFIX")),
    ("leveldb", option_env!("STOREBENCH_LEVELDB_PREFIX")),
    ("libmdbx", option_env!("STOREBENCH_LIBMDBX_PREFIX")),
    ("rocksdb", option_env!("STOREBENCH_ROCKSDB_PREFIX")),
    ("unqlite", option_env!("STOREBENCH_UNQLITE_PREFIX")),
];

/// Every store that storebench knows, in the order of its tables.
pub const STORES: &[StoreDef] = &[
    SQLITE.with_evidence(evidence::find),
    LEVELDB.with_evidence(evidence::find),
    ROCKSDB.with_evidence(evidence::find),
    BERKELEYDB.with_evidence(evidence::find),
    LMDB.with_evidence(evidence::find),
    LIBMDBX.with_evidence(evidence::find),
    UNQLITE.with_evidence(evidence::find),
    REDB.with_evidence(evidence::find),
    FJALL.with_evidence(evidence::find),
    SLED.with_evidence(evidence::find),
    POSTGRES.with_evidence(evidence::find),
    MARIADB.with_evidence(evidence::find),
    REDIS.with_evidence(evidence::find),
    ETCD.with_evidence(evidence::find),
    FLAT_FOLDER.with_evidence(evidence::find),
    NESTED_FOLDER.with_evidence(evidence::find),
    ONE_FILE.with_evidence(evidence::find),
    NULL,
    MEMORY,
];

/// [`STORES`], with an error in place of an engine whose shared library has gone.
pub fn present() -> Vec<StoreDef> {
    #[cfg(all(feature = "rocksdb", not(rocksdb_linked)))]
    if let Some(why) = rocksdb::missing_library() {
        let mut stores = STORES.to_vec();
        for store in stores.iter_mut().filter(|store| store.name == "rocksdb") {
            store.open = Err(why.clone().leak());
        }
        return stores;
    }
    STORES.to_vec()
}
