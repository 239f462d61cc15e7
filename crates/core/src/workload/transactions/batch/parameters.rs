//! The parameters of batch, and its cost.

use std::time::Duration;

use storebench_model::axis::Axis;
use storebench_model::axis::file_system::FileSystem;
use storebench_model::cell::Cell;
use storebench_model::result::LeftOutReason;
use storebench_model::store::{Guarantee, StoreKind};

use super::rows::{KEY_BYTES, MOST_LETTERS, NUMBER_BYTES};
use crate::measure::probe::Probe;
use crate::workload::case::{Case, SpaceEstimate, TimeEstimate};
use crate::workload::parameter::Parameters;

/// Starting a process, opening, settling and closing a store, in seconds.
const OVERHEAD_S: f64 = 0.3;
/// A statement, with making its row, in seconds.
const STATEMENT_S: f64 = 30e-6;
/// Seconds to make, write or delete a file.
const FILE_S: f64 = 60e-6;
const SYNCS: f64 = 3.0;
/// A row's bytes in a table or a tree besides its values.
const ROW_OVERHEAD_BYTES: f64 = 60.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BatchParameters {
    pub transactions: u64,
    pub statements: u64,
    pub rest: Duration,
}

impl BatchParameters {
    pub fn from_parameters(cell: &Cell, parameters: &Parameters) -> BatchParameters {
        let number = |axis| cell.text(axis).parse().unwrap_or(1).max(1);
        BatchParameters {
            transactions: number(Axis::TRANSACTIONS),
            statements: number(Axis::STATEMENTS),
            rest: parameters.rest.map_or(Duration::ZERO, |rest| rest.0),
        }
    }

    /// Rows inserted, and deleted in the end.
    pub fn rows(&self) -> u64 {
        self.transactions.saturating_mul(self.statements)
    }

    fn bytes(&self) -> f64 {
        self.rows() as f64 * (KEY_BYTES + NUMBER_BYTES + MOST_LETTERS / 2) as f64
    }
}

pub fn check(case: &Case<'_>) -> Result<(), LeftOutReason> {
    case.openable_store()?;
    let work = BatchParameters::from_parameters(case.cell, case.parameters);
    if work.rows() > u64::from(u32::MAX) {
        return Err(LeftOutReason::Contradiction {
            why: format!("{} rows are too many: ids have 32 bits", work.rows()),
        });
    }
    let (bytes, limit_bytes) = (work.bytes(), case.size_limit);
    match bytes >= limit_bytes as f64 {
        true => Err(LeftOutReason::TooLarge { bytes, limit_bytes }),
        false => Ok(()),
    }
}

/// Bytes of rows, journal or log, and partly filled pages.
pub fn space(case: &Case<'_>) -> SpaceEstimate {
    let work = BatchParameters::from_parameters(case.cell, case.parameters);
    let rows = work.rows() as f64;
    let file_bytes = FileSystem::file_bytes(case.cell.location_name());
    let files = if case.kind() == StoreKind::Folder { rows * file_bytes } else { 0.0 };
    let bytes = (work.bytes() + rows * ROW_OVERHEAD_BYTES).max(files);
    SpaceEstimate {
        peak_bytes: bytes * 2.0 + f64::from(1 << 20),
        required_bytes: bytes * 4.0 + f64::from(8 << 20),
    }
}

pub fn held_bytes(case: &Case<'_>) -> f64 {
    BatchParameters::from_parameters(case.cell, case.parameters).bytes()
}

/// Bytes of two orders of all ids, and a transaction's rows as made and as read.
pub fn memory(case: &Case<'_>) -> f64 {
    let work = BatchParameters::from_parameters(case.cell, case.parameters);
    let row = (2 * (NUMBER_BYTES + MOST_LETTERS) + 128) as f64;
    2.0 * work.rows() as f64 * size_of::<u32>() as f64 + work.statements as f64 * row
}

