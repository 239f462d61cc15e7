//! A file system in an image as a place: formatted once for a run, copied and mounted anew for every trial.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use storebench_disk::cut::Log;
use storebench_disk::log::Entry;
use storebench_disk::request::Request;

use super::directory::WorkFolder;
use crate::background::available;
use crate::image::{Driver, MountedImage, driver, journal, make, mount, repair};
use crate::stage::{self, Stage};
use storebench_core::kernel::room;
use storebench_core::measure::probe::{self, Probe};
use storebench_model::axis::file_system::FileSystem;
use storebench_model::axis::file_system::kind::WITHOUT_ROOT;
use storebench_model::error::{Error, Exit, Result};
pub use storebench_model::simulated::TracePart;
use storebench_model::simulated::{DISK, DiskService, ServedDisk, SimulatedDisk};

/// The disk under an image, in messages.
pub const HOLDER: &str = "the disk that holds the image";

/// The formatted image, of which each trial gets a copy.
#[derive(Debug)]
pub struct Template {
    file_system: FileSystem,
    driver: Driver,
    image: File,
    bytes: u64,
    disk: Option<SimulatedDisk>,
    /// The byte ranges of its journal, if known.
    journal: Vec<(u64, u64)>,
}

/// The findings about a file system from mounting it once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountFindings {
    /// The driver, in words.
    pub driver: String,
    /// Whether that is a program.
    pub by_fuse: bool,
    /// The mount options, as reported by the kernel.
    pub options: String,
    /// Whether a separate block device is under it, whose traffic is the trial's.
    pub has_device: bool,
}

impl Template {
    /// Formats an image in a work folder with room for trials of `bytes` bytes. It is kept as long as the folder.
    pub fn make(
        work: &mut WorkFolder,
        file_system: &FileSystem,
        disk: Option<&SimulatedDisk>,
        trial_bytes: u64,
    ) -> Result<Template> {
        if let Some(disk) = disk {
            can_simulate(&disk.name, file_system).map_err(Error::bad_value)?;
        }
        let driver = Driver::find(file_system).map_err(Error::bad_value)?;
        let bytes = file_system.kind().image_bytes(file_system.cluster, trial_bytes);
        let mut stage = work.stage();
        let (path, image) = stage.file("template")?;
        make::format(file_system, &image, bytes).map_err(Error::io("formatting", &path))?;
        let journal = journal::parts(file_system, &image).map_err(Error::io("reading", &path))?;
        stage.keep();
        let file_system = file_system.clone();
        Ok(Template { file_system, driver, image, bytes, disk: disk.cloned(), journal })
    }

    /// Mounts a copy on a trial's stage and returns an empty folder in it, for the store's files. The seed determines what is random
    /// in a simulated disk.
    pub fn mount(&self, stage: &mut Stage<'_>, name: &str, seed: u64) -> Result<(PathBuf, MountedImage)> {
        let (mount_point, mounted) = match &self.disk {
            Some(disk) => {
                let disk_folder = self.serve(stage, disk, name, seed, TracePart::default())?;
                self.mount_served(stage, disk_folder, name)?
            }
            None => stage.mount(name, |image, site| {
                if !self.file_system.kind().is_in_memory() {
                    make::copy(&self.image, image)?;
                }
                self.attach(image, site)
            })?,
        };
        let store = mount_point.join(stage::STORE);
        std::fs::create_dir(&store).map_err(Error::io("making", &store))?;
        Ok((store, mounted))
    }

    fn attach(&self, image: &File, site: mount::Site<'_>) -> io::Result<MountedImage> {
        mount::attach(&self.file_system, self.driver, image, site, self.bytes)
    }

    /// Mounts a copy on the simulated disk that is served there.
    fn mount_served(
        &self,
        stage: &mut Stage<'_>,
        disk_folder: PathBuf,
        name: &str,
    ) -> Result<(PathBuf, MountedImage)> {
        stage.mount_on(&disk_name(name), name, |image, site| {
            let mounted = self.attach(image, site)?;
            // The disk's file itself is always direct.
            match mounted.direct.is_none_or(|direct| direct) {
                true => Ok(MountedImage { disk: Some(disk_folder), ..mounted }),
                false => Err(io::Error::other("the loop device does not pass by the host's page cache")),
            }
        })
    }

    /// Whether a copy can be mounted for a cut check. Else says why not, and what would help.
    pub fn check_traceable(&self) -> std::result::Result<(), String> {
        can_simulate("the cut check's", &self.file_system)
    }

