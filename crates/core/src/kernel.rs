//! The kernel's lists of what surrounds this process, each read in one place, and the calls that Linux alone has.

pub mod cgroups;
pub mod memory;
pub mod mounts;
pub mod room;
pub mod system;
