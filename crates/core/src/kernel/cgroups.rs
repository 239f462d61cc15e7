//! The cgroups of this process, from `/proc/self/cgroup`, and their folders.

use std::path::{Path, PathBuf};

use procfs_core::{FromBufRead, ProcessCGroups};
use serde::{Deserialize, Serialize};

use super::mounts::{self, Mount};

/// Which of the kernel's two interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Version {
    /// A hierarchy for each kind of resource.
    V1,
    /// One hierarchy.
    V2,
}

/// A cgroup that this process is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// Which of the kernel's interfaces its hierarchy has.
    pub version: Version,
    /// The controllers of its hierarchy; none in version 2, which has all.
    controllers: Vec<String>,
    /// Its path in its hierarchy.
    pub path: PathBuf,
    /// The folder that its hierarchy is mounted at.
    pub top: PathBuf,
    /// Its own folder.
    pub folder: PathBuf,
}

impl Membership {
    /// Whether its hierarchy is of version 2, or has this controller of version 1.
    pub fn is_for(&self, controller: &str) -> bool {
        self.version == Version::V2 || self.controllers.iter().any(|listed| listed == controller)
    }
}

/// The mounted cgroups of this process, in the kernel's order; none on a system without them.
pub fn own_memberships() -> Vec<Membership> {
    let list = std::fs::read("/proc/self/cgroup").unwrap_or_default();
    parse_memberships(&list, &mounts::all().unwrap_or_default())
}

/// The mounted cgroups in a list in the kernel's format.
pub fn parse_memberships(list: &[u8], mounts: &[Mount]) -> Vec<Membership> {
    let Ok(groups) = ProcessCGroups::from_buf_read(list) else { return Vec::new() };
    let memberships = groups.into_iter().filter_map(|group| {
        let version = if group.controllers.is_empty() { Version::V2 } else { Version::V1 };
        let hosts_group = |mount: &&Mount| match version {
            Version::V1 => {
                mount.kind == "cgroup"
                    && group.controllers.iter().any(|controller| mount.options.contains(controller))
            }
            Version::V2 => mount.kind == "cgroup2",
        };
        let mount = mounts.iter().find(hosts_group)?;
        let relative = Path::new(&group.pathname).strip_prefix(&mount.root).unwrap_or(Path::new(""));
        let (top, folder) = (mount.at.clone(), mount.at.join(relative));
        Some(Membership { version, controllers: group.controllers, path: group.pathname.into(), top, folder })
    });
    memberships.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &[u8] = b"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
        32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n\
        35 31 0:32 /docker/1 /sys/fs/cgroup/mem\\040ory ro - cgroup cgroup rw,memory\n\
        40 31 0:37 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

    #[test]
    fn a_cgroup_is_found_where_its_hierarchy_is_mounted() {
        let list = b"9:pids:/not-mounted\n5:cpu,cpuacct:/a\n4:memory:/docker/1/x\n1:name=systemd:/\n0::/user.slice/b.scope\n";
        let memberships = parse_memberships(list, &mounts::parse(MOUNTS));
        let folders: Vec<_> = memberships.iter().map(|group| group.folder.to_str().unwrap()).collect();
        let expected = ["cpu,cpuacct/a", "mem ory/x", "unified/user.slice/b.scope"];
        assert_eq!(folders, expected.map(|path| format!("/sys/fs/cgroup/{path}")));
        assert_eq!(memberships[1].top, Path::new("/sys/fs/cgroup/mem ory"), "a part of the hierarchy");
        let is_for = |name: &str| memberships.iter().map(|group| group.is_for(name)).collect::<Vec<_>>();
        assert_eq!(is_for("cpu"), [true, false, true]);
        assert_eq!(is_for("memory"), [false, true, true]);
        assert_eq!(parse_memberships(b"", &mounts::parse(MOUNTS)), []);
        assert_eq!(parse_memberships(b"4:memory:/\n", &[]), []);
        assert_eq!(parse_memberships(b"what is this", &mounts::parse(MOUNTS)), []);
    }
}
