//! The counts of a simulated disk, and how late it answered.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::device::DeviceTally;
use crate::names::COUNTS;
use crate::request::{Kind, Nanos, Request, SECOND};

/// Longer lateness counts as this.
const MAX_LATE_NS: Nanos = 60 * SECOND;

/// The counts of one kind of request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindCounts {
    /// Requests.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The time that the model was busy with them, in nanoseconds: until each was due, from its arrival, or from when the one before it was.
    #[serde(default)]
    pub modelled_ns: Nanos,
}

/// The requests to a simulated disk that were answered over some time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requests {
    /// Reads.
    pub reads: KindCounts,
    /// Writes.
    pub writes: KindCounts,
    /// Writes to the file system's journal; absent if its place is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<KindCounts>,
    /// Discards.
    pub discards: KindCounts,
    /// Flushes.
    pub flushes: u64,
    /// The time that the model was busy with them, in nanoseconds.
    #[serde(default)]
    pub flush_ns: Nanos,
    /// Events that the model counted.
    #[serde(flatten)]
    pub tally: DeviceTally,
    /// The time that the model was busy with any of them, in nanoseconds.
    pub modelled_ns: Nanos,
    /// The sum of the times by which replies were sent after they were due, in nanoseconds.
    #[serde(default)]
    pub late_ns: Nanos,
    /// The time that passed here and, by estimates, on other disks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clocks: Option<Clocks>,
}

/// The time of a disk, and of others on which the same would have been asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// The time here, in nanoseconds.
    pub here_ns: Nanos,
    /// The time on the others, by their names.
    pub on_ns: BTreeMap<String, Nanos>,
}

impl Clocks {
    fn zip_with(&self, other: &Clocks, combine: fn(u64, u64) -> u64) -> Clocks {
        let clock_of = |clocks: &Clocks, name: &str| clocks.on_ns.get(name).copied().unwrap_or_default();
        let combine_clock =
            |name: &String| (name.clone(), combine(clock_of(self, name), clock_of(other, name)));
        Clocks {
            here_ns: combine(self.here_ns, other.here_ns),
            on_ns: self.on_ns.keys().chain(other.on_ns.keys()).map(combine_clock).collect(),
        }
    }
}

/// All that a simulated disk has counted since it was there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Requests.
    #[serde(flatten)]
    pub requests: Requests,
    /// The 99th percentile of the times by which replies were sent after they were due, in nanoseconds.
    pub late_ns_p99: Nanos,
    /// Processor time of the server, in nanoseconds.
    pub processor_ns: Nanos,
    /// Entries of its log, if it keeps one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logged: Option<u64>,
    /// Requests that its fault has struck, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub struck: Option<u64>,
}

impl KindCounts {
    fn zip_with(self, other: KindCounts, combine: fn(u64, u64) -> u64) -> KindCounts {
        KindCounts {
            requests: combine(self.requests, other.requests),
            bytes: combine(self.bytes, other.bytes),
            modelled_ns: combine(self.modelled_ns, other.modelled_ns),
        }
    }

    fn add(&mut self, request: &Request, modelled: Nanos) {
        let single_request = KindCounts { requests: 1, bytes: request.bytes, modelled_ns: modelled };
        *self = self.zip_with(single_request, u64::saturating_add);
    }
}

impl Requests {
    fn zip_with(&self, other: &Requests, combine: fn(u64, u64) -> u64, tally: DeviceTally) -> Requests {
        Requests {
            reads: self.reads.zip_with(other.reads, combine),
            writes: self.writes.zip_with(other.writes, combine),
            journal: self.journal.zip(other.journal).map(|(ours, theirs)| ours.zip_with(theirs, combine)),
            discards: self.discards.zip_with(other.discards, combine),
            flushes: combine(self.flushes, other.flushes),
            flush_ns: combine(self.flush_ns, other.flush_ns),
            tally,
            modelled_ns: combine(self.modelled_ns, other.modelled_ns),
            late_ns: combine(self.late_ns, other.late_ns),
            clocks: match (&self.clocks, &other.clocks) {
                (Some(ours), Some(theirs)) => Some(ours.zip_with(theirs, combine)),
                (ours, theirs) => ours.clone().or_else(|| theirs.clone()),
            },
        }
    }

