//! The rows: each follows from the seed, its table and its number, on every machine; so does each order that a client thread makes.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::ids::{self, Ids, MOST_ROWS};
use super::schema::{ColumnType, FEWER_LETTERS, QUANTITY_AT, Table, append_text};

/// Products that a customer reads before ordering one.
pub(crate) const VIEWED_PRODUCTS: usize = 10;
/// The most pieces in an order, and in a delivery.
const MOST_ORDERED: u64 = 10;
const MOST_DELIVERED: u64 = 100;

/// Letters that texts are slices of: enough that neighbouring rows seldom share any.
const LETTERS: usize = 1 << 20;
/// The range of moments, in seconds since 1970.
const FIRST_MOMENT: u64 = 1_500_000_000;
const MOMENTS: u64 = 100_000_000;

/// By the tables' numbers.
const TABLES_BY_NUMBER: [Table; 3] = [Table::Customers, Table::Products, Table::Orders];

pub struct Data {
    seed: u64,
    rows: [u64; 3],
    ids: [Ids; 3],
    letters: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    pub id: i64,
    pub customer: u64,
    pub product: u64,
    pub amount: u32,
    pub ordered_at: u32,
}

/// A customer reads products, by their numbers, and orders one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Purchase {
    pub order: Order,
    pub viewed: [u64; VIEWED_PRODUCTS],
    /// The index of the ordered one.
    pub chosen: usize,
}

/// What a random sequence is for, besides the rows of a table, which have its number: a client thread's purchases, and the rest
/// of what it does.
const PURCHASES: u64 = 3;
const OTHER_DRAWS: u64 = 4;

impl Data {
    /// As the tables' rows count, with at least one row in each.
    pub(crate) fn with_size(seed: u64, bytes: u64) -> Data {
        let rows = rows_of(bytes);
        let ids = TABLES_BY_NUMBER.map(|table| Ids::new(seed, table, rows[table as usize]));
        Data { seed, rows, ids, letters: letters(seed) }
    }

    pub fn rows(&self, table: Table) -> u64 {
        self.rows[table as usize]
    }

    pub(crate) fn all_rows(&self) -> u64 {
        self.rows.iter().sum()
    }

    pub fn bytes(&self) -> u64 {
        bytes_of(self.rows)
    }

    pub fn ids(&self, table: Table) -> &Ids {
        &self.ids[table as usize]
    }

    pub fn append(&self, table: Table, number: u64, bytes: &mut Vec<u8>) {
        if table == Table::Orders {
            return self.append_order(&self.order(number), bytes);
        }
        let mut random = self.random(table as u64, 0, number);
        bytes.extend(self.ids(table).id_of_row(number).to_be_bytes());
        for (name, column_type) in &table.columns()[1..] {
            match column_type {
                ColumnType::Long => bytes.extend(long(name, &mut random).to_be_bytes()),
                // The stock is drawn by itself, as it is asked for by itself.
                ColumnType::Int if *name == "quantity" => bytes.extend(self.quantity(number).to_be_bytes()),
                // An age.
                ColumnType::Int => bytes.extend(((18 + random.next_u64() % 80) as i32).to_be_bytes()),
                ColumnType::Text(max_letters) => append_text(self.text(*max_letters, &mut random), bytes),
            }
        }
    }

    /// Letters, a few less than the most.
    fn text(&self, max_letters: usize, random: &mut Xoshiro256PlusPlus) -> &[u8] {
        let draw = random.next_u64();
        let length = max_letters - (draw % (FEWER_LETTERS as u64 + 1)) as usize;
        let begin = ((draw >> 32) % (LETTERS - max_letters) as u64) as usize;
        &self.letters[begin..begin + length]
    }

    pub fn quantity(&self, product: u64) -> i32 {
        let words = product.to_le_bytes();
        1000 + (xxh3_64_with_seed(&words, self.seed ^ QUANTITY_AT as u64) % 99_000) as i32
    }

    pub fn order(&self, number: u64) -> Order {
        let mut random = self.random(Table::Orders as u64, 0, number);
        self.draw_order(self.ids(Table::Orders).id_of_row(number), &mut random)
    }

    fn draw_order(&self, id: i64, random: &mut Xoshiro256PlusPlus) -> Order {
        Order {
            id,
            customer: random.next_u64() % self.rows(Table::Customers),
            product: random.next_u64() % self.rows(Table::Products),
            amount: (1 + random.next_u64() % MOST_ORDERED) as u32,
            ordered_at: (FIRST_MOMENT + random.next_u64() % MOMENTS) as u32,
        }
    }

    /// A client thread's purchase.
    pub(crate) fn purchase(&self, thread: u64, number: u64) -> Purchase {
        let mut random = self.random(PURCHASES, thread, number);
        let order = self.draw_order(ids::client_id(thread, number), &mut random);
        let mut viewed = std::array::from_fn(|_| random.next_u64() % self.rows(Table::Products));
        let chosen = (random.next_u64() % VIEWED_PRODUCTS as u64) as usize;
        viewed[chosen] = order.product;
        Purchase { order, viewed, chosen }
    }

    /// The customer whose orders a client thread reads in a transaction.
    pub(crate) fn customer_to_read(&self, thread: u64, number: u64) -> u64 {
        self.random(OTHER_DRAWS, thread, number).next_u64() % self.rows(Table::Customers)
    }

