//! `cassandra`: Cassandra, in a server of its own for each trial, or a cluster of them, or one that a URL names; a record is a row of a
//! table of keys and values.

mod client;
mod config;
mod kind;
mod rows;
mod wire;

use storebench_core::store::{Batch, Capabilities, Danger, Guarantee, Kind, Loss, Offer, StoreDef, Threads};

use self::kind::CassandraServer;
use super::support::server::{Server, open};

/// Cassandra, as it is installed.
pub const CASSANDRA: StoreDef = StoreDef {
    name: "cassandra",
    kind: Kind::Server,
    summary: "Cassandra, a private server for each trial, or a cluster of three",
    practice: "a database for many machines; three copies and more are one in earnest",
    cautions: &[],
    version: &|| CassandraServer::programs().version(),
    capabilities: Capabilities {
        order: false,
        threads: Threads::Many,
        batch: Batch::Grouped,
        compression: Some("lz4"),
        max_key_bytes: MAX_KEY_BYTES,
        ..Capabilities::DEFAULT
    },
    offers: &[
        Offer {
            guarantee: Guarantee::None,
            settings: "as shipped: commitlog_sync=periodic",
            atomic_replace: true,
            dangers: UNSYNCED,
        },
        Offer {
            guarantee: Guarantee::Power,
            settings: "commitlog_sync=batch",
            atomic_replace: true,
            dangers: Danger::NOTHING,
        },
        Offer {
            guarantee: Guarantee::Node,
            settings: "nodes=3, commitlog_sync=batch, writes=quorum: two of three servers have synced each write",
            atomic_replace: true,
            dangers: Danger::NOTHING,
        },
    ],
    shipped: Guarantee::None,
    settings: config::SETTINGS,
    snippet: Some(include_str!("../snippets/cassandra.yaml")),
    python: None,
    evidence: &[],
    server: Some(&CassandraServer::SERVER),
    library: None,
    open: Ok(&open::<CassandraServer>),
};

/// The longest key: its length takes two bytes.
const MAX_KEY_BYTES: usize = u16::MAX as usize;

/// The danger of the settings of `none`.
const UNSYNCED: &[Danger] = &[Danger::of(
    Loss::Newest,
    Loss::Newest,
    "what was written since the commit log was marked last can be missing after a kill, and since it was synced last, as shipped every \
     10 s, after a power cut",
)];

#[cfg(test)]
mod tests;
