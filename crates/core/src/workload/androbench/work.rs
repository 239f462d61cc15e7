//! What androbench is asked to do, and what that costs.

use crate::axis::Axis;
use crate::cell::{Cell, Rate};
use crate::place::probe::Probe;
use crate::result::TrialResult;
use crate::store::Guarantee;
use crate::units::Bytes;
use crate::workload::case::{Case, Space, Time};
use crate::workload::parameter::{ParameterDef, ParameterForm, Parameters};
use crate::workload::reason::Reason;

/// Bytes of a row's text.
pub static BODY: ParameterDef = ParameterDef {
    name: "body",
    value_name: "SIZE",
    help: "The text of a row, on average, of androbench: half as much to half as much again",
    form: ParameterForm::Text,
    default: Some("120B"),
    instead_of: None,
    read: |text| match text.parse::<Bytes>()? {
        Bytes(2..=MOST_BODY_BYTES) => Ok(text.parse::<Bytes>()?.to_string()),
        _ => Err(format!("body = {text}: it must be from 2B to 1MiB")),
    },
};

const MOST_BODY_BYTES: u64 = 1 << 20;

/// What a row takes beside its body, in its table and its index, in bytes.
const BESIDE_BODY_BYTES: f64 = 90.0;
/// Starting a process, opening, settling and closing a store, in seconds.
const OVERHEAD_S: f64 = 0.15;
/// A statement, with making its row, in seconds.
const STATEMENT_S: f64 = 20e-6;
/// Syncs of a transaction: journal, its header, the file, its folder.
const SYNCS: f64 = 3.0;

/// What is done in a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// Rows that are there before the first transaction.
    pub rows: u64,
    /// Statements in a transaction.
    pub statements: u64,
    /// Transactions of each kind.
    pub transactions: u64,
    /// Bytes of a body, on average.
    pub body_bytes: u64,
    /// When transactions begin.
    pub rate: Rate,
}

impl Work {
    /// What a cell and its parameters say.
    pub fn of(cell: &Cell, parameters: &Parameters) -> Work {
        Work {
            rows: number(cell, Axis::ROWS),
            statements: number(cell, Axis::STATEMENTS).max(1),
            transactions: parameters.get(&super::OPERATIONS).unwrap_or(1),
            body_bytes: parameters.get::<Bytes>(&BODY).map_or(2, |bytes| bytes.0),
            rate: cell.rate(),
        }
    }

    /// Rows that one kind of transaction inserts, changes or removes.
    pub fn touched(&self) -> u64 {
        self.transactions.saturating_mul(self.statements)
    }

    /// The most rows that there are at once.
    pub fn most_rows(&self) -> u64 {
        self.rows.saturating_add(self.touched())
    }

    fn bytes(&self) -> f64 {
        self.most_rows() as f64 * (self.body_bytes as f64 + BESIDE_BODY_BYTES)
    }

    fn loading_s(&self, probe: &Probe) -> f64 {
        self.rows as f64 * STATEMENT_S + self.bytes() / probe.write_bytes_per_s
    }

    fn audit_s(&self) -> f64 {
        4.0 * self.most_rows() as f64 * STATEMENT_S / 2.0
    }

    /// From one transaction's begin to the next, where a rate is set.
    fn scheduled_s(&self) -> f64 {
        match self.rate {
            Rate::Closed => 0.0,
            Rate::PerSecond(rate) => 1.0 / f64::from(rate),
        }
    }
}

fn number(cell: &Cell, axis: Axis) -> u64 {
    cell.text(axis).parse().unwrap_or_default()
}

/// Why a cell can't be run, whatever the place.
pub fn reason(case: &Case<'_>) -> Option<Reason> {
    let Some(store) = case.store() else { return Some(Reason::UnknownStore) };
    if let Err(why) = store.open {
        return Some(Reason::NotBuilt(why));
    }
    if !store.capabilities.sql {
        return Some(Reason::NoSql { store: store.name });
    }
    if let Some(guarantee) = case.cell.guarantee().tier()
        && store.offer(guarantee).is_none()
    {
        return Some(Reason::NotOffered { store: store.name, guarantee });
    }
    let bytes = Work::of(case.cell, case.parameters).bytes();
    (bytes >= case.size_limit as f64).then_some(Reason::TooLarge { bytes, limit_bytes: case.size_limit })
}

