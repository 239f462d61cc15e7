//! Compares the guarantee `power` with counted syncs. An acknowledged write needs a sync that begins after the call and ends before
//! the return. On one thread that is a sync for each write or batch. Sessions may share one: each has one write under way, so
//! that one sync acknowledges at most as many writes as there are threads.

use storebench_model::result::{Counters, Failure};

use crate::workload::workload_error::WorkloadError;

/// A call that does not reach the device's cache, and so makes nothing durable.
const NOT_DURABLE: &str = "sync_file_range";

/// Writes acknowledged in one part of a trial, and the whole process's syncs meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AcknowledgedWrites {
    /// The kind of writes, such as `updates`.
    kind: &'static str,
    writes: u64,
    threads: u64,
    /// `None` if they can't be counted.
    syncs: Option<u64>,
}

impl AcknowledgedWrites {
    /// `writes` of `threads` threads at once; `counters` hold all syncs, including those of untimed writes.
    pub fn new(kind: &'static str, writes: u64, threads: u64, counters: &Counters) -> AcknowledgedWrites {
        let idle = counters.syncs_by_call.get(NOT_DURABLE).copied().unwrap_or_default();
        AcknowledgedWrites {
            kind,
            writes,
            threads,
            syncs: counters.syncs.map(|syncs| syncs.saturating_sub(idle)),
        }
    }

    /// Subtracts syncs that others made meanwhile, if the writes have this name.
    #[must_use]
    pub fn without_syncs(self, kind: &str, syncs: u64) -> AcknowledgedWrites {
        let syncs = self.syncs.map(|all| if self.kind == kind { all.saturating_sub(syncs) } else { all });
        AcknowledgedWrites { syncs, ..self }
    }

    pub fn note(self, noted: &mut Vec<AcknowledgedWrites>) {
        match noted.iter_mut().find(|same_kind| same_kind.kind == self.kind) {
            Some(same_kind) => {
                same_kind.writes += self.writes;
                same_kind.syncs = same_kind.syncs.zip(self.syncs).map(|(a, b)| a + b);
            }
            None => noted.push(self),
        }
    }

    /// Whether there were enough syncs. Without a count the store is believed. Fails with [`Failure::Unsynced`] otherwise.
    pub fn check(&self) -> Result<(), WorkloadError> {
        let AcknowledgedWrites { kind, writes, threads, syncs } = self;
        let least = writes.div_ceil(*threads);
        let Some(syncs) = syncs.filter(|syncs| *syncs < least) else { return Ok(()) };
        let shared =
            if *threads > 1 { format!(", of which {threads} threads can share one,") } else { String::new() };
        let message = format!(
            "the store promises power, and made {syncs} syncs for {writes} acknowledged {kind}{shared} where at least {least} \
             are needed"
        );
        Err(WorkloadError { failure: Failure::Unsynced, message, operation: None })
    }
}

/// Checks that the syncs were enough in all, if no part of a trial has a count. Fails with [`Failure::Unsynced`] otherwise.
pub(crate) fn check_all(acknowledged: &[AcknowledgedWrites], syncs: u64) -> Result<(), WorkloadError> {
    let writes: u64 = acknowledged.iter().map(|writes_of_kind| writes_of_kind.writes).sum();
    let threads = acknowledged.iter().map(|writes_of_kind| writes_of_kind.threads).max().unwrap_or(1);
    AcknowledgedWrites { kind: "writes", writes, threads, syncs: Some(syncs) }.check()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(syncs: Option<u64>, idle: u64) -> Counters {
        let syncs_by_call = [(NOT_DURABLE.to_owned(), idle)].into();
        Counters { syncs, syncs_by_call, ..Counters::default() }
    }

    fn has_enough_syncs(writes: u64, threads: u64, syncs: Option<u64>, idle: u64) -> bool {
        AcknowledgedWrites::new("updates", writes, threads, &counters(syncs, idle)).check().is_ok()
    }

    #[test]
    fn each_write_takes_a_sync_and_threads_may_share_one() {
        assert!(has_enough_syncs(100, 1, Some(100), 0) && !has_enough_syncs(100, 1, Some(99), 0));
        assert!(has_enough_syncs(101, 4, Some(26), 0) && !has_enough_syncs(101, 4, Some(25), 0));
        assert!(!has_enough_syncs(100, 1, Some(100), 1), "what leaves the device's cache alone is no sync");
        assert!(has_enough_syncs(100, 1, None, 0), "what can't be counted is believed");
        assert!(has_enough_syncs(0, 1, Some(0), 0));
    }

    #[test]
    fn a_count_of_all_is_held_to_all() {
        let inserts = |writes, threads| AcknowledgedWrites { kind: "inserts", writes, threads, syncs: None };
        let acknowledged = [inserts(100, 1), inserts(50, 1)];
        assert!(
            check_all(&acknowledged, 150).is_ok()
                && check_all(&acknowledged, 149).is_err()
                && check_all(&[], 0).is_ok()
        );
        assert!(check_all(&[inserts(100, 4)], 25).is_ok() && check_all(&[inserts(100, 4)], 24).is_err());
    }

    #[test]
    fn rounds_of_one_operation_count_together() {
        let mut acknowledged = Vec::new();
        for (kind, syncs) in [("inserts", Some(3)), ("updates", Some(10)), ("inserts", Some(17))] {
            AcknowledgedWrites::new(kind, 10, 1, &counters(syncs, 0)).note(&mut acknowledged);
        }
        assert_eq!(acknowledged.len(), 2);
        assert!(acknowledged.iter().all(|writes| writes.check().is_ok()), "{acknowledged:?}");
        AcknowledgedWrites::new("updates", 1, 1, &counters(Some(0), 0)).note(&mut acknowledged);
        let stop = acknowledged[1].check().unwrap_err();
        assert_eq!(stop.failure, Failure::Unsynced);
        assert!(stop.message.contains("made 10 syncs for 11 acknowledged updates"), "{}", stop.message);
    }
}
