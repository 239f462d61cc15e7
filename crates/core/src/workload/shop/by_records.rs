//! The tables in a store with ordered records and transactions over them. A row is a record under its table's first byte and its
//! id; an index entry is one under its customer and its order. Whoever changes rows updates the index in the same transaction.

use super::chunk::Source;
use super::schema::{self, ID_BYTES, INDEX_PREFIX, ORDER_BYTES, Table};
use super::tables::{PurchaseRequest, ReadBuffer, Tables, halves};
use crate::store::{Result, Session, Transaction};

pub(crate) struct ByRecords<'s> {
    session: Box<dyn Session + 's>,
    indexed: bool,
    /// Whether rows are loaded in key order.
    sorted: bool,
    /// Order ids that an index lookup found.
    found: Vec<[u8; ID_BYTES]>,
    product: Vec<u8>,
}

/// Bytes of a row's key, and of an entry's.
pub(crate) const KEY_BYTES: usize = 1 + ID_BYTES;
pub const ENTRY_BYTES: usize = KEY_BYTES + ID_BYTES;
/// Not every store takes an empty value.
const ENTRY: &[u8] = b"o";

/// Entries that an index lookup reads at once, and rows that a walk does.
const LOOK: usize = 32;
const WALK: usize = 1000;

type Key = [u8; KEY_BYTES];

fn key(table: Table, id: i64) -> Key {
    key_of(table, &id.to_be_bytes())
}

fn key_of(table: Table, id: &[u8]) -> Key {
    let mut key = [table.prefix(); KEY_BYTES];
    key[1..].copy_from_slice(id);
    key
}

fn entry(customer: &[u8], order: &[u8]) -> [u8; ENTRY_BYTES] {
    let mut key = [INDEX_PREFIX; ENTRY_BYTES];
    key[1..KEY_BYTES].copy_from_slice(customer);
    key[KEY_BYTES..].copy_from_slice(order);
    key
}

fn customer_of(order: &[u8]) -> &[u8] {
    order.get(ID_BYTES..2 * ID_BYTES).unwrap_or(&[0; ID_BYTES])
}

/// The next key, as far as the buffer holds it.
fn next_key(last: &[u8], next: &mut Vec<u8>) {
    next.clear();
    next.extend_from_slice(last);
    next.push(0);
}

impl<'s> ByRecords<'s> {
    /// `sorted` is whether rows will be loaded in key order.
    pub fn new(session: Box<dyn Session + 's>, indexed: bool, sorted: bool) -> ByRecords<'s> {
        ByRecords {
            session,
            indexed,
            sorted,
            found: Vec::with_capacity(2 * LOOK),
            product: Vec::with_capacity(Table::Products.most_bytes()),
        }
    }

    /// Shows the records from a key on while `see` wants more.
    fn walk(&mut self, from: &[u8], some: usize, mut see: impl FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        let (mut next, mut last) = (from.to_vec(), Vec::with_capacity(ENTRY_BYTES));
        let mut goes_on = true;
        while goes_on {
            let shown = self.session.scan(&next, some, &mut |key, value| {
                goes_on = goes_on && see(key, value);
                last.clear();
                last.extend_from_slice(key);
            })?;
            goes_on = goes_on && shown == some;
            next_key(&last, &mut next);
        }
        Ok(())
    }

    fn read_row(&mut self, table: Table, id: &[u8], seen: &mut ReadBuffer) -> Result<()> {
        let session = &mut self.session;
        read(|visit| session.get(&key_of(table, id), visit), id, seen)
    }

    fn orders_by_index(&mut self, customer: &[u8; ID_BYTES], seen: &mut ReadBuffer) -> Result<()> {
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        let from = entry(customer, &[0; ID_BYTES]);
        let walked = self.walk(&from, LOOK, |key, _| {
            let own = key.starts_with(&from[..KEY_BYTES]);
            if let Some(order) = key.get(KEY_BYTES..).and_then(|order| order.try_into().ok()).filter(|_| own)
            {
                found.push(order);
            }
            own
        });
        let read = walked
            .and_then(|()| found.iter().try_for_each(|order| self.read_row(Table::Orders, order, seen)));
        self.found = found;
        read
    }

    fn orders_by_walk(&mut self, customer: &[u8; ID_BYTES], seen: &mut ReadBuffer) -> Result<()> {
        self.walk(&[Table::Orders.prefix()], WALK, |key, value| {
            let own = key.first() == Some(&Table::Orders.prefix());
            if own && value.starts_with(customer) {
                seen.add(|bytes| {
                    bytes.extend_from_slice(&key[1..]);
                    bytes.extend_from_slice(value);
                });
            }
            own
        })
    }
}

/// Adds a row whose value `get` shows.
fn read(
    get: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<bool>,
    id: &[u8],
    seen: &mut ReadBuffer,
) -> Result<()> {
    let mut missing = true;
    get(&mut |value| {
        missing = false;
        seen.add(|bytes| {
            bytes.extend_from_slice(id);
            bytes.extend_from_slice(value);
        });
    })?;
    if missing {
        seen.add(|_| ());
    }
    Ok(())
}

/// Changes a product's stock, in the transaction that has read it.
fn change(transaction: &mut dyn Transaction, product: &mut [u8], by: i32) -> Result<bool> {
    let Some(quantity) = schema::quantity_of(product) else { return Ok(false) };
    schema::set_quantity(product, quantity.saturating_add(by));
    let (id, value) = halves(product);
    transaction.put(&key_of(Table::Products, id), value)?;
    Ok(true)
}

/// Reads a product in order to change it.
fn read_to_change(transaction: &mut dyn Transaction, id: i64, product: &mut Vec<u8>) -> Result<bool> {
    product.clear();
    product.extend(id.to_be_bytes());
    transaction.get_to_change(&key(Table::Products, id), &mut |value| product.extend_from_slice(value))
}

impl Tables for ByRecords<'_> {
    fn load(&mut self, source: &mut Source) -> Result<u64> {
        let (mut batches, mut acknowledged) = (0, true);
        let (mut keys, mut entries) = (Vec::<Key>::new(), Vec::new());
        while let Some(chunk) = source.current() {
            keys.clear();
            keys.extend(chunk.rows().map(|row| key_of(chunk.table, halves(row).0)));
            let records: Vec<(&[u8], &[u8])> =
                keys.iter().zip(chunk.rows()).map(|(key, row)| (key.as_slice(), halves(row).1)).collect();
            if self.sorted {
                acknowledged = self.session.append_batch(&records)?;
            } else {
                self.session.insert_batch(&records)?;
            }
            batches += u64::from(acknowledged);
            if self.indexed && chunk.table == Table::Orders {
                entries.clear();
                entries.extend(chunk.rows().map(|order| entry(customer_of(order), halves(order).0)));
                entries.sort_unstable();
                let records: Vec<(&[u8], &[u8])> =
                    entries.iter().map(|key| (key.as_slice(), ENTRY)).collect();
                self.session.insert_batch(&records)?;
                batches += 1;
            }
            source.advance();
        }
        self.session.end_appending()?;
        Ok(batches + u64::from(!acknowledged))
    }

