//! Counters of the process over a phase of a trial: syncs, bytes read and written, page faults, context switches. Bytes are those
//! that calls handed over (`rchar` and `wchar` of /proc/self/io). Its `write_bytes` is not used: it is a hundred times too large
//! if the kernel works with large folios, and counts what was deleted before it was written. Its `read_bytes` counts what the
//! kernel asked disks for, for mapped pages too.

use std::fs::File;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use storebench_model::result::{Counters, Requests, UnknownFigure};

use crate::measure::syncs::{self, Syncs};
use crate::measure::{children, disk_requests, process};
use storebench_model::server::processes;

#[derive(Debug, Clone)]
pub struct Snapshot {
    syncs: Option<Syncs>,
    bytes: Option<Bytes>,
    minor_faults: u64,
    major_faults: u64,
    voluntary_switches: u64,
    involuntary_switches: u64,
    cpu: Duration,
    at: Instant,
    disk: Option<Requests>,
}

#[derive(Debug, Clone, Copy)]
struct Bytes {
    written: u64,
    read: u64,
    /// Bytes that reading these figures took, which they don't include yet.
    measuring_read: u64,
}

impl Snapshot {
    /// Reads the counters. Takes some microseconds, and tens of them on a simulated disk.
    pub fn now() -> Snapshot {
        // The disk comes first here and last at the end, so that the others don't count the question to it.
        let disk = disk_requests::so_far();
        Snapshot { disk, ..Snapshot::take_process() }
    }

    pub(crate) fn until_now(&self) -> Counters {
        let now = Snapshot::take_process();
        let disk = self.disk.as_ref().and_then(|earlier| Some(disk_requests::so_far()?.since(earlier)));
        Counters { disk, ..now.since(self) }
    }

    fn take_process() -> Snapshot {
        let usage = process::usage_of(libc::RUSAGE_SELF);
        Snapshot {
            // A server makes syncs where they can't be counted.
            syncs: (syncs::check_counting().is_ok() && !processes::has_servers())
                .then(syncs::count_all_threads),
            bytes: bytes().ok(),
            minor_faults: usage.ru_minflt as u64,
            major_faults: usage.ru_majflt as u64,
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
            cpu: process::cpu_now(),
            at: Instant::now(),
            disk: None,
        }
    }

    fn since(&self, earlier: &Snapshot) -> Counters {
        let syncs = self.syncs.zip(earlier.syncs).map(|(now, before)| now.since(&before));
        let bytes = self.bytes.zip(earlier.bytes);
        Counters {
            syncs: syncs.map(|syncs| syncs.calls()),
            sync_ns: syncs.map(|syncs| syncs.ns),
            syncs_by_call: syncs.map(|syncs| syncs.by_call()).unwrap_or_default(),
            written_bytes: bytes.map(|(now, before)| now.written.saturating_sub(before.written)),
            read_bytes: bytes
                .map(|(now, before)| now.read.saturating_sub(before.read + before.measuring_read)),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
            cpu_ns: Some(self.cpu.saturating_sub(earlier.cpu).as_nanos() as u64),
            took_ns: Some(self.at.saturating_duration_since(earlier.at).as_nanos() as u64),
            disk: None,
        }
    }
}

/// The counters that this process can't have, and why.
pub fn unknown() -> Vec<UnknownFigure> {
    let unknown = |figure: &str, reason: String| UnknownFigure { figure: figure.into(), reason };
    let reason = match syncs::check_counting() {
        Ok(()) => processes::has_servers().then_some(SERVER_UNCOUNTED),
        Err(reason) => Some(reason),
    };
    let syncs = reason.map(|reason| unknown("syncs", reason.into()));
    let bytes = bytes().err().map(|error| unknown("written_bytes, read_bytes", error.to_string()));
    syncs.into_iter().chain(bytes).collect()
}

const SERVER_UNCOUNTED: &str =
    "a server's processes make them; what the server counts is among its statistics";

/// Bytes handed to the system by write calls since the process was started, its servers included.
pub(super) fn written_bytes() -> io::Result<u64> {
    bytes().map(|bytes| bytes.written)
}

/// Bytes that the kernel had to read from disks since the process was started, running servers included.
pub fn fetched_bytes() -> io::Result<u64> {
    Ok(fields(["read_bytes"])?.0[0] + children::sum_field(&children::processes(), "read_bytes: "))
}