    /// Both together.
    pub fn plus(&self, other: &Requests) -> Requests {
        self.zip_with(other, u64::saturating_add, self.tally.plus(other.tally))
    }

    /// The requests since an earlier count of the same disk.
    pub fn since(&self, before: &Requests) -> Requests {
        self.zip_with(before, u64::saturating_sub, self.tally.since(before.tally))
    }

    /// The lateness as a share of the time that the model was busy.
    pub fn late_share(&self) -> f64 {
        self.late_ns as f64 / self.modelled_ns.max(1) as f64
    }

    /// All of them.
    pub fn all(&self) -> u64 {
        self.reads.requests + self.writes.requests + self.discards.requests + self.flushes
    }
}

impl Counts {
    /// The mean by which a reply was late, in nanoseconds.
    pub fn late_ns_mean(&self) -> f64 {
        self.requests.late_ns as f64 / self.requests.all().max(1) as f64
    }

    /// The counts since earlier ones of the same disk; percentiles are over the whole time.
    pub fn since(&self, before: &Counts) -> Counts {
        Counts {
            requests: self.requests.since(&before.requests),
            late_ns_p99: self.late_ns_p99,
            processor_ns: self.processor_ns.saturating_sub(before.processor_ns),
            ..Counts::default()
        }
    }
}

/// The counts of a disk that is mounted in a folder, so far. Fails when its server is gone.
pub fn read(folder: &Path) -> io::Result<Counts> {
    Ok(serde_json::from_slice(&fs::read(folder.join(COUNTS))?)?)
}

#[derive(Debug)]
pub(crate) struct Counter {
    counts: Counts,
    /// The file system's journal: parts from one byte to before another.
    journal: Vec<(u64, u64)>,
    late: Histogram<u64>,
    last: Nanos,
}

impl Counter {
    /// No counts, for a disk with a journal there; empty if not known.
    pub fn new(journal: Vec<(u64, u64)>) -> Result<Counter, String> {
        let late = Histogram::new_with_bounds(1, MAX_LATE_NS, 2).map_err(|error| error.to_string())?;
        let of_journal = (!journal.is_empty()).then(KindCounts::default);
        let requests = Requests { journal: of_journal, ..Requests::default() };
        Ok(Counter { counts: Counts { requests, ..Counts::default() }, journal, late, last: 0 })
    }

    /// Counts a request that is due; `first` is the arrival of the first that waited for that moment. It is counted before its
    /// reply is sent, so that whoever has the reply finds it counted.
    pub fn count_request(&mut self, request: &Request, first: Nanos, due: Nanos) {
        let counts = &mut self.counts.requests;
        let modelled = due.saturating_sub(first.max(self.last));
        self.last = self.last.max(due);
        counts.modelled_ns += modelled;
        match request.kind {
            Kind::Read => counts.reads.add(request, modelled),
            Kind::Write => counts.writes.add(request, modelled),
            Kind::Discard => counts.discards.add(request, modelled),
            Kind::Flush => {
                counts.flushes += 1;
                counts.flush_ns += modelled;
            }
        }
        let is_in = |(from, to): &(u64, u64)| (*from..*to).contains(&request.at);
        if let Some(of_journal) = &mut counts.journal
            && request.kind == Kind::Write
            && self.journal.iter().any(is_in)
        {
            of_journal.add(request, modelled);
        }
    }

    /// Counts a reply that was sent `late` after it was due.
    pub fn count_reply(&mut self, late: Nanos) {
        self.counts.requests.late_ns += late;
        self.late.saturating_record(late.max(1));
    }

