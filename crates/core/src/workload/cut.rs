//! The cut check, in the processes that it runs: one writes to a store on a disk that logs all that is asked of it, and each of
//! the others opens the store as some power cut would have left it. The steps are those of the kill check.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use storebench_disk::counts;

use super::kill::steps::{self, BATCH_RECORDS, CYCLE, record_key, record_value, step};
use super::kill::{MOST_BYTES, open, session};
use crate::result::Finding;
use crate::store::{Batch, Session, Store};
use crate::workload::on_store;
use crate::workload::spec::{Asked, CutPart, Ended};
use crate::workload::step::Step;
use crate::workload::stop::Stop;

/// A step that was acknowledged: the entries of the disk's log just before and just after it, and when it was, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Entries before it.
    pub before: u64,
    /// Entries after it.
    pub after: u64,
    /// Since the first step began.
    pub at_ns: u64,
}

/// The report of such a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutTold {
    /// Its steps.
    Recorded(Vec<Mark>),
    /// The finding, the acknowledged steps that are lost, and a sentence.
    Found {
        /// The finding.
        finding: Finding,
        /// Acknowledged steps of which nothing is there, where all before them are.
        lost: u64,
        /// The same in words.
        message: String,
    },
    /// It could not do its part.
    Failed(String),
}

/// Does a part, and tells what came of it. Whoever records does not return: its store must not be closed.
///
/// # Errors
/// When it could not be told.
pub fn run(
    asked: &Asked<'_>,
    part: CutPart,
    tell: impl Fn(&CutTold) -> Result<(), Ended>,
) -> Result<(), Ended> {
    let failed = |ended: Ended| match ended {
        Ended::Failed(stop) => CutTold::Failed(stop.message),
        Ended::Unsupported(message) => CutTold::Failed(message),
    };
    match part {
        CutPart::Record { steps } => match record(asked, steps, &tell) {
            Ok(never) => match never {},
            Err(ended) => tell(&failed(ended)),
        },
        CutPart::Look { acknowledged, begun } => {
            tell(&look(asked, acknowledged, begun).unwrap_or_else(failed))
        }
    }
}

/// Records a history, and is gone.
fn record(
    asked: &Asked<'_>,
    count: u64,
    tell: impl Fn(&CutTold) -> Result<(), Ended>,
) -> Result<std::convert::Infallible, Ended> {
    let disk =
        asked.spec.disk.as_deref().ok_or_else(|| Ended::harness("no disk logs what is asked of it"))?;
    let store = open(asked, Step::Opening)?;
    let mut session = session(&*store)?;
    let start = Instant::now();
    let mut marks = Vec::with_capacity(count as usize);
    for number in 0..count {
        let before = logged(disk)?;
        steps::take(&mut *session, number, MOST_BYTES)
            .map_err(|error| Stop::store(&format!("step {number} of the cut check"), &error))?;
        let at_ns = start.elapsed().as_nanos() as u64;
        marks.push(Mark { before, after: logged(disk)?, at_ns });
    }
    tell(&CutTold::Recorded(marks))?;
    let own = rustix::process::getpid();
    let killed = rustix::process::kill_process(own, rustix::process::Signal::KILL);
    Err(Ended::harness(format!("it can't be killed: {killed:?}")))
}

/// The entries of a disk's log by now.
fn logged(disk: &Path) -> Result<u64, Ended> {
    let counts = counts::read(disk).map_err(|error| Ended::harness(format!("asking the disk: {error}")))?;
    counts.logged.ok_or_else(|| Ended::harness("the disk keeps no log"))
}

/// The bounds of what a state may hold, and what it held.
struct Held {
    /// Whether the first so many steps explain what was found, for each number of them.
    explains: Vec<bool>,
    /// A record with a value that it never had.
    wrong: Option<String>,
}

