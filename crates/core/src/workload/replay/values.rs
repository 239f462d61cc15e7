//! Values of a replay. Each follows from the seed, its key, its write's position in the trace, and its length, and begins with that
//! position and a fingerprint: so a read shows which write it is from, and every byte can be checked, with nothing kept for any key.

use storebench_model::cell::Data;
use storebench_model::units::SizeRange;
use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

use crate::record::pool::Pool;
use crate::record::{apply_mask, mix, scale};

/// Bytes of position and fingerprint. Shorter values follow from the key and their length alone.
pub const HEAD_BYTES: usize = 16;

/// The position of records loaded before the first operation.
pub const LOADED: u64 = 0;

#[derive(Debug)]
pub struct Values {
    seed: u64,
    pool: Pool,
}

impl Values {
    pub fn new(data: Data, seed: u64, largest: u64) -> Values {
        let pool = Pool::generate(data, seed, SizeRange { from: 1, to: largest.max(1) + 1 });
        Values { seed, pool }
    }

    /// Appends the value of a key (its hash) written at a position.
    pub fn append(&self, key: u64, position: u64, length: usize, out: &mut Vec<u8>) {
        if length < HEAD_BYTES {
            let bytes = self.hash128(key, length).to_le_bytes();
            return out.extend_from_slice(&bytes[..length]);
        }
        let fingerprint = self.fingerprint(key, position, length);
        out.extend_from_slice(&(position ^ mix(key ^ self.seed)).to_le_bytes());
        out.extend_from_slice(&fingerprint.to_le_bytes());
        let (start, body) = (out.len(), length - HEAD_BYTES);
        let offset = scale(mix(fingerprint), (self.pool.bytes.len() - body) as u64) as usize;
        out.extend_from_slice(&self.pool.bytes[offset..offset + body]);
        if self.pool.data == Data::Incompressible {
            apply_mask(&mut out[start..], mix(fingerprint ^ 1) | 1);
        }
    }

    /// The position of a value's write; `None` if it is too short to show. Fails when it is no whole value of this key.
    /// Overwrites `scratch`.
    pub fn check(&self, key: u64, value: &[u8], scratch: &mut Vec<u8>) -> Result<Option<u64>, ()> {
        // No value of the trace is as long as the pool.
        if value.len() >= self.pool.bytes.len() {
            return Err(());
        }
        let head = value.first_chunk::<8>().filter(|_| value.len() >= HEAD_BYTES);
        let position = head.map(|head| u64::from_le_bytes(*head) ^ mix(key ^ self.seed));
        scratch.clear();
        self.append(key, position.unwrap_or_default(), value.len(), scratch);
        if scratch == value { Ok(position) } else { Err(()) }
    }

    fn fingerprint(&self, key: u64, position: u64, length: usize) -> u64 {
        let words = [key, position, length as u64].map(u64::to_le_bytes);
        xxh3_64_with_seed(words.as_flattened(), self.seed)
    }

    fn hash128(&self, key: u64, length: usize) -> u128 {
        xxh3_128_with_seed([key, length as u64].map(u64::to_le_bytes).as_flattened(), self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    static TEXT: LazyLock<Values> = LazyLock::new(|| Values::new(Data::Compressible, 5, 400));
    static RANDOM: LazyLock<Values> = LazyLock::new(|| Values::new(Data::Incompressible, 5, 400));

    proptest! {
        #[test]
        fn a_value_tells_its_write_and_nothing_else_passes(
            key: u64, position in 0..1_000_000_000_u64, length in 0..400_usize, flip: proptest::sample::Index, text: bool
        ) {
            let values = if text { &*TEXT } else { &*RANDOM };
            let (mut value, mut scratch) = (Vec::new(), Vec::new());
            values.append(key, position, length, &mut value);
            prop_assert_eq!(value.len(), length);
            let expected = (length >= HEAD_BYTES).then_some(position);
            prop_assert_eq!(values.check(key, &value, &mut scratch), Ok(expected));
            if length >= HEAD_BYTES {
                prop_assert_eq!(values.check(key ^ 1, &value, &mut scratch), Err(()));
                prop_assert_eq!(values.check(key, &value[..length - 1], &mut scratch), Err(()));
            }
            if length > 0 {
                value[flip.index(length)] ^= 1;
                prop_assert_eq!(values.check(key, &value, &mut scratch), Err(()));
            }
        }
    }
}