    /// Entries were loaded with the rows.
    fn make_index(&mut self) -> Result<()> {
        Ok(())
    }

    fn orders(&mut self, customer: i64, seen: &mut ReadBuffer) -> Result<()> {
        let customer = customer.to_be_bytes();
        self.read_row(Table::Customers, &customer, seen)?;
        if self.indexed {
            self.orders_by_index(&customer, seen)
        } else {
            self.orders_by_walk(&customer, seen)
        }
    }

    fn buy(&mut self, buying: &PurchaseRequest, seen: &mut ReadBuffer) -> Result<bool> {
        let (indexed, product) = (self.indexed, &mut self.product);
        let mut done = false;
        self.session.transact(&mut |transaction| {
            let customer = buying.customer.to_be_bytes();
            read(|visit| transaction.get(&key_of(Table::Customers, &customer), visit), &customer, seen)?;
            for (place, id) in buying.looked_at.iter().enumerate() {
                let bytes = id.to_be_bytes();
                if place == buying.chosen {
                    let found = read_to_change(transaction, *id, product)?;
                    seen.add(|row| row.extend_from_slice(if found { &product[..] } else { &[] }));
                } else {
                    read(|visit| transaction.get(&key_of(Table::Products, &bytes), visit), &bytes, seen)?;
                }
            }
            let (id, value) = halves(&buying.order);
            transaction.put(&key_of(Table::Orders, id), value)?;
            if indexed {
                transaction.put(&entry(customer_of(&buying.order), id), ENTRY)?;
            }
            done = change(transaction, product, -buying.amount)?;
            Ok(())
        })?;
        Ok(done)
    }

    fn restock(&mut self, product: i64, by: i32) -> Result<bool> {
        let row = &mut self.product;
        let mut done = false;
        self.session.transact(&mut |transaction| {
            done = read_to_change(transaction, product, row)? && change(transaction, row, by)?;
            Ok(())
        })?;
        Ok(done)
    }

    fn visit_rows(&mut self, table: Table, see: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut row = Vec::with_capacity(table.most_bytes());
        self.walk(&[table.prefix()], WALK, |key, value| {
            let own = key.first() == Some(&table.prefix());
            if own {
                row.clear();
                row.extend_from_slice(&key[1..]);
                row.extend_from_slice(value);
                see(&row);
            }
            own
        })
    }

    fn each_entry(&mut self, see: &mut dyn FnMut(i64, i64)) -> Result<()> {
        self.walk(&[INDEX_PREFIX], WALK, |key, _| {
            let own = key.first() == Some(&INDEX_PREFIX);
            if let Some((customer, order)) = key.get(1..).and_then(<[u8]>::split_first_chunk::<ID_BYTES>)
                && let Ok(order) = order.try_into()
                && own
            {
                see(i64::from_be_bytes(*customer), i64::from_be_bytes(order));
            }
            own
        })
    }

    fn check_settings(&mut self) -> Result<()> {
        Ok(())
    }
}

const _: () = assert!(ORDER_BYTES > 2 * ID_BYTES);
