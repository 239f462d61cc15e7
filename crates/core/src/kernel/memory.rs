//! The machine's memory, from `/proc/meminfo`.

use procfs_core::{FromRead, Meminfo};

/// The kernel's figures; `None` on a system without them.
pub fn read_meminfo() -> Option<Meminfo> {
    Meminfo::from_file("/proc/meminfo").ok()
}
