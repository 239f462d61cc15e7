//! Where bytes lie on a hard disk, and how long heads and platters take to get there. Seek times follow the distance and its
//! square root (Ruemmler and Wilkes, An Introduction to Disk Drive Modeling, 1994); tracks are shorter further in.

use super::HardDiskSpec;
use crate::request::{MILLISECOND, Nanos, SECOND};

/// A surface as one run of tracks from the outermost to the innermost.
#[derive(Debug, Clone)]
pub(crate) struct Surface {
    tracks: u64,
    /// Bytes of the outermost track, and how many fewer each next one has.
    outer: f64,
    shrink_per_track: f64,
    /// In nanoseconds.
    turn: f64,
    /// From the end of a track to the start of the next, which is skewed by it, so that nothing is missed; in nanoseconds.
    switch: f64,
    /// A seek of one track; further ones add `root` times the root of their share of all tracks, and `linear` times that share.
    seek_track: f64,
    root: f64,
    linear: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrackPosition {
    pub track: u64,
    /// The bytes of the track, and those before the place.
    bytes: f64,
    offset: f64,
    angle: f64,
}

impl Surface {
    pub fn from_data_sheet(data: &HardDiskSpec) -> Surface {
        let turn = 60.0 * SECOND as f64 / data.turns_per_minute;
        let switch = data.track_switch_ms * MILLISECOND as f64;
        // The published rate of a zone is the bytes that pass in a turn and the switch to the next track.
        let bytes = |mb_per_s: f64| mb_per_s * 1e6 * (turn + switch) / SECOND as f64;
        let (outer, inner) = (bytes(data.outer_mb_per_s), bytes(data.inner_mb_per_s));
        let tracks = (data.capacity_gb * 1e9 / ((outer + inner) / 2.0)).max(1.0) as u64 + 1;
        // The mean over all pairs of places is 8/15 for the root of the distance, and 1/3 for the distance.
        let (average, full) =
            (data.seek_average_ms - data.seek_track_ms, data.seek_full_ms - data.seek_track_ms);
        let root = (average - full / 3.0) / (8.0 / 15.0 - 1.0 / 3.0);
        Surface {
            tracks,
            outer,
            shrink_per_track: (outer - inner) / tracks as f64,
            turn,
            switch,
            seek_track: data.seek_track_ms * MILLISECOND as f64,
            root: root * MILLISECOND as f64,
            linear: (full - root) * MILLISECOND as f64,
        }
    }

    fn bytes_before(&self, track: u64) -> f64 {
        let track = track as f64;
        self.outer * track - self.shrink_per_track * track * track / 2.0
    }

    fn track_bytes(&self, track: u64) -> f64 {
        self.bytes_before(track + 1) - self.bytes_before(track)
    }

    pub fn position_of(&self, byte: u64) -> TrackPosition {
        let byte = byte as f64;
        let root = (self.outer * self.outer - 2.0 * self.shrink_per_track * byte).max(0.0).sqrt();
        let guess = if self.shrink_per_track > 0.0 {
            (self.outer - root) / self.shrink_per_track
        } else {
            byte / self.outer
        };
        let mut track = (guess.max(0.0) as u64).min(self.tracks - 1);
        while track > 0 && self.bytes_before(track) > byte {
            track -= 1;
        }
        while self.bytes_before(track + 1) <= byte && track + 1 < self.tracks {
            track += 1;
        }
        let (bytes, offset) = (self.track_bytes(track), byte - self.bytes_before(track));
        let skew = self.switch / self.turn * track as f64;
        TrackPosition { track, bytes, offset, angle: (offset / bytes + skew).fract() }
    }

    pub fn seek(&self, start: u64, end: u64) -> f64 {
        match start.abs_diff(end) {
            0 => 0.0,
            distance => {
                let share = (distance - 1) as f64 / self.tracks as f64;
                self.seek_track + self.root * share.sqrt() + self.linear * share
            }
        }
    }

    /// The time until a place on the heads' track comes under them.
    pub fn wait(&self, spot: &TrackPosition, moment: f64) -> f64 {
        let now = (moment / self.turn).fract();
        let turns = spot.angle - now;
        // A negative rounding error means that it is just there.
        let turns = if turns < -1e-6 { turns + 1.0 } else { turns.max(0.0) };
        turns * self.turn
    }