fn look(asked: &Asked<'_>, acknowledged: u64, begun: u64) -> Result<CutTold, Ended> {
    let found = |finding: Finding, lost: u64, message: String| Ok(CutTold::Found { finding, lost, message });
    let (def, _) = on_store::find(asked.stores, asked.spec.cell.store())?;
    let store = match open(asked, Step::Reopening) {
        Ok(store) => store,
        Err(Ended::Failed(stop)) => return found(Finding::Refused, 0, stop.message),
        Err(unsupported) => return Err(unsupported),
    };
    let is_atomic = def.capabilities.batch == Batch::Atomic;
    let held = session(&*store).and_then(|mut session| read(&mut *session, begun, is_atomic));
    let held = match held {
        Ok(held) => held,
        Err(stop) => return found(Finding::Unusable, 0, stop.message),
    };
    if let Some(wrong) = held.wrong {
        return found(Finding::Wrong, 0, wrong);
    }
    let Some(steps) = held.explains.iter().rposition(|explains| *explains).map(|steps| steps as u64) else {
        let message =
            format!("no number of first steps explains what is there; {acknowledged} were acknowledged");
        return found(Finding::Hole, 0, message);
    };
    if let Err(why) = works_on(asked, store, begun) {
        return found(Finding::Unusable, 0, why);
    }
    match acknowledged.saturating_sub(steps) {
        0 => found(Finding::Held, 0, String::new()),
        lost => {
            let message = format!("the last {lost} of {acknowledged} acknowledged steps are lost");
            found(Finding::Lost, lost, message)
        }
    }
}

/// The steps that wrote a record, each with whether it left a value.
fn history(begun: u64) -> BTreeMap<u64, Vec<(u64, bool)>> {
    let mut all: BTreeMap<u64, Vec<(u64, bool)>> = BTreeMap::new();
    for number in 0..begun {
        let step = step(number);
        let leaves = !matches!(step, steps::Step::Remove(_));
        step.records().for_each(|record| all.entry(record).or_default().push((number, leaves)));
    }
    all
}

/// Reads all records that any step touched.
fn read(session: &mut dyn Session, begun: u64, is_atomic: bool) -> Result<Held, Stop> {
    let mut explains = vec![true; begun as usize + 1];
    let mut wrong = None;
    for (record, steps) in history(begun) {
        let key = record_key(record);
        let mut value = None;
        session
            .get(key.as_bytes(), &mut |found| value = Some(found.to_vec()))
            .map_err(|error| Stop::store(&format!("reading the record {key}"), &error))?;
        let is_left_by = |step: Option<&(u64, bool)>| match step {
            Some((number, true)) => value.as_deref() == Some(&*record_value(record, *number, MOST_BYTES)),
            _ => value.is_none(),
        };
        let fits: Vec<bool> = (0..=begun)
            .map(|taken| is_left_by(steps.iter().take_while(|(number, _)| *number < taken).last()))
            .collect();
        for (taken, explains) in explains.iter_mut().enumerate() {
            // Of a batch that is not atomic any part may be there once it was begun.
            let in_part = !is_atomic && matches!(step(taken as u64), steps::Step::Batch(_));
            *explains &= fits[taken] || (in_part && fits.get(taken + 1) == Some(&true));
        }
        if !fits.contains(&true) {
            let size = value.as_ref().map_or(0, Vec::len);
            wrong.get_or_insert_with(|| format!("the record {key} has {size} bytes that it never had"));
        }
    }
    Ok(Held { explains, wrong })
}

/// Whether a store takes a new record, closes, opens again, and has it; else why not.
fn works_on(asked: &Asked<'_>, store: Box<dyn Store>, begun: u64) -> Result<(), String> {
    // Of a step that nobody took.
    let record = (begun + CYCLE) * BATCH_RECORDS;
    let (key, value) = (record_key(record), record_value(record, begun, MOST_BYTES));
    let told = |what: &str, error: &dyn std::fmt::Display| format!("{what} after the cut: {error}");
    let before = store.count().map_err(|error| told("counting", &error))?;
    {
        let mut session = store.session().map_err(|error| told("opening a session", &error))?;
        session.insert(key.as_bytes(), &value).map_err(|error| told("inserting", &error))?;
    }
    store.close().map_err(|error| told("closing", &error))?;
    let store = open(asked, Step::Reopening).map_err(|ended| match ended {
        Ended::Failed(stop) => format!("after the cut and a new record: {}", stop.message),
        Ended::Unsupported(message) => message,
    })?;
    let mut is_there = false;
    {
        let mut session = store.session().map_err(|error| told("opening a session", &error))?;
        session
            .get(key.as_bytes(), &mut |found| is_there = found == value)
            .map_err(|error| told("reading a new record", &error))?;
    }
    let after = store.count().map_err(|error| told("counting", &error))?;
    store.close().map_err(|error| told("closing", &error))?;
    match is_there && after == before + 1 {
        true => Ok(()),
        false => Err(format!(
            "a record that was inserted after the cut is not there: {before} records before, {after} after"
        )),
    }
}
