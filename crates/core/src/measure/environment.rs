//! The machine and the locations: what a reader of a result must know to judge it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use storebench_model::result::{Environment, LocationInfo};
use storebench_model::sanitize;

use crate::kernel::{memory, mounts};
use crate::measure::clock::Clock;

/// Describes the machine. What is not known is left out.
pub fn machine() -> Environment {
    let clock = Clock::new();
    Environment {
        cpu: cpu_name(),
        cores: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
        memory_bytes: memory::read_meminfo().map(|memory| memory.mem_total),
        kernel: kernel(),
        distribution: distribution(),
        virtualisation: virtualisation(),
        governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        load_1min: load_1min(),
        clock_ns: clock.cost_ns(),
        clock: clock.kind().into(),
        machine_id: machine_id(),
    }
}

/// A digest of the system's machine-id, which is to be kept secret (machine-id(5)).
fn machine_id() -> Option<String> {
    let id = read("/etc/machine-id").filter(|id| id.len() >= 32)?;
    let digest = Sha256::new().chain_update("storebench machine ").chain_update(id).finalize();
    Some(digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// The host's name, for results that are not given another.
pub fn host_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name.is_empty() { "unnamed".into() } else { name }
}

/// Load average over one minute.
pub fn load_1min() -> Option<f64> {
    read("/proc/loadavg")?.split(' ').next()?.parse().ok()
}

/// Describes the file system and the device under `path`, which exists.
pub fn describe_location(name: &str, path: &Path) -> std::io::Result<LocationInfo> {
    let device = fs::metadata(path)?.dev();
    let space = rustix::fs::statvfs(path)?;
    let mount = fs::canonicalize(path).and_then(|path| mounts::holding(&path)).ok().flatten();
    let block = block_device(device, mount.as_ref().map(|mount| mount.source.as_path()));
    Ok(LocationInfo {
        name: name.into(),
        place: None,
        path: path.display().to_string(),
        file_system: mount.as_ref().map(|mount| mount.kind.clone()),
        mount_options: mount.map(|mount| sanitize::mount_options(&mount.options.join(","))),
        device_model: block.as_ref().and_then(|block| read(block.join("device/model"))),
        rotates: block.as_ref().and_then(|block| Some(read(block.join("queue/rotational"))? == "1")),
        device: block.and_then(|block| Some(block.file_name()?.to_string_lossy().into_owned())),
        free_bytes: space.f_bavail * space.f_frsize,
        image: None,
        driver: None,
        by_fuse: false,
        bottom: None,
        disk: None,
    })
}

/// The folder in /sys/block of the disk with a device number, or of a mount's source if the number is no disk's (btrfs and
/// overlays have other numbers).
pub fn block_device(device: u64, source: Option<&Path>) -> Option<PathBuf> {
    let by_number =
        format!("/sys/dev/block/{}:{}", rustix::fs::major(device as _), rustix::fs::minor(device as _));
    // A name such as /dev/mapper/root is a link.
    let source = source.map(|source| fs::canonicalize(source).unwrap_or_else(|_| source.into()));
    let by_source = source.and_then(|source| {
        let name = source.strip_prefix("/dev").ok()?;
        Some(Path::new("/sys/class/block").join(name))
    });
    let folders = [Some(by_number.into()), by_source].into_iter().flatten();
    let folder = folders.map(fs::canonicalize).find_map(Result::ok)?;
    // A partition has no queue: its disk is the folder above.
    if folder.join("queue").is_dir() { Some(folder) } else { folder.parent().map(Path::to_path_buf) }
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

fn cpu_name() -> Option<String> {
    let text = read("/proc/cpuinfo")?;
    let line = text.lines().find(|line| line.starts_with("model name") || line.starts_with("Model"))?;
    Some(line.split_once(':')?.1.trim().into())
}

fn kernel() -> String {
    let name = rustix::system::uname();
    let parts = [name.sysname(), name.release(), name.machine()];
    parts.map(|part| part.to_string_lossy()).join(" ")
}

fn distribution() -> Option<String> {
    let text = read("/etc/os-release")?;
    let line = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(line.trim_matches('"').into())
}

/// The hypervisor or container, as far as it shows, else `none`.
fn virtualisation() -> Option<String> {
    let marks = [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];
    let container = marks.into_iter().find(|(mark, _)| Path::new(mark).exists());
    let kernel = read("/proc/sys/kernel/osrelease").unwrap_or_default().to_lowercase();
    let hypervisor = if kernel.contains("microsoft") {
        Some("wsl".to_owned())
    } else {
        let processor = read("/proc/cpuinfo")?;
        let is_guest =
            processor.lines().any(|line| line.starts_with("flags") && line.contains(" hypervisor"));
        let vendor = || read("/sys/class/dmi/id/sys_vendor").map(|vendor| format!(" ({vendor})"));
        is_guest.then(|| format!("virtual machine{}", vendor().unwrap_or_default()))
    };
    let container = container.map(|(_, name)| name.to_owned());
    let found: Vec<String> = hypervisor.into_iter().chain(container).collect();
    Some(if found.is_empty() { "none".into() } else { found.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_and_a_place_are_known() {
        let machine = machine();
        assert!(machine.cores >= 1 && machine.clock_ns > 0.0 && !machine.kernel.is_empty());
        assert!(machine.memory_bytes.is_some_and(|bytes| bytes > 1 << 20));
        let location = describe_location("here", Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        assert!(location.free_bytes > 0 && location.file_system.is_some());
        assert!(describe_location("nowhere", Path::new("/nonexistent")).is_err());
    }
}
