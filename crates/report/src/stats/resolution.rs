//! The resolution of figures: differences that count. A difference that the clock can't tell is none, however often it is measured:
//! trials average out what varies, and never what the clock does in the same way each time. A little room on disk is none either.

/// The difference of two figures from which one is better. By default any difference is enough.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Resolution {
    /// The difference that any two times need, in nanoseconds.
    pub fixed_ns: f64,
    /// The difference that they need besides, as a share of the longer time ...
    pub share: f64,
    /// ... but never more than this, in nanoseconds.
    pub share_at_most_ns: f64,
    /// The scale of figures: what they tell.
    pub scale: Scale,
}

/// The relation of a figure to what is compared: mostly the time of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Scale {
    /// It is that time, in nanoseconds.
    #[default]
    Nanoseconds,
    /// It is how many operations so many threads do in a second.
    PerSecond {
        /// The threads.
        threads: f64,
    },
    /// It is room on disk, in bytes, which must differ by so many.
    Bytes {
        /// The bytes.
        least: f64,
    },
}

impl Resolution {
    /// Whether two figures differ by as much as counts.
    pub fn can_tell(&self, a: f64, b: f64) -> bool {
        if let Scale::Bytes { least } = self.scale {
            return (a - b).abs() >= least;
        }
        let (a, b) = (self.nanoseconds(a), self.nanoseconds(b));
        (a - b).abs() > self.least_ns(a.max(b))
    }

    /// The distance below a time at which another must lie, in nanoseconds.
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
        // 10 and 100: a tenth of 20,000 is more than the clock ever misses.
        assert!(!reads.can_tell(20_000.0, 19_891.0) && reads.can_tell(20_000.0, 19_889.0));
        let any = Resolution::default();
        assert!(any.can_tell(1.0, 1.000_001) && !any.can_tell(1.0, 1.0));
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
