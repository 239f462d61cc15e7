//! Loading: the records that are there before the first operation, in batches.

use std::time::Instant;

use crate::measure::counters::Snapshot;
use crate::result::{Load, Written};
use crate::store::Session;
use crate::workload::batch::Batch;
use crate::workload::loading::Teller;
use crate::workload::promise::Acknowledged;
use crate::workload::stop::Stop;

/// Loads `count` records, which `add` puts into a batch by their numbers, in their order; says also what was handed to the
/// store. `acknowledged` gets what a promise of `power` is held to.
///
/// # Errors
/// The store's own.
pub fn load(
    count: u64,
    batch: &mut Batch,
    session: &mut dyn Session,
    acknowledged: &mut Vec<Acknowledged>,
    add: impl Fn(&mut Batch, u64),
) -> Result<(Load, Written), Stop> {
    let mut load = Load { records: count, ..Load::default() };
    let mut written = Written { records: count, ..Written::default() };
    if count == 0 {
        return Ok((load, written));
    }
    let (mut next, mut batches, mut teller) = (0, 0, Teller::new(count));
    let before = Snapshot::now();
    while next < count {
        batch.clear();
        while next < count && !batch.is_full() {
            add(batch, next);
            next += 1;
        }
        written.key_bytes += batch.key_bytes();
        written.value_bytes += batch.value_bytes();
        let records = batch.records();
        let start = Instant::now();
        session.insert_batch(&records).map_err(|error| Stop::store("loading a batch", &error))?;
        load.store_ns += start.elapsed().as_nanos() as u64;
        batches += 1;
        teller.loaded(next);
    }
    let counters = Snapshot::now().since(&before);
    Acknowledged::new("batches", batches, 1, &counters).note(acknowledged);
    (load.value_bytes, load.counters) = (written.value_bytes, Some(counters));
    Ok((load, written))
}
