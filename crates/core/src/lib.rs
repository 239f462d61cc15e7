//! The harness of storebench: what a store is, what is done to it, how that is measured and shown.
//!
//! It holds no native code. The crate `storebench` adds one file per engine and hands its table of
//! [`store::StoreDef`]s to [`cli::main`]; another binary crate can hand over a table of its own.

pub mod record;
pub mod store;
pub mod stores;
