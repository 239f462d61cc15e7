//! What the kernel says about this process's surroundings, each list read in one place, and calls that only Linux has.

pub mod cgroups;
pub mod memory;
pub mod mounts;
pub mod room;
pub mod system;
