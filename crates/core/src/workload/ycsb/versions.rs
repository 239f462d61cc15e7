//! Which versions of its fields a record may be read in. Versions count a record's writes from 1, its insert; 0 is a record that
//! is not there. One thread knows exactly what it wrote. Of several, only the order of some calls is certain: a read must not
//! show less than a write that ended before the read began and was alone with its record; nor more than what began before the
//! read ended. Overlapping writes can come in any order, and one that replaces a field may write back what it read of the others:
//! from then on every version counts as possible until that field's next write that is alone.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[derive(Debug)]
pub struct Versions {
    /// Versions of each record: one per field, or one for all.
    slots: u64,
    /// The oldest readable version, by record and slot.
    floors: Vec<AtomicU32>,
    /// For several threads, by record: writes begun, and in the low half the number of those that have not ended.
    write_states: Vec<AtomicU64>,
    /// Records inserted or being inserted.
    next: AtomicU64,
    /// Records that are there with all before them.
    live: AtomicU64,
    max_records: u64,
}

const ONE_BEGUN: u64 = 1 << 32;
const UNFINISHED: u64 = ONE_BEGUN - 1;

#[derive(Debug, Clone, Copy)]
pub struct BegunWrite {
    pub version: u32,
    is_alone: bool,
}

impl Versions {
    /// For up to `max_records` records, none of which is there. Takes and touches all memory.
    pub fn new(max_records: u64, slots: u64, threads: u64) -> Versions {
        let tracked = if threads > 1 { max_records } else { 0 };
        let floors = (0..max_records * slots).map(|_| AtomicU32::new(1)).collect::<Vec<_>>();
        floors.iter().for_each(|floor| floor.store(0, Ordering::Relaxed));
        Versions {
            slots,
            floors,
            write_states: (0..tracked).map(|_| AtomicU64::new(ONE_BEGUN)).collect(),
            next: AtomicU64::new(0),
            live: AtomicU64::new(0),
            max_records,
        }
    }

    /// Marks the first `count` records as inserted.
    pub fn mark_loaded(&self, count: u64) {
        (0..count * self.slots).for_each(|index| self.floors[index as usize].store(1, Ordering::Relaxed));
        self.next.store(count, Ordering::Release);
        self.live.store(count, Ordering::Release);
    }

    #[inline]
    pub fn live(&self) -> u64 {
        self.live.load(Ordering::Acquire)
    }

    #[inline]
    pub fn inserted(&self) -> u64 {
        self.next.load(Ordering::Acquire)
    }

    /// Takes the next record to insert; `None` if there is no room.
    pub fn claim_record(&self) -> Option<u64> {
        let next_number = |next: u64| (next < self.max_records).then_some(next + 1);
        self.next.fetch_update(Ordering::AcqRel, Ordering::Acquire, next_number).ok()
    }

    /// Marks a record as inserted.
    pub fn mark_inserted(&self, record: u64) {
        let first = record * self.slots;
        (first..first + self.slots).for_each(|index| self.floors[index as usize].store(1, Ordering::Release));
        // Whoever closes a gap counts what lies behind it, too.
        loop {
            let live = self.live();
            let is_next_inserted = live < self.max_records
                && self.floors[((live + 1) * self.slots - 1) as usize].load(Ordering::Acquire) > 0;
            if !is_next_inserted {
                return;
            }
            let _ = self.live.compare_exchange(live, live + 1, Ordering::AcqRel, Ordering::Acquire);
        }
    }

    #[inline]
    pub fn begin_write(&self, record: u64, slot: u64) -> BegunWrite {
        match self.write_states.get(record as usize) {
            None => BegunWrite { version: self.floor(record, slot) + 1, is_alone: true },
            Some(state) => {
                let before = state.fetch_add(ONE_BEGUN + 1, Ordering::SeqCst);
                BegunWrite { version: (before >> 32) as u32 + 1, is_alone: before & UNFINISHED == 0 }
            }
        }
    }

    #[inline]
    pub fn end_write(&self, record: u64, slot: u64, write: BegunWrite) {
        let floor = &self.floors[(record * self.slots + slot) as usize];
        match self.write_states.get(record as usize) {
            None => floor.store(write.version, Ordering::Relaxed),
            Some(state) => {
                let state_before = state.fetch_sub(1, Ordering::SeqCst);
                if write.is_alone && (state_before >> 32) as u32 == write.version {
                    floor.fetch_max(write.version, Ordering::SeqCst);
                }
            }
        }
    }

    /// The oldest version of a slot that may be read now.
    #[inline]
    pub fn floor(&self, record: u64, slot: u64) -> u32 {
        self.floors[(record * self.slots + slot) as usize].load(Ordering::Acquire)
    }

    /// Copies the oldest versions that a read which begins now may show.
    #[inline]
    pub fn copy_floors(&self, record: u64, floors: &mut [u32]) {
        for (slot, floor) in (0..).zip(floors) {
            *floor = self.floor(record, slot);
        }
    }

