//! The table of stores that storebench measures, for its own binary and for those that add stores to it.

use storebench_core::store::StoreDef;
use storebench_core::stores::{FLAT_FOLDER, MEMORY, NESTED_FOLDER, NULL};

mod stores;

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
    FLAT_FOLDER,
    NESTED_FOLDER,
    NULL,
    MEMORY,
];
