//! The counts of a simulated disk, and how late it answered.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::device::Tally;
use crate::request::{Kind, Nanos, Request, SECOND};

/// The longest lateness that is told from a longer one.
const LONGEST: Nanos = 60 * SECOND;

/// The counts of one kind of request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfKind {
    /// Requests.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// All that a simulated disk has counted since it was there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Reads.
    pub reads: OfKind,
    /// Writes.
    pub writes: OfKind,
    /// Discards.
    pub discards: OfKind,
    /// Flushes.
    pub flushes: u64,
    /// Events that the model counted.
    #[serde(flatten)]
    pub tally: Tally,
    /// The sum of the times that the model gave, in nanoseconds: from arrival to due.
    pub modelled_ns: Nanos,
    /// The sum of the times by which replies were sent after they were due, in nanoseconds.
    pub late_ns: Nanos,
    /// The 99th percentile of these.
    pub late_ns_p99: Nanos,
    /// Processor time of the server, in nanoseconds.
    pub processor_ns: Nanos,
}

impl Counts {
    /// Replies.
    pub fn replies(&self) -> u64 {
        self.reads.requests + self.writes.requests + self.discards.requests + self.flushes
    }

    /// The mean by which a reply was late, in nanoseconds.
    pub fn late_ns_mean(&self) -> f64 {
        self.late_ns as f64 / self.replies().max(1) as f64
    }

    /// The lateness as a share of the time that the model gave.
    pub fn late_share(&self) -> f64 {
        self.late_ns as f64 / self.modelled_ns.max(1) as f64
    }

    /// The counts since earlier ones of the same disk. A percentile is that of the whole time.
    pub fn since(&self, before: &Counts) -> Counts {
        let of = |now: OfKind, then: OfKind| OfKind {
            requests: now.requests.saturating_sub(then.requests),
            bytes: now.bytes.saturating_sub(then.bytes),
        };
        Counts {
            reads: of(self.reads, before.reads),
            writes: of(self.writes, before.writes),
            discards: of(self.discards, before.discards),
            flushes: self.flushes.saturating_sub(before.flushes),
            tally: Tally {
                seeks: self.tally.seeks.saturating_sub(before.tally.seeks),
                merges: self.tally.merges.saturating_sub(before.tally.merges),
            },
            modelled_ns: self.modelled_ns.saturating_sub(before.modelled_ns),
            late_ns: self.late_ns.saturating_sub(before.late_ns),
            late_ns_p99: self.late_ns_p99,
            processor_ns: self.processor_ns.saturating_sub(before.processor_ns),
        }
    }
}

/// The counts.
#[derive(Debug)]
pub struct Counter {
    counts: Counts,
    late: Histogram<u64>,
}

impl Counter {
    /// From nothing.
    ///
    /// # Errors
    /// Never: its bounds are constants.
    pub fn new() -> Result<Counter, String> {
        let late = Histogram::new_with_bounds(1, LONGEST, 2).map_err(|error| error.to_string())?;
        Ok(Counter { counts: Counts::default(), late })
    }

    /// A reply has been sent, so long after it was due, to a request that the model gave so much time.
    pub fn replied(&mut self, request: &Request, modelled: Nanos, late: Nanos) {
        let counts = &mut self.counts;
        let of_kind = match request.kind {
            Kind::Read => &mut counts.reads,
            Kind::Write => &mut counts.writes,
            Kind::Discard => &mut counts.discards,
            Kind::Flush => &mut OfKind::default(),
        };
        of_kind.requests += 1;
        of_kind.bytes += request.bytes;
        counts.flushes += u64::from(request.kind == Kind::Flush);
        counts.modelled_ns += modelled;
        counts.late_ns += late;
        self.late.saturating_record(late.max(1));
    }

    /// The counts so far, with what the device and the system tell.
    pub fn counts(&self, tally: Tally, processor_ns: Nanos) -> Counts {
        let late_ns_p99 = self.late.value_at_quantile(0.99);
        Counts { tally, processor_ns, late_ns_p99, ..self.counts.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_counted_and_lateness_is_a_share_of_the_time_given() {
        let mut counter = Counter::new().unwrap();
        counter.replied(&Request::read(0, 4096), 1_000, 10);
        let before = counter.counts(Tally { seeks: 1, merges: 0 }, 5);
        counter.replied(&Request::write(0, 512), 2_000, 30);
        counter.replied(&Request::discard(0, 99), 0, 0);
        counter.replied(&Request::flush(), 1_000, 60);
        let after = counter.counts(Tally { seeks: 4, merges: 2 }, 9);
        assert_eq!((after.replies(), after.late_share(), after.late_ns_mean()), (4, 0.025, 25.0));
        let since = after.since(&before);
        assert_eq!(
            (since.reads.requests, since.writes, since.flushes),
            (0, OfKind { requests: 1, bytes: 512 }, 1)
        );
        assert_eq!((since.tally, since.processor_ns), (Tally { seeks: 3, merges: 2 }, 4));
        let text = serde_json::to_string(&after).unwrap();
        assert_eq!(serde_json::from_str::<Counts>(&text).unwrap(), after);
    }

    #[test]
    fn the_99th_percentile_is_that_of_all_replies() {
        let mut counter = Counter::new().unwrap();
        (0..990).for_each(|_| counter.replied(&Request::flush(), 0, 1_000));
        (0..10).for_each(|_| counter.replied(&Request::flush(), 0, 5_000_000));
        let p99 = counter.counts(Tally::default(), 0).late_ns_p99;
        assert!((1_000..1_020).contains(&p99), "{p99}");
    }
}
