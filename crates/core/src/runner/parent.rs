//! The parent of all trials: goes through the schedule, runs each trial in a process of its own, and saves every result
//! before the next begins.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::background;
use crate::cell::{Background, Cell, Tuning};
use crate::error::{Error, Result};
use crate::estimate;
use crate::folder::RunFolder;
use crate::measure::environment;
use crate::place::directory::WorkFolder;
use crate::place::probe::{self, Probe};
use crate::plan::Plan;
use crate::result::{BackgroundReport, FORMAT_VERSION, Failure, Outcome, TrialResult};
use crate::runner::background::{Finished, Launch, Load, Started};
use crate::runner::devices;
use crate::runner::event::{Event, Listener};
use crate::runner::spec::{DeviceSpec, Report, Spec};
use crate::runner::supervise::{self, End};
use crate::schedule;

/// A run that is about to begin or to be gone on with.
pub struct Job<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Its cells.
    pub cells: &'a [Cell],
    /// Where the places are, by name.
    pub places: &'a BTreeMap<String, PathBuf>,
    /// Results of before, when it is gone on with.
    pub done: &'a [TrialResult],
    /// Set by Ctrl-C.
    pub interrupted: &'a AtomicBool,
    /// Whether the results so far are precise enough, where a precision is asked for: blocks are added until they are.
    pub enough: Option<Enough<'a>>,
}

/// Says whether results are precise enough.
pub type Enough<'a> = &'a dyn Fn(&[TrialResult]) -> bool;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// The user interrupted it.
    pub interrupted: bool,
    /// How many trials failed, those of before included.
    pub failed: u64,
}

/// The files in the run folder through which parent and trial talk.
const SPEC: &str = "trial.json";
const REPORT: &str = "trial-out.json";

/// Where making a file takes this many times as long as it did when the run was begun, a trial moves on to another folder.
const SLOW_CREATION: u64 = 4;
/// Folders tried for a trial.
const FOLDERS: u32 = 4;

/// Runs what is left of a job.
///
/// # Errors
/// When a result can't be saved or a trial can't be started; trials that fail are results.
pub fn run(job: &Job<'_>, folder: &mut RunFolder, listener: &mut dyn Listener) -> Result<Ended> {
    for left_by_a_kill in [SPEC, REPORT] {
        remove_file(&folder.path().join(left_by_a_kill))?;
    }
    let works = Works::make(job)?;
    let mut running = Running {
        job,
        done: job.done.iter().map(|result| (result.cell.id(), result.block)).collect(),
        pace: Pace::new(job, &works),
        works,
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
    works: Works,
    pace: Pace,
    results: Vec<TrialResult>,
}

impl Running<'_> {
    /// Whether a precision is asked for that is not reached, and there is time for another block.
    fn needs_more(&self, start: Instant) -> bool {
        let in_time = self.job.plan.budget.is_none_or(|budget| start.elapsed() < budget.0);
        in_time && self.job.enough.is_some_and(|enough| !enough(&self.results))
    }

    fn block(&mut self, block: u32, folder: &mut RunFolder, listener: &mut dyn Listener) -> Result<()> {
        let job = self.job;
        let cells = schedule::block(job.cells.len(), block, job.plan.seed);
        let first = u64::from(block) * cells.len() as u64;
        for (position, index) in (first..).zip(cells) {
            let cell = &job.cells[index];
            if self.done.contains(&(cell.id(), block)) {
                continue;
            }
            if job.interrupted.load(Ordering::Relaxed) {
                break;
            }
            let work = self.works.of(cell)?;
            let (directory, file_creation_ns) = work.calm_folder(position)?;
            listener.hear(&Event::TrialStarted { cell, position, left: self.pace.left() });
            let trial = Trial {
                job,
                cell,
                position,
                block,
                folder: folder.path(),
                directory: &directory,
                device: &work.device,
                beside: &work.beside,
                file_creation_ns,
            };
            let start = Instant::now();
            let result = trial.run()?;
            work.folder.clear(&directory)?;
            let Some(result) = result else { break };
            folder.append(&result)?;
            self.pace.ended(cell, start.elapsed().as_secs_f64());
            listener.hear(&Event::TrialEnded { result: &result });
            self.results.push(result);
        }
        Ok(())
    }
}

/// The work folders, one in each place.
struct Works {
    by_place: BTreeMap<String, Work>,
}

struct Work {
    folder: WorkFolder,
    /// Where background loads have their files.
    beside: PathBuf,
    probe: Probe,
    device: std::result::Result<DeviceSpec, String>,
}

