//! The keys of a trace, counted in bounded memory: each of them up to a million, of more a sample. A key is in the sample by its
//! hash, so that all its operations are, and the sample is halved whenever it is full.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::entry::Entry;
use super::operation::TraceOperation;
use super::zipf;

/// Keys that are counted one by one.
pub const EXACT: usize = 1 << 20;

/// Keys are hashes already.
#[derive(Debug, Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash << 8 | u64::from(*byte));
    }
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Where a key's value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastValue {
    /// From before the trace: its first operation was one that looks for it.
    Loaded,
    /// A value from the trace, with its size in bytes.
    Written(u32),
    /// It has none.
    Missing,
}

#[derive(Debug, Clone, Copy)]
struct KeyHistory {
    first: u64,
    count: u64,
    key_bytes: u32,
    /// The latest size that the trace has for it.
    size: Option<u32>,
    value: LastValue,
    /// Whether its first operation was one that looks for it; then the size that this has.
    loaded_size: Option<Option<u32>>,
}

/// The keys of a trace.
#[derive(Debug, Default)]
pub struct Census {
    keys: HashMap<u64, KeyHistory, BuildHasherDefault<IdentityHasher>>,
    /// One key in two to this is counted.
    halvings: u32,
    max_keys: usize,
    unwritten_lookups: u64,
}

/// Keys and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeyTally {
    pub keys: u64,
    pub key_bytes: u64,
    pub value_bytes: u64,
}

impl KeyTally {
    fn add(&mut self, history: &KeyHistory, size: u64) {
        self.keys += 1;
        self.key_bytes += u64::from(history.key_bytes);
        self.value_bytes += size;
    }

    fn scaled_by(self, factor: u64) -> KeyTally {
        let KeyTally { keys, key_bytes, value_bytes } = self;
        KeyTally { keys: keys * factor, key_bytes: key_bytes * factor, value_bytes: value_bytes * factor }
    }
}

/// The records that the store is to hold when the trace has been played.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordTallies {
    /// Keys that are looked for before they are written.
    pub before: KeyTally,
    /// The keys of `before` that keep their value.
    pub kept: KeyTally,
    /// Keys with a value that the trace wrote.
    pub written: KeyTally,
}

impl Census {
    pub fn new() -> Census {
        Census { max_keys: EXACT, ..Census::default() }
    }

    /// One key in how many is counted.
    pub fn one_in(&self) -> u64 {
        1 << self.halvings
    }

    /// Operations that looked for keys which the trace had not written before.
    pub fn lookups_of_unwritten(&self) -> u64 {
        self.unwritten_lookups * self.one_in()
    }

    fn is_sampled(&self, hash: u64) -> bool {
        self.halvings == 0 || hash >> (64 - self.halvings) == 0
    }

    /// Counts an operation that is played. The start of a scan is a place in the order, and no key.
    pub fn add(&mut self, entry: &Entry<'_>) {
        let (hash, does) = (entry.hash(), entry.word.does);
        if does == TraceOperation::Scan || !self.is_sampled(hash) {
            return;
        }
        let entry_size = entry.size.map(|size| size as u32);
        let history = self.keys.entry(hash).or_insert_with(|| KeyHistory {
            first: entry.position,
            count: 0,
            key_bytes: entry.key.len() as u32,
            size: None,
            value: if does.needs_key() { LastValue::Loaded } else { LastValue::Missing },
            loaded_size: does.needs_key().then_some(entry_size),
        });
        history.count += 1;
        self.unwritten_lookups += u64::from(does.needs_key() && history.value == LastValue::Loaded);
        history.size = entry_size.or(history.size);
        match does {
            TraceOperation::Set | TraceOperation::Modify => {
                history.value = LastValue::Written(entry_size.unwrap_or_default())
            }
            TraceOperation::Remove => history.value = LastValue::Missing,
            TraceOperation::Get | TraceOperation::Scan | TraceOperation::Skip => {}
        }
        if self.keys.len() > self.max_keys {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.halvings += 1;
        let halvings = self.halvings;
        self.keys.retain(|hash, _| hash >> (64 - halvings) == 0);
        self.unwritten_lookups /= 2;
    }

    /// The number of keys.
    pub fn keys(&self) -> u64 {
        self.keys.len() as u64 * self.one_in()
    }

    /// The records that are touched up to an operation. A value whose size is nowhere in the trace has `unknown` bytes.
    pub fn records_touched_up_to(&self, position: u64, unknown: u64) -> KeyTally {
        let mut tally = KeyTally::default();
        for history in self.keys.values().filter(|history| history.first <= position) {
            tally.add(history, size_or(history.size, unknown));
        }
        tally.scaled_by(self.one_in())
    }

    /// The records that the store is to hold at the end.
    pub fn record_tallies(&self, unknown: u64) -> RecordTallies {
        let mut tallies = RecordTallies::default();
        for history in self.keys.values() {
            let loaded = size_or(history.loaded_size.flatten(), unknown);
            if history.loaded_size.is_some() {
                tallies.before.add(history, loaded);
            }
            match history.value {
                LastValue::Loaded => tallies.kept.add(history, loaded),
                LastValue::Written(size) => tallies.written.add(history, u64::from(size)),
                LastValue::Missing => {}
            }
        }
        let RecordTallies { before, kept, written } = tallies;
        let [before, kept, written] = [before, kept, written].map(|tally| tally.scaled_by(self.one_in()));
        RecordTallies { before, kept, written }
    }

    /// The spread of operations over the keys.
    pub fn skew(&self) -> Skew {
        let mut counts: Vec<u64> = self.keys.values().map(|history| history.count).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let total = counts.iter().sum::<u64>().max(1);
        let top = |share: f64| {
            let keys = ((counts.len() as f64 * share).ceil() as usize).min(counts.len());
            counts[..keys].iter().sum::<u64>() as f64 / total as f64
        };
        let once = counts.iter().filter(|count| **count == 1).count();
        Skew {
            top_1_percent: top(0.01),
            top_10_percent: top(0.1),
            once: once as f64 / counts.len().max(1) as f64,
            zipf: zipf::exponent(&counts),
        }
    }
}

fn size_or(size: Option<u32>, unknown: u64) -> u64 {
    size.map_or(unknown, u64::from)
}

/// The spread of operations over the keys.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Skew {
    /// The share of operations on the most used 1 % of keys.
    pub top_1_percent: f64,
    /// The share of operations on the most used 10 % of keys.
    pub top_10_percent: f64,
    /// The share of keys with one operation.
    pub once: f64,
    /// The exponent of the Zipf distribution that fits best.
    pub zipf: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::operation::{self, OWN};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn census(max_keys: usize, operations: &[(&str, u16, Option<u64>)]) -> Census {
        let mut census = Census { max_keys, ..Census::default() };
        for ((name, key, size), position) in operations.iter().zip(1..) {
            let word = operation::find(&OWN, name.as_bytes()).unwrap();
            census.add(&Entry { position, time_ns: 0, word, key: &key.to_be_bytes(), size: *size });
        }
        census
    }

