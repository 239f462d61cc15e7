//! `redis`: a private server for each trial, or a running one that a URL names; each record is a key.

mod client;
mod kind;

use storebench_model::store::{Capabilities, Danger, Guarantee, Loss, StoreDef, StoreKind};

use self::client::MAX_KEY_BYTES;
use self::kind::RedisServer;
use super::support::offer;
use super::support::server::{Server, open};

pub const REDIS: StoreDef = StoreDef {
    name: "redis",
    kind: StoreKind::Server,
    summary: "Redis, a private server for each trial",
    practice: "a server that holds all records in memory; many processes, languages and machines can use it",
    version: &|| RedisServer::programs().version(),
    capabilities: Capabilities {
        compacts_beside: true,
        order: false,
        max_key_bytes: MAX_KEY_BYTES,
        ..Capabilities::DEFAULT
    },
    offers: &[
        offer(Guarantee::None, "appendonly=no: snapshots now and then", LATE),
        offer(Guarantee::Process, "appendonly=yes, appendfsync=no", UNSYNCED),
        offer(Guarantee::Power, "appendonly=yes, appendfsync=always", Danger::NOTHING),
    ],
    shipped: Guarantee::None,
    settings: kind::SETTINGS,
    snippet: Some(include_str!("../snippets/redis.conf")),
    python: Some(include_str!("../snippets/redis.py")),
    server: Some(&RedisServer::SERVER),
    open: Ok(&open::<RedisServer>),
    ..StoreDef::DEFAULT
};

/// A log with a gap is refused.
const UNSYNCED: &[Danger] = &[Danger::new(
    Loss::Nothing,
    Loss::Whole,
    "the log is synced when the system likes; with a gap in it the server does not start until redis-check-aof has cut it there",
)];

/// As above, if acknowledged writes may still be in the server's memory.
const LATE: &[Danger] = &[
    Danger {
        settings: &[("appendonly", "no"), ("save", "off")],
        ..Danger::new(Loss::Newest, Loss::Newest, "nothing is kept but by a SAVE")
    },
    Danger {
        settings: &[("appendonly", "no")],
        ..Danger::new(
            Loss::Newest,
            Loss::Newest,
            "all since the last snapshot: minutes, as shipped up to an hour",
        )
    },
    Danger::new(
        Loss::Newest,
        Loss::Whole,
        "the log of the last 2 s may not be written, or with a gap, at which it does not start",
    ),
];

#[cfg(test)]
mod tests;
