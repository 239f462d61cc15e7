//! The parameters of androbench, and its cost.

use storebench_model::axis::Axis;
use storebench_model::cell::{Cell, Rate};
use storebench_model::result::{LeftOutReason, TrialResult};
use storebench_model::store::{Guarantee, StoreKind};

use crate::measure::probe::Probe;
use crate::workload::case::{Case, SpaceEstimate, TimeEstimate};
use crate::workload::parameter::Parameters;

/// A row's bytes besides its body, in its table and its index.
const ROW_OVERHEAD_BYTES: f64 = 90.0;
/// Starting a process, opening, settling and closing a store, in seconds.
const OVERHEAD_S: f64 = 0.15;
/// Seconds of a statement within a transaction, with making its row: for an engine in the process, and a server.
const STATEMENT_S: f64 = 5e-6;
const SERVER_STATEMENT_S: f64 = 50e-6;
/// Seconds to open a store and read it back.
const AUDIT_S: f64 = 0.02;
/// Syncs of a transaction: journal, its header, the file, its folder.
const SYNCS: f64 = 3.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AndrobenchParameters {
    pub rows: u64,
    pub statements: u64,
    pub transactions: u64,
    pub body_bytes: u64,
    pub rate: Rate,
}

/// Seconds of a statement within a transaction of the cell's store.
fn statement_s(case: &Case<'_>) -> f64 {
    let is_server = case.store().is_some_and(|store| store.kind == StoreKind::Server);
    if is_server { SERVER_STATEMENT_S } else { STATEMENT_S }
}

impl AndrobenchParameters {
    pub fn from_parameters(cell: &Cell, parameters: &Parameters) -> AndrobenchParameters {
        let number = |axis| cell.text(axis).parse::<u64>().unwrap_or_default();
        AndrobenchParameters {
            rows: number(Axis::ROWS),
            statements: number(Axis::STATEMENTS).max(1),
            transactions: parameters.operations(),
            body_bytes: parameters.body.map_or(120, |size| size.0),
            rate: cell.rate(),
        }
    }

    /// Rows that one kind of transaction inserts, changes or removes.
    pub fn changed_rows(&self) -> u64 {
        self.transactions.saturating_mul(self.statements)
    }

    pub(crate) fn most_rows(&self) -> u64 {
        self.rows.saturating_add(self.changed_rows())
    }

    fn bytes(&self) -> f64 {
        self.most_rows() as f64 * (self.body_bytes as f64 + ROW_OVERHEAD_BYTES)
    }

    fn loading_s(&self, statement_s: f64, probe: &Probe) -> f64 {
        self.rows as f64 * statement_s + self.bytes() / probe.write_bytes_per_s
    }

    /// All rows are read by key, and by index.
    fn audit_s(&self, statement_s: f64) -> f64 {
        AUDIT_S + 2.0 * self.most_rows() as f64 * statement_s
    }

    /// Seconds between transactions, if a rate is set.
    fn scheduled_s(&self) -> f64 {
        match self.rate {
            Rate::Closed => 0.0,
            Rate::PerSecond(rate) => 1.0 / f64::from(rate),
        }
    }
}

pub fn check(case: &Case<'_>) -> Result<(), LeftOutReason> {
    let store = case.openable_store()?;
    if !store.capabilities.sql {
        return Err(LeftOutReason::NoSql { store: store.name.into() });
    }
    case.check_size(AndrobenchParameters::from_parameters(case.cell, case.parameters).bytes())
}

/// Bytes of rows, journal or log, and partly filled pages.
pub fn space(case: &Case<'_>) -> SpaceEstimate {
    let bytes = AndrobenchParameters::from_parameters(case.cell, case.parameters).bytes();
    SpaceEstimate {
        peak_bytes: bytes * 2.0 + f64::from(1 << 20),
        required_bytes: bytes * 4.0 + f64::from(8 << 20),
    }
}

