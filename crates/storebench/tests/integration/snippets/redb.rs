// redb: cargo add redb
use redb::{Builder, Database, Durability, Error, TableDefinition};

const RECORDS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("records");

fn open_records(file: &str) -> Result<Database, Error> {
    Ok(Builder::new().set_cache_size(1073741824).create(file)?)
}

fn put(records: &Database, key: &[u8], value: &[u8]) -> Result<(), Error> {
    let mut transaction = records.begin_write()?;
    transaction.set_durability(Durability::Immediate)?;
    transaction.set_two_phase_commit(false);
    transaction.set_quick_repair(false);
    transaction.open_table(RECORDS)?.insert(key, value)?;
    Ok(transaction.commit()?)
}
