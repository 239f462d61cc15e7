//! The program as its users meet it: the real binary, in a directory of its own on a real disk.

mod advise;
mod bad_input;
mod checking;
mod claims;
pub mod comparing;
mod disks;
mod exports;
mod failing;
mod generate;
mod help;
mod interrupting;
mod lying;
pub(crate) mod machines;
mod memory;
mod own_tables;
pub mod plans;
mod reports;
mod resting;
mod run_folders;
mod running;
mod scopes;
pub mod site;
pub mod support;
mod tampering;
mod terminal;
mod tune;
mod unlike;
