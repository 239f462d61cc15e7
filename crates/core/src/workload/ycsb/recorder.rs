//! Latencies by kind of request. A read-modify-write counts as such, and its parts as reads and updates, too, as in YCSB; they
//! are separate until the end, so that the total of all requests is known.

use super::definition::Kind;
use crate::workload::recorder::{self, Record};

/// The places of the two parts of a read-modify-write, after those of the kinds.
pub(crate) const PART_READ: usize = Kind::ALL.len();
pub(crate) const PART_UPDATE: usize = PART_READ + 1;
/// Calls that are recorded separately.
pub(crate) const PLACES: usize = PART_UPDATE + 1;

pub(crate) type Recorder = recorder::Recorder<PLACES>;

/// The total time of requests so far, in nanoseconds.
pub fn calls_ns(recorder: &Recorder) -> u64 {
    recorder.all()[..PART_READ].iter().map(|record| record.latencies.sum_ns()).sum()
}

pub fn merge_kind(recorder: &Recorder, kind: Kind) -> Result<Record, String> {
    let part = match kind {
        Kind::Read => Some(PART_READ),
        Kind::Update => Some(PART_UPDATE),
        Kind::Insert | Kind::Scan | Kind::ReadModifyWrite => None,
    };
    recorder.merge_kinds([kind as usize].into_iter().chain(part))
}

/// The total over all requests; the bytes of a read-modify-write are its parts'.
pub fn merge_all(recorder: &Recorder) -> Result<Record, String> {
    let mut total = recorder.merge_kinds(0..PART_READ)?;
    total.value_bytes = recorder.all().iter().map(|record| record.value_bytes).sum();
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_count_as_what_they_are_and_requests_once() {
        let mut recorder = Recorder::new().unwrap();
        let [read, whole] = [Kind::Read, Kind::ReadModifyWrite].map(|kind| kind as usize);
        for (place, ns) in [(read, 10), (PART_READ, 20), (PART_UPDATE, 30), (whole, 50)] {
            recorder.record(place, ns);
            recorder.kind_record_mut(place).value_bytes += if place == whole { 0 } else { 100 };
        }
        let figures = |kind| {
            let record = super::merge_kind(&recorder, kind).unwrap();
            (record.latencies.count(), record.latencies.sum_ns(), record.value_bytes)
        };
        assert_eq!((figures(Kind::Read), figures(Kind::Update)), ((2, 30, 200), (1, 30, 100)));
        assert_eq!((figures(Kind::ReadModifyWrite), figures(Kind::Scan)), ((1, 50, 0), (0, 0, 0)));
        let total = merge_all(&recorder).unwrap();
        assert_eq!((total.latencies.count(), total.latencies.sum_ns(), total.value_bytes), (2, 60, 300));
        assert_eq!(calls_ns(&recorder), 60);
    }
}
