//! Mounts an image in a work folder and unmounts it, in the run itself or when another process cleans up after a kill. Paths go through
//! the open work folder, whatever its name is by then. A mount is recognised as storebench's by its image.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::driver::{Driver, has_loop_devices, helper};
use super::loop_device::{LoopDevice, devices_of};
use super::{program, run};
use storebench_core::kernel::mounts::{self, Mount};
use storebench_core::kernel::system;
use storebench_model::axis::file_system::FileSystem;
use storebench_model::{server, simulated};

/// The longest wait for what ends or mounts by itself.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest wait for a mount that is still in use: killed processes let go of it late on a busy machine.
const BUSY_PATIENCE: Duration = Duration::from_secs(60);
/// The longest wait for a daemon that flushes to a slow disk.
const DAEMON_PATIENCE: Duration = Duration::from_secs(300);
const PAUSE: Duration = Duration::from_millis(20);
/// The kernel's source name of mounts without an image.
const SOURCE: &str = "storebench";

/// A mounted image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountedImage {
    /// The loop device, such as `loop3`, if one is used.
    pub device: Option<String>,
    /// Whether the loop device bypasses the page cache of the file system that holds the image; `None` without one.
    pub direct: Option<bool>,
    /// The mount options, as reported by the kernel.
    pub options: String,
    /// The folder in which the simulated disk under it is mounted, if any.
    pub disk: Option<PathBuf>,
}

/// Where an image is mounted: names in an open work folder.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a> {
    /// The work folder.
    pub folder: &'a File,
    /// The image's name in the folder.
    pub image: &'a str,
    /// The name of the mount point.
    pub at: &'a str,
}

impl Site<'_> {
    fn is_on_disk(&self) -> bool {
        self.image.contains('/')
    }

    /// The work folder's present path.
    fn real(&self) -> io::Result<PathBuf> {
        fs::read_link(self.through())
    }

    /// A path to the open work folder for system calls, whatever its name is.
    fn through(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.folder.as_raw_fd()))
    }
}

/// Mounts the open `image` at its site. If mounting fails, an attached loop device is freed.
pub fn attach(
    file_system: &FileSystem,
    driver: Driver,
    image: &File,
    site: Site<'_>,
    bytes: u64,
) -> io::Result<MountedImage> {
    let device = match driver {
        _ if file_system.kind().is_in_memory() => None,
        Driver::Fuse { .. } if !has_loop_devices() => None,
        // As without root: the cache of a block device would keep requests from the disk.
        _ if site.is_on_disk() && file_system.kind().is_a_program() => None,
        _ => Some(LoopDevice::attach(image)?),
    };
    let direct = device.as_ref().map(LoopDevice::is_direct).transpose()?;
    let real = site.real()?;
    match driver {
        Driver::Kernel(name) => {
            let source = device.as_ref().map_or_else(|| SOURCE.into(), LoopDevice::path);
            by_kernel(file_system, name, &source, &site.through().join(site.at), bytes)?;
        }
        Driver::Fuse { program, options } => {
            // Given a name, a program can be led elsewhere, but then it mounts that file, and formats nothing.
            let source = device.as_ref().map_or_else(|| real.join(site.image), LoopDevice::path);
            let options = [options, &owner(file_system)].join(",");
            by_fuse(program, options.trim_end_matches(','), &source, &real.join(site.at))?;
        }
    }
    let options = appeared(&real.join(site.at), driver)?.options.join(",");
    Ok(MountedImage { device: device.as_ref().map(LoopDevice::name), direct, options, disk: None })
}

/// The owner of all files on a file system without owners: the user as whom servers run, who could not open their files otherwise.
/// Root may open them as well. A program that root mounts must let such users in.
fn owner(file_system: &FileSystem) -> String {
    match server::users().first() {
        Some(user) if file_system.kind().ownerless => format!("uid={},gid={}", user.uid, user.gid),
        Some(_) if file_system.kind().is_a_program() => "allow_other".to_owned(),
        _ => String::new(),
    }
}

/// The mount at a folder; a program may mount after it has gone to the background.
fn appeared(at: &Path, driver: Driver) -> io::Result<Mount> {
    let start = Instant::now();
    loop {
        match mounts::mount_at(at)? {
            Some(found) => return Ok(found),
            None if start.elapsed() < PATIENCE / 10 => sleep(PAUSE),
            None => {
                let name = driver.name();
                return Err(io::Error::other(format!("{name} mounted nothing, and did not say why")));
            }
        }
    }
}

fn by_kernel(file_system: &FileSystem, name: &str, source: &Path, at: &Path, bytes: u64) -> io::Result<()> {
    let size = if file_system.kind().is_in_memory() { format!("size={bytes}") } else { String::new() };
    let (own, owner) = (file_system.options(), owner(file_system));
    let given =
        [file_system.kind().options, &owner, &size, &own].into_iter().flat_map(|list| list.split(','));
    let given = given.filter(|option| !option.is_empty());
    system::mount(source, at, name, given).map_err(|error| mount_error(name, &own, error))
}

fn mount_error(name: &str, options: &str, error: io::Error) -> io::Error {
    let with = if options.is_empty() { String::new() } else { format!(" with {options}") };
    let hint = match error.kind() {
        io::ErrorKind::PermissionDenied => "; in a container, root needs CAP_SYS_ADMIN to mount",
        _ => "",
    };
    io::Error::new(error.kind(), format!("the kernel's {name} does not mount it{with}: {error}{hint}"))
}

fn by_fuse(name: &str, options: &str, source: &Path, at: &Path) -> io::Result<()> {
    let program = program(name).ok_or(io::ErrorKind::NotFound)?;
    let mut command = Command::new(program);
    run(command.arg("-o").arg(options).arg(source).arg(at), name, Stdio::null())
}

