//! Finds what holds a directory's bytes in the end, and whether that survives a power cut.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use storebench_core::kernel::mounts::{self, Mount};
use storebench_core::measure::environment;
use storebench_model::result::StorageBacking;
use storebench_model::test_hooks;

/// The most layers that are followed: images in images, overlays on overlays, devices made of devices.
const MOST_LAYERS: u32 = 16;

/// The kernel's information on mounts and devices.
trait Kernel {
    /// The path without links, and the mount that holds it; `None` if it can't be seen.
    fn mount(&self, path: &Path) -> Option<(PathBuf, Mount)>;
    /// The name in /sys/block of the whole disk of a path, given the mount that holds it.
    fn disk(&self, path: &Path, mount: &Mount) -> Option<String>;
    /// The file behind a loop device.
    fn backing_file(&self, device: &str) -> Option<PathBuf>;
    /// The devices that this one is made of.
    fn parts(&self, device: &str) -> Vec<String>;
}

/// Follows a directory to what holds its bytes: through mounts, loop devices, upper layers of overlays, and devices made of others.
pub fn follow(directory: &Path) -> StorageBacking {
    match test_hooks::memory_keeps() {
        true => StorageBacking::Disk,
        false => follow_path(&RunningKernel, directory, MOST_LAYERS),
    }
}

fn follow_path(kernel: &impl Kernel, path: &Path, layers: u32) -> StorageBacking {
    let Some((path, mount)) = kernel.mount(path).filter(|_| layers > 0) else {
        return StorageBacking::Unseen {
            why: format!("the mount that holds {} can't be seen", path.display()),
        };
    };
    let description = format!("{} at {}", mount.kind, mount.at.display());
    if ["tmpfs", "ramfs", "rootfs"].contains(&mount.kind.as_str()) {
        return StorageBacking::Memory { what: description };
    }
    if mount.source == Path::new(storebench_disk::names::SOURCE) {
        return StorageBacking::Simulated;
    }
    let lower_backing = if mount.kind == "overlay" {
        let upper = mount.options.iter().find_map(|option| option.strip_prefix("upperdir="));
        match upper.map(PathBuf::from).filter(|upper| kernel.mount(upper).is_some()) {
            // An overlay on itself is impossible: its upper layer is elsewhere, and this name does not lead there.
            Some(upper) if !upper.starts_with(&path) => follow_path(kernel, &upper, layers - 1),
            _ => StorageBacking::Unseen {
                why: format!("the upper layer of the {description} is outside of this container"),
            },
        }
    } else if let Some(device) = kernel.disk(&path, &mount) {
        follow_device(kernel, &device, layers - 1)
    } else if mount.kind.starts_with("fuse") && kernel.mount(&mount.source).is_some() {
        // The daemon of an image has the image file as its source.
        follow_path(kernel, &mount.source, layers - 1)
    } else {
        StorageBacking::Unseen { why: format!("{description} is on no disk that can be seen here") }
    };
    let switches_off_barriers = |option: &&String| ["nobarrier", "barrier=0"].contains(&option.as_str());
    match (mount.options.iter().find(switches_off_barriers), lower_backing) {
        (Some(option), StorageBacking::Disk | StorageBacking::Unseen { .. }) => {
            StorageBacking::NoBarriers { what: format!("{description} is mounted with {option}") }
        }
        (_, lower_backing) => lower_backing,
    }
}

fn follow_device(kernel: &impl Kernel, device: &str, layers: u32) -> StorageBacking {
    if layers == 0 {
        return StorageBacking::Unseen { why: format!("{device} is made of too many layers") };
    }
    // /dev/ram0 belongs to the driver brd.
    let has_driver =
        |driver: &str| device.strip_prefix(driver).is_some_and(|number| number.parse::<u32>().is_ok());
    if has_driver("zram") || has_driver("ram") {
        return StorageBacking::Memory { what: device.into() };
    }
    if let Some(file) = kernel.backing_file(device) {
        return follow_path(kernel, &file, layers - 1);
    }
    // The worst of its parts decides.
    let parts = kernel.parts(device).into_iter().map(|part| follow_device(kernel, &part, layers - 1));
    parts.max().unwrap_or(StorageBacking::Disk)
}

