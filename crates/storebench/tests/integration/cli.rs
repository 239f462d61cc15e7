//! The program as its users meet it: the real binary, in a directory of its own on a real disk.

mod advise;
mod bad_input;
mod claims;
mod comparing;
mod disks;
mod exports;
mod failing;
mod help;
mod interrupting;
mod memory;
mod plans;
mod reports;
mod running;
pub mod support;
mod terminal;
