//! The only thread's work: step after step, each call timed from just before it to just after it. Keys and values are made before,
//! and what was read is checked after.

use super::parameters::{LifeParameters, TENTHS};
use super::set::{Set, Step};
use crate::cell::Rate;
use crate::record::{KEY_BYTES, Key, Records};
use crate::result::Written;
use crate::store::{Session, StoreError};
use crate::workload::batch::touched;
use crate::workload::crew;
use crate::workload::elapsed::Part;
use crate::workload::gauge::Gauge;
use crate::workload::line::Approach;
use crate::workload::quanta::{in_quanta, largest_quantum};
use crate::workload::recorder::Recorder;
use crate::workload::stop::Stop;

/// The kinds of calls, by their places in a recorder.
pub const KINDS: [&str; 4] = ["update", "insert", "remove", "scan"];
const UPDATE: usize = 0;
const INSERT: usize = 1;
const REMOVE: usize = 2;
const SCAN: usize = 3;

/// The thread's work, with all of its memory.
pub struct Lane<'a> {
    /// The set, as it is after the steps so far.
    pub set: Set,
    records: &'a Records,
    gauge: &'a Gauge<'a>,
    steps: u64,
    /// Whether the oldest record is looked for before it is removed.
    scans: bool,
    value: Vec<u8>,
    recorder: Recorder<{ KINDS.len() }>,
    /// The measurements of the tenths that are over.
    pub measured: Vec<Recorder<{ KINDS.len() }>>,
    /// For the tenths to come.
    spare: Vec<Recorder<{ KINDS.len() }>>,
    /// The records that were handed to the store.
    pub written: Written,
    /// Writes that changed what the store holds.
    pub writes: u64,
}

impl<'a> Lane<'a> {
    /// That of a trial.
    ///
    /// # Errors
    /// As [`Recorder::new`] and [`Set::new`].
    pub fn new(
        work: &LifeParameters,
        records: &'a Records,
        gauge: &'a Gauge<'a>,
        scans: bool,
        seed: u64,
    ) -> Result<Lane<'a>, String> {
        Ok(Lane {
            set: Set::new(work.churn, work.records, seed)?,
            records,
            gauge,
            steps: work.steps,
            scans,
            value: touched(records.largest_value() as u64),
            recorder: Recorder::new()?,
            measured: Vec::with_capacity(TENTHS),
            spare: (0..TENTHS).map(|_| Recorder::new()).collect::<Result<_, _>>()?,
            written: Written::default(),
            writes: 0,
        })
    }

    /// Makes a call by the clock.
    #[inline(always)]
    fn timed<T>(&mut self, kind: usize, call: impl FnOnce(&[u8]) -> T) -> T {
        let clock = self.gauge.clock;
        let start = clock.now();
        let done = call(&self.value);
        let end = clock.now();
        self.recorder.record(kind, clock.nanoseconds(start, end).max(1));
        done
    }

    fn step(&mut self, session: &mut dyn Session) -> Result<(), Stop> {
        let Step { old, new } = self.set.step();
        let (old_key, new_key) = (self.records.key(old.0), self.records.key(new.0));
        self.value.clear();
        self.records.append_value(new.0, new.1, &mut self.value);
        let kind = if old.0 == new.0 {
            let done = self.timed(UPDATE, |value| session.update(&new_key, value));
            done.map_err(|error| failed("overwriting", &new_key, &error))?;
            self.writes += u64::from(!self.records.is_same_value(new.0, old.1, new.1));
            UPDATE
        } else {
            if self.scans {
                self.look_for_oldest(session, &old_key)?;
            }
            let done = self.timed(REMOVE, |_| session.remove(&old_key));
            done.map_err(|error| failed("removing", &old_key, &error))?;
            let done = self.timed(INSERT, |value| session.insert(&new_key, value));
            done.map_err(|error| failed("inserting", &new_key, &error))?;
            self.writes += 2;
            INSERT
        };
        let value_bytes = self.value.len() as u64;
        self.recorder.of_mut(kind).value_bytes += value_bytes;
        self.written = self.written.plus(Written { records: 1, key_bytes: KEY_BYTES as u64, value_bytes });
        Ok(())
    }

    /// Finds the first record, as a consumer of a queue does.
    fn look_for_oldest(&mut self, session: &mut dyn Session, oldest: &Key) -> Result<(), Stop> {
        let (mut first, mut bytes) = ([0; KEY_BYTES], 0);
        let found = self.timed(SCAN, |_| {
            session.scan(&[b'0'; KEY_BYTES], 1, &mut |key, value| {
                bytes = value.len() as u64;
                if let Some(first) = first.get_mut(..key.len()) {
                    first.copy_from_slice(key);
                }
            })
        });
        let found = found.map_err(|error| failed("looking for", oldest, &error))?;
        self.recorder.of_mut(SCAN).value_bytes += bytes;
        if found == 1 && first == *oldest {
            return Ok(());
        }
        let key = String::from_utf8_lossy(&first).into_owned();
        let (oldest, found) =
            (String::from_utf8_lossy(oldest), if found == 0 { "nothing".into() } else { key });
        Err(Stop::wrong_data(format!(
            "the oldest record has the key {oldest}, and a scan found {found} first"
        )))
    }
}

impl crew::Lane<dyn Session + '_, ()> for Lane<'_> {
    type Failed = Stop;

    /// A tenth.
    fn round(
        &mut self,
        session: &mut (dyn Session + '_),
        (): (),
        approach: Approach<'_>,
    ) -> Result<Part, Stop> {
        let Gauge { clock, series, .. } = self.gauge;
        let main = if self.set.replaces() { INSERT } else { UPDATE };
        let mut seconds = series.thread(0, self.recorder.latencies(main)).map_err(Stop::harness)?;
        let started = approach.cross()?;
        seconds.restart();
        let begin = clock.now();
        let goes_on = || started.goes_on(begin, None);
        in_quanta(self.steps, largest_quantum(Rate::Closed), goes_on, |most| {
            (0..most).try_for_each(|_| self.step(session))?;
            seconds.tell(self.recorder.latencies(main)).map_err(Stop::harness)?;
            Ok::<_, Stop>(most)
        })?;
        let end = clock.now();
        seconds.finish(self.recorder.latencies(main)).map_err(Stop::harness)?;
        let spare = self.spare.pop().ok_or_else(|| Stop::harness("there is no memory for another tenth"))?;
        let recorder = std::mem::replace(&mut self.recorder, spare);
        let calls_ns = recorder.calls_ns();
        self.measured.push(recorder);
        Ok(Part { begin, end, calls_ns, ..Part::default() })
    }
}

fn failed(doing: &str, key: &Key, error: &StoreError) -> Stop {
    Stop::store(&format!("{doing} the record {}", String::from_utf8_lossy(key)), error)
}
