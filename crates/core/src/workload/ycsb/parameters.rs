//! The work of a trial, the time and room that it takes, and the reasons for which a cell can't be run.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::definition::{Definition, Kind, Span};
use super::law::Space as Records;
use super::name::LONGEST;
use crate::axis::file_system::FileSystem;
use crate::cell::{Axis, Cell, Rate};
use crate::measure::probe::Probe;
use crate::result::LeftOutReason;
use crate::store::StoreKind;
use crate::units::{Period, as_text};
use crate::words::words;
use crate::workload::aging;
use crate::workload::audit;
use crate::workload::batch::BATCH_BYTES;
use crate::workload::case::{Case, SpaceEstimate, TimeEstimate};
use crate::workload::parameter::Parameters;
use crate::workload::parameter::{self, AfterLoad};

/// What happens between rounds, besides measuring the store's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum BetweenRounds {
    /// Nothing: the store stays open, with its sessions.
    Nothing,
    /// The store is closed, measured, and opened again: each round is like one run of a program.
    Close,
}

words!(BetweenRounds, "{}: use nothing or close");
as_text!(BetweenRounds);

/// When a trial's requests end at the latest, if they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxTime(pub Option<Duration>);

impl fmt::Display for MaxTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("none"),
            Some(time) => Period(time).fmt(f),
        }
    }
}

impl FromStr for MaxTime {
    type Err = String;

    fn from_str(text: &str) -> Result<MaxTime, String> {
        match text {
            "none" => Ok(MaxTime(None)),
            text => text.parse::<parameter::Time<1>>().map(|time| MaxTime(Some(time.0))),
        }
    }
}

as_text!(MaxTime);

/// Seconds of starting a process, filling its buffers, opening, settling and closing a store.
const OVERHEAD_S: f64 = 0.15;
/// Seconds of closing and opening a store.
const REOPENING_S: f64 = 0.05;
/// Bytes of one thread's histograms of a round.
const HISTOGRAMS_BYTES: f64 = 2e6;
/// Choosing a record, making a value, calling an engine, checking.
const CALL_S: f64 = 8e-6;
/// A cell's disk space as a multiple of its values' bytes: log, tables and compaction at once.
const ROOM_FACTOR: f64 = 3.0;
/// Requests of a kind beyond its share that a thread may do.
const EXTRA_REQUESTS: u64 = 4;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct YcsbParameters {
    pub definition: Definition,
    /// Records that are loaded before the first request.
    pub loaded: u64,
    /// The most records that inserts may lead to, if time ends the trial.
    max_records: u64,
    pub operations: u64,
    /// How often they are sent.
    pub rounds: usize,
    pub between_rounds: BetweenRounds,
    /// The time limit of a round.
    pub time_limit: Option<Duration>,
    pub threads: u64,
    pub rate: Rate,
    pub batch: u64,
    pub after_load: AfterLoad,
    pub age: u32,
}

impl YcsbParameters {
    /// The values that a cell and its parameters give. Fails when they contradict one another.
    pub fn from_parameters(cell: &Cell, parameters: &Parameters) -> Result<YcsbParameters, String> {
        let properties = parameters.properties.clone().unwrap_or_default();
        let name = cell.text(Axis::WORKLOAD);
        let definition = Definition::from_name(name, &properties, cell.text(Axis::DISTRIBUTION))?;
        let records = cell.records();
        let first = definition.naming.first;
        let loaded = records.from.checked_sub(first).filter(|count| *count > 0);
        let loaded =
            loaded.ok_or_else(|| format!("insertstart = {first} leaves none of {} records", records.from))?;
        if let Some(count) = definition.insert_count.filter(|count| *count != loaded) {
            return Err(format!(
                "insertstart = {first} and insertcount = {count} are not all of {} records: the others would have to be loaded \
                 elsewhere",
                records.from
            ));
        }
        let duration = parameters.duration();
        let max_time = parameters.max_time.and_then(|MaxTime(max_time)| max_time);
        let operations = match duration {
            _ if definition.loads => loaded,
            Some(_) => u64::MAX / 2,
            None => parameters.operations(),
        };
        let rounds = parameters.rounds.map_or(1, |count| count.0 as usize);
        if definition.loads && rounds > 1 {
            return Err(format!(
                "the workload load fills an empty store: that can't be done in {rounds} rounds"
            ));
        }
        Ok(YcsbParameters {
            rounds,
            between_rounds: parameters
                .between_rounds
                .filter(|_| rounds > 1)
                .unwrap_or(BetweenRounds::Nothing),
            loaded: if definition.loads { 0 } else { loaded },
            max_records: records.to - first,
            definition,
            operations,
            time_limit: duration.into_iter().chain(max_time).min(),
            threads: cell.threads().into(),
            rate: cell.rate(),
            batch: parameters.batch(),
            after_load: parameters.after_load(),
            age: cell.age(),
        })
    }

