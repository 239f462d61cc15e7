//! Latencies by kind of request. A read-modify-write counts as such, and its parts as reads and updates, too, as in YCSB; they
//! are separate until the end, so that the total of all requests is known.

use super::definition::Kind;
use crate::workload::recorder::{self, Record};

/// A kind of call that is recorded separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum Slot {
    Read,
    Update,
    Insert,
    Scan,
    ReadModifyWrite,
    /// The read of a read-modify-write.
    PartRead,
    PartUpdate,
}

impl Slot {
    pub const COUNT: usize = 7;

    #[inline]
    pub fn from_kind(kind: Kind) -> Slot {
        match kind {
            Kind::Read => Slot::Read,
            Kind::Update => Slot::Update,
            Kind::Insert => Slot::Insert,
            Kind::Scan => Slot::Scan,
            Kind::ReadModifyWrite => Slot::ReadModifyWrite,
        }
    }

    fn slots_counted(kind: Kind) -> &'static [Slot] {
        match kind {
            Kind::Read => &[Slot::Read, Slot::PartRead],
            Kind::Update => &[Slot::Update, Slot::PartUpdate],
            Kind::Insert => &[Slot::Insert],
            Kind::Scan => &[Slot::Scan],
            Kind::ReadModifyWrite => &[Slot::ReadModifyWrite],
        }
    }
}

pub(crate) type Recorder = recorder::Recorder<{ Slot::COUNT }>;

/// The total time of requests so far, in nanoseconds.
pub fn calls_ns(recorder: &Recorder) -> u64 {
    Kind::ALL.into_iter().map(|kind| recorder.latencies(Slot::from_kind(kind) as usize).sum_ns()).sum()
}

pub fn merge_kind(recorder: &Recorder, kind: Kind) -> Result<Record, String> {
    recorder.merge_kinds(Slot::slots_counted(kind).iter().map(|slot| *slot as usize))
}

/// The total over all requests; the bytes of a read-modify-write are its parts'.
pub fn merge_all(recorder: &Recorder) -> Result<Record, String> {
    let mut total = recorder.merge_kinds(Kind::ALL.map(|kind| Slot::from_kind(kind) as usize))?;
    total.value_bytes = recorder.all().iter().map(|record| record.value_bytes).sum();
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_count_as_what_they_are_and_requests_once() {
        let mut recorder = Recorder::new().unwrap();
        for (slot, ns) in
            [(Slot::Read, 10), (Slot::PartRead, 20), (Slot::PartUpdate, 30), (Slot::ReadModifyWrite, 50)]
        {
            recorder.record(slot as usize, ns);
            recorder.kind_record_mut(slot as usize).value_bytes +=
                if slot == Slot::ReadModifyWrite { 0 } else { 100 };
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
