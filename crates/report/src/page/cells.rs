//! The cells of the page: one for each contestant at each place of each matrix, including those without a figure.

use std::borrow::Cow;
use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;
use storebench_core::result::{LeftOutReason, Outcome};

use super::axes::Axes;
use crate::data::absence_reason::AbsenceReason;
use crate::data::matrix::{Matrix, SortedTrials};
use crate::data::merge::{Entry, Group, Merged};
use crate::layout::Position;

/// The values that identify a cell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key<'a> {
    /// The index of its group.
    pub group: usize,
    /// The position in the matrix.
    pub position: Position,
    /// The contestant: the store, unless something else is compared.
    pub store: Cow<'a, str>,
}

/// A cell with its trials.
#[derive(Debug)]
pub struct Row<'a> {
    /// The values that identify it.
    pub key: Key<'a>,
    /// Its trials; empty if it was left out or not run.
    pub entries: Vec<Entry<'a>>,
    /// Why it has no figure; `None` if it has one.
    pub absence: Option<AbsenceReason>,
    /// The full reason, if known.
    pub reason: Option<Cow<'a, str>>,
}

impl Row<'_> {
    /// Trials that succeeded.
    pub fn succeeded(&self) -> usize {
        self.entries.iter().filter(|entry| entry.trial.ok().is_some()).count()
    }
}

/// All cells, in the order of their keys.
pub fn rows<'a>(merged: &'a Merged<'a>, matrices: &[Option<Matrix>]) -> Vec<Row<'a>> {
    let mut all_rows = Vec::new();
    for (group, matrix) in merged.groups.iter().zip(matrices).enumerate().map(|(i, (_, matrix))| (i, matrix))
    {
        let mut rows: BTreeMap<Key<'a>, Row<'a>> = BTreeMap::new();
        let sorted = SortedTrials::new(merged, &merged.groups[group]);
        for (position, stores) in sorted.entries {
            for (store, entries) in stores {
                let key = Key { group, position: position.clone(), store };
                // Stores of the harness are in no matrix; the others' reasons are added below.
                let absence =
                    entries.iter().all(|entry| entry.trial.ok().is_none()).then_some(AbsenceReason::Failed);
                rows.insert(key.clone(), Row { key, entries, absence, reason: None });
            }
        }
        for (key, absence) in matrix.iter().flat_map(|matrix| absent(group, matrix)) {
            let empty_row =
                |key: &Key<'a>| Row { key: key.clone(), entries: Vec::new(), absence: None, reason: None };
            rows.entry(key).or_insert_with_key(empty_row).absence = Some(absence);
        }
        add_reasons(merged, &merged.groups[group], &mut rows);
        all_rows.extend(rows.into_values());
    }
    all_rows
}

/// Adds why cells were left out, or what unsupported ones report.
fn add_reasons<'a>(merged: &Merged<'_>, group: &'a Group<'a>, rows: &mut BTreeMap<Key<'a>, Row<'a>>) {
    let layout = &merged.layout;
    let omitted = group.left_out.iter();
    let left_out: BTreeMap<(Position, Cow<'_, str>), &LeftOutReason> =
        omitted.map(|o| ((layout.position(&o.cell), layout.contestant(&o.cell)), o.reason)).collect();
    for row in rows.values_mut() {
        let Key { position, store, .. } = row.key.clone();
        row.reason = match row.absence {
            Some(AbsenceReason::LeftOut | AbsenceReason::NotApplicable) => {
                left_out.get(&(position, store)).map(|reason| reason.to_string().into())
            }
            Some(AbsenceReason::Unsupported) => {
                row.entries.iter().find_map(|entry| match &entry.trial.outcome {
                    Outcome::Unsupported { message } => Some(message.as_str().into()),
                    _ => None,
                })
            }
            Some(AbsenceReason::NotRanked) => {
                row.entries.iter().find_map(Entry::not_ranked).map(Cow::Borrowed)
            }
            _ => None,
        };
    }
}

/// The contestants without a figure.
fn absent<'k>(group: usize, matrix: &Matrix) -> impl Iterator<Item = (Key<'k>, AbsenceReason)> {
    let key =
        move |position: Position, store: &str| Key { group, position, store: Cow::Owned(store.to_owned()) };
    matrix.absent().into_iter().map(move |(position, absent)| (key(position, &absent.store), absent.why))
}

