//! The parameters of shop, its cost, and why a cell can't be run.

use std::time::Duration;

use storebench_model::axis::Axis;
use storebench_model::axis::shop::DataSize;
use storebench_model::cell::{Cell, Rate};
use storebench_model::result::LeftOutReason;
use storebench_model::store::Guarantee;

use super::kind::{Kind, Shares};
use super::rows::{bytes_of, rows_of};
use super::schema::Table;
use crate::measure::probe::Probe;
use crate::workload::case::{Case, SpaceEstimate, TimeEstimate};
use crate::workload::parameter::{AfterLoad, Parameters};

/// The most threads that make rows during loading.
pub(crate) const MOST_MAKERS: usize = 4;

/// Starting a process, opening, settling and closing a store, in seconds.
const OVERHEAD_S: f64 = 0.3;
/// Loading a row, and reading it back, in seconds.
const ROW_S: f64 = 5e-6;
/// Seconds of a call within a transaction, with drawing and checking.
const CALL_S: f64 = 10e-6;
/// Calls of a purchase: a customer, ten products, an order, its index entry, a stock, the end.
const CALLS: f64 = 15.0;
const SYNCS: f64 = 2.0;
/// Bytes of a tree's overhead for a row, and its index entry.
const ROW_OVERHEAD_BYTES: f64 = 30.0;
/// Each thread has four and records five series, which have three each.
const HISTOGRAM_BYTES: f64 = 280e3;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ShopParameters {
    /// As the tables' rows count.
    pub data_bytes: u64,
    pub indexed: bool,
    /// Whether rows are loaded in the order of their keys.
    pub sorted: bool,
    pub shares: Shares,
    operations: u64,
    pub time_limit: Option<Duration>,
    pub epoch: Duration,
    pub after_load: AfterLoad,
    pub threads: u64,
    pub rate: Rate,
}

impl ShopParameters {
    /// The values of a cell and its parameters; `memory` is the machine's limit in bytes, if any. The error says what is wrong with them.
    pub fn from_parameters(
        cell: &Cell,
        parameters: &Parameters,
        memory_limit: Option<u64>,
    ) -> Result<ShopParameters, String> {
        let data = cell.text(Axis::DATA_SIZE);
        let data_bytes = data.parse::<DataSize>()?.bytes(memory_limit).ok_or_else(|| {
            format!(
                "data_size {data} is relative to the machine's memory, and the machine {} has no limit of memory: name one that \
                 has, or a size like 200MiB",
                cell.machine()
            )
        })?;
        let time_limit = parameters.duration();
        Ok(ShopParameters {
            data_bytes,
            indexed: cell.text(Axis::INDEX) != "none",
            sorted: cell.text(Axis::LOAD_ORDER) != "unsorted",
            shares: parameters.shares.unwrap_or(Shares::COMMON),
            operations: if time_limit.is_some() { u64::MAX / 2 } else { parameters.operations() },
            time_limit,
            epoch: parameters.epoch.map_or(Duration::from_secs(60), |epoch| epoch.0),
            after_load: parameters.after_load(),
            threads: u64::from(cell.threads()).max(1),
            rate: cell.rate(),
        })
    }

    /// Transactions of one thread: thread counts differ by at most one.
    pub(crate) fn operations_of(&self, thread: u64) -> u64 {
        self.operations / self.threads + u64::from(thread < self.operations % self.threads)
    }

    fn rows(&self) -> [u64; 3] {
        rows_of(self.data_bytes)
    }

    fn all_rows(&self) -> f64 {
        self.rows().iter().sum::<u64>() as f64
    }

    /// Bytes of the data, with overhead.
    fn bytes(&self) -> f64 {
        bytes_of(self.rows()) as f64 + self.all_rows() * ROW_OVERHEAD_BYTES
    }
}

pub fn check(case: &Case<'_>) -> Result<(), LeftOutReason> {
    let (store, capabilities) = case.store_for_threads()?;
    let work = ShopParameters::from_parameters(case.cell, case.parameters, case.memory_limit)
        .map_err(|why| LeftOutReason::Contradiction { why })?;
    if !capabilities.sql && !capabilities.order {
        return Err(LeftOutReason::NoOrder { store: store.name.into() });
    }
    if !capabilities.sql && !capabilities.transactions {
        return Err(LeftOutReason::NoTransactions { store: store.name.into() });
    }
    case.check_size(bytes_of(work.rows()) as f64)
}