/// The kernel that this runs on.
struct RunningKernel;

impl Kernel for RunningKernel {
    fn mount(&self, path: &Path) -> Option<(PathBuf, Mount)> {
        let path = fs::canonicalize(path).ok()?;
        let mount = mounts::holding(&path).ok()??;
        Some((path, mount))
    }

    fn disk(&self, path: &Path, mount: &Mount) -> Option<String> {
        whole_disk(fs::metadata(path).ok()?.dev(), &mount.source)
    }

    fn backing_file(&self, device: &str) -> Option<PathBuf> {
        let file = fs::read_to_string(Path::new("/sys/block").join(device).join("loop/backing_file"));
        Some(file.ok()?.trim_end_matches('\n').into())
    }

    fn parts(&self, device: &str) -> Vec<String> {
        let parts = fs::read_dir(Path::new("/sys/block").join(device).join("slaves"));
        let names = parts.into_iter().flatten().flatten().map(|part| part.file_name());
        let names = names.filter_map(|name| name.into_string().ok());
        // Some are partitions, which belong to a disk.
        names.map(|name| whole_disk(0, &Path::new("/dev").join(&name)).unwrap_or(name)).collect()
    }
}

/// The name of the whole disk of a device's number, or of its file.
fn whole_disk(number: u64, device: &Path) -> Option<String> {
    environment::block_device(number, Some(device))?.file_name()?.to_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mounts as folder, kind, source and options; devices with their files and parts.
    struct MadeKernel(&'static [(&'static str, &'static str, &'static str, &'static str)]);

    const KERNEL: MadeKernel = MadeKernel(&[
        ("/", "ext4", "/dev/sda1", "rw"),
        ("/run", "tmpfs", "tmpfs", "rw"),
        ("/mnt/loop", "ext4", "/dev/loop0", "rw"),
        ("/mnt/deep", "xfs", "/dev/loop1", "rw"),
        ("/mnt/compressed", "ext4", "/dev/zram0", "rw"),
        ("/mnt/fast", "ext4", "/dev/sdb", "nobarrier"),
        ("/mnt/fast-memory", "ext4", "/dev/ram0", "barrier=0"),
        ("/mnt/crypt", "ext4", "/dev/dm-0", "rw"),
        ("/mnt/striped", "btrfs", "/dev/dm-1", "rw"),
        ("/mnt/merged", "overlay", "overlay", "upperdir=/run/upper"),
        ("/mnt/merged-disk", "overlay", "overlay", "upperdir=/home/upper"),
        ("/mnt/container", "overlay", "overlay", "upperdir=/gone/upper"),
        ("/mnt/net", "nfs4", "server:/home", "rw"),
        ("/mnt/shared", "9p", "host", "rw"),
        ("/mnt/image", "fuse.fuse2fs", "/run/image", "rw"),
        ("/mnt/remote", "fuse.sshfs", "host:", "rw"),
        ("/mnt/simulated", "fuse", storebench_disk::names::SOURCE, "rw"),
    ]);

    impl Kernel for MadeKernel {
        fn mount(&self, path: &Path) -> Option<(PathBuf, Mount)> {
            if path.starts_with("/gone") || !path.is_absolute() {
                return None;
            }
            let holders = self.0.iter().filter(|(folder, ..)| path.starts_with(folder));
            let (folder, kind, source, options) =
                holders.max_by_key(|(folder, ..)| Path::new(folder).components().count())?;
            let (kind, options) = ((*kind).into(), options.split(',').map(str::to_owned).collect());
            let mount = Mount { root: "/".into(), at: folder.into(), kind, source: source.into(), options };
            Some((path.to_path_buf(), mount))
        }

        fn disk(&self, _: &Path, mount: &Mount) -> Option<String> {
            Some(mount.source.strip_prefix("/dev").ok()?.to_str()?.to_owned())
        }

        fn backing_file(&self, device: &str) -> Option<PathBuf> {
            match device {
                "loop0" => Some("/run/file".into()),
                "loop1" => Some("/mnt/loop/file".into()),
                _ => None,
            }
        }

        fn parts(&self, device: &str) -> Vec<String> {
            let parts: &[&str] = match device {
                "dm-0" => &["sda2"],
                "dm-1" => &["sda3", "ram1", "sdc"],
                _ => &[],
            };
            parts.iter().map(|part| (*part).to_owned()).collect()
        }
    }

    #[test]
    fn a_directory_is_followed_to_what_holds_its_bytes() {
        let bottoms = [
            ("/home/user", "disk"),
            ("/run/user", "memory: tmpfs at /run"),
            ("/mnt/loop", "memory: tmpfs at /run"),
            ("/mnt/deep/folder", "memory: tmpfs at /run"),
            ("/mnt/compressed", "memory: zram0"),
            ("/mnt/fast", "no barriers: ext4 at /mnt/fast is mounted with nobarrier"),
            ("/mnt/fast-memory", "memory: ram0"),
            ("/mnt/crypt", "disk"),
            ("/mnt/striped", "memory: ram1"),
            ("/mnt/merged", "memory: tmpfs at /run"),
            ("/mnt/merged-disk", "disk"),
            (
                "/mnt/container",
                "unseen: the upper layer of the overlay at /mnt/container is outside of this container",
            ),
            ("/mnt/net", "unseen: nfs4 at /mnt/net is on no disk that can be seen here"),
            ("/mnt/shared", "unseen: 9p at /mnt/shared is on no disk that can be seen here"),
            ("/mnt/image", "memory: tmpfs at /run"),
            ("/mnt/remote", "unseen: fuse.sshfs at /mnt/remote is on no disk that can be seen here"),
            ("/mnt/simulated", "simulated"),
            ("/gone", "unseen: the mount that holds /gone can't be seen"),
        ];
        for (path, bottom) in bottoms {
            let found = match follow_path(&KERNEL, Path::new(path), MOST_LAYERS) {
                StorageBacking::Disk => "disk".into(),
                StorageBacking::Simulated => "simulated".into(),
                StorageBacking::Memory { what } => format!("memory: {what}"),
                StorageBacking::NoBarriers { what } => format!("no barriers: {what}"),
                StorageBacking::Unseen { why } => format!("unseen: {why}"),
            };
            assert_eq!(found, bottom, "{path}");
        }
    }

    #[test]
    fn what_holds_itself_ends() {
        const CIRCLE: MadeKernel = MadeKernel(&[("/", "fuse.circle", "/file", "rw")]);
        let bottom = follow_path(&CIRCLE, Path::new("/file"), MOST_LAYERS);
        assert!(matches!(bottom, StorageBacking::Unseen { .. }), "{bottom:?}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_memory_of_this_machine_is_memory() {
        let mount = RunningKernel.mount(Path::new("/dev/shm"));
        if let Some((_, mount)) = mount.filter(|(_, mount)| mount.kind == "tmpfs") {
            let bottom = follow_path(&RunningKernel, &mount.at, MOST_LAYERS);
            assert_eq!(bottom, StorageBacking::Memory { what: format!("tmpfs at {}", mount.at.display()) });
        }
    }

    /// A disk that results name is found here, whatever its mount calls it: `/dev/root`, a partition, a link.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_place_whose_disk_is_known_is_seen() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let bottom = follow_path(&RunningKernel, here, MOST_LAYERS);
        let disk = environment::describe_location("here", here).unwrap().device;
        assert!(disk.is_none() || !matches!(bottom, StorageBacking::Unseen { .. }), "{disk:?}: {bottom:?}");
    }
}
