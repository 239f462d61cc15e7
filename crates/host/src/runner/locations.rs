//! The places of a run, each with a work folder, and the folder of each trial in them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::location::directory::WorkFolder;
use crate::location::image::Template;
use crate::location::{Location, transit};
use crate::runner::devices;
use crate::runner::run_request::RunRequest;
use crate::stage::Stage;
use storebench_core::measure::cgroup;
use storebench_core::measure::device::DeviceSpec;
use storebench_core::measure::probe::{self, Probe};
use storebench_model::cell::{Cell, LocationOnDisk};
use storebench_model::error::{Error, Result};
use storebench_model::result::Transit;
use storebench_model::store::{self, StoreKind};

/// The places in which the run's cells are.
pub struct PreparedLocations {
    by_place: BTreeMap<LocationOnDisk, PreparedLocation>,
}

/// A place that is ready for trials.
pub struct PreparedLocation {
    pub folder: WorkFolder,
    /// Where background loads keep their files.
    pub load_folder: PathBuf,
    /// Where servers keep files that are no data; `None` without servers.
    pub servers: Option<PathBuf>,
    pub probe: Probe,
    /// The time that requests take to the simulated disk and back, if there is one.
    pub transit: Option<Transit>,
    pub trial_folders: TrialFolders,
}

/// The source of the folders for a place's trials.
pub enum TrialFolders {
    /// The user's own file system.
    Shared {
        /// The block device under it, or why its counters can't be read.
        device: std::result::Result<DeviceSpec, String>,
    },
    /// A new file system for each trial.
    Image(Template),
}

/// The folder of one trial, and the device under it.
pub struct TrialFolder {
    /// The empty folder for the store's files.
    pub directory: PathBuf,
    /// The time of making an empty file in it, in nanoseconds.
    pub file_creation_ns: u64,
    /// The block device under it, or why its counters can't be read.
    pub device: std::result::Result<DeviceSpec, String>,
    /// The folder in which the simulated disk under it is mounted, if any.
    pub disk: Option<PathBuf>,
}

impl PreparedLocations {
    pub fn make(job: &RunRequest<'_>) -> Result<PreparedLocations> {
        // An unavailable place is among the job's, but no cell is in it.
        let used: BTreeSet<LocationOnDisk> = job.cells.iter().map(Cell::location_on_disk).collect();
        let places = || job.places.iter().filter(|(name, _)| used.contains(name));
        let shared = places().filter_map(|(name, place)| match place {
            Location::Directory(path) => Some((name.clone(), path.clone())),
            Location::Image { .. } => None,
        });
        let mut devices = devices::shared_devices(&shared.collect(), job.interrupted);
        let has_server =
            job.cells.iter().any(|cell| store::kind(job.stores, cell.store()) == StoreKind::Server);
        // A figure of the machine, not of the disk.
        let mut measured_transit = None;
        let prepare = |(name, place): (&LocationOnDisk, &Location)| {
            let mut folder = WorkFolder::create(place.directory())?;
            // A program mounts without a loop device, which its user may lack.
            let is_simulated = matches!(place, Location::Image { file_system, disk: Some(_), .. } if !file_system.kind().is_a_program());
            if is_simulated && measured_transit.is_none() {
                measured_transit = Some(transit::measure(&mut folder)?);
            }
            let transit = measured_transit.filter(|_| is_simulated);
            let (probe, trial_folders) = match place {
                Location::Directory(_) => {
                    let probe = folder.probe()?;
                    let device = devices.remove(name).unwrap_or_else(|| Err("it was not looked for".into()));
                    (probe, TrialFolders::Shared { device })
                }
                Location::Image { file_system, disk, .. } => {
                    let cells = job.cells.iter().filter(|cell| cell.location_on_disk() == *name);
                    let bytes = trial_bytes(job, cells);
                    let template = Template::make(&mut folder, file_system, disk.as_ref(), bytes)?;
                    (template.probe(&mut folder)?, TrialFolders::Image(template))
                }
            };
            let mut stage = folder.stage();
            let load_folder = stage.folder("background")?;
            let servers = has_server.then(|| stage.folder("servers")).transpose()?;
            stage.keep();
            let prepared = PreparedLocation { folder, load_folder, servers, probe, transit, trial_folders };
            Ok((name.clone(), prepared))
        };
        Ok(PreparedLocations { by_place: places().map(prepare).collect::<Result<_>>()? })
    }

    pub fn probes(&self) -> BTreeMap<LocationOnDisk, Probe> {
        self.by_place.iter().map(|(name, place)| (name.clone(), place.probe)).collect()
    }

    /// Where cgroups for trials can be made, or why not.
    pub fn find_cgroups(&mut self) -> std::result::Result<cgroup::CgroupParent, String> {
        let place = self.by_place.values_mut().next().ok_or("there is no place")?;
        cgroup::CgroupParent::find(|parent| place.folder.stage().group(parent).map(drop))
    }

    pub fn location_of(&mut self, cell: &Cell) -> Result<&mut PreparedLocation> {
        let name = cell.location_on_disk();
        self.by_place.get_mut(&name).ok_or_else(|| Error::bad_value(format!("there is no place {name}")))
    }
}

/// The most room that a trial of one of these cells needs, in bytes.
pub fn trial_bytes<'c>(job: &RunRequest<'_>, cells: impl Iterator<Item = &'c Cell>) -> u64 {
    cells.map(|cell| job.plan.required_bytes(&job.plan.case(cell, job.stores)) as u64).max().unwrap_or(0)
}

impl TrialFolders {
    /// The image that each folder is a copy of, if any.
    pub fn template(&self) -> Option<&Template> {
        match self {
            TrialFolders::Shared { .. } => None,
            TrialFolders::Image(template) => Some(template),
        }
    }

    /// Makes the folder of one trial. The seed determines what is random in a simulated disk.
    pub fn take(&self, stage: &mut Stage<'_>, position: u64, seed: u64) -> Result<TrialFolder> {
        let name = format!("trial-{position}");
        let (directory, device, disk) = match self {
            TrialFolders::Shared { device } => (stage.folder(&name)?, device.clone(), None),
            TrialFolders::Image(template) => {
                let (directory, mounted) = template.mount(stage, &name, seed)?;
                let device = mounted.device.map(DeviceSpec::unshared);
                let device = device.ok_or("there is no block device under the file system".to_owned());
                (directory, device, mounted.disk)
            }
        };
        let file_creation_ns =
            probe::file_creation_ns(&directory).map_err(Error::io("probing", &directory))?;
        Ok(TrialFolder { directory, file_creation_ns, device, disk })
    }
}
