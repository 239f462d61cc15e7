//! The parent's side of the cut check (`workload/cut.rs`): records what a store asks of its disk, makes up states in which power
//! cuts could have left that, and has each looked at by a process of its own.

mod draw;
mod write_back;

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use storebench_disk::cut::{BLOCK, Log, SECTOR};

use self::draw::{Draw, Drawn};
use self::write_back::WriteBack;
use crate::error::{Error, Result};
use crate::place::image::{Template, Traced};
use crate::result::{BadState, CutCheck, Cuts, Failure, Finding};
use crate::runner::part::Room;
use crate::runner::supervise::{End, Limit};
use crate::stage::Stage;
use crate::workload::cut::{CutTold, Mark};
use crate::workload::spec::{CutPart, Spec};

/// The longest that recording may take, and looking at one state: what takes longer counts as hung.
const RECORDING: Limit =
    Limit { whole: Duration::from_secs(120), room: Duration::ZERO, name: "the cut check's" };
const LOOKING: Limit = Limit { whole: Duration::from_secs(10), room: Duration::ZERO, name: "a state's" };
/// States that did not hold are kept of each kind, at most so many.
const KEPT: u64 = 3;
/// The names of its file systems, of the log and of the state in a work folder.
const NAME: &str = "cut";
const LOG: &str = "cut.log";
const STATE: &str = "cut.json";

/// The steps of a history: each kind is taken many times, and a store's first buffers fill.
pub const STEPS: u64 = 300;

/// The states that are asked for.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// Their number; of each control there are a fifth as many.
    pub states: u64,
    /// The steps that are recorded.
    pub steps: u64,
    /// Whether the disk tears blocks.
    pub torn: bool,
    /// The seed of all that is random.
    pub seed: u64,
}

/// A cut check that is about to be made.
pub struct Check<'a> {
    /// The states that are asked for.
    pub asked: Asked,
    /// The way in which its store is opened.
    pub spec: Spec,
    /// The file system of its place.
    pub template: &'a Template,
    /// Where its processes have their files.
    pub room: Room<'a>,
}

/// A history: the disk's log, and what was acknowledged when.
struct History {
    log: Log,
    marks: Vec<Mark>,
}

