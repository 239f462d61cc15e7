//! The set of records: of constant size, each in a slot of the thread that writes it, and what is done to it next.

use storebench_model::axis::Axis;
use storebench_model::cell::Cell;

use crate::record::WAVES;
use crate::workload::audit::Record;
use crate::workload::choose::Chooser;

const EXPONENT: f64 = 0.99;

/// How the set is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Churn {
    /// Any record is overwritten, all alike.
    Uniform,
    /// A few are overwritten often, most seldom.
    Zipfian,
    /// Overwritten in turn, with values that grow and shrink again.
    Waves,
    /// Any is removed, and one with a new key inserted.
    Replace,
    /// The oldest is removed, and one with the next key inserted: keys ascend.
    Queue,
    /// Ones with the next keys are inserted, and the oldest removed many at once.
    Log,
}

impl Churn {
    pub fn from_cell(cell: &Cell) -> Churn {
        cell.text(Axis::CHURN).parse().unwrap_or(Churn::Uniform)
    }

    /// Whether records are removed and inserted, not overwritten.
    pub fn replaces(self) -> bool {
        matches!(self, Churn::Replace | Churn::Queue | Churn::Log)
    }

    /// Versions before they begin anew.
    fn versions(self) -> u16 {
        if self == Churn::Waves { WAVES.into() } else { 1 << 8 }
    }

    pub fn version(self, version: u8, steps: u16) -> u8 {
        ((u16::from(version) + steps) % self.versions()) as u8
    }

    /// Whether keys ascend, and the oldest goes first.
    pub(crate) fn ascends(self) -> bool {
        matches!(self, Churn::Queue | Churn::Log)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub old: Record,
    /// With the same index it is overwritten.
    pub new: Record,
}

/// A thread's part of the set. Records are dealt out to the threads in turn, so that no two write the same.
pub struct Set {
    churn: Churn,
    thread: u64,
    threads: u64,
    chooser: Chooser,
    /// How often each slot's record was replaced by another.
    generations: Vec<u32>,
    versions: Vec<u8>,
    /// The oldest record's slot, if it goes next.
    oldest: usize,
}

impl Set {
    /// A thread's part of a loaded set: with the indexes from 0 on. Fails when it is empty.
    pub fn new(churn: Churn, (thread, threads): (u64, u64), count: u64, seed: u64) -> Result<Set, String> {
        let count = (count + threads - 1 - thread) / threads;
        let seed = seed.wrapping_add(thread);
        let chooser = match churn {
            Churn::Zipfian => Chooser::zipfian(seed, count, EXPONENT)?,
            _ => Chooser::uniform(seed),
        };
        let (generations, versions) = (vec![0; count as usize], vec![0; count as usize]);
        Ok(Set { churn, thread, threads, chooser, generations, versions, oldest: 0 })
    }

    fn len(&self) -> u64 {
        self.versions.len() as u64
    }

    /// Whether the set is this thread's alone.
    pub fn is_whole(&self) -> bool {
        self.threads == 1
    }

    pub fn replaces(&self) -> bool {
        self.churn.replaces()
    }

    pub fn record_at(&self, slot: usize) -> Record {
        (self.index_of(slot, self.generations[slot]), self.versions[slot])
    }

    /// All states of the record in a slot, the newest first.
    pub fn states(&self, slot: usize) -> impl Iterator<Item = Record> {
        let (generation, version) = (self.generations[slot], self.versions[slot]);
        let generations = (0..=generation).rev().map(move |generation| self.index_of(slot, generation));
        let churn = self.churn;
        let versions =
            (0..churn.versions()).map(move |earlier| churn.version(version, churn.versions() - earlier));
        let replaces = self.replaces();
        let newest = self.index_of(slot, generation);
        let overwritten = versions.map(move |version| (newest, version)).take_while(move |_| !replaces);
        overwritten.chain(generations.map(move |index| (index, version)).take_while(move |_| replaces))
    }

    fn index_of(&self, slot: usize, generation: u32) -> u64 {
        (slot as u64 + u64::from(generation) * self.len()) * self.threads + self.thread
    }

    #[inline]
    pub fn step(&mut self) -> Step {
        let slot = match self.churn {
            Churn::Waves | Churn::Queue | Churn::Log => self.oldest,
            Churn::Uniform | Churn::Zipfian | Churn::Replace => {
                self.chooser.choose_below(self.len()) as usize
            }
        };
        let old = self.record_at(slot);
        if self.churn.replaces() {
            self.generations[slot] += 1;
        } else {
            self.versions[slot] = self.churn.version(self.versions[slot], 1);
        }
        self.oldest = (self.oldest + 1) % self.versions.len();
        Step { old, new: self.record_at(slot) }
    }