/// Bytes of disk: rows, journal or log, and pages that are larger than what is in them.
pub fn space(case: &Case<'_>) -> Space {
    let bytes = Work::of(case.cell, case.parameters).bytes();
    Space { peak_bytes: bytes * 2.0 + f64::from(1 << 20), room_bytes: bytes * 4.0 + f64::from(8 << 20) }
}

/// Bytes of memory: the version of each row and what is to be deleted, and the rows of a transaction.
pub fn memory(case: &Case<'_>) -> f64 {
    let work = Work::of(case.cell, case.parameters);
    let remembered = size_of::<u8>() + size_of::<u32>();
    work.most_rows() as f64 * remembered as f64
        + work.statements as f64 * (work.body_bytes as f64 + BESIDE_BODY_BYTES)
}

/// Seconds, by what the transactions of a rehearsal took: settings decide whether they wait for the disk, and how often.
pub fn time_by_rehearsal(case: &Case<'_>, probe: &Probe, rehearsal: &TrialResult) -> Option<f64> {
    let done = &rehearsal.ok()?.operations;
    let (sum_ns, count) = done.iter().fold((0, 0), |(sum, count), one| (sum + one.sum_ns, count + one.count));
    if count == 0 {
        return None;
    }
    let work = Work::of(case.cell, case.parameters);
    let sum_s = sum_ns as f64 / 1e9;
    // It had one statement in each.
    let transaction_s = sum_s / count as f64 + (work.statements - 1) as f64 * STATEMENT_S;
    let beside_s = (rehearsal.wall_s - sum_s).max(0.0);
    let work_s = 3.0 * work.transactions as f64 * transaction_s.max(work.scheduled_s());
    Some(beside_s + work.loading_s(probe) + work_s + work.audit_s())
}

/// Seconds: as if every transaction waited for the disk, unless a tier is asked for at which none does.
pub fn time(case: &Case<'_>, probe: &Probe) -> Time {
    let work = Work::of(case.cell, case.parameters);
    let waits = !matches!(case.cell.guarantee().tier(), Some(Guarantee::None | Guarantee::Process));
    let sync_s = if waits { SYNCS * probe.sync_ns as f64 / 1e9 } else { 0.0 };
    let audit_s = work.audit_s();
    let transaction_s = sync_s + work.statements as f64 * STATEMENT_S;
    let work_s = 3.0 * work.transactions as f64 * transaction_s.max(work.scheduled_s());
    Time { trial_s: OVERHEAD_S + work.loading_s(probe) + work_s + audit_s, audit_s }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::{MEMORY, NULL};

    fn cell() -> Cell {
        let cell = Cell::of("memory");
        cell.with(Axis::ROWS, Axis::ROWS.read("1000").unwrap())
            .with(Axis::STATEMENTS, Axis::STATEMENTS.read("10").unwrap())
    }

    #[test]
    fn a_cell_says_what_is_done() {
        let parameters = Parameters::default().with(&BODY, "200B").unwrap();
        let parameters = parameters.with(&super::super::OPERATIONS, "300").unwrap();
        let work = Work::of(&cell(), &parameters);
        assert_eq!((work.rows, work.statements, work.transactions, work.body_bytes), (1000, 10, 300, 200));
        assert_eq!((work.touched(), work.most_rows()), (3000, 4000));
    }

    #[test]
    fn a_store_without_sql_and_a_table_that_is_too_large_are_left_out() {
        let parameters = Parameters::default();
        let sql = crate::store::StoreDef {
            capabilities: crate::store::Capabilities { sql: true, ..MEMORY.capabilities },
            ..MEMORY
        };
        let reason = |stores: &[crate::store::StoreDef], size_limit| {
            let cell = cell();
            let settings = std::collections::BTreeMap::new();
            super::reason(&Case {
                cell: &cell,
                parameters: &parameters,
                stores,
                settings: &settings,
                size_limit,
            })
        };
        assert_eq!(reason(&[MEMORY], 1 << 30), Some(Reason::NoSql { store: "memory" }));
        assert_eq!(reason(&[NULL], 1 << 30), Some(Reason::UnknownStore));
        assert!(matches!(reason(std::slice::from_ref(&sql), 1 << 10), Some(Reason::TooLarge { .. })));
        assert_eq!(reason(&[sql], 1 << 30), None);
    }

    #[test]
    fn bodies_have_bounds() {
        for text in ["1B", "2MiB", "many"] {
            assert!((BODY.read)(text).is_err(), "{text}");
        }
    }
}