impl Check<'_> {
    /// Makes it; `None` when it was interrupted.
    ///
    /// # Errors
    /// When our own files can't be written, or a process can't be started.
    pub fn make(self, stage: &mut Stage<'_>) -> Result<Option<CutCheck>> {
        let not_made = |reason: String| Ok(Some(CutCheck::NotMade { reason }));
        if let Err(reason) = self.template.can_be_traced() {
            return not_made(reason);
        }
        let start = Instant::now();
        let history = match self.record(stage)? {
            Recorded::Of(history) => history,
            Recorded::Interrupted => return Ok(None),
            Recorded::Failed(reason) => return not_made(reason),
        };
        let recorded_ns = start.elapsed().as_nanos() as u64;
        let whole = if self.asked.torn { SECTOR } else { BLOCK };
        let mut cuts = Cuts {
            steps: history.marks.len() as u64,
            requests: history.log.len() as u64,
            flushes: history.log.flushes().count() as u64,
            whole_bytes: whole,
            recorded_ns,
            ..Cuts::default()
        };
        let start = Instant::now();
        let mut draw = Draw::new(&history.log, &history.marks, whole, self.asked.seed);
        for drawn in draw.states(self.asked.states) {
            let Some(looked) = self.look(stage, &drawn)? else { return Ok(None) };
            note(&mut cuts, &history, drawn, looked);
        }
        for drawn in draw.controls(self.asked.states.div_ceil(5)) {
            let Some(looked) = self.look(stage, &drawn)? else { return Ok(None) };
            let Some(control) = drawn.of else { continue };
            let control = cuts.controls.entry(control).or_default();
            control.states += 1;
            control.caught += u64::from(looked.finding != Finding::Held);
        }
        cuts.checked_ns = start.elapsed().as_nanos() as u64;
        Ok(Some(CutCheck::Made(Box::new(cuts))))
    }

    /// Has the steps taken on a disk that logs what is asked of it.
    fn record(&self, stage: &mut Stage<'_>) -> Result<Recorded> {
        let (path, _) = stage.file(LOG)?;
        let mut inner = stage.inner();
        let mount = match self.template.mount_traced(&mut inner, NAME, Traced::Logs(&path))? {
            Ok(mount) => mount,
            Err(why) => return Ok(Recorded::Failed(why)),
        };
        let back = WriteBack::start(&mount.0, self.asked.seed);
        let part = CutPart::Record { steps: self.asked.steps };
        let (end, told) = self.process(part, mount, RECORDING)?;
        drop(back);
        inner.give_back()?;
        let marks = match (end, told) {
            (End::Interrupted, _) => return Ok(Recorded::Interrupted),
            (End::Badly { signal: Some(9), .. }, Ok(CutTold::Recorded(marks))) => marks,
            (_, Ok(CutTold::Failed(reason))) => return Ok(Recorded::Failed(reason)),
            (End::Badly { message, .. }, _) => {
                return Ok(Recorded::Failed(format!("the process that recorded it {message}")));
            }
            (end, told) => {
                return Ok(Recorded::Failed(format!(
                    "the process that recorded it ended: {end:?}, {told:?}"
                )));
            }
        };
        // Requests that came after the last step are in no state.
        let count = marks.last().map_or(0, |mark| mark.after) as usize;
        let read = || Log::first(count, BufReader::new(File::open(&path)?));
        Ok(Recorded::Of(History { log: read().map_err(Error::io("reading", &path))?, marks }))
    }

    /// Has a state looked at; `None` when it was interrupted.
    fn look(&self, stage: &mut Stage<'_>, drawn: &Drawn) -> Result<Option<Looked>> {
        let log = stage.work().join(LOG);
        let mut inner = stage.inner();
        let (state, mut file) = inner.file(STATE)?;
        let text = serde_json::to_vec(&drawn.cut).unwrap_or_default();
        file.write_all(&text).map_err(Error::io("writing", &state))?;
        let mount = match self.template.mount_traced(&mut inner, NAME, Traced::IsCut(&log, &state))? {
            Ok(mount) => mount,
            Err(message) => return Ok(Some(Looked { finding: Finding::FileSystem, lost: 0, message })),
        };
        let part = CutPart::Look { acknowledged: drawn.acknowledged, begun: drawn.begun };
        let (end, told) = self.process(part, mount, LOOKING)?;
        inner.give_back()?;
        Ok(match (end, told) {
            (End::Interrupted, _) => None,
            (End::Well, Ok(CutTold::Found { finding, lost, message })) => {
                Some(Looked { finding, lost, message })
            }
            (End::Badly { reason, message, .. }, _) => {
                let finding = if reason == Failure::TimedOut { Finding::Hung } else { Finding::Crashed };
                Some(Looked { finding, lost: 0, message })
            }
            (_, Ok(CutTold::Failed(message))) => Some(Looked { finding: Finding::Refused, lost: 0, message }),
            (end, told) => {
                let message = format!("a process that looked at a state ended: {end:?}, {told:?}");
                return Err(Error::new(crate::error::Exit::Failure, message));
            }
        })
    }

    /// Runs a process that does a part of it, in a file system on a disk; how it ended, and what it has told.
    fn process(
        &self,
        part: CutPart,
        (directory, disk): (PathBuf, PathBuf),
        limit: Limit,
    ) -> Result<(End, std::result::Result<CutTold, String>)> {
        let spec = Spec { cut: Some(part), directory, disk: Some(disk), ..self.spec.clone() };
        self.room.run(&spec, limit)
    }
}

enum Recorded {
    Of(History),
    Failed(String),
    Interrupted,
}

/// The finding in a state.
struct Looked {
    finding: Finding,
    lost: u64,
    message: String,
}

fn note(cuts: &mut Cuts, history: &History, drawn: Drawn, looked: Looked) {
    let Looked { finding, lost, message } = looked;
    let count = cuts.found.entry(finding).or_default();
    *count += 1;
    if finding == Finding::Held {
        return;
    }
    if *count <= KEPT {
        cuts.bad.push(BadState { number: drawn.number, finding, message, cut: drawn.cut });
    }
    if finding == Finding::Lost {
        cuts.lost_steps.push(lost);
        // From the acknowledgement of the first that is lost to the last one before the cut: no clock tells when that is.
        let acknowledged = drawn.acknowledged as usize;
        let first = history.marks.get(acknowledged - lost as usize);
        let last = history.marks.get(acknowledged - 1);
        let ns = first.zip(last).map(|(first, last)| last.at_ns.saturating_sub(first.at_ns));
        cuts.lost_ns.push(ns.unwrap_or_default());
    }
}