    /// The newest readable version of a record; at least `floors`.
    #[inline]
    pub fn newest(&self, record: u64, floors: &[u32]) -> u32 {
        match self.write_states.get(record as usize) {
            None => floors.iter().copied().max().unwrap_or(0),
            Some(state) => (state.load(Ordering::SeqCst) >> 32) as u32,
        }
    }

    pub fn slots(&self) -> usize {
        self.slots as usize
    }

    /// Whether several threads write the same records.
    pub fn is_shared(&self) -> bool {
        !self.write_states.is_empty()
    }

    /// Whether a record was written after the first `loaded` were loaded.
    pub(crate) fn is_touched(&self, record: u64, loaded: u64) -> bool {
        let state = self.write_states.get(record as usize);
        let was_rewritten = state.is_some_and(|state| state.load(Ordering::Acquire) >> 32 > 1);
        record >= loaded || was_rewritten || (0..self.slots).any(|slot| self.floor(record, slot) > 1)
    }
}

/// The versions that a record's fields may have.
#[derive(Debug)]
pub struct KnownVersions<'a> {
    oldest: &'a [u32],
    newest: u32,
}

impl KnownVersions<'_> {
    /// Each slot has a version from its own oldest on.
    pub fn from_slots(oldest: &[u32], newest: u32) -> KnownVersions<'_> {
        KnownVersions { oldest, newest }
    }

    /// A slot's versions: the oldest first, which is most often right; then from the newest down.
    pub fn versions(&self, slot: u64) -> impl Iterator<Item = u32> {
        let oldest = self.oldest.get(slot as usize).copied().unwrap_or(u32::MAX);
        std::iter::once(oldest).chain((oldest.saturating_add(1)..=self.newest).rev())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_knows_the_version_of_each_field() {
        let versions = Versions::new(3, 2, 1);
        versions.mark_loaded(2);
        let begun = versions.begin_write(1, 1);
        assert_eq!(begun.version, 2);
        versions.end_write(1, 1, begun);
        assert_eq!((versions.floor(1, 0), versions.floor(1, 1), versions.newest(1, &[1, 2])), (1, 2, 2));
        assert!(versions.is_touched(1, 2) && !versions.is_touched(0, 2));
        assert_eq!((versions.claim_record(), versions.claim_record(), versions.live()), (Some(2), None, 2));
        versions.mark_inserted(2);
        assert_eq!((versions.live(), versions.inserted(), versions.is_touched(2, 2)), (3, 3, true));
    }

    #[test]
    fn of_writes_that_overlap_none_is_certain() {
        let versions = Versions::new(1, 1, 2);
        versions.mark_loaded(1);
        let first = versions.begin_write(0, 0);
        assert_eq!((first.version, versions.newest(0, &[1])), (2, 2));
        let second = versions.begin_write(0, 0);
        versions.end_write(0, 0, first);
        versions.end_write(0, 0, second);
        assert_eq!((versions.floor(0, 0), versions.newest(0, &[1])), (1, 3), "either may have come last");
        let alone = versions.begin_write(0, 0);
        assert_eq!((alone.version, versions.floor(0, 0)), (4, 1));
        versions.end_write(0, 0, alone);
        assert_eq!(versions.floor(0, 0), 4);
        // One that began alone and was joined is not certain, either.
        let (joined, joining) = (versions.begin_write(0, 0), versions.begin_write(0, 0));
        versions.end_write(0, 0, joining);
        versions.end_write(0, 0, joined);
        assert_eq!(versions.floor(0, 0), 4);
    }

    #[test]
    fn what_is_live_has_no_gap() {
        let versions = Versions::new(4, 1, 2);
        versions.mark_loaded(1);
        let taken: Vec<_> = (0..3).filter_map(|_| versions.claim_record()).collect();
        assert_eq!(taken, [1, 2, 3]);
        versions.mark_inserted(2);
        assert_eq!(versions.live(), 1);
        versions.mark_inserted(1);
        assert_eq!(versions.live(), 3);
        versions.mark_inserted(3);
        assert_eq!(versions.live(), 4);
    }

    #[test]
    fn known_versions_come_the_likely_ones_first() {
        let versions_of = |known: KnownVersions<'_>, slot| known.versions(slot).collect::<Vec<_>>();
        assert_eq!(versions_of(KnownVersions::from_slots(&[3], 3), 0), [3]);
        assert_eq!(versions_of(KnownVersions::from_slots(&[2], 5), 0), [2, 5, 4, 3]);
        assert_eq!(versions_of(KnownVersions::from_slots(&[4, 1], 5), 0), [4, 5]);
        // Of no field that there is.
        assert_eq!(versions_of(KnownVersions::from_slots(&[4], 4), 1), [u32::MAX]);
    }

    #[test]
    fn threads_that_insert_at_once_leave_nothing_behind() {
        let versions = Versions::new(4000, 1, 4);
        versions.mark_loaded(10);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while let Some(record) = versions.claim_record() {
                        versions.mark_inserted(record);
                    }
                });
            }
        });
        assert_eq!((versions.live(), versions.inserted()), (4000, 4000));
    }
}
