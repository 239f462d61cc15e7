//! Primary keys: unique 64-bit numbers in no order of time, from which the row's number can be computed, so that nobody has to
//! remember them. The highest bit is 0, the next eleven say who made the row: 0 for the data, a number for each client thread.
//! The ids of data grow with their rows' numbers, each drawn from its own stretch, so that rows can be made sorted by key or not
//! without sorting. A client's ids are scattered.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::schema::Table;

/// Bits below who made the row.
const NUMBER_BITS: u32 = 52;
const NUMBER_MASK: u64 = (1 << NUMBER_BITS) - 1;
/// The most rows of a table, so that ids do not get scarce.
pub const MOST_ROWS: u64 = 1 << 40;

/// An odd number, and the inverse of multiplying by it, in the bits of `NUMBER_MASK`.
const FACTOR: u64 = 0x8_51f4_2d4c_957f;
const INVERSE: u64 = inverse(FACTOR) & NUMBER_MASK;

/// The inverse of an odd number modulo 2^64, by Newton's method: each step doubles the correct bits.
const fn inverse(odd: u64) -> u64 {
    let (mut x, mut step) = (odd, 0);
    while step < 5 {
        x = x.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(x)));
        step += 1;
    }
    x
}

/// Who made a row, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOrigin {
    Data(u64),
    /// An order of a client thread.
    Client {
        thread: u64,
        number: u64,
    },
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Ids {
    seed: u64,
    table: Table,
    rows: u64,
}

impl Ids {
    pub fn new(seed: u64, table: Table, rows: u64) -> Ids {
        Ids { seed, table, rows: rows.max(1) }
    }

    /// The start of the stretch from which a row's id is drawn.
    fn begin(&self, number: u64) -> u64 {
        ((u128::from(number) << NUMBER_BITS) / u128::from(self.rows)) as u64
    }

    #[inline]
    pub fn id_of_row(&self, number: u64) -> i64 {
        let begin = self.begin(number);
        let length = self.begin(number + 1) - begin;
        let words = [number, self.table as u64].map(u64::to_le_bytes);
        (begin + xxh3_64_with_seed(words.as_flattened(), self.seed) % length) as i64
    }

    /// The row number of an id; `None` if no row has it.
    pub fn number(&self, id: i64) -> Option<u64> {
        let id = u64::try_from(id).ok().filter(|id| *id <= NUMBER_MASK)?;
        let estimate = ((u128::from(id) * u128::from(self.rows)) >> NUMBER_BITS) as u64;
        let number = if self.begin(estimate + 1) <= id { estimate + 1 } else { estimate };
        (number < self.rows && self.id_of_row(number) == id as i64).then_some(number)
    }

    /// The row at a place in unsorted order: each once.
    pub fn shuffled_row(&self, position: u64) -> u64 {
        let bits = (64 - (self.rows - 1).leading_zeros()).max(2);
        // A number beyond the rows is passed on until it is within them: a permutation of the larger range stays one.
        let mut number = position;
        loop {
            number = scatter(number, bits, self.seed ^ self.table as u64);
            if number < self.rows {
                return number;
            }
        }
    }
}

pub(crate) fn client_id(thread: u64, number: u64) -> i64 {
    let mixed = fold(fold(number & NUMBER_MASK).wrapping_mul(FACTOR) & NUMBER_MASK);
    (((thread + 1) << NUMBER_BITS) | mixed) as i64
}

pub(crate) fn origin_of(data: &Ids, id: i64) -> Option<RowOrigin> {
    let bits = u64::try_from(id).ok()?;
    match bits >> NUMBER_BITS {
        0 => data.number(id).map(RowOrigin::Data),
        maker => {
            let number = fold(fold(bits & NUMBER_MASK).wrapping_mul(INVERSE) & NUMBER_MASK);
            Some(RowOrigin::Client { thread: maker - 1, number })
        }
    }
}

/// Folds the upper half of the bits into the lower one; its own inverse.
fn fold(bits: u64) -> u64 {
    bits ^ (bits >> (NUMBER_BITS / 2))
}

/// A permutation of the numbers with this number of bits.
fn scatter(number: u64, bits: u32, seed: u64) -> u64 {
    let mask = (1_u64 << bits) - 1;
    let mut mixed = number;
    for round in 0..3_u64 {
        // Odd factors and shifts to the right can be undone, each by itself.
        let factor = xxh3_64_with_seed(&round.to_le_bytes(), seed) | 1;
        mixed = mixed.wrapping_mul(factor).wrapping_add(factor >> 32) & mask;
        mixed ^= mixed >> (bits / 2);
    }
    mixed
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_of_data_grow_with_their_numbers_and_lead_back_to_them() {
        for rows in [1, 2, 3, 1000, 4_000_000, MOST_ROWS] {
            let ids = Ids::new(5, Table::Orders, rows);
            let numbers = (0..rows.min(1000)).chain(rows.saturating_sub(1000)..rows);
            let mut last = -1;
            for number in numbers.collect::<BTreeSet<u64>>() {
                let id = ids.id_of_row(number);
                assert!(id > last && id >> NUMBER_BITS == 0, "{rows} {number}");
                assert_eq!(ids.number(id), Some(number));
                assert_eq!(origin_of(&ids, id), Some(RowOrigin::Data(number)));
                last = id;
            }
        }
        let ids = Ids::new(5, Table::Orders, 1000);
        assert_eq!([-1, ids.id_of_row(7) + 1].map(|id| ids.number(id)), [None; 2]);
        assert_eq!(origin_of(&ids, -1), None);
        assert_ne!(ids.id_of_row(7), Ids::new(6, Table::Orders, 1000).id_of_row(7), "the seed counts");
        assert_ne!(ids.id_of_row(7), Ids::new(5, Table::Customers, 1000).id_of_row(7), "and the table");
    }

    #[test]
    fn ids_of_clients_are_unique_and_lead_back_to_them() {
        let data = Ids::new(5, Table::Orders, 1000);
        let mut seen_ids = BTreeSet::new();
        for thread in [0, 1, 1023] {
            for number in (0..1000).chain([NUMBER_MASK]) {
                let id = client_id(thread, number);
                assert!(id > 0 && seen_ids.insert(id));
                assert_eq!(origin_of(&data, id), Some(RowOrigin::Client { thread, number }));
            }
        }
        let ids: Vec<i64> = (0..1000).map(|number| client_id(0, number)).collect();
        assert!(!ids.is_sorted(), "new orders do not all go to the end of a table");
    }

    #[test]
    fn unsorted_rows_come_once_each() {
        for rows in [1, 2, 5, 64, 1000, 4097] {
            let ids = Ids::new(9, Table::Products, rows);
            let order: Vec<u64> = (0..rows).map(|position| ids.shuffled_row(position)).collect();
            assert_eq!(order.iter().copied().collect::<BTreeSet<_>>(), (0..rows).collect(), "{rows}");
            let steps = order.windows(2).filter(|pair| pair[1] == pair[0] + 1).count() as u64;
            assert!(rows < 64 || steps < rows / 10, "{rows}: {steps} rows follow the one before");
        }
    }
}
