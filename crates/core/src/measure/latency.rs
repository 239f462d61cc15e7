//! Latencies: a histogram exact to three digits from 1 ns to an hour, with exact sum and extremes.

use std::cell::RefCell;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::{Decompress, FlushDecompress, Status};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

use storebench_model::result::Latency;

/// The largest distinguished latency, in nanoseconds: an hour. Longer ones count as an hour in the histogram alone.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// An empty histogram, all of whose memory is resident.
pub(super) fn resident_histogram() -> Result<Histogram<u64>, String> {
    let mut histogram = Histogram::new_with_bounds(1, LONGEST_NS, 3).map_err(|error| error.to_string())?;
    histogram.reset();
    Ok(histogram)
}

/// Latencies of one operation.
#[derive(Debug, Clone)]
pub struct Latencies {
    pub(super) histogram: Histogram<u64>,
    sum_ns: u64,
    sum_of_squares: f64,
    min_ns: u64,
    max_ns: u64,
}

impl Latencies {
    /// No latencies. Takes all memory that it will ever use.
    pub fn new() -> Result<Latencies, String> {
        let histogram = resident_histogram()?;
        Ok(Latencies { histogram, sum_ns: 0, sum_of_squares: 0.0, min_ns: u64::MAX, max_ns: 0 })
    }

    /// Adds a latency, in nanoseconds.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
        self.sum_ns += ns;
        self.sum_of_squares += (ns as f64) * (ns as f64);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Adds another thread's latencies.
    pub fn merge(&mut self, other: &Latencies) -> Result<(), String> {
        self.histogram.add(&other.histogram).map_err(|error| error.to_string())?;
        self.sum_ns += other.sum_ns;
        self.sum_of_squares += other.sum_of_squares;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        Ok(())
    }

    /// The number of latencies.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The exact sum in nanoseconds.
    pub fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// The distribution, with the full histogram.
    pub fn summary(&self) -> Result<Latency, String> {
        let count = self.count().max(1) as f64;
        let mean_ns = self.sum_ns as f64 / count;
        let variance = (self.sum_of_squares / count - mean_ns * mean_ns).max(0.0);
        let quantile = |q| quantile(&self.histogram, q, self.min_ns, self.max_ns);
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

/// Latencies on their way to another machine, without loss.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PackedLatencies {
    histogram: String,
    sum_ns: u64,
    sum_of_squares: f64,
    min_ns: u64,
    max_ns: u64,
}

impl Latencies {
    pub(crate) fn pack(&self) -> Result<PackedLatencies, String> {
        let Latencies { sum_ns, sum_of_squares, min_ns, max_ns, .. } = *self;
        Ok(PackedLatencies { histogram: encode(&self.histogram)?, sum_ns, sum_of_squares, min_ns, max_ns })
    }
}

impl PackedLatencies {
    /// Unpacks them. Fails when they are not as they were packed.
    pub(crate) fn unpack(&self) -> Result<Latencies, String> {
        let mut histogram = resident_histogram()?;
        histogram.add(&decode(&self.histogram)?).map_err(|error| error.to_string())?;
        let PackedLatencies { sum_ns, sum_of_squares, min_ns, max_ns, .. } = *self;
        Ok(Latencies { histogram, sum_ns, sum_of_squares, min_ns, max_ns })
    }
}

/// A quantile, clamped to the exact extremes, which a histogram's buckets reach beyond.
pub fn quantile(histogram: &Histogram<u64>, q: f64, min_ns: u64, max_ns: u64) -> u64 {
    histogram.value_at_quantile(q).clamp(min_ns.min(max_ns), max_ns)
}

pub(super) fn encode(histogram: &Histogram<u64>) -> Result<String, String> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).map_err(|error| error.to_string())?;
    Ok(BASE64.encode(bytes))
}

