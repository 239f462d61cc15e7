//! `mariadb`: a private server for each trial, or a running one that a URL names; one table with the key as its primary key.

mod client;
mod dialect;
mod load;
mod wire;

use storebench_model::store::{Capabilities, Danger, Guarantee, Loss, StoreDef, StoreKind};

use self::dialect::Mysql;
use super::support::offer;
use super::support::server::{Server, open};

pub const MARIADB: StoreDef = StoreDef {
    name: "mariadb",
    kind: StoreKind::Server,
    summary: "MariaDB with InnoDB or MyRocks, a private server for each trial",
    practice: "a server next to the application; many processes, languages and machines can use it; needs care",
    version: &|| Mysql::programs().version(),
    capabilities: Capabilities {
        compacts_beside: true,
        held_reader: true,
        sql: true,
        notices_existing: true,
        notices_missing: true,
        max_key_bytes: MAX_KEY_BYTES,
        ..Capabilities::DEFAULT
    },
    offers: &[
        offer(
            Guarantee::None,
            "innodb_flush_log_at_trx_commit=0, or rocksdb_flush_log_at_trx_commit=0",
            LATE,
        ),
        offer(
            Guarantee::Process,
            "innodb_flush_log_at_trx_commit=2, or rocksdb_flush_log_at_trx_commit=2 and rocksdb_manual_wal_flush=OFF",
            UNSYNCED,
        ),
        offer(
            Guarantee::Power,
            "innodb_flush_log_at_trx_commit=1, or rocksdb_flush_log_at_trx_commit=1",
            Danger::NOTHING,
        ),
    ],
    shipped: Guarantee::Power,
    settings: dialect::SETTINGS,
    snippet: Some(include_str!("../snippets/mariadb.cnf")),
    python: Some(include_str!("../snippets/mariadb.py")),
    server: Some(&Mysql::SERVER),
    open: Ok(&open::<Mysql>),
    ..StoreDef::DEFAULT
};

const PORT: u16 = 3306;
/// InnoDB's limit for index entries with 4 KiB pages.
const MAX_KEY_BYTES: usize = 767;

const TORN_PAGES: &str = "a page that was half written can't be repaired";
const CUT_OFF: &str =
    "a log that was cut off keeps the server from starting until rocksdb_wal_recovery_mode=2 is set";

/// By the documentation of InnoDB's and RocksDB's logs.
const fn dangers(kill: Loss, why: &'static str) -> [Danger; 3] {
    [
        Danger {
            settings: &[("engine", "innodb"), ("innodb_doublewrite", "OFF")],
            ..Danger::new(kill, Loss::Whole, TORN_PAGES)
        },
        Danger {
            settings: &[("engine", "rocksdb"), ("rocksdb_wal_recovery_mode", "1")],
            ..Danger::new(kill, Loss::Whole, CUT_OFF)
        },
        Danger::new(kill, Loss::Newest, why),
    ]
}

const UNSYNCED: &[Danger] = &dangers(Loss::Nothing, "the log is synced once a second");
/// For commits that do not wait for their log.
const LATE: &[Danger] = &dangers(Loss::Newest, "the log is written once a second");

#[cfg(test)]
mod tests;
