//! One trial, seen from the parent: its process, its background load, its logs, and the outcome.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use storebench_disk::counts::{self, Counts};

use crate::folder::is_full;
use crate::location::image::{HOLDER, Template};
use crate::runner::background::{FinishedLoad, LoadLaunch, LoadProcess, LoadStart, RunningLoad};
use crate::runner::check_process::CheckRoom;
use crate::runner::child_process::{self, ProcessEnd, TimeLimit, interruption};
use crate::runner::kill::PassedChecks;
use crate::runner::limits::{LimitSite, TrialLimits};
use crate::runner::locations::TrialFolder;
use crate::runner::run_request::RunRequest;
use crate::runner::trial_ipc::{self, LIMITS, REPORT, SPEC};
use crate::stage::Stage;
use crate::{background, schedule};
use storebench_core::guard;
use storebench_core::kernel::room;
use storebench_core::measure::cgroup::{self, TrialCgroup};
use storebench_core::measure::device::BlockDevice;
use storebench_core::measure::limit::LimitSupport;
use storebench_core::measure::probe::Probe;
use storebench_core::measure::resources::ResourceProbe;
use storebench_core::measure::{environment, other_load};
use storebench_core::workload::audit;
use storebench_core::workload::case::TimeEstimate;
use storebench_core::workload::load_progress::LoadProgress;
use storebench_core::workload::spec::{Report, Spec};
use storebench_model::cell::{Background, Cell, HERE};
use storebench_model::error::{Error, Exit, Result};
use storebench_model::result::{
    BackgroundReport, DiskReport, FORMAT_VERSION, Failure, Outcome, ResourceSeries, Transit, TrialResult,
};
use storebench_model::test_hooks;

mod checks;

/// The time in which clients notice that the trial's process is gone.
const CLIENTS_END: Duration = Duration::from_secs(1);

/// The result of a trial that had no folder on the disk of `folder`, with the reason.
pub fn not_begun(cell: &Cell, (position, block): (u64, u32), folder: &Path, message: String) -> TrialResult {
    let (reason, message) = match room::is_used_up(folder) {
        true => (Failure::DiskFull, format!("{HOLDER} was full: {message}")),
        false => (Failure::Harness, message),
    };
    TrialResult {
        format: FORMAT_VERSION,
        cell: cell.clone(),
        block,
        position,
        started: jiff::Timestamp::now().to_string(),
        wall_s: 0.0,
        stage_s: None,
        load_1min: environment::load_1min(),
        others_processors: None,
        disk: None,
        background: None,
        machine: None,
        file_creation_ns: None,
        resources: None,
        outcome: Outcome::Failed { reason, message, log: String::new() },
        measured: None,
    }
}

/// A trial that is about to run.
pub struct Trial<'a> {
    pub job: &'a RunRequest<'a>,
    pub cell: &'a Cell,
    /// Its position in the run, from 0.
    pub position: u64,
    /// Its block, from 0.
    pub block: u32,
    pub folder: &'a Path,
    pub files: &'a TrialFolder,
    /// The time that requests take to a simulated disk and back.
    pub transit: Option<Transit>,
    /// Where a cgroup for it can be made, or why not.
    pub cgroups: &'a std::result::Result<cgroup::CgroupParent, String>,
    pub reach: &'a LimitSupport,
    /// Where its background load keeps its files.
    pub load_folder: &'a Path,
    /// Where servers keep files that are no data; `None` without servers.
    pub servers: Option<&'a Path>,
    /// The ways of opening a store that have passed a kill check; `None` if none is made.
    pub passed: Option<&'a PassedChecks>,
    /// The file system of its place, if that is an image.
    pub template: Option<&'a Template>,
    pub report_loading: &'a dyn Fn(Option<LoadProgress>),
}

struct TrialRun {
    report: Report,
    wall_s: f64,
    resources: Option<ResourceSeries>,
    /// The processors that others kept busy meanwhile.
    others: Option<f64>,
    background: Option<BackgroundReport>,
    /// The log that says most about it, relative to the run folder.
    log: String,
}

impl TrialRun {
    /// Without a process.
    fn not_at_all(report: Report) -> TrialRun {
        TrialRun { report, wall_s: 0.0, resources: None, others: None, background: None, log: String::new() }
    }
}

