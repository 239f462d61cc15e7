//! A part of a report, built once: the terminal, the page, CSV, JSON and SQL each render its blocks. A table's rows are in the form
//! of files, one for each figure; [`view`] arranges them for people, according to the columns' definitions.

pub mod column;
pub mod view;

use serde::Serialize;

pub use self::column::{Column, ColumnRole, Kind};
use storebench_figures::column::Unit;
use storebench_figures::data::merge::Merged;
use storebench_figures::data::spread::describe_after;
use storebench_figures::stats::{Estimate, quantile};

/// An entry of the list of sections.
#[derive(Debug)]
pub struct Section {
    /// Its name: in the page's addresses, in JSON and on the command line.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its name in the page's list of sections.
    pub(crate) link: &'static str,
    pub(crate) stands: PagePosition,
    /// Whether it is shown at a run's end; a report always has it.
    pub(crate) at_end: bool,
    /// The shapes of its tables, in the order of their columns in CSV.
    pub shapes: &'static [&'static Shape],
    pub(crate) blocks: fn(&Merged<'_>) -> Vec<Block>,
}

impl Section {
    /// A section below the answer and at a run's end, to be filled.
    pub(crate) const ABOVE: Section = Section {
        name: "",
        title: "",
        link: "",
        stands: PagePosition::Above,
        at_end: true,
        shapes: &[],
        blocks: |_| Vec::new(),
    };
}

/// The place of a section in the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagePosition {
    /// Like [`PagePosition::Above`], before the others; in the terminal within the summary.
    First,
    /// Below the answer, also without scripts.
    Above,
    /// Below the filters, which select what its chart draws.
    Drawn,
    /// Within the page's own section of this name, next to its drawings.
    Within,
    /// Only in files: the terminal and the page have another form of it.
    InFiles,
}

impl PagePosition {
    pub(crate) fn page_part(self) -> PagePosition {
        if self == PagePosition::First { PagePosition::Above } else { self }
    }
}

/// The columns of a table, and its name in SQL and JSON.
#[derive(Debug)]
pub struct Shape {
    /// Its name.
    pub name: &'static str,
    /// Its columns.
    pub columns: &'static [Column],
}

/// A piece of a section.
#[derive(Debug)]
pub enum Block {
    /// A paragraph of supporting text.
    Note(String),
    /// Figures.
    Table(Table),
    /// A drawing of the page's scripts by name; one of several with the same name, by number.
    Chart(&'static str, usize),
    /// Blocks under a title, possibly folded.
    Fold(Fold),
}

/// Blocks under a title.
#[derive(Debug)]
pub struct Fold {
    pub(crate) title: String,
    pub(crate) open: FoldState,
    pub(crate) blocks: Vec<Block>,
}

/// When a fold is open. All are if everything is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoldState {
    /// One of several alike, by index: the page opens the first, the terminal the first few.
    Part(usize),
    /// The figures of a chart: the terminal has no charts.
    Figures,
    /// For a closer look.
    Closer,
}

impl Block {
    pub(crate) fn fold(title: impl Into<String>, open: FoldState, blocks: Vec<Block>) -> Block {
        Block::Fold(Fold { title: title.into(), open, blocks })
    }

    /// The tables in some blocks, folded ones included.
    pub(crate) fn tables(blocks: &[Block]) -> Vec<&Table> {
        let mut tables = Vec::new();
        for block in blocks {
            match block {
                Block::Table(table) => tables.push(table),
                Block::Fold(fold) => tables.extend(Block::tables(&fold.blocks)),
                Block::Note(_) | Block::Chart(..) => {}
            }
        }
        tables
    }
}

/// Rows of typed cells.
#[derive(Debug)]
pub struct Table {
    pub(crate) shape: &'static Shape,
    /// The values of its column [`ColumnRole::Across`] that people see, in order.
    pub(crate) heads: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

/// A row: a cell for each column of its table.
#[derive(Debug, Clone)]
pub struct Row {
    pub(crate) cells: Vec<Cell>,
    pub(crate) seen: Visibility,
}

/// Who sees a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// Everyone.
    Always,
    /// People only if everything is asked for; files always.
    Closer,
    /// Only files; people see its line without its figure.
    InFiles,
    /// Only people.
    ByPeople,
}

