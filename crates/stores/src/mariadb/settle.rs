//! The work that the server would do by itself in a while of rest, done now.

use storebench_core::store::Result;

use super::client::Client;
use super::dialect::{Mysql, status};
use crate::support::server::{Connection, sql, wait_until};

/// Waits until InnoDB has written changed pages in place.
pub fn innodb(client: &mut Client) -> Result<()> {
    let limit_before = sql::text(client, "SELECT CAST(@@innodb_max_dirty_pages_pct AS CHAR)")?;
    client.execute("SET GLOBAL innodb_max_dirty_pages_pct = 0")?;
    let waited = wait_until::<Mysql>(client, |client| {
        Ok(status(client, "Innodb_buffer_pool_pages_dirty")?.unwrap_or(0) == 0)
    });
    client.execute(&format!("SET GLOBAL innodb_max_dirty_pages_pct = {limit_before}"))?;
    waited
}

/// Waits until MyRocks has flushed memory tables, and merged what its rules say.
pub fn rocksdb(client: &mut Client) -> Result<()> {
    client.execute("SET GLOBAL rocksdb_force_flush_memtable_now = 1")?;
    let pending = "SELECT CAST(SUM(value) AS UNSIGNED) FROM information_schema.rocksdb_cfstats \
                   WHERE stat_type IN ('MEM_TABLE_FLUSH_PENDING', 'COMPACTION_PENDING', 'NUM_IMMUTABLE_MEM_TABLE')";
    // One that is under way is not pending any more, but it writes.
    let mut merged = None;
    wait_until::<Mysql>(client, |client| {
        let is_pending = sql::number(client, pending)?.unwrap_or(0) > 0;
        let written_bytes = status(client, "Rocksdb_compact_write_bytes")?;
        let writes = merged.replace(written_bytes) != Some(written_bytes);
        Ok(!is_pending && !writes)
    })
}
