//! Simulated disks. One file, served by FUSE, stands for a disk: a loop device over it can hold any file system. Each request is
//! answered when a model of a device says that it is due. The models know requests, not stores; they live in virtual time, so that
//! a disk that makes its user wait and an estimate that doesn't wait share them.

pub mod counts;
pub mod cut;
pub mod daemon;
pub mod device;
pub mod disks;
pub mod estimate;
pub mod fault;
pub mod figures;
pub mod fixed;
pub mod flash;
pub mod holes;
#[cfg(target_os = "linux")]
pub mod image;
pub mod log;
pub mod names;
pub mod network;
pub mod pace;
pub mod random;
pub mod request;
pub mod rotating;
#[cfg(target_os = "linux")]
pub mod server;
pub mod transit;
