//! `nats`: JetStream's keys and values, in a server of its own for each trial, or a cluster of them, or one that a URL names; a record is
//! a message whose subject is its key.

mod bucket;
mod client;
mod config;
mod kind;
mod wire;

use storebench_core::store::{Batch, Capabilities, Danger, Guarantee, Kind, Loss, Offer, StoreDef, Threads};

use self::kind::NatsServer;
use super::support::server::{Server, open};

/// NATS, as it is installed.
pub const NATS: StoreDef = StoreDef {
    name: "nats",
    kind: Kind::Server,
    summary: "NATS JetStream's keys and values, a private server for each trial, or a cluster of three",
    practice: "a server for messages, which also keeps keys and values; three or five are one in earnest",
    cautions: &[],
    version: &|| NatsServer::programs().version(),
    capabilities: Capabilities {
        compacts_beside: true,
        order: false,
        threads: Threads::Many,
        batch: Batch::Atomic,
        max_key_bytes: MAX_KEY_BYTES,
        ..Capabilities::DEFAULT
    },
    offers: &[
        Offer {
            guarantee: Guarantee::Process,
            settings: "as shipped: synced every two minutes",
            atomic_replace: true,
            dangers: UNSYNCED,
        },
        Offer {
            guarantee: Guarantee::Power,
            settings: "sync_interval=always",
            atomic_replace: true,
            dangers: Danger::NOTHING,
        },
        Offer {
            guarantee: Guarantee::Node,
            settings: "nodes=3, sync_interval=always: two of three servers have synced each write",
            atomic_replace: true,
            dangers: Danger::NOTHING,
        },
    ],
    shipped: Guarantee::Process,
    settings: config::SETTINGS,
    snippet: Some(include_str!("../snippets/nats.conf")),
    python: None,
    evidence: &[],
    server: Some(&NatsServer::SERVER),
    library: None,
    open: Ok(&open::<NatsServer>),
};

/// The longest key. A subject has four characters for three bytes of it, and a line of the protocol 4,096, as shipped.
const MAX_KEY_BYTES: usize = 1024;

/// The danger of the settings of `process`.
const UNSYNCED: &[Danger] = &[Danger::of(
    Loss::Nothing,
    Loss::Whole,
    "what was not synced, as shipped of two minutes, can be missing, also from the middle; several servers at once lose it, too",
)];

#[cfg(test)]
mod tests;
