//! Leads from a plan to its run folder: determines the places, the machine and the cells, and carries the run out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use storebench_core::measure::environment;
use storebench_core::measure::limit::LimitSupport;
use storebench_figures::claims;
use storebench_figures::data::undecided;
use storebench_figures::judge::interim;
use storebench_host::background;
use storebench_host::folder::RunFolder;
use storebench_host::location::directory::WorkFolder;
use storebench_host::location::{Location, abandoned, image};
use storebench_host::plan::Plan;
use storebench_host::run::Run;
use storebench_host::runner::event::Listener;
use storebench_host::runner::limits;
use storebench_host::runner::parent::{self, RunEnd};
use storebench_host::runner::run_request::{ExtraCells, RunRequest};
use storebench_host::schedule::{self, LocationRoom};
use storebench_host::shard::Split;
use storebench_model::axis::Value;
use storebench_model::axis::file_system::FileSystem;
use storebench_model::axis::file_system::kind::WITHOUT_ROOT;
use storebench_model::cell::{Axis, Cell, DEFAULT_PLACE, LocationOnDisk};
use storebench_model::error::{Error, Exit, Result};
use storebench_model::result::{
    FORMAT_VERSION, LeftOutCell, LeftOutReason, LocationInfo, RunHeader, StoreInfo, TrialResult,
};
use storebench_model::sanitize::{quoted, without_user};
use storebench_model::simulated::SimulatedDisk;
use storebench_model::store::{Guarantee, StoreDef, StoreKind};

use super::args::LocationArg;
use super::output::print_note;
use super::runs;

/// The default file system on a simulated disk.
const DEFAULT_FILE_SYSTEM: &str = "ext4";

/// Places by their locations and disks.
pub type Locations = BTreeMap<LocationOnDisk, Location>;

/// The directories of the command line, or the runs' directory; leftovers of killed runs there are deleted.
pub fn directories(arguments: &[LocationArg], out: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let runs = LocationArg { name: DEFAULT_PLACE.into(), path: out.to_path_buf() };
    let locations = if arguments.is_empty() { std::slice::from_ref(&runs) } else { arguments };
    let mut places = BTreeMap::new();
    for LocationArg { name, path } in locations {
        let path = runs::directory("using the place", path)?;
        if places.insert(name.clone(), path).is_some() {
            let message =
                format!("two places are called {name:?}: name them, like --at ssd=/mnt/a --at hdd=/mnt/b");
            return Err(Error::bad_value(message));
        }
    }
    places.values().try_for_each(|place| delete_leftovers(place))?;
    Ok(places)
}

/// The places of a plan: the directories, or those directories and file systems that its axis names. A file system without a
/// directory is in the one called `here`; without that, in an image in each directory. A plan that ranks places
/// has each once, in the first directory by name.
pub fn places(plan: &Plan, directories: &BTreeMap<String, PathBuf>) -> Result<Locations> {
    let disks = simulated_disks(plan);
    if !plan.axes.names(Axis::PLACE) {
        let directory = |(name, path): (&String, &PathBuf)| (name.clone(), Location::Directory(path.clone()));
        return with_disks(directories.iter().map(directory).collect(), &disks);
    }
    let first = directories.get(DEFAULT_PLACE).or_else(|| directories.values().next());
    let first = first.ok_or_else(|| Error::bad_value("there is no directory for the stores' files"))?;
    let find_directory = |name: &str| directories.get(name).cloned().ok_or_else(|| no_place_error(name));
    let is_crossed = !directories.contains_key(DEFAULT_PLACE) && !plan.compare.contains(&Axis::PLACE);
    let make_image =
        |within: &PathBuf, file_system| Location::Image { within: within.clone(), file_system, disk: None };
    let mut places = BTreeMap::new();
    for name in plan.axes.texts(Axis::PLACE) {
        let Ok(file_system) = name.parse::<FileSystem>() else {
            places.insert(name.clone(), Location::Directory(find_directory(&name)?));
            continue;
        };
        match file_system.directory.as_deref() {
            Some(directory) => {
                let within = find_directory(directory)?;
                places.insert(name, make_image(&within, file_system));
            }
            None if is_crossed => places.extend(directories.iter().map(|(directory, within)| {
                let file_system = file_system.with_directory(directory);
                (file_system.to_string(), make_image(within, file_system))
            })),
            None => {
                places.insert(name, make_image(first, file_system));
            }
        }
    }
    with_disks(places, &disks)
}

