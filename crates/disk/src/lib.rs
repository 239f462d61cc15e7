//! This crate simulates disks, so that stores can be measured on a disk that is not there, and after power cuts. FUSE serves one
//! file as a disk, and a loop device over it can hold any file system. A model of a device says when each request is due, in
//! virtual time: a simulated disk and an estimate that does not wait share the models.

// Disks are served on Linux alone.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

pub mod counts;
pub mod cut;
pub mod daemon;
pub mod device;
pub mod disks;
mod estimate;
pub mod fault;
pub mod figures;
pub mod fixed;
mod flash;
pub mod holes;
#[cfg(target_os = "linux")]
pub mod image;
pub mod log;
pub mod names;
mod network;
mod pace;
pub mod random;
pub mod request;
mod rotating;
#[cfg(target_os = "linux")]
pub mod server;
pub mod transit;
