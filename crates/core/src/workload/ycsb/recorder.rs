//! What was measured, by kind of request. A read-modify-write counts as such, and its parts as reads and updates, too, as in
//! YCSB; they are kept apart until the end, so that all requests together can be told.

use super::definition::Kind;
use crate::measure::latency::Latencies;
use crate::workload::driver::Record;

/// What is measured by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Slot {
    Read,
    Update,
    Insert,
    Scan,
    ReadModifyWrite,
    /// The read of a read-modify-write.
    PartRead,
    /// Its update.
    PartUpdate,
}

impl Slot {
    /// How many there are.
    pub const COUNT: usize = 7;

    /// That of a kind.
    #[inline]
    pub fn of(kind: Kind) -> Slot {
        match kind {
            Kind::Read => Slot::Read,
            Kind::Update => Slot::Update,
            Kind::Insert => Slot::Insert,
            Kind::Scan => Slot::Scan,
            Kind::ReadModifyWrite => Slot::ReadModifyWrite,
        }
    }

    /// Those whose figures are a kind's.
    fn counted_as(kind: Kind) -> &'static [Slot] {
        match kind {
            Kind::Read => &[Slot::Read, Slot::PartRead],
            Kind::Update => &[Slot::Update, Slot::PartUpdate],
            Kind::Insert => &[Slot::Insert],
            Kind::Scan => &[Slot::Scan],
            Kind::ReadModifyWrite => &[Slot::ReadModifyWrite],
        }
    }
}

/// What was measured, on one thread or all.
#[derive(Debug, Clone)]
pub struct Recorder {
    records: [Record; Slot::COUNT],
}

impl Recorder {
    /// Nothing yet.
    ///
    /// # Errors
    /// As [`Record::new`].
    pub fn new() -> Result<Recorder, String> {
        let [a, b, c, d, e, f, g] = std::array::from_fn(|_| Record::new());
        Ok(Recorder { records: [a?, b?, c?, d?, e?, f?, g?] })
    }

    /// A request took so long.
    #[inline]
    pub fn record(&mut self, slot: Slot, ns: u64) {
        self.records[slot as usize].latencies.record(ns);
    }

    /// It wrote or read so many bytes of values.
    #[inline]
    pub fn add_bytes(&mut self, slot: Slot, bytes: u64) {
        self.records[slot as usize].value_bytes += bytes;
    }

    /// Latencies so far.
    pub fn latencies(&self, slot: Slot) -> &Latencies {
        &self.records[slot as usize].latencies
    }

    /// What all calls took so far, in nanoseconds.
    pub fn calls_ns(&self) -> u64 {
        Kind::ALL.into_iter().map(|kind| self.latencies(Slot::of(kind)).sum_ns()).sum()
    }

    /// Adds what another thread measured.
    ///
    /// # Errors
    /// As [`Latencies::merge`].
    pub fn merge(&mut self, other: &Recorder) -> Result<(), String> {
        self.records.iter_mut().zip(&other.records).try_for_each(|(mine, theirs)| mine.merge(theirs))
    }

    /// What was measured of a kind.
    ///
    /// # Errors
    /// As [`Latencies::merge`].
    pub fn of(&self, kind: Kind) -> Result<Record, String> {
        self.together(Slot::counted_as(kind))
    }

    /// What was measured of all requests; the bytes of a read-modify-write are those of its parts.
    ///
    /// # Errors
    /// As [`Latencies::merge`].
    pub fn all(&self) -> Result<Record, String> {
        let mut all = self.together(&Kind::ALL.map(Slot::of))?;
        all.value_bytes = self.records.iter().map(|record| record.value_bytes).sum();
        Ok(all)
    }

    fn together(&self, slots: &[Slot]) -> Result<Record, String> {
        let mut all = Record::new()?;
        slots.iter().try_for_each(|slot| all.merge(&self.records[*slot as usize]))?;
        Ok(all)
    }
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
            recorder.record(slot, ns);
            recorder.add_bytes(slot, if slot == Slot::ReadModifyWrite { 0 } else { 100 });
        }
        let of = |kind| {
            let record = recorder.of(kind).unwrap();
            (record.latencies.count(), record.latencies.sum_ns(), record.value_bytes)
        };
        assert_eq!((of(Kind::Read), of(Kind::Update)), ((2, 30, 200), (1, 30, 100)));
        assert_eq!((of(Kind::ReadModifyWrite), of(Kind::Scan)), ((1, 50, 0), (0, 0, 0)));
        let all = recorder.all().unwrap();
        assert_eq!((all.latencies.count(), all.latencies.sum_ns(), all.value_bytes), (2, 60, 300));
        assert_eq!(recorder.calls_ns(), 60);
    }
}
