//! The program as its users meet it: the real binary, in a separate directory on a real disk.

mod claims;
#[cfg(feature = "sqlite")]
mod exports;
mod help;
pub(crate) mod machines;
mod own_tables;
mod reports;
mod run_folders;
mod running;
pub mod site;
pub mod support;
