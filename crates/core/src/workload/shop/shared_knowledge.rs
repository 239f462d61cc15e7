//! The bounds within which a read may find stock and orders while client threads change them, and the state at the end. A change
//! is noted before the store is called, and after it was acknowledged. A change that ended before a read began must show in it;
//! one that began after it ended must not.

use std::ops::RangeInclusive;
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

/// What orders took of a product, and what deliveries brought.
#[derive(Debug, Default)]
struct Stock {
    ordered: Change,
    delivered: Change,
}

/// The changes that had ended when a read of a product began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndedChanges {
    ordered: u32,
    delivered: u32,
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
        self.stock(order.product).ordered.begin(order.amount);
        self.orders(order.customer).begin(1);
    }

    pub(crate) fn end_order(&self, order: &Order) {
        self.stock(order.product).ordered.end(order.amount);
        self.orders(order.customer).end(1);
    }

    pub(crate) fn begin_delivery(&self, product: u64, amount: u32) {
        self.stock(product).delivered.begin(amount);
    }

    pub(crate) fn end_delivery(&self, product: u64, amount: u32) {
        self.stock(product).delivered.end(amount);
    }

    pub fn ended_changes(&self, product: u64) -> EndedChanges {
        let stock = self.stock(product);
        EndedChanges { ordered: stock.ordered.count_ended(), delivered: stock.delivered.count_ended() }
    }

    /// The bounds of a stock that was read, `initial` at the start, when the read has ended. The reader itself takes
    /// `own_amount` only after the read.
    pub fn quantity_bounds(
        &self,
        product: u64,
        initial: i32,
        before: EndedChanges,
        own_amount: u32,
    ) -> RangeInclusive<i64> {
        let stock = self.stock(product);
        let (ordered, delivered) = (stock.ordered.count_begun() - own_amount, stock.delivered.count_begun());
        let initial = i64::from(initial);
        let least = initial + i64::from(before.delivered) - i64::from(ordered);
        least..=initial + i64::from(delivered) - i64::from(before.ordered)
    }

    /// The customer's orders acknowledged when a read begins.
    pub(crate) fn count_ended_orders(&self, customer: u64) -> u32 {
        self.orders(customer).count_ended()
    }

    /// The bounds of a customer's number of orders, when a read has ended.
    pub(crate) fn order_count_bounds(&self, customer: u64, orders_before: u32) -> RangeInclusive<i64> {
        orders_before.into()..=self.orders(customer).count_begun().into()
    }

    /// By how much a product's stock has grown, when nobody changes it.
    pub fn stock_growth(&self, product: u64) -> i64 {
        let stock = self.stock(product);
        i64::from(stock.delivered.count_ended()) - i64::from(stock.ordered.count_ended())
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
        let before = knowledge.ended_changes(product);
        let quantity = |before, own_amount| knowledge.quantity_bounds(product, initial, before, own_amount);
        assert_eq!(quantity(before, 0), stock..=stock);
        knowledge.begin_order(&order);
        knowledge.begin_delivery(product, 7);
        let taken = i64::from(amount);
        assert_eq!(quantity(before, 0), stock - taken..=stock + 7);
        assert_eq!(quantity(before, amount), stock..=stock + 7);
        knowledge.end_order(&order);
        knowledge.end_delivery(product, 7);
        let now = stock - taken + 7;
        assert_eq!(quantity(knowledge.ended_changes(product), 0), now..=now);
        assert_eq!(knowledge.stock_growth(product), 7 - taken);
        let count = knowledge.count_ended_orders(customer);
        let exact = i64::from(count);
        assert_eq!(knowledge.order_count_bounds(customer, count), exact..=exact);
    }

    #[test]
    fn the_orders_of_the_data_are_known() {
        let data = Data::with_size(3, 1 << 18);
        let knowledge = SharedKnowledge::new(&data);
        let customers = 0..data.rows(Table::Customers);
        let order_count = |customer| u64::from(knowledge.count_ended_orders(customer));
        assert_eq!(customers.map(order_count).sum::<u64>(), data.rows(Table::Orders));
    }
}
