//! The memory that this process could still get: the machine's, or what its cgroups leave of it.

use std::fs;
use std::path::Path;

use storebench_core::kernel::cgroups::{self, Membership, Version};
use storebench_core::kernel::memory;

/// Shown if the system reports no figure.
pub const UNKNOWN: &str = "this system does not report how much memory is available (/proc/meminfo)";

/// Memory that can be had without swapping, in bytes: MemAvailable, or less if a cgroup allows less.
pub fn bytes() -> Option<u64> {
    let machine = memory::read_meminfo()?.mem_available?;
    Some(memory_left_by(&cgroups::own_memberships()).map_or(machine, |left| left.min(machine)))
}

/// Memory that cgroups leave, those above them included, in bytes. Files in the page cache count as left, as they can be dropped.
fn memory_left_by(memberships: &[Membership]) -> Option<u64> {
    let least_left = |group: &Membership| {
        let folders = group.folder.ancestors().take_while(|folder| folder.starts_with(&group.top));
        folders.filter_map(|folder| memory_left(group.version, folder)).min()
    };
    memberships.iter().filter(|group| group.is_for("memory")).filter_map(least_left).min()
}

/// Memory that one cgroup leaves, by the files in which a version of cgroups reports it.
fn memory_left(version: Version, folder: &Path) -> Option<u64> {
    let (limit, used, cached) = match version {
        Version::V1 => {
            ("memory.limit_in_bytes", "memory.usage_in_bytes", ["total_inactive_file", "total_active_file"])
        }
        Version::V2 => ("memory.max", "memory.current", ["inactive_file", "active_file"]),
    };
    let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    // `max` means no limit, and does not parse.
    let (limit, used) = (number(limit)?, number(used)?);
    let statistics = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let counts = statistics.lines().filter_map(|line| line.split_once(' '));
    let cached_bytes = counts.filter(|(name, _)| cached.contains(name));
    let cache: u64 = cached_bytes.filter_map(|(_, bytes)| bytes.parse::<u64>().ok()).sum();
    Some(limit.saturating_sub(used.saturating_sub(cache)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use storebench_core::kernel::mounts;

    fn write(folder: &Path, files: &[(&str, &str)]) {
        fs::create_dir_all(folder).unwrap();
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
    }

    #[test]
    fn the_tightest_group_decides() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let left_for = |list: &str| {
            let mounts = format!(
                "1 0 0:1 / {0} rw - cgroup2 cgroup2 rw\n2 0 0:2 / {0}/memory rw - cgroup cgroup rw,cpu,memory\n",
                root.display()
            );
            memory_left_by(&cgroups::parse_memberships(list.as_bytes(), &mounts::parse(mounts.as_bytes())))
        };
        write(&root.join("a/b"), &[("memory.max", "max\n"), ("memory.current", "5\n")]);
        assert_eq!(left_for("0::/a/b\n"), None);
        write(
            &root.join("a"),
            &[
                ("memory.max", "1000\n"),
                ("memory.current", "700\n"),
                ("memory.stat", "anon 300\ninactive_file 250\nactive_file 150\nfile 400\n"),
            ],
        );
        assert_eq!(left_for("0::/a/b\n"), Some(700));
        assert_eq!(left_for("0::/\n"), None);
        let v1 = [("memory.limit_in_bytes", "500\n"), ("memory.usage_in_bytes", "100\n")];
        write(&root.join("memory/c"), &v1);
        assert_eq!(left_for("5:cpu,memory:/c\n4:pids:/c\n0::/a/b\n"), Some(400));
    }

    #[test]
    fn this_machine_tells() {
        assert!(bytes().unwrap() > 1 << 20);
    }
}
