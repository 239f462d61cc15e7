//! fjall by its own interface: its journal stays in the process's memory until it is full.

use std::path::Path;

use fjall::config::CompressionPolicy;
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions};
use storebench_core::record::Key;

use super::Engine;
use crate::CACHE_BYTES;

pub struct Fjall {
    keyspace: Keyspace,
    database: Database,
}

impl Engine for Fjall {
    fn open(folder: &Path) -> Fjall {
        // Half for blocks; half for the memory table in use and the few that wait to be written out.
        let builder = Database::builder(folder).cache_size(CACHE_BYTES / 2);
        let database = builder.journal_compression(CompressionType::None).open().expect("fjall opens");
        let options = || {
            KeyspaceCreateOptions::default()
                .manual_journal_persist(true)
                .max_memtable_size(CACHE_BYTES / 8)
                .data_block_compression_policy(CompressionPolicy::all(CompressionType::None))
        };
        let keyspace = database.keyspace("records", options).expect("fjall makes the keyspace");
        Fjall { keyspace, database }
    }

    fn put(&mut self, key: &Key, value: &[u8]) {
        self.keyspace.insert(&key[..], value).expect("fjall writes");
    }

    fn get(&mut self, key: &Key, buffer: &mut [u8]) -> usize {
        let value = self.keyspace.get(&key[..]).expect("fjall reads").expect("the record is there");
        buffer[..value.len()].copy_from_slice(&value);
        value.len()
    }

    fn put_all(&mut self, records: &[(Key, Vec<u8>)]) {
        let mut batch = self.database.batch().durability(None);
        for (key, value) in records {
            batch.insert(&self.keyspace, &key[..], &value[..]);
        }
        batch.commit().expect("fjall writes");
    }
}
