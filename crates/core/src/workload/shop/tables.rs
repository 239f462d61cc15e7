//! The three tables as a store keeps them: the same transactions whether it speaks SQL or keeps records.

use super::chunk::Source;
use super::rows::LOOKED_AT;
use super::schema::{ID_BYTES, ORDER_BYTES, Table};
use crate::store::Result;

/// A customer's purchase, by ids.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buying {
    pub customer: i64,
    pub looked_at: [i64; LOOKED_AT],
    /// Which of these is ordered.
    pub chosen: usize,
    /// The order's row.
    pub order: Vec<u8>,
    /// The number of pieces that are ordered.
    pub amount: i32,
}

impl Buying {
    /// The product that is ordered.
    pub fn product(&self) -> i64 {
        self.looked_at[self.chosen]
    }
}

/// One thread's handle on the tables.
pub trait Tables {
    /// Loads what a source gives, until it ends; says in how many calls that the store acknowledged.
    fn load(&mut self, source: &mut Source) -> Result<u64>;

    /// Makes the secondary index, where it is made of tables that are full.
    fn make_index(&mut self) -> Result<()>;

    /// A customer, then all their orders.
    fn orders(&mut self, customer: i64, seen: &mut ReadBuffer) -> Result<()>;

    /// In one transaction: a customer and products are read, one of them is ordered, and its stock is changed. Says whether
    /// there was such a stock.
    fn buy(&mut self, buying: &Buying, seen: &mut ReadBuffer) -> Result<bool>;

    /// A product's stock is changed. Says whether there was one.
    fn restock(&mut self, product: i64, by: i32) -> Result<bool>;

    /// Every row of a table, in the order of their keys.
    fn each(&mut self, table: Table, see: &mut dyn FnMut(&[u8])) -> Result<()>;

    /// Every entry of the index, in its order: customer and order.
    fn each_entry(&mut self, see: &mut dyn FnMut(i64, i64)) -> Result<()>;

    /// Whether all that the session was opened with still holds.
    fn check_settings(&mut self) -> Result<()>;
}

/// Rows that a transaction has read, copied. Its memory is taken once, and grows only for a customer of very many orders.
#[derive(Debug)]
pub(crate) struct ReadBuffer {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// Orders of a customer for which there is room from the start.
const USUAL_ORDERS: usize = 64;

impl ReadBuffer {
    /// None yet.
    pub fn new() -> ReadBuffer {
        let rows = Table::Customers.most_bytes() + LOOKED_AT * Table::Products.most_bytes();
        let mut bytes = vec![1; rows + USUAL_ORDERS * ORDER_BYTES];
        bytes.clear();
        ReadBuffer { bytes, ends: Vec::with_capacity(1 + LOOKED_AT + USUAL_ORDERS) }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds the row that `append` appends; one that is empty stands for what was not found.
    pub fn add(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        append(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// The number of rows.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of all.
    pub fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// A row; an empty one where there are not so many.
    pub fn row(&self, place: usize) -> &[u8] {
        let begin = if place == 0 { 0 } else { self.ends.get(place - 1).copied().unwrap_or(0) };
        let end = self.ends.get(place).copied().unwrap_or(begin);
        self.bytes.get(begin..end).unwrap_or_default()
    }

    /// All rows behind the first.
    pub(crate) fn behind_first(&self) -> impl Iterator<Item = &[u8]> {
        (1..self.count()).map(|place| self.row(place))
    }
}

/// The two halves of a row: its key, and the rest.
pub fn halves(row: &[u8]) -> (&[u8], &[u8]) {
    row.split_at(ID_BYTES.min(row.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_were_seen_are_told_apart() {
        let mut seen = ReadBuffer::new();
        for row in [&b"first"[..], b"", b"third"] {
            seen.add(|bytes| bytes.extend_from_slice(row));
        }
        assert_eq!((seen.row(0), seen.row(1), seen.row(2)), (&b"first"[..], &b""[..], &b"third"[..]));
        assert_eq!((seen.row(3), seen.count(), seen.bytes()), (&b""[..], 3, 10));
        assert_eq!(seen.behind_first().collect::<Vec<_>>(), [&b""[..], b"third"]);
        seen.clear();
        assert_eq!((seen.row(0), seen.count()), (&b""[..], 0));
    }
}
