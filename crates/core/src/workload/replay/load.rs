//! The records in the store before the first operation: every key whose first operation looks for it. An earlier pass over the
//! trace finds them with a table of a fixed size; for very many keys several passes do, each for a share of them.

use storebench_model::result::{Load, WrittenRecords};
use storebench_model::store::Session;

use crate::trace::{Facts, Reader, TraceOperation, key_hash};
use crate::workload::batch::Batch;
use crate::workload::loader;
use crate::workload::parameter::AfterLoad;
use crate::workload::sync_check::AcknowledgedWrites;
use crate::workload::workload_error::WorkloadError;

use super::key_fitter::KeyFitter;
use super::values::{LOADED, Values};

/// Places of the table, and how many are used at most.
const PLACES: usize = 1 << 21;
const MAX_USED: usize = PLACES / 4 * 3;
/// Keys per planned pass: the estimate of their number may be off.
const KEYS_PER_PASS: u64 = MAX_USED as u64 / 10 * 9;
const BATCH: usize = 500;
const BATCH_BYTES: usize = 4 << 20;

struct KeyTable {
    places: Vec<u64>,
    used: usize,
}

impl KeyTable {
    fn new() -> KeyTable {
        let mut places = vec![1; PLACES];
        places.fill(0);
        KeyTable { places, used: 0 }
    }

    fn clear(&mut self) {
        self.places.fill(0);
        self.used = 0;
    }

    /// Adds a key; gives whether it is new.
    fn add(&mut self, hash: u64) -> Result<bool, WorkloadError> {
        let hash = hash.max(1);
        let mut place = hash as usize % PLACES;
        loop {
            match self.places[place] {
                0 if self.used == MAX_USED => {
                    return Err(WorkloadError::harness("the trace has more keys than its summary counted"));
                }
                0 => {
                    (self.places[place], self.used) = (hash, self.used + 1);
                    return Ok(true);
                }
                known if known == hash => return Ok(false),
                _ => place = (place + 1) % PLACES,
            }
        }
    }
}

/// Loads the store, in memory that does not depend on the trace.
pub(crate) struct Loader {
    /// The keys of this pass whose first operation was met.
    table: KeyTable,
    passes: u64,
    unknown_bytes: u64,
    batch: Batch,
    after_load: AfterLoad,
}

impl Loader {
    /// For a trace with these facts.
    pub fn new(facts: &Facts, after_load: AfterLoad) -> Loader {
        let (key, value) = (facts.longest_key.max(64) as usize, facts.largest_value as usize);
        Loader {
            table: KeyTable::new(),
            passes: facts.keys / KEYS_PER_PASS + 1,
            unknown_bytes: facts.unknown_value,
            batch: Batch::with_bytes(BATCH, BATCH_BYTES, key, value),
            after_load,
        }
    }

    /// Loads the store; gives the reader back, and what was handed over.
    pub fn load(
        &mut self,
        reader: Reader,
        session: &mut dyn Session,
        fitter: &mut KeyFitter,
        values: &Values,
        acknowledged: &mut Vec<AcknowledgedWrites>,
    ) -> Result<(Reader, Load, WrittenRecords), WorkloadError> {
        let Loader { table, passes, unknown_bytes, batch, after_load } = self;
        let (mut next_reader, mut pass) = (Some(reader.rewind().map_err(WorkloadError::harness)?), 0);
        let fill = |batch: &mut Batch| {
            while pass < *passes
                && !is_full(batch)
                && let Some(reader) = &mut next_reader
            {
                let Some(entry) = reader.next_entry().map_err(WorkloadError::harness)? else {
                    pass += 1;
                    table.clear();
                    let rewound = next_reader.take().map(Reader::rewind);
                    next_reader = rewound.transpose().map_err(WorkloadError::harness)?;
                    continue;
                };
                let does = entry.word.does;
                if matches!(does, TraceOperation::Skip | TraceOperation::Scan) {
                    continue;
                }
                let key = fitter.fit_key(entry.key);
                let hash = key_hash(key);
                if (hash >> 24) % *passes == pass && table.add(hash)? && does.needs_key() {
                    let length = entry.size.unwrap_or(*unknown_bytes) as usize;
                    batch.add(key, |bytes| values.append(hash, LOADED, length, bytes));
                }
            }
            Ok(())
        };
        let (load, written) = loader::load(None, batch, session, acknowledged, *after_load, fill)?;
        let reader = next_reader.ok_or_else(|| WorkloadError::harness("the trace was read to its end"))?;
        Ok((reader, load, written))
    }
}

/// Whether a batch can take no more, keys included.
fn is_full(batch: &Batch) -> bool {
    batch.is_full() || batch.key_bytes() + batch.value_bytes() >= BATCH_BYTES as u64
}
