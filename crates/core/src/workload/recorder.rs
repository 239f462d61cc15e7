//! Latencies and what else is counted of each kind of operation, on one thread or on all.

use storebench_model::result::OperationResult;

use crate::measure::latency::Latencies;
use crate::workload::elapsed::Elapsed;
use crate::workload::workload_error::WorkloadError;

#[derive(Debug, Clone)]
pub struct Record {
    pub latencies: Latencies,
    pub errors: u64,
    pub value_bytes: u64,
    /// Repetitions of transactions.
    pub conflicts: u64,
}

impl Record {
    /// Empty. All memory that it will need is taken.
    pub fn new() -> Result<Record, String> {
        Ok(Record { latencies: Latencies::new()?, errors: 0, value_bytes: 0, conflicts: 0 })
    }

    /// Adds another thread's or kind's measurements.
    pub fn merge(&mut self, other: &Record) -> Result<(), String> {
        self.errors += other.errors;
        self.value_bytes += other.value_bytes;
        self.conflicts += other.conflicts;
        self.latencies.merge(&other.latencies)
    }

    pub fn result(
        &self,
        name: &str,
        elapsed: &Elapsed,
        is_closed: bool,
        threads: u64,
    ) -> Result<OperationResult, WorkloadError> {
        let count = self.latencies.count();
        Ok(OperationResult {
            operation: name.into(),
            count,
            errors: self.errors,
            wall_ns: u64::try_from(elapsed.wall.as_nanos()).unwrap_or(u64::MAX),
            sum_ns: self.latencies.sum_ns(),
            rate_over_ns: elapsed.rate_over_ns(is_closed, threads).filter(|_| count > 0),
            harness_share: elapsed.harness_share(is_closed).filter(|_| count > 0),
            value_bytes: self.value_bytes,
            conflicts: self.conflicts,
            latency: self.latencies.summary().map_err(WorkloadError::harness)?,
            ..OperationResult::default()
        })
    }
}

#[derive(Debug, Clone)]
pub struct Recorder<const N: usize> {
    records: [Record; N],
}

impl<const N: usize> Recorder<N> {
    pub fn new() -> Result<Recorder<N>, String> {
        let records = (0..N).map(|_| Record::new()).collect::<Result<Vec<_>, _>>()?;
        let records = records.try_into().map_err(|_| "there are not as many records as kinds")?;
        Ok(Recorder { records })
    }

    #[inline]
    pub fn kind_record(&self, kind: usize) -> &Record {
        &self.records[kind]
    }

    #[inline]
    pub(crate) fn kind_record_mut(&mut self, kind: usize) -> &mut Record {
        &mut self.records[kind]
    }

    #[inline]
    pub fn latencies(&self, kind: usize) -> &Latencies {
        &self.records[kind].latencies
    }

    #[inline]
    pub fn record(&mut self, kind: usize, ns: u64) {
        self.records[kind].latencies.record(ns);
    }

    pub fn all(&self) -> &[Record; N] {
        &self.records
    }

    /// The total time of operations so far, in nanoseconds.
    pub fn calls_ns(&self) -> u64 {
        self.records.iter().map(|record| record.latencies.sum_ns()).sum()
    }

    pub fn merge_kinds(&self, kinds: impl IntoIterator<Item = usize>) -> Result<Record, String> {
        let mut total = Record::new()?;
        kinds.into_iter().try_for_each(|kind| total.merge(&self.records[kind]))?;
        Ok(total)
    }

    pub fn merge(&mut self, other: &Recorder<N>) -> Result<(), String> {
        self.records
            .iter_mut()
            .zip(&other.records)
            .try_for_each(|(record, other_record)| record.merge(other_record))
    }

    /// The sum over all threads. Fails when there is none.
    pub fn sum(threads: impl IntoIterator<Item = Recorder<N>>) -> Result<Recorder<N>, WorkloadError> {
        let mut threads = threads.into_iter();
        let mut total = threads.next().ok_or_else(|| WorkloadError::harness("no thread was at work"))?;
        threads.try_for_each(|recorder| total.merge(&recorder)).map_err(WorkloadError::harness)?;
        Ok(total)
    }
}
