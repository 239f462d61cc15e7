//! The integration tests, in one binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod androbench;
mod background;
mod cli;
mod commands;
mod conformance;
mod html;
mod pages;
mod replay;
mod snippets;
mod structure;
mod torture;