    /// Mounts a copy for a cut check, on a disk that takes no time. Returns the folder for the store's files, which exists already
    /// after a cut, and the folder in which the disk is mounted; or why the file system can't be mounted.
    pub fn mount_traced(
        &self,
        stage: &mut Stage<'_>,
        name: &str,
        traced: TracePart<'_>,
    ) -> Result<std::result::Result<(PathBuf, PathBuf), String>> {
        let disk_folder = self.serve_traced(stage, name, traced)?;
        Ok(self.mount_served_disk(stage, &disk_folder, name).map(|store| (store, disk_folder)))
    }

    /// Serves a copy for a cut check on a disk that takes no time, and returns the folder in which the disk is mounted. Kinds that need
    /// repair after a power cut are repaired.
    pub fn serve_traced(&self, stage: &mut Stage<'_>, name: &str, traced: TracePart<'_>) -> Result<PathBuf> {
        let disk = SimulatedDisk::without_delay(name);
        let disk_folder = self.serve(stage, &disk, name, 0, traced)?;
        if traced.cut.is_some() {
            let path = disk_folder.join(DISK);
            let file = File::options().read(true).write(true).open(&path);
            repair(&self.file_system, &file.map_err(Error::io("opening", &path))?);
        }
        Ok(disk_folder)
    }

    /// Mounts the file system on a served disk and returns the folder for the store's files, or why it can't be mounted.
    pub fn mount_served_disk(
        &self,
        stage: &mut Stage<'_>,
        disk_folder: &Path,
        name: &str,
    ) -> std::result::Result<PathBuf, String> {
        let mounted = self.mount_served(stage, disk_folder.to_path_buf(), name);
        let store = mounted.map_err(|error| error.message)?.0.join(stage::STORE);
        if !store.exists() {
            std::fs::create_dir(&store)
                .map_err(Error::io("making", &store))
                .map_err(|error| error.message)?;
        }
        Ok(store)
    }

    /// Writes the formatted image to an empty disk, as a log that ends with a flush; also returns the size of the disk in bytes.
    pub fn log(&self) -> io::Result<(Log, u64)> {
        let mut entries = Vec::new();
        storebench_disk::holes::data(&self.image, |offset, bytes| {
            let request = Request::write(offset, bytes.len() as u64);
            entries.push(Entry { request, arrived: 0, data: bytes.to_vec() });
            Ok(())
        })?;
        entries.push(Entry { request: Request::flush(), arrived: 0, data: Vec::new() });
        Ok((Log { entries }, self.bytes))
    }

    /// Whether bytes of the disk are in the file system's journal.
    pub fn is_in_journal(&self, offset: u64) -> bool {
        self.journal.iter().any(|(from, to)| (*from..*to).contains(&offset))
    }

    /// Serves a copy of the image on a simulated disk: from memory, if there is twice the image's size, otherwise from a file.
    fn serve(
        &self,
        stage: &mut Stage<'_>,
        disk: &SimulatedDisk,
        name: &str,
        seed: u64,
        traced: TracePart<'_>,
    ) -> Result<PathBuf> {
        let in_memory = available::bytes().is_some_and(|bytes| bytes / 2 > self.bytes);
        let mut copy = None;
        if !in_memory {
            let (path, file) = stage.file(&format!("{name}.blocks"))?;
            make::copy(&self.image, &file).map_err(Error::io("copying an image to", &path))?;
            copy = Some(file);
        }
        let image = copy.as_ref().unwrap_or(&self.image);
        let serving = DiskService { disk, seed, journal: &self.journal, image, in_memory, traced };
        stage.disk(&disk_name(name), |folder| ServedDisk::start(serving, folder))
    }

    /// Measures the costs of a trial's file system, which is removed again.
    pub fn probe(&self, work: &mut WorkFolder) -> Result<Probe> {
        let mut stage = work.stage();
        let (directory, _) = self.mount(&mut stage, "probe", 0)?;
        let probe = probe::probe(&directory).map_err(Error::io("probing", &directory));
        let probe = probe.map_err(|error| match room::is_used_up(stage.work()) {
            true => Error::new(Exit::DiskFull, format!("{HOLDER} is full: {error}")),
            false => error,
        })?;
        stage.release()?;
        Ok(probe)
    }
}

/// The name of a file system's simulated disk.
fn disk_name(name: &str) -> String {
    format!("{name}.disk")
}

/// The file systems that can be on simulated disks here, in words. Else says why none can, and what would help.
pub fn simulated() -> std::result::Result<String, String> {
    let check_kind = |kind: &str| {
        let file_system = kind.parse()?;
        Driver::find(&file_system)?;
        can_simulate("one", &file_system)
    };
    match check_kind("ext4") {
        Ok(()) => Ok("under all of them but tmpfs".into()),
        Err(_) => check_kind(WITHOUT_ROOT).map(|()| format!("under {WITHOUT_ROOT} alone")),
    }
}

