//! The machine's memory, from `/proc/meminfo`.

use procfs_core::{FromRead, Meminfo};

/// The figures that the kernel tells; `None` on a system that does not tell.
pub fn told() -> Option<Meminfo> {
    Meminfo::from_file("/proc/meminfo").ok()
}
