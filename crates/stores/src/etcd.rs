//! `etcd`: a private server or cluster for each trial, or a running one that a URL names; each record is a key.

mod client;
mod connection;
mod kind;
mod messages;

use storebench_model::store::{Capabilities, Danger, Guarantee, StoreDef, StoreKind};

use self::client::MAX_KEY_BYTES;
use self::kind::EtcdServer;
use super::support::offer;
use super::support::server::{Server, open};

pub const ETCD: StoreDef = StoreDef {
    name: "etcd",
    kind: StoreKind::Server,
    summary: "etcd, a private server for each trial, or a cluster of three",
    practice: "a server for what a cluster must agree on, mostly three or five machines; it keeps former values until a compaction",
    version: &|| EtcdServer::programs().version(),
    capabilities: Capabilities {
        compacts_beside: true,
        max_key_bytes: MAX_KEY_BYTES,
        ..Capabilities::DEFAULT
    },
    offers: &[
        offer(Guarantee::Power, "as shipped: each write is synced in the log", Danger::NOTHING),
        offer(Guarantee::Node, "nodes=3: two of three servers have synced each write", Danger::NOTHING),
    ],
    shipped: Guarantee::Power,
    settings: kind::SETTINGS,
    snippet: Some(include_str!("../snippets/etcd.conf.yml")),
    server: Some(&EtcdServer::SERVER),
    open: Ok(&open::<EtcdServer>),
    ..StoreDef::DEFAULT
};

#[cfg(test)]
mod tests;
