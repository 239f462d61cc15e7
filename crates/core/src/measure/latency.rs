//! Latencies: a histogram exact to three digits from 1 ns to an hour, with exact sum and extremes beside it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

use crate::result::Latency;

/// The largest latency told apart, in nanoseconds: an hour. Longer ones count as an hour in the histogram alone.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Latencies of one operation.
#[derive(Debug, Clone)]
pub struct Latencies {
    histogram: Histogram<u64>,
    sum_ns: u64,
    sum_of_squares: f64,
    min_ns: u64,
    max_ns: u64,
}

impl Latencies {
    /// None yet. All memory that it will ever use is taken here.
    ///
    /// # Errors
    /// Never, with the bounds used here; the histogram's own constructor can say no.
    pub fn new() -> Result<Latencies, String> {
        let mut histogram =
            Histogram::new_with_bounds(1, LONGEST_NS, 3).map_err(|error| error.to_string())?;
        // Writes to every counter, so that none of its memory becomes resident later.
        histogram.reset();
        Ok(Latencies { histogram, sum_ns: 0, sum_of_squares: 0.0, min_ns: u64::MAX, max_ns: 0 })
    }

    /// Adds one, in nanoseconds.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
        self.sum_ns += ns;
        self.sum_of_squares += (ns as f64) * (ns as f64);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Adds those of another thread.
    ///
    /// # Errors
    /// Never, between histograms of the same bounds.
    pub fn merge(&mut self, other: &Latencies) -> Result<(), String> {
        self.histogram.add(&other.histogram).map_err(|error| error.to_string())?;
        self.sum_ns += other.sum_ns;
        self.sum_of_squares += other.sum_of_squares;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        Ok(())
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Their exact sum in nanoseconds.
    pub fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// The histogram.
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.histogram
    }

    /// Their distribution, with the histogram in full.
    ///
    /// # Errors
    /// When the histogram can't be written, which its author calls impossible on a vector.
    pub fn summary(&self) -> Result<Latency, String> {
        let count = self.count().max(1) as f64;
        let mean_ns = self.sum_ns as f64 / count;
        let variance = (self.sum_of_squares / count - mean_ns * mean_ns).max(0.0);
        let quantile =
            |q| self.histogram.value_at_quantile(q).clamp(self.min_ns.min(self.max_ns), self.max_ns);
        Ok(Latency {
            mean_ns,
            stdev_ns: variance.sqrt(),
            min_ns: self.min_ns.min(self.max_ns),
            p50_ns: quantile(0.5),
            p90_ns: quantile(0.9),
            p99_ns: quantile(0.99),
            p999_ns: quantile(0.999),
            max_ns: self.max_ns,
            histogram: encode(&self.histogram)?,
        })
    }
}

fn encode(histogram: &Histogram<u64>) -> Result<String, String> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).map_err(|error| error.to_string())?;
    Ok(BASE64.encode(bytes))
}

/// Reads a histogram back from a result.
///
/// # Errors
/// A sentence, when the text is not a histogram.
pub fn decode(text: &str) -> Result<Histogram<u64>, String> {
    let bytes = BASE64.decode(text).map_err(|error| format!("the histogram is not base64: {error}"))?;
    Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| format!("the histogram can't be read: {error:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(values: impl IntoIterator<Item = u64>) -> Latencies {
        let mut latencies = Latencies::new().unwrap();
        values.into_iter().for_each(|value| latencies.record(value));
        latencies
    }

    #[test]
    fn known_values_are_exact_to_three_digits_from_a_nanosecond_to_a_minute() {
        for truth in [
            1,
            2,
            10,
            127,
            128,
            129,
            255,
            999,
            1_000,
            2_047,
            2_049,
            12_345,
            1_000_003,
            987_654_321,
            60_000_000_000,
        ] {
            let summary = all([truth]).summary().unwrap();
            let histogram = decode(&summary.histogram).unwrap();
            let read = histogram.value_at_quantile(0.5);
            assert!(read.abs_diff(truth) as f64 <= truth as f64 / 1000.0, "{truth} reads {read}");
            assert_eq!((summary.min_ns, summary.max_ns, summary.mean_ns), (truth, truth, truth as f64));
        }
    }

    #[test]
    fn quantiles_mean_and_deviation_of_a_known_sequence() {
        let latencies = all(1..=1000);
        let summary = latencies.summary().unwrap();
        assert_eq!((latencies.count(), latencies.sum_ns()), (1000, 500_500));
        assert_eq!((summary.p50_ns, summary.p90_ns, summary.p99_ns, summary.p999_ns), (500, 900, 990, 999));
        assert!((summary.stdev_ns - 288.675).abs() < 0.01);
    }

    #[test]
    fn merging_is_recording_both() {
        let mut merged = all([5, 100]);
        merged.merge(&all([1, 7_000_000])).unwrap();
        assert_eq!(merged.summary().unwrap(), all([1, 5, 100, 7_000_000]).summary().unwrap());
    }

    #[test]
    fn beyond_an_hour_the_sum_and_the_maximum_stay_exact() {
        let day = 24 * LONGEST_NS;
        let summary = all([day]).summary().unwrap();
        assert_eq!((summary.max_ns, summary.mean_ns), (day, day as f64));
    }

    #[test]
    fn nothing_recorded_is_no_panic() {
        let summary = Latencies::new().unwrap().summary().unwrap();
        assert_eq!((summary.min_ns, summary.max_ns, summary.mean_ns), (0, 0, 0.0));
    }
}