impl Trial<'_> {
    /// Runs it on a stage that holds its folder; `None` if it was interrupted.
    pub fn run(&self, stage: &mut Stage<'_>) -> Result<Option<TrialResult>> {
        let load_1min = environment::load_1min();
        let started = jiff::Timestamp::now().to_string();
        let (spec, out) = (self.folder.join(SPEC), self.folder.join(REPORT));
        let group = self.cgroups.as_ref().map_err(String::clone).and_then(|home| stage.group(home));
        let limiting = self.limiting(stage, group.as_ref().ok());
        let before = self.disk_counts();
        let (ran, machine) = match &limiting {
            Some(Err(message)) => {
                let report = Report::Unsupported { message: message.clone() };
                (Ok(TrialRun { log: self.log(), ..TrialRun::not_at_all(report) }), None)
            }
            limited => {
                let limiting = limited.as_ref().and_then(|limiting| limiting.as_ref().ok());
                let sights = self.sights(group.as_ref().ok());
                trial_ipc::ask(self.folder, &self.spec(group, limiting))?;
                let ran = self.run_with_background(stage, limiting, &sights, (&spec, &out));
                (ran, limiting.map(TrialLimits::report))
            }
        };
        let disk = self.disk_report(before);
        let ran = ran.map(|ran| self.check_disk(ran, disk.is_some()));
        let ran = ran.and_then(|ran| self.kill_checked(ran));
        let ran = ran.and_then(|ran| self.cut_checked(stage, ran));
        let ran = match ran.and_then(|ran| self.recovery_checked(ran)) {
            Err(error) if error.exit == Exit::Interrupted => None,
            ran => Some(ran?),
        };
        trial_ipc::remove(self.folder)?;
        let Some(TrialRun { report, wall_s, resources, others, background, log }) = ran else {
            self.remove(&self.log())?;
            self.remove(&self.background_log())?;
            return Ok(None);
        };
        let (outcome, measured) = match report {
            Report::Ok { mut measured } => {
                let late = disk.as_ref().filter(|_| !test_hooks::is_alone());
                let warnings = late.map(|disk| disk.warnings(&measured));
                measured.warnings.extend(warnings.into_iter().flatten());
                (Outcome::Ok, Some(*measured))
            }
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
            stage_s: None,
            load_1min,
            others_processors: others
                .map(|share| if test_hooks::is_alone() { 0.0 } else { share })
                .filter(|_| !self.is_on_running_server()),
            background,
            machine,
            disk,
            file_creation_ns: Some(self.files.file_creation_ns),
            resources,
            outcome,
            measured,
        }))
    }

    /// Runs it with its background load, if it has one. Without the load there is no trial, and a trial during which the load was not
    /// at work is no measurement.
    fn run_with_background(
        &self,
        stage: &mut Stage<'_>,
        limiting: Option<&TrialLimits>,
        sights: &ResourceProbe,
        files: (&Path, &Path),
    ) -> Result<TrialRun> {
        if self.cell.background() == Background::None {
            return self.run_process(limiting, sights, files, None);
        }
        let log = self.background_log();
        let output = guard::rewrite(self.folder, &log)?;
        let log = self.folder.join(log);
        let program = storebench_model::lifeline::this_program()
            .map_err(Error::io("finding this program from", self.folder))?;
        let launch = LoadLaunch {
            program: &program,
            load: self.cell.background(),
            folder: self.load_folder,
            log: &log,
        };
        let process = stage
            .load(|| LoadProcess::start(launch, output), LoadProcess::id)
            .map_err(Error::io("starting a load in", self.load_folder))?;
        let started = RunningLoad::start(launch, process, self.job.interrupted);
        let not_run = |report| TrialRun { log: self.background_log(), ..TrialRun::not_at_all(report) };
        let load = match started {
            LoadStart::AtWork(load) => load,
            LoadStart::Interrupted => return Err(interruption()),
            LoadStart::Unsupported(message) => return Ok(not_run(Report::Unsupported { message })),
            LoadStart::Failed(message) => {
                return Ok(not_run(Report::Failed { reason: Failure::Harness, message }));
            }
        };
        let from_ns = background::now_ns();
        let mut ran = self.run_process(limiting, sights, files, Some(load.id()))?;
        let to_ns = background::now_ns();
        let FinishedLoad { report, complaint } = load.finish(from_ns, to_ns);
        ran.background = Some(report);
        if let (Report::Ok { .. }, Some(message)) = (&ran.report, complaint) {
            ran.report = Report::Failed { reason: Failure::Harness, message };
            ran.log = self.background_log();
        }
        Ok(ran)
    }

    /// Runs its process, during a background load if it has one.
    fn run_process(
        &self,
        limiting: Option<&TrialLimits>,
        sights: &ResourceProbe,
        (spec, out): (&Path, &Path),
        load: Option<u32>,
    ) -> Result<TrialRun> {
        let log = self.folder.join(self.log());
        let output = guard::rewrite(self.folder, &self.log())?;
        let start = Instant::now();
        let limit =
            TimeLimit { whole: self.job.plan.timeout.0, room: self.time_beyond_limit(), name: "--timeout" };
        let by = limiting.map(TrialLimits::scope).unwrap_or_default();
        let run = || {
            let output = (&*log, output);
            child_process::run(&by, (spec, out), output, limit, self.job.interrupted, self.report_loading)
        };
        let others = other_load::OtherLoadMeter::start(load).ok();
        let (end, resources) = sights.during(run);
        let others = others.and_then(|others| others.processors());
        let end = end.map_err(Error::io("running a trial in", self.folder))?;
        if !self.job.plan.clients.is_empty() && matches!(end, None | Some(ProcessEnd::Badly { .. })) {
            // It was killed. Its clients exit when they notice that; what they write after its records are dropped would stay there.
            std::thread::sleep(CLIENTS_END);
        }
        let wall_s = start.elapsed().as_secs_f64();
        let out_of_memory = |message| Report::Failed { reason: Failure::OutOfMemory, message };
        let mut report = match (end.ok_or_else(interruption)?, limiting.and_then(TrialLimits::killed)) {
            (ProcessEnd::Unsaved(error), _) if is_full(&error) && self.shares_a_disk() => Report::Failed {
                reason: Failure::DiskFull,
                message: "the disk was full: not even the trial's report could be written".into(),
            },
            (ProcessEnd::Unsaved(error), _) => {
                self.remove(REPORT)?;
                return Err(Error::io("saving a trial's result in", self.folder)(error));
            }
            (ProcessEnd::Badly { .. }, Some(message)) => out_of_memory(message),
            (ProcessEnd::Badly { reason, message, .. }, None) => Report::Failed { reason, message },
            (ProcessEnd::Well, killed) => match (self.answer(), killed) {
                // A server was killed, and the trial has noticed.
                (Report::Failed { .. }, Some(message)) => out_of_memory(message),
                (report, _) => report,
            },
        };
        // Engines report a full disk each in their own words, or crash.
        if let Report::Failed { reason, message } = &mut report
            && matches!(reason, Failure::Store | Failure::Crashed | Failure::TimedOut)
            && let Some(disk) = self.full_disk()
        {
            *message = format!("{disk} was full: {message}");
            *reason = Failure::DiskFull;
        }
        Ok(TrialRun { report, wall_s, resources, others, background: None, log: self.log() })
    }

    /// Whether its store is a server that was running before: its work can't be separated from the work of others.
    fn is_on_running_server(&self) -> bool {
        self.job.plan.case(self.cell, self.job.stores).is_on_running_server()
    }

    /// The disk that is full, if any: the disk of the store's files, or the disk of the image that holds them.
    fn full_disk(&self) -> Option<&'static str> {
        // A place without a block device is in no image, and a simulated disk is mostly in memory.
        let TrialFolder { directory, device, disk, .. } = self.files;
        let holder = (disk.is_none() && device.is_ok()).then_some((self.load_folder, HOLDER));
        let disks = [(directory.as_path(), "the disk")].into_iter().chain(holder);
        disks.into_iter().find(|(path, _)| room::is_used_up(path)).map(|(_, disk)| disk)
    }

    /// The device and cgroup to watch during the trial.
    fn sights(&self, group: Option<&TrialCgroup>) -> ResourceProbe {
        let device = self.files.device.as_ref().ok().and_then(|spec| BlockDevice::open(&spec.name).ok());
        ResourceProbe { device, group: group.cloned() }
    }

    /// The enforced limits, made on the stage, if its machine has any; or why they can't be enforced.
    fn limiting(
        &self,
        stage: &mut Stage<'_>,
        counting: Option<&TrialCgroup>,
    ) -> Option<std::result::Result<TrialLimits, String>> {
        let machine = self.job.plan.machine(self.cell.machine())?.with_files(self.cell.disk() != HERE);
        let counting = self.cgroups.as_ref().ok().zip(counting);
        let report_file = self.folder.join(LIMITS);
        let site =
            LimitSite { reach: self.reach, device: &self.files.device, counting, report_file: &report_file };
        Some(TrialLimits::take(stage, self.cell, &machine, site))
    }

    /// The counts of its simulated disk, if there is one and it works.
    fn disk_counts(&self) -> Option<Counts> {
        self.files.disk.as_ref().and_then(|folder| counts::read(folder).ok())
    }

    fn disk_report(&self, before: Option<Counts>) -> Option<DiskReport> {
        let counts = self.disk_counts()?.since(&before?);
        Some(DiskReport { name: self.cell.disk().to_owned(), transit: self.transit, counts })
    }

    /// The outcome, which is a failure of the harness if a simulated disk is gone: its store can't be blamed.
    fn check_disk(&self, ran: TrialRun, is_there: bool) -> TrialRun {
        let said = match &ran.report {
            _ if self.files.disk.is_none() || is_there => return ran,
            Report::Unsupported { .. } => return ran,
            Report::Ok { .. } => String::new(),
            Report::Failed { message, .. } => format!("; the trial said: {message}"),
        };
        let message = format!("the server of the simulated disk {} ended{said}", self.cell.disk());
        TrialRun { report: Report::Failed { reason: Failure::Harness, message }, log: self.log(), ..ran }
    }

    fn has_lost_disk(&self) -> bool {
        self.files.disk.is_some() && self.disk_counts().is_none()
    }

    /// Whether the store's files are on the disk of the results, so that the store may have filled it.
    fn shares_a_disk(&self) -> bool {
        let device = |path: &Path| fs::metadata(path).map(|folder| folder.dev()).ok();
        device(self.folder).is_some() && device(self.folder) == device(&self.files.directory)
    }

    /// The time beyond its limit that it may take: to read back, and for rests that were asked for.
    fn time_beyond_limit(&self) -> Duration {
        const SLOW: Probe =
            Probe { file_creation_ns: 1_000_000, sync_ns: 20_000_000, write_bytes_per_s: 10_000_000.0 };
        let plan = self.job.plan;
        let TimeEstimate { audit_s, rest_s, .. } = plan.time(self.cell, self.job.stores, &SLOW);
        audit::time_beyond_limit(audit_s)
            .saturating_add(Duration::try_from_secs_f64(rest_s).unwrap_or_default())
    }

    fn room_of_check(&self, doing: &'static str) -> CheckRoom<'_> {
        CheckRoom { folder: self.folder, log: self.log(), doing, interrupted: self.job.interrupted }
    }

    fn log(&self) -> String {
        format!("logs/{:06}.log", self.position)
    }

    fn background_log(&self) -> String {
        format!("logs/{:06}-background.log", self.position)
    }

    /// Removes empty logs, except one that a failure names.
    fn remove_empty_logs(&self, outcome: &Outcome) -> Result<()> {
        for name in [self.log(), self.background_log()] {
            let named = matches!(outcome, Outcome::Failed { log, .. } if *log == name);
            if !named && fs::symlink_metadata(self.folder.join(&name)).is_ok_and(|log| log.len() == 0) {
                self.remove(&name)?;
            }
        }
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<()> {
        guard::remove(self.folder, name)
    }

    fn spec(&self, group: std::result::Result<TrialCgroup, String>, limiting: Option<&TrialLimits>) -> Spec {
        let plan = self.job.plan;
        let case = plan.case(self.cell, self.job.stores);
        let group = match limiting {
            Some(limiting) if limiting.is_scope() => Err("it runs in a scope of systemd".into()),
            _ => group,
        };
        Spec {
            parent: std::process::id(),
            cell: self.cell.clone(),
            directory: self.files.directory.clone(),
            run_folder: self.servers.map(Path::to_path_buf),
            workload: plan.workload,
            parameters: plan.parameters.clone(),
            settings: plan.settings_to_open(self.cell, self.job.stores),
            seed: schedule::seed(self.job.blocks_before + self.block, plan.seed),
            device: self.files.device.clone(),
            disk: self.files.disk.clone(),
            group,
            memory_limit: plan.memory_limit(self.cell),
            limits: limiting.map(TrialLimits::order),
            judged: plan.judge_settings,
            part: None,
            library: case.store().and_then(|store| store.library).cloned(),
            clients: plan.clients.clone(),
        }
    }

    fn answer(&self) -> Report {
        trial_ipc::answer(self.folder).unwrap_or_else(|error| Report::Failed {
            reason: Failure::Harness,
            message: format!("the trial left no readable result: {error}"),
        })
    }
}
