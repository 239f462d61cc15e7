// redb: cargo add redb@VERSION
use redb::{Builder, Database, Durability, Error, TableDefinition};

const RECORDS: TableDefinition<&[u8], &[u8]> =
    TableDefinition::new("records");

fn open_records(folder: &std::path::Path) -> Result<Database, Error> {
    let file = folder.join("records.redb");
    let database =
        Builder::new().set_cache_size(1073741824).create(file)?;
    // Readers should find the table.
    let transaction = database.begin_write()?;
    transaction.open_table(RECORDS)?;
    transaction.commit()?;
    // redb does not sync the folder that it made its file in.
    std::fs::File::open(folder)?.sync_all()?;
    Ok(database)
}

fn put(records: &Database, key: &[u8], value: &[u8]) -> Result<(), Error> {
    let mut transaction = records.begin_write()?;
    transaction.set_durability(Durability::Immediate)?;
    transaction.set_two_phase_commit(false);
    transaction.set_quick_repair(false);
    transaction.open_table(RECORDS)?.insert(key, value)?;
    Ok(transaction.commit()?)
}
