//! The traits of a trace: mix, rate over time, sizes, skew, working set. One pass over the file, in bounded memory.

use std::path::Path;

use hdrhistogram::Histogram;
use serde::Serialize;
use storebench_model::units::exact_bytes;

use super::census::{Census, RecordTallies, Skew};
use super::entry::Entry;
use super::facts::{FINER_TIMES, Facts, NO_TIMES, WHOLE_SECONDS};
use super::form::Form;
use super::operation::{OperationName, TraceOperation};
use super::reader::{Reader, ReaderOptions};

/// The largest value that is played, in bytes.
const MOST_VALUE: u64 = 1 << 30;
/// Stretches of time, at most; at least half as many, where the trace is long enough.
const STRETCHES: usize = 60;
/// The shortest stretch.
const FIRST_STRETCH_NS: u64 = 1_000_000;
/// A value whose size is nowhere in the trace, in bytes.
const UNKNOWN_VALUE: u64 = 100;
/// Shares of the trace whose working set is reported.
const SHARES: [f64; 3] = [0.01, 0.1, 1.0];

/// The traits of a trace.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Its form.
    pub form: Form,
    /// What its file is packed by: `zstd`, `gzip`.
    pub packed_by: Option<&'static str>,
    /// Its columns that are not played.
    pub ignored: Vec<String>,
    /// The SHA-256 of its file.
    pub sha256: String,
    /// The number of operations.
    pub operations: u64,
    /// The operations, by the trace's own words, the most frequent first.
    pub mix: Vec<Share>,
    /// From the first operation to the last, in seconds; `None` where it has no times.
    pub span_s: Option<f64>,
    /// Whether its times are whole seconds.
    pub whole_seconds: bool,
    /// Operations whose time lay before that of one ahead of them.
    pub went_back: u64,
    /// The length of a stretch of `stretches`, in seconds.
    pub stretch_s: f64,
    /// The number of operations that began in each stretch of time.
    pub stretches: Vec<u64>,
    /// Sizes of keys, by operation.
    pub key_bytes: Sizes,
    /// Sizes of values that are written, by operation.
    pub value_bytes: Sizes,
    /// The number of keys.
    pub keys: u64,
    /// One key in how many was counted: 1 where everything of keys is exact.
    pub counted_one_in: u64,
    /// The spread of operations over the keys.
    pub skew: Skew,
    /// The records that the first parts of the trace touch.
    pub working_set: Vec<TouchedRecords>,
    /// Keys that are looked for before the trace writes them.
    pub read_before_written_keys: u64,
    /// Operations that look for keys which the trace has not written by then.
    pub read_before_written_operations: u64,
    /// The facts that a plan keeps.
    #[serde(skip)]
    pub facts: Facts,
}

/// One kind of operation.
#[derive(Debug, Serialize)]
pub struct Share {
    /// The trace's word.
    pub operation: &'static str,
    /// The operation that a replay does for it.
    pub played_as: &'static str,
    /// The loss of meaning by that.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub lost: &'static str,
    /// The number of operations.
    pub count: u64,
}

/// Sizes, in bytes: quantiles to three digits, the others exactly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Sizes {
    pub mean: f64,
    pub min: u64,
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub max: u64,
}

/// The records that a first part of the trace touches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TouchedRecords {
    /// The part.
    pub share: f64,
    /// Its operations.
    pub operations: u64,
    /// The keys that they touch.
    pub keys: u64,
    /// The bytes of these keys and of their values.
    pub bytes: u64,
}

/// The counts that are gathered on the way.
struct SummaryCounts {
    words: Vec<(&'static OperationName, u64)>,
    keys: SizeCounts,
    values: SizeCounts,
    largest_value: u64,
    census: Census,
    stretches: Vec<u64>,
    stretch_ns: u64,
    whole_seconds: bool,
    last_ns: u64,
    operations: u64,
}

impl Summary {
    /// Reads a whole trace. `is_over` is asked now and then whether to stop; then there is no summary. The error names the file.
    pub fn read(
        path: &Path,
        options: ReaderOptions,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Option<Summary>, String> {
        const CHECK_INTERVAL: u64 = 1 << 16;
        let mut reader = Reader::open(path, options)?;
        let mut counts = SummaryCounts::new()?;
        while let Some(entry) = reader.next_entry()? {
            if entry.position % CHECK_INTERVAL == 0 && is_over() {
                return Ok(None);
            }
            let place = || format!("the trace {}, operation {}", path.display(), entry.position);
            counts.add(&entry).map_err(|why| format!("{}: {why}", place()))?;
        }
        if counts.operations == 0 {
            return Err(format!("the trace {} has no operation", path.display()));
        }
        counts.summary(reader, options, is_over)
    }
}

impl SummaryCounts {
    fn new() -> Result<SummaryCounts, String> {
        Ok(SummaryCounts {
            words: Vec::new(),
            keys: SizeCounts::new()?,
            values: SizeCounts::new()?,
            largest_value: 0,
            census: Census::new(),
            stretches: vec![0; STRETCHES],
            stretch_ns: FIRST_STRETCH_NS,
            whole_seconds: true,
            last_ns: 0,
            operations: 0,
        })
    }

    fn add(&mut self, entry: &Entry<'_>) -> Result<(), String> {
        let size = entry.size.unwrap_or_default();
        if size > MOST_VALUE {
            return Err(format!("a size of {size}: at most {}", exact_bytes(MOST_VALUE)));
        }
        self.operations += 1;
        match self.words.iter_mut().find(|(word, _)| std::ptr::eq(*word, entry.word)) {
            Some((_, count)) => *count += 1,
            None => self.words.push((entry.word, 1)),
        }
        self.add_time(entry.time_ns);
        if entry.word.does == TraceOperation::Skip {
            return Ok(());
        }
        self.keys.add(entry.key.len() as u64);
        if entry.word.does.writes() {
            self.values.add(size);
        }
        if entry.word.does != TraceOperation::Scan {
            self.largest_value = self.largest_value.max(size);
        }
        self.census.add(entry);
        Ok(())
    }

