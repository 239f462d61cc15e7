//! The parent's side of the cut check (`workload/cut.rs`): records a store's requests to its disk, makes states in which power
//! cuts could have left the disk, and has a process check each state.

mod draw;
mod faults;
mod history;
mod keep;
mod write_back;

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use storebench_disk::cut::{BLOCK, Cut, Log, SECTOR};

use self::draw::{DrawnState, StateSource};
use self::history::{History, StateVerdict};
use self::write_back::WriteBack;
use crate::location::image::{Template, TracePart};
use crate::runner::check_process::{CheckRoom, ProcessOutcome};
use crate::runner::child_process::{ProcessEnd, TimeLimit};
use crate::stage::Stage;
use storebench_core::workload::cut::{CutMessage, StateReport};
use storebench_core::workload::spec::{CheckPart, CutPart, Spec};
use storebench_model::error::{Error, Exit, Result};
use storebench_model::result::{BadState, Control, CutCheck, CutResults, Failure, StateFinding};
use storebench_model::store::Guarantee;

const RECORDING: TimeLimit =
    TimeLimit { whole: Duration::from_secs(120), room: Duration::ZERO, name: "the cut check's" };
/// The longest check of a state: a longer one counts as hung, so it must be too long for a busy machine. A server starts, recovers
/// and stops twice.
const LOOKING: TimeLimit =
    TimeLimit { whole: Duration::from_secs(60), room: Duration::ZERO, name: "a state's" };
/// The name of its file systems, logs and states in a work folder.
const NAME: &str = "cut";
const LOG: &str = "cut.log";
const MADE_LOG: &str = "cut-made.log";
const RECOVERY_LOG: &str = "cut-recovery.log";
const RECOVERED_LOG: &str = "cut-recovered.log";
const STATE: &str = "cut.json";

/// The steps of a history: enough to repeat each kind many times, and to fill a store's first buffers.
const STEPS: u64 = 300;
/// The states of a recovery that is cut again.
const OF_RECOVERY: u64 = 2;

/// A cut check that is about to be made.
pub struct CutChecker<'a> {
    /// The number of states, a fifth of them in recovery; each control adds a fifth as many.
    pub states: u64,
    pub sessions: u64,
    pub torn: bool,
    /// Whether all cuts are made while the store settles.
    pub settling: bool,
    pub seed: u64,
    /// The guarantee that the store is checked against.
    pub tier: Guarantee,
    /// How the store is opened.
    pub spec: Spec,
    /// The file system of its place.
    pub template: &'a Template,
    /// Where its processes keep their files.
    pub room: CheckRoom<'a>,
    /// The beginning of the names of files that it keeps in the run's folder.
    pub stem: String,
}

/// A disk's log from which states are made.
#[derive(Clone, Copy)]
struct DiskScene<'s> {
    history: &'s History,
    /// The log and its file.
    log: &'s Log,
    path: &'s Path,
    /// Whether the log is of the control store that writes in place.
    is_control_store: bool,
    /// Whether the log is of a recovery: what was acknowledged does not depend on the moment of the cut.
    is_recovery: bool,
}

