//! Checks the tables at a trial's end: every row, every acknowledged order and no other, an index that agrees with them, and
//! stock that orders and deliveries add up to. A lost acknowledged write shows here, and so does half a transaction.

use std::time::Instant;

use storebench_model::result::Audit;
use storebench_model::store::StoreError;

use super::check::RowChecker;
use super::ids::{self, RowOrigin};
use super::schema::{self, Table};
use super::shared::ShopContext;
use super::tables::{ReadBuffer, Tables};
use crate::workload::audit::AuditOpening;
use crate::workload::bench::Bench;
use crate::workload::workload_error::WorkloadError;

/// Customers whose orders are read again, as a transaction does it; without an index each takes a walk over all orders.
const SAMPLED_CUSTOMERS: u64 = 1000;
const SAMPLED_WITHOUT_INDEX: u64 = 3;

/// Checks the tables; `purchases` are the acknowledged ones of each thread. A store that persists is closed and opened twice, and closed
/// in the end. Fails with [`storebench_model::result::Failure::WrongData`] at the first thing that is missing, wrong, or should not be there.
pub fn audit(
    shared: &ShopContext<'_>,
    bench: &mut Bench<'_>,
    purchases: &[u64],
    reading: AuditOpening,
) -> Result<Audit, WorkloadError> {
    let start = Instant::now();
    let reopenings = if reading == AuditOpening::Anew { 2 } else { 0 };
    let mut rows = 0;
    for _ in 0..reopenings.max(1) {
        if reopenings > 0 {
            bench.reopen()?;
        }
        rows = ShopAudit { shared, purchases, checker: RowChecker::new(shared) }
            .check_tables(shared.open(bench.store()?)?.as_mut())?;
    }
    if reopenings > 0 {
        bench.close()?;
    }
    let took_ns = start.elapsed().as_nanos() as u64;
    Ok(Audit { records: rows, read_back: rows, seen_gone: 0, removed: 0, reopened: reopenings, took_ns })
}

struct ShopAudit<'a> {
    shared: &'a ShopContext<'a>,
    purchases: &'a [u64],
    checker: RowChecker<'a>,
}

fn read_error(error: StoreError) -> WorkloadError {
    WorkloadError::store("reading the tables back", &error)
}

fn end_error(message: String) -> WorkloadError {
    WorkloadError::wrong_data(format!("{message}, after the trial"))
}