    /// The time in which a number of bytes passes under the heads.
    pub fn pass(&self, start: TrackPosition, bytes: u64) -> f64 {
        let (mut spot, mut remaining, mut time) = (start, bytes as f64, 0.0);
        loop {
            let track_rest = spot.bytes - spot.offset;
            if remaining <= track_rest {
                return time + remaining / spot.bytes * self.turn;
            }
            remaining -= track_rest;
            time += track_rest / spot.bytes * self.turn + self.switch;
            let track = (spot.track + 1).min(self.tracks - 1);
            spot = TrackPosition { track, bytes: self.track_bytes(track), offset: 0.0, angle: 0.0 };
        }
    }

    /// The bytes that have passed under the heads after a time, up to a maximum.
    pub fn bytes_passed(&self, start: TrackPosition, time: Nanos, most: u64) -> u64 {
        let (mut spot, mut remaining, mut bytes) = (start, time as f64, 0.0);
        while bytes < most as f64 {
            let track_rest = spot.bytes - spot.offset;
            let track_time = track_rest / spot.bytes * self.turn;
            if remaining <= track_time {
                bytes += remaining / self.turn * spot.bytes;
                break;
            }
            bytes += track_rest;
            remaining -= track_time + self.switch;
            if remaining <= 0.0 {
                break;
            }
            let track = (spot.track + 1).min(self.tracks - 1);
            spot = TrackPosition { track, bytes: self.track_bytes(track), offset: 0.0, angle: 0.0 };
        }
        (bytes as u64).min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::rotating::tests::data;

    #[test]
    fn the_published_seeks_are_those_of_the_curve() {
        let surface = Surface::from_data_sheet(&data());
        let ms = |start, end| surface.seek(start, end) / 1e6;
        assert_eq!((ms(5, 5), ms(5, 6)), (0.0, 1.0));
        assert!((ms(0, surface.tracks - 1) - 20.0).abs() < 0.01);
        let mut random = Random::seeded(1);
        let pairs = 200_000;
        let sum: f64 =
            (0..pairs).map(|_| ms(random.below(surface.tracks), random.below(surface.tracks))).sum();
        let mean = sum / f64::from(pairs);
        assert!((mean - 9.0).abs() < 0.05, "{mean}");
    }

    #[test]
    fn tracks_hold_the_capacity_and_pass_at_the_published_rates() {
        let surface = Surface::from_data_sheet(&data());
        let capacity = (data().capacity_gb * 1e9) as u64;
        assert!(surface.bytes_before(surface.tracks) >= capacity as f64);
        for (byte, rate) in [(0, 120.0), (capacity - (64 << 20), 60.0)] {
            let spot = surface.position_of(byte);
            let time = surface.pass(spot, 64 << 20);
            let mb_per_s = f64::from(64 << 20) / 1e6 / (time / 1e9);
            assert!((mb_per_s / rate - 1.0).abs() < 0.01, "{mb_per_s}");
        }
        for byte in [0, 1, 1_000_000, 123_456_789_012, capacity - 1] {
            let spot = surface.position_of(byte);
            let byte_again = surface.bytes_before(spot.track) + spot.offset;
            assert!((byte_again - byte as f64).abs() < 1.0 && spot.offset < spot.bytes, "{byte}: {spot:?}");
        }
        // After a time has passed what passes in it.
        for (byte, bytes) in [(0, 4096), (77_000_000, 5 << 20), (1 << 37, 300_000)] {
            let spot = surface.position_of(byte);
            let time = surface.pass(spot, bytes) as Nanos;
            let passed = surface.bytes_passed(spot, time, u64::MAX);
            assert!(passed.abs_diff(bytes) <= 2, "{passed} of {bytes}");
            assert_eq!(surface.bytes_passed(spot, time * 2, bytes), bytes);
        }
        // The next track begins when the heads have switched.
        let first = surface.position_of(0);
        let length = first.bytes;
        let next = surface.position_of(length.ceil() as u64);
        assert_eq!(next.track, 1);
        let end = surface.pass(first, length as u64);
        let wait = surface.wait(&next, end + surface.switch);
        assert!(wait < 0.001 * surface.turn, "{wait}");
    }
}