/// Seconds: as if every transaction waited for the disk, unless the guarantee is one at which none does.
pub fn time(case: &Case<'_>, probe: &Probe) -> TimeEstimate {
    let work = BatchParameters::from_parameters(case.cell, case.parameters);
    let has_syncs = !matches!(case.guarantee(), Some(Guarantee::None | Guarantee::Process));
    let is_folder = case.kind() == StoreKind::Folder;
    let each_s = STATEMENT_S + if is_folder { FILE_S + probe.file_creation_ns as f64 / 1e9 } else { 0.0 };
    // A folder syncs file by file.
    let syncs = if is_folder { 2.0 * work.statements as f64 } else { SYNCS };
    let sync_s = if has_syncs { syncs * probe.sync_ns as f64 / 1e9 } else { 0.0 };
    let transactions = work.transactions as f64;
    let work_s = transactions * (2.0 * sync_s + 3.0 * work.statements as f64 * each_s);
    let audit_s = 2.0 * OVERHEAD_S;
    let rest_s = 3.0 * work.rest.as_secs_f64();
    TimeEstimate { rest_s, ..TimeEstimate::with_audit(OVERHEAD_S + work_s + rest_s + audit_s, audit_s) }
}

#[cfg(test)]
mod tests {
    use storebench_model::cell::GuaranteeChoice;
    use storebench_model::stores::{FLAT_FOLDER, MEMORY};

    use super::*;

    fn cell(store: &str, transactions: &str) -> Cell {
        Cell::new(store)
            .with(Axis::TRANSACTIONS, Axis::TRANSACTIONS.read(transactions).unwrap())
            .with(Axis::STATEMENTS, Axis::STATEMENTS.read("1000").unwrap())
    }

    #[test]
    fn a_cell_says_what_is_done() {
        let parameters = Parameters::default().with("rest", "2s").unwrap();
        let work = BatchParameters::from_parameters(&cell("memory", "500"), &parameters);
        assert_eq!((work.rows(), work.rest), (500_000, Duration::from_secs(2)));
        assert_eq!(BatchParameters::from_parameters(&Cell::new("memory"), &Parameters::default()).rows(), 1);
    }

    #[test]
    fn what_is_too_large_is_left_out_and_what_syncs_files_takes_longer() {
        let stores = [MEMORY, FLAT_FOLDER];
        let parameters = Parameters::default();
        let reason_and_time = |cell: &Cell, size_limit| {
            let case = Case::with_defaults(cell, &parameters, &stores, size_limit);
            let probe = Probe { file_creation_ns: 10_000, sync_ns: 1_000_000, write_bytes_per_s: 1e8 };
            (check(&case).err(), time(&case, &probe).trial_s)
        };
        let (too_large, _) = reason_and_time(&cell("memory", "1000"), 1 << 20);
        assert!(matches!(too_large, Some(LeftOutReason::TooLarge { .. })));
        let (too_many, _) = reason_and_time(&cell("memory", "10000000"), u64::MAX);
        assert!(matches!(too_many, Some(LeftOutReason::Contradiction { .. })));
        let (unknown, _) = reason_and_time(&cell("nosuch", "1"), u64::MAX);
        assert_eq!(unknown, Some(LeftOutReason::UnknownStore { store: "nosuch".into() }));
        let (no_reason, quick) = reason_and_time(&cell("memory", "100"), 1 << 30);
        assert_eq!(no_reason, None);
        let synced =
            cell("flat-folder", "100").with(Axis::GUARANTEE, GuaranteeChoice::Tier(Guarantee::Power).into());
        assert!(reason_and_time(&synced, 1 << 30).1 > 10.0 * quick);
    }

    #[test]
    fn files_take_clusters() {
        let (stores, parameters) = ([FLAT_FOLDER], Parameters::default());
        let peak_bytes = |place: &str| {
            let cell = &cell("flat-folder", "10").with(Axis::PLACE, Axis::PLACE.read(place).unwrap());
            space(&Case::with_defaults(cell, &parameters, &stores, u64::MAX)).peak_bytes
        };
        assert!(peak_bytes("ntfs:65536") > 15.0 * peak_bytes("ext4:1024"));
    }
}