fn bytes() -> io::Result<Bytes> {
    let ([own_written, own_read], measuring_read) = fields(["wchar", "rchar"])?;
    let (written, read) = children::bytes_of(&children::processes());
    Ok(Bytes { written: own_written + written, read: own_read + read, measuring_read })
}

/// Numbers of /proc/self/io, and the bytes that reading them took.
fn fields<const N: usize>(names: [&str; N]) -> io::Result<([u64; N], u64)> {
    let name = "/proc/self/io";
    let mut buffer = [0; 512];
    let length = File::open(name)
        .and_then(|mut file| file.read(&mut buffer))
        .map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
    let text = String::from_utf8_lossy(&buffer[..length]);
    let mut numbers = [0; N];
    for (field, number) in names.iter().zip(&mut numbers) {
        *number = text
            .lines()
            .find_map(|line| line.strip_prefix(field)?.strip_prefix(": ")?.parse().ok())
            .ok_or_else(|| io::Error::other(format!("{name} has no {field}")))?;
    }
    Ok((numbers, length as u64))
}

pub(crate) fn without_syncs(mut counters: Counters, excluded: &Syncs) -> Counters {
    let subtract = |count: Option<u64>, excluded| count.map(|count| count.saturating_sub(excluded));
    counters.syncs = subtract(counters.syncs, excluded.calls());
    counters.sync_ns = subtract(counters.sync_ns, excluded.ns);
    for (call, number) in excluded.by_call() {
        if let Some(count) = counters.syncs_by_call.get_mut(&call) {
            *count = count.saturating_sub(number);
        }
    }
    counters.syncs_by_call.retain(|_, number| *number > 0);
    counters
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write;

    use super::*;

    // The tests of one process run side by side, so that only lower bounds are sure.

    #[test]
    fn bytes_faults_and_syncs_are_seen() {
        let mut file = tempfile::tempfile().unwrap();
        let before = Snapshot::now();
        file.write_all(&[1; 300_000]).unwrap();
        file.sync_all().unwrap();
        let memory = std::hint::black_box(vec![1_u8; 256 << 10]);
        let counters = before.until_now();
        drop(memory);
        assert!(counters.written_bytes.unwrap() >= 300_000, "{counters:?}");
        assert!(counters.minor_faults > 0, "{counters:?}");
        assert!(counters.syncs.unwrap() >= 1 && counters.syncs_by_call["fsync"] >= 1, "{counters:?}");
        assert!(unknown().is_empty(), "{:?}", unknown());
    }

    #[test]
    fn sums_add_up_and_what_is_unknown_stays_so() {
        let counters = |syncs, call: &str| Counters {
            syncs,
            syncs_by_call: [(call.to_owned(), 1), ("sync".to_owned(), 1)].into(),
            written_bytes: Some(5),
            minor_faults: 2,
            ..Counters::default()
        };
        let sum = counters(Some(2), "fsync").plus(&counters(Some(2), "msync"));
        assert_eq!((sum.syncs, sum.written_bytes, sum.read_bytes), (Some(4), Some(10), None));
        let by_call: Vec<_> =
            sum.syncs_by_call.iter().map(|(call, number)| (call.as_str(), *number)).collect();
        assert_eq!((by_call, sum.minor_faults), (vec![("fsync", 1), ("msync", 1), ("sync", 2)], 4));
        assert_eq!(counters(Some(2), "fsync").plus(&counters(None, "fsync")).syncs, None);
    }

    #[test]
    fn syncs_can_be_taken_out() {
        let before = syncs::count_this_thread();
        tempfile::tempfile().unwrap().sync_all().unwrap();
        let excluded = syncs::count_this_thread().since(&before);
        let counters = Counters {
            syncs: Some(3),
            sync_ns: Some(excluded.ns + 7),
            syncs_by_call: [("fsync".to_owned(), 1), ("sync".to_owned(), 2)].into(),
            ..Counters::default()
        };
        let rest = without_syncs(counters, &excluded);
        assert_eq!((rest.syncs, rest.sync_ns), (Some(2), Some(7)));
        assert_eq!(rest.syncs_by_call, [("sync".to_owned(), 2)].into());
    }
}
