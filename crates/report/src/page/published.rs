//! Published tables in the page, compared with the run's own places.

use storebench_figures::claims::Outcome;
use storebench_figures::column::Unit;
use storebench_figures::data::findings::label;
use storebench_figures::data::merge::Merged;
use storebench_figures::data::published::{
    PublishedCell, TableComparison, compare_tables, describe_agreement,
};
use storebench_figures::published::{Row, Table};
use storebench_model::cell::Data;
use storebench_model::units::{CountRange, with_commas};

use crate::markup::{
    BREAK, Html, Tag, column, folded, list, note, p, row as table_row, scroll, small, table as html_table,
    tag,
};

pub fn html(merged: &Merged<'_>) -> Html {
    let comparisons = compare_tables(merged, None);
    let (mut tables, mut empty) = (Vec::new(), Vec::new());
    for table in &merged.tables {
        let table_comparisons: Vec<&TableComparison<'_>> =
            comparisons.iter().filter(|comparison| std::ptr::eq(comparison.table, table)).collect();
        if table_comparisons.iter().any(|comparison| comparison.agreement().compared() > 0) {
            tables.push(section(merged, table, &table_comparisons));
        } else if !table_comparisons.is_empty() {
            empty.push(table.name.as_str());
        }
    }
    let incomparable = (!empty.is_empty()).then(|| {
        p(format!("Published tables that this run has nothing to compare with: {}.", empty.join(", ")))
    });
    if tables.is_empty() {
        return Html::new(incomparable);
    }
    let legend = "Each cell names this run’s best of the table’s stores and its figure, below it the published one: = the \
                  same, ≈ too close to call with this run’s best, ≠ another. A cell agrees where it is the same or too close \
                  to call.";
    Html::new((tag("h3").with("Published tables next to this run"), note(legend), tables, incomparable))
}

fn section(merged: &Merged<'_>, table: &Table, comparisons: &[&TableComparison<'_>]) -> Html {
    let groups: Vec<Tag> = comparisons.iter().map(|comparison| group(merged, comparison)).collect();
    let notes: Vec<&String> = [&table.source, &table.hardware].into_iter().chain(&table.notes).collect();
    Html::new((
        tag("h4").with((&table.name, ": ", &table.title)),
        folded("Source and notes", list(notes)),
        groups,
    ))
}

fn group(merged: &Merged<'_>, comparison: &TableComparison<'_>) -> Tag {
    let words =
        format!("{}: {}", label(merged, &comparison.scope), describe_agreement(comparison.agreement()));
    if comparison.places.iter().all(|place| place.found.is_none()) {
        return p(words);
    }
    folded(words, grid(comparison))
}

fn grid(comparison: &TableComparison<'_>) -> Tag {
    let compared_places = || comparison.places.iter().filter(|place| place.found.is_some());
    let mut columns: Vec<(Data, CountRange)> =
        compared_places().map(|place| (place.data, place.records)).collect();
    columns.sort_unstable();
    columns.dedup();
    let format_head =
        |(data, records): &(Data, CountRange)| column((data.name(), BREAK, with_commas(records.from)));
    let heads = std::iter::once(column("figure")).chain(columns.iter().map(format_head)).collect();
    let draw_row = |row: &Row| {
        let format_cell = |(data, records): &(Data, CountRange)| {
            let in_row = comparison.places.iter().filter(|place| std::ptr::eq(place.row, row));
            let mut places = in_row.filter(|place| place.data == *data && place.records == *records);
            places.next().map_or_else(|| tag("td"), cell)
        };
        let cells: Vec<Tag> = columns.iter().map(format_cell).collect();
        table_row(format!("{} {}", row.figure, row.record_size), cells)
    };
    let rows = comparison.table.rows.iter();
    let rows = rows.filter(|row| compared_places().any(|place| std::ptr::eq(place.row, *row)));
    scroll(html_table(heads, rows.map(draw_row).collect::<Vec<_>>()).class("beside"))
}

fn cell(place: &PublishedCell<'_>) -> Tag {
    let unit = if place.row.figure == "space" { Unit::Share } else { Unit::Nanoseconds };
    let best = place.found.as_ref().and_then(|found| found.shown.first());
    let ours = best.map_or("not run".into(), |best| format!("{} {}", best.who, unit.show(best.value)));
    let (sign, class) = match place.found.as_ref().map(|found| found.outcome) {
        Some(Outcome::Agrees) => ("=", "yes"),
        Some(Outcome::Close) => ("≈", "close"),
        Some(Outcome::Disagrees) => ("≠", "no"),
        Some(Outcome::Missing) => ("?", "none"),
        None => ("", "none"),
    };
    tag("td").class(class).with((ours, BREAK, small((sign, " ", place.published.describe()))))
}
