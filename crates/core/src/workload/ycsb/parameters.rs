//! The work of a trial, the time and room that it takes, and the reasons for which a cell can't be run.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use storebench_model::axis::file_system::FileSystem;
use storebench_model::cell::{Axis, Cell, Rate};
use storebench_model::result::LeftOutReason;
use storebench_model::store::StoreKind;
use storebench_model::units::{Period, as_text};
use storebench_model::words::words;

use super::definition::{Definition, Kind, LengthRange};
use super::record_key::MAX_KEY_BYTES;
use crate::measure::probe::Probe;
use crate::workload::batch::BATCH_BYTES;
use crate::workload::case::{Case, SpaceEstimate, TimeEstimate};
use crate::workload::parameter::{self, AfterLoad, Parameters};
use crate::workload::{aging, audit};

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
        let loaded = records.from.saturating_sub(first);
        if loaded == 0 {
            return Err(format!("insertstart = {first} leaves none of {} records", records.from));
        }
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
        let between_rounds = parameters.between_rounds.filter(|_| rounds > 1);
        Ok(YcsbParameters {
            rounds,
            between_rounds: between_rounds.unwrap_or(BetweenRounds::Nothing),
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
        let LengthRange { least, most, .. } = self.definition.field;
        let prefix_bytes = if self.definition.fields > 1 { 4.0 } else { 0.0 };
        self.definition.fields as f64 * ((least + most) as f64 / 2.0 + prefix_bytes)
    }

    fn bytes(&self) -> f64 {
        self.most_records() as f64 * self.mean_value()
    }
}

/// Whether a cell can be run, whatever the place.
pub fn check(case: &Case<'_>) -> Result<(), LeftOutReason> {
    let cell = case.cell;
    let (store, capabilities) = case.store_for_threads()?;
    let work = YcsbParameters::from_parameters(cell, case.parameters)
        .map_err(|why| LeftOutReason::Contradiction { why })?;
    if work.definition.includes(Kind::Scan) && !capabilities.order {
        return Err(LeftOutReason::NoOrder { store: store.name.into() });
    }
    if work.between_rounds == BetweenRounds::Close && store.kind == StoreKind::Server {
        // It would lose its own count of syncs, to which the guarantee `power` is held.
        let why = "is a server, which is not closed between rounds: say --between-rounds nothing";
        return Err(LeftOutReason::Contradiction { why: format!("{} {why}", store.name) });
    }
    if work.between_rounds == BetweenRounds::Close && capabilities.keeps && !capabilities.persists {
        return Err(LeftOutReason::LosesRounds { store: store.name.into() });
    }
    let guarantee = cell.guarantee().tier().unwrap_or(store.shipped);
    let replaces_whole =
        capabilities.replaces_whole || store.offer(guarantee).is_some_and(|offer| offer.atomic_replace);
    if cell.threads() > 1 && work.definition.writes() && !replaces_whole {
        return Err(LeftOutReason::TornReads { store: store.name.into() });
    }
    case.check_size(work.bytes())
}

/// A figure of the cell's work; `fallback` for contradictory parameters, as such a cell is left out.
fn estimate_work<T>(case: &Case<'_>, fallback: T, estimate: impl FnOnce(&YcsbParameters) -> T) -> T {
    YcsbParameters::from_parameters(case.cell, case.parameters).map_or(fallback, |work| estimate(&work))
}