    #[test]
    fn what_comes_from_before_the_trace_is_told_from_what_it_wrote() {
        let census = census(
            100,
            &[
                ("get", 1, Some(70)),
                ("get", 1, None),
                ("set", 2, Some(10)),
                ("get", 2, Some(10)),
                ("get", 3, None),
                ("set", 3, Some(5)),
                ("remove", 4, Some(0)),
                ("scan", 5, Some(7)),
            ],
        );
        assert_eq!(census.lookups_of_unwritten(), 4);
        let tallies = census.record_tallies(33);
        assert_eq!(tallies.before, KeyTally { keys: 3, key_bytes: 6, value_bytes: 70 + 33 });
        assert_eq!(tallies.kept, KeyTally { keys: 1, key_bytes: 2, value_bytes: 70 });
        assert_eq!(tallies.written, KeyTally { keys: 2, key_bytes: 4, value_bytes: 15 });
        assert_eq!(census.records_touched_up_to(3, 33).keys, 2);
        assert_eq!(census.skew().once, 0.25);
    }

    #[test]
    fn of_very_many_keys_a_sample_tells_how_many_there_are() {
        let operations: Vec<(&str, u16, Option<u64>)> =
            (0..60_000).map(|key| ("set", key, Some(100))).collect();
        let census = census(4_000, &operations);
        assert_eq!(census.one_in(), 16);
        let keys = census.keys() as f64;
        assert!((keys / 60_000.0 - 1.0).abs() < 0.06, "{keys}");
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_map(operations in prop::collection::vec((0..5_u8, 0..12_u16, 0..99_u64), 1..80)) {
            let names = ["get", "set", "modify", "remove", "scan"];
            let operations: Vec<_> =
                operations.into_iter().map(|(name, key, size)| (names[name as usize], key, Some(size))).collect();
            let mut loaded = BTreeMap::new();
            let (mut model, mut seen) = (BTreeMap::new(), BTreeSet::new());
            for (name, key, size) in &operations {
                let Some(size) = size else { continue };
                if *name != "scan" && seen.insert(*key) && *name != "set" {
                    loaded.insert(*key, *size);
                    model.insert(*key, (*size, true));
                }
                match *name {
                    "set" | "modify" => drop(model.insert(*key, (*size, false))),
                    "remove" => drop(model.remove(key)),
                    _ => {}
                }
            }
            let tallies = census(100, &operations).record_tallies(7);
            let tally = |sizes: Vec<u64>| (sizes.len() as u64, sizes.iter().sum::<u64>());
            let figures = |tally: KeyTally| (tally.keys, tally.value_bytes);
            prop_assert_eq!(figures(tallies.before), tally(loaded.into_values().collect()));
            prop_assert_eq!(figures(tallies.kept), tally(model.values().filter(|entry| entry.1).map(|entry| entry.0).collect()));
            prop_assert_eq!(figures(tallies.written), tally(model.values().filter(|entry| !entry.1).map(|entry| entry.0).collect()));
        }
    }
}
