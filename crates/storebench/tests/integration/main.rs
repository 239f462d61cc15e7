//! The integration tests, in one binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod androbench;
mod background;
mod cases;
mod cli;
mod commands;
mod conformance;
mod file_systems;
mod fleet;
mod golden;
mod html;
mod in_memory;
mod packages;
mod pages;
mod remote;
mod rocksdb_library;
mod running_servers;
mod shop;
mod snippets;
mod spoken;
mod store_library;
mod tier;
mod torture;
mod trial;
mod ycsb;

use storebench_model::test_hooks;

const HOOKS: &str = "quick-probes,memory-keeps,alone";

/// Before any test: the programs that tests start don't probe each place for a second, may measure `power` in memory, and count as alone.
#[used]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
static BEGIN: extern "C" fn() = {
    extern "C" fn begin() {
        // SAFETY: this process has no other thread yet.
        unsafe { std::env::set_var(test_hooks::VARIABLE, HOOKS) };
    }
    begin
};
