//! The store's state before transactions: with nothing of the loading left to be written, and as much of the data in memory as
//! fits. Engines end their loading in different states: some have the newest rows cached, others have put files aside that no
//! cache has seen.

use super::schema::Table;
use super::shared::ShopContext;
use crate::measure::device;
use crate::store::StoreError;
use crate::workload::bench::Bench;
use crate::workload::workload_error::WorkloadError;

/// The most read tables come last: if not all fit, these stay.
const TABLES: [Table; 3] = [Table::Orders, Table::Customers, Table::Products];

/// Flushes the store, and reads every row and index entry once.
pub fn warm(shared: &ShopContext<'_>, bench: &Bench<'_>) -> Result<(), WorkloadError> {
    if bench.outside_location().is_none() {
        device::sync_file_system(bench.folder())
            .map_err(|error| WorkloadError::harness(error.to_string()))?;
    }
    let read_error =
        |error: StoreError| WorkloadError::store("reading the tables before the transactions", &error);
    let mut tables = shared.open(bench.store()?)?;
    if shared.work.indexed {
        tables.each_entry(&mut |_, _| ()).map_err(read_error)?;
    }
    TABLES.into_iter().try_for_each(|table| tables.visit_rows(table, &mut |_| ())).map_err(read_error)
}
