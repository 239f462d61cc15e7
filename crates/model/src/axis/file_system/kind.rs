//! The table of file systems that an image can have.

/// The kind that needs no root, also on a simulated disk.
pub const WITHOUT_ROOT: &str = "fuse2fs";

const MIB: u64 = 1 << 20;
/// Files that an engine may have besides its records' files; each fills a cluster.
const STORE_FILES: u64 = 256;
/// Bytes that an engine may reserve for logs: embedded ones up to about 70 MiB, servers some of 16 MiB each.
const STORE_BYTES: u64 = 256 * MIB;

/// A kind of file system that an image can have.
#[derive(Debug)]
pub struct FileSystemKind {
    /// The name in plans, results and the kernel's list of file systems.
    pub name: &'static str,
    /// Possible cluster sizes in bytes, rising; empty if there is no choice.
    pub clusters: &'static [u32],
    /// The one that it has where none is named.
    pub default_cluster: u32,
    /// The program that formats it. `None` for one in memory.
    pub format: Option<Tool>,
    /// The program of the same package that repairs it when a system starts, if it has no journal.
    pub repair: Option<&'static str>,
    /// The arguments of its program before the image's path, by the cluster size.
    pub arguments: fn(u32) -> Vec<String>,
    /// Names in /proc/filesystems of what mounts it, the first that is there. Empty for a FUSE program.
    pub kernel: &'static [&'static str],
    /// The program that mounts it without the kernel's driver.
    pub fuse: Option<Fuse>,
    /// Options that every mount by the kernel has.
    pub options: &'static str,
    /// Whether files have no owners, so that a mount gives all of them to one.
    pub ownerless: bool,
    /// Why a power cut can take what was synced there, if it can.
    pub forgets: Option<&'static str>,
    /// The smallest image that can be formatted, in bytes, with room for the file system's own tables.
    least_bytes: fn(u32) -> u64,
}

/// A program, and what installs it.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// Its name.
    pub program: &'static str,
    /// Debian's package.
    pub package: &'static str,
}

/// A program that mounts an image by FUSE.
#[derive(Debug, Clone, Copy)]
pub struct Fuse {
    /// The program.
    pub tool: Tool,
    /// Its options.
    pub options: &'static str,
}

fn ext(version: &str, cluster: u32, lazy: &str) -> Vec<String> {
    // Without its own choice a small image has blocks of 1 KiB, and a large one too few inodes for a file a record. What is
    // initialised later would be written during a trial.
    let block = cluster.to_string();
    ["-q", "-F", "-t", version, "-b", &block, "-i", BYTES_PER_FILE, "-E", lazy].map(String::from).to_vec()
}

fn split_words(text: &str) -> Vec<String> {
    text.split(' ').map(String::from).collect()
}

/// Bytes for each inode of ext2, ext3 and ext4. Estimates count at least as much for each file.
const BYTES_PER_FILE: &str = "4096";
const POWERS_4K: &[u32] = &[1024, 2048, 4096];
const POWERS_64K: &[u32] = &[512, 1024, 2048, 4096, 8192, 16384, 32768, 65536];
const E2FSPROGS: Option<Tool> = Some(Tool { program: "mke2fs", package: "e2fsprogs" });

const fn fuse(program: &'static str, package: &'static str, options: &'static str) -> Option<Fuse> {
    Some(Fuse { tool: Tool { program, package }, options })
}

const NONE: FileSystemKind = FileSystemKind {
    name: "",
    clusters: &[4096],
    default_cluster: 4096,
    format: None,
    repair: None,
    arguments: |_| Vec::new(),
    kernel: &[],
    fuse: None,
    options: "",
    ownerless: false,
    forgets: None,
    least_bytes: |_| 64 * MIB,
};

