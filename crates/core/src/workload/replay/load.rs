//! What is in the store before the first operation: every key whose first operation looks for it. Such keys are found by
//! reading the trace before, with a table of a fixed size: of very many keys, in several passes, each for a share of them.

use std::time::Instant;

use crate::measure::counters::Snapshot;
use crate::result::{Load, Written};
use crate::store::Session;
use crate::trace::{Does, Entry, Facts, Reader, key_hash};
use crate::workload::promise::Acknowledged;
use crate::workload::stop::Stop;

use super::fit::Fit;
use super::values::{LOADED, Values};

/// Places of the table, and how many of them are used at most.
const PLACES: usize = 1 << 21;
const MOST: usize = PLACES / 4 * 3;
/// Keys that a pass is planned for: an estimate of their number may be off.
const PLANNED: u64 = MOST as u64 / 10 * 9;
/// Records and bytes in a batch, at most.
const BATCH: usize = 500;
const BATCH_BYTES: usize = 4 << 20;

/// Keys that came before.
struct Table {
    places: Vec<u64>,
    used: usize,
}

impl Table {
    fn new() -> Table {
        let mut places = vec![1; PLACES];
        places.fill(0);
        Table { places, used: 0 }
    }

    fn clear(&mut self) {
        self.places.fill(0);
        self.used = 0;
    }

    /// Adds a key by its hash; whether it is new.
    fn add(&mut self, hash: u64) -> Result<bool, Stop> {
        let hash = hash.max(1);
        let mut at = hash as usize % PLACES;
        loop {
            match self.places[at] {
                0 if self.used == MOST => {
                    return Err(Stop::harness("the trace has more keys than its summary counted"));
                }
                0 => {
                    (self.places[at], self.used) = (hash, self.used + 1);
                    return Ok(true);
                }
                known if known == hash => return Ok(false),
                _ => at = (at + 1) % PLACES,
            }
        }
    }
}

/// What loads the store. Its memory is taken once, whatever the trace.
pub struct Loader {
    table: Table,
    passes: u64,
    unknown_bytes: u64,
    batch: Batch,
}

/// Records that are loaded together.
struct Batch {
    bytes: Vec<u8>,
    /// Where each key and each value ends.
    ends: Vec<(usize, usize)>,
}

impl Loader {
    /// For a trace of these facts.
    pub fn new(facts: &Facts) -> Loader {
        let largest = (facts.largest_value + facts.longest_key.max(64)) as usize;
        let mut bytes = vec![1; BATCH_BYTES + largest];
        bytes.clear();
        Loader {
            table: Table::new(),
            passes: facts.keys / PLANNED + 1,
            unknown_bytes: facts.unknown_value,
            batch: Batch { bytes, ends: Vec::with_capacity(BATCH) },
        }
    }

    /// Loads the store; gives the reader back, and says what was handed over.
    ///
    /// # Errors
    /// When the trace can't be read, or the store fails.
    pub fn load(
        &mut self,
        mut reader: Reader,
        session: &mut dyn Session,
        fit: &mut Fit,
        values: &Values,
        acknowledged: &mut Vec<Acknowledged>,
    ) -> Result<(Reader, Load, Written), Stop> {
        let mut load = Load { records: 0, value_bytes: 0, store_ns: 0, counters: None };
        let (mut written, mut batches) = (Written::default(), 0);
        let before = Snapshot::now();
        for pass in 0..self.passes {
            self.table.clear();
            reader = reader.rewind().map_err(Stop::harness)?;
            while let Some(entry) = reader.next_entry().map_err(Stop::harness)? {
                if self.is_to_load(&entry, fit, pass)? {
                    written = written.plus(self.batch.add(&entry, self.unknown_bytes, fit, values));
                }
                if self.batch.is_full() {
                    load.store_ns += self.batch.insert(session)?;
                    batches += 1;
                }
            }
        }
        if !self.batch.ends.is_empty() {
            load.store_ns += self.batch.insert(session)?;
            batches += 1;
        }
        let counters = Snapshot::now().since(&before);
        Acknowledged::new("batches", batches, 1, &counters).note(acknowledged);
        (load.records, load.value_bytes, load.counters) =
            (written.records, written.value_bytes, Some(counters));
        Ok((reader, load, written))
    }

    /// Whether an operation is the first of its key, and looks for it.
    fn is_to_load(&mut self, entry: &Entry<'_>, fit: &mut Fit, pass: u64) -> Result<bool, Stop> {
        if entry.word.does == Does::Skip {
            return Ok(false);
        }
        let hash = key_hash(fit.key(entry.key));
        Ok((hash >> 24) % self.passes == pass && self.table.add(hash)? && entry.word.does.looks())
    }
}

impl Batch {
    fn is_full(&self) -> bool {
        self.ends.len() >= BATCH || self.bytes.len() >= BATCH_BYTES
    }

    /// Adds the record that an operation looks for.
    fn add(&mut self, entry: &Entry<'_>, unknown_bytes: u64, fit: &mut Fit, values: &Values) -> Written {
        let told = if entry.word.does == Does::Scan { 0 } else { entry.size };
        let length = if told == 0 { unknown_bytes } else { told };
        let key = fit.key(entry.key);
        self.bytes.extend_from_slice(key);
        let (hash, key_bytes, middle) = (key_hash(key), key.len() as u64, self.bytes.len());
        values.append(hash, LOADED, length as usize, &mut self.bytes);
        self.ends.push((middle, self.bytes.len()));
        Written { records: 1, key_bytes, value_bytes: length }
    }

    /// Hands all to the store; how long that took, in nanoseconds.
    fn insert(&mut self, session: &mut dyn Session) -> Result<u64, Stop> {
        let mut start = 0;
        let records: Vec<(&[u8], &[u8])> = self
            .ends
            .iter()
            .map(|(middle, end)| {
                let record = (&self.bytes[start..*middle], &self.bytes[*middle..*end]);
                start = *end;
                record
            })
            .collect();
        let start = Instant::now();
        session.insert_batch(&records).map_err(|error| Stop::store("loading a batch", &error))?;
        let took_ns = start.elapsed().as_nanos() as u64;
        self.bytes.clear();
        self.ends.clear();
        Ok(took_ns)
    }
}
