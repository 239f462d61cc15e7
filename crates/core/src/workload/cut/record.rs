//! Recording a history: the steps of each session, with what the disk was asked for before and after each.

use std::convert::Infallible;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::thread;
use std::time::Instant;

use super::message::{CutMessage, RecordedHistory, StepMark};
use super::opened::{logged, open};
use crate::kernel::system;
use crate::store::Store;
use crate::workload::kill::{self, MOST_BYTES, steps};
use crate::workload::spec::{TrialContext, TrialError};
use crate::workload::step::Step;
use crate::workload::store_trial;
use crate::workload::workload_error::WorkloadError;

/// Records this number of steps in all, and ends.
pub(super) fn record(
    asked: &TrialContext<'_>,
    count: u64,
    sessions: u64,
    made: bool,
    tell: impl Fn(&CutMessage) -> Result<(), TrialError>,
) -> Result<Infallible, TrialError> {
    let disk =
        asked.spec.disk.as_deref().ok_or_else(|| TrialError::harness("no disk logs what is asked of it"))?;
    prepare(asked, made)?;
    let log = Log(disk);
    let began = log.length()?;
    let store = open(asked, made, Step::Opening)?;
    let taking = StepRecorder { store: &*store, log, start: Instant::now() };
    let opened = log.length()?;
    let each = count.div_ceil(sessions);
    let mut all = taking.sessions(sessions, 0..each / 3)?;
    let mut settling = Vec::new();
    // The second time there are files to be changed in place.
    for part in [each / 3..each * 2 / 3, each * 2 / 3..each] {
        let before = log.length()?;
        store.settle().map_err(|error| WorkloadError::store("settling", &error))?;
        settling.push((before, log.length()?));
        let more = taking.sessions(sessions, part)?;
        all.iter_mut().zip(more).for_each(|(marks, more)| marks.extend(more));
    }
    tell(&CutMessage::Recorded(RecordedHistory { sessions: all, began, opened, settling }))?;
    Err(kill::die())
}

/// Makes a server's files, as an administrator does long before: they are synced when it is opened.
pub(super) fn prepare(asked: &TrialContext<'_>, made: bool) -> Result<(), TrialError> {
    let (def, _) = store_trial::find(asked.stores, asked.spec.cell.store())?;
    let Some(server) = def.server.filter(|_| !made) else { return Ok(()) };
    (server.prepare)(&asked.spec.options(1)).map_err(store_trial::unsupported_or_failed)?;
    let folder = File::open(&asked.spec.directory).map_err(TrialError::harness)?;
    system::sync_file_system(&folder).map_err(TrialError::harness)
}

#[derive(Clone, Copy)]
struct Log<'d>(&'d Path);

impl Log<'_> {
    fn length(self) -> Result<u64, TrialError> {
        logged(self.0)?.ok_or_else(|| TrialError::harness("the disk keeps no log"))
    }
}

#[derive(Clone, Copy)]
struct StepRecorder<'a> {
    store: &'a dyn Store,
    log: Log<'a>,
    start: Instant,
}

impl StepRecorder<'_> {
    fn sessions(self, sessions: u64, numbers: Range<u64>) -> Result<Vec<Vec<StepMark>>, TrialError> {
        if sessions == 1 {
            return Ok(vec![self.steps(0, numbers)?]);
        }
        thread::scope(|scope| {
            let spawn = |thread| {
                let numbers = numbers.clone();
                scope.spawn(move || self.steps(thread, numbers))
            };
            let threads: Vec<_> = (0..sessions).map(spawn).collect();
            let ended = threads.into_iter().map(|thread| match thread.join() {
                Ok(ended) => ended,
                Err(_) => Err(TrialError::harness("a session of the cut check panicked")),
            });
            ended.collect::<Vec<_>>().into_iter().collect()
        })
    }

    fn steps(self, thread: u64, numbers: Range<u64>) -> Result<Vec<StepMark>, TrialError> {
        let mut session = kill::session(self.store)?;
        let now_ns = || self.start.elapsed().as_nanos() as u64;
        let mut marks = Vec::with_capacity(numbers.clone().count());
        for number in numbers {
            let (before, began_ns) = (self.log.length()?, now_ns());
            steps::take(&mut *session, steps::session_step(thread, number), MOST_BYTES)
                .map_err(|error| WorkloadError::store(&format!("step {number} of the cut check"), &error))?;
            let ended_ns = now_ns();
            marks.push(StepMark { before, after: self.log.length()?, began_ns, ended_ns });
        }
        Ok(marks)
    }
}
