//! The table's rows. Each follows from the seed and its id.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use storebench_model::store::sql::SqlValue;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::workload::transactions::random_letters;

pub const TABLE: &str = "tests";
/// As in the paper; every SQL dialect knows these types.
pub const SCHEMA: &str = "CREATE TABLE tests (id INTEGER PRIMARY KEY, test_number INTEGER NOT NULL, test_string VARCHAR(100) NOT NULL)";
pub const INSERT: &str = "INSERT INTO tests (id, test_number, test_string) VALUES (?, ?, ?)";
pub const SELECT: &str = "SELECT test_number, test_string FROM tests WHERE id = ?";
pub const DELETE: &str = "DELETE FROM tests WHERE id = ?";

pub(crate) const MOST_LETTERS: usize = 100;
/// A row's bytes besides its text.
pub(crate) const NUMBER_BYTES: usize = 4;
/// The id in hexadecimal.
pub(crate) const KEY_BYTES: usize = 8;

/// A row, whose memory is taken once and kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    id: u32,
    number: i32,
    key: [u8; KEY_BYTES],
    /// The number, big-endian, then the text.
    value: Vec<u8>,
}

impl Row {
    pub fn new() -> Row {
        Row {
            id: 0,
            number: 0,
            key: [b'0'; KEY_BYTES],
            value: Vec::with_capacity(NUMBER_BYTES + MOST_LETTERS),
        }
    }

    pub fn fill(&mut self, seed: u64, id: u32) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(xxh3_64_with_seed(&id.to_le_bytes(), seed));
        self.id = id;
        self.number = (random.next_u64() >> 33) as i32;
        for (index, digit) in self.key.iter_mut().rev().enumerate() {
            *digit = b"0123456789abcdef"[(id >> (4 * index)) as usize & 15];
        }
        self.value.clear();
        self.value.extend(self.number.to_be_bytes());
        self.value.extend(random_letters(&mut random, 1, MOST_LETTERS as u64));
    }

    pub fn key(&self) -> &[u8] {
        &self.key
    }

    pub fn value(&self) -> &[u8] {
        &self.value
    }

    pub fn id(&self) -> SqlValue<'_> {
        SqlValue::Integer(self.id.into())
    }

    pub fn values(&self) -> [SqlValue<'_>; 3] {
        let text = std::str::from_utf8(&self.value[NUMBER_BYTES..]).unwrap_or_default();
        [self.id(), SqlValue::Integer(self.number.into()), SqlValue::Text(text)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_follows_from_seed_and_id() {
        let make_row = |seed, id| {
            let mut row = Row::new();
            row.fill(seed, id);
            row
        };
        let row = make_row(1, 0x0012_abcd);
        assert_eq!(row, make_row(1, 0x0012_abcd));
        assert!(row != make_row(2, 0x0012_abcd) && row.value() != make_row(1, 7).value());
        assert_eq!(row.key(), b"0012abcd");
        let [id, number, text] = row.values();
        assert_eq!(id, SqlValue::Integer(0x0012_abcd));
        let SqlValue::Integer(number) = number else { panic!("{number:?}") };
        assert_eq!(row.value()[..NUMBER_BYTES], i32::try_from(number).unwrap().to_be_bytes());
        assert_eq!(text, SqlValue::Text(std::str::from_utf8(&row.value()[NUMBER_BYTES..]).unwrap()));
    }

    #[test]
    fn texts_are_of_every_length_and_take_no_memory() {
        let mut row = Row::new();
        let capacity = row.value.capacity();
        let lengths: std::collections::BTreeSet<usize> = (0..5000)
            .map(|id| {
                row.fill(3, id);
                row.value().len() - NUMBER_BYTES
            })
            .collect();
        assert_eq!(
            (lengths.first(), lengths.last(), lengths.len()),
            (Some(&1), Some(&MOST_LETTERS), MOST_LETTERS)
        );
        assert_eq!(row.value.capacity(), capacity);
    }
}
