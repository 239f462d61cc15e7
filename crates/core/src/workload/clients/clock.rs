//! The offset of another machine's clock. A ping returns what that clock showed at some moment between sending and receiving; so
//! their middle is wrong by at most half of the round trip. The quickest of many pings counts (Cristian, Probabilistic clock
//! synchronization, 1989).

/// When it was sent by our clock, what the other showed, and when the answer came, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ping {
    pub sent_ns: u64,
    pub remote_ns: u64,
    pub received_ns: u64,
}

/// The offset of another machine's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClockOffset {
    /// Nanoseconds ahead of ours.
    ahead_ns: i128,
    /// The most by which that is wrong.
    pub uncertainty_ns: u64,
}

impl Ping {
    fn round_trip(&self) -> u64 {
        self.received_ns.saturating_sub(self.sent_ns)
    }
}

impl ClockOffset {
    /// By the quickest ping; `None` without any.
    pub fn from_pings(pings: &[Ping]) -> Option<ClockOffset> {
        let quickest = pings.iter().min_by_key(|ping| ping.round_trip())?;
        let middle = i128::from(quickest.sent_ns) + i128::from(quickest.round_trip() / 2);
        let uncertainty_ns = quickest.round_trip().div_ceil(2);
        Some(ClockOffset { ahead_ns: i128::from(quickest.remote_ns) - middle, uncertainty_ns })
    }

    /// Converts a moment of our clock to the other.
    pub fn to_remote(self, local_ns: u64) -> u64 {
        (i128::from(local_ns) + self.ahead_ns).clamp(0, i128::from(u64::MAX)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_lies_within_the_uncertainty_however_uneven_the_ways_are() {
        let mut random = fastrand::Rng::with_seed(5);
        for ahead in [-7_000_000_000_i64, 0, 123_456_789_012] {
            for _ in 0..200 {
                let mut pings = Vec::new();
                for _ in 0..random.usize(1..30) {
                    let (way_out, way_back) = (random.u64(1_000..3_000_000), random.u64(1_000..3_000_000));
                    let sent_ns = 10_000_000_000 + random.u64(0..1_000_000_000);
                    let remote_ns = (sent_ns + way_out).checked_add_signed(ahead).unwrap();
                    pings.push(Ping { sent_ns, remote_ns, received_ns: sent_ns + way_out + way_back });
                }
                let offset = ClockOffset::from_pings(&pings).unwrap();
                let error = offset.ahead_ns.abs_diff(i128::from(ahead));
                assert!(error <= u128::from(offset.uncertainty_ns), "{error} {offset:?}");
                let least = pings.iter().map(Ping::round_trip).min().unwrap();
                assert_eq!(offset.uncertainty_ns, least.div_ceil(2));
            }
        }
        assert_eq!(ClockOffset::from_pings(&[]), None);
    }

    #[test]
    fn a_moment_is_told_by_the_other_clock() {
        let offset_of = |remote_ns, received_ns| {
            ClockOffset::from_pings(&[Ping { sent_ns: 1_000, remote_ns, received_ns }]).unwrap()
        };
        let (ahead, behind) = (offset_of(901_100, 1_200), offset_of(100, 1_000));
        assert_eq!((ahead.to_remote(5_000), ahead.uncertainty_ns), (905_000, 100));
        assert_eq!((behind.to_remote(5_000), behind.to_remote(10)), (4_100, 0));
    }
}
