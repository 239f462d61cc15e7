//! Checks of the rows that a transaction read against the rows that it may have read. Errors say what is wrong.

use std::ops::RangeInclusive;

use super::ids::{self, RowOrigin};
use super::rows::{Order, Purchase};
use super::schema::{self, Table};
use super::shared::ShopContext;
use super::shared_knowledge::EndedChanges;
use super::tables::ReadBuffer;

pub struct RowChecker<'a> {
    shared: &'a ShopContext<'a>,
    expected: Vec<u8>,
}

impl<'a> RowChecker<'a> {
    pub fn new(shared: &'a ShopContext<'a>) -> RowChecker<'a> {
        RowChecker { shared, expected: Vec::with_capacity(Table::Products.most_bytes()) }
    }

    /// Whether a row is the one with this number, whatever a product's stock.
    pub(crate) fn is_row(&mut self, table: Table, number: u64, row: &[u8]) -> bool {
        self.expected.clear();
        self.shared.data.append(table, number, &mut self.expected);
        if table == Table::Products {
            schema::set_quantity(&mut self.expected, schema::quantity_of(row).unwrap_or(0));
        }
        row == self.expected
    }

    /// The order in a row, if it was loaded or a client began it.
    pub fn find_order(&mut self, row: &[u8]) -> Option<(Order, RowOrigin)> {
        let data = &self.shared.data;
        let origin = ids::origin_of(data.ids(Table::Orders), schema::id_of(row)?)?;
        let order = match origin {
            RowOrigin::Data(number) => data.order(number),
            RowOrigin::Client { thread, number } => data.purchase(thread, number).order,
        };
        self.expected.clear();
        data.append_order(&order, &mut self.expected);
        (row == self.expected).then_some((order, origin))
    }

    fn check_customer(&mut self, customer: u64, row: &[u8]) -> Result<(), String> {
        match self.is_row(Table::Customers, customer, row) {
            true => Ok(()),
            false => Err(format!("the customer {customer} {}", describe_row(row))),
        }
    }

    /// Checks a customer and all their orders. Fails when one is wrong or missing.
    pub fn check_orders(
        &mut self,
        customer: u64,
        read_buffer: &ReadBuffer,
        count: &RangeInclusive<i64>,
    ) -> Result<(), String> {
        self.check_customer(customer, read_buffer.row(0))?;
        let mut last_id = None;
        let mut ascending = true;
        for row in read_buffer.rows_after_first() {
            let order = self.find_order(row).filter(|(order, _)| order.customer == customer);
            let Some((Order { id, .. }, _)) = order else {
                return Err(format!("an order of the customer {customer} {}", describe_row(row)));
            };
            ascending = ascending && last_id.is_none_or(|last_id| last_id < id);
            last_id = Some(id);
        }
        let order_count = read_buffer.count() as i64 - 1;
        if !ascending && has_duplicates(read_buffer) {
            return Err(format!("an order of the customer {customer} is shown twice"));
        }
        match count.contains(&order_count) {
            true => Ok(()),
            false => Err(format!(
                "the customer {customer} is shown with {order_count} orders, and must have {}",
                describe_bounds(count)
            )),
        }
    }

    /// Checks the products that a customer read before ordering one. Fails when a row is wrong or missing, or older than it may be.
    pub(crate) fn check_purchase(
        &mut self,
        purchase: &Purchase,
        read_buffer: &ReadBuffer,
        ended_changes: &[EndedChanges],
    ) -> Result<(), String> {
        self.check_customer(purchase.order.customer, read_buffer.row(0))?;
        let shared = self.shared;
        for (index, (product, ended_changes)) in purchase.viewed.iter().zip(ended_changes).enumerate() {
            let row = read_buffer.row(1 + index);
            if !self.is_row(Table::Products, *product, row) {
                return Err(format!("the product {product} {}", describe_row(row)));
            }
            let own_amount = if *product == purchase.order.product { purchase.order.amount } else { 0 };
            let initial = shared.data.quantity(*product);
            let bounds = shared.knowledge.quantity_bounds(*product, initial, *ended_changes, own_amount);
            let quantity = i64::from(schema::quantity_of(row).unwrap_or(0));
            if !bounds.contains(&quantity) {
                return Err(format!(
                    "the product {product} is shown with a stock of {quantity}, and must have {}",
                    describe_bounds(&bounds)
                ));
            }
        }
        Ok(())
    }
}

/// Checks that a transaction changed the stock.
pub(crate) fn check_changed(was_changed: bool, product: u64) -> Result<(), String> {
    if was_changed { Ok(()) } else { Err(format!("the product {product} was not there to be changed")) }
}

fn has_duplicates(read_buffer: &ReadBuffer) -> bool {
    let mut ids: Vec<Option<i64>> = read_buffer.rows_after_first().map(schema::id_of).collect();
    ids.sort_unstable();
    ids.windows(2).any(|pair| pair[0] == pair[1])
}

fn describe_row(row: &[u8]) -> &'static str {
    if row.is_empty() { "is missing" } else { "is not as it was written" }
}

fn describe_bounds(bounds: &RangeInclusive<i64>) -> String {
    let (least, most) = (bounds.start(), bounds.end());
    if least == most { least.to_string() } else { format!("from {least} to {most}") }
}
