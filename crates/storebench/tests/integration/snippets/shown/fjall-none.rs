// fjall: cargo add fjall@VERSION
use fjall::config::{BlockSizePolicy, CompressionPolicy};
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions};

fn open_records(folder: &str) -> fjall::Result<(Database, Keyspace)> {
    let journal = CompressionType::None;
    let tables = CompressionType::None;
    let database = Database::builder(folder)
        .journal_compression(journal)
        .cache_size(33554432)
        .open()?;
    let records = database.keyspace("records", || {
        KeyspaceCreateOptions::default()
            .manual_journal_persist(true)
            .max_memtable_size(67108864)
            .data_block_size_policy(BlockSizePolicy::all(4096))
            .data_block_compression_policy(CompressionPolicy::all(tables))
    })?;
    Ok((database, records))
}

// It stays in the process until database.persist(), for which there is
// fjall::PersistMode, or until the journal's buffer is full.
fn put(records: &Keyspace, key: &[u8], value: &[u8]) -> fjall::Result<()> {
    records.insert(key, value)
}