impl Table {
    pub(crate) fn new(shape: &'static Shape) -> Table {
        Table { shape, heads: Vec::new(), rows: Vec::new() }
    }

    /// Whether any row is visible to people.
    pub(crate) fn is_seen(&self) -> bool {
        self.rows.iter().any(|row| row.seen != Visibility::InFiles)
    }

    pub(crate) fn with_columns(self, heads: Vec<String>) -> Table {
        Table { heads, ..self }
    }

    /// Adds a row from cells by column name; other columns are empty.
    pub(crate) fn push(
        &mut self,
        visibility: Visibility,
        values: impl IntoIterator<Item = (&'static str, Cell)>,
    ) {
        let mut cells: Vec<Cell> = self.shape.columns.iter().map(|_| Cell::none()).collect();
        for (name, cell) in values {
            let index = self.shape.columns.iter().position(|column| column.id == name);
            debug_assert!(index.is_some(), "{} has no column {name}", self.shape.name);
            if let Some(slot) = index.and_then(|index| cells.get_mut(index)) {
                *slot = cell;
            }
        }
        self.rows.push(Row { cells, seen: visibility });
    }

    pub(crate) fn is_heat(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.cells).any(|cell| matches!(cell.tone, Tone::Heat(_)))
    }

    /// Whether people see a range of too few observations for an interval.
    pub(crate) fn has_ranges(&self) -> bool {
        let is_range = |(column, cell): (&Column, &Cell)| match &cell.value {
            Value::Estimate(Estimate { interval: Some(interval), .. }) => {
                column.kind == Kind::Estimate && interval.is_range() && interval.low < interval.high
            }
            _ => false,
        };
        self.rows.iter().any(|row| self.shape.columns.iter().zip(&row.cells).any(is_range))
    }

    /// The text of a column's first cell, by the column's name.
    pub(crate) fn first_word(&self, id: &str) -> Option<String> {
        let place = self.shape.columns.iter().position(|column| column.id == id)?;
        self.rows.first()?.cells.get(place)?.text_for_people(self.shape.columns[place].unit)
    }

    pub(crate) fn file_rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.seen != Visibility::ByPeople)
    }
}

/// A value in a table, with its form for people.
#[derive(Debug, Clone)]
pub struct Cell {
    pub(crate) value: Value,
    /// The words for people, if they differ from the value in its column's unit.
    shown: Option<String>,
    /// Below the value, in small letters.
    pub(crate) notes: Vec<String>,
    pub(crate) tone: Tone,
    /// Whether it is the best, or too close to call with it.
    pub(crate) best: bool,
    pub(crate) drawing: Option<Drawing>,
}

/// A change, drawn between -1 and 1: 0 is none.
#[derive(Debug, Clone, Copy)]
pub struct Drawing {
    pub(crate) value: f64,
    pub(crate) ends: Option<[f64; 2]>,
}

/// A typed value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// Unknown, or not applicable.
    None,
    /// Text.
    Text(String),
    /// Several texts.
    List(Vec<String>),
    /// A whole number.
    Whole(u64),
    /// A number.
    Real(f64),
    /// Yes or no.
    Truth(bool),
    /// A number with its interval.
    Estimate(Estimate),
}

/// The colour of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Tone {
    /// None.
    Plain,
    /// The colour of a store.
    Store(String),
    /// Green for 1, weaker for larger multiples of the map's smallest figure.
    Heat(f64),
    /// For a mark without a figure.
    Dim,
    /// A change for the worse.
    Worse,
    /// A change for the better.
    Better,
}

/// The mark of an insignificant 0.
pub(crate) const DASH: &str = "-";

impl Cell {
    fn from_value(value: Value) -> Cell {
        Cell { value, shown: None, notes: Vec::new(), tone: Tone::Plain, best: false, drawing: None }
    }