/// Selects the file system that needs no root, if simulated disks have none and the user is not root: ext4 is unavailable then.
/// Returns whether it did; the disk called `here` has it, too.
pub fn select_file_system(plan: &mut Plan, directories: &BTreeMap<String, PathBuf>) -> bool {
    let names_none = !plan.axes.names(Axis::PLACE) && directories.contains_key(DEFAULT_PLACE);
    let is_asked = names_none && simulated_disks(plan).iter().any(Option::is_some);
    let is_needed = is_asked && !rustix::process::geteuid().is_root();
    if is_needed {
        plan.axes.set(Axis::PLACE, [Value::word(WITHOUT_ROOT)]);
    }
    is_needed
}

/// The disks of a plan, with their names; `None` for the one under the place.
fn simulated_disks(plan: &Plan) -> Vec<Option<SimulatedDisk>> {
    let read_disk = |name: String| {
        let (disk, estimates) = (plan.disk(&name)?, plan.estimates(&name));
        Some(SimulatedDisk { name, disk: Box::new(disk), estimates })
    };
    plan.disk_names().into_iter().map(read_disk).collect()
}

/// Places on disks: on a simulated one, each is a file system in an image. For a directory called `here`, that is the kernel's
/// ext4; every other directory has only its own disk.
fn with_disks(places: BTreeMap<String, Location>, disks: &[Option<SimulatedDisk>]) -> Result<Locations> {
    let default_kind: FileSystem = DEFAULT_FILE_SYSTEM.parse().map_err(Error::bad_value)?;
    let mut locations = Locations::new();
    for (name, place) in places {
        for disk in disks {
            let (disk, location) = match (disk, &place) {
                (Some(disk), Location::Image { within, file_system, .. }) => {
                    (Some(disk.name.clone()), image_on_disk(disk, within, file_system))
                }
                (Some(disk), Location::Directory(within)) if name == DEFAULT_PLACE => {
                    (Some(disk.name.clone()), image_on_disk(disk, within, &default_kind))
                }
                // The cells of a directory on a simulated disk are left out, with the reason.
                (Some(_), Location::Directory(_)) | (None, _) => (None, place.clone()),
            };
            locations.insert(LocationOnDisk { place: name.clone(), disk }, location);
        }
    }
    Ok(locations)
}

fn image_on_disk(disk: &SimulatedDisk, within: &Path, file_system: &FileSystem) -> Location {
    Location::Image {
        within: within.to_path_buf(),
        file_system: file_system.clone(),
        disk: Some(disk.clone()),
    }
}

fn no_place_error(name: &str) -> Error {
    let name = quoted(name);
    Error::bad_value(format!(
        "there is no place {name}: name a directory with --at NAME=DIR, or a file system, such as ext4:4096; a mount option \
         that is not known here is taken in a plan, as in place = [\"btrfs,OPTION\"]"
    ))
}

pub fn delete_leftovers(place: &Path) -> Result<()> {
    let leftovers = abandoned::clean(place)?;
    for path in leftovers.deleted {
        print_note(&format!("deleted {}, which a killed run had left behind", path.display()));
    }
    for (path, why) in leftovers.stuck {
        print_note(&format!("left {}, of a killed run: {why}", path.display()));
    }
    Ok(())
}

/// A plan that can run: its cells, and the header of its run folder.
pub struct Launch<'a> {
    pub plan: &'a Plan,
    pub stores: &'a [StoreDef],
    pub places: &'a Locations,
    pub header: RunHeader,
    pub cells: Vec<Cell>,
    /// Whether it is a part of a plan without any measurement.
    pub is_idle: bool,
}