/// Whether a file system can be on a simulated disk here. Else says why not, and what would help.
fn can_simulate(name: &str, file_system: &FileSystem) -> std::result::Result<(), String> {
    let (kind, is_a_program) = (file_system.kind().name, file_system.kind().is_a_program());
    if file_system.kind().is_in_memory() {
        return Err(format!("{kind} is memory: it has no disk under it that could be simulated as {name}"));
    }
    if !is_a_program && !rustix::process::geteuid().is_root() {
        let sudo = driver::with_sudo();
        return Err(format!(
            "{kind} on a simulated disk ({name}) needs root ({WITHOUT_ROOT} needs none): {sudo}"
        ));
    }
    for (device_name, device) in driver::devices() {
        if device_name == driver::BY_FUSE || !is_a_program {
            device.map_err(|why| format!("a simulated disk ({name}) needs {device_name}: {why}"))?;
        }
    }
    Ok(())
}

/// Mounts a file system once in a work folder in this directory. Else says why it can't be mounted, and what would help.
pub fn try_mount(
    directory: &Path,
    file_system: &FileSystem,
    disk: Option<&SimulatedDisk>,
) -> std::result::Result<MountFindings, String> {
    let driver = Driver::find(file_system)?;
    let mount_once = || -> Result<MountFindings> {
        let mut work = WorkFolder::create(directory)?;
        let template = Template::make(&mut work, file_system, disk, 0)?;
        let mut stage = work.stage();
        let (_, mounted) = template.mount(&mut stage, "try", 0)?;
        stage.release()?;
        let is_indirect = mounted.direct == Some(false);
        let remark = if is_indirect { ", without direct I/O to its image" } else { "" };
        Ok(MountFindings {
            driver: format!("{}{remark}", driver.name()),
            by_fuse: matches!(driver, Driver::Fuse { .. }),
            options: mounted.options,
            has_device: mounted.device.is_some(),
        })
    };
    // A program may mount for root alone.
    mount_once().map_err(|Error { message, .. }| match rustix::process::geteuid().is_root() {
        true => message,
        false => format!("{message}; as root it may work: {}", driver::with_sudo()),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::location::abandoned;
    use storebench_model::axis::file_system::kind::KINDS;

    /// Mounts every file system that this machine has, at its smallest and largest cluster; prints which it lacks.
    #[test]
    fn every_file_system_that_can_be_had_is_mounted_and_gone_again() {
        let place = tempfile::tempdir().unwrap();
        for kind in KINDS {
            let ends = [kind.clusters.first(), kind.clusters.last()];
            let names = ends.map(|end| match end {
                Some(cluster) => format!("{}:{cluster}", kind.name),
                None => kind.name.to_owned(),
            });
            let count = if names[0] == names[1] { 1 } else { 2 };
            for name in &names[..count] {
                let file_system: FileSystem = name.parse().unwrap();
                if let Err(reason) = Driver::find(&file_system) {
                    eprintln!("skipped {name}: {reason}");
                    continue;
                }
                let findings = try_mount(place.path(), &file_system, None);
                let has_options = findings.as_ref().is_ok_and(|findings| !findings.options.is_empty());
                assert!(has_options, "{name}: {findings:?}");
                assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "{name} left something");
            }
        }
    }

    #[test]
    fn each_trial_has_a_file_system_of_its_own() {
        let place = tempfile::tempdir().unwrap();
        let file_system: FileSystem = "ext4:1024,noatime".parse().unwrap();
        if let Err(reason) = Driver::find(&file_system) {
            eprintln!("skipped: {reason}");
            return;
        }
        let mut work = WorkFolder::create(place.path()).unwrap();
        let template = Template::make(&mut work, &file_system, None, 1 << 20).unwrap();
        for trial in 0..2 {
            let mut stage = work.stage();
            let (store, mounted) = template.mount(&mut stage, &format!("trial-{trial}"), 0).unwrap();
            assert!(mounted.options.contains("noatime"), "{mounted:?}");
            assert!(mounted.device.is_some_and(|device| device.starts_with("loop")));
            assert_eq!(fs::read_dir(&store).unwrap().count(), 0);
            fs::write(store.join("record"), "value").unwrap();
            assert_eq!(rustix::fs::statvfs(&store).unwrap().f_bsize, 1024);
            stage.release().unwrap();
            assert!(!store.exists());
        }
        drop(work);
        assert_eq!(abandoned::clean(place.path()).unwrap(), abandoned::AbandonedFolders::default());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