    /// Requests of one thread in a round: thread counts differ by at most one.
    pub(crate) fn operations_of(&self, thread: u64) -> u64 {
        self.operations / self.threads + u64::from(thread < self.operations % self.threads)
    }

    pub fn space(&self) -> Records {
        Records { loaded: self.loaded, max_records: self.most_records() }
    }

    pub fn most_records(&self) -> u64 {
        let share = self.definition.share(Kind::Insert);
        if share == 0.0 {
            return self.loaded;
        }
        if self.definition.loads {
            return self.operations;
        }
        let inserts = self.operations as f64 * share + (EXTRA_REQUESTS * self.threads) as f64;
        let expected = self.loaded.saturating_add((inserts * self.rounds as f64) as u64);
        // Where only the time ends it, nobody knows how many there will be.
        if self.operations > u64::from(u32::MAX) { self.max_records.max(self.loaded + 1) } else { expected }
    }

    /// The mean length of a value in bytes.
    fn mean_value(&self) -> f64 {
        let Span { least, most, .. } = self.definition.field;
        let prefix_bytes = if self.definition.fields > 1 { 4.0 } else { 0.0 };
        self.definition.fields as f64 * ((least + most) as f64 / 2.0 + prefix_bytes)
    }

    fn largest_value(&self) -> f64 {
        self.definition.fields as f64 * (self.definition.field.most as f64 + 4.0)
    }

    fn bytes(&self) -> f64 {
        self.most_records() as f64 * self.mean_value()
    }

    fn mean_scan_length(&self) -> f64 {
        (self.definition.scan.least + self.definition.scan.most) as f64 / 2.0
    }
}

/// Why a cell can't be run, whatever the place.
pub fn reason(case: &Case<'_>) -> Option<LeftOutReason> {
    check(case).err()
}

fn check(case: &Case<'_>) -> Result<(), LeftOutReason> {
    let cell = case.cell;
    let (store, capabilities) = case.opens_for_threads()?;
    let work = YcsbParameters::from_parameters(cell, case.parameters)
        .map_err(|why| LeftOutReason::Contradiction { why })?;
    if work.definition.includes(Kind::Scan) && !capabilities.order {
        return Err(LeftOutReason::NoOrder { store: store.name.into() });
    }
    if work.between_rounds == BetweenRounds::Close && store.kind == StoreKind::Server {
        // It would lose its own count of syncs, to which a promise of `power` is held.
        let why = "is a server, which is not closed between rounds: say --between-rounds nothing";
        return Err(LeftOutReason::Contradiction { why: format!("{} {why}", store.name) });
    }
    if work.between_rounds == BetweenRounds::Close && capabilities.keeps && !capabilities.persists {
        return Err(LeftOutReason::LosesRounds { store: store.name.into() });
    }
    let tier = cell.guarantee().tier().unwrap_or(store.shipped);
    let replaces_whole =
        capabilities.replaces_whole || store.offer(tier).is_some_and(|offer| offer.atomic_replace);
    if cell.threads() > 1 && work.definition.writes() && !replaces_whole {
        return Err(LeftOutReason::TornReads { store: store.name.into() });
    }
    case.holds(work.bytes())
}