impl<'a> Launch<'a> {
    /// Examines the machine and the places, and determines which cells can run.
    pub fn new(
        stores: &'a [StoreDef],
        plan: &'a Plan,
        places: &'a Locations,
        hardware: Option<&str>,
    ) -> Result<Launch<'a>> {
        let (mut header, missing) = make_header(stores, plan, places, hardware)?;
        let support = LimitSupport::detect();
        let find_reason = |cell: &Cell| {
            let place_reason = missing
                .get(&cell.location_on_disk())
                .cloned()
                .or_else(|| forgetful_reason(&header.locations, stores, cell))
                .or_else(|| unplaced_reason(places, cell));
            let place_reason = place_reason.map(|why| LeftOutReason::NoPlace { why });
            let load_reason =
                || background::missing_need(cell.background()).map(|why| LeftOutReason::NoBackground { why });
            place_reason
                .or_else(load_reason)
                .or_else(|| limits::missing_limits(&support, plan, cell, &header.locations))
        };
        let (cells, left_out) = schedule::cells(plan, stores, &location_rooms(&header), &find_reason)
            .map_err(Error::bad_value)?;
        header.left_out = left_out;
        Ok(Launch { plan, stores, places, header, cells, is_idle: false })
    }

    /// The launch with only the cells of one part, by the split of the plan.
    pub fn only_part(mut self, split: &Split, part: u32) -> Launch<'a> {
        let is_in_part = |cell: &Cell| split.part_of(cell) == Some(part);
        self.cells.retain(is_in_part);
        self.header.left_out.retain(|left| is_in_part(&left.cell));
        self.header.shard = Some(split.parts(part));
        self.is_idle = split.positions(part).0 == 0;
        self
    }

    /// The parts of its plan; an error if there are too many combinations.
    pub fn split(&self, parts: u32) -> Result<Split> {
        Split::new(self.plan, self.stores, &location_rooms(&self.header), parts).map_err(Error::bad_value)
    }

    /// Whether there is a cell to run: else [`Exit::Nothing`] with the reason, or [`Exit::DiskFull`] if that is always the room.
    pub fn check_cells(&self) -> Result<()> {
        let is_empty = self.cells.is_empty() && !self.is_idle;
        if is_empty { Err(nothing_to_run(&self.header.left_out)) } else { Ok(()) }
    }

    pub fn folder(&self, out: &Path, name: &str) -> Result<RunFolder> {
        self.check_cells()?;
        for place in self.places.values() {
            // Before the run folder exists: an unusable place leaves no run without results.
            WorkFolder::create(place.directory())?;
        }
        RunFolder::create(out, name, &self.header)
    }

    pub fn job<'j>(&'j self, interrupted: &'j AtomicBool) -> RunRequest<'j> {
        RunRequest {
            plan: self.plan,
            stores: self.stores,
            cells: &self.cells,
            places: self.places,
            earlier_results: &[],
            interrupted,
            deadline: None,
            certain_blocks: 0,
            precision_rule: None,
            continue_rule: None,
            extra_cells: None,
            blocks_before: self.header.blocks_before,
        }
    }

    /// Runs what is not in `done`; then, if the plan has a precision or a budget, what is undecided, until a planned look decides it
    /// or the budget is spent. Returns its folder and how it ended.
    pub fn run(
        &self,
        done: &[TrialResult],
        folder: RunFolder,
        listener: &mut dyn Listener,
        interrupted: &AtomicBool,
    ) -> Result<(PathBuf, RunEnd)> {
        let precision = self.plan.precision.map(|share| share.0 / 100.0);
        let claims = match self.plan.for_claims {
            true => claims::run_claims(&self.header.study, &self.header.plan, "of the run")?,
            false => None,
        };
        let next_cells = |trials: &[TrialResult]| {
            let run = Run::new(self.header.clone(), trials.to_vec());
            match claims.clone() {
                Some(claims) => undecided::for_claims(&run, &self.cells, self.stores, claims),
                None => undecided::next(&run, &self.cells, self.stores, precision),
            }
        };
        let beyond: Option<ExtraCells<'_>> = can_extend(self.plan).then_some(&next_cells);
        self.run_job(
            &RunRequest { earlier_results: done, extra_cells: beyond, ..self.job(interrupted) },
            folder,
            listener,
        )
    }

    /// Carries out a job from [`Launch::job`]; returns its folder and how it ended. After an error the results are kept.
    pub fn run_job(
        &self,
        job: &RunRequest<'_>,
        mut folder: RunFolder,
        listener: &mut dyn Listener,
    ) -> Result<(PathBuf, RunEnd)> {
        let path = folder.path().to_path_buf();
        let end = parent::run(job, &mut folder, listener).map_err(|error| {
            // If the folder is gone, that is the error, and nothing is kept there.
            let advice = Some(format!("finished results are kept; resume with: {}", resume_command(&path)));
            folder.check().err().unwrap_or(Error { advice, ..error })
        })?;
        Ok((path, end))
    }
}

/// Whether a plan may measure more than its trials.
fn can_extend(plan: &Plan) -> bool {
    plan.precision.is_some() || plan.budget.is_some()
}