/// Bytes of disk.
pub fn space(case: &Case<'_>) -> SpaceEstimate {
    estimate_work(case, SpaceEstimate { peak_bytes: 0.0, required_bytes: 0.0 }, |work| {
        let file_bytes = FileSystem::file_bytes(case.cell.location_name());
        let blocks =
            if case.kind() == StoreKind::Folder { work.most_records() as f64 * file_bytes } else { 0.0 };
        let bytes = (work.bytes() + (work.most_records() * MAX_KEY_BYTES as u64) as f64)
            * aging::space_factor(work.age);
        let peak_bytes = (bytes * 1.5).max(blocks) + f64::from(1 << 20);
        SpaceEstimate { peak_bytes, required_bytes: (bytes * ROOM_FACTOR).max(peak_bytes) }
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
        let largest_value = definition.fields as f64 * (definition.field.most as f64 + 4.0);
        let bytes_per_thread = (3.0 + scanned) * largest_value + HISTOGRAMS_BYTES * work.rounds as f64;
        let threads = bytes_per_thread * work.threads as f64;
        let batch = (largest_value * work.batch as f64).min(BATCH_BYTES as f64 + largest_value);
        let store_bytes = case.bytes_in_memory(work.bytes());
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
        let LengthRange { least, most, .. } = work.definition.scan;
        let mean_scan_length = (least + most) as f64 / 2.0;
        let call_s = share(Kind::Read) * CALL_S
            + share(Kind::Scan) * CALL_S * (1.0 + mean_scan_length / 10.0)
            + (share(Kind::Update) + share(Kind::Insert)) * (CALL_S + write_s)
            + share(Kind::ReadModifyWrite) * (2.0 * CALL_S + write_s);
        let request_s = match work.rate {
            Rate::Closed => call_s,
            Rate::PerSecond(rate) => call_s.max(1.0 / f64::from(rate)),
        };
        let requests_s = work.operations as f64 * request_s;
        let limit_s = work.time_limit.map(|time_limit| time_limit.as_secs_f64());
        let round_s = limit_s.map_or(requests_s, |limit_s| requests_s.min(limit_s));
        let reopening_s = if work.between_rounds == BetweenRounds::Close { REOPENING_S } else { 0.0 };
        let rounds = work.rounds as f64;
        let run_s = rounds * (round_s + reopening_s);
        let audit_s = audit::seconds(work.most_records(), work.mean_value(), CALL_S, 0.0);
        let load_s = load_s + f64::from(work.age) * work.loaded as f64 * (CALL_S + write_s);
        let time_limited_s = limit_s.map_or([0.0; 2], |limit_s| [requests_s, limit_s].map(|s| s * rounds));
        TimeEstimate {
            time_limited_s,
            ..TimeEstimate::with_audit(OVERHEAD_S + load_s + run_s + audit_s, audit_s)
        }
    })
}

#[cfg(test)]
mod tests {
    use storebench_model::store::{Capabilities, StoreDef, Threads};
    use storebench_model::stores::{MEMORY, NULL};

    use super::*;

    fn cell(workload: &str, values: &[(Axis, &str)]) -> Cell {
        let defaults = [(Axis::STORE, "memory"), (Axis::WORKLOAD, workload), (Axis::RECORDS, "1000")];
        let axes = defaults.iter().chain(values);
        axes.fold(Cell::default(), |cell, (axis, text)| cell.with(*axis, axis.read(text).unwrap()))
    }

    fn parameters(values: &[(&str, &str)]) -> Parameters {
        let mut parameters = Parameters::default();
        values.iter().for_each(|(name, text)| parameters.set(name, text).unwrap());
        parameters
    }