/// Reads a histogram back from a result. Fails when the text is not one.
pub fn decode(text: &str) -> Result<Histogram<u64>, String> {
    let bytes = BASE64.decode(text).map_err(|error| format!("the histogram is not base64: {error}"))?;
    let unreadable = || "the histogram can't be read: it is cut off, or holds more than one can".to_owned();
    // The reader would take as much memory as a header asks for.
    let inflated = inflate(strip_cookie(&bytes, DEFLATED).ok_or_else(unreadable)?).ok_or_else(unreadable)?;
    let payload = read_word(&inflated, 4).filter(|length| *length as usize <= inflated.len());
    let digits = read_word(&inflated, 12).filter(|digits| *digits <= 3);
    payload.zip(digits).filter(|_| strip_cookie(&inflated, COOKIE).is_some()).ok_or_else(unreadable)?;
    Deserializer::new()
        .deserialize(&mut inflated.as_slice())
        .map_err(|error| format!("the histogram can't be read: {error:?}"))
}

/// The number of latencies in each bucket of a result's histogram, from the shortest; empty buckets are left out. Takes a
/// thousandth of [`decode`]'s memory, for reading histograms by the thousand. Fails when the text is not a histogram of this
/// version's bounds, on which buckets depend.
pub fn occurrences(text: &str) -> Result<Vec<(u16, u64)>, String> {
    let bytes = BASE64.decode(text).map_err(|error| format!("the histogram is not base64: {error}"))?;
    read_sparse(&bytes).ok_or_else(|| "it is no histogram of latencies from 1 ns to three digits".into())
}

/// Reads the format HdrHistogram V2 with deflate: a cookie and a length; within, after a header of 40 bytes, numbers in zigzag
/// LEB128, each the count of the next bucket, or, negative, the number of empty buckets.
fn read_sparse(bytes: &[u8]) -> Option<Vec<(u16, u64)>> {
    let inflated = inflate(strip_cookie(bytes, DEFLATED)?)?;
    let (offset, digits) = (read_word(&inflated, 8)?, read_word(&inflated, 12)?);
    let lowest = u64::from_be_bytes(inflated.get(16..24)?.try_into().ok()?);
    if (offset, digits, lowest) != (0, 3, 1) {
        return None;
    }
    strip_cookie(&inflated, COOKIE)?;
    let mut rest = inflated.get(40..40 + read_word(&inflated, 4)? as usize)?;
    let (mut counts, mut bucket) = (Vec::with_capacity(rest.len()), 0_u64);
    while !rest.is_empty() {
        match read_zigzag(&mut rest)? {
            zeros @ ..0 => bucket = bucket.checked_add(zeros.unsigned_abs())?,
            count => {
                let bucket_index = u16::try_from(bucket).ok().filter(|bucket| *bucket < BUCKETS)?;
                if count > 0 {
                    counts.push((bucket_index, count.unsigned_abs()));
                }
                bucket += 1;
            }
        }
    }
    Some(counts)
}

const COOKIE: u32 = 0x1c84_9303;
const DEFLATED: u32 = 0x1c84_9304;

fn read_word(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(offset..offset + 4)?.try_into().ok()?))
}

/// The bytes after a cookie and a length, if the cookie matches, but for its third half-byte: the width of a word, which does not matter.
fn strip_cookie(bytes: &[u8], cookie: u32) -> Option<&[u8]> {
    (read_word(bytes, 0)? & !0xf0 == cookie).then(|| bytes.get(8..)).flatten()
}

/// Inflates a whole stream, of no more than a histogram can hold. Each thread keeps the inflater's memory, which is costly to take.
fn inflate(bytes: &[u8]) -> Option<Vec<u8>> {
    thread_local! {
        static INFLATER: RefCell<Decompress> = RefCell::new(Decompress::new(true));
    }
    INFLATER.with_borrow_mut(|inflater| {
        inflater.reset(true);
        let mut out = Vec::with_capacity((16 * bytes.len()).min(MOST_BYTES));
        loop {
            let (consumed, produced) = (inflater.total_in(), out.len());
            let rest = bytes.get(consumed as usize..)?;
            let status = inflater.decompress_vec(rest, &mut out, FlushDecompress::Finish).ok()?;
            if status == Status::StreamEnd {
                return Some(out);
            }
            if out.len() > MOST_BYTES {
                return None;
            }
            if out.len() == out.capacity() {
                out.reserve(out.capacity());
            } else if (inflater.total_in(), out.len()) == (consumed, produced) {
                return None;
            }
        }
    })
}

