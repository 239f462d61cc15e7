//! Records: seeded keys and values, the same for every store of a block, and their check. A key is 32 hexadecimal characters from
//! a hash of the record's index. A value is a slice of a pool of random bytes or of text, chosen by a hash of index and version,
//! with a fingerprint of both at its start, so that any value can be made or checked at any time (docs/data.md).

pub mod pool;
pub mod text;

use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

use pool::Pool;
use storebench_model::cell::Data;
use storebench_model::units::Sizes;

pub(crate) const KEY_BYTES: usize = 32;

/// A record's key.
pub type Key = [u8; KEY_BYTES];

/// Shorter values hold as much of it as fits.
const FINGERPRINT_BYTES: usize = 8;

/// Makes and checks the records of a cell.
#[derive(Debug)]
pub struct Records {
    seed: u64,
    sizes: Sizes,
    pool: Pool,
    lengths: Lengths,
    ascending: bool,
}

/// How lengths are distributed between the bounds.
#[derive(Debug)]
enum Lengths {
    Even,
    /// The share of lengths up to each, as numbers below 2^64; above the last is the longest.
    Weighted(Vec<u64>),
    /// The shortest in the first version; [`RISE`] steps up to the longest, and as many down.
    Waves,
}

/// Versions in which [`Lengths::Waves`] grow from the shortest to the longest.
const RISE: u8 = 5;
/// Versions of such a value before it begins anew.
pub(crate) const WAVES: u8 = 250;
const _: () =
    assert!(WAVES.is_multiple_of(2 * RISE), "the first comes after the last as after each other shortest");

/// What a value is made from.
struct Recipe {
    length: usize,
    offset: usize,
    mask: u64,
    fingerprint: [u8; FINGERPRINT_BYTES],
}

impl Records {
    /// The records of `sizes` under `seed`, whose values come from `pool`. The pool must be longer than the largest value.
    pub fn new(seed: u64, sizes: impl Into<Sizes>, pool: Pool) -> Records {
        Records { seed, sizes: sizes.into(), pool, lengths: Lengths::Even, ascending: false }
    }

    /// Weighted lengths, from the shortest on.
    pub(crate) fn with_lengths(self, weights: impl Iterator<Item = f64> + Clone) -> Records {
        let total: f64 = weights.clone().sum();
        let mut running_total = 0.0;
        let thresholds = weights.map(|weight| {
            running_total += weight;
            (running_total / total * 2f64.powi(64)) as u64
        });
        let mut thresholds: Vec<u64> = thresholds.collect();
        thresholds.pop();
        Records { lengths: Lengths::Weighted(thresholds), ..self }
    }

    /// Lengths that grow with the version, and shrink again, throughout [`WAVES`] versions.
    #[must_use]
    pub(crate) fn with_waves(self) -> Records {
        Records { lengths: Lengths::Waves, ..self }
    }

    /// The same with keys in the order of the indexes.
    #[must_use]
    pub fn ascending(self) -> Records {
        Records { ascending: true, ..self }
    }

    /// The key of the record at `index`.
    pub fn key(&self, index: u64) -> Key {
        if self.ascending {
            return hexadecimal(index.into());
        }
        hexadecimal(xxh3_128_with_seed(&index.to_le_bytes(), self.seed))
    }

    pub(crate) fn value_length(&self, index: u64, version: u8) -> usize {
        self.length(self.hash(index, version), version)
    }

    /// The largest value's length in bytes.
    pub fn largest_value(&self) -> usize {
        self.sizes.largest() as usize
    }

    pub(crate) fn smallest_value(&self) -> usize {
        self.sizes.span().from as usize
    }

    pub(crate) fn mean_value(&self) -> f64 {
        match &self.lengths {
            Lengths::Even => self.sizes.mean(),
            // Each step up is reached by the share of lengths above it.
            Lengths::Weighted(thresholds) => {
                let share_above = |threshold: &u64| 1.0 - *threshold as f64 / 2f64.powi(64);
                self.sizes.span().from as f64 + thresholds.iter().map(share_above).sum::<f64>()
            }
            Lengths::Waves => (self.smallest_value() + self.largest_value()) as f64 / 2.0,
        }
    }

    /// Whether two versions of a value are the same bytes, which happens by chance to short values.
    pub(crate) fn is_same_value(&self, index: u64, version: u8, other: u8) -> bool {
        if self.sizes.span().from >= FINGERPRINT_BYTES as u64 {
            return false;
        }
        let (first, other) = (self.recipe(index, version), self.recipe(index, other));
        let stamped = first.length.min(FINGERPRINT_BYTES);
        first.length == other.length
            && first.length <= FINGERPRINT_BYTES
            && first.fingerprint[..stamped] == other.fingerprint[..stamped]
    }

    /// Appends the value at `index` in its `version` to `out`.
    pub fn append_value(&self, index: u64, version: u8, out: &mut Vec<u8>) {
        let recipe = self.recipe(index, version);
        let start = out.len();
        let slice = &self.pool.bytes[recipe.offset..recipe.offset + recipe.length];
        out.extend_from_slice(slice);
        let value = &mut out[start..];
        if recipe.mask != 0 {
            apply_mask(value, recipe.mask);
        }
        let stamped = recipe.length.min(FINGERPRINT_BYTES);
        value[..stamped].copy_from_slice(&recipe.fingerprint[..stamped]);
    }

