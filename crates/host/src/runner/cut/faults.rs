//! Faults of the disk: a store takes its steps while a request fails, or opens what a fault has left, and is checked against what it has
//! acknowledged. Place and time of a fault are drawn from the store's requests on a disk without one.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::time::Instant;

use storebench_disk::counts;
use storebench_disk::cut::{Cut, Log};
use storebench_disk::fault::Fault;
use storebench_disk::random::Random;
use storebench_disk::request::Kind;

use super::{CutChecker, LOOKING, NAME, STEPS, read_log};
use crate::location::image::TracePart;
use crate::runner::child_process::ProcessEnd;
use crate::stage::Stage;
use storebench_core::kernel::system;
use storebench_core::measure::extents;
use storebench_core::workload::cut::{CutMessage, FaultReport, StateReport};
use storebench_core::workload::spec::CutPart;
use storebench_model::error::{Error, Result};
use storebench_model::result::{Failure, FaultCheck, FaultKind, FaultOutcome, FaultResults, StateFinding};

const SOUND_LOG: &str = "fault-sound.log";
const LOG: &str = "fault.log";
const BALLAST: &str = "fault-ballast";
/// The bytes of the ballast that are allocated at once.
const LARGEST_BALLAST: u64 = 1 << 30;
const SMALLEST_BALLAST: u64 = 4 << 10;
/// Draws for each wanted fault, as a fault may strike nothing.
const TRIES: u64 = 3;
/// The most bytes that are left free on a full file system.
const NEARLY_FULL: u64 = 64 << 10;

/// The steps on a disk, and all that reached it.
struct FaultHistory {
    report: FaultReport,
    /// Why its process ended before all steps were taken.
    ended: Option<(FaultOutcome, String)>,
    log: Log,
    struck: u64,
}

/// A disk without a fault, from which faults are drawn.
struct SoundDisk {
    history: FaultHistory,
    /// Reads during mounting, opening and reading alike.
    reads: u64,
    /// The bytes of the disk that hold the store's files: start and number of each part.
    files: Vec<(u64, u64)>,
}

/// The outcome of a fault, or `None` if it did not strike.
type Struck = Option<(FaultOutcome, String)>;

