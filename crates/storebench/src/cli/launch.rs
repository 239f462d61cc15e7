//! From a plan to its run folder: where it runs, on which machine, which cells; and carrying it out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use storebench_core::background;
use storebench_core::cell::{Cell, DEFAULT_PLACE};
use storebench_core::error::{Error, Exit, Result};
use storebench_core::folder::RunFolder;
use storebench_core::measure::environment;
use storebench_core::measure::limit::Reach;
use storebench_core::place::abandoned;
use storebench_core::place::directory::WorkFolder;
use storebench_core::plan::Plan;
use storebench_core::result::{FORMAT_VERSION, LeftOut, PlaceInfo, Run, RunHeader, StoreInfo, TrialResult};
use storebench_core::runner::job::{Enough, Job};
use storebench_core::runner::limits;
use storebench_core::runner::parent::{self, Ended};
use storebench_core::runner::progress;
use storebench_core::schedule::{self, Room};
use storebench_core::store::StoreDef;
use storebench_core::units::Percent;
use storebench_core::workload::reason::{Omission, Reason};
use storebench_report::data::{looks, precision};

use super::args::PlaceArg;
use super::{report, runs, tell};

/// Places by name.
pub type Places = BTreeMap<String, PathBuf>;

/// The places that the command line names, or the runs' directory; what killed runs left there is deleted.
pub fn places(at: &[PlaceArg], out: &Path) -> Result<Places> {
    let runs = PlaceArg { name: DEFAULT_PLACE.into(), path: out.to_path_buf() };
    let given = if at.is_empty() { std::slice::from_ref(&runs) } else { at };
    let mut places = BTreeMap::new();
    for PlaceArg { name, path } in given {
        let path = runs::directory("using the place", path)?;
        if places.insert(name.clone(), path).is_some() {
            let message =
                format!("two places are called {name:?}: name them, like --at ssd=/mnt/a --at hdd=/mnt/b");
            return Err(Error::bad_value(message));
        }
    }
    places.values().try_for_each(|place| clean(place))?;
    Ok(places)
}

/// Deletes what killed runs left in a place.
pub fn clean(place: &Path) -> Result<()> {
    for path in abandoned::clean(place)?.deleted {
        tell(&format!("deleted {}, which a killed run had left behind", path.display()));
    }
    Ok(())
}

/// A plan that can run: its cells, and what its run folder begins with.
pub struct Launch<'a> {
    pub plan: &'a Plan,
    pub stores: &'a [StoreDef],
    pub places: &'a Places,
    pub header: RunHeader,
    pub cells: Vec<Cell>,
    /// The combinations that are left out, as the header tells them in words.
    pub left_out: Vec<Omission>,
}