/// The number of buckets of a histogram: 2,048 single nanoseconds, then 1,024 for each further power of two up to an hour.
pub const BUCKETS: u16 = 2048 + 1024 * (LONGEST_NS.ilog2() as u16 - 10);

/// The most that a histogram takes, in bytes: its header, and nine for each bucket.
const MOST_BYTES: usize = 40 + 9 * BUCKETS as usize;

/// The longest latency that counts into a bucket, in nanoseconds.
pub fn longest_of(bucket: u16) -> u64 {
    let shift = (bucket >> 10).saturating_sub(1);
    let mantissa = if bucket < 2048 { bucket } else { (bucket & 1023) + 1024 };
    ((u64::from(mantissa) + 1) << shift) - 1
}

/// Takes one number off the front: seven bits a byte, all eight of the ninth.
#[inline]
fn read_zigzag(bytes: &mut &[u8]) -> Option<i64> {
    if let [byte @ ..0x80, rest @ ..] = *bytes {
        *bytes = rest;
        return Some(i64::from(byte >> 1) ^ -i64::from(byte & 1));
    }
    let mut value = 0;
    for position in 0..9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let is_last = position == 8 || byte & 0x80 == 0;
        let bits = if position == 8 { *byte } else { byte & 0x7f };
        value |= u64::from(bits) << (7 * position);
        if is_last {
            break;
        }
    }
    Some((value >> 1) as i64 ^ -((value & 1) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latencies_of(values: impl IntoIterator<Item = u64>) -> Latencies {
        let mut latencies = Latencies::new().unwrap();
        values.into_iter().for_each(|value| latencies.record(value));
        latencies
    }

    #[test]
    fn known_values_are_exact_to_three_digits_from_a_nanosecond_to_a_minute() {
        let short = [1, 2, 10, 127, 128, 129, 255, 999, 1_000, 2_047, 2_049, 12_345, 1_000_003];
        for truth in short.into_iter().chain([987_654_321, 60_000_000_000]) {
            let summary = latencies_of([truth]).summary().unwrap();
            let histogram = decode(&summary.histogram).unwrap();
            let read = histogram.value_at_quantile(0.5);
            assert!(read.abs_diff(truth) as f64 <= truth as f64 / 1000.0, "{truth} reads {read}");
            assert_eq!((summary.min_ns, summary.max_ns, summary.mean_ns), (truth, truth, truth as f64));
        }
    }

    #[test]
    fn quantiles_mean_and_deviation_of_a_known_sequence() {
        let latencies = latencies_of(1..=1000);
        let summary = latencies.summary().unwrap();
        assert_eq!((latencies.count(), latencies.sum_ns()), (1000, 500_500));
        assert_eq!((summary.p50_ns, summary.p90_ns, summary.p99_ns, summary.p999_ns), (500, 900, 990, 999));
        assert!((summary.stdev_ns - 288.675).abs() < 0.01);
    }

    #[test]
    fn packed_on_several_machines_and_merged_they_are_those_of_one_process() {
        let mut random = fastrand::Rng::with_seed(11);
        let values: Vec<u64> = (0..20_000).map(|_| random.u64(1..4) << random.u32(0..44)).collect();
        let mut merged = Latencies::new().unwrap();
        for chunk in values.chunks(7_001) {
            let json = serde_json::to_string(&latencies_of(chunk.iter().copied()).pack().unwrap()).unwrap();
            let packed: PackedLatencies = serde_json::from_str(&json).unwrap();
            merged.merge(&packed.unpack().unwrap()).unwrap();
        }
        let direct = latencies_of(values);
        assert_eq!(merged.histogram, direct.histogram);
        let extremes = |all: &Latencies| (all.sum_ns(), all.min_ns, all.max_ns);
        assert_eq!(extremes(&merged), extremes(&direct));
        // Floating-point sums of squares depend on the order of their summands.
        let (merged, direct) = (merged.summary().unwrap(), direct.summary().unwrap());
        assert!((merged.stdev_ns / direct.stdev_ns - 1.0).abs() < 1e-9);
        assert_eq!(merged.histogram, direct.histogram);
        let empty = Latencies::new().unwrap().pack().unwrap().unpack().unwrap();
        assert_eq!((empty.count(), empty.min_ns), (0, u64::MAX));
        // Beyond an hour the sum and the maximum stay exact, and nothing recorded is no panic.
        let day = 24 * LONGEST_NS;
        for (latencies, min_ns, max_ns) in [(latencies_of([day]), day, day), (latencies_of([]), 0, 0)] {
            let summary = latencies.summary().unwrap();
            assert_eq!((summary.min_ns, summary.max_ns, summary.mean_ns), (min_ns, max_ns, max_ns as f64));
        }
    }

    #[test]
    fn occurrences_are_those_of_the_histogram() {
        let mut random = fastrand::Rng::with_seed(7);
        let wide = (0..3000).map(|_| random.u64(1..2) << random.u32(0..41)).collect::<Vec<_>>();
        let near = (0..100_000).map(|_| random.u64(900..1100)).collect();
        let long = (0..3000).map(|_| random.u64(1..4_000_000_000_000)).collect();
        for values in [vec![], vec![1], wide, near, long, vec![0, 2047, 2048, 2049, 4096, 9 * LONGEST_NS]] {
            let text = latencies_of(values).summary().unwrap().histogram;
            let histogram = decode(&text).unwrap();
            let truth = histogram
                .iter_recorded()
                .map(|step| (histogram.highest_equivalent(step.value_iterated_to()), step.count_at_value()));
            let found = occurrences(&text).unwrap();
            assert!(found.into_iter().map(|(bucket, count)| (longest_of(bucket), count)).eq(truth));
        }
    }

    #[test]
    fn what_is_no_histogram_is_an_error() {
        let whole = latencies_of([5, 6, 7]).summary().unwrap().histogram;
        let one_value = |low, high, digits, value| {
            let mut histogram = Histogram::<u64>::new_with_bounds(low, high, digits).unwrap();
            histogram.record(value).unwrap();
            encode(&histogram).unwrap()
        };
        let (coarse, longer) = (one_value(10, 1_000_000, 2, 500), one_value(1, u64::MAX, 3, u64::MAX));
        for text in ["", "?", "AAAA", &whole[..whole.len() / 2 / 4 * 4], &coarse, &longer] {
            assert!(occurrences(text).is_err(), "{text:?}");
        }
    }

    /// A histogram whose inside, header and all, is this.
    fn deflate(payload: &[u8]) -> String {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut encoder, payload).unwrap();
        let bytes = encoder.finish().unwrap();
        let head = [DEFLATED.to_be_bytes(), (bytes.len() as u32).to_be_bytes()].concat();
        BASE64.encode([head, bytes].concat())
    }

    #[test]
    fn no_memory_is_taken_for_what_a_histogram_only_says_of_itself() {
        let whole = latencies_of([5, 6, 7]).summary().unwrap().histogram;
        let bytes = BASE64.decode(&whole).unwrap();
        let payload = inflate(&bytes[8..]).unwrap();
        assert!(decode(&deflate(&payload)).is_ok());
        // A length of 4 GiB; six digits; a bomb.
        let (mut long, mut fine) = (payload.clone(), payload.clone());
        long[4..8].fill(0xff);
        fine[15] = 6;
        let bomb = [payload, vec![0; 100 << 20]].concat();
        for payload in [long, fine, bomb] {
            let text = deflate(&payload);
            assert!(decode(&text).is_err() && occurrences(&text).is_err());
        }
    }
}
