//! The integration tests, in one binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod androbench;
mod background;
mod batch;
mod cli;
mod commands;
mod conformance;
mod disks;
mod doctor;
mod file_systems;
mod headers;
mod html;
mod pages;
mod remote;
mod replay;
mod running_servers;
mod shop;
mod snippets;
#[path = "../steps.rs"]
mod steps;
mod structure;
mod torture;
mod ycsb;