    /// The product and amount of a client thread's delivery.
    pub(crate) fn delivery(&self, thread: u64, number: u64) -> (u64, u32) {
        let mut random = self.random(OTHER_DRAWS, thread, number);
        let product = random.next_u64() % self.rows(Table::Products);
        (product, (1 + random.next_u64() % MOST_DELIVERED) as u32)
    }

    pub(crate) fn append_order(&self, order: &Order, bytes: &mut Vec<u8>) {
        bytes.extend(order.id.to_be_bytes());
        bytes.extend(self.ids(Table::Customers).id_of_row(order.customer).to_be_bytes());
        bytes.extend(self.ids(Table::Products).id_of_row(order.product).to_be_bytes());
        bytes.extend(order.amount.to_be_bytes());
        bytes.extend(order.ordered_at.to_be_bytes());
    }

    fn random(&self, purpose: u64, thread: u64, number: u64) -> Xoshiro256PlusPlus {
        let words = [purpose, thread, number].map(u64::to_le_bytes);
        Xoshiro256PlusPlus::seed_from_u64(xxh3_64_with_seed(words.as_flattened(), self.seed))
    }
}

fn long(column: &str, random: &mut Xoshiro256PlusPlus) -> i64 {
    let (first, count) = if column == "price" { (100, 100_000) } else { (FIRST_MOMENT, MOMENTS) };
    (first + random.next_u64() % count) as i64
}

/// The number of rows of each table in this number of bytes.
pub(crate) fn rows_of(bytes: u64) -> [u64; 3] {
    let bytes_per_hundred: u64 = TABLES_BY_NUMBER.iter().map(|table| table.share() * table.row_bytes()).sum();
    TABLES_BY_NUMBER.map(|table| {
        let rows = u128::from(bytes) * u128::from(table.share()) / u128::from(bytes_per_hundred);
        u64::try_from(rows).unwrap_or(MOST_ROWS).clamp(1, MOST_ROWS)
    })
}

pub fn bytes_of(rows: [u64; 3]) -> u64 {
    TABLES_BY_NUMBER.iter().zip(rows).map(|(table, rows)| table.row_bytes().saturating_mul(rows)).sum()
}

fn letters(seed: u64) -> Vec<u8> {
    const ALPHABET: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..LETTERS).map(|_| ALPHABET[(random.next_u64() >> 32) as usize % ALPHABET.len()]).collect()
}

#[cfg(test)]
mod tests {
    use storebench_model::store::sql::{MOST_COLUMNS, SqlValue};

    use super::*;
    use crate::workload::shop::schema::{id_of, quantity_of, read_values};

    fn row(data: &Data, table: Table, number: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        data.append(table, number, &mut bytes);
        bytes
    }

    #[test]
    fn the_paper_s_data_have_its_rows() {
        let rows = rows_of(3_362_000_000);
        assert!(rows.iter().sum::<u64>().abs_diff(10_600_000) < 10_000, "{rows:?}");
        assert_eq!(rows[0], rows[2]);
        assert!(rows[1].abs_diff(rows[0] / 2) <= 1);
        assert!(bytes_of(rows).abs_diff(3_362_000_000) < 2000);
        assert_eq!(rows_of(0), [1, 1, 1]);
    }

    #[test]
    fn rows_follow_from_the_seed_and_fit_their_columns() {
        let [data, same_data, other_data] = [7, 7, 8].map(|seed| Data::with_size(seed, 1 << 20));
        for table in Table::ALL {
            for number in 0..200 {
                let bytes = row(&data, table, number);
                assert_eq!(bytes, row(&same_data, table, number));
                assert_ne!(bytes, row(&other_data, table, number));
                assert!(bytes.len() <= table.most_bytes());
                assert!(bytes.len() + 3 * FEWER_LETTERS >= table.most_bytes());
                let mut row_values = [SqlValue::Null; MOST_COLUMNS];
                assert_eq!(read_values(table, &bytes, &mut row_values), Some(table.columns().len()));
                assert_eq!(id_of(&bytes), Some(data.ids(table).id_of_row(number)));
            }
        }
        assert_eq!(quantity_of(&row(&data, Table::Products, 3)), Some(data.quantity(3)));
    }

    /// Others may have made rows elsewhere.
    #[test]
    fn rows_stay_the_same_in_every_version() {
        let data = Data::with_size(136, 1 << 20);
        let mut bytes = Vec::new();
        for table in Table::ALL {
            (0..100).for_each(|number| data.append(table, number, &mut bytes));
        }
        assert_eq!((bytes.len(), xxh3_64_with_seed(&bytes, 0)), (135_724, 10_873_662_547_896_586_985));
    }

    #[test]
    fn purchases_are_of_one_of_the_products_looked_at() {
        let data = Data::with_size(7, 1 << 20);
        for number in 0..100 {
            let purchase = data.purchase(2, number);
            assert_eq!(purchase.viewed[purchase.chosen], purchase.order.product);
            assert!(purchase.order.customer < data.rows(Table::Customers));
            assert!((1..=10).contains(&purchase.order.amount));
            assert_eq!(purchase, data.purchase(2, number));
            assert_ne!(purchase.order.id, data.purchase(1, number).order.id);
            let (product, amount) = data.delivery(2, number);
            assert!(product < data.rows(Table::Products) && (1..=100).contains(&amount));
        }
    }
}