    /// Whether `value` is, byte for byte, the value at `index` in its `version`.
    pub fn is_value(&self, index: u64, version: u8, value: &[u8]) -> bool {
        let recipe = self.recipe(index, version);
        if value.len() != recipe.length {
            return false;
        }
        let stamped = recipe.length.min(FINGERPRINT_BYTES);
        let slice = &self.pool.bytes[recipe.offset..recipe.offset + recipe.length];
        value[..stamped] == recipe.fingerprint[..stamped]
            && equal_under_mask(value, slice, recipe.mask, stamped)
    }

    fn hash(&self, index: u64, version: u8) -> u64 {
        xxh3_64_with_seed(&(index << 8 | u64::from(version)).to_le_bytes(), self.seed)
    }

    fn length(&self, hash: u64, version: u8) -> usize {
        match &self.lengths {
            Lengths::Even => self.sizes.draw(hash) as usize,
            Lengths::Weighted(thresholds) => {
                let exceeded = thresholds.partition_point(|threshold| *threshold <= hash);
                self.sizes.span().from as usize + exceeded
            }
            Lengths::Waves => {
                let step = usize::from(version % (2 * RISE));
                let height = step.min(usize::from(2 * RISE) - step);
                let shortest = self.smallest_value();
                shortest + (self.largest_value() - shortest) * height / usize::from(RISE)
            }
        }
    }

    fn recipe(&self, index: u64, version: u8) -> Recipe {
        let hash = self.hash(index, version);
        let length = self.length(hash, version);
        let second_hash = mix(hash);
        let max_offset = (self.pool.bytes.len() - length) as u64;
        let third_hash = mix(second_hash);
        let (mask, fingerprint) = match self.pool.data {
            Data::Incompressible => (second_hash | 1, third_hash.to_le_bytes()),
            Data::Compressible => (0, letters(third_hash)),
        };
        Recipe { length, offset: scale(second_hash, max_offset) as usize, mask, fingerprint }
    }
}

/// A number below `bound`, from the high bits of `hash`.
pub(crate) fn scale(hash: u64, bound: u64) -> u64 {
    ((u128::from(hash) * u128::from(bound)) >> 64) as u64
}

/// The finaliser of SplitMix64.
pub(crate) fn mix(hash: u64) -> u64 {
    let hash = hash.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// Eight lower-case letters from 40 bits, so that a fingerprint looks like a word.
fn letters(bits: u64) -> [u8; FINGERPRINT_BYTES] {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyzaeiost";
    std::array::from_fn(|position| ALPHABET[(bits >> (5 * position) & 31) as usize])
}

/// Makes every value's bytes unique, at the speed of memory.
pub(crate) fn apply_mask(value: &mut [u8], mask: u64) {
    let (words, rest) = value.as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_le_bytes(*word) ^ mask).to_le_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(mask.to_le_bytes()) {
        *byte ^= key;
    }
}

fn equal_under_mask(value: &[u8], slice: &[u8], mask: u64, skip: usize) -> bool {
    if mask == 0 {
        return value[skip..] == slice[skip..];
    }
    let (words, rest) = value.as_chunks::<8>();
    let (other_words, other_rest) = slice.as_chunks::<8>();
    // The fingerprint fills the first word, or all of a value shorter than it.
    let different =
        words.iter().zip(other_words).skip(1).fold(0, |different, (a, b)| {
            different | (u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b) ^ mask)
        });
    let rest_equal = value.len() <= FINGERPRINT_BYTES
        || rest.iter().zip(other_rest).zip(mask.to_le_bytes()).all(|((a, b), key)| *a == *b ^ key);
    different == 0 && rest_equal
}

fn hexadecimal(number: u128) -> Key {
    let mut key = [0; KEY_BYTES];
    let (chunks, _) = key.as_chunks_mut::<8>();
    for (position, chunk) in chunks.iter_mut().enumerate() {
        *chunk = hexadecimal_word((number >> (96 - 32 * position)) as u32);
    }
    key
}

