//! Recording a history: the steps of each session, with the length of the disk's log before and after each.

use std::convert::Infallible;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::thread;
use std::time::Instant;

use storebench_model::store::Store;

use super::message::{CutMessage, RecordedHistory, StepMark};
use super::{open, required_log_length};
use crate::kernel::system;
use crate::workload::kill::{self, MOST_BYTES, steps};
use crate::workload::spec::{TrialContext, TrialError};
use crate::workload::step::TrialStep;
use crate::workload::workload_error::WorkloadError;
use crate::workload::{store_trial, worker_pool};

/// Records this number of steps in all, and ends.
pub(super) fn record(
    context: &TrialContext<'_>,
    count: u64,
    sessions: u64,
    is_control: bool,
    report: impl Fn(&CutMessage) -> Result<(), TrialError>,
) -> Result<Infallible, TrialError> {
    let disk = context.spec.disk.as_deref();
    let disk = disk.ok_or_else(|| TrialError::harness("no disk logs what is asked of it"))?;
    prepare(context, is_control)?;
    let log_at_start = required_log_length(disk)?;
    let store = open(context, is_control, TrialStep::Opening)?;
    let recorder = StepRecorder { store: &*store, disk, start: Instant::now() };
    let log_at_open = required_log_length(disk)?;
    let per_session = count.div_ceil(sessions);
    let mut marks_by_session = recorder.record_sessions(sessions, 0..per_session / 3)?;
    let mut log_at_settling = Vec::new();
    // The second time there are files to be changed in place.
    for numbers in [per_session / 3..per_session * 2 / 3, per_session * 2 / 3..per_session] {
        let log_before = required_log_length(disk)?;
        store.settle().map_err(WorkloadError::during("settling"))?;
        log_at_settling.push((log_before, required_log_length(disk)?));
        let more = recorder.record_sessions(sessions, numbers)?;
        marks_by_session.iter_mut().zip(more).for_each(|(marks, more)| marks.extend(more));
    }
    report(&CutMessage::Recorded(RecordedHistory {
        sessions: marks_by_session,
        began: log_at_start,
        opened: log_at_open,
        settling: log_at_settling,
    }))?;
    Err(kill::die())
}

/// Makes a server's files, as an administrator does long before: they are synced when it is opened.
pub(super) fn prepare(context: &TrialContext<'_>, is_control: bool) -> Result<(), TrialError> {
    let (def, _) = store_trial::find(context.stores, context.spec.cell.store())?;
    let Some(server) = def.server.filter(|_| !is_control) else { return Ok(()) };
    (server.prepare)(&context.spec.options(1)).map_err(store_trial::unsupported_or_failed)?;
    let folder = File::open(&context.spec.directory).map_err(TrialError::harness)?;
    system::sync_file_system(&folder).map_err(TrialError::harness)
}

#[derive(Clone, Copy)]
struct StepRecorder<'a> {
    store: &'a dyn Store,
    disk: &'a Path,
    start: Instant,
}

impl StepRecorder<'_> {
    fn record_sessions(self, sessions: u64, numbers: Range<u64>) -> Result<Vec<Vec<StepMark>>, TrialError> {
        if sessions == 1 {
            return Ok(vec![self.record_steps(0, numbers)?]);
        }
        thread::scope(|scope| {
            let spawn = |thread| {
                let numbers = numbers.clone();
                scope.spawn(move || self.record_steps(thread, numbers))
            };
            let threads: Vec<_> = (0..sessions).map(spawn).collect();
            let panicked = || Err(TrialError::harness("a session of the cut check panicked"));
            let results = threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| panicked()));
            results.collect::<Vec<_>>().into_iter().collect()
        })
    }

    fn record_steps(self, session_number: u64, numbers: Range<u64>) -> Result<Vec<StepMark>, TrialError> {
        let mut session = worker_pool::session(self.store)?;
        let now_ns = || self.start.elapsed().as_nanos() as u64;
        let mut marks = Vec::with_capacity(numbers.clone().count());
        for number in numbers {
            let (before, began_ns) = (required_log_length(self.disk)?, now_ns());
            steps::take(&mut *session, steps::session_step(session_number, number), MOST_BYTES)
                .map_err(|error| WorkloadError::store(&format!("step {number} of the cut check"), &error))?;
            let ended_ns = now_ns();
            marks.push(StepMark { before, after: required_log_length(self.disk)?, began_ns, ended_ns });
        }
        Ok(marks)
    }
}