/// A figure of the cell's work; `fallback` for contradictory parameters, as such a cell is left out.
fn estimate_work<T>(case: &Case<'_>, fallback: T, estimate: impl FnOnce(&ShopParameters) -> T) -> T {
    ShopParameters::from_parameters(case.cell, case.parameters, case.memory_limit)
        .map_or(fallback, |work| estimate(&work))
}

/// Bytes of rows, the index, a log of a stretch of them, and partly filled pages.
pub fn space(case: &Case<'_>) -> SpaceEstimate {
    estimate_work(case, SpaceEstimate { peak_bytes: 0.0, required_bytes: 0.0 }, |work| {
        let (bytes, server) = (work.bytes(), case.server_bytes());
        let peak_bytes = bytes * 2.0 + f64::from(1 << 20) + server;
        SpaceEstimate { peak_bytes, required_bytes: bytes * 3.0 + f64::from(64 << 20) + server }
    })
}

pub fn held_bytes(case: &Case<'_>) -> f64 {
    estimate_work(case, 0.0, ShopParameters::bytes)
}

/// Bytes for what is known of each product and customer, letters of texts, chunks, histograms; and the tables themselves, if the
/// store has nowhere else to keep them.
pub fn memory(case: &Case<'_>) -> f64 {
    estimate_work(case, 0.0, |work| {
        let [customers, products, _] = work.rows();
        let knowledge_bytes = (8 * customers + 16 * products) as f64;
        let histograms = HISTOGRAM_BYTES * (9.0 * work.threads as f64 + 15.0);
        let store_bytes = 2.0 * case.bytes_in_memory(work.bytes());
        knowledge_bytes + f64::from(4 << 20) + histograms + store_bytes
    })
}

/// Seconds: writing transactions wait for the disk, unless the guarantee is one at which none does.
pub fn time(case: &Case<'_>, probe: &Probe) -> TimeEstimate {
    estimate_work(case, TimeEstimate::with_audit(OVERHEAD_S, 0.0), |work| {
        let has_syncs = !matches!(case.guarantee(), Some(Guarantee::None | Guarantee::Process));
        let sync_s = if has_syncs { SYNCS * probe.sync_ns as f64 / 1e9 } else { 0.0 };
        let share = |kind| work.shares.share_of(kind);
        let walk_s =
            if work.indexed { 0.0 } else { work.rows()[Table::Orders as usize] as f64 * ROW_S / 10.0 };
        let call_s = share(Kind::Orders) * (4.0 * CALL_S + walk_s)
            + share(Kind::Buy) * (CALLS * CALL_S + sync_s)
            + share(Kind::Restock) * (3.0 * CALL_S + sync_s);
        let transaction_s = match work.rate {
            Rate::Closed => call_s,
            Rate::PerSecond(rate) => call_s.max(1.0 / f64::from(rate)),
        };
        let limit_s = work.time_limit.map(|time_limit| time_limit.as_secs_f64());
        let work_s = limit_s.unwrap_or(work.operations as f64 * transaction_s);
        let load_s = work.all_rows() * ROW_S + 2.0 * work.bytes() / probe.write_bytes_per_s;
        let read_s = work.all_rows() * ROW_S;
        let audit_s = 2.0 * (read_s + 1000.0 * CALL_S + walk_s);
        let time_limited_s = limit_s.map_or([0.0; 2], |limit_s| [f64::INFINITY, limit_s]);
        let trial_s = OVERHEAD_S + load_s + read_s + work_s + audit_s;
        TimeEstimate { time_limited_s, ..TimeEstimate::with_audit(trial_s, audit_s) }
    })
}

#[cfg(test)]
mod tests {
    use storebench_model::store::{Capabilities, StoreDef};
    use storebench_model::stores::{FLAT_FOLDER, MEMORY};

    use super::*;

