//! redb by its own interface: a transaction for each call, without syncs.

use std::path::Path;

use redb::{Builder, Database, Durability, ReadableDatabase, TableDefinition};
use storebench_core::record::Key;

use super::Engine;
use crate::CACHE_BYTES;

const RECORDS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("records");

pub struct Redb(Database);

impl Redb {
    fn write<'r>(&self, durability: Durability, records: impl Iterator<Item = (&'r Key, &'r [u8])>) {
        let mut transaction = self.0.begin_write().expect("redb begins");
        transaction.set_durability(durability).expect("redb takes it");
        let mut table = transaction.open_table(RECORDS).expect("redb has the table");
        for (key, value) in records {
            table.insert(&key[..], value).expect("redb writes");
        }
        drop(table);
        transaction.commit().expect("redb commits");
    }
}

impl Engine for Redb {
    fn open(folder: &Path) -> Redb {
        let mut builder = Builder::new();
        builder.set_cache_size(CACHE_BYTES as usize);
        let redb = Redb(builder.create(folder.join("records.redb")).expect("redb opens"));
        redb.write(Durability::Immediate, std::iter::empty());
        redb
    }

    fn put(&mut self, key: &Key, value: &[u8]) {
        self.write(Durability::None, std::iter::once((key, value)));
    }

    fn get(&mut self, key: &Key, buffer: &mut [u8]) -> usize {
        let transaction = self.0.begin_read().expect("redb begins");
        let table = transaction.open_table(RECORDS).expect("redb has the table");
        let value = table.get(&key[..]).expect("redb reads").expect("the record is there");
        let value = value.value();
        buffer[..value.len()].copy_from_slice(value);
        value.len()
    }

    fn put_all(&mut self, records: &[(Key, Vec<u8>)]) {
        self.write(Durability::None, records.iter().map(|(key, value)| (key, value.as_slice())));
    }
}
