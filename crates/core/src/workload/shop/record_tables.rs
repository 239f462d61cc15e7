//! The tables in a store with ordered records and transactions over them. A row is a record under its table's first byte and its
//! id; an index entry is one under its customer and its order. Whoever changes rows updates the index in the same transaction.

use storebench_model::store::{Result, Session, Transaction};

use super::chunk::ChunkSource;
use super::schema::{self, ID_BYTES, INDEX_PREFIX, ORDER_BYTES, Table};
use super::tables::{PurchaseRequest, ReadBuffer, Tables, split_key};

pub(crate) struct RecordTables<'s> {
    session: Box<dyn Session + 's>,
    indexed: bool,
    /// Whether rows are loaded in key order.
    sorted: bool,
    /// Order ids that an index lookup found.
    order_ids: Vec<[u8; ID_BYTES]>,
    product: Vec<u8>,
}

/// Bytes of a row's key, and of an entry's.
pub(crate) const KEY_BYTES: usize = 1 + ID_BYTES;
pub const ENTRY_BYTES: usize = KEY_BYTES + ID_BYTES;
/// Not every store takes an empty value.
const ENTRY_VALUE: &[u8] = b"o";

/// Entries that an index lookup reads at once, and rows that a walk does.
const ENTRIES_AT_ONCE: usize = 32;
const ROWS_AT_ONCE: usize = 1000;

type Key = [u8; KEY_BYTES];

fn key_from_bytes(table: Table, id: &[u8]) -> Key {
    let mut key = [table.prefix(); KEY_BYTES];
    key[1..].copy_from_slice(id);
    key
}

fn entry_key(customer: &[u8], order: &[u8]) -> [u8; ENTRY_BYTES] {
    let mut key = [INDEX_PREFIX; ENTRY_BYTES];
    key[1..KEY_BYTES].copy_from_slice(customer);
    key[KEY_BYTES..].copy_from_slice(order);
    key
}

fn customer_of(order: &[u8]) -> &[u8] {
    order.get(ID_BYTES..2 * ID_BYTES).unwrap_or(&[0; ID_BYTES])
}

impl<'s> RecordTables<'s> {
    /// `sorted` is whether rows will be loaded in key order.
    pub fn new(session: Box<dyn Session + 's>, indexed: bool, sorted: bool) -> RecordTables<'s> {
        RecordTables {
            session,
            indexed,
            sorted,
            order_ids: Vec::with_capacity(2 * ENTRIES_AT_ONCE),
            product: Vec::with_capacity(Table::Products.most_bytes()),
        }
    }

    fn orders_by_index(&mut self, customer: &[u8; ID_BYTES], read_buffer: &mut ReadBuffer) -> Result<()> {
        let RecordTables { session, order_ids, .. } = self;
        order_ids.clear();
        let first_entry = entry_key(customer, &[0; ID_BYTES]);
        walk(session.as_mut(), &first_entry, ENTRIES_AT_ONCE, |key, _| {
            let is_of_customer = key.starts_with(&first_entry[..KEY_BYTES]);
            let order = key.get(KEY_BYTES..).filter(|_| is_of_customer);
            order_ids.extend(order.and_then(|order| <[u8; ID_BYTES]>::try_from(order).ok()));
            is_of_customer
        })?;
        order_ids.iter().try_for_each(|order| read_row(session.as_mut(), Table::Orders, order, read_buffer))
    }

    fn orders_by_walk(&mut self, customer: &[u8; ID_BYTES], read_buffer: &mut ReadBuffer) -> Result<()> {
        walk(self.session.as_mut(), &[Table::Orders.prefix()], ROWS_AT_ONCE, |key, value| {
            let is_order = key.first() == Some(&Table::Orders.prefix());
            if is_order && value.starts_with(customer) {
                read_buffer.add(|bytes| {
                    bytes.extend_from_slice(&key[1..]);
                    bytes.extend_from_slice(value);
                });
            }
            is_order
        })
    }
}

/// Shows the records from a key on while `visit` wants more.
fn walk(
    session: &mut dyn Session,
    first_key: &[u8],
    limit: usize,
    mut visit: impl FnMut(&[u8], &[u8]) -> bool,
) -> Result<()> {
    let (mut next, mut last) = (first_key.to_vec(), Vec::with_capacity(ENTRY_BYTES));
    let mut goes_on = true;
    while goes_on {
        let shown = session.scan(&next, limit, &mut |key, value| {
            goes_on = goes_on && visit(key, value);
            last.clear();
            last.extend_from_slice(key);
        })?;
        goes_on = goes_on && shown == limit;
        // The next key.
        next.clone_from(&last);
        next.push(0);
    }
    Ok(())
}

fn read_row(session: &mut dyn Session, table: Table, id: &[u8], read_buffer: &mut ReadBuffer) -> Result<()> {
    add_row(|visit| session.get(&key_from_bytes(table, id), visit), id, read_buffer)
}

/// Adds a row whose value `get` shows.
fn add_row(
    get: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<bool>,
    id: &[u8],
    read_buffer: &mut ReadBuffer,
) -> Result<()> {
    let mut is_missing = true;
    get(&mut |value| {
        is_missing = false;
        read_buffer.add(|bytes| {
            bytes.extend_from_slice(id);
            bytes.extend_from_slice(value);
        });
    })?;
    if is_missing {
        read_buffer.add(|_| ());
    }
    Ok(())
}

/// Changes a product's stock, in the transaction that has read it.
fn change_stock(transaction: &mut dyn Transaction, product: &mut [u8], amount: i32) -> Result<bool> {
    let Some(quantity) = schema::quantity_of(product) else { return Ok(false) };
    schema::set_quantity(product, quantity.saturating_add(amount));
    let (id, value) = split_key(product);
    transaction.put(&key_from_bytes(Table::Products, id), value)?;
    Ok(true)
}

/// Reads a product in order to change it.
fn read_to_change(transaction: &mut dyn Transaction, id: i64, product: &mut Vec<u8>) -> Result<bool> {
    let id = id.to_be_bytes();
    product.clear();
    product.extend_from_slice(&id);
    let key = key_from_bytes(Table::Products, &id);
    transaction.get_to_change(&key, &mut |value| product.extend_from_slice(value))
}

impl Tables for RecordTables<'_> {
    fn load(&mut self, source: &mut ChunkSource) -> Result<u64> {
        let (mut batches, mut acknowledged) = (0, true);
        let (mut keys, mut entries) = (Vec::<Key>::new(), Vec::new());
        while let Some(chunk) = source.current() {
            keys.clear();
            keys.extend(chunk.rows().map(|row| key_from_bytes(chunk.table, split_key(row).0)));
            let records: Vec<(&[u8], &[u8])> =
                keys.iter().zip(chunk.rows()).map(|(key, row)| (key.as_slice(), split_key(row).1)).collect();
            if self.sorted {
                acknowledged = self.session.append_batch(&records)?;
            } else {
                self.session.insert_batch(&records)?;
            }
            batches += u64::from(acknowledged);
            if self.indexed && chunk.table == Table::Orders {
                entries.clear();
                entries.extend(chunk.rows().map(|order| entry_key(customer_of(order), split_key(order).0)));
                entries.sort_unstable();
                let records: Vec<(&[u8], &[u8])> =
                    entries.iter().map(|key| (key.as_slice(), ENTRY_VALUE)).collect();
                self.session.insert_batch(&records)?;
                batches += 1;
            }
            source.advance();
        }
        self.session.end_appending()?;
        Ok(batches + u64::from(!acknowledged))
    }