/// Eight characters at once: spreads the nibbles over the bytes of a word, and raises those of letters.
fn hexadecimal_word(number: u32) -> [u8; 8] {
    let spread = u64::from(number);
    let spread = (spread | spread << 16) & 0x0000_ffff_0000_ffff;
    let spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff;
    let spread = (spread | spread << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    let letters = (spread + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    (spread + 0x3030_3030_3030_3030 + letters * u64::from(b'a' - b'9' - 1)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use storebench_model::units::SizeRange;

    use super::*;
    use proptest::prelude::*;

    fn records(data: Data, from: u64, to: u64) -> Records {
        let size = SizeRange { from, to };
        Records::new(7, size, Pool::generate(data, 7, size))
    }

    fn value(records: &Records, index: u64, version: u8) -> Vec<u8> {
        let mut out = Vec::new();
        records.append_value(index, version, &mut out);
        out
    }

    #[test]
    fn keys_are_the_hash_in_hexadecimal_and_the_same_seed_gives_the_same_values_everywhere() {
        let incompressible = records(Data::Incompressible, 1, 1024);
        for index in 0..1000_u64 {
            let expected = format!("{:032x}", xxh3_128_with_seed(&index.to_le_bytes(), 7));
            assert_eq!(incompressible.key(index).as_slice(), expected.as_bytes());
        }
        let random = value(&incompressible, 3, 1);
        let text = value(&records(Data::Compressible, 1, 1024), 3, 1);
        let again = value(&records(Data::Incompressible, 1, 1024), 3, 1);
        assert_eq!(random, again);
        assert_ne!(random, text);
        assert_eq!(random.len(), text.len());
    }

    #[test]
    fn sizes_fill_their_range_evenly() {
        let records = records(Data::Incompressible, 1, 1025);
        let lengths: Vec<_> = (0..20_000).map(|index| records.value_length(index, 0)).collect();
        let mean = lengths.iter().sum::<usize>() as f64 / lengths.len() as f64;
        assert!((mean - 512.5).abs() < 10.0, "{mean}");
        assert_eq!(lengths.iter().min(), Some(&1));
        assert_eq!(lengths.iter().max(), Some(&1024));
        assert_eq!(records.largest_value(), 1024);
    }

    #[test]
    fn sizes_with_weights_follow_them() {
        let size = SizeRange { from: 10, to: 14 };
        let weights = [4.0, 3.0, 2.0, 1.0];
        let records = Records::new(7, size, Pool::generate(Data::Incompressible, 7, size));
        let records = records.with_lengths(weights.into_iter());
        let mut found = [0_u32; 4];
        (0..20_000).for_each(|index| found[records.value_length(index, 0) - 10] += 1);
        for (found, weight) in found.into_iter().zip(weights) {
            assert!((f64::from(found) - weight * 2000.0).abs() < 250.0, "{found} {weight}");
        }
        assert!((records.mean_value() - 11.0).abs() < 1e-9, "{}", records.mean_value());
        assert!(records.is_value(3, 0, &value(&records, 3, 0)));
    }

    #[test]
    fn values_in_waves_grow_to_the_longest_and_shrink_again() {
        let records = records(Data::Incompressible, 100, 1_101).with_waves();
        let lengths: Vec<_> = (0..12).map(|version| records.value_length(7, version)).collect();
        assert_eq!(lengths, [100, 300, 500, 700, 900, 1_100, 900, 700, 500, 300, 100, 300]);
        assert_eq!(records.value_length(7, WAVES - 1), 300, "the next is the first again");
        assert!((records.mean_value() - 600.0).abs() < 1e-9);
        assert!(records.is_value(3, 4, &value(&records, 3, 4)));
    }

    #[test]
    fn mixed_sizes_are_drawn_in_their_shares() {
        let sizes: Sizes = "90%:100B..200B+10%:5000B".parse().unwrap();
        let records = Records::new(7, sizes, Pool::generate(Data::Incompressible, 7, sizes.span()));
        let values: Vec<_> = (0..20_000).map(|index| value(&records, index, 0)).collect();
        let large = values.iter().filter(|value| value.len() == 5000).count();
        assert!((1900..2100).contains(&large), "{large}");
        assert!(values.iter().all(|value| value.len() == 5000 || (100..200).contains(&value.len())));
        let mean = values.iter().map(Vec::len).sum::<usize>() as f64 / values.len() as f64;
        assert!((mean / records.mean_value() - 1.0).abs() < 0.04, "{mean}");
        assert_eq!(records.largest_value(), 5000);
        assert!((0..1000).all(|index| records.is_value(index, 0, &values[index as usize])));
    }

    #[test]
    fn short_values_are_alike_by_chance_and_that_is_known() {
        for data in [Data::Incompressible, Data::Compressible] {
            let records = records(data, 1, 3);
            let mut alike = 0;
            for index in 0..20_000 {
                let same = value(&records, index, 1) == value(&records, index, 2);
                assert_eq!(records.is_same_value(index, 1, 2), same, "{index}");
                alike += u64::from(same);
            }
            assert!(alike > 0);
        }
    }

    proptest! {
        #[test]
        fn a_value_is_itself_and_nothing_else(index in 0..1_000_000_u64, version: u8, flip: proptest::sample::Index, text: bool) {
            let records = records(if text { Data::Compressible } else { Data::Incompressible }, 1, 300);
            let mut bytes = value(&records, index, version);
            prop_assert_eq!(bytes.len(), records.value_length(index, version));
            prop_assert!(records.is_value(index, version, &bytes));
            if bytes.len() > 8 {
                prop_assert!(!records.is_value(index, version.wrapping_add(1), &bytes));
                prop_assert!(!records.is_value(index + 1, version, &bytes));
            }
            prop_assert!(!records.is_value(index, version, &bytes[1..]));
            let position = flip.index(bytes.len());
            bytes[position] ^= 1;
            prop_assert!(!records.is_value(index, version, &bytes), "a flipped bit at {} was not seen", position);
        }
    }
}
