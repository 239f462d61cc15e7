//! How much of the tests' matrices is walked: a part of each by `make test`, all by `make test-all`.

use storebench_core::store::{StoreDef, StoreKind};

/// Whether every value of each matrix is asked for: every guarantee, command and mutation.
pub fn is_whole() -> bool {
    std::env::var("STOREBENCH_TESTS").is_ok_and(|tier| tier == "all")
}

/// Whether a test of all stores includes this one: a separate server for each trial takes seconds, and conformance asks for servers anyway.
pub fn asks_for(store: &StoreDef) -> bool {
    is_whole() || store.kind != StoreKind::Server
}