    pub(crate) fn none() -> Cell {
        Cell::from_value(Value::None)
    }

    pub(crate) fn text(text: impl Into<String>) -> Cell {
        Cell::from_value(Value::Text(text.into()))
    }

    pub(crate) fn list(texts: Vec<String>) -> Cell {
        Cell::from_value(Value::List(texts))
    }

    pub(crate) fn from_count(number: usize) -> Cell {
        Cell::count(number as u64)
    }

    pub(crate) fn count(number: u64) -> Cell {
        Cell::from_value(Value::Whole(number))
    }

    pub(crate) fn real(number: f64) -> Cell {
        Cell::from_value(Value::Real(number))
    }

    pub(crate) fn boolean(value: bool) -> Cell {
        Cell::from_value(Value::Truth(value))
    }

    pub(crate) fn estimate(estimate: Estimate) -> Cell {
        Cell::from_value(Value::Estimate(estimate))
    }

    pub(crate) fn or_none<T>(value: Option<T>, make: impl Fn(T) -> Cell) -> Cell {
        value.map_or_else(Cell::none, make)
    }

    /// A quantile of measured whole numbers, as a number; empty if there are none.
    pub(crate) fn quantile(values: &[u64], share: f64) -> Cell {
        Cell::or_none(quantile(values, share), |value| Cell::real(value as f64))
    }

    pub(crate) fn with_text(self, text: impl Into<String>) -> Cell {
        Cell { shown: Some(text.into()), ..self }
    }

    /// A number that people see as a dash if it is 0; a column of dashes is hidden.
    pub(crate) fn whole_unless_0(number: u64) -> Cell {
        let cell = Cell::count(number);
        if number == 0 { cell.with_text(DASH) } else { cell }
    }

    pub(crate) fn tone(self, tone: Tone) -> Cell {
        Cell { tone, ..self }
    }

    pub(crate) fn with_notes(self, notes: Vec<String>) -> Cell {
        Cell { notes, ..self }
    }

    /// The cell, marked if it is the best.
    pub(crate) fn best(self, best: bool) -> Cell {
        Cell { best, ..self }
    }

    pub(crate) fn with_drawing(self, drawing: Drawing) -> Cell {
        Cell { drawing: Some(drawing), ..self }
    }

    /// A store's name, in its colour.
    pub(crate) fn store(name: &str, shown: impl Into<String>) -> Cell {
        Cell::text(name).with_text(shown).tone(Tone::Store(name.to_owned()))
    }

    /// The words for people in a column of this unit; `None` for an empty cell.
    pub(crate) fn text_for_people(&self, unit: Unit) -> Option<String> {
        self.shown.clone().or_else(|| self.value.text_for_people(unit))
    }
}

impl Value {
    fn text_for_people(&self, unit: Unit) -> Option<String> {
        Some(match self {
            Value::None => return None,
            Value::Text(text) => text.clone(),
            Value::List(texts) => texts.join(", "),
            Value::Whole(number) => storebench_model::units::with_commas(*number),
            Value::Real(number) => unit.show(*number),
            Value::Truth(truth) => if *truth { "yes" } else { "no" }.to_owned(),
            Value::Estimate(Estimate { value, interval }) => {
                unit.show(*value) + &describe_after(*interval, |end| unit.show(end))
            }
        })
    }

    /// The value in files: one, or an estimate's three, whose ends may be empty.
    pub(crate) fn file_values(&self, kind: Kind) -> Vec<Value> {
        match (kind, self) {
            (Kind::Estimate, Value::Estimate(Estimate { value, interval })) => {
                let end = |end: Option<f64>| end.map_or(Value::None, Value::Real);
                let ends = [interval.map(|interval| interval.low), interval.map(|interval| interval.high)];
                std::iter::once(Value::Real(*value)).chain(ends.map(end)).collect()
            }
            (Kind::Estimate, _) => vec![Value::None; 3],
            (_, value) => vec![value.clone()],
        }
    }
}