    /// In order of arrival.
    pub fn all(&self) -> impl ExactSizeIterator<Item = Record> {
        let count = self.versions.len();
        let first = if self.churn.ascends() { self.oldest } else { 0 };
        (0..count).map(move |number| self.record_at((first + number) % count))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// The records after a number of steps, by a map in which each step must make sense.
    fn set_after(churn: Churn, steps: u64) -> (Set, BTreeMap<u64, u8>) {
        let mut set = Set::new(churn, (0, 1), 50, 7).unwrap();
        let mut expected: BTreeMap<u64, u8> = set.all().collect();
        for _ in 0..steps {
            let Step { old, new } = set.step();
            assert_eq!(expected.remove(&old.0), Some(old.1), "{churn:?}");
            assert_eq!(expected.insert(new.0, new.1), None);
        }
        (set, expected)
    }

    #[test]
    fn the_set_is_what_its_steps_made_of_it() {
        for churn in [Churn::Uniform, Churn::Zipfian, Churn::Waves, Churn::Replace, Churn::Queue, Churn::Log]
        {
            let (set, expected) = set_after(churn, 1_234);
            assert_eq!(expected.len(), 50);
            assert_eq!(set.all().collect::<BTreeMap<_, _>>(), expected, "{churn:?}");
        }
    }

    #[test]
    fn a_slot_remembers_what_its_record_was() {
        for churn in [Churn::Uniform, Churn::Replace] {
            let mut set = Set::new(churn, (1, 2), 8, 7).unwrap();
            let mut states_by_slot: Vec<Vec<Record>> = (0..4).map(|slot| vec![set.record_at(slot)]).collect();
            for _ in 0..40 {
                let Step { old, new } = set.step();
                states_by_slot.iter_mut().find(|states| states.last() == Some(&old)).unwrap().push(new);
            }
            for (slot, mut states) in states_by_slot.into_iter().enumerate() {
                states.reverse();
                assert_eq!(set.states(slot).take(states.len()).collect::<Vec<_>>(), states, "{churn:?}");
            }
        }
    }

    #[test]
    fn threads_have_all_records_among_them_and_never_meet() {
        for churn in [Churn::Uniform, Churn::Queue] {
            let mut parts: Vec<Set> =
                (0..3).map(|thread| Set::new(churn, (thread, 3), 50, 7).unwrap()).collect();
            let indexes =
                |parts: &[Set]| parts.iter().flat_map(Set::all).map(|(index, _)| index).collect::<Vec<_>>();
            let (mut fresh, count) = (indexes(&parts), |part: &Set| part.all().len());
            fresh.sort_unstable();
            assert_eq!(fresh, (0..50).collect::<Vec<_>>());
            assert_eq!(parts.iter().map(count).collect::<Vec<_>>(), [17, 17, 16]);
            for (steps, part) in (100..).zip(&mut parts) {
                for _ in 0..steps {
                    part.step();
                }
            }
            assert_eq!(indexes(&parts).into_iter().collect::<BTreeSet<_>>().len(), 50, "{churn:?}");
        }
    }

    #[test]
    fn a_queue_holds_the_newest_in_their_order() {
        let (set, _) = set_after(Churn::Queue, 120);
        assert_eq!(set.all().collect::<Vec<_>>(), (120..170).map(|index| (index, 0)).collect::<Vec<_>>());
    }

    #[test]
    fn waves_overwrite_each_as_often_and_begin_anew() {
        let (set, expected) = set_after(Churn::Waves, 50 * u64::from(WAVES) + 20);
        assert!(expected.iter().all(|(index, version)| *version == u8::from(*index < 20)), "{expected:?}");
        assert_eq!(set.states(3).take(3).collect::<Vec<_>>(), [(3, 1), (3, 0), (3, WAVES - 1)]);
    }

    #[test]
    fn overwriting_keeps_the_keys_and_zipf_prefers_few() {
        let largest_version = |churn| set_after(churn, 200).1.values().copied().max();
        assert!(largest_version(Churn::Zipfian) > Some(2 * largest_version(Churn::Uniform).unwrap()));
        assert!(set_after(Churn::Uniform, 200).1.keys().copied().eq(0..50));
    }
}
