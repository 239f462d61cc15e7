//! Figures from before and after a trial's operations: states after power cuts, faults of the disk, recoveries, and reclaimed space.

use storebench_model::result::{
    FaultCheck, FaultKind, FaultOutcome, Measurements, OVERALL, Recovery, StateFinding,
};
use storebench_model::store::Guarantee;

use super::{Better, Column, Unit, closer_trial, ratio, trial};
use crate::stats::quantile;

/// Disk space below which stores are alike, and by which they must differ, in bytes: every disk has this much.
pub const LITTLE_DISK: f64 = (1 << 20) as f64;

pub(super) const REST_TIME: Column =
    closer_trial("rest_time", "rest after load", Unit::Nanoseconds, Better::Neither, |m| {
        Some(m.load.rest?.took_ns as f64)
    });

/// The share of states in which only the newest writes are lost.
pub(super) const CUTS_LOST: Column =
    closer_trial("cuts_lost", "power cuts, newest lost", Unit::Share, Better::Lower, |m| {
        share_of_cuts(m, |finding| finding == StateFinding::Lost)
    });

/// The share of states with a worse finding.
pub(super) const CUTS_BROKEN: Column =
    closer_trial("cuts_broken", "power cuts, worse", Unit::Share, Better::Lower, |m| {
        share_of_cuts(m, |finding| !finding.is_allowed(Guarantee::Process))
    });

pub(super) const CUTS_MOST_LOST: Column =
    closer_trial("cuts_most_lost", "steps lost at most", Unit::Count, Better::Lower, |m| {
        Some(m.cuts()?.lost_steps.iter().copied().max().unwrap_or_default() as f64)
    });

pub(super) const CUTS_OPEN: Column =
    closer_trial("cuts_open", "opening after a cut", Unit::Nanoseconds, Better::Lower, |m| {
        quantile(&m.cuts()?.open_ns, 0.5).map(|ns| ns as f64)
    });

/// The share of faults after which acknowledged data are silently missing or wrong.
pub(super) const FAULTS_SILENT: Column =
    closer_trial("faults_silent", "silent faults", Unit::Share, Better::Lower, |m| {
        let Some(FaultCheck::Made(faults)) = &m.fault_check else { return None };
        ratio(faults.all(|aftermath| aftermath == FaultOutcome::Silent), faults.all(|_| true))
    });

pub(super) const SYNC_FAULTS_SILENT: Column = closer_trial(
    "sync_faults_silent",
    "silent failures of writes and flushes",
    Unit::Share,
    Better::Lower,
    silent_sync_faults,
);

fn silent_sync_faults(measured: &Measurements) -> Option<f64> {
    use FaultKind::{FlushForEver, FlushOnce, ShortWrite, WriteForEver, WriteOnce};
    const KINDS: [FaultKind; 5] = [WriteOnce, WriteForEver, ShortWrite, FlushOnce, FlushForEver];
    let Some(FaultCheck::Made(faults)) = &measured.fault_check else { return None };
    let counts =
        KINDS.iter().flat_map(|kind| FaultOutcome::ALL.map(|aftermath| faults.count(*kind, aftermath)));
    ratio(KINDS.iter().map(|kind| faults.count(*kind, FaultOutcome::Silent)).sum(), counts.sum())
}

/// The time to open after the store's process was killed, with the most records, in the median.
pub(super) const RECOVERY: Column =
    trial("recovery", "opening after a kill", Unit::Nanoseconds, Better::Lower, |m| {
        quantile(&after_kills(m)?, 0.5).map(|ns| ns as f64)
    });

pub(super) const RECOVERY_MOST: Column =
    closer_trial("recovery_most", "opening after a kill, at most", Unit::Nanoseconds, Better::Lower, |m| {
        quantile(&after_kills(m)?, 1.0).map(|ns| ns as f64)
    });

/// The files after most records were removed, over those before.
pub const FILES_LEFT: Column =
    closer_trial("files_left", "files left after removing", Unit::Share, Better::Lower, |m| {
        size_over_full(m, m.space_reclaim.as_ref()?.disk.allocated_bytes)
    });

/// The files left after the engine reclaimed space in its own way.
pub const FILES_AFTER_RECLAIM: Column =
    closer_trial("files_after_reclaim", "files left after space reclaim", Unit::Share, Better::Lower, |m| {
        size_over_full(m, m.space_reclaim.as_ref()?.compacted.as_ref()?.disk.allocated_bytes)
    });

/// The time of a scan over all records at the end of a set's life, over the time after it was loaded.
pub const SCAN_AGED: Column =
    closer_trial("scan_aged", "scan of an aged set, over a fresh one's", Unit::Share, Better::Lower, |m| {
        let fragmentation = m.fragmentation.as_ref()?;
        ratio(quantile(&fragmentation.aged_scans_ns, 0.5)?, quantile(&fragmentation.fresh_scans_ns, 0.5)?)
    });

/// The share of a set's life spent in calls longer than 10 ms.
pub(super) const PAUSED: Column = closer_trial("paused", "time in pauses", Unit::Share, Better::Lower, |m| {
    let pauses = m.pauses.as_ref()?;
    ratio(pauses.total_ns, pauses.calls_ns)
});

/// The latency that one call of a set's life in a thousand exceeds, over the median.
pub(super) const TAIL: Column = closer_trial("tail", "p99.9 over p50", Unit::Count, Better::Lower, |m| {
    m.pauses.as_ref()?;
    let latency = &m.operation(OVERALL)?.latency;
    ratio(latency.p999_ns, latency.p50_ns)
});

fn size_over_full(measured: &Measurements, bytes: u64) -> Option<f64> {
    ratio(bytes, measured.known_disk()?.allocated_bytes)
}

/// The times of opening after kills, with the most records.
fn after_kills(measured: &Measurements) -> Option<Vec<u64>> {
    let largest: &Recovery = measured.recovery_check.as_ref()?.sizes.last()?;
    Some(largest.killed.iter().map(|reopened| reopened.open_ns).collect())
}

fn share_of_cuts(measured: &Measurements, is_wanted: impl Fn(StateFinding) -> bool) -> Option<f64> {
    let cuts = measured.cuts()?;
    let wanted_states = cuts.found.iter().filter(|(finding, _)| is_wanted(**finding));
    ratio(wanted_states.map(|(_, states)| states).sum(), cuts.states())
}