impl CutChecker<'_> {
    /// Puts the store through the wanted number of faults of each kind.
    pub fn check_faults(&self, stage: &mut Stage<'_>, wanted: u64) -> Result<FaultCheck> {
        let start = Instant::now();
        let sound = match self.record_sound_disk(stage)? {
            Err(reason) => return Ok(FaultCheck::NotMade { reason }),
            Ok(sound) => sound,
        };
        let mut random = Random::seeded(self.seed);
        let mut faults = FaultResults::default();
        for kind in FaultKind::ALL {
            let mut struck = 0;
            for _ in 0..wanted * TRIES {
                if struck == wanted {
                    break;
                }
                let found = match draw(kind, &sound, &mut random) {
                    Some(DrawnFault::AtWork(fault)) => self.try_during_work(stage, Some(fault), None)?,
                    Some(DrawnFault::AtRest(fault)) => self.try_at_rest(stage, &sound, fault)?,
                    Some(DrawnFault::Full(left)) => self.try_during_work(stage, None, Some(left))?,
                    None => break,
                };
                if let Some((aftermath, message)) = found {
                    struck += 1;
                    faults.note(kind, aftermath, message);
                }
            }
        }
        faults.checked_ns = start.elapsed().as_nanos() as u64;
        Ok(FaultCheck::Made(faults))
    }

    /// Takes the steps on a disk without a fault, and counts the reads of all of it; or says why there are none.
    fn record_sound_disk(&self, stage: &mut Stage<'_>) -> Result<std::result::Result<SoundDisk, String>> {
        let (path, _) = stage.file(SOUND_LOG)?;
        let history = match self.run_steps(stage, &path, None, None)? {
            Ok(FaultHistory { ended: Some((_, message)), .. }) | Err(message) => return Ok(Err(message)),
            Ok(history) => history,
        };
        if let Some(why) = history.report.failed.iter().flatten().next() {
            return Ok(Err(format!("a step failed without any fault: {why}")));
        }
        let mut inner = stage.inner();
        let state = self.write_state(&mut inner, &whole_cut(&history.log))?;
        let (mut reads, mut files) = (0, Vec::new());
        let traced = TracePart::from_cut(&path, &state);
        let state_report = self.check_after(&mut inner, &history.report, traced, |disk, store| {
            reads = counts::read(disk).map_or(0, |counts| counts.requests.reads.requests);
            let extents = extents::extents_below(store).unwrap_or_default().into_iter();
            files = extents.map(|extent| (extent.at * 8, extent.bytes * 8)).collect();
        })?;
        inner.release()?;
        if state_report.finding != StateFinding::Held {
            let message = state_report.message;
            return Ok(Err(format!("its store did not hold without any fault: {message}")));
        }
        Ok(Ok(SoundDisk { history, reads, files }))
    }

    /// Takes steps while a fault strikes, or on a nearly full file system.
    fn try_during_work(
        &self,
        stage: &mut Stage<'_>,
        fault: Option<Fault>,
        free_bytes: Option<u64>,
    ) -> Result<Struck> {
        let (path, _) = stage.file(LOG)?;
        // Without a history the store was not open yet.
        let Ok(history) = self.run_steps(stage, &path, fault, free_bytes)? else { return Ok(None) };
        let failed = history.report.failed.iter().flatten().count() as u64;
        let is_full = free_bytes.is_some() && (history.report.left_bytes < NEARLY_FULL || failed > 0);
        if history.struck == 0 && !is_full && history.ended.is_none() {
            return Ok(None);
        }
        let mut inner = stage.inner();
        let state = self.write_state(&mut inner, &whole_cut(&history.log))?;
        let state_report =
            self.check_after(&mut inner, &history.report, TracePart::from_cut(&path, &state), |_, _| ())?;
        inner.release()?;
        let aftermath = match (state_report.finding, &history.ended) {
            (StateFinding::Held, Some((aftermath, _))) => *aftermath,
            (StateFinding::Held, None) if failed > 0 => FaultOutcome::Reported,
            (StateFinding::Held, None) => FaultOutcome::Unharmed,
            (finding, _) => classify_finding(finding, FaultOutcome::Refused),
        };
        Ok(Some((aftermath, format!("{}: {}", history.report.describe(), state_report.message))))
    }

    /// Opens the contents of a disk while a fault strikes.
    fn try_at_rest(&self, stage: &mut Stage<'_>, sound: &SoundDisk, fault: Fault) -> Result<Struck> {
        let path = stage.work().join(SOUND_LOG);
        let mut inner = stage.inner();
        let state = self.write_state(&mut inner, &whole_cut(&sound.history.log))?;
        let traced = TracePart { fault: Some(fault), ..TracePart::from_cut(&path, &state) };
        let mut struck = 0;
        let state_report = self.check_after(&mut inner, &sound.history.report, traced, |disk, _| {
            struck = counts::read(disk).ok().and_then(|counts| counts.struck).unwrap_or_default();
        })?;
        inner.release()?;
        let aftermath = classify_finding(state_report.finding, FaultOutcome::Reported);
        Ok((struck > 0).then_some((aftermath, state_report.message)))
    }

    /// Has a process take the steps on a disk that logs requests, and lets the kernel write the rest; or says why the store never opened.
    fn run_steps(
        &self,
        stage: &mut Stage<'_>,
        log: &Path,
        fault: Option<Fault>,
        free_bytes: Option<u64>,
    ) -> Result<std::result::Result<FaultHistory, String>> {
        let mut outer = stage.inner();
        let traced = TracePart { log: Some(log), fault, ..TracePart::default() };
        let disk = self.template.serve_traced(&mut outer, NAME, traced)?;
        let mut inner = outer.inner();
        let store = match self.template.mount_served_disk(&mut inner, &disk, NAME) {
            Ok(store) => store,
            Err(why) => return Ok(Err(why)),
        };
        if let Some(free_bytes) = free_bytes
            && let Err(error) = fill(&store, free_bytes)
        {
            return Ok(Err(format!("the file system can't be filled: {error}")));
        }
        let ended = self.run_process(CutPart::Endure { steps: STEPS }, (store, disk.clone()), LOOKING)?;
        // A file system that could not write to its disk is unmounted all the same.
        inner.release()?;
        drop(inner);
        let counts = counts::read(&disk).map_err(Error::io("asking", &disk))?;
        outer.release()?;
        let (report, ended) = match ended {
            (ProcessEnd::Badly { signal: Some(9), .. }, Ok(CutMessage::Endured(report)))
                if report.is_over =>
            {
                (report, None)
            }
            (
                ProcessEnd::Badly { reason: Failure::TimedOut, message, .. },
                Ok(CutMessage::Endured(report)),
            ) => (report, Some((FaultOutcome::Hung, message))),
            (ProcessEnd::Badly { message, .. }, Ok(CutMessage::Endured(report))) => {
                (report, Some((FaultOutcome::Crashed, message)))
            }
            (_, Ok(CutMessage::Failed(why))) => return Ok(Err(why)),
            (end, message) => return Ok(Err(format!("its process ended: {end:?}, {message:?}"))),
        };
        let log = read_log(log, counts.logged.unwrap_or_default())?;
        Ok(Ok(FaultHistory { report, ended, log, struck: counts.struck.unwrap_or_default() }))
    }

    /// Checks what the steps have left, on a traced disk, and shows `inspect_disk` the disk and the store's folder before they are removed.
    fn check_after(
        &self,
        stage: &mut Stage<'_>,
        report: &FaultReport,
        traced: TracePart<'_>,
        mut inspect_disk: impl FnMut(&Path, &Path),
    ) -> Result<StateReport> {
        let mut inner = stage.inner();
        let disk = self.template.serve_traced(&mut inner, NAME, traced)?;
        let store = match self.template.mount_served_disk(&mut inner, &disk, NAME) {
            Ok(store) => store,
            Err(why) => {
                inspect_disk(&disk, &disk);
                inner.release()?;
                return Ok(StateReport::new(StateFinding::FileSystem, why));
            }
        };
        let acknowledged = report.failed.iter().map(Option::is_none);
        // The last step may have been under way.
        let acknowledged = acknowledged.chain((!report.is_over).then_some(false)).collect();
        let ended =
            self.run_process(CutPart::LookAfter { acknowledged }, (store.clone(), disk.clone()), LOOKING)?;
        inspect_disk(&disk, &store);
        let state_report = self.read_report(ended)?;
        inner.release()?;
        Ok(state_report)
    }
}