    fn read_orders(&mut self, customer: i64, read_buffer: &mut ReadBuffer) -> Result<()> {
        let customer = customer.to_be_bytes();
        read_row(self.session.as_mut(), Table::Customers, &customer, read_buffer)?;
        if self.indexed {
            self.orders_by_index(&customer, read_buffer)
        } else {
            self.orders_by_walk(&customer, read_buffer)
        }
    }

    fn buy(&mut self, request: &PurchaseRequest, read_buffer: &mut ReadBuffer) -> Result<bool> {
        let (indexed, product) = (self.indexed, &mut self.product);
        let mut was_changed = false;
        self.session.transact(&mut |transaction| {
            let customer = request.customer.to_be_bytes();
            add_row(
                |visit| transaction.get(&key_from_bytes(Table::Customers, &customer), visit),
                &customer,
                read_buffer,
            )?;
            for (index, id) in request.viewed.iter().enumerate() {
                let bytes = id.to_be_bytes();
                if index == request.chosen {
                    let is_found = read_to_change(transaction, *id, product)?;
                    read_buffer.add(|row| row.extend_from_slice(if is_found { &product[..] } else { &[] }));
                } else {
                    add_row(
                        |visit| transaction.get(&key_from_bytes(Table::Products, &bytes), visit),
                        &bytes,
                        read_buffer,
                    )?;
                }
            }
            let (id, value) = split_key(&request.order);
            transaction.put(&key_from_bytes(Table::Orders, id), value)?;
            if indexed {
                transaction.put(&entry_key(customer_of(&request.order), id), ENTRY_VALUE)?;
            }
            was_changed = change_stock(transaction, product, -request.amount)?;
            Ok(())
        })?;
        Ok(was_changed)
    }

    fn restock(&mut self, product: i64, amount: i32) -> Result<bool> {
        let row = &mut self.product;
        let mut was_changed = false;
        self.session.transact(&mut |transaction| {
            was_changed =
                read_to_change(transaction, product, row)? && change_stock(transaction, row, amount)?;
            Ok(())
        })?;
        Ok(was_changed)
    }

    fn visit_rows(&mut self, table: Table, visit: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut row = Vec::with_capacity(table.most_bytes());
        walk(self.session.as_mut(), &[table.prefix()], ROWS_AT_ONCE, |key, value| {
            let is_row = key.first() == Some(&table.prefix());
            if is_row {
                row.clear();
                row.extend_from_slice(&key[1..]);
                row.extend_from_slice(value);
                visit(&row);
            }
            is_row
        })
    }

    fn visit_entries(&mut self, visit: &mut dyn FnMut(i64, i64)) -> Result<()> {
        walk(self.session.as_mut(), &[INDEX_PREFIX], ROWS_AT_ONCE, |key, _| {
            let is_entry = key.first() == Some(&INDEX_PREFIX);
            if let Some((customer, order)) = key.get(1..).and_then(<[u8]>::split_first_chunk::<ID_BYTES>)
                && let Ok(order) = order.try_into()
                && is_entry
            {
                visit(i64::from_be_bytes(*customer), i64::from_be_bytes(order));
            }
            is_entry
        })
    }
}

const _: () = assert!(ORDER_BYTES > 2 * ID_BYTES);
