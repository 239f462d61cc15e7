//! How much of the tests' matrices is walked: a part of each by `make test`, all by `make test-all`.

use storebench_model::store::{StoreDef, StoreKind};

use crate::cli::support::skipped;

/// Whether every value of each matrix is asked for: every guarantee, command and mutation.
pub fn is_whole() -> bool {
    std::env::var("STOREBENCH_TESTS").is_ok_and(|tier| tier == "all")
}

/// Whether a test of all stores includes this one: a separate server for each trial takes seconds, and conformance asks for servers anyway.
pub fn asks_for(store: &StoreDef) -> bool {
    is_whole() || store.kind != StoreKind::Server
}

/// Every store that this build has and this machine can run, but for the one that holds 1 MiB at most.
pub fn stores() -> String {
    let can_run = |store: &&StoreDef| match store.missing_need() {
        Some(reason) if store.open.is_ok() => {
            skipped(store.name, &reason);
            false
        }
        need => need.is_none() && store.open.is_ok(),
    };
    let is_comparable = |store: &&StoreDef| store.kind != StoreKind::Harness && store.name != "one-file";
    let stores =
        storebench::STORES.iter().filter(is_comparable).filter(|store| asks_for(store)).filter(can_run);
    stores.map(|store| store.name).collect::<Vec<_>>().join(",")
}