    fn cell(store: &str, values: &[(Axis, &str)]) -> Cell {
        let defaults = [(Axis::DATA_SIZE, "1MiB")];
        let axes = defaults.iter().chain(values);
        axes.fold(Cell::new(store), |cell, (axis, text)| cell.with(*axis, axis.read(text).unwrap()))
    }

    fn estimate<T>(cell: &Cell, store: StoreDef, figure: impl Fn(&Case<'_>) -> T) -> T {
        figure(&Case::with_defaults(cell, &Parameters::default(), &[store], 1 << 24))
    }

    #[test]
    fn a_cell_and_its_parameters_say_what_is_done() {
        let parameters = Parameters::default().with("operations", "10").unwrap();
        let parameters = parameters.with("shares", "buy=1").unwrap().with("epoch", "5s").unwrap();
        let unusual =
            cell("memory", &[(Axis::INDEX, "none"), (Axis::LOAD_ORDER, "unsorted"), (Axis::THREADS, "3")]);
        let work = ShopParameters::from_parameters(&unusual, &parameters, None).unwrap();
        assert_eq!((work.indexed, work.sorted, work.threads), (false, false, 3));
        assert_eq!((work.shares.share_of(Kind::Buy), work.epoch.as_secs(), work.time_limit), (1.0, 5, None));
        assert_eq!([0, 1, 2].map(|thread| work.operations_of(thread)), [4, 3, 3]);
        let timed = parameters.with("duration", "2s").unwrap();
        let plain = ShopParameters::from_parameters(&cell("memory", &[]), &timed, None).unwrap();
        assert!(plain.indexed && plain.sorted);
        assert_eq!(plain.time_limit, Some(Duration::from_secs(2)));
        assert!(plain.operations_of(0) > 1 << 60);
    }

    #[test]
    fn data_are_relative_to_a_limit_of_memory_alone() {
        let relative = cell("memory", &[(Axis::DATA_SIZE, "2.5x")]);
        let work = ShopParameters::from_parameters(&relative, &Parameters::default(), Some(4 << 20));
        assert_eq!(work.unwrap().data_bytes, 10 << 20);
        let Err(LeftOutReason::Contradiction { why }) = estimate(&relative, MEMORY, check) else {
            panic!("it has no limit");
        };
        assert!(why.contains("the machine here has no limit of memory"), "{why}");
        assert_eq!(estimate(&relative, MEMORY, |case| space(case).peak_bytes), 0.0);
    }

    #[test]
    fn stores_without_an_order_or_transactions_are_left_out() {
        let with = |sql| {
            let capabilities = Capabilities { transactions: false, sql, ..MEMORY.capabilities };
            StoreDef { capabilities, ..MEMORY }
        };
        let plain_cell = cell("memory", &[]);
        assert_eq!(estimate(&plain_cell, MEMORY, check), Ok(()));
        assert_eq!(estimate(&plain_cell, with(true), check), Ok(()));
        let reason = estimate(&plain_cell, with(false), check);
        assert_eq!(reason, Err(LeftOutReason::NoTransactions { store: "memory".into() }));
        let reason = estimate(&cell("flat-folder", &[]), FLAT_FOLDER, check);
        assert_eq!(reason, Err(LeftOutReason::NoOrder { store: "flat-folder".into() }));
        let reason = estimate(&cell("memory", &[(Axis::DATA_SIZE, "1GiB")]), MEMORY, check);
        assert!(matches!(reason, Err(LeftOutReason::TooLarge { .. })));
    }

    #[test]
    fn larger_data_and_a_missing_index_take_longer() {
        let probe = Probe { file_creation_ns: 10_000, sync_ns: 1_000_000, write_bytes_per_s: 1e8 };
        let seconds = |cell: &Cell| estimate(cell, MEMORY, |case| time(case, &probe).trial_s);
        let small = seconds(&cell("memory", &[]));
        assert!(seconds(&cell("memory", &[(Axis::DATA_SIZE, "64MiB")])) > 2.0 * small);
        assert!(seconds(&cell("memory", &[(Axis::INDEX, "none")])) > small);
        let large = cell("memory", &[(Axis::DATA_SIZE, "64MiB")]);
        assert!(estimate(&large, MEMORY, |case| space(case).peak_bytes.min(memory(case))) > 64e6);
    }
}