/// Every kind.
pub static KINDS: &[FileSystemKind] = &[
    FileSystemKind {
        name: "ext2",
        clusters: POWERS_4K,
        format: E2FSPROGS,
        repair: Some("e2fsck"),
        arguments: |cluster| ext("ext2", cluster, "lazy_itable_init=0"),
        kernel: &["ext2"],
        ..NONE
    },
    FileSystemKind {
        name: "ext3",
        clusters: POWERS_4K,
        format: E2FSPROGS,
        arguments: |cluster| ext("ext3", cluster, "lazy_itable_init=0,lazy_journal_init=0"),
        kernel: &["ext3"],
        ..NONE
    },
    FileSystemKind {
        name: "ext4",
        clusters: POWERS_4K,
        format: E2FSPROGS,
        arguments: |cluster| ext("ext4", cluster, "lazy_itable_init=0,lazy_journal_init=0"),
        kernel: &["ext4"],
        ..NONE
    },
    FileSystemKind {
        name: WITHOUT_ROOT,
        clusters: POWERS_4K,
        format: E2FSPROGS,
        repair: Some("e2fsck"),
        // It would leave a journal unused: it writes what it changes in its place.
        arguments: |cluster| {
            [ext("ext4", cluster, "lazy_itable_init=0"), split_words("-O ^has_journal")].concat()
        },
        fuse: fuse("fuse2fs", "fuse2fs", "fakeroot,nodev,nosuid"),
        forgets: Some(
            "hands no sync of a folder, or of a file that is open for reading alone, on to its disk: a power cut can take \
             what was synced",
        ),
        ..NONE
    },
    FileSystemKind {
        name: "xfs",
        clusters: &[1024, 2048, 4096, 8192, 16384, 32768, 65536],
        format: Some(Tool { program: "mkfs.xfs", package: "xfsprogs" }),
        arguments: |cluster| split_words(&format!("-q -f -b size={cluster}")),
        kernel: &["xfs"],
        // Each trial's image is a copy of one, and bears its name.
        options: "nouuid",
        least_bytes: |_| 320 * MIB,
        ..NONE
    },
    FileSystemKind {
        name: "btrfs",
        format: Some(Tool { program: "mkfs.btrfs", package: "btrfs-progs" }),
        arguments: |cluster| split_words(&format!("-q -f -s {cluster}")),
        kernel: &["btrfs"],
        least_bytes: |_| 192 * MIB,
        ..NONE
    },
    FileSystemKind {
        name: "f2fs",
        format: Some(Tool { program: "mkfs.f2fs", package: "f2fs-tools" }),
        arguments: |_| split_words("-q -f"),
        kernel: &["f2fs"],
        least_bytes: |_| 128 * MIB,
        ..NONE
    },
    FileSystemKind {
        name: "vfat",
        clusters: &[512, 1024, 2048, 4096, 8192, 16384, 32768],
        format: Some(Tool { program: "mkfs.vfat", package: "dosfstools" }),
        arguments: |cluster| split_words(&format!("-F 32 -S 512 -s {}", cluster / 512)),
        kernel: &["vfat"],
        options: "umask=077",
        ownerless: true,
        // FAT32 has at least 65,525 clusters.
        least_bytes: |cluster| u64::from(cluster) * 70_000 + 8 * MIB,
        ..NONE
    },
    FileSystemKind {
        name: "exfat",
        clusters: POWERS_64K,
        format: Some(Tool { program: "mkfs.exfat", package: "exfatprogs" }),
        arguments: |cluster| split_words(&format!("-c {cluster}")),
        kernel: &["exfat"],
        fuse: fuse("mount.exfat-fuse", "exfat-fuse", "umask=077,nodev,nosuid"),
        options: "umask=077",
        ownerless: true,
        ..NONE
    },
    FileSystemKind {
        name: "ntfs",
        clusters: POWERS_64K,
        format: Some(Tool { program: "mkfs.ntfs", package: "ntfs-3g" }),
        arguments: |cluster| split_words(&format!("-q -Q -F -c {cluster}")),
        kernel: &["ntfs3"],
        fuse: fuse("ntfs-3g", "ntfs-3g", "umask=077,big_writes,nodev,nosuid"),
        options: "umask=077",
        ownerless: true,
        ..NONE
    },
    FileSystemKind {
        name: "tmpfs",
        clusters: &[],
        default_cluster: 0,
        kernel: &["tmpfs"],
        forgets: Some("is memory, which a power cut takes with all that was synced"),
        ..NONE
    },
];

impl FileSystemKind {
    /// The kind of a name.
    pub fn find(name: &str) -> Option<&'static FileSystemKind> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// Whether it lives in memory, without an image.
    pub fn is_in_memory(&self) -> bool {
        self.format.is_none()
    }

    /// Whether only a FUSE program mounts it, which needs no root.
    pub fn is_a_program(&self) -> bool {
        self.kernel.is_empty()
    }

    /// The size in bytes of an image for a trial that takes `trial_bytes`: with room for the file system's tables and journal and a
    /// store's own files, and as much again, so that it is never nearly full. It is sparse: what is not written takes nothing.
    pub fn image_bytes(&self, cluster: u32, trial_bytes: u64) -> u64 {
        let own_files = u64::from(cluster) * STORE_FILES + STORE_BYTES;
        let bytes = (self.least_bytes)(cluster)
            .saturating_add(own_files)
            .saturating_add(trial_bytes.saturating_mul(2));
        bytes.div_ceil(MIB).saturating_mul(MIB)
    }
}

impl Eq for FileSystemKind {}

impl PartialEq for FileSystemKind {
    fn eq(&self, other: &FileSystemKind) -> bool {
        self.name == other.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_whole() {
        for kind in KINDS {
            let name = kind.name;
            assert!(!kind.is_a_program() || kind.fuse.is_some(), "{name}");
            assert_eq!(FileSystemKind::find(name), Some(kind));
            assert!(kind.is_in_memory() || kind.clusters.contains(&kind.default_cluster), "{name}");
            assert!(kind.clusters.is_sorted(), "{name}");
            for cluster in kind.clusters {
                let bytes = kind.image_bytes(*cluster, 10 * MIB);
                assert!(bytes >= 60 * MIB && bytes.is_multiple_of(MIB), "{name}");
                assert!(kind.format.is_none() || !(kind.arguments)(*cluster).is_empty(), "{name}");
            }
        }
        assert_eq!(FileSystemKind::find("zfs"), None);
    }
}