pub fn held_bytes(case: &Case<'_>) -> f64 {
    AndrobenchParameters::from_parameters(case.cell, case.parameters).bytes()
}

/// Bytes of each row's version, ids to delete, and a transaction's rows.
pub fn memory(case: &Case<'_>) -> f64 {
    let work = AndrobenchParameters::from_parameters(case.cell, case.parameters);
    work.most_rows() as f64 * (size_of::<u8>() + size_of::<u32>()) as f64
        + work.statements as f64 * (work.body_bytes as f64 + ROW_OVERHEAD_BYTES)
}

/// Seconds, by a rehearsal's transactions: settings decide on waits for the disk. The first are slower, so medians count.
pub fn time_by_rehearsal(case: &Case<'_>, probe: &Probe, rehearsal: &TrialResult) -> Option<f64> {
    let operations = &rehearsal.ok()?.operations;
    if operations.is_empty() {
        return None;
    }
    let work = AndrobenchParameters::from_parameters(case.cell, case.parameters);
    let statement_s = statement_s(case);
    // It had one statement in each.
    let further_statements_s = (work.statements - 1) as f64 * statement_s;
    let transactions_s = operations.iter().map(|operation| {
        (operation.latency.p50_ns as f64 / 1e9 + further_statements_s).max(work.scheduled_s())
    });
    let work_s = work.transactions as f64 * transactions_s.sum::<f64>();
    let rehearsed_s = operations.iter().map(|operation| operation.sum_ns).sum::<u64>() as f64 / 1e9;
    let overhead_s = (rehearsal.wall_s - rehearsed_s).max(0.0);
    Some(overhead_s + work.loading_s(statement_s, probe) + work_s + work.audit_s(statement_s))
}

/// Seconds: as if every transaction waited for the disk, unless the guarantee is one at which none does.
pub fn time(case: &Case<'_>, probe: &Probe) -> TimeEstimate {
    let work = AndrobenchParameters::from_parameters(case.cell, case.parameters);
    let statement_s = statement_s(case);
    let has_syncs = !matches!(case.guarantee(), Some(Guarantee::None | Guarantee::Process));
    let sync_s = if has_syncs { SYNCS * probe.sync_ns as f64 / 1e9 } else { 0.0 };
    let audit_s = work.audit_s(statement_s);
    let transaction_s = sync_s + work.statements as f64 * statement_s;
    let work_s = 3.0 * work.transactions as f64 * transaction_s.max(work.scheduled_s());
    TimeEstimate::with_audit(OVERHEAD_S + work.loading_s(statement_s, probe) + work_s + audit_s, audit_s)
}

#[cfg(test)]
mod tests {
    use storebench_model::store::{Capabilities, StoreDef};
    use storebench_model::stores::{MEMORY, NULL};

    use super::*;

    #[test]
    fn a_store_without_sql_and_a_table_that_is_too_large_are_left_out() {
        let (parameters, cell) = (Parameters::default(), Cell::new("memory"));
        let cell = cell.with(Axis::ROWS, Axis::ROWS.read("1000").unwrap());
        let cell = cell.with(Axis::STATEMENTS, Axis::STATEMENTS.read("10").unwrap());
        let capabilities = Capabilities { sql: true, ..MEMORY.capabilities };
        let sql = StoreDef { capabilities, ..MEMORY };
        let reason = |stores: &[StoreDef], size_limit| {
            check(&Case::with_defaults(&cell, &parameters, stores, size_limit)).err()
        };
        assert_eq!(reason(&[MEMORY], 1 << 30), Some(LeftOutReason::NoSql { store: "memory".into() }));
        assert!(matches!(reason(&[NULL], 1 << 30), Some(LeftOutReason::UnknownStore { .. })));
        assert!(matches!(reason(std::slice::from_ref(&sql), 1 << 10), Some(LeftOutReason::TooLarge { .. })));
        assert_eq!(reason(&[sql], 1 << 30), None);
    }
}
