//! Faults of the disk, and their effects on each store.

use storebench_figures::data::matrix::collect_by_store;
use storebench_figures::data::merge::Merged;
use storebench_figures::data::names::join_parts;
use storebench_model::result::{FaultCheck, FaultKind, FaultOutcome, FaultResults};

use super::store_rows::head_cells;
use crate::section::{Block, Cell, Column, ColumnRole, FoldState, Section, Shape, Table, Visibility};

pub const SECTION: Section = Section {
    name: "faults",
    title: "Faults of the disk: what each store said, and what it kept",
    link: "Faults",
    shapes: &[&FAULTS],
    blocks,
    ..Section::ABOVE
};

const FAULTS: Shape = Shape {
    name: "faults",
    columns: &[
        Column::text("hardware"),
        Column::text("title").role(ColumnRole::Group, ""),
        Column::text("store").role(ColumnRole::Line, ""),
        Column::text("fault").role(ColumnRole::Line, ""),
        Column::integer("trials"),
        Column::integer("struck").role(ColumnRole::Line, "struck"),
        Column::integer("unharmed").role(ColumnRole::Line, "unharmed"),
        Column::integer("reported").role(ColumnRole::Line, "said no"),
        Column::integer("refused").role(ColumnRole::Line, "refused"),
        Column::integer("silent").role(ColumnRole::Line, "silent"),
        Column::integer("crashed").role(ColumnRole::Line, "crashed"),
        Column::integer("hung").role(ColumnRole::Line, "hung"),
        Column::integer("file_system").role(ColumnRole::Line, "not mounted"),
        Column::text("message"),
        Column::text("not_made"),
    ],
};

const LEGEND: &str = "\
Each fault struck a disk on which the store took 300 steps, or opened and read them (reads, bits). struck: faults that did strike; unharmed: \
no call failed, and all that was acknowledged is there; said no: a call failed, and all that was acknowledged is there; refused: the store \
does not open or work any more, and says so; silent: acknowledged data is missing or wrong, without a word.";

/// The faults of a store over the trials of a group.
#[derive(Default)]
struct StoreFaults {
    faults: FaultResults,
    /// The trials with faults.
    trials: usize,
    /// Why others have none.
    not_made: Option<String>,
}

impl StoreFaults {
    fn add(&mut self, check: &FaultCheck) {
        match check {
            FaultCheck::Made(faults) => {
                self.trials += 1;
                self.faults.add(faults);
            }
            FaultCheck::NotMade { reason } => self.not_made = Some(reason.clone()),
        }
    }
}

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    let (mut table, mut notes) = (Table::new(&FAULTS), Vec::new());
    for group in &merged.groups {
        let title = join_parts([group.key.hardware.as_str(), &merged.label(&group.key)]);
        for (store, checks) in collect_by_store(merged, group, |trial| trial.ok()?.fault_check.as_ref()) {
            let mut store_faults = StoreFaults::default();
            checks.into_iter().for_each(|check| store_faults.add(check));
            let name = merged.readable.name(&store).into_owned();
            let head = |kind: &str| {
                let head = head_cells(group, Cell::text(&title), Cell::store(&store, name.clone()));
                head.into_iter().chain([
                    ("fault", Cell::text(kind)),
                    ("trials", Cell::from_count(store_faults.trials)),
                    ("not_made", Cell::or_none(store_faults.not_made.as_deref(), Cell::text)),
                ])
            };
            if store_faults.trials == 0 {
                table.push(Visibility::Always, head("none"));
                notes.extend(
                    store_faults.not_made.iter().map(|why| Block::Note(format!("{name}: no faults: {why}."))),
                );
            }
            for kind in store_faults.faults.found.keys() {
                table.push(Visibility::Always, head(kind.describe()).chain(row(&store_faults, *kind)));
            }
            let silent = store_faults.faults.silent.iter();
            notes.extend(silent.map(|silent| {
                Block::Note(format!("{name}, {}: silent: {}.", silent.kind.describe(), silent.message))
            }));
        }
    }
    if table.rows.is_empty() {
        return Vec::new();
    }
    vec![Block::Table(table), Block::fold("In words", FoldState::Part(0), notes), Block::Note(LEGEND.into())]
}

fn row(store_faults: &StoreFaults, kind: FaultKind) -> Vec<(&'static str, Cell)> {
    let count_cell = |aftermath| Cell::whole_unless_0(store_faults.faults.count(kind, aftermath));
    let struck = FaultOutcome::ALL.iter().map(|aftermath| store_faults.faults.count(kind, *aftermath)).sum();
    let silent = store_faults.faults.silent.iter().find(|silent| silent.kind == kind);
    vec![
        ("struck", Cell::count(struck)),
        ("unharmed", count_cell(FaultOutcome::Unharmed)),
        ("reported", count_cell(FaultOutcome::Reported)),
        ("refused", count_cell(FaultOutcome::Refused)),
        ("silent", count_cell(FaultOutcome::Silent)),
        ("crashed", count_cell(FaultOutcome::Crashed)),
        ("hung", count_cell(FaultOutcome::Hung)),
        ("file_system", count_cell(FaultOutcome::FileSystem)),
        ("message", Cell::or_none(silent, |silent| Cell::text(&silent.message))),
    ]
}
