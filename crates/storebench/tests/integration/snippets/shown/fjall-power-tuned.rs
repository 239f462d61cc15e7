// fjall: cargo add fjall@VERSION
use fjall::config::{BlockSizePolicy, CompressionPolicy};
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions};
use fjall::KvSeparationOptions;
use fjall::PersistMode;

fn open_records(folder: &str) -> fjall::Result<(Database, Keyspace)> {
    let journal = CompressionType::Lz4;
    let tables = CompressionType::Lz4;
    let database = Database::builder(folder)
        .journal_compression(journal)
        .max_journaling_size(134217728)
        .worker_threads(2)
        .cache_size(16777216)
        .open()?;
    let apart = KvSeparationOptions::default().compression(tables);
    let records = database.keyspace("records", || {
        KeyspaceCreateOptions::default()
            .manual_journal_persist(false)
            .max_memtable_size(8388608)
            .data_block_size_policy(BlockSizePolicy::all(8192))
            .data_block_compression_policy(CompressionPolicy::all(tables))
            .with_kv_separation(Some(apart))
    })?;
    Ok((database, records))
}

fn put(
    database: &Database,
    records: &Keyspace,
    key: &[u8],
    value: &[u8],
) -> fjall::Result<()> {
    records.insert(key, value)?;
    database.persist(PersistMode::SyncData)
}