impl<'a> Launch<'a> {
    /// Looks at the machine and the places, and says which cells can run there.
    pub fn new(
        stores: &'a [StoreDef],
        plan: &'a Plan,
        places: &'a Places,
        hardware: Option<&str>,
    ) -> Result<Launch<'a>> {
        let mut header = header(stores, plan, places, hardware)?;
        let reach = Reach::here();
        let lacking = |cell: &Cell| {
            let load = background::lacking(cell.background()).map(Reason::NoBackground);
            load.or_else(|| limits::lacking(&reach, plan, cell, &header.places))
        };
        let (cells, left_out) =
            schedule::cells(plan, stores, &rooms(&header), &lacking).map_err(Error::bad_value)?;
        header.left_out = left_out.iter().map(LeftOut::from).collect();
        Ok(Launch { plan, stores, places, header, cells, left_out })
    }

    /// Makes the run's folder, called `name`, in `out`.
    pub fn folder(&self, out: &Path, name: &str) -> Result<RunFolder> {
        if self.cells.is_empty() {
            return Err(nothing_to_run(&self.left_out));
        }
        for place in self.places.values() {
            // Before there is a run folder: a place that can't be used leaves no run without results.
            WorkFolder::create(place)?;
        }
        RunFolder::create(out, name, &self.header)
    }

    /// What is to be run, from its beginning.
    pub fn job<'j>(&'j self, interrupted: &'j AtomicBool) -> Job<'j> {
        Job {
            plan: self.plan,
            stores: self.stores,
            cells: &self.cells,
            places: self.places,
            done: &[],
            interrupted,
            until: None,
            enough: None,
            goes_on: None,
            blocks_before: self.header.blocks_before,
        }
    }

    /// Runs what is not among `done`, and blocks beyond the plan's trials until a planned look says that the plan's precision is
    /// reached; says where
    /// its folder is and how it ended.
    pub fn carry_out_precisely(
        &self,
        done: &[TrialResult],
        folder: RunFolder,
        interrupted: &AtomicBool,
    ) -> Result<(PathBuf, Ended)> {
        let harness = report::harness(self.stores);
        let enough = |trials: &[TrialResult]| {
            let run = Run { header: self.header.clone(), trials: trials.to_vec() };
            let is_over =
                |share: Percent| precision::is_over(&run, self.cells.len(), &harness, share.0 / 100.0);
            self.plan.precision.is_none_or(is_over)
        };
        let enough: Option<Enough<'_>> = self.plan.precision.is_some().then_some(&enough);
        self.carry_out(done, folder, enough, None, interrupted)
    }

    /// Runs what is not among `done`, and blocks beyond the plan's trials until there is `enough`; begins no trial but the
    /// first after `until`.
    pub fn carry_out(
        &self,
        done: &[TrialResult],
        folder: RunFolder,
        enough: Option<Enough<'_>>,
        until: Option<Instant>,
        interrupted: &AtomicBool,
    ) -> Result<(PathBuf, Ended)> {
        self.carry_out_job(&Job { done, until, enough, ..self.job(interrupted) }, folder)
    }

    /// Runs a job made of [`Launch::job`].
    pub fn carry_out_job(&self, job: &Job<'_>, mut folder: RunFolder) -> Result<(PathBuf, Ended)> {
        let path = folder.path().to_path_buf();
        let ended = parent::run(job, &mut folder, progress::listener().as_mut()).map_err(|error| {
            let kept = format!("finished results are kept; resume with: {}", go_on(&path));
            // Where the folder has gone, that is what went wrong, and nothing is kept there.
            folder.check().err().unwrap_or_else(|| Error::new(error.exit, format!("{error}; {kept}")))
        })?;
        Ok((path, ended))
    }
}

fn header(stores: &[StoreDef], plan: &Plan, places: &Places, hardware: Option<&str>) -> Result<RunHeader> {
    let info = |(name, path): (&String, &PathBuf)| {
        environment::place(name, path).map_err(Error::io("looking at", path))
    };
    Ok(RunHeader {
        format: FORMAT_VERSION,
        storebench: env!("CARGO_PKG_VERSION").into(),
        study: plan.name.clone(),
        title: plan.title.clone(),
        hardware: hardware.map_or_else(environment::host_name, str::to_owned),
        started: jiff::Timestamp::now().to_string(),
        command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        plan: plan.to_toml()?,
        environment: environment::machine(),
        places: places.iter().map(info).collect::<Result<_>>()?,
        stores: store_infos(stores, plan),
        left_out: Vec::new(),
        looks: plan.precision.map_or_else(Vec::new, |_| looks::from(plan.trials)),
        blocks_before: 0,
    })
}

/// The stores of a plan, with their versions.
pub fn store_infos(stores: &[StoreDef], plan: &Plan) -> Vec<StoreInfo> {
    let named = plan.axes.values(storebench_core::cell::Axis::STORE);
    let taking_part = stores.iter().filter(|store| named.iter().any(|name| name.text() == store.name));
    taking_part.map(|store| StoreInfo { name: store.name.into(), version: (store.version)() }).collect()
}

fn rooms(header: &RunHeader) -> Vec<Room> {
    let memory_bytes = header.environment.memory_bytes.unwrap_or(u64::MAX);
    let room =
        |place: &PlaceInfo| Room { name: place.name.clone(), free_bytes: place.free_bytes, memory_bytes };
    header.places.iter().map(room).collect()
}

/// That a plan has no cell that can run, and why.
pub fn nothing_to_run(left_out: &[Omission]) -> Error {
    let why = left_out
        .first()
        .map(|left| format!("; the first of {}: {}: {}", left_out.len(), left.cell.id(), left.reason));
    let no_room = |left: &Omission| matches!(left.reason, Reason::NoRoom { .. });
    let full = !left_out.is_empty() && left_out.iter().all(no_room);
    let exit = if full { Exit::DiskFull } else { Exit::Nothing };
    Error::new(exit, format!("no cell can run: every combination is left out{}", why.unwrap_or_default()))
}

/// A name for a folder that is made now, after what it begins with.
pub fn dated(prefix: &str) -> String {
    format!("{prefix}{}", jiff::Zoned::now().strftime("%Y%m%d-%H%M%S"))
}

/// The command that resumes a run.
pub fn go_on(path: &Path) -> String {
    format!("storebench run --resume {}", path.display())
}
