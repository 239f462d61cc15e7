//! The keys of records: `user` and a number, as in YCSB. The number is a hash of the record's, so that successive records have
//! distant keys; with `insertorder=ordered` it is the record's.

use super::definition::KeyNaming;

/// The longest key in bytes, which every store takes.
pub const MAX_KEY_BYTES: usize = 32;

const PREFIX: &[u8] = b"user";

#[derive(Debug, Clone, Copy)]
pub struct RecordKey {
    bytes: [u8; MAX_KEY_BYTES],
    length: u8,
}

impl RecordKey {
    pub(crate) const EMPTY: RecordKey = RecordKey { bytes: [0; MAX_KEY_BYTES], length: 0 };

    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl KeyNaming {
    #[inline]
    pub fn key(&self, record: u64) -> RecordKey {
        let number = self.first + record;
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(if self.ordered { number } else { hash_number(number) }).as_bytes();
        let zeros = (self.padding as usize).min(MAX_KEY_BYTES - PREFIX.len()).saturating_sub(digits.len());
        let mut bytes = [b'0'; MAX_KEY_BYTES];
        bytes[..PREFIX.len()].copy_from_slice(PREFIX);
        let begin = PREFIX.len() + zeros;
        bytes[begin..begin + digits.len()].copy_from_slice(digits);
        RecordKey { bytes, length: (begin + digits.len()) as u8 }
    }
}

/// YCSB's hash of a number (`Utils.fnvhash64`): FNV-1a with 64 bits over its eight bytes, the lowest first, without the sign.
#[inline]
pub fn hash_number(number: u64) -> u64 {
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = number.to_le_bytes().into_iter().fold(0xcbf2_9ce4_8422_2325, fold);
    (hash as i64).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const HASHED: KeyNaming = KeyNaming { ordered: false, padding: 1, first: 0 };

    fn key_text(naming: KeyNaming, record: u64) -> String {
        String::from_utf8(naming.key(record).bytes().to_vec()).unwrap()
    }

    #[test]
    fn keys_are_those_of_ycsb() {
        let ordered = KeyNaming { ordered: true, ..HASHED };
        for (naming, record, key) in [
            // The first keys of YCSB's tests and logs.
            (HASHED, 0, "user6284781860667377211"),
            (HASHED, 1, "user8517097267634966620"),
            (ordered, 0, "user0"),
            (ordered, 17, "user17"),
            (KeyNaming { padding: 8, first: 100, ..ordered }, 17, "user00000117"),
            (KeyNaming { padding: 0, ..ordered }, 0, "user0"),
        ] {
            assert_eq!(key_text(naming, record), key);
        }
        assert_eq!(key_text(KeyNaming { padding: 28, ..ordered }, u64::MAX / 2).len(), MAX_KEY_BYTES);
    }

    #[test]
    fn no_two_of_two_million_have_one_key() {
        let keys: HashSet<u64> = (0..2_000_000).map(hash_number).collect();
        assert_eq!(keys.len(), 2_000_000);
    }
}