impl ShopAudit<'_> {
    /// Checks everything; gives the number of rows.
    fn check_tables(&mut self, tables: &mut dyn Tables) -> Result<u64, WorkloadError> {
        self.check_rows(tables, Table::Customers)?;
        self.check_rows(tables, Table::Products)?;
        let orders = self.check_orders(tables)?;
        if self.shared.work.indexed {
            self.check_index(tables, orders)?;
        }
        self.check_customers(tables)?;
        let data = &self.shared.data;
        Ok(data.rows(Table::Customers) + data.rows(Table::Products) + orders)
    }

    fn check_rows(&mut self, tables: &mut dyn Tables, table: Table) -> Result<(), WorkloadError> {
        let (shared, checker) = (self.shared, &mut self.checker);
        let mut next = 0;
        let mut first_wrong = None;
        let mut visit = |row: &[u8]| {
            if first_wrong.is_none() {
                first_wrong = check_row(shared, checker, table, next, row).err();
                next += 1;
            }
        };
        tables.visit_rows(table, &mut visit).map_err(read_error)?;
        match first_wrong {
            Some(message) => Err(end_error(message)),
            None if next == shared.data.rows(table) => Ok(()),
            None => Err(end_error(format!("the row {next} of {} is missing", table.name()))),
        }
    }

    /// Checks every order, once; gives their number.
    fn check_orders(&mut self, tables: &mut dyn Tables) -> Result<u64, WorkloadError> {
        let (shared, checker, purchases) = (self.shared, &mut self.checker, self.purchases);
        let (mut next, mut last_id, mut first_wrong) = (0, None, None);
        let mut counts_by_thread = vec![0; purchases.len()];
        let mut visit = |row: &[u8]| {
            if first_wrong.is_some() {
                return;
            }
            let id = schema::id_of(row);
            let origin = checker.find_order(row).map(|(_, origin)| origin);
            let is_ascending = last_id < id;
            last_id = id;
            let fault = match origin {
                Some(RowOrigin::Data(number)) if number == next && is_ascending => return next += 1,
                Some(RowOrigin::Client { thread, number })
                    if is_ascending && is_acknowledged(purchases, thread, number) =>
                {
                    return counts_by_thread[thread as usize] += 1;
                }
                Some(RowOrigin::Data(number)) if number > next => format!("the order {next} is missing"),
                Some(RowOrigin::Client { thread, number }) if is_ascending => {
                    format!("the order {number} of thread {thread} is there, which was not acknowledged")
                }
                Some(_) => format!("the order of the id {id:?} is there twice"),
                None => format!("the order of the id {id:?} is not as it was written"),
            };
            first_wrong = Some(fault);
        };
        tables.visit_rows(Table::Orders, &mut visit).map_err(read_error)?;
        let loaded = shared.data.rows(Table::Orders);
        if first_wrong.is_none() && next < loaded {
            first_wrong = Some(format!("the order {next} is missing"));
        }
        let missing = |(thread, (found, acknowledged)): (usize, (&u64, &u64))| {
            (found != acknowledged).then(|| {
                format!("of {acknowledged} orders that thread {thread} was acknowledged, {found} are there")
            })
        };
        let counts = || counts_by_thread.iter().zip(purchases).enumerate();
        match first_wrong.or_else(|| counts().find_map(missing)) {
            Some(message) => Err(end_error(message)),
            None => Ok(loaded + counts_by_thread.iter().sum::<u64>()),
        }
    }

    /// Checks that every entry of the index belongs to an order: if there are as many as orders, each has one.
    fn check_index(&self, tables: &mut dyn Tables, orders: u64) -> Result<(), WorkloadError> {
        let (shared, purchases) = (self.shared, self.purchases);
        let (mut entries, mut last_entry, mut first_wrong) = (0, None, None);
        let mut visit = |customer: i64, order: i64| {
            let entry = Some((customer, order));
            if first_wrong.is_none() && !(last_entry < entry && is_entry(shared, purchases, customer, order))
            {
                first_wrong =
                    Some(format!("the index has a wrong entry: customer {customer}, order {order}"));
            }
            (last_entry, entries) = (entry, entries + 1);
        };
        tables.visit_entries(&mut visit).map_err(read_error)?;
        match first_wrong {
            Some(message) => Err(end_error(message)),
            None if entries == orders => Ok(()),
            None => Err(end_error(format!("the index has {entries} entries, but there are {orders} orders"))),
        }
    }

    /// Reads some customers' orders as transactions do.
    fn check_customers(&mut self, tables: &mut dyn Tables) -> Result<(), WorkloadError> {
        let ShopContext { data, knowledge, work, .. } = self.shared;
        let (customers, mut read_buffer) = (data.rows(Table::Customers), ReadBuffer::new());
        let sampled = customers.min(if work.indexed { SAMPLED_CUSTOMERS } else { SAMPLED_WITHOUT_INDEX });
        for index in 0..sampled {
            let customer = (u128::from(customers) * u128::from(index) / u128::from(sampled)) as u64;
            let id = data.ids(Table::Customers).id_of_row(customer);
            read_buffer.clear();
            tables.read_orders(id, &mut read_buffer).map_err(read_error)?;
            let count = knowledge.order_count_bounds(customer, knowledge.count_ended_orders(customer));
            self.checker.check_orders(customer, &read_buffer, &count).map_err(end_error)?;
        }
        Ok(())
    }
}

/// What is wrong with the row of a customer, or of a product and its stock.
fn check_row(
    shared: &ShopContext<'_>,
    checker: &mut RowChecker<'_>,
    table: Table,
    number: u64,
    row: &[u8],
) -> Result<(), String> {
    let id = schema::id_of(row);
    if number >= shared.data.rows(table) {
        return Err(format!("a row of {} is there, id {id:?}, that nobody made", table.name()));
    }
    if id.is_some_and(|id| id > shared.data.ids(table).id_of_row(number)) {
        return Err(format!("the row {number} of {} is missing", table.name()));
    }
    if !checker.is_row(table, number, row) {
        return Err(format!("the row {number} of {} is not as it was written", table.name()));
    }
    if table != Table::Products {
        return Ok(());
    }
    let expected = i64::from(shared.data.quantity(number)) + shared.knowledge.stock_growth(number);
    match i64::from(schema::quantity_of(row).unwrap_or(0)) {
        quantity if quantity == expected => Ok(()),
        quantity => Err(format!(
            "the product {number} has a stock of {quantity}, but its orders and deliveries leave {expected}"
        )),
    }
}

fn is_acknowledged(purchases: &[u64], thread: u64, number: u64) -> bool {
    purchases.get(thread as usize).is_some_and(|count| number < *count)
}

fn is_entry(shared: &ShopContext<'_>, purchases: &[u64], customer: i64, order: i64) -> bool {
    let data = &shared.data;
    let order_row = match ids::origin_of(data.ids(Table::Orders), order) {
        Some(RowOrigin::Data(number)) => data.order(number),
        Some(RowOrigin::Client { thread, number }) if is_acknowledged(purchases, thread, number) => {
            data.purchase(thread, number).order
        }
        _ => return false,
    };
    data.ids(Table::Customers).id_of_row(order_row.customer) == customer
}
