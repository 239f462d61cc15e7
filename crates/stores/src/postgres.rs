//! `postgres`: a private server for each trial, or a running one that a URL names; one table with the key as its primary key.

mod client;
mod dialect;
mod wire;

use storebench_model::store::{
    AgingRisk, Capabilities, Caution, Danger, Guarantee, Loss, StoreDef, StoreKind,
};

use self::dialect::Postgresql;
use super::support::offer;
use super::support::server::{Server, open};

pub const POSTGRES: StoreDef = StoreDef {
    name: "postgres",
    kind: StoreKind::Server,
    summary: "PostgreSQL, a private server for each trial",
    practice: "a server next to the application; many processes, languages and machines can use it; needs care",
    cautions: &[
        Caution {
            of: AgingRisk::Space,
            says: "plain VACUUM, in most cases, keeps the space for the same table and does not return it to the system; VACUUM FULL does",
            source: "postgresql.org/docs/current/sql-vacuum.html",
        },
        Caution {
            of: AgingRisk::Readers,
            says: "versions of rows stay as long as they can be visible to another transaction",
            source: "postgresql.org/docs/current/routine-vacuuming.html",
        },
    ],
    version: &|| Postgresql::programs().version(),
    capabilities: Capabilities {
        compacts_beside: true,
        held_reader: true,
        sql: true,
        compression: Some("pglz"),
        notices_existing: true,
        notices_missing: true,
        max_key_bytes: MAX_KEY_BYTES,
        ..Capabilities::DEFAULT
    },
    offers: &[
        offer(Guarantee::None, "fsync=off, synchronous_commit=off, full_page_writes=off", LATE),
        offer(Guarantee::Process, "fsync=off, synchronous_commit=on, full_page_writes=off", UNSYNCED),
        offer(Guarantee::Power, "fsync=on, synchronous_commit=on, full_page_writes=on", Danger::NOTHING),
    ],
    // On macOS, as shipped, syncs leave the data in the drive's own cache.
    shipped: if cfg!(target_os = "macos") { Guarantee::Process } else { Guarantee::Power },
    settings: dialect::SETTINGS,
    snippet: Some(include_str!("../snippets/postgres.conf")),
    python: Some(include_str!("../snippets/postgres.py")),
    server: Some(&Postgresql::SERVER),
    open: Ok(&open::<Postgresql>),
    ..StoreDef::DEFAULT
};

const PORT: u16 = 5432;

/// An index entry takes up to a third of a page, less its overhead.
const MAX_KEY_BYTES: usize = 2600;

const NOT_SYNCED: &str = "nothing is synced, so log and pages can reach the disk in any order";
const TORN_PAGES: &str = "a page that was half written can't be repaired";

/// By PostgreSQL's documentation of fsync and full_page_writes.
const UNSYNCED: &[Danger] = &[
    // Synced, but on macOS only into the drive's cache.
    Danger {
        settings: &[("fsync", "on"), ("full_page_writes", "on")],
        ..Danger::new(Loss::Nothing, Loss::Whole, "the drive's cache can hand on log and pages in any order")
    },
    Danger { settings: &[("fsync", "on")], ..Danger::new(Loss::Nothing, Loss::Whole, TORN_PAGES) },
    Danger::new(Loss::Nothing, Loss::Whole, NOT_SYNCED),
];

/// As above, for commits that do not wait for their log.
const LATE: &[Danger] = &[
    Danger {
        settings: &[("fsync", "on"), ("full_page_writes", "on")],
        ..Danger::new(Loss::Newest, Loss::Newest, "the log of the last 0.6 s may not be written")
    },
    Danger { settings: &[("fsync", "on")], ..Danger::new(Loss::Newest, Loss::Whole, TORN_PAGES) },
    Danger::new(Loss::Newest, Loss::Whole, NOT_SYNCED),
];

#[cfg(test)]
mod tests;
