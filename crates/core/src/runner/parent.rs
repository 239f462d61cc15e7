//! The parent of all trials: goes through the schedule, runs each trial in a process of its own, and saves every result
//! before the next begins.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::error::{Error, Exit, Result};
use crate::folder::RunFolder;
use crate::measure::cgroup;
use crate::measure::limit::Reach;
use crate::result::{Outcome, TrialResult};
use crate::runner::event::{Event, Listener};
use crate::runner::job::Job;
use crate::runner::pace::Pace;
use crate::runner::places::{PreparedPlaces, TrialFolder};
use crate::runner::trial::{self, Trial};
use crate::schedule;

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// The user interrupted it.
    pub interrupted: bool,
    /// Trials that failed, those of before included.
    pub failed: u64,
}

/// Runs what is left of a job.
///
/// # Errors
/// When a result can't be saved or a trial can't be started; trials that fail are results.
pub fn run(job: &Job<'_>, folder: &mut RunFolder, listener: &mut dyn Listener) -> Result<Ended> {
    trial::remove_leftovers(folder.path())?;
    let mut places = PreparedPlaces::make(job)?;
    let cgroups = places.find_cgroups();
    let reach = Reach::here().with_memory_at(&cgroups);
    let mut running = Running {
        job,
        done: job.done.iter().map(|result| (result.cell.id(), result.block)).collect(),
        pace: Pace::new(job, places.probes()),
        places,
        cgroups,
        reach,
        results: job.done.to_vec(),
    };
    let total = job.cells.len() as u64 * u64::from(job.plan.trials);
    listener.hear(&Event::Started { total, done: job.done.len() as u64 });
    let start = Instant::now();
    let mut block = 0;
    while !job.interrupted.load(Ordering::Relaxed) && (block < job.plan.trials || running.needs_more(start)) {
        if block >= job.plan.trials {
            listener.hear(&Event::Extended { by: job.cells.len() as u64 });
        }
        running.block(block, folder, listener)?;
        block += 1;
    }
    let interrupted = job.interrupted.load(Ordering::Relaxed);
    listener.hear(&Event::Ended { interrupted });
    let failed =
        running.results.iter().filter(|result| matches!(result.outcome, Outcome::Failed { .. })).count();
    Ok(Ended { interrupted, failed: failed as u64 })
}

struct Running<'a> {
    job: &'a Job<'a>,
    done: HashSet<(String, u32)>,
    places: PreparedPlaces,
    /// Where trials can have cgroups of their own, or why they have none.
    cgroups: std::result::Result<cgroup::Home, String>,
    /// The limits that can be held.
    reach: Reach,
    pace: Pace<'a>,
    results: Vec<TrialResult>,
}

impl Running<'_> {
    /// Whether a precision is asked for that is not reached, and there is time for another block.
    fn needs_more(&self, start: Instant) -> bool {
        let in_time = self.job.plan.budget.is_none_or(|budget| start.elapsed() < budget.0);
        in_time && !self.is_late() && self.job.enough.is_some_and(|enough| !enough(&self.results))
    }

    /// Whether the time in which trials may begin is over.
    fn is_late(&self) -> bool {
        !self.results.is_empty() && self.job.until.is_some_and(|until| Instant::now() >= until)
    }

    /// The time that the rest takes, or may take where there is a moment for its end.
    fn left(&self) -> Option<Duration> {
        let until = self.job.until.map(|until| until.saturating_duration_since(Instant::now()));
        until.or_else(|| self.pace.left())
    }

    fn block(&mut self, block: u32, folder: &mut RunFolder, listener: &mut dyn Listener) -> Result<()> {
        let (job, listener) = (self.job, RefCell::new(listener));
        let cells = schedule::block(job.cells.len(), block, job.plan.seed);
        let first = u64::from(block) * cells.len() as u64;
        let goes_on = job.goes_on.map(|goes_on| goes_on(&self.results));
        for (position, index) in (first..).zip(cells) {
            let cell = &job.cells[index];
            let given_up = goes_on.as_ref().is_some_and(|goes_on| goes_on.get(index) == Some(&false));
            if given_up || self.done.contains(&(cell.id(), block)) {
                continue;
            }
            if job.interrupted.load(Ordering::Relaxed) || self.is_late() {
                break;
            }
            let left = self.left();
            let place = self.places.of(cell)?;
            let mut stage = place.folder.stage();
            let start = Instant::now();
            let TrialFolder { directory, file_creation_ns, device, disk } =
                place.trial_folders.take(&mut stage, position)?;
            listener.borrow_mut().hear(&Event::TrialStarted { cell, position, left });
            let trial = Trial {
                job,
                cell,
                position,
                block,
                folder: folder.path(),
                directory: &directory,
                device: &device,
                disk: disk.as_deref(),
                cgroups: &self.cgroups,
                reach: &self.reach,
                beside: &place.beside,
                servers: place.servers.as_deref(),
                file_creation_ns,
                told: &|loading| listener.borrow_mut().hear(&Event::Loading { loading }),
            };
            let result = trial.run(&mut stage)?;
            if let Some(TrialResult {
                outcome: Outcome::Failed { .. } | Outcome::Unsupported { .. }, ..
            }) = result
            {
                // Tampering with our own folders is no failure of the store's.
                folder.check()?;
                still_there(&directory)?;
            }
            // First, so that what a store took of the disk is free for its result.
            stage.give_back()?;
            let Some(result) = result else { break };
            let took_s = start.elapsed().as_secs_f64();
            let result = TrialResult { stage_s: Some((took_s - result.wall_s).max(0.0)), ..result };
            folder.append(&result)?;
            self.pace.ended(cell, took_s);
            listener.borrow_mut().hear(&Event::TrialEnded { result: &result });
            self.results.push(result);
        }
        Ok(())
    }
}

/// A trial's folder must be there when the trial has ended.
fn still_there(directory: &Path) -> Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    let message = format!(
        "{} was moved or deleted while a trial was using it: leave storebench's folders alone during a run",
        directory.display()
    );
    Err(Error::new(Exit::NotStorebench, message))
}
