//! Resumes an earlier run: with the same plan, stores and places, or an error.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use storebench_figures::claims;
use storebench_host::folder::ResumedRun;
use storebench_host::location::{Location, image};
use storebench_host::plan::Plan;
use storebench_host::run::Run;
use storebench_host::runner::event::Listener;
use storebench_host::runner::parent::RunEnd;
use storebench_host::schedule::{self, LocationRoom};
use storebench_host::shard::Split;
use storebench_model::cell::{Axis, Cell, LocationOnDisk};
use storebench_model::error::{Error, Exit, Result};
use storebench_model::result::{LocationInfo, PlanParts};
use storebench_model::store::StoreDef;

use super::launch::{self, Launch, Locations};
use super::{libraries, reachability, runs, trace};

/// Runs what is left of a run, with its original plan; an error if the engines have changed, or its places are gone.
pub fn resume(
    stores: &[StoreDef],
    ResumedRun { folder, run, .. }: ResumedRun,
    listener: &mut dyn Listener,
    interrupted: &AtomicBool,
) -> Result<(PathBuf, RunEnd)> {
    let path = folder.path();
    let (plan, stores) = plan_of_run(stores, &run, path)?;
    let stores = &stores[..];
    if launch::store_infos(stores, plan) != run.header.stores {
        let message =
            format!("{} was started with other versions of the stores: start a new run", path.display());
        return Err(Error::new(Exit::OtherVersion, message));
    }
    reachability::check_servers(stores, plan)?;
    reachability::check_clients(plan, interrupted)?;
    trace::check_same(plan, interrupted)?;
    let places: Locations = run.header.locations.iter().map(place_of).collect();
    for place in places.values() {
        launch::delete_leftovers(&runs::directory("using the place of the run", place.directory())?)?;
    }
    run.header.locations.iter().try_for_each(check_driver)?;
    // The cells that it left out are already decided, whatever is free now.
    let rooms: Vec<LocationRoom> = run
        .header
        .locations
        .iter()
        .map(|place| LocationRoom {
            disk: place.disk().to_owned(),
            ..LocationRoom::unbounded(place.location_name())
        })
        .collect();
    let (all_cells, _) = schedule::cells(plan, stores, &rooms, &|_| None)
        .map_err(|message| Error::new(Exit::BadPlan, message))?;
    let left_out: std::collections::HashSet<_> = run.header.left_out.iter().map(|left| &left.cell).collect();
    let mut cells: Vec<Cell> = all_cells.into_iter().filter(|cell| !left_out.contains(cell)).collect();
    if let Some(parts) = &run.header.shard {
        let split = split(plan, stores, &rooms, parts, path)?;
        cells.retain(|cell| split.covers(parts, cell));
    }
    let header = run.header.clone();
    let launch = Launch { plan, stores, places: &places, header, cells, is_idle: false };
    launch.run(&run.trials, folder, listener, interrupted)
}

/// The plan of a run, and the stores including its own; an error if this program lacks one of them.
pub fn plan_of_run<'r>(stores: &[StoreDef], run: &'r Run, path: &Path) -> Result<(&'r Plan, Vec<StoreDef>)> {
    let stores = libraries::run_stores(stores, &run.header)?;
    let origin = path.join("run.json").display().to_string();
    let plan = run.usable_plan(&origin)?;
    claims::plan_claims(&run.header.plan, &origin)?;
    for name in &plan.axes.texts(Axis::STORE) {
        super::plan::store(&stores, name)?;
    }
    Ok((plan, stores))
}

/// The split of a plan of which a run has parts; if this program splits it differently, the part of a result is unknown.
pub fn split(
    plan: &Plan,
    stores: &[StoreDef],
    rooms: &[LocationRoom],
    parts: &PlanParts,
    path: &Path,
) -> Result<Split> {
    let split = Split::new(plan, stores, rooms, parts.of);
    let split = split.map_err(|message| Error::new(Exit::BadPlan, message))?;
    if split.parts(1).split == parts.split {
        return Ok(split);
    }
    let message = format!(
        "{} is {parts} of a plan that this program splits otherwise: use the one that began it",
        path.display()
    );
    Err(Error::new(Exit::OtherVersion, message))
}

/// Checks that a file system is mounted by the same driver as before: one run has one method.
fn check_driver(info: &LocationInfo) -> Result<()> {
    let (Some(file_system), Some(driver)) = (&info.image, &info.driver) else { return Ok(()) };
    let mismatch = match image::try_mount(Path::new(&info.path), file_system, info.disk.as_ref()) {
        Ok(mount) if mount.driver == *driver => return Ok(()),
        Ok(mount) => format!("is mounted by {} now", mount.driver),
        Err(reason) => format!("is unavailable now: {reason}"),
    };
    let message = format!(
        "the run's {file_system} was mounted by {driver}, and {mismatch}: resume it as it was started"
    );
    Err(Error::new(Exit::OtherVersion, message))
}

/// A place as in the run.
fn place_of(info: &LocationInfo) -> (LocationOnDisk, Location) {
    let directory = PathBuf::from(&info.path);
    let place = match &info.image {
        Some(file_system) => {
            Location::Image { within: directory, file_system: file_system.clone(), disk: info.disk.clone() }
        }
        None => Location::Directory(directory),
    };
    (info.location_on_disk(), place)
}
