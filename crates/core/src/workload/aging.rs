//! Growing old before the first operation: the records that were loaded are overwritten, one by one, as an application does in weeks.

use std::time::Instant;

use storebench_model::result::{AgingPass, Load, WrittenRecords};
use storebench_model::store::Session;

use crate::measure::counters::Snapshot;
use crate::workload::load_progress::{ProgressKind, ProgressReporter};
use crate::workload::parameter::AfterLoad;
use crate::workload::sync_check::AcknowledgedWrites;
use crate::workload::workload_error::WorkloadError;

#[derive(Debug, Clone, Copy)]
pub struct Aging {
    pub records: u64,
    pub times: u32,
    /// When operations begin afterwards.
    pub after: AfterLoad,
}

impl Aging {
    /// The store rests after aging, not before.
    pub fn after_load(self) -> AfterLoad {
        if self.times == 0 { self.after } else { AfterLoad::AtOnce }
    }

    /// Overwrites all records `times` times, each time in another order, and lets the store rest. `record` makes a record's key
    /// and value in a version, 0 being the loaded one; the last write of each writes that again.
    pub fn age(
        self,
        (load, written): &mut (Load, WrittenRecords),
        session: &mut dyn Session,
        acknowledged: &mut Vec<AcknowledgedWrites>,
        mut record: impl FnMut(u64, u32, &mut Vec<u8>, &mut Vec<u8>),
    ) -> Result<(), WorkloadError> {
        let Aging { records, times, after } = self;
        if times == 0 || records == 0 {
            return Ok(());
        }
        let (mut key, mut value, mut old_value) = (Vec::new(), Vec::new(), Vec::new());
        let mut aged = AgingPass { times, store_ns: 0 };
        let mut progress = ProgressReporter::new(ProgressKind::Writing, records * u64::from(times));
        let (mut writes, mut changes, before) = (0, 0, Snapshot::now());
        for version in (0..times).rev() {
            for index in shuffled(records, u64::from(version)) {
                [&mut key, &mut value, &mut old_value].into_iter().for_each(Vec::clear);
                record(index, (version + 1) % times, &mut key, &mut old_value);
                key.clear();
                record(index, version, &mut key, &mut value);
                let start = Instant::now();
                let result = session.update(&key, &value);
                aged.store_ns += start.elapsed().as_nanos() as u64;
                result.map_err(WorkloadError::during("overwriting a record before the operations"))?;
                writes += 1;
                // A store need not sync what leaves all as it was.
                changes += u64::from(value != old_value);
                let (key_bytes, value_bytes) = (key.len() as u64, value.len() as u64);
                *written = written.plus(WrittenRecords { records: 1, key_bytes, value_bytes });
                progress.report(writes);
            }
        }
        AcknowledgedWrites::new("writes before the operations", changes, 1, &before.until_now())
            .note(acknowledged);
        (load.aged, load.rest) = (Some(aged), after.wait());
        Ok(())
    }
}

/// The disk space of an aged set, as a multiple of a fresh one's.
pub fn space_factor(times: u32) -> f64 {
    if times == 0 { 1.0 } else { 2.0 }
}

/// All numbers below `count`, each once, in coprime steps of about the golden section; `turn` chooses the start and the step.
fn shuffled(count: u64, turn: u64) -> impl Iterator<Item = u64> {
    let golden = (count as f64 * 0.618_033_988_749_895) as u64;
    let is_step = |step: &u64| common_divisor(*step, count) == 1;
    let step = (golden + turn..).find(is_step).unwrap_or(1) % count;
    let start = golden.wrapping_mul(turn) % count;
    (0..count).map(move |number| {
        ((u128::from(start) + u128::from(number) * u128::from(step)) % u128::from(count)) as u64
    })
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_record_comes_once_in_each_turn_and_not_in_order() {
        for count in [1, 2, 3, 10, 12, 1_000, 1_024] {
            let turns: Vec<Vec<u64>> = (0..3).map(|turn| shuffled(count, turn).collect()).collect();
            for turn in &turns {
                let mut sorted = turn.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..count).collect::<Vec<_>>());
            }
            assert!(count < 10 || (!turns[0].is_sorted() && turns[0] != turns[1]), "{count}");
        }
    }
}