fn whole_cut(log: &Log) -> Cut {
    Cut { at: log.entries.len(), lost: BTreeSet::new() }
}

/// Classifies a finding after a fault; `refused` if the store fails and says so.
fn classify_finding(finding: StateFinding, refused: FaultOutcome) -> FaultOutcome {
    match finding {
        StateFinding::Held => FaultOutcome::Unharmed,
        StateFinding::Lost
        | StateFinding::Hole
        | StateFinding::Resurrected
        | StateFinding::Torn
        | StateFinding::Wrong => FaultOutcome::Silent,
        StateFinding::Unsound => FaultOutcome::Reported,
        StateFinding::Refused | StateFinding::Unusable | StateFinding::NoSpace => refused,
        StateFinding::Hung => FaultOutcome::Hung,
        StateFinding::Crashed => FaultOutcome::Crashed,
        StateFinding::FileSystem => FaultOutcome::FileSystem,
    }
}

enum DrawnFault {
    /// During the store's steps.
    AtWork(Fault),
    /// While the store opens and reads.
    AtRest(Fault),
    /// The steps run on a file system with this many bytes left.
    Full(u64),
}

/// A fault of a kind; `None` if none can strike.
fn draw(kind: FaultKind, sound: &SoundDisk, random: &mut Random) -> Option<DrawnFault> {
    let report = &sound.history.report;
    let entries = &sound.history.log.entries;
    let (first_entries, later_entries) = entries.split_at((report.opened as usize).min(entries.len()));
    let mut at_work = |kind: Kind, lasts: bool, harms: bool| {
        let count = |entries: &[storebench_disk::log::Entry]| {
            entries.iter().filter(|entry| entry.request.kind == kind).count() as u64
        };
        let (opened, later) = (count(first_entries), count(later_entries));
        let after = opened + random.below(later.max(1));
        (later > 0).then_some(DrawnFault::AtWork(Fault::Fails { kind, after, lasts, harms }))
    };
    match kind {
        FaultKind::WriteOnce => at_work(Kind::Write, false, false),
        FaultKind::WriteForEver => at_work(Kind::Write, true, false),
        FaultKind::ShortWrite => at_work(Kind::Write, false, true),
        FaultKind::FlushOnce => at_work(Kind::Flush, false, true),
        FaultKind::FlushForEver => at_work(Kind::Flush, true, false),
        FaultKind::ReadOnce | FaultKind::ReadForEver => {
            let after = random.below(sound.reads.max(1));
            let lasts = kind == FaultKind::ReadForEver;
            let fault = Fault::Fails { kind: Kind::Read, after, lasts, harms: false };
            (sound.reads > 0).then_some(DrawnFault::AtRest(fault))
        }
        FaultKind::NoSpace => {
            let steps = report.taken_bytes.saturating_sub(report.opening_bytes);
            (steps > 0).then(|| DrawnFault::Full(report.opening_bytes + random.below(steps)))
        }
        FaultKind::BitFlip => {
            let bits: u64 = sound.files.iter().map(|(_, bits)| bits).sum();
            let mut nth = random.below(bits.max(1));
            let mut files = sound.files.iter();
            let bit = files.find_map(|(start, bits)| match nth.checked_sub(*bits) {
                Some(rest) => {
                    nth = rest;
                    None
                }
                None => Some(start + nth),
            });
            bit.map(|bit| DrawnFault::AtRest(Fault::Flips { bit }))
        }
    }
}

/// Fills the file system of a store's folder except for `left` bytes.
fn fill(store: &Path, free_bytes: u64) -> std::io::Result<()> {
    let ballast_path = store.parent().unwrap_or(store).join(BALLAST);
    let file = File::create_new(ballast_path)?;
    let (mut bytes, mut chunk) = (0, LARGEST_BALLAST);
    // A part is reserved by the file system.
    while chunk >= SMALLEST_BALLAST {
        match rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), bytes, chunk) {
            Ok(()) => bytes += chunk,
            Err(rustix::io::Errno::NOSPC) => chunk /= 2,
            Err(error) => return Err(error.into()),
        }
    }
    file.set_len(bytes.saturating_sub(free_bytes))?;
    system::sync_file_system(&file)
}
