//! The errors of a store.

use std::fmt;

/// Why a call on a store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The key that was to be updated or removed is not there (see [`notices_missing`](super::Capabilities::notices_missing)).
    #[error("the key is not in the store")]
    Missing,
    /// The key that was to be inserted is there already (see [`notices_existing`](super::Capabilities::notices_existing)).
    #[error("the key is in the store already")]
    Exists,
    /// Another session's transaction was in the way of this one, which has changed nothing and can be done again.
    #[error("another transaction was in the way: {0}")]
    Conflict(String),
    /// The store can't do this at all; its capabilities say so too.
    #[error("{0}")]
    Unsupported(String),
    /// A setting was asked for, and the engine reads back another value.
    #[error("the setting {name} did not take effect: asked for {asked}, the engine reads back {read_back}")]
    #[allow(missing_docs)]
    SettingNotTaken { name: String, asked: String, read_back: String },
    /// A setting that this store does not know, or a value that it can't take.
    #[error("{0}")]
    BadSetting(String),
    /// The operating system said no; with the work that was being done.
    #[error("{context}: {source}")]
    #[allow(missing_docs)]
    Io { context: String, source: std::io::Error },
    /// The engine said no, in its own words.
    #[error("{0}")]
    Engine(String),
}

impl StoreError {
    /// Wraps a system error with what was being done; for `map_err`. Costs nothing unless there is an error.
    pub fn io<E: Into<std::io::Error>>(context: impl Into<String>) -> impl FnOnce(E) -> StoreError {
        move |source| StoreError::Io { context: context.into(), source: source.into() }
    }

    /// Wraps an engine's own error; for `map_err`.
    pub fn engine(error: impl fmt::Display) -> StoreError {
        StoreError::Engine(error.to_string())
    }
}

/// The result of a call on a store.
pub type Result<T> = std::result::Result<T, StoreError>;
