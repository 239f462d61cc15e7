//! The figures of a comparison as tables, which each output prints like the tables of sections.

use storebench_figures::column::Unit;

use super::words::{self, Axes};
use super::{FigureChange, Verdict};
use crate::section::{Cell, Column, ColumnRole, Drawing, Shape, Table, Tone, Visibility};
use crate::terminal::grid::wrap;

const fn text(id: &'static str, title: &'static str) -> Column {
    Column::text(id).role(ColumnRole::Line, title)
}

const fn number(id: &'static str, title: &'static str) -> Column {
    Column::real(id, Unit::Count).role(ColumnRole::Line, title)
}

const VERDICT: Column = Column::text("verdict").role(ColumnRole::Mark, "");
const CHANGE: Column = number("change", "change");
const INTERVAL: Column = number("interval", "95 % interval");
const SEEN: Column = number("seen", "seen");
const BASE: Column = number("base", "BASE");
const NEW: Column = number("new", "NEW");
const STORE: Column = text("store", "store");
const FIGURE: Column = text("figure", "figure");
const WHERE: Column = text("where", "where");

/// A line for each figure.
pub const LINES: Shape =
    Shape { name: "lines", columns: &[VERDICT, CHANGE, INTERVAL, SEEN, BASE, NEW, STORE, FIGURE, WHERE] };

/// Two lines or more for each figure.
pub const NARROW: Shape = Shape {
    name: "narrow",
    columns: &[
        VERDICT,
        text("change_below", "change"),
        text("sides", "BASE, NEW"),
        STORE,
        text("figure_below", "figure"),
    ],
};

/// A line for each figure with little room between heads.
pub const MARKDOWN: Shape = Shape {
    name: "markdown",
    columns: &[
        VERDICT,
        number("change_with_interval", "change [95 % interval]"),
        SEEN,
        BASE,
        NEW,
        STORE,
        FIGURE,
        WHERE,
    ],
};

/// A line for each figure, its change drawn.
pub const PAGE: Shape = Shape {
    name: "page",
    columns: &[VERDICT, STORE, FIGURE, WHERE, CHANGE, INTERVAL, text("drawing", ""), SEEN, BASE, NEW],
};

/// What a table's cells need besides their figure.
pub struct Changes<'a> {
    pub axes: &'a Axes,
    /// The ends of drawings on either side, as a logarithm.
    pub reach: f64,
    /// The width left for the place of a figure in the terminal, if that is no column: 0 for none.
    pub room: usize,
}

impl Changes<'_> {
    pub fn table(&self, shape: &'static Shape, figures: &[FigureChange]) -> Table {
        let mut table = Table::new(shape);
        for figure in figures {
            table.push(
                Visibility::Always,
                shape.columns.iter().map(|column| (column.id, self.cell(column.id, figure))),
            );
        }
        table
    }

    fn cell(&self, column: &str, figure: &FigureChange) -> Cell {
        let tone = match figure.verdict {
            Verdict::Worse => Tone::Worse,
            Verdict::Better => Tone::Better,
            Verdict::Unclear | Verdict::TooFew | Verdict::NoRatio => Tone::Plain,
        };
        let [base, new] = [figure.base, figure.new].map(|side| figure.unit.show(side.mean.value));
        let interval = || words::interval(figure).unwrap_or_default();
        Cell::text(match column {
            "verdict" => return Cell::text(figure.verdict.name()).tone(tone),
            "store" => return Cell::store(&figure.contestant, figure.contestant.as_str()),
            "drawing" => {
                let Some(change) = figure.change else { return Cell::text("").tone(tone) };
                let position_of = |ratio: f64| (ratio.ln() / self.reach).clamp(-1.0, 1.0);
                let ends = change.ratio.interval;
                let ends = ends.map(|interval| [interval.low, interval.high].map(position_of));
                let drawing = Drawing { value: position_of(change.ratio.value), ends };
                return Cell::text(words::change(figure)).with_drawing(drawing).tone(tone);
            }
            "change" => words::estimate(figure),
            "interval" => interval(),
            "change_with_interval" => words::change(figure),
            "change_below" => {
                let seen = (!figure.is_significant()).then(|| format!("seen: {}", words::detectable(figure)));
                let lines = [Some(words::estimate(figure)), Some(interval()), seen];
                lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
            }
            "seen" => words::detectable(figure),
            "base" => base,
            "new" => new,
            "sides" => format!("{base}\n{new}"),
            "figure" => words::name(figure),
            "figure_below" if self.room == 0 => String::new(),
            "figure_below" => {
                let place = wrap(&self.axes.describe_cell(figure), self.room, "");
                format!("{}\n{}", words::name(figure), place.trim_end())
            }
            _ => self.axes.describe_cell(figure),
        })
    }
}