    pub fn counts(&self, tally: DeviceTally, processor_ns: Nanos) -> Counts {
        let late_ns_p99 = self.late.value_at_quantile(0.99);
        let requests = Requests { tally, ..self.counts.requests.clone() };
        Counts { requests, processor_ns, late_ns_p99, ..self.counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_request_and_reply(counter: &mut Counter, request: Request, modelled: Nanos, late: Nanos) {
        counter.count_request(&request, counter.last, counter.last + modelled);
        counter.count_reply(late);
    }

    #[test]
    fn time_in_which_requests_overlap_counts_once() {
        let mut counter = Counter::new(Vec::new()).unwrap();
        // The write waits from 0 to 10, while a read comes and goes; a flush that comes meanwhile takes until 12, another from 20 on.
        counter.count_request(&Request::read(0, 4096), 0, 6);
        counter.count_request(&Request::write(0, 4096), 0, 10);
        counter.count_request(&Request::flush(), 8, 12);
        counter.count_request(&Request::flush(), 20, 21);
        let counts = counter.counts(DeviceTally::default(), 0).requests;
        assert_eq!((counts.reads.modelled_ns, counts.writes.modelled_ns, counts.flush_ns), (6, 4, 3));
        assert_eq!(counts.modelled_ns, 13);
    }

    #[test]
    fn each_kind_is_counted_and_lateness_is_a_share_of_the_time_given() {
        let mut counter = Counter::new(vec![(4096, 8192)]).unwrap();
        count_request_and_reply(&mut counter, Request::read(0, 4096), 1_000, 10);
        let events =
            |seeks| DeviceTally { seeks, merges: seeks / 2, seek_ns: seeks * 100, ..DeviceTally::default() };
        let before = counter.counts(events(1), 5);
        count_request_and_reply(&mut counter, Request::write(4096, 512), 2_000, 30);
        count_request_and_reply(&mut counter, Request::write(8192, 100), 0, 0);
        count_request_and_reply(&mut counter, Request::flush(), 1_000, 60);
        let after = counter.counts(events(4), 9);
        let requests = &after.requests;
        assert_eq!((requests.all(), requests.late_share(), after.late_ns_mean()), (4, 0.025, 25.0));
        let since = after.since(&before);
        assert_eq!((since.requests.reads, since.requests.flushes), (KindCounts::default(), 1));
        let writes = KindCounts { requests: 2, bytes: 612, modelled_ns: 2_000 };
        let in_journal = KindCounts { requests: 1, bytes: 512, modelled_ns: 2_000 };
        assert_eq!((since.requests.writes, since.requests.journal), (writes, Some(in_journal)));
        assert_eq!((since.requests.flush_ns, since.requests.modelled_ns), (1_000, 3_000));
        let tally = DeviceTally { seeks: 3, merges: 2, seek_ns: 300, ..DeviceTally::default() };
        assert_eq!((since.requests.tally, since.processor_ns), (tally, 4));
        assert_eq!(before.requests.plus(&since.requests), after.requests);
        let text = serde_json::to_string(&after).unwrap();
        assert_eq!(serde_json::from_str::<Counts>(&text).unwrap(), after);
    }

    #[test]
    fn counts_of_earlier_versions_are_read() {
        let text = r#"{"reads":{"requests":1,"bytes":2},"writes":{"requests":3,"bytes":4},"discards":{"requests":0,"bytes":0},
            "flushes":5,"seeks":6,"merges":7,"modelled_ns":8,"late_ns":9,"late_ns_p99":10,"processor_ns":11}"#;
        let requests = serde_json::from_str::<Counts>(text).unwrap().requests;
        assert_eq!((requests.tally.seeks, requests.journal, requests.late_ns), (6, None, 9));
    }

    #[test]
    fn the_99th_percentile_is_that_of_all_replies() {
        let mut counter = Counter::new(Vec::new()).unwrap();
        (0..990).for_each(|_| count_request_and_reply(&mut counter, Request::flush(), 0, 1_000));
        (0..10).for_each(|_| count_request_and_reply(&mut counter, Request::flush(), 0, 5_000_000));
        let p99 = counter.counts(DeviceTally::default(), 0).late_ns_p99;
        assert!((1_000..1_020).contains(&p99), "{p99}");
    }
}
