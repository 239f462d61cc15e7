//! The cache in which a hard disk keeps writes that it has acknowledged and not yet written.

use std::collections::BTreeMap;

use crate::request::Nanos;

/// The most bytes written in one go.
const MOST_AT_ONCE: u64 = 2 << 20;

/// Waiting writes by their place on the disk; touching ones are merged, none overlap.
#[derive(Debug, Default)]
pub struct Cache {
    capacity: u64,
    places: usize,
    waiting: BTreeMap<u64, u64>,
    bytes: u64,
    /// Since when any has waited.
    pub oldest_arrival: Nanos,
}

impl Cache {
    pub fn new(capacity: u64, places: usize) -> Cache {
        Cache { capacity, places, ..Cache::default() }
    }

    /// Whether this many more bytes fit; anything fits into an empty cache.
    pub fn fits(&self, bytes: u64) -> bool {
        self.bytes == 0 || (self.bytes + bytes <= self.capacity && self.waiting.len() < self.places)
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether all of a stretch is in the cache.
    pub fn holds(&self, (start, end): (u64, u64)) -> bool {
        self.waiting.range(..=start).next_back().is_some_and(|(_, until)| end <= *until)
    }

    pub fn put(&mut self, (mut start, mut end): (u64, u64), now: Nanos) {
        if self.is_empty() {
            self.oldest_arrival = now;
        }
        while let Some((&from, &until)) = self.waiting.range(..=end).next_back() {
            if until < start {
                break;
            }
            (start, end) = (start.min(from), end.max(until));
            self.remove(from, until);
        }
        self.waiting.insert(start, end);
        self.bytes += end - start;
    }

    fn remove(&mut self, from: u64, until: u64) {
        self.waiting.remove(&from);
        self.bytes -= until - from;
    }

    /// Drops a discarded stretch.
    pub fn discard(&mut self, (start, end): (u64, u64)) {
        let overlapping = self.waiting.range(..end).rev().take_while(|(_, until)| **until > start);
        let overlapping: Vec<(u64, u64)> = overlapping.map(|(from, until)| (*from, *until)).collect();
        for (from, until) in overlapping {
            self.remove(from, until);
            for (from, until) in [(from, start), (end, until)] {
                if from < until {
                    self.waiting.insert(from, until);
                    self.bytes += until - from;
                }
            }
        }
    }

    /// Stretches that could be written next: after a byte, then from the start.
    pub fn next(&self, from: u64, most: usize) -> Vec<(u64, u64)> {
        let shorten = |(start, end): (&u64, &u64)| (*start, (*end).min(*start + MOST_AT_ONCE));
        self.waiting.range(from..).chain(self.waiting.range(..from)).take(most).map(shorten).collect()
    }

    /// Removes a stretch that [`Cache::next`] returned.
    pub fn written(&mut self, (start, end): (u64, u64)) {
        let Some(&until) = self.waiting.get(&start) else { return };
        self.remove(start, until);
        if end < until {
            self.waiting.insert(end, until);
            self.bytes += until - end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretches(cache: &Cache) -> Vec<(u64, u64)> {
        cache.waiting.iter().map(|(start, end)| (*start, *end)).collect()
    }

    #[test]
    fn what_touches_is_written_as_one() {
        let mut cache = Cache::new(100, 9);
        let parts = [(10, 20), (30, 40), (50, 60)];
        (5..).zip(parts).for_each(|(now, part)| cache.put(part, now));
        assert_eq!((stretches(&cache), cache.bytes, cache.oldest_arrival), (parts.to_vec(), 30, 5));
        cache.put((20, 30), 8);
        cache.put((35, 55), 8);
        assert_eq!((stretches(&cache), cache.bytes), (vec![(10, 60)], 50));
        cache.put((12, 13), 9);
        assert_eq!((stretches(&cache), cache.bytes), (vec![(10, 60)], 50), "overwritten here");
        assert!(cache.holds((10, 60)) && !cache.holds((9, 11)) && !cache.holds((59, 61)));
        assert!(cache.fits(50) && !cache.fits(51));
        cache.discard((20, 30));
        assert_eq!((stretches(&cache), cache.bytes), (vec![(10, 20), (30, 60)], 40));
    }

    #[test]
    fn the_next_follow_where_the_heads_are() {
        let mut cache = Cache::new(1 << 30, 9);
        for place in [1, 3, 5] {
            cache.put((place * 1000, place * 1000 + 10), 0);
        }
        assert_eq!(cache.next(3000, 2), [(3000, 3010), (5000, 5010)]);
        assert_eq!(cache.next(3001, 2), [(5000, 5010), (1000, 1010)]);
        cache.written((3000, 3010));
        assert_eq!(stretches(&cache), [(1000, 1010), (5000, 5010)]);
        let mut long = Cache::new(1 << 30, 9);
        long.put((0, 5 << 20), 0);
        let first = long.next(0, 9);
        assert_eq!(first, [(0, 2 << 20)]);
        long.written(first[0]);
        assert_eq!((stretches(&long), long.bytes), (vec![(2 << 20, 5 << 20)], 3 << 20));
    }
}