/// Unmounts what storebench mounted at a site, if anything; the folder and the image stay, and so does a mount of anything else. Fails
/// when the mount stays in use for a minute, or is not storebench's.
pub fn detach(site: Site<'_>) -> io::Result<()> {
    let image = site.real()?.join(site.image);
    if detach_if(site, |found| is_image_mount(found, &image))? {
        wait_for_program(&image)?;
    }
    wait_for_device(&image)
}

/// Unmounts if `is_ours` holds; returns whether a program mounted it that has the image itself open.
fn detach_if(site: Site<'_>, is_ours: impl Fn(&Mount) -> bool) -> io::Result<bool> {
    let start = Instant::now();
    let (at, image) = (site.real()?.join(site.at), site.real()?.join(site.image));
    let mut by_program = false;
    while let Some(found) = mounts::mount_at(&at)? {
        if !is_ours(&found) {
            let source = found.source.display();
            return Err(io::Error::other(format!("{source} is mounted there, which storebench did not do")));
        }
        by_program |= found.source == image;
        let unmounted = match system::unmount(&site.through().join(site.at)) {
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => by_fusermount(&at),
            done => done,
        };
        match unmounted {
            Err(error) if is_busy(&error) && start.elapsed() < BUSY_PATIENCE => sleep(PAUSE),
            Err(error) if is_busy(&error) => {
                return Err(io::Error::other(
                    "a process still has files or its current folder there: end it",
                ));
            }
            done => done?,
        }
    }
    Ok(by_program)
}

/// Whether a mount is in use, according to the system's error or FUSE's helper.
fn is_busy(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ResourceBusy || error.to_string().ends_with("Device or resource busy")
}

/// Unmounts a simulated disk from a folder in a work folder, under the conditions of [`detach`].
pub fn detach_disk(folder: &File, at: &str) -> io::Result<()> {
    let site = Site { folder, image: at, at };
    let is_disk =
        |found: &Mount| found.kind.starts_with("fuse") && found.source == Path::new(simulated::SOURCE);
    detach_if(site, is_disk).map(drop)
}

/// Waits until the program that had mounted an image has flushed and exited.
fn wait_for_program(image: &Path) -> io::Result<()> {
    let start = Instant::now();
    while let Some(pid) = user_of(image) {
        if start.elapsed() >= DAEMON_PATIENCE {
            let image = image.display();
            return Err(io::Error::other(format!("process {pid} still has {image} open: end it")));
        }
        sleep(PAUSE);
    }
    Ok(())
}

/// Waits until the loop device of an unmounted image has freed itself. A FUSE daemon flushes first.
fn wait_for_device(image: &Path) -> io::Result<()> {
    let start = Instant::now();
    while let Some(device) = devices_of(image).first() {
        let waited = start.elapsed();
        if waited >= PATIENCE {
            match user_of(device) {
                // Another mount namespace has a copy of the mount, which only it can undo. It frees the device when it ends.
                None => return Ok(()),
                Some(pid) if waited >= DAEMON_PATIENCE => {
                    let device = device.display();
                    return Err(io::Error::other(format!("process {pid} still has {device} open: end it")));
                }
                Some(_) => sleep(PATIENCE / 10),
            }
        }
        sleep(PAUSE);
    }
    Ok(())
}

/// A process that has a device or a file open, if any.
fn user_of(path: &Path) -> Option<u32> {
    let is_open = |pid: &u32| {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        open.into_iter().any(|entry| fs::read_link(entry.path()).is_ok_and(|file| file == path))
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).find(is_open)
}

fn by_fusermount(at: &Path) -> io::Result<()> {
    let program = helper().ok_or_else(|| io::Error::other("fusermount3 is not installed"))?;
    run(Command::new(program).arg("-u").arg(at), "fusermount", Stdio::null())
}

/// Whether a mount in a work folder is of storebench's image: directly, or through the loop device that it is attached to. A FUSE
/// daemon that was killed leaves its mount behind, and its loop device may be another file's by then: only the mount goes.
fn is_image_mount(found: &Mount, image: &Path) -> bool {
    let by_daemon = found.kind.starts_with("fuse") && found.source.starts_with("/dev/");
    found.source == Path::new(SOURCE)
        || found.source == image
        || by_daemon
        || devices_of(image).contains(&found.source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_undone_where_nothing_was_done() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("at")).unwrap();
        let open = File::open(folder.path()).unwrap();
        detach(Site { folder: &open, image: "image", at: "at" }).unwrap();
        detach(Site { folder: &open, image: "image", at: "not-there" }).unwrap();
    }

    #[test]
    fn what_others_mounted_stays() {
        let root = File::open("/").unwrap();
        let error = detach(Site { folder: &root, image: "nonexistent-image", at: "proc" }).unwrap_err();
        assert!(error.to_string().contains("which storebench did not do"), "{error}");
        assert!(mounts::mount_at(Path::new("/proc")).unwrap().is_some());
    }

    #[test]
    fn a_mount_is_known_by_its_image() {
        let found = |kind: &str, source: &str| {
            let (root, at) = ("/".into(), "/place/work/at".into());
            Mount { root, at, kind: kind.into(), source: source.into(), options: Vec::new() }
        };
        let image = Path::new("/place/work/trial.image");
        assert!(is_image_mount(&found("tmpfs", "storebench"), image));
        assert!(is_image_mount(&found("fuse.fuse2fs", "/place/work/trial.image"), image));
        assert!(is_image_mount(&found("fuseblk", "/dev/loop3"), image), "its daemon may have been killed");
        for other in [found("ext4", "/dev/sda1"), found("ext4", "/dev/loop255"), found("tmpfs", "tmpfs")] {
            assert!(!is_image_mount(&other, image), "{other:?}");
        }
    }
}
