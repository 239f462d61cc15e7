//! The resolution of figures: the smallest differences that count. A difference below the clock's resolution does not count, however often it is measured:
//! trials average out random variation, but not what the clock does in the same way each time. Little disk space does not count either.

/// The difference of two figures from which one is better. By default every difference counts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Resolution {
    /// The difference between any two times, in nanoseconds.
    pub fixed_ns: f64,
    /// An additional share of the longer time ...
    pub share: f64,
    /// ... of at most this, in nanoseconds.
    pub share_at_most_ns: f64,
    pub scale: Scale,
}

/// How a figure relates to the compared quantity, mostly the time of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Scale {
    /// The time itself, in nanoseconds.
    #[default]
    Nanoseconds,
    /// Operations per second of several threads.
    PerSecond { threads: f64 },
    /// Disk space in bytes, with a smallest difference.
    Bytes { least: f64 },
}

impl Resolution {
    /// Whether two figures differ by enough to count.
    pub fn can_tell(&self, a: f64, b: f64) -> bool {
        if let Scale::Bytes { least } = self.scale {
            return (a - b).abs() >= least;
        }
        let (a, b) = (self.nanoseconds(a), self.nanoseconds(b));
        (a - b).abs() > self.least_ns(a.max(b))
    }

    /// The smallest difference from a longer time, in nanoseconds.
    pub fn least_ns(&self, longer_ns: f64) -> f64 {
        self.fixed_ns + (self.share * longer_ns).min(self.share_at_most_ns)
    }

    fn nanoseconds(&self, figure: f64) -> f64 {
        match self.scale {
            Scale::Nanoseconds | Scale::Bytes { .. } => figure,
            Scale::PerSecond { threads } => 1e9 * threads / figure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_must_exceed_both_parts() {
        let reads =
            Resolution { fixed_ns: 10.0, share: 0.1, share_at_most_ns: 100.0, scale: Scale::Nanoseconds };
        // 10 and a tenth of 250.
        assert!(!reads.can_tell(250.0, 216.0) && reads.can_tell(250.0, 214.0));
        assert!(!reads.can_tell(216.0, 250.0), "whichever comes first");
        // 10 and 100: a tenth of 20,000 is more than the clock's largest error.
        assert!(!reads.can_tell(20_000.0, 19_891.0) && reads.can_tell(20_000.0, 19_889.0));
        let exact = Resolution::default();
        assert!(exact.can_tell(1.0, 1.000_001) && !exact.can_tell(1.0, 1.0));
    }

    #[test]
    fn a_little_room_on_disk_is_none() {
        let disk = Resolution { scale: Scale::Bytes { least: 1000.0 }, ..Resolution::default() };
        assert!(!disk.can_tell(5000.0, 5999.0) && disk.can_tell(6000.0, 5000.0));
    }

    #[test]
    fn rates_are_told_by_the_times_behind_them() {
        let scale = Scale::PerSecond { threads: 2.0 };
        let clock = Resolution { fixed_ns: 10.0, scale, ..Resolution::default() };
        // Two threads: 250 ns, 241 ns and 239 ns an operation.
        assert!(!clock.can_tell(2e9 / 250.0, 2e9 / 241.0) && clock.can_tell(2e9 / 250.0, 2e9 / 239.0));
    }
}
