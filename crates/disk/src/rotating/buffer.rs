//! The buffer in which a hard disk keeps what it has read, and reads on while no other request waits.

use std::collections::VecDeque;

use super::geometry::Surface;
use crate::request::Nanos;

/// Bytes of the disk, from one to before another.
type Stretch = (u64, u64);

/// The running read-ahead, as the heads follow the track.
#[derive(Debug, Clone, Copy)]
struct ReadAhead {
    /// The first byte that the buffer still holds.
    start: u64,
    /// The byte under the heads at the moment `since`, and where it stops.
    from: u64,
    since: Nanos,
    limit: u64,
}

#[derive(Debug)]
pub struct Buffer {
    /// Bytes of a segment, and their number; 0 keeps nothing.
    segment: u64,
    max_segments: usize,
    /// Earlier runs, the oldest first.
    kept: VecDeque<Stretch>,
    ahead: Option<ReadAhead>,
}

impl Buffer {
    pub fn new(bytes: u64, segments: u32) -> Buffer {
        let max_segments = segments as usize;
        let segment = bytes / u64::from(segments.max(1));
        Buffer { segment, max_segments, kept: VecDeque::new(), ahead: None }
    }

    pub fn holds(&self, surface: &Surface, (start, end): Stretch, now: Nanos) -> bool {
        let contains = |kept: &Stretch| kept.0 <= start && end <= kept.1;
        self.kept.iter().any(contains)
            || self.ahead.is_some_and(|ahead| contains(&(ahead.start, ahead.reached(surface, now))))
    }

    /// When the read-ahead will have a stretch, unless it stops before.
    pub fn reaches(&self, surface: &Surface, (start, end): Stretch, now: Nanos) -> Option<f64> {
        let ahead = self.ahead?;
        let is_next = ahead.start <= start && start <= ahead.reached(surface, now) && end <= ahead.limit;
        is_next.then(|| {
            ahead.since as f64 + surface.pass(surface.position_of(ahead.from), end.saturating_sub(ahead.from))
        })
    }

    /// Keeps what was read ahead when the heads leave the track.
    pub fn leave(&mut self, surface: &Surface, now: Nanos) {
        if let Some(ahead) = self.ahead.take() {
            self.keep((ahead.start, ahead.reached(surface, now)));
        }
    }

    /// Begins to read ahead after a stretch that has been read, up to an end.
    pub fn read(&mut self, (start, end): Stretch, now: Nanos, last: u64) {
        if self.max_segments == 0 {
            return;
        }
        let limit = end.saturating_add(self.segment).min(last);
        let start = match self.ahead {
            Some(ahead) if ahead.start <= start && start <= ahead.limit => ahead.start,
            _ => start,
        };
        let start = start.max(end.saturating_sub(self.segment));
        self.ahead = Some(ReadAhead { start, from: end, since: now, limit });
    }

    /// Drops what has been overwritten.
    pub fn forget(&mut self, (start, end): Stretch) {
        self.kept.retain(|kept| kept.1 <= start || end <= kept.0);
        if self.ahead.is_some_and(|ahead| ahead.start < end && start < ahead.limit) {
            self.ahead = None;
        }
    }

    fn keep(&mut self, (start, end): Stretch) {
        let start = start.max(end.saturating_sub(self.segment));
        if start >= end {
            return;
        }
        self.kept.push_back((start, end));
        if self.kept.len() > self.max_segments {
            self.kept.pop_front();
        }
    }
}

impl ReadAhead {
    fn reached(&self, surface: &Surface, now: Nanos) -> u64 {
        let most = self.limit.saturating_sub(self.from);
        self.from + surface.bytes_passed(surface.position_of(self.from), now.saturating_sub(self.since), most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{MILLISECOND, SECOND};
    use crate::rotating::tests::data;

    #[test]
    fn what_was_read_and_what_follows_it_is_there_until_it_is_written() {
        let surface = Surface::from_data_sheet(&data());
        let mut buffer = Buffer::new(16 << 20, 16);
        buffer.read((4096, 8192), 0, u64::MAX);
        assert!(buffer.holds(&surface, (4096, 8192), 0));
        assert!(!buffer.holds(&surface, (8192, 12_288), 0));
        // 4 KiB pass in 34 us.
        assert!(buffer.holds(&surface, (8192, 12_288), 40_000));
        let due = buffer.reaches(&surface, (8192, 8192 + (120 << 10)), 0).unwrap();
        assert!((due / 1e6 - 0.93).abs() < 0.1, "{due}");
        assert_eq!(buffer.reaches(&surface, (8192, 8192 + (2 << 20)), 0), None, "a segment is full before");
        buffer.leave(&surface, 5 * MILLISECOND);
        assert!(buffer.holds(&surface, (8192, 400_000), SECOND));
        assert!(!buffer.holds(&surface, (8192, 1 << 20), SECOND));
        buffer.forget((0, 4097));
        assert!(!buffer.holds(&surface, (8192, 12_288), SECOND));
    }

    #[test]
    fn the_oldest_segment_goes_first_and_without_a_buffer_nothing_is_kept() {
        let surface = Surface::from_data_sheet(&data());
        let mut buffer = Buffer::new(4 << 20, 2);
        for gib in [10_u64, 20, 30] {
            buffer.read((gib << 30, (gib << 30) + 4096), 0, (gib << 30) + 4096);
            buffer.leave(&surface, SECOND);
        }
        let holds =
            |buffer: &Buffer, gib: u64| buffer.holds(&surface, (gib << 30, (gib << 30) + 4096), SECOND);
        assert_eq!([10, 20, 30].map(|gib| holds(&buffer, gib)), [false, true, true]);
        let mut no_buffer = Buffer::new(0, 0);
        no_buffer.read((0, 4096), 0, u64::MAX);
        assert!(!holds(&no_buffer, 0));
    }
}
