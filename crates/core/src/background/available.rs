//! The memory that this process could still get: the machine's, or what its cgroups leave of it.

use std::fs;
use std::path::Path;

use procfs::Current;

/// Said where it can't be known.
pub const UNKNOWN: &str = "this system does not tell how much memory is available (/proc/meminfo)";

/// Memory that can be had without swapping, in bytes: MemAvailable, or less where a cgroup allows less.
pub fn bytes() -> Option<u64> {
    let machine = procfs::Meminfo::current().ok()?.mem_available?;
    let membership = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    Some(left_by_cgroups(&membership, Path::new("/sys/fs/cgroup")).map_or(machine, |left| left.min(machine)))
}

/// Bytes that the cgroups named by /proc/self/cgroup leave, those above them included. Files in the page cache count as
/// left, as they can be dropped.
fn left_by_cgroups(membership: &str, root: &Path) -> Option<u64> {
    let groups = membership.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        match controllers {
            "" => Some((root.to_path_buf(), &V2, path)),
            _ if controllers.split(',').any(|one| one == "memory") => Some((root.join("memory"), &V1, path)),
            _ => None,
        }
    });
    let left = |(root, version, path): (std::path::PathBuf, &Version, &str)| {
        let group = root.join(path.trim_start_matches('/'));
        let up = group.ancestors().take_while(|folder| folder.starts_with(&root));
        up.filter_map(|folder| version.left(folder)).min()
    };
    groups.filter_map(left).min()
}

/// The files of one version of cgroups.
struct Version {
    limit: &'static str,
    used: &'static str,
    cache: [&'static str; 2],
}

const V2: Version =
    Version { limit: "memory.max", used: "memory.current", cache: ["inactive_file", "active_file"] };
const V1: Version = Version {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    cache: ["total_inactive_file", "total_active_file"],
};

impl Version {
    fn left(&self, folder: &Path) -> Option<u64> {
        let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
        // `max`, where there is no limit, is no number.
        let (limit, used) = (number(self.limit)?, number(self.used)?);
        let statistics = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let cache: u64 = statistics
            .lines()
            .filter_map(|line| line.split_once(' '))
            .filter(|(name, _)| self.cache.contains(name))
            .filter_map(|(_, bytes)| bytes.parse::<u64>().ok())
            .sum();
        Some(limit.saturating_sub(used.saturating_sub(cache)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        write(&root.join("a/b"), &[("memory.max", "max\n"), ("memory.current", "5\n")]);
        assert_eq!(left_by_cgroups("0::/a/b\n", root), None);
        write(
            &root.join("a"),
            &[
                ("memory.max", "1000\n"),
                ("memory.current", "700\n"),
                ("memory.stat", "anon 300\ninactive_file 250\nactive_file 150\nfile 400\n"),
            ],
        );
        assert_eq!(left_by_cgroups("0::/a/b\n", root), Some(700));
        assert_eq!(left_by_cgroups("0::/\n", root), None);
        let v1 = [("memory.limit_in_bytes", "500\n"), ("memory.usage_in_bytes", "100\n")];
        write(&root.join("memory/c"), &v1);
        assert_eq!(left_by_cgroups("5:cpu,memory:/c\n4:pids:/c\n0::/a/b\n", root), Some(400));
    }

    #[test]
    fn this_machine_tells() {
        assert!(bytes().unwrap() > 1 << 20);
    }
}