/// Why a cell's place can't keep its store's promise, if so. As shipped, a store promises whatever its default is.
fn forgetful_reason(places: &[LocationInfo], stores: &[StoreDef], cell: &Cell) -> Option<String> {
    let store = stores.iter().find(|store| store.name == cell.store())?;
    let place = places.iter().find(|place| place.is_location_of(cell))?;
    if store.resolve(cell.guarantee().tier())? < Guarantee::Power {
        return None;
    }
    let kind = place.image.as_ref().map(FileSystem::kind);
    let image = kind.and_then(|kind| Some(format!("{} {}", kind.name, kind.forgets?)));
    image.or_else(|| place.bottom.as_ref()?.loses())
}

/// Why a cell has no place, if so: a directory is only on its own disk.
fn unplaced_reason(places: &Locations, cell: &Cell) -> Option<String> {
    (!places.contains_key(&cell.location_on_disk())).then(|| {
        format!(
            "{} is a directory on a real disk: for a simulated disk, name a file system, such as ext4:4096",
            cell.location_name()
        )
    })
}

/// Why places can't be had here.
type MissingLocations = BTreeMap<LocationOnDisk, String>;

/// The header of a run folder, and the unavailable places.
fn make_header(
    stores: &[StoreDef],
    plan: &Plan,
    places: &Locations,
    hardware: Option<&str>,
) -> Result<(RunHeader, MissingLocations)> {
    let mut missing = MissingLocations::new();
    let environment = environment::machine();
    let mut describe_place = |(site, place): (&LocationOnDisk, &Location)| -> Result<LocationInfo> {
        let path = place.directory();
        let disk = place.disk();
        let info =
            environment::describe_location(&site.to_string(), path).map_err(Error::io("looking at", path))?;
        let info = LocationInfo { bottom: Some(place.bottom()), ..info };
        let Location::Image { file_system, .. } = place else { return Ok(info) };
        let on_disk = disk.map(|_| site.place.clone());
        let info = LocationInfo { disk: disk.cloned(), place: on_disk, ..info };
        let mount = image::try_mount(path, file_system, disk);
        missing.extend(mount.as_ref().err().map(|reason| (site.clone(), reason.clone())));
        Ok(image_location(info, file_system, mount.ok(), environment.memory_bytes))
    };
    let places = places.iter().map(&mut describe_place).collect::<Result<_>>()?;
    let header = RunHeader {
        format: FORMAT_VERSION,
        storebench: env!("CARGO_PKG_VERSION").into(),
        study: plan.name.clone(),
        preset: None,
        title: plan.title.clone(),
        hardware: hardware.map_or_else(environment::host_name, str::to_owned),
        started: jiff::Timestamp::now().to_string(),
        command: std::env::args_os().map(|word| without_user(&word.to_string_lossy()).into_owned()).collect(),
        plan: plan.to_toml()?,
        environment,
        locations: places,
        stores: store_infos(stores, plan),
        left_out: Vec::new(),
        interim_analyses: if can_extend(plan) {
            interim::plan_open_analyses(plan.trials)
        } else {
            Vec::new()
        },
        // With a precision, widths matter: every look is as good as the last.
        strict_early: plan.budget.is_some() && plan.precision.is_none(),
        blocks_before: 0,
        shard: None,
    };
    Ok((header, missing))
}

/// The facts of a file system in an image, from the facts of the directory that contains it.
fn image_location(
    directory: LocationInfo,
    file_system: &FileSystem,
    mount: Option<image::MountFindings>,
    memory_bytes: Option<u64>,
) -> LocationInfo {
    let in_memory = file_system.kind().is_in_memory();
    // The kernel's limit for a file system in memory.
    let memory_bytes = memory_bytes.filter(|_| in_memory).map(|bytes| bytes / 2);
    let mut info = LocationInfo {
        file_system: Some(file_system.kind().name.into()),
        mount_options: mount.as_ref().map(|mount| mount.options.clone()),
        driver: mount.as_ref().map(|mount| mount.driver.clone()),
        by_fuse: mount.as_ref().is_some_and(|mount| mount.by_fuse),
        image: Some(file_system.clone()),
        free_bytes: memory_bytes.unwrap_or(directory.free_bytes),
        ..directory
    };
    if in_memory || info.disk.is_some() || mount.is_some_and(|mount| !mount.has_device) {
        (info.device, info.device_model, info.rotates) = (None, None, None);
    }
    info
}