impl Works {
    fn make(job: &Job<'_>) -> Result<Works> {
        let devices = devices::shared(job.places);
        let work = |((name, path), device): ((&String, &PathBuf), _)| {
            let folder = WorkFolder::create(path)?;
            let probed = folder.trial("probe")?;
            let probe = probe::probe(&probed).map_err(Error::io("probing", path))?;
            folder.clear(&probed)?;
            let beside = folder.trial("background")?;
            Ok((name.clone(), Work { folder, beside, probe, device }))
        };
        // Both go by the places' names, in their order.
        let by_place = job.places.iter().zip(devices.into_values()).map(work);
        Ok(Works { by_place: by_place.collect::<Result<_>>()? })
    }

    fn of(&self, cell: &Cell) -> Result<&Work> {
        self.by_place.get(&cell.place).ok_or_else(|| {
            Error::new(crate::error::Exit::BadValue, format!("there is no place {:?}", cell.place))
        })
    }
}

impl Work {
    /// A fresh folder for a trial, and what making a file in it takes, in nanoseconds. A store of files must not pay for
    /// what was deleted before it: where making files is far slower than it was at first, another folder is tried.
    fn calm_folder(&self, position: u64) -> Result<(PathBuf, u64)> {
        let slow = self.probe.file_creation_ns.max(10_000) * SLOW_CREATION;
        let mut attempt = 0;
        loop {
            let folder = self.folder.trial(&format!("trial-{position}-{attempt}"))?;
            let now = probe::file_creation_ns(&folder).map_err(Error::io("probing", &folder))?;
            attempt += 1;
            if now < slow || attempt == FOLDERS {
                return Ok((folder, now));
            }
            self.folder.clear(&folder)?;
        }
    }
}

/// How long the rest will take: estimates of the cells, scaled by how the estimates did so far.
struct Pace {
    probes: BTreeMap<String, Probe>,
    operations: u64,
    estimated_left_s: f64,
    estimated_done_s: f64,
    took_s: f64,
}

impl Pace {
    fn new(job: &Job<'_>, works: &Works) -> Pace {
        let probes: BTreeMap<_, _> =
            works.by_place.iter().map(|(name, work)| (name.clone(), work.probe)).collect();
        let mut pace = Pace {
            probes,
            operations: job.plan.operations,
            estimated_left_s: 0.0,
            estimated_done_s: 0.0,
            took_s: 0.0,
        };
        let all: f64 = job.cells.iter().map(|cell| pace.estimate(cell)).sum();
        let done: f64 = job.done.iter().map(|result| pace.estimate(&result.cell)).sum();
        pace.estimated_left_s = (all * f64::from(job.plan.trials) - done).max(0.0);
        pace
    }

    fn estimate(&self, cell: &Cell) -> f64 {
        self.probes.get(&cell.place).map_or(1.0, |probe| estimate::seconds(cell, self.operations, probe))
    }

    fn ended(&mut self, cell: &Cell, took_s: f64) {
        let estimate = self.estimate(cell);
        self.estimated_left_s = (self.estimated_left_s - estimate).max(0.0);
        self.estimated_done_s += estimate;
        self.took_s += took_s;
    }

    fn left(&self) -> Option<Duration> {
        let scale = if self.estimated_done_s > 0.0 { self.took_s / self.estimated_done_s } else { 1.0 };
        Duration::try_from_secs_f64(self.estimated_left_s * scale).ok()
    }
}

struct Trial<'a> {
    job: &'a Job<'a>,
    cell: &'a Cell,
    position: u64,
    block: u32,
    folder: &'a Path,
    directory: &'a Path,
    device: &'a std::result::Result<DeviceSpec, String>,
    beside: &'a Path,
    file_creation_ns: u64,
}

/// How a trial went.
struct Ran {
    report: Report,
    wall_s: f64,
    background: Option<BackgroundReport>,
    /// The log that tells most about it, relative to the run folder.
    log: String,
}

