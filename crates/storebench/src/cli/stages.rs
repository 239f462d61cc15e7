//! The stages behind an answer: runs in one folder, in sequence, within one budget.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use storebench_core::measure::probe::Probe;
use storebench_host::folder;
use storebench_host::location::Location;
use storebench_host::plan::Plan;
use storebench_host::run::Run;
use storebench_host::runner::progress;
use storebench_host::runner::run_request::RunRequest;
use storebench_model::cell::DEFAULT_PLACE;
use storebench_model::error::{Error, Result};
use storebench_model::store::StoreDef;
use storebench_model::units::rough_duration;

use super::args::LocationArg;
use super::launch::{self, Launch, Locations};
use super::output::print_note;
use super::{runs, signals};

/// The stages of an answer so far. If it fails before the first, no folder remains.
pub struct Stages<'a> {
    pub stores: &'a [StoreDef],
    /// The folder with a run for each stage.
    pub folder: PathBuf,
    pub runs: Vec<Run>,
    pub interrupted: Arc<AtomicBool>,
    places: Locations,
    start: Instant,
    budget: Duration,
}

impl<'a> Stages<'a> {
    /// Begins without a stage; the folder is a new one in `out` whose name begins with `prefix`. Stores' files are
    /// in `directory`, or in `out`, on the disks of a plan.
    pub fn new(
        stores: &'a [StoreDef],
        (out, prefix): (&Path, &str),
        directory: Option<&Path>,
        budget: Duration,
        plan: &Plan,
    ) -> Result<Stages<'a>> {
        let interrupted = signals::listen()?;
        runs::make_directory("making the runs' directory", out)?;
        let location =
            directory.map(|path| LocationArg { name: DEFAULT_PLACE.into(), path: path.to_path_buf() });
        let directories = launch::directories(location.as_slice(), out)?;
        Ok(Stages {
            stores,
            folder: folder::make_unused(out, &launch::dated_name(prefix))?,
            runs: Vec::new(),
            interrupted,
            places: launch::places(plan, &directories)?,
            start: Instant::now(),
            budget,
        })
    }

    /// The costs of the place of its trials: on the simulated disk, if available.
    pub fn probe(&self) -> Result<Probe> {
        let mut places: Vec<&Location> = self.places.values().collect();
        places.sort_by_key(|place| place.disk().is_none());
        let mut probes = places.into_iter().map(Location::probe);
        let first =
            probes.next().unwrap_or_else(|| Err(Error::bad_value("there is no place for the stores' files")));
        first.or_else(|why| probes.next().unwrap_or(Err(why)))
    }

    /// Shows the user how to continue after an interrupt.
    pub fn print_interrupted(&self) {
        let folder = self.folder.display();
        print_note(&format!(
            "interrupted; finished results are kept. To answer from them, add --from {folder}"
        ));
    }

    pub fn spent_s(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// The rest of a share of the budget, in seconds; negative if it is used up.
    pub fn left_s(&self, share: f64) -> f64 {
        self.budget.as_secs_f64() * share - self.spent_s()
    }

    /// The moment this long after the start of the first stage; `None` beyond the range of clocks.
    pub fn moment(&self, duration: Duration) -> Option<Instant> {
        self.start.checked_add(duration)
    }

    /// Shows a stage, and the rest of the budget.
    pub fn print_stage(&self, stage: &str) {
        let rest = Duration::from_secs_f64(self.left_s(1.0).max(0.0).ceil());
        print_note(&format!("{stage}; at most {} left", rough_duration(rest)));
    }

    pub fn launch<'l>(&'l self, plan: &'l Plan) -> Result<Launch<'l>> {
        Launch::new(self.stores, plan, &self.places, None)
    }

    /// Runs a stage called `name`: a job of its launch. Returns its run, and whether it was interrupted.
    pub fn carry_out(&self, name: &str, launch: &Launch<'_>, job: &RunRequest<'_>) -> Result<(Run, bool)> {
        let folder = launch.folder(&self.folder, name)?;
        let (path, end) = launch.run_job(job, folder, progress::listener().as_mut())?;
        Ok((folder::read(&path)?, end.interrupted))
    }
}

impl Drop for Stages<'_> {
    fn drop(&mut self) {
        // Only an empty folder can be removed like this: one with runs stays.
        let _ = std::fs::remove_dir(&self.folder);
    }
}