    fn add_time(&mut self, time_ns: u64) {
        self.whole_seconds &= time_ns.is_multiple_of(1_000_000_000);
        self.last_ns = time_ns;
        while time_ns / self.stretch_ns >= STRETCHES as u64 {
            for index in 0..STRETCHES / 2 {
                self.stretches[index] = self.stretches[2 * index] + self.stretches[2 * index + 1];
            }
            self.stretches[STRETCHES / 2..].fill(0);
            self.stretch_ns *= 2;
        }
        self.stretches[(time_ns / self.stretch_ns) as usize] += 1;
    }

    fn summary(
        mut self,
        reader: Reader,
        options: ReaderOptions,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Option<Summary>, String> {
        let (form, packed_by, has_times) = (reader.form, reader.packed_by, reader.has_times());
        let (ignored, went_back) = (reader.ignored(), reader.went_back);
        let Some(sha256) = reader.digest(is_over)? else { return Ok(None) };
        let unknown = self.values.sum.checked_div(self.values.histogram.len()).unwrap_or(UNKNOWN_VALUE);
        let record_tallies = self.census.record_tallies(unknown);
        let mut facts = self.facts(form, record_tallies, unknown);
        facts.sha256.clone_from(&sha256);
        facts.limit = options.limit.unwrap_or_default();
        facts.times = if has_times { facts.times } else { NO_TIMES };
        self.words.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let used = (self.last_ns / self.stretch_ns) as usize + 1;
        let touched_records = |share: f64| {
            let operations = ((self.operations as f64 * share).ceil() as u64).min(self.operations);
            let touched = self.census.records_touched_up_to(operations, unknown);
            let bytes = touched.key_bytes + touched.value_bytes;
            TouchedRecords { share, operations, keys: touched.keys, bytes }
        };
        let share = |(word, count): &(&'static OperationName, u64)| Share {
            operation: word.name,
            played_as: word.does.name(),
            lost: word.lost,
            count: *count,
        };
        Ok(Some(Summary {
            form,
            packed_by,
            ignored,
            sha256,
            operations: self.operations,
            mix: self.words.iter().map(share).collect(),
            span_s: has_times.then(|| facts.span_ns as f64 / 1e9),
            whole_seconds: facts.has_whole_seconds(),
            went_back,
            stretch_s: self.stretch_ns as f64 / 1e9,
            stretches: if has_times { self.stretches[..used].to_vec() } else { Vec::new() },
            key_bytes: self.keys.sizes(),
            value_bytes: self.values.sizes(),
            keys: facts.keys,
            counted_one_in: facts.one_in,
            skew: self.census.skew(),
            working_set: SHARES.map(touched_records).to_vec(),
            read_before_written_keys: record_tallies.before.keys,
            read_before_written_operations: self.census.lookups_of_unwritten(),
            facts,
        }))
    }

    fn facts(&self, form: Form, record_tallies: RecordTallies, unknown: u64) -> Facts {
        let count_of = |does: TraceOperation| {
            self.words.iter().filter(|(word, _)| word.does == does).map(|(_, count)| count).sum::<u64>()
        };
        let RecordTallies { before, kept, written } = record_tallies;
        Facts {
            get: count_of(TraceOperation::Get),
            set: count_of(TraceOperation::Set),
            modify: count_of(TraceOperation::Modify),
            remove: count_of(TraceOperation::Remove),
            scan: count_of(TraceOperation::Scan),
            skip: count_of(TraceOperation::Skip),
            span_ns: self.last_ns,
            times: if self.whole_seconds { WHOLE_SECONDS } else { FINER_TIMES },
            keys: self.census.keys(),
            one_in: self.census.one_in(),
            longest_key: self.keys.max,
            largest_value: self.largest_value.max(unknown),
            unknown_value: unknown,
            write_bytes: self.values.sum,
            load_keys: before.keys,
            load_key_bytes: before.key_bytes,
            load_value_bytes: before.value_bytes,
            kept_keys: kept.keys,
            kept_key_bytes: kept.key_bytes,
            kept_value_bytes: kept.value_bytes,
            written_keys: written.keys,
            written_key_bytes: written.key_bytes,
            written_value_bytes: written.value_bytes,
            ..Facts::empty(form)
        }
    }
}

/// The sizes that were counted so far.
struct SizeCounts {
    histogram: Histogram<u64>,
    sum: u64,
    min: u64,
    max: u64,
}

impl SizeCounts {
    fn new() -> Result<SizeCounts, String> {
        let histogram = Histogram::new_with_bounds(1, MOST_VALUE, 3).map_err(|error| error.to_string())?;
        Ok(SizeCounts { histogram, sum: 0, min: u64::MAX, max: 0 })
    }

    fn add(&mut self, size: u64) {
        self.histogram.saturating_record(size);
        (self.sum, self.min, self.max) = (self.sum + size, self.min.min(size), self.max.max(size));
    }

    fn sizes(&self) -> Sizes {
        let SizeCounts { histogram, sum, min, max } = self;
        if histogram.is_empty() {
            return Sizes::default();
        }
        let size_at = |quantile| histogram.value_at_quantile(quantile).clamp(*min, *max);
        let [p50, p90, p99] = [0.5, 0.9, 0.99].map(size_at);
        Sizes { mean: *sum as f64 / histogram.len() as f64, min: *min, p50, p90, p99, max: *max }
    }
}

#[cfg(test)]
mod tests;
