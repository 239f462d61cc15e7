//! The parent of all trials: runs each in a separate process, in the schedule's order, and saves its result before the next begins.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::folder::RunFolder;
use crate::runner::event::{Event, Listener};
use crate::runner::kill::PassedChecks;
use crate::runner::locations::PreparedLocations;
use crate::runner::pace::Pace;
use crate::runner::run_request::RunRequest;
use crate::runner::trial::{self, Trial};
use crate::runner::trial_ipc;
use crate::schedule;
use storebench_core::measure::cgroup;
use storebench_core::measure::limit::LimitSupport;
use storebench_model::cell::Cell;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::result::{Failure, Outcome, TrialResult};

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunEnd {
    /// The user interrupted it.
    pub interrupted: bool,
    /// Trials that failed, including earlier ones.
    pub failed: u64,
}

/// Runs the rest of a job. Fails when a result can't be saved or a trial can't be started; trials that fail are results.
pub fn run(job: &RunRequest<'_>, folder: &mut RunFolder, listener: &mut dyn Listener) -> Result<RunEnd> {
    trial_ipc::remove(folder.path())?;
    let mut places = PreparedLocations::make(job)?;
    let cgroups = places.find_cgroups();
    let reach = LimitSupport::detect().with_memory_at(&cgroups);
    let mut running = ActiveRun {
        job,
        done: job.earlier_results.iter().map(|result| (result.cell.id(), result.block)).collect(),
        pace: Pace::new(job, places.probes()),
        places,
        cgroups,
        reach,
        passed: PassedChecks::from_results(job),
        results: job.earlier_results.to_vec(),
        end: None,
    };
    let total = job.cells.len() as u64 * u64::from(job.plan.trials);
    listener.handle_event(&Event::Started { total, done: job.earlier_results.len() as u64 });
    running.end = job.plan.budget.and_then(|budget| Instant::now().checked_add(budget.0));
    let mut block = 0;
    while !job.interrupted.load(Ordering::Relaxed) {
        let (cells, end) = if block < job.plan.trials {
            (running.whole_block(block), None)
        } else {
            (running.cells_beyond_plan(block), running.end)
        };
        if cells.is_empty() {
            break;
        }
        if block >= job.plan.trials {
            listener.handle_event(&Event::Extended { by: cells.len() as u64 });
        }
        running.block(block, &cells, end, folder, listener)?;
        block += 1;
    }
    let interrupted = job.interrupted.load(Ordering::Relaxed);
    listener.handle_event(&Event::Ended { interrupted });
    Ok(RunEnd { interrupted, ..RunEnd::from_results(&running.results) })
}

impl RunEnd {
    /// The end of a run with these results, if they are all of its results.
    pub fn from_results(results: &[TrialResult]) -> RunEnd {
        let failed = results.iter().filter(|result| matches!(result.outcome, Outcome::Failed { .. }));
        RunEnd { interrupted: false, failed: failed.count() as u64 }
    }
}

struct ActiveRun<'a> {
    job: &'a RunRequest<'a>,
    done: HashSet<(String, u32)>,
    places: PreparedLocations,
    /// Where cgroups for trials can be made, or why not.
    cgroups: std::result::Result<cgroup::CgroupParent, String>,
    /// The limits that can be enforced.
    reach: LimitSupport,
    pace: Pace<'a>,
    /// The ways of opening a store that need no further kill check.
    passed: PassedChecks,
    results: Vec<TrialResult>,
    /// The end of the plan's budget, after which no trial beyond the plan's is begun.
    end: Option<Instant>,
}