pub fn store_infos(stores: &[StoreDef], plan: &Plan) -> Vec<StoreInfo> {
    let names = plan.axes.values(Axis::STORE);
    let chosen = stores.iter().filter(|store| names.iter().any(|name| name.text() == store.name));
    chosen
        .map(|store| StoreInfo {
            name: store.name.into(),
            version: (store.version)(),
            server: store.kind == StoreKind::Server,
            library: store.library.cloned(),
        })
        .collect()
}

/// The places of a run, for the selection of its cells.
pub fn location_rooms(header: &RunHeader) -> Vec<LocationRoom> {
    // The most that a program of 32 bits can use: half of the addresses, as the other half has gaps.
    let max_bytes = if usize::BITS < 64 { 1 << 31 } else { u64::MAX };
    let memory_bytes = header.environment.memory_bytes.unwrap_or(u64::MAX).min(max_bytes);
    let room = |place: &LocationInfo| LocationRoom {
        name: place.location_name().to_owned(),
        disk: place.disk().to_owned(),
        free_bytes: place.free_bytes,
        memory_bytes,
    };
    header.locations.iter().map(room).collect()
}

pub fn nothing_to_run(left_out: &[LeftOutCell]) -> Error {
    let why = left_out
        .first()
        .map(|left| format!("; the first of {}: {}: {}", left_out.len(), left.cell.id(), left.reason));
    let lacks_room = |left: &LeftOutCell| matches!(left.reason, LeftOutReason::NoRoom { .. });
    let is_disk_full = !left_out.is_empty() && left_out.iter().all(lacks_room);
    let exit = if is_disk_full { Exit::DiskFull } else { Exit::Nothing };
    Error::new(exit, format!("no cell can run: every combination is left out{}", why.unwrap_or_default()))
}

pub fn dated_name(prefix: &str) -> String {
    format!("{prefix}{}", jiff::Zoned::now().strftime("%Y%m%d-%H%M%S"))
}

pub fn resume_command(path: &Path) -> String {
    format!("storebench run --resume {}", path.display())
}

#[cfg(test)]
mod tests {
    use storebench_host::plan::find;

    use super::*;

    /// The places of a study with this axis, and these directories.
    fn names(study: &str, axis: &[&str], directories: &[&str]) -> Vec<(String, PathBuf)> {
        let mut plan = find(study).unwrap();
        plan.axes.set(Axis::PLACE, axis.iter().map(|text| Axis::PLACE.read(text).unwrap()));
        let directories =
            directories.iter().map(|name| ((*name).to_owned(), Path::new("/").join(name))).collect();
        let places = places(&plan, &directories).unwrap();
        places.into_iter().map(|(site, place)| (site.to_string(), place.directory().to_path_buf())).collect()
    }

    #[test]
    fn file_systems_cross_with_disks_that_have_names() {
        let paths = |pairs: &[(&str, &str)]| -> Vec<(String, PathBuf)> {
            pairs.iter().map(|(name, path)| ((*name).to_owned(), PathBuf::from(path))).collect()
        };
        assert_eq!(names("crud", &["ntfs:4096"], &["here"]), paths(&[("ntfs:4096", "/here")]));
        assert_eq!(names("crud", &["ntfs:4096"], &["hdd"]), paths(&[("ntfs:4096@hdd", "/hdd")]));
        assert_eq!(
            names("crud", &["ntfs:4096", "ext4:4096@ssd", "hdd"], &["hdd", "ssd"]),
            paths(&[
                ("ext4:4096@ssd", "/ssd"),
                ("hdd", "/hdd"),
                ("ntfs:4096@hdd", "/hdd"),
                ("ntfs:4096@ssd", "/ssd")
            ])
        );
        // A plan that ranks places has each once, by the name that its claims know.
        assert_eq!(names("filesystems", &["ext4:4096"], &["hdd", "ssd"]), paths(&[("ext4:4096", "/hdd")]));
        let mut plan = find("crud").unwrap();
        plan.axes.set(Axis::PLACE, [Axis::PLACE.read("ntfs:4096@disk").unwrap()]);
        let wrong = places(&plan, &[("hdd".to_owned(), PathBuf::from("/hdd"))].into()).unwrap_err();
        assert!(wrong.message.contains("there is no place \"disk\""), "{wrong}");
    }
}