/// A figure of the cell's work; `fallback` for contradictory parameters, as such a cell is left out.
fn estimate_work<T>(case: &Case<'_>, fallback: T, estimate: impl FnOnce(&YcsbParameters) -> T) -> T {
    YcsbParameters::from_parameters(case.cell, case.parameters).map_or(fallback, |work| estimate(&work))
}

/// Bytes of disk.
pub fn space(case: &Case<'_>) -> SpaceEstimate {
    estimate_work(case, SpaceEstimate { peak_bytes: 0.0, room_bytes: 0.0 }, |work| {
        let file_bytes = FileSystem::file_bytes(case.cell.location_name());
        let blocks =
            if case.kind() == StoreKind::Folder { work.most_records() as f64 * file_bytes } else { 0.0 };
        let bytes =
            (work.bytes() + (work.most_records() * LONGEST as u64) as f64) * aging::space_factor(work.age);
        let peak_bytes = (bytes * 1.5).max(blocks) + f64::from(1 << 20);
        SpaceEstimate { peak_bytes, room_bytes: (bytes * ROOM_FACTOR).max(peak_bytes) }
    })
}

/// Bytes of values at the fullest.
pub fn held_bytes(case: &Case<'_>) -> f64 {
    estimate_work(case, 0.0, YcsbParameters::bytes)
}

/// Bytes of memory: versions, the order of keys, values, and all records where the store has nowhere else to keep them.
pub fn memory(case: &Case<'_>) -> f64 {
    estimate_work(case, 0.0, |work| {
        let definition = &work.definition;
        let slots = if definition.is_partial() { definition.fields } else { 1 };
        let shared = if work.threads > 1 { 8 } else { 0 };
        // Sorted, each key is there for a while, too.
        let ordered = if definition.includes(Kind::Scan) { 8 + 40 } else { 0 };
        let bytes_per_record = (slots * 4 + shared + ordered) as f64;
        let scanned = if definition.includes(Kind::Scan) { definition.scan.most as f64 } else { 0.0 };
        let bytes_per_thread = (3.0 + scanned) * work.largest_value() + HISTOGRAMS_BYTES * work.rounds as f64;
        let threads = bytes_per_thread * work.threads as f64;
        let batch = (work.largest_value() * work.batch as f64).min(BATCH_BYTES as f64 + work.largest_value());
        let store_bytes = case.kept_in_memory(work.bytes());
        work.most_records() as f64 * bytes_per_record + threads + batch + store_bytes
    })
}

