//! sled by its own interface, flushed by its own thread alone.

use std::path::Path;

use sled::{Batch, Config, Db};
use storebench_core::record::Key;

use super::Engine;
use crate::CACHE_BYTES;

pub struct Sled(Db);

impl Engine for Sled {
    fn open(folder: &Path) -> Sled {
        let config = Config::new().path(folder).cache_capacity(CACHE_BYTES);
        Sled(config.open().expect("sled opens"))
    }

    fn put(&mut self, key: &Key, value: &[u8]) {
        self.0.insert(&key[..], value).expect("sled writes");
    }

    fn get(&mut self, key: &Key, buffer: &mut [u8]) -> usize {
        let value = self.0.get(&key[..]).expect("sled reads").expect("the record is there");
        buffer[..value.len()].copy_from_slice(&value);
        value.len()
    }

    fn put_all(&mut self, records: &[(Key, Vec<u8>)]) {
        let mut batch = Batch::default();
        records.iter().for_each(|(key, value)| batch.insert(&key[..], &value[..]));
        self.0.apply_batch(batch).expect("sled writes");
    }
}
