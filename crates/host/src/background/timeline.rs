//! Derives a load's work during a trial from its reports. Pure.

/// A load counts as at work between two reports that are no farther apart than this, in nanoseconds, if the later one shows
/// progress or the earlier one waits for the disk. Ten reports: a busy machine may delay some.
pub const LONGEST_GAP_NS: u64 = 500_000_000;

/// The reports of a load, ordered by time.
#[derive(Debug, Clone, Default)]
pub struct Timeline {
    reports: Vec<(u64, f64)>,
    /// Times of reports that showed progress, or waited for the disk.
    at_work: Vec<u64>,
    /// When progress was seen last.
    pub last_progress_ns: Option<u64>,
}

impl Timeline {
    /// Adds a report; whether it shows progress.
    pub fn push(&mut self, at_ns: u64, done: f64, waiting: bool) -> bool {
        let before = self.reports.last().map(|(_, before)| *before);
        let has_progress = before.is_some_and(|before| done > before);
        self.reports.push((at_ns, done));
        if has_progress || waiting || before.is_none() {
            self.at_work.push(at_ns);
        }
        if has_progress {
            self.last_progress_ns = Some(at_ns);
        }
        has_progress
    }

    /// The progress from `from_ns` to `to_ns`, assumed to be even between two reports.
    pub fn progress(&self, from_ns: u64, to_ns: u64) -> f64 {
        self.done_at(to_ns) - self.done_at(from_ns)
    }

    fn done_at(&self, at_ns: u64) -> f64 {
        let after = self.reports.partition_point(|(time, _)| *time < at_ns);
        match (after.checked_sub(1).and_then(|before| self.reports.get(before)), self.reports.get(after)) {
            (Some((t0, d0)), Some((t1, d1))) => d0 + (d1 - d0) * (at_ns - t0) as f64 / (t1 - t0) as f64,
            (Some((_, done)), None) | (None, Some((_, done))) => *done,
            (None, None) => 0.0,
        }
    }

    /// The share of the time from `from_ns` to `to_ns` during which the load was at work, from 0 to 1. Time without reports
    /// counts as idle, however short the span is.
    pub fn active_share(&self, from_ns: u64, to_ns: u64) -> f64 {
        let at_work = self.at_work.windows(2).map(|pair| (pair[0], pair[1]));
        let at_work = at_work.filter(|(from, to)| to - from <= LONGEST_GAP_NS);
        let overlaps = at_work.map(|(from, to)| to.min(to_ns).saturating_sub(from.max(from_ns)));
        overlaps.sum::<u64>() as f64 / to_ns.saturating_sub(from_ns).max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Reports each 50 ms from a time to before another (in ms), with so much more each time; whether they wait for the disk.
    type Part = (u64, u64, f64, bool);

    fn timeline(parts: &[Part]) -> Timeline {
        let (mut timeline, mut done) = (Timeline::default(), 0.0);
        for (from, to, more, waiting) in parts {
            for time_ms in (*from..*to).step_by(50) {
                done += more;
                timeline.push(time_ms * MS, done, *waiting);
            }
        }
        timeline
    }

    const FIRST: Part = (0, 1_050, 1.0, false);
    const LAST: Part = (4_000, 5_050, 1.0, false);
    const WAITING: Part = (1_050, 4_000, 0.0, true);

    #[test]
    fn a_load_is_at_work_while_it_makes_progress_or_waits_for_the_disk() {
        type Share = (u64, u64, f64);
        let cases: [(&[Part], &[Share]); 8] = [
            (&[], &[(0, 1, 0.0)]),
            // However short the trial.
            (&[(0, 10_000, 2.0, false)], &[(0, 9_950, 1.0), (100, 5_000, 1.0)]),
            (&[(0, 10_000, 2.0, false)], &[(1_010, 1_020, 1.0), (3_000, 3_001, 1.0)]),
            // A load that dies is idle from then on.
            (&[FIRST], &[(500, 1_500, 0.5), (2_000, 3_000, 0.0)]),
            // A stall is idle, whether it reports or not.
            (&[FIRST, LAST], &[(0, 5_000, 0.4), (2_000, 3_000, 0.0)]),
            (&[FIRST, (1_050, 4_000, 0.0, false), LAST], &[(0, 5_000, 0.4), (2_000, 3_000, 0.0)]),
            (&[FIRST, WAITING, LAST], &[(0, 5_000, 1.0)]),
            // A late report is no stall.
            (&[FIRST, (1_400, 2_000, 1.0, false)], &[(0, 1_900, 1.0)]),
        ];
        for (parts, shares) in cases {
            for (from, to, expected) in shares {
                let share = timeline(parts).active_share(from * MS, to * MS);
                assert!((share - expected).abs() < 1e-9, "{parts:?}: {share} from {from} to {to}");
            }
        }
    }

    #[test]
    fn progress_is_even_between_two_reports() {
        let progress = |parts: &[Part], from: u64, to: u64| timeline(parts).progress(from * MS, to * MS);
        assert!((progress(&[(0, 10_000, 2.0, false)], 1_000, 2_000) - 40.0).abs() < 1e-9);
        assert!((progress(&[(0, 10_000, 2.0, false)], 1_010, 1_020) - 0.4).abs() < 1e-9);
        assert_eq!(progress(&[FIRST], 2_000, 3_000), 0.0);
        assert_eq!(progress(&[FIRST, WAITING, LAST], 2_000, 3_000), 0.0);
    }

    #[test]
    fn only_more_is_progress() {
        let mut timeline = Timeline::default();
        assert!(!timeline.push(MS, 5.0, false), "nothing to compare with");
        assert!(!timeline.push(2 * MS, 5.0, false));
        assert!(timeline.push(3 * MS, 6.0, false));
        assert_eq!(timeline.last_progress_ns, Some(3 * MS));
    }
}
