//! The distance of another machine's clock from ours. A ping goes there and comes back with what that clock showed. It showed that at
//! some moment between the two; so the middle of them is wrong by half of the time that both ways took, at most. Of many pings
//! the quickest tells most (Cristian, Probabilistic clock synchronization, 1989).

/// A ping: when it was sent by our clock, what the other showed, and when that came here, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ping {
    pub sent: u64,
    pub there: u64,
    pub back: u64,
}

/// Another machine's clock, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offset {
    /// The nanoseconds by which it is ahead of ours.
    ahead_ns: i128,
    /// The most by which that is wrong.
    pub uncertainty_ns: u64,
}

impl Ping {
    fn took(&self) -> u64 {
        self.back.saturating_sub(self.sent)
    }
}

impl Offset {
    /// By the quickest of these pings; `None` where there is none.
    pub fn of(pings: &[Ping]) -> Option<Offset> {
        let quickest = pings.iter().min_by_key(|ping| ping.took())?;
        let middle = i128::from(quickest.sent) + i128::from(quickest.took() / 2);
        let uncertainty_ns = quickest.took().div_ceil(2);
        Some(Offset { ahead_ns: i128::from(quickest.there) - middle, uncertainty_ns })
    }

    /// A moment of our clock, by the other.
    pub fn there(&self, here: u64) -> u64 {
        (i128::from(here) + self.ahead_ns).clamp(0, i128::from(u64::MAX)) as u64
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
                    let (out, back) = (random.u64(1_000..3_000_000), random.u64(1_000..3_000_000));
                    let sent = 10_000_000_000 + random.u64(0..1_000_000_000);
                    let there = (sent + out).checked_add_signed(ahead).unwrap();
                    pings.push(Ping { sent, there, back: sent + out + back });
                }
                let offset = Offset::of(&pings).unwrap();
                let off_by = offset.ahead_ns.abs_diff(i128::from(ahead));
                assert!(off_by <= u128::from(offset.uncertainty_ns), "{off_by} {offset:?}");
                let least = pings.iter().map(Ping::took).min().unwrap();
                assert_eq!(offset.uncertainty_ns, least.div_ceil(2));
            }
        }
        assert_eq!(Offset::of(&[]), None);
    }

    #[test]
    fn a_moment_is_told_by_the_other_clock() {
        let offset = Offset::of(&[Ping { sent: 1_000, there: 901_100, back: 1_200 }]).unwrap();
        assert_eq!((offset.there(5_000), offset.uncertainty_ns), (905_000, 100));
        let behind = Offset::of(&[Ping { sent: 1_000, there: 100, back: 1_000 }]).unwrap();
        assert_eq!((behind.there(5_000), behind.there(10)), (4_100, 0));
    }
}