impl Trial<'_> {
    /// Runs it; `None` when it was interrupted.
    fn run(&self) -> Result<Option<TrialResult>> {
        let load_1min = environment::load_1min();
        let started = jiff::Timestamp::now().to_string();
        let (spec, out) = (self.folder.join(SPEC), self.folder.join(REPORT));
        self.write_spec(&spec)?;
        remove_file(&out)?;
        let ran = self.beside_background(&spec, &out)?;
        remove_file(&spec)?;
        remove_file(&out)?;
        let Some(Ran { report, wall_s, background, log }) = ran else {
            remove_file(&self.folder.join(self.log()))?;
            remove_file(&self.folder.join(self.background_log()))?;
            return Ok(None);
        };
        let (outcome, measured) = match report {
            Report::Ok { measured } => (Outcome::Ok, Some(*measured)),
            Report::Failed { reason, message } => (Outcome::Failed { reason, message, log }, None),
            Report::Unsupported { message } => (Outcome::Unsupported { message }, None),
        };
        self.remove_empty_logs(&outcome)?;
        Ok(Some(TrialResult {
            format: FORMAT_VERSION,
            cell: self.cell.clone(),
            block: self.block,
            position: self.position,
            started,
            wall_s,
            load_1min,
            background,
            file_creation_ns: Some(self.file_creation_ns),
            outcome,
            measured,
        }))
    }

    /// Runs it beside its background load, if it has one; `None` when it was interrupted. Without the load there is no
    /// trial, and a trial during which the load was not at work is no measurement.
    fn beside_background(&self, spec: &Path, out: &Path) -> Result<Option<Ran>> {
        if self.cell.background == Background::None {
            return self.alone(spec, out);
        }
        let log = self.folder.join(self.background_log());
        let program = std::env::current_exe().map_err(Error::io("finding this program from", self.folder))?;
        let launch = Launch { program: &program, load: self.cell.background, folder: self.beside, log: &log };
        let started = Load::start(launch, self.job.interrupted)
            .map_err(Error::io("starting a load in", self.beside))?;
        let not_run = |report| Ran { report, wall_s: 0.0, background: None, log: self.background_log() };
        let load = match started {
            Started::AtWork(load) => load,
            Started::Interrupted => return Ok(None),
            Started::Unsupported(message) => return Ok(Some(not_run(Report::Unsupported { message }))),
            Started::Failed(message) => {
                return Ok(Some(not_run(Report::Failed { reason: Failure::Harness, message })));
            }
        };
        let from_ns = background::now_ns();
        let ran = self.alone(spec, out)?;
        let to_ns = background::now_ns();
        let Some(mut ran) = ran else { return Ok(None) };
        let Finished { report, complaint } = load.finish(from_ns, to_ns);
        ran.background = Some(report);
        if let (Report::Ok { .. }, Some(message)) = (&ran.report, complaint) {
            ran.report = Report::Failed { reason: Failure::Harness, message };
            ran.log = self.background_log();
        }
        Ok(Some(ran))
    }

    /// Runs its process; `None` when it was interrupted.
    fn alone(&self, spec: &Path, out: &Path) -> Result<Option<Ran>> {
        let log = self.folder.join(self.log());
        let start = Instant::now();
        let end = supervise::run(spec, out, &log, self.job.plan.timeout.0, self.job.interrupted)
            .map_err(Error::io("running a trial in", self.folder))?;
        let wall_s = start.elapsed().as_secs_f64();
        let report = match end {
            End::Interrupted => return Ok(None),
            End::Unsaved(error) => {
                remove_file(out)?;
                return Err(Error::io("saving a trial's result in", self.folder)(error));
            }
            End::Badly { reason, message } => Report::Failed { reason, message },
            End::Well => read_report(out),
        };
        Ok(Some(Ran { report, wall_s, background: None, log: self.log() }))
    }

    fn log(&self) -> String {
        format!("logs/{:06}.log", self.position)
    }

    fn background_log(&self) -> String {
        format!("logs/{:06}-background.log", self.position)
    }

    /// Removes logs that say nothing, but for the one that a failure names.
    fn remove_empty_logs(&self, outcome: &Outcome) -> Result<()> {
        for name in [self.log(), self.background_log()] {
            let path = self.folder.join(&name);
            let named = matches!(outcome, Outcome::Failed { log, .. } if *log == name);
            if !named && fs::metadata(&path).is_ok_and(|log| log.len() == 0) {
                remove_file(&path)?;
            }
        }
        Ok(())
    }

    fn write_spec(&self, path: &Path) -> Result<()> {
        let plan = self.job.plan;
        let spec = Spec {
            parent: std::process::id(),
            cell: self.cell.clone(),
            directory: self.directory.to_path_buf(),
            operations: plan.operations,
            order: plan.order.clone(),
            batch: plan.batch,
            visit: plan.visit,
            duration_ms: plan.duration.map(|duration| duration.0.as_millis() as u64),
            warm_up: plan.warm_up,
            cache_bytes: (self.cell.tuning == Tuning::Equal).then_some(plan.equal_cache.0),
            settings: plan.settings.get(&self.cell.store).cloned().unwrap_or_default(),
            compression: plan.compression.is_on(self.cell.data),
            seed: plan.seed,
            text: plan.text.clone(),
            device: self.device.clone(),
        };
        let text = serde_json::to_string(&spec).unwrap_or_default();
        fs::write(path, text).map_err(Error::io("writing", path))
    }
}

fn read_report(out: &Path) -> Report {
    let report = fs::read_to_string(out).map_err(|error| error.to_string());
    report.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string())).unwrap_or_else(
        |error| Report::Failed {
            reason: Failure::Harness,
            message: format!("the trial left no readable result: {error}"),
        },
    )
}

fn remove_file(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("deleting", path)(error)),
        _ => Ok(()),
    }
}