/// The cells as columns; values are indices into the page's lists.
#[derive(Debug, Default, Serialize)]
pub struct Cells {
    group: Vec<usize>,
    store: Vec<Option<usize>>,
    /// The values on the axes within a matrix, by the axes' names.
    at: IndexMap<&'static str, Vec<Option<usize>>>,
    /// Trials that succeeded.
    succeeded: Vec<usize>,
    trials: Vec<usize>,
    /// Why there is no ranked figure; empty if there is one.
    why: Vec<&'static str>,
    /// The index of the reason among the page's reasons, if known.
    reason: Vec<Option<usize>>,
}

impl Cells {
    /// Turns rows into columns.
    pub fn new(rows: &[Row<'_>], stores: &IndexSet<&str>, axes: &Axes, reasons: &IndexSet<String>) -> Cells {
        let at = axes.numbers(rows.iter().map(|row| &row.key.position));
        let mut cells = Cells { at, ..Cells::default() };
        for row in rows {
            cells.group.push(row.key.group);
            cells.store.push(stores.get_index_of(&*row.key.store));
            cells.succeeded.push(row.succeeded());
            cells.trials.push(row.entries.len());
            cells.why.push(row.absence.map_or("", AbsenceReason::name));
            cells.reason.push(row.reason.as_deref().and_then(|reason| reasons.get_index_of(reason)));
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use storebench_core::result::LeftOutCell;

    use super::*;
    use crate::data::matrix::matrix;
    use crate::data::samples::{Sample, run};

    #[test]
    fn what_was_left_out_or_unsupported_has_its_reason() {
        let mut run = run("box", &[Sample::new("lmdb"), Sample::new("unqlite").unsupported("not built")]);
        let cell = Sample::new("redb").cell();
        run.header
            .left_out
            .push(LeftOutCell { cell, reason: LeftOutReason::Sentence("does not offer it".into()) });
        let runs = [run];
        let merged = Merged::new(&runs, &[]);
        let matrices: Vec<_> = merged.groups.iter().map(|group| matrix(&merged, group)).collect();
        let rows = rows(&merged, &matrices);
        let reasons: Vec<(&str, Option<&str>)> =
            rows.iter().map(|row| (&*row.key.store, row.reason.as_deref())).collect();
        assert_eq!(
            reasons,
            [("lmdb", None), ("redb", Some("does not offer it")), ("unqlite", Some("not built"))]
        );
    }

    #[test]
    fn a_workload_that_ranks_no_memory_says_why_cells_are_empty() {
        let mut run = run("box", &[Sample::new("lmdb"), Sample::new("unqlite").unsupported("no O_DIRECT")]);
        run.header.plan = "workload = \"device\"".into();
        let cell = Sample::new("redb").cell();
        run.header.left_out.push(LeftOutCell { cell, reason: LeftOutReason::Sentence("too large".into()) });
        let runs = [run];
        let merged = Merged::new(&runs, &[]);
        let matrices: Vec<_> = merged.groups.iter().map(|group| matrix(&merged, group)).collect();
        let absences: Vec<Option<AbsenceReason>> =
            rows(&merged, &matrices).iter().map(|row| row.absence).collect();
        assert_eq!(absences, [None, Some(AbsenceReason::LeftOut), Some(AbsenceReason::Unsupported)]);
    }

    #[test]
    fn a_build_that_is_not_ranked_has_its_reason_and_its_trials() {
        let runs = [run("box", &[Sample::new("lmdb"), Sample::new("rocksdb").distributed(true)])];
        let merged = Merged::new(&runs, &[]);
        let matrices: Vec<_> = merged.groups.iter().map(|group| matrix(&merged, group)).collect();
        let rows = rows(&merged, &matrices);
        let summarize =
            |row: &Row<'_>| (row.absence, row.reason.clone().map(Cow::into_owned), row.succeeded());
        assert_eq!(summarize(&rows[0]), (None, None, 1));
        let not_ranked = (Some(AbsenceReason::NotRanked), Some("built with assertions".into()), 1);
        assert_eq!(summarize(&rows[1]), not_ranked);
    }
}