impl ActiveRun<'_> {
    /// All cells, in the order of one of the plan's blocks.
    fn whole_block(&self, block: u32) -> Vec<usize> {
        schedule::block(self.job.cells.len(), block, self.job.plan.seed)
    }

    /// The cells of a block beyond the plan's trials; none if everything is decided, or the time is over.
    fn cells_beyond_plan(&self, block: u32) -> Vec<usize> {
        let in_time = self.end.is_none_or(|end| Instant::now() < end) && !self.is_late(block);
        match (self.job.extra_cells, self.job.precision_rule) {
            (Some(beyond), _) if in_time => beyond(&self.results),
            (None, Some(enough)) if in_time && !enough(&self.results) => self.whole_block(block),
            _ => Vec::new(),
        }
    }

    /// Whether the time in which trials of a block may begin is over.
    fn is_late(&self, block: u32) -> bool {
        block >= self.job.certain_blocks
            && !self.results.is_empty()
            && self.job.deadline.is_some_and(|until| Instant::now() >= until)
    }

    /// The time that the rest takes, or may take up to the deadline.
    fn time_left(&self) -> Option<Duration> {
        let time_until = |moment: Instant| moment.saturating_duration_since(Instant::now());
        // Until its end a budget is spent on undecided comparisons.
        self.job.deadline.map(time_until).or_else(|| self.pace.time_left().max(self.end.map(time_until)))
    }

    /// Runs these cells once each; none begins after `end`.
    fn block(
        &mut self,
        block: u32,
        cells: &[usize],
        end: Option<Instant>,
        folder: &mut RunFolder,
        listener: &mut dyn Listener,
    ) -> Result<()> {
        let (job, listener) = (self.job, RefCell::new(listener));
        let first = u64::from(block) * job.cells.len() as u64;
        let cells_go_on = job.continue_rule.map(|goes_on| goes_on(&self.results));
        for (position, index) in (first..).zip(cells.iter().copied()) {
            let cell = &job.cells[index];
            let is_given_up = cells_go_on.as_ref().is_some_and(|goes_on| goes_on.get(index) == Some(&false));
            if is_given_up || self.done.contains(&(cell.id(), block)) {
                continue;
            }
            let is_over = end.is_some_and(|end| Instant::now() >= end);
            if job.interrupted.load(Ordering::Relaxed) || self.is_late(block) || is_over {
                break;
            }
            if !self.trial(cell, (position, block), folder, &listener)? {
                break;
            }
        }
        Ok(())
    }

    /// Runs one trial and saves its result; `false` if it was interrupted.
    fn trial(
        &mut self,
        cell: &Cell,
        (position, block): (u64, u32),
        folder: &mut RunFolder,
        listener: &RefCell<&mut dyn Listener>,
    ) -> Result<bool> {
        let (start, time_left) = (Instant::now(), self.time_left());
        let place = self.places.location_of(cell)?;
        let mut stage = place.folder.stage();
        listener.borrow_mut().handle_event(&Event::TrialStarted { cell, position, left: time_left });
        let seed = schedule::seed(self.job.blocks_before + block, self.job.plan.seed);
        let result = match place.trial_folders.take(&mut stage, position, seed) {
            // The program that mounts an image can be killed, or find no loop device: then only this trial fails.
            Err(error) if error.exit == Exit::Failure && place.trial_folders.template().is_some() => {
                Some(trial::not_begun(cell, (position, block), &place.load_folder, error.message))
            }
            trial_folder => {
                let trial_folder = trial_folder?;
                let trial = Trial {
                    job: self.job,
                    cell,
                    position,
                    block,
                    folder: folder.path(),
                    files: &trial_folder,
                    transit: place.transit,
                    cgroups: &self.cgroups,
                    reach: &self.reach,
                    load_folder: &place.load_folder,
                    servers: place.servers.as_deref(),
                    passed: Some(&self.passed),
                    template: place.trial_folders.template(),
                    report_loading: &|loading| {
                        listener.borrow_mut().handle_event(&Event::Loading { loading })
                    },
                };
                let result = trial.run(&mut stage)?;
                result.map(|result| with_cause(result, folder, &trial_folder.directory)).transpose()?
            }
        };
        // First, so that the disk space that a store used is free for its result.
        let release_result = stage.release();
        let server_gone = release_result.as_ref().err().filter(|error| error.exit == Exit::Unreachable);
        match server_gone {
            // A server that is gone keeps its data: that is reported, and no error.
            Some(_) => stage.keep(),
            None => drop(stage),
        }
        let has_result = result.is_some();
        if let Some(result) = result {
            let took_s = start.elapsed().as_secs_f64();
            let result = TrialResult { stage_s: Some((took_s - result.wall_s).max(0.0)), ..result };
            folder.append(&result)?;
            self.pace.count_trial(cell, took_s);
            listener.borrow_mut().handle_event(&Event::TrialEnded { result: &result });
            self.passed.note(self.job, &result);
            self.results.push(result);
        }
        match server_gone {
            Some(Error { message, .. }) => listener.borrow_mut().handle_event(&Event::Left { why: message }),
            None => release_result?,
        }
        Ok(has_result)
    }
}

/// The result of a failed trial, with the cause if its folder's disk is to blame. Fails when others changed storebench's folders, which
/// is no failure of the store's.
fn with_cause(mut result: TrialResult, folder: &RunFolder, directory: &Path) -> Result<TrialResult> {
    if result.outcome != Outcome::Ok {
        folder.check()?;
        if let Some(why) = describe_loss(directory)? {
            result.outcome.blame(Failure::Harness, &why);
        }
    }
    Ok(result)
}

/// Why a trial's folder is unusable though it was not moved: the file system under it has failed. Fails when it was moved or deleted.
fn describe_loss(directory: &Path) -> Result<Option<String>> {
    match fs::metadata(directory) {
        Ok(metadata) if metadata.is_dir() => Ok(None),
        Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            let daemon =
                if error.kind() == ErrorKind::NotConnected { ", as its program has ended" } else { "" };
            Ok(Some(format!("the file system under the store's files has failed{daemon}: {error}")))
        }
        _ => {
            let message = format!(
                "{} was moved or deleted while a trial was using it: leave storebench's folders alone during a run",
                directory.display()
            );
            Err(Error::new(Exit::NotStorebench, message))
        }
    }
}
