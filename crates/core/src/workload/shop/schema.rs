//! The tables, described once: SQL declarations, records and CSV lines follow from here. A row in the harness is bytes: its
//! primary key in eight bytes, then its numbers in their widths, all big-endian, then its texts, each after its length in two
//! bytes. A record's value is such a row without its key.

use storebench_model::store::sql::{MOST_COLUMNS, SqlType, SqlValue};
use storebench_model::words::words;

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Table {
    Customers,
    Products,
    Orders,
}

words!(Table);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    Long,
    Int,
    /// Letters, up to this number.
    Text(usize),
}

/// Name and type.
pub type Column = (&'static str, ColumnType);

pub(crate) const ID_BYTES: usize = 8;
/// How much shorter than its limit a text may be.
pub(crate) const FEWER_LETTERS: usize = 8;

/// After the key and the price.
pub(crate) const QUANTITY_AT: usize = ID_BYTES + 8;
pub(crate) const QUANTITY_BYTES: usize = 4;
/// An order has no text.
pub(crate) const ORDER_BYTES: usize = 32;

/// Sorts the index's records before all rows, so that these can be appended while it grows.
pub(crate) const INDEX_PREFIX: u8 = b'a';
pub(crate) const INDEX: &str = "CREATE INDEX customer_index ON orders (customer_id, order_id)";

impl Table {
    /// In loading order.
    pub const ALL: [Table; 3] = [Table::Customers, Table::Orders, Table::Products];

    /// The primary key, the other numbers, the texts.
    pub fn columns(self) -> &'static [Column] {
        match self {
            Table::Customers => &[
                ("customer_id", ColumnType::Long),
                ("age", ColumnType::Int),
                ("name", ColumnType::Text(64)),
                ("address", ColumnType::Text(111)),
            ],
            Table::Products => &[
                ("product_id", ColumnType::Long),
                ("price", ColumnType::Long),
                ("quantity", ColumnType::Int),
                ("posted_at", ColumnType::Long),
                ("name", ColumnType::Text(64)),
                ("category", ColumnType::Text(32)),
                ("description", ColumnType::Text(1024)),
            ],
            Table::Orders => &[
                ("order_id", ColumnType::Long),
                ("customer_id", ColumnType::Long),
                ("product_id", ColumnType::Long),
                ("amount", ColumnType::Int),
                ("ordered_at", ColumnType::Int),
            ],
        }
    }

    pub fn prefix(self) -> u8 {
        match self {
            Table::Customers => b'c',
            Table::Orders => b'o',
            Table::Products => b'p',
        }
    }

    /// In percent of all rows.
    pub fn share(self) -> u64 {
        match self {
            Table::Customers | Table::Orders => 40,
            Table::Products => 20,
        }
    }

    /// The bytes that a row counts as: numbers in their widths, texts at their longest, as in the paper.
    pub(crate) fn row_bytes(self) -> u64 {
        let bytes = self.columns().iter().map(|(_, column_type)| match column_type {
            ColumnType::Long => 8,
            ColumnType::Int => 4,
            ColumnType::Text(max_letters) => *max_letters as u64,
        });
        bytes.sum()
    }

    pub fn most_bytes(self) -> usize {
        let is_text = |column: &&Column| matches!(column.1, ColumnType::Text(_));
        self.row_bytes() as usize + 2 * self.columns().iter().filter(is_text).count()
    }

    pub fn column_names(self) -> Vec<&'static str> {
        self.columns().iter().map(|(name, _)| *name).collect()
    }

    /// The statement that makes it, with a dialect's type names.
    pub fn schema(self, type_name: impl Fn(SqlType) -> &'static str) -> String {
        let columns = self.columns().iter().enumerate().map(|(index, (name, column_type))| {
            let column_type = match column_type {
                ColumnType::Long => type_name(SqlType::Integer).to_owned(),
                ColumnType::Int => "INTEGER".to_owned(),
                ColumnType::Text(max_letters) => format!("VARCHAR({max_letters})"),
            };
            let key = if index == 0 { " PRIMARY KEY" } else { "" };
            format!("{name} {column_type} NOT NULL{key}")
        });
        format!("CREATE TABLE {} ({})", self.name(), columns.collect::<Vec<_>>().join(", "))
    }

    pub fn insert(self) -> String {
        let names = self.column_names();
        let placeholders = vec!["?"; names.len()].join(", ");
        format!("INSERT INTO {} ({}) VALUES ({placeholders})", self.name(), names.join(", "))
    }

    pub(crate) fn select_by(self, column: &str) -> String {
        format!("SELECT {} FROM {} WHERE {column} = ?", self.column_names().join(", "), self.name())
    }

    pub(crate) fn select_all(self) -> String {
        let names = self.column_names();
        format!("SELECT {} FROM {} ORDER BY {}", names.join(", "), self.name(), names[0])
    }
}

