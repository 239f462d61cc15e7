//! The kernel's lists of what surrounds this process, each read in one place.

pub mod cgroups;
pub mod memory;
pub mod mounts;
pub mod room;
