//! Engines called as their interfaces are, without anything of storebench's adapters.

#[cfg(feature = "berkeleydb")]
pub mod berkeleydb;
#[cfg(feature = "fjall")]
pub mod fjall;
pub mod folder;
#[cfg(feature = "leveldb")]
pub mod leveldb;
#[cfg(feature = "libmdbx")]
pub mod libmdbx;
#[cfg(feature = "lmdb")]
pub mod lmdb;
#[cfg(any(feature = "libmdbx", rocksdb_linked, feature = "unqlite"))]
#[path = "../../../src/opaque.rs"]
mod opaque;
#[cfg(feature = "redb")]
pub mod redb;
#[cfg(rocksdb_linked)]
pub mod rocksdb;
#[cfg(feature = "sled")]
pub mod sled;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(feature = "unqlite")]
pub mod unqlite;

use std::ffi::CString;
use std::path::Path;

use storebench_core::record::Key;

/// An engine, closed on drop. Errors end the benchmark.
pub trait Engine {
    /// Opens it in an empty folder, set as storebench sets it for its cheapest guarantee and [`crate::CACHE_BYTES`].
    fn open(folder: &Path) -> Self
    where
        Self: Sized;

    fn put(&mut self, key: &Key, value: &[u8]);

    /// Copies a value into `buffer`; gives its length, 0 if it is missing.
    fn get(&mut self, key: &Key, buffer: &mut [u8]) -> usize;

    /// Inserts new records, in one transaction if that is the engine's way.
    fn put_all(&mut self, records: &[(Key, Vec<u8>)]) {
        records.iter().for_each(|(key, value)| self.put(key, value));
    }
}

#[allow(dead_code, reason = "a build with few stores needs few of its helpers")]
fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_encoded_bytes()).expect("a path holds no zero byte")
}