/// The values of a row in column order, and their number; `None` if it is no row.
pub fn read_values<'r>(
    table: Table,
    mut bytes: &'r [u8],
    values: &mut [SqlValue<'r>; MOST_COLUMNS],
) -> Option<usize> {
    for ((_, column_type), value) in table.columns().iter().zip(values.iter_mut()) {
        *value = match column_type {
            ColumnType::Long => SqlValue::Integer(i64::from_be_bytes(*take_bytes(&mut bytes)?)),
            ColumnType::Int => SqlValue::Integer(i32::from_be_bytes(*take_bytes(&mut bytes)?).into()),
            ColumnType::Text(_) => {
                let length = u16::from_be_bytes(*take_bytes(&mut bytes)?);
                let (text, rest) = bytes.split_at_checked(length.into())?;
                bytes = rest;
                SqlValue::Text(std::str::from_utf8(text).ok()?)
            }
        };
    }
    bytes.is_empty().then_some(table.columns().len())
}

fn take_bytes<'r, const N: usize>(bytes: &mut &'r [u8]) -> Option<&'r [u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(first)
}

/// Appends the row with these values, in column order. What does not fit its column is left out, so that the result equals no row.
pub fn append_row(table: Table, values: &[SqlValue<'_>], bytes: &mut Vec<u8>) {
    for ((_, column_type), value) in table.columns().iter().zip(values) {
        match (column_type, value) {
            (ColumnType::Long, SqlValue::Integer(number)) => bytes.extend(number.to_be_bytes()),
            (ColumnType::Int, SqlValue::Integer(number)) => {
                bytes.extend(i32::try_from(*number).into_iter().flat_map(i32::to_be_bytes));
            }
            (ColumnType::Text(_), SqlValue::Text(text)) => append_text(text.as_bytes(), bytes),
            _ => {}
        }
    }
}

pub(crate) fn append_text(text: &[u8], bytes: &mut Vec<u8>) {
    bytes.extend((text.len() as u16).to_be_bytes());
    bytes.extend_from_slice(text);
}

pub(crate) fn id_of(row: &[u8]) -> Option<i64> {
    row.first_chunk().map(|bytes| i64::from_be_bytes(*bytes))
}

pub(crate) fn quantity_of(product: &[u8]) -> Option<i32> {
    let bytes = product.get(QUANTITY_AT..QUANTITY_AT + QUANTITY_BYTES)?;
    bytes.try_into().ok().map(i32::from_be_bytes)
}

pub(crate) fn set_quantity(product: &mut [u8], quantity: i32) {
    if let Some(bytes) = product.get_mut(QUANTITY_AT..QUANTITY_AT + QUANTITY_BYTES) {
        bytes.copy_from_slice(&quantity.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_shares_are_those_of_the_paper() {
        let size_and_share = |table: Table| (table.row_bytes(), table.share());
        assert_eq!(Table::ALL.map(size_and_share), [(187, 40), (32, 40), (1148, 20)]);
        assert_eq!(Table::Orders.most_bytes(), ORDER_BYTES);
    }

    #[test]
    fn records_of_the_tables_are_loaded_in_the_order_of_their_keys() {
        let prefixes = Table::ALL.map(Table::prefix);
        assert!(prefixes.is_sorted() && prefixes.iter().all(|prefix| *prefix > INDEX_PREFIX));
    }

    #[test]
    fn what_sql_says_has_every_column() {
        let type_name = |sql_type| if sql_type == SqlType::Integer { "BIGINT" } else { "OTHER" };
        assert_eq!(
            Table::Orders.schema(type_name),
            "CREATE TABLE orders (order_id BIGINT NOT NULL PRIMARY KEY, customer_id BIGINT NOT NULL, product_id BIGINT NOT \
             NULL, amount INTEGER NOT NULL, ordered_at INTEGER NOT NULL)"
        );
        let customers = Table::Customers.schema(type_name);
        assert!(customers.contains("name VARCHAR(64) NOT NULL, address VARCHAR(111)"));
        let insert = "INSERT INTO customers (customer_id, age, name, address) VALUES (?, ?, ?, ?)";
        assert_eq!(Table::Customers.insert(), insert);
        assert_eq!(Table::Products.columns()[2].0, "quantity", "QUANTITY_AT says where it lies");
    }

    #[test]
    fn rows_come_back_as_they_were_put_together() {
        let numbers = [7, 1 << 40, -3, 9].map(SqlValue::Integer);
        let row = [&numbers[..], &["a", "", "long"].map(SqlValue::Text)].concat();
        let mut bytes = Vec::new();
        append_row(Table::Products, &row, &mut bytes);
        assert_eq!((id_of(&bytes), quantity_of(&bytes)), (Some(7), Some(-3)));
        set_quantity(&mut bytes, 5);
        assert_eq!(quantity_of(&bytes), Some(5));
        set_quantity(&mut bytes, -3);
        let mut row_values = [SqlValue::Null; MOST_COLUMNS];
        assert_eq!(read_values(Table::Products, &bytes, &mut row_values), Some(7));
        assert_eq!(row_values[..7], row);
        assert_eq!(read_values(Table::Products, &bytes[..20], &mut row_values), None);
        let longer = [&bytes[..], &[1]].concat();
        assert_eq!(read_values(Table::Products, &longer, &mut [SqlValue::Null; MOST_COLUMNS]), None);
        let mut incomplete_row = Vec::new();
        append_row(Table::Orders, &[SqlValue::Null, SqlValue::Integer(1 << 40)], &mut incomplete_row);
        assert_eq!(incomplete_row.len(), 8, "what does not fit is left out");
    }
}
