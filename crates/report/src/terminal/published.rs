//! Published tables in the terminal, compared with the run's matrices.

use anstyle::{AnsiColor, Style as Paint};
use storebench_figures::claims::{Outcome, Scope};
use storebench_figures::column::Unit;
use storebench_figures::data::findings::{label, mixed_tiers};
use storebench_figures::data::merge::Merged;
use storebench_figures::data::names::HEADING;
use storebench_figures::data::published::{
    PublishedCell, TableComparison, compare_tables, describe_agreement,
};
use storebench_figures::published::Table;
use storebench_model::cell::Data;
use storebench_model::units::{CountRange, with_commas};

use crate::terminal::grid::{Grid, Item, Style, wrap};

const LEGEND: &str = "Each cell names this run's best of the table's stores and its figure, below it the published one: = the \
                      same, ~ too close to call with this run's best, x another. Agreement counts = and ~.";

/// The tables, or the one of this name, compared with matching groups.
pub fn text(merged: &Merged<'_>, name: Option<&str>, style: Style) -> String {
    let comparisons = compare_tables(merged, name);
    if comparisons.is_empty() {
        return wrap(
            "No published table was measured like this run, with the same load in the background. Name one to see it beside \
             this run all the same.",
            style.width,
            "  ",
        );
    }
    let mut out = String::new();
    for table in &merged.tables {
        let matching: Vec<&TableComparison<'_>> =
            comparisons.iter().filter(|comparison| std::ptr::eq(comparison.table, table)).collect();
        if !matching.is_empty() {
            out.push_str(&table_text(merged, table, &matching, style));
            out.push('\n');
        }
    }
    out.push_str(&wrap(LEGEND, style.width, "  "));
    let scopes: Vec<&Scope> = comparisons.iter().map(|comparison| &comparison.scope).collect();
    if let Some(note) = mixed_tiers(&scopes) {
        out.push_str(&wrap(note, style.width, "  "));
    }
    out
}

fn table_text(
    merged: &Merged<'_>,
    table: &Table,
    comparisons: &[&TableComparison<'_>],
    style: Style,
) -> String {
    let heading = format!("Published table {}: {}", table.name, table.title);
    let mut out = style.paint(HEADING, wrap(&heading, style.width, "  ").trim_end()) + "\n";
    for line in [&table.source, &table.hardware].into_iter().chain(&table.notes) {
        out.push_str(&wrap(&format!("  {line}"), style.width, "    "));
    }
    let mut has_grid = false;
    for comparison in comparisons {
        let label = label(merged, &comparison.scope);
        let line = format!("{label}: {}", describe_agreement(comparison.agreement()));
        out.push_str(&format!("\n{}", wrap(&line, style.width, "  ")));
        if comparison.places.iter().any(|cell| cell.found.is_some()) {
            out.push_str(&grid(comparison).render(style));
            has_grid = true;
        }
    }
    if !has_grid {
        out.push_str(&wrap(&suggest_run(table), style.width, "  "));
    }
    out
}

fn suggest_run(table: &Table) -> String {
    let records: Vec<String> = table.records.iter().map(|records| records.from.to_string()).collect();
    format!("The table has {} records: run the study with --records.", records.join(", "))
}

fn grid(comparison: &TableComparison<'_>) -> Grid {
    let measured = || comparison.places.iter().filter(|cell| cell.found.is_some());
    let mut columns: Vec<(Data, CountRange)> = measured().map(|cell| (cell.data, cell.records)).collect();
    columns.sort_unstable();
    columns.dedup();
    let mut grid = Grid::new(2);
    let mut kinds = vec![Item::new(""), Item::new("")];
    let mut counts = vec![Item::new(""), Item::new("records")];
    for (position, (data, records)) in columns.iter().enumerate() {
        let first = position == 0 || columns[position - 1].0 != *data;
        kinds.push(Item::new(if first { data.name() } else { "" }).painted(HEADING));
        counts.push(Item::new(with_commas(records.from)));
    }
    grid.head(kinds);
    grid.head(counts);
    for rows in comparison.table.rows.chunk_by(|a, b| a.figure == b.figure) {
        let mut lines = Vec::new();
        for row in rows.iter().filter(|row| measured().any(|cell| std::ptr::eq(cell.row, *row))) {
            let name = if lines.is_empty() { row.figure.as_str() } else { "" };
            let labels = [Item::new(name).painted(HEADING), Item::new(row.record_size.to_string())];
            let places = columns.iter().map(|(data, records)| {
                let in_row = comparison.places.iter().filter(|cell| std::ptr::eq(cell.row, row));
                let mut cells = in_row.filter(|cell| cell.data == *data && cell.records == *records);
                cells.next().map_or_else(|| Item::new(""), place_item)
            });
            lines.push(labels.into_iter().chain(places).collect());
        }
        if !lines.is_empty() {
            grid.group(lines);
        }
    }
    grid
}

fn place_item(cell: &PublishedCell<'_>) -> Item {
    let unit = if cell.row.figure == "space" { Unit::Share } else { Unit::Nanoseconds };
    let (ours, sign, paint) = match &cell.found {
        None => ("not run".to_owned(), ' ', Paint::new().dimmed()),
        Some(found) => {
            let best = found.shown.first();
            let best = best.map_or("none".into(), |best| format!("{} {}", best.who, unit.show(best.value)));
            match found.outcome {
                Outcome::Agrees => (best, '=', Paint::new().fg_color(Some(AnsiColor::Green.into()))),
                Outcome::Close => (best, '~', Paint::new().fg_color(Some(AnsiColor::Yellow.into()))),
                Outcome::Disagrees => (best, 'x', Paint::new().fg_color(Some(AnsiColor::Red.into()))),
                Outcome::Missing => (best, '?', Paint::new().dimmed()),
            }
        }
    };
    Item::from_lines(vec![ours, format!("{sign} {}", cell.published.describe())]).painted(paint)
}