/// Seconds.
pub fn time(case: &Case<'_>, probe: &Probe) -> TimeEstimate {
    estimate_work(case, TimeEstimate::with_audit(OVERHEAD_S, 0.0), |work| {
        let wait_s = case.syncs() * probe.sync_ns as f64 / 1e9;
        let is_folder = case.kind() == StoreKind::Folder;
        let per_file_s = if is_folder { probe.file_creation_ns as f64 / 1e9 } else { 0.0 };
        let record_s = CALL_S + per_file_s + work.mean_value() / probe.write_bytes_per_s;
        let load_s = work.loaded as f64 * record_s + (work.loaded as f64 / work.batch as f64).ceil() * wait_s;
        let write_s = record_s + wait_s;
        let share = |kind| work.definition.share(kind);
        let call_s = share(Kind::Read) * CALL_S
            + share(Kind::Scan) * CALL_S * (1.0 + work.mean_scan_length() / 10.0)
            + (share(Kind::Update) + share(Kind::Insert)) * (CALL_S + write_s)
            + share(Kind::ReadModifyWrite) * (2.0 * CALL_S + write_s);
        let request_s = match work.rate {
            Rate::Closed => call_s,
            Rate::PerSecond(rate) => call_s.max(1.0 / f64::from(rate)),
        };
        let all_requests_s = work.operations as f64 * request_s;
        let round_s =
            work.time_limit.map_or(all_requests_s, |time_limit| all_requests_s.min(time_limit.as_secs_f64()));
        let reopening_s = if work.between_rounds == BetweenRounds::Close { REOPENING_S } else { 0.0 };
        let rounds = work.rounds as f64;
        let run_s = rounds * (round_s + reopening_s);
        let audit_s = audit::seconds(work.most_records(), work.mean_value(), CALL_S, 0.0);
        let load_s = load_s + f64::from(work.age) * work.loaded as f64 * (CALL_S + write_s);
        let ended = work
            .time_limit
            .map_or([0.0; 2], |time_limit| [all_requests_s, time_limit.as_secs_f64()].map(|s| s * rounds));
        TimeEstimate { ended, ..TimeEstimate::with_audit(OVERHEAD_S + load_s + run_s + audit_s, audit_s) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Capabilities, StoreDef, Threads};
    use crate::stores::{MEMORY, NULL};

    fn cell(workload: &str, values: &[(Axis, &str)]) -> Cell {
        let defaults = [(Axis::STORE, "memory"), (Axis::WORKLOAD, workload), (Axis::RECORDS, "1000")];
        let axes = defaults.iter().chain(values);
        axes.fold(Cell::default(), |cell, (axis, text)| cell.with(*axis, axis.read(text).unwrap()))
    }

    fn parameters(values: &[(&str, &str)]) -> Parameters {
        values
            .iter()
            .fold(Parameters::default(), |parameters, (name, text)| parameters.with(name, text).unwrap())
    }

    #[test]
    fn records_and_requests_are_counted() {
        let work = |workload, values: &[(&str, &str)]| {
            YcsbParameters::from_parameters(&cell(workload, &[(Axis::THREADS, "3")]), &parameters(values))
                .unwrap()
        };
        let inserts = work("D", &[("operations", "1000")]);
        assert_eq!(
            (inserts.loaded, inserts.operations, inserts.most_records()),
            (1000, 1000, 1000 + 50 + 12)
        );
        assert_eq!((0..3).map(|thread| inserts.operations_of(thread)).collect::<Vec<_>>(), [334, 333, 333]);
        assert_eq!(work("A", &[]).most_records(), 1000);
        let load = work("load", &[("operations", "7")]);
        assert_eq!((load.loaded, load.operations, load.most_records()), (0, 1000, 1000));
        let timed = work("D", &[("duration", "2s"), ("max_time", "1s")]);
        assert_eq!((timed.time_limit, timed.most_records()), (Some(Duration::from_secs(1)), 5000));
        let uncapped = work("A", &[("operations", "10"), ("max_time", "none")]);
        assert_eq!(uncapped.time_limit, None);
        let capped = work("A", &[("operations", "10"), ("max_time", "1s")]);
        assert_eq!((capped.time_limit, capped.operations), (Some(Duration::from_secs(1)), 10));
        let rounds = work("D", &[("operations", "1000"), ("rounds", "3"), ("between_rounds", "close")]);
        assert_eq!((rounds.operations, rounds.most_records()), (1000, 1000 + 3 * (50 + 12)));
        assert_eq!((rounds.rounds, rounds.between_rounds), (3, BetweenRounds::Close));
        assert_eq!(
            work("A", &[("between_rounds", "close")]).between_rounds,
            BetweenRounds::Nothing,
            "there is one round"
        );
        let partly_loaded = work("C", &[("properties", "insertstart=400,insertcount=600")]);
        assert_eq!((partly_loaded.loaded, partly_loaded.definition.naming.first), (600, 400));
    }

    #[test]
    fn what_can_not_be_is_left_out_with_its_reason() {
        let reason = |cell: Cell, values: &[(&str, &str)], stores: &[StoreDef]| {
            let parameters = parameters(values);
            super::reason(&Case::with_defaults(&cell, &parameters, stores, 1 << 20))
        };
        let unordered =
            StoreDef { capabilities: Capabilities { order: false, ..MEMORY.capabilities }, ..MEMORY };
        let single_session = StoreDef {
            capabilities: Capabilities { threads: Threads::One, ..MEMORY.capabilities },
            ..MEMORY
        };
        assert!(matches!(reason(cell("A", &[]), &[], &[NULL]), Some(LeftOutReason::UnknownStore { .. })));
        assert_eq!(reason(cell("A", &[]), &[("properties", "fieldcount=1")], &[MEMORY]), None);
        assert!(matches!(
            reason(cell("A", &[]), &[("properties", "fieldcount=99")], &[MEMORY]),
            Some(LeftOutReason::TooLarge { .. })
        ));
        assert_eq!(
            reason(cell("E", &[]), &[], &[unordered]),
            Some(LeftOutReason::NoOrder { store: "memory".into() })
        );
        let closed = reason(
            cell("C", &[]),
            &[("rounds", "2"), ("between_rounds", "close"), ("properties", "fieldcount=1")],
            &[MEMORY],
        );
        assert_eq!(closed, Some(LeftOutReason::LosesRounds { store: "memory".into() }));
        let loaded = reason(cell("load", &[]), &[("rounds", "2")], &[MEMORY]).unwrap();
        assert!(loaded.to_string().contains("in 2 rounds"), "{loaded}");
        let two = cell("A", &[(Axis::THREADS, "2")]);
        assert_eq!(
            reason(two, &[], &[single_session]),
            Some(LeftOutReason::OneSession { store: "memory".into(), threads: 2 })
        );
        for (properties, expected) in [
            ("insertstart=1000", "leaves none of 1000 records"),
            ("insertstart=10,insertcount=20", "not all of 1000 records"),
            ("readproportion=0,updateproportion=0", "all proportions are 0"),
        ] {
            let why = reason(cell("A", &[]), &[("properties", properties)], &[MEMORY]).unwrap();
            assert!(why.to_string().contains(expected), "{why}");
        }
    }

    #[test]
    fn bytes_that_are_held_follow_from_fields_and_records() {
        let (cell, parameters) = (cell("C", &[]), Parameters::default());
        let case = Case::with_defaults(&cell, &parameters, &[MEMORY], 1 << 20);
        assert_eq!(case.kept_in_memory(held_bytes(&case)), 1000.0 * 10.0 * 104.0);
    }

    #[test]
    fn more_work_takes_longer_and_more_memory() {
        let probe = Probe { file_creation_ns: 30_000, sync_ns: 1_000_000, write_bytes_per_s: 1e9 };
        let estimate = |cell: Cell, values: &[(&str, &str)]| {
            let parameters = parameters(values);
            let case = Case::with_defaults(&cell, &parameters, &[MEMORY], 1 << 30);
            (time(&case, &probe).trial_s, memory(&case))
        };
        let reads = estimate(cell("C", &[]), &[]);
        assert!(estimate(cell("U", &[(Axis::GUARANTEE, "power")]), &[]).0 > reads.0 + 0.9);
        assert!(estimate(cell("C", &[(Axis::RATE, "10/s")]), &[]).0 > 100.0);
        assert!(estimate(cell("C", &[(Axis::RATE, "10/s")]), &[("max_time", "5s")]).0 < reads.0 + 5.1);
        let rounds = estimate(cell("C", &[(Axis::RATE, "10/s")]), &[("rounds", "5")]);
        assert!(rounds.0 > 500.0 && rounds.1 > reads.1);
        assert!(
            estimate(cell("E", &[]), &[]).1 > reads.1
                && estimate(cell("A", &[]), &[("properties", "fieldcount=1")]).1 < reads.1
        );
    }
}
