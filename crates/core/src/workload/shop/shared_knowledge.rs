//! The bounds within which a read may find stock and orders while client threads change them, and the state at the end. A change
//! is noted before the store is called, and after it was acknowledged. A change that ended before a read began must show in it;
//! one that began after it ended must not.

use std::sync::atomic::{AtomicU32, Ordering};

use super::rows::{Data, Order};
use super::schema::Table;

/// What threads know together: 16 bytes for each product, 8 for each customer.
pub struct SharedKnowledge {
    stock: Vec<Stock>,
    orders: Vec<Change>,
}

/// A counter of begun and of ended changes.
#[derive(Debug, Default)]
struct Change {
    begun: AtomicU32,
    ended: AtomicU32,
}

/// What orders took of a product, and deliveries brought.
#[derive(Debug, Default)]
struct Stock {
    taken: Change,
    brought: Change,
}

/// The changes that had ended when a read of a product began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndedChanges {
    taken: u32,
    brought: u32,
}

/// Both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub least: i64,
    pub most: i64,
}

impl Bounds {
    pub fn contains(&self, number: i64) -> bool {
        (self.least..=self.most).contains(&number)
    }
}

impl Change {
    fn begin(&self, amount: u32) {
        self.begun.fetch_add(amount, Ordering::SeqCst);
    }

    fn end(&self, amount: u32) {
        self.ended.fetch_add(amount, Ordering::SeqCst);
    }

    fn count_begun(&self) -> u32 {
        self.begun.load(Ordering::SeqCst)
    }

    fn count_ended(&self) -> u32 {
        self.ended.load(Ordering::SeqCst)
    }
}

impl SharedKnowledge {
    /// For data that no transaction has changed.
    pub fn new(data: &Data) -> SharedKnowledge {
        let count = |table| usize::try_from(data.rows(table)).unwrap_or(usize::MAX);
        let mut orders: Vec<Change> = Vec::new();
        orders.resize_with(count(Table::Customers), Change::default);
        for number in 0..data.rows(Table::Orders) {
            let orders_of_customer = &mut orders[data.order(number).customer as usize];
            *orders_of_customer.begun.get_mut() += 1;
            *orders_of_customer.ended.get_mut() += 1;
        }
        let mut stock = Vec::new();
        stock.resize_with(count(Table::Products), Stock::default);
        SharedKnowledge { stock, orders }
    }

    fn stock(&self, product: u64) -> &Stock {
        &self.stock[product as usize]
    }

    fn orders(&self, customer: u64) -> &Change {
        &self.orders[customer as usize]
    }

    pub(crate) fn begin_order(&self, order: &Order) {
        self.stock(order.product).taken.begin(order.amount);
        self.orders(order.customer).begin(1);
    }

    pub(crate) fn end_order(&self, order: &Order) {
        self.stock(order.product).taken.end(order.amount);
        self.orders(order.customer).end(1);
    }

    pub(crate) fn begin_delivery(&self, product: u64, amount: u32) {
        self.stock(product).brought.begin(amount);
    }

    pub(crate) fn end_delivery(&self, product: u64, amount: u32) {
        self.stock(product).brought.end(amount);
    }

    pub fn state_before_read(&self, product: u64) -> EndedChanges {
        let stock = self.stock(product);
        EndedChanges { taken: stock.taken.count_ended(), brought: stock.brought.count_ended() }
    }

    /// The bounds of a stock that was read, `initial` at the start, when the read has ended. The reader itself takes
    /// `own_amount` only after the read.
    pub fn quantity(&self, product: u64, initial: i32, before: EndedChanges, own_amount: u32) -> Bounds {
        let stock = self.stock(product);
        let (taken, brought) = (stock.taken.count_begun() - own_amount, stock.brought.count_begun());
        let initial = i64::from(initial);
        Bounds {
            least: initial + i64::from(before.brought) - i64::from(taken),
            most: initial + i64::from(brought) - i64::from(before.taken),
        }
    }

    /// The customer's orders acknowledged when a read begins.
    pub(crate) fn orders_before(&self, customer: u64) -> u32 {
        self.orders(customer).count_ended()
    }

    /// The bounds of a customer's number of orders, when a read has ended.
    pub(crate) fn order_count(&self, customer: u64, orders_before: u32) -> Bounds {
        Bounds { least: orders_before.into(), most: self.orders(customer).count_begun().into() }
    }

    /// By how much a product's stock has grown, when nobody changes it.
    pub fn growth(&self, product: u64) -> i64 {
        let stock = self.stock(product);
        i64::from(stock.brought.count_ended()) - i64::from(stock.taken.count_ended())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_sees_what_had_ended_and_nothing_that_had_not_begun() {
        let data = Data::with_size(3, 1 << 16);
        let knowledge = SharedKnowledge::new(&data);
        let order = data.purchase(0, 1).order;
        let Order { product, customer, amount, .. } = order;
        let (initial, stock) = (data.quantity(product), i64::from(data.quantity(product)));
        let before = knowledge.state_before_read(product);
        let quantity = |before, own_amount| knowledge.quantity(product, initial, before, own_amount);
        assert_eq!(quantity(before, 0), Bounds { least: stock, most: stock });
        knowledge.begin_order(&order);
        knowledge.begin_delivery(product, 7);
        let taken = i64::from(amount);
        assert_eq!(quantity(before, 0), Bounds { least: stock - taken, most: stock + 7 });
        assert_eq!(quantity(before, amount), Bounds { least: stock, most: stock + 7 });
        knowledge.end_order(&order);
        knowledge.end_delivery(product, 7);
        let now = Bounds { least: stock - taken + 7, most: stock - taken + 7 };
        assert_eq!(quantity(knowledge.state_before_read(product), 0), now);
        assert_eq!(knowledge.growth(product), 7 - taken);
        let count = knowledge.orders_before(customer);
        let exact = Bounds { least: count.into(), most: count.into() };
        assert_eq!(knowledge.order_count(customer, count), exact);
        assert!(now.contains(now.least) && !now.contains(now.least - 1) && !now.contains(now.most + 1));
    }

    #[test]
    fn the_orders_of_the_data_are_known() {
        let data = Data::with_size(3, 1 << 18);
        let knowledge = SharedKnowledge::new(&data);
        let customers = 0..data.rows(Table::Customers);
        let order_count: u64 = customers.map(|customer| u64::from(knowledge.orders_before(customer))).sum();
        assert_eq!(order_count, data.rows(Table::Orders));
    }
}
