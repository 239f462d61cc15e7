//! The three tables as a store keeps them: the same transactions whether it speaks SQL or keeps records.

use storebench_model::store::Result;

use super::chunk::ChunkSource;
use super::rows::VIEWED_PRODUCTS;
use super::schema::{ID_BYTES, ORDER_BYTES, Table};

#[derive(Debug, Clone, Default)]
pub(crate) struct PurchaseRequest {
    pub customer: i64,
    pub viewed: [i64; VIEWED_PRODUCTS],
    pub chosen: usize,
    pub order: Vec<u8>,
    pub amount: i32,
}

impl PurchaseRequest {
    pub fn product(&self) -> i64 {
        self.viewed[self.chosen]
    }
}

pub trait Tables {
    /// Loads all of a source; gives the number of acknowledged calls.
    fn load(&mut self, source: &mut ChunkSource) -> Result<u64>;

    /// Makes the secondary index, if it is made after loading.
    fn make_index(&mut self) -> Result<()> {
        Ok(())
    }

    fn read_orders(&mut self, customer: i64, read_buffer: &mut ReadBuffer) -> Result<()>;

    /// In one transaction: reads a customer and products, orders one of them, and changes its stock. Gives whether there was such a stock.
    fn buy(&mut self, request: &PurchaseRequest, read_buffer: &mut ReadBuffer) -> Result<bool>;

    fn restock(&mut self, product: i64, amount: i32) -> Result<bool>;

    /// Every row of a table, in key order.
    fn visit_rows(&mut self, table: Table, visit: &mut dyn FnMut(&[u8])) -> Result<()>;

    /// Every entry of the index, in its order: customer and order.
    fn visit_entries(&mut self, visit: &mut dyn FnMut(i64, i64)) -> Result<()>;

    /// Whether all settings of the session still hold.
    fn check_settings(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Copies of the rows that a transaction has read. Its memory is taken once, and grows only for very many orders.
#[derive(Debug)]
pub(crate) struct ReadBuffer {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// Orders with room from the start.
const USUAL_ORDERS: usize = 64;

impl ReadBuffer {
    pub fn new() -> ReadBuffer {
        let rows = Table::Customers.most_bytes() + VIEWED_PRODUCTS * Table::Products.most_bytes();
        let mut bytes = vec![1; rows + USUAL_ORDERS * ORDER_BYTES];
        bytes.clear();
        ReadBuffer { bytes, ends: Vec::with_capacity(1 + VIEWED_PRODUCTS + USUAL_ORDERS) }
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds the row that `append` appends; an empty one stands for a missing row.
    pub fn add(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        append(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    pub fn count(&self) -> usize {
        self.ends.len()
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// A row; empty if there are fewer.
    pub fn row(&self, index: usize) -> &[u8] {
        let begin = if index == 0 { 0 } else { self.ends.get(index - 1).copied().unwrap_or(0) };
        let end = self.ends.get(index).copied().unwrap_or(begin);
        self.bytes.get(begin..end).unwrap_or_default()
    }

    pub(crate) fn rows_after_first(&self) -> impl Iterator<Item = &[u8]> {
        (1..self.count()).map(|index| self.row(index))
    }
}

/// The key, and the rest.
pub fn split_key(row: &[u8]) -> (&[u8], &[u8]) {
    row.split_at(ID_BYTES.min(row.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_were_seen_are_told_apart() {
        let mut read_buffer = ReadBuffer::new();
        for row in [&b"first"[..], b"", b"third"] {
            read_buffer.add(|bytes| bytes.extend_from_slice(row));
        }
        let rows = [0, 1, 2, 3].map(|index| read_buffer.row(index));
        assert_eq!(rows, [&b"first"[..], b"", b"third", b""]);
        assert_eq!((read_buffer.count(), read_buffer.bytes()), (3, 10));
        assert_eq!(read_buffer.rows_after_first().collect::<Vec<_>>(), [&b""[..], b"third"]);
        read_buffer.clear();
        assert_eq!((read_buffer.row(0), read_buffer.count()), (&b""[..], 0));
    }
}