impl CutChecker<'_> {
    /// Makes the check.
    pub fn make(&self, stage: &mut Stage<'_>) -> Result<CutCheck> {
        let start = Instant::now();
        let history = match self.record(stage, LOG, self.sessions, false)? {
            Ok(history) => history,
            Err(reason) => return Ok(CutCheck::NotMade { reason }),
        };
        let mut cuts = CutResults {
            steps: history.steps(),
            sessions: self.sessions,
            requests: history.log.entries.len() as u64,
            flushes: history.log.flushes().count() as u64,
            whole_bytes: self.whole_bytes(),
            recorded_ns: start.elapsed().as_nanos() as u64,
            ..CutResults::default()
        };
        let start = Instant::now();
        self.check_states(stage, &history, &mut cuts)?;
        self.check_in_place(stage, &mut cuts)?;
        cuts.checked_ns = start.elapsed().as_nanos() as u64;
        Ok(CutCheck::Made(Box::new(cuts)))
    }

    fn whole_bytes(&self) -> u64 {
        if self.torn { SECTOR } else { BLOCK }
    }

    fn control_count(&self) -> u64 {
        self.states.div_ceil(5)
    }

    fn check_states(&self, stage: &mut Stage<'_>, history: &History, cuts: &mut CutResults) -> Result<()> {
        let path = stage.work().join(LOG);
        let (is_control_store, is_recovery) = (false, false);
        let scene = DiskScene { history, log: &history.log, path: &path, is_control_store, is_recovery };
        let mut source = StateSource::new(history, self.whole_bytes(), self.seed);
        let in_recovery = self.states / 5;
        let states = source.draw_states(self.states - in_recovery, self.settling);
        for drawn in &states {
            self.check_and_count(stage, scene, drawn, cuts)?;
        }
        // Some are opened once more, with a power cut during recovery.
        let recoveries = in_recovery.div_ceil(OF_RECOVERY).max(1);
        let step = (states.len() as u64 / recoveries).max(1) as usize;
        for drawn in states.iter().step_by(step).take((in_recovery / OF_RECOVERY) as usize) {
            self.check_recovery(stage, scene, &mut source, drawn, cuts)?;
        }
        for control in [Control::NoFlush, Control::LastFlush, Control::EarlyAcknowledgement] {
            let drawn = source.draw_controls(control, self.control_count());
            self.check_control(stage, scene, control, &drawn, cuts)?;
        }
        Ok(())
    }

    fn check_and_count(
        &self,
        stage: &mut Stage<'_>,
        scene: DiskScene<'_>,
        drawn: &DrawnState,
        cuts: &mut CutResults,
    ) -> Result<()> {
        let StateVerdict { report, lost, lost_ns } = self.check_state(stage, scene, drawn)?;
        let StateReport { finding, message, open_ns, verified, .. } = report;
        *cuts.found.entry(finding).or_default() += 1;
        if drawn.acknowledged.iter().all(|steps| *steps == 0) {
            *cuts.unacknowledged.entry(finding).or_default() += 1;
        }
        cuts.phases.entry(drawn.phase).or_default().note(finding);
        cuts.open_ns.extend(open_ns);
        cuts.verified += u64::from(verified);
        if finding == StateFinding::Lost {
            cuts.lost_steps.push(lost);
            cuts.lost_ns.push(lost_ns);
        }
        if finding.is_allowed(self.tier) || !cuts.is_new(finding, drawn.phase) {
            return Ok(());
        }
        let kept = self.keep_state(stage, scene, drawn, finding)?;
        cuts.bad.push(BadState {
            number: drawn.number,
            finding,
            message,
            cut: drawn.cut.clone(),
            phase: Some(drawn.phase),
            acknowledged: drawn.acknowledged.clone(),
            begun: drawn.begun.clone(),
            kept: Some(kept),
        });
        Ok(())
    }

    /// Opens a state once more on a disk that logs requests, and checks states in which a cut during recovery can leave it.
    fn check_recovery(
        &self,
        stage: &mut Stage<'_>,
        scene: DiskScene<'_>,
        source: &mut StateSource<'_>,
        drawn: &DrawnState,
        cuts: &mut CutResults,
    ) -> Result<()> {
        let mut inner = stage.inner();
        let (log_path, _) = inner.file(RECOVERY_LOG)?;
        let state = self.write_state(&mut inner, &drawn.cut)?;
        let traced = TracePart { log: Some(&log_path), ..TracePart::from_cut(scene.path, &state) };
        let found = self.check_state_on(&mut inner, scene, drawn, traced)?;
        // A state that does not open has no recovery to cut.
        let Some(logged) = found.report.logged else { return Ok(()) };
        let settled_log = scene.log.settled_log(&drawn.cut);
        let recovery_start = settled_log.entries.len();
        let log = settled_log.followed_by(read_log(&log_path, logged)?);
        let (path, file) = inner.file(RECOVERED_LOG)?;
        log.write(Box::new(BufWriter::new(file))).map_err(Error::io("writing", &path))?;
        let states = source.draw_recovering(drawn, &log, recovery_start, OF_RECOVERY);
        let scene = DiskScene { log: &log, path: &path, is_recovery: true, ..scene };
        for drawn in &states {
            self.check_and_count(&mut inner, scene, drawn, cuts)?;
        }
        inner.release()
    }

    fn check_control(
        &self,
        stage: &mut Stage<'_>,
        scene: DiskScene<'_>,
        control: Control,
        states: &[DrawnState],
        cuts: &mut CutResults,
    ) -> Result<()> {
        for drawn in states {
            let found = self.check_state(stage, scene, drawn)?;
            cuts.controls.entry(control).or_default().note(found.report.finding);
        }
        Ok(())
    }

    /// The control with a separate store: one that writes in place.
    fn check_in_place(&self, stage: &mut Stage<'_>, cuts: &mut CutResults) -> Result<()> {
        let history = self.record(stage, MADE_LOG, 1, true)?;
        let history = history.map_err(|reason| Error::new(Exit::Failure, reason))?;
        let path = stage.work().join(MADE_LOG);
        let (is_control_store, is_recovery) = (true, false);
        let (history, log) = (&history, &history.log);
        let scene = DiskScene { history, log, path: &path, is_control_store, is_recovery };
        let drawn = StateSource::new(history, self.whole_bytes(), self.seed)
            .draw_controls(Control::InPlace, self.control_count());
        self.check_control(stage, scene, Control::InPlace, &drawn, cuts)
    }

    /// Has a process take the steps on a disk that logs requests; or says why it could not.
    fn record(
        &self,
        stage: &mut Stage<'_>,
        log: &str,
        sessions: u64,
        is_control_store: bool,
    ) -> Result<std::result::Result<History, String>> {
        let (path, _) = stage.file(log)?;
        let mut inner = stage.inner();
        let traced = TracePart { log: Some(&path), ..TracePart::default() };
        let mount = match self.template.mount_traced(&mut inner, NAME, traced)? {
            Ok(mount) => mount,
            Err(why) => return Ok(Err(why)),
        };
        let write_back = WriteBack::start(&mount.0, self.seed);
        let part = CutPart::Record { steps: STEPS, sessions, made: is_control_store };
        let (end, message) = self.run_process(part, mount, RECORDING)?;
        drop(write_back);
        inner.release()?;
        let recording = match (end, message) {
            (ProcessEnd::Badly { signal: Some(9), .. }, Ok(CutMessage::Recorded(recording))) => recording,
            (_, Ok(CutMessage::Failed(reason))) => return Ok(Err(reason)),
            (ProcessEnd::Badly { message, .. }, _) => {
                return Ok(Err(format!("the process that recorded it {message}")));
            }
            (end, message) => {
                return Ok(Err(format!("the process that recorded it ended: {end:?}, {message:?}")));
            }
        };
        let log = read_log(&path, History::end(&recording) as u64)?;
        Ok(Ok(History { log, recording }))
    }

    /// Writes a state to a file for the server of its disk.
    fn write_state(&self, stage: &mut Stage<'_>, cut: &Cut) -> Result<PathBuf> {
        let (path, mut file) = stage.file(STATE)?;
        let text = serde_json::to_vec(cut).unwrap_or_default();
        file.write_all(&text).map_err(Error::io("writing", &path))?;
        Ok(path)
    }

    fn check_state(
        &self,
        stage: &mut Stage<'_>,
        scene: DiskScene<'_>,
        drawn: &DrawnState,
    ) -> Result<StateVerdict> {
        let mut inner = stage.inner();
        let state = self.write_state(&mut inner, &drawn.cut)?;
        let found = self.check_state_on(&mut inner, scene, drawn, TracePart::from_cut(scene.path, &state))?;
        inner.release()?;
        Ok(found)
    }

    fn check_state_on(
        &self,
        stage: &mut Stage<'_>,
        scene: DiskScene<'_>,
        drawn: &DrawnState,
        traced: TracePart<'_>,
    ) -> Result<StateVerdict> {
        let mut inner = stage.inner();
        let report = match self.template.mount_traced(&mut inner, NAME, traced)? {
            Err(message) => StateReport::new(StateFinding::FileSystem, message),
            Ok(mount) => {
                let part = CutPart::Look { begun: drawn.begun.clone(), made: scene.is_control_store };
                self.read_report(self.run_process(part, mount, LOOKING)?)?
            }
        };
        inner.release()?;
        Ok(scene.history.judge(drawn, &report))
    }

    /// The finding of a checking process, however it ended.
    fn read_report(&self, ended: ProcessOutcome<CutMessage>) -> Result<StateReport> {
        Ok(match ended {
            (ProcessEnd::Well, Ok(CutMessage::Found(report))) => report,
            (ProcessEnd::Badly { reason: Failure::TimedOut, message, .. }, _) => {
                StateReport::new(StateFinding::Hung, message)
            }
            (ProcessEnd::Badly { message, .. }, _) => StateReport::new(StateFinding::Crashed, message),
            (_, Ok(CutMessage::Failed(message))) => StateReport::new(StateFinding::Refused, message),
            (end, message) => {
                let reason = format!("a process that looked at a state ended: {end:?}, {message:?}");
                return Err(Error::new(Exit::Failure, reason));
            }
        })
    }

    /// Runs a process for one part, in a file system on a disk; returns how it ended, and its report.
    fn run_process(
        &self,
        part: CutPart,
        (directory, disk): (PathBuf, PathBuf),
        limit: TimeLimit,
    ) -> Result<ProcessOutcome<CutMessage>> {
        let spec =
            Spec { part: Some(CheckPart::Cut(part)), directory, disk: Some(disk), ..self.spec.clone() };
        self.room.run(&spec, limit)
    }
}

fn read_log(path: &Path, count: u64) -> Result<Log> {
    let read = || Log::first(count as usize, BufReader::new(File::open(path)?));
    read().map_err(Error::io("reading", path))
}