    #[test]
    fn records_and_requests_are_counted() {
        let work = |workload, values: &[(&str, &str)]| {
            let cell = cell(workload, &[(Axis::THREADS, "3")]);
            YcsbParameters::from_parameters(&cell, &parameters(values)).unwrap()
        };
        let counts = |work: &YcsbParameters| (work.loaded, work.operations, work.most_records());
        let inserts = work("D", &[("operations", "1000")]);
        assert_eq!(counts(&inserts), (1000, 1000, 1000 + 50 + 12));
        assert_eq!([0, 1, 2].map(|thread| inserts.operations_of(thread)), [334, 333, 333]);
        assert_eq!(work("A", &[]).most_records(), 1000);
        assert_eq!(counts(&work("load", &[("operations", "7")])), (0, 1000, 1000));
        let timed = work("D", &[("duration", "2s"), ("max_time", "1s")]);
        assert_eq!((timed.time_limit, timed.most_records()), (Some(Duration::from_secs(1)), 5000));
        assert_eq!(work("A", &[("operations", "10"), ("max_time", "none")]).time_limit, None);
        let capped = work("A", &[("operations", "10"), ("max_time", "1s")]);
        assert_eq!((capped.time_limit, capped.operations), (Some(Duration::from_secs(1)), 10));
        let rounds = work("D", &[("operations", "1000"), ("rounds", "3"), ("between_rounds", "close")]);
        assert_eq!(counts(&rounds), (1000, 1000, 1000 + 3 * (50 + 12)));
        assert_eq!((rounds.rounds, rounds.between_rounds), (3, BetweenRounds::Close));
        let one_round = work("A", &[("between_rounds", "close")]);
        assert_eq!(one_round.between_rounds, BetweenRounds::Nothing);
        let partly_loaded = work("C", &[("properties", "insertstart=400,insertcount=600")]);
        assert_eq!((partly_loaded.loaded, partly_loaded.definition.naming.first), (600, 400));
    }

    #[test]
    fn what_can_not_be_is_left_out_with_its_reason() {
        let reason = |cell: Cell, values: &[(&str, &str)], store: StoreDef| {
            check(&Case::with_defaults(&cell, &parameters(values), &[store], 1 << 20)).err()
        };
        let with = |capabilities| StoreDef { capabilities, ..MEMORY };
        let unordered = with(Capabilities { order: false, ..MEMORY.capabilities });
        let single_session = with(Capabilities { threads: Threads::One, ..MEMORY.capabilities });
        let store = || "memory".to_owned();
        let unknown = reason(cell("A", &[]), &[], NULL);
        assert!(matches!(unknown, Some(LeftOutReason::UnknownStore { .. })));
        assert_eq!(reason(cell("A", &[]), &[("properties", "fieldcount=1")], MEMORY), None);
        let large = reason(cell("A", &[]), &[("properties", "fieldcount=99")], MEMORY);
        assert!(matches!(large, Some(LeftOutReason::TooLarge { .. })));
        let no_order = reason(cell("E", &[]), &[], unordered);
        assert_eq!(no_order, Some(LeftOutReason::NoOrder { store: store() }));
        let closing = [("rounds", "2"), ("between_rounds", "close"), ("properties", "fieldcount=1")];
        let closed = reason(cell("C", &[]), &closing, MEMORY);
        assert_eq!(closed, Some(LeftOutReason::LosesRounds { store: store() }));
        let two = reason(cell("A", &[(Axis::THREADS, "2")]), &[], single_session);
        assert_eq!(two, Some(LeftOutReason::OneSession { store: store(), threads: 2 }));
        for (workload, values, expected) in [
            ("load", ("rounds", "2"), "in 2 rounds"),
            ("A", ("properties", "insertstart=1000"), "leaves none of 1000 records"),
            ("A", ("properties", "insertstart=10,insertcount=20"), "not all of 1000 records"),
            ("A", ("properties", "readproportion=0,updateproportion=0"), "all proportions are 0"),
        ] {
            let why = reason(cell(workload, &[]), &[values], MEMORY).unwrap();
            assert!(why.to_string().contains(expected), "{why}");
        }
    }

    #[test]
    fn bytes_that_are_held_follow_from_fields_and_records() {
        let (cell, parameters) = (cell("C", &[]), Parameters::default());
        let case = Case::with_defaults(&cell, &parameters, &[MEMORY], 1 << 20);
        assert_eq!(case.bytes_in_memory(held_bytes(&case)), 1000.0 * 10.0 * 104.0);
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
        assert!(estimate(cell("E", &[]), &[]).1 > reads.1);
        assert!(estimate(cell("A", &[]), &[("properties", "fieldcount=1")]).1 < reads.1);
    }
}
