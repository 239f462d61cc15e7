//! The cells of the page: one for each contestant at each place of each matrix, including those without a figure.

use std::borrow::Cow;
use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;
use storebench_figures::data::matrix::{AbsenceReason, Matrix, SortedTrials};
use storebench_figures::data::merge::{Entry, Group, Merged};
use storebench_figures::layout::Position;
use storebench_model::result::{LeftOutReason, Outcome};

use super::axes::Axes;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key<'a> {
    pub group: usize,
    pub position: Position,
    /// The contestant: the store, unless something else is compared.
    pub store: Cow<'a, str>,
}

#[derive(Debug)]
pub struct Row<'a> {
    pub key: Key<'a>,
    /// Its trials; empty if it was left out or not run.
    pub entries: Vec<Entry<'a>>,
    pub absence: Option<AbsenceReason>,
    pub reason: Option<Cow<'a, str>>,
}

impl Row<'_> {
    pub fn succeeded(&self) -> usize {
        self.entries.iter().filter(|entry| entry.trial.ok().is_some()).count()
    }
}

pub fn rows<'a>(merged: &'a Merged<'a>, matrices: &[Option<Matrix>]) -> Vec<Row<'a>> {
    let mut all_rows = Vec::new();
    for (group, matrix) in matrices.iter().enumerate() {
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
        omitted.map(|o| ((layout.position(&o.cell), layout.contestant(&o.cell)), &o.reason)).collect();
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
    at: IndexMap<&'static str, Vec<Option<usize>>>,
    succeeded: Vec<usize>,
    trials: Vec<usize>,
    /// Why there is no ranked figure; empty if there is one.
    why: Vec<&'static str>,
    /// The index of the reason among the page's reasons, if known.
    reason: Vec<Option<usize>>,
}

impl Cells {
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
    use storebench_figures::data::matrix::matrix;
    use storebench_model::result::LeftOutCell;
    use storebench_samples::{Sample, run};

    use super::*;

    /// Why a cell has no figure, the reason, and its trials.
    type CellFacts = (Option<AbsenceReason>, String, usize);

    /// The cells of lmdb, of a store that was left out, if any, and of another.
    fn cells_of(plan: &str, other: Sample, left_out: Option<&str>) -> Vec<CellFacts> {
        let mut run = run("box", &[Sample::new("lmdb"), other]);
        run.header.plan = plan.into();
        run.header.left_out.extend(left_out.map(|reason| LeftOutCell {
            cell: Sample::new("redb").cell(),
            reason: LeftOutReason::Sentence(reason.into()),
        }));
        let runs = [run];
        let merged = Merged::new(&runs, &[]);
        let matrices: Vec<_> = merged.groups.iter().map(|group| matrix(&merged, group)).collect();
        let reason = |row: &Row<'_>| row.reason.clone().unwrap_or_default().into_owned();
        let rows = rows(&merged, &matrices);
        rows.iter().map(|row| (row.absence, reason(row), row.succeeded())).collect()
    }

    #[test]
    fn what_has_no_ranked_figure_has_its_reason() {
        let crud = "name = \"crud\"\n";
        let unsupported = || Sample::new("unqlite").unsupported("not built");
        let lmdb: CellFacts = (None, String::new(), 1);
        let left_out: CellFacts = (Some(AbsenceReason::LeftOut), "too large".into(), 0);
        let unqlite: CellFacts = (Some(AbsenceReason::Unsupported), "not built".into(), 0);
        let cells = cells_of(crud, unsupported(), Some("too large"));
        assert_eq!(cells, [lmdb.clone(), left_out.clone(), unqlite.clone()]);
        let of_a_device = cells_of("workload = \"device\"", unsupported(), Some("too large"));
        let absences: Vec<_> = of_a_device.iter().map(|(absence, ..)| *absence).collect();
        assert_eq!(absences, [lmdb.0, left_out.0, unqlite.0]);
        let not_ranked: CellFacts = (Some(AbsenceReason::NotRanked), "built with assertions".into(), 1);
        assert_eq!(cells_of(crud, Sample::new("rocksdb").distributed(true), None), [lmdb, not_ranked]);
    }
}
