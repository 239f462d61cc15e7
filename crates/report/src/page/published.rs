//! Published tables in the page, beside what the run has in the same places.

use storebench_core::cell::Data;
use storebench_core::units::{CountRange, grouped};

use super::markup::{element, escape, list};
use crate::claims::Outcome;
use crate::column::Unit;
use crate::data::findings::label;
use crate::data::merge::Merged;
use crate::data::published::{Beside, Place, beside, in_words};
use crate::published::Table;

/// The section's content; nothing where no table comes with the study.
pub fn html(merged: &Merged<'_>) -> String {
    let all = beside(merged, None);
    let of_table = |table: &Table| {
        let here: Vec<&Beside<'_>> = all.iter().filter(|beside| std::ptr::eq(beside.table, table)).collect();
        if here.is_empty() { String::new() } else { section(merged, table, &here) }
    };
    let tables: String = merged.tables.iter().map(of_table).collect();
    if tables.is_empty() {
        return String::new();
    }
    format!(
        "<h3>Published tables beside this run</h3><p class=\"note\">Each cell names this run’s best of the table’s stores \
         and its figure, below it the published one: = the same, ≈ too close to call with this run’s best, ≠ another. A cell \
         agrees where it is the same or too close to call.</p>{tables}"
    )
}

fn section(merged: &Merged<'_>, table: &Table, here: &[&Beside<'_>]) -> String {
    let groups: String = here.iter().map(|beside| group(merged, beside)).collect();
    let notes: Vec<String> =
        [&table.source, &table.hardware].into_iter().chain(&table.notes).map(|note| escape(note)).collect();
    format!(
        "{}<details><summary>Where it comes from, and what to know of it</summary>{}</details>{groups}",
        element("h4", &format!("{}: {}", table.name, table.title)),
        list(&notes)
    )
}

fn group(merged: &Merged<'_>, beside: &Beside<'_>) -> String {
    let words = escape(&format!("{}: {}", label(merged, &beside.scope), in_words(beside.agreement())));
    if beside.places.iter().all(|place| place.found.is_none()) {
        return format!("<p>{words}</p>");
    }
    format!("<details><summary>{words}</summary>{}</details>", grid(beside))
}

/// The rows and columns of the table of which the run has any place.
fn grid(beside: &Beside<'_>) -> String {
    let found = || beside.places.iter().filter(|place| place.found.is_some());
    let mut columns: Vec<(Data, CountRange)> = found().map(|place| (place.data, place.records)).collect();
    columns.sort_unstable();
    columns.dedup();
    let heads: String = columns
        .iter()
        .map(|(data, records)| {
            format!("<th scope=\"col\">{}<br>{}</th>", escape(data.name()), grouped(records.from))
        })
        .collect();
    let rows: String = beside
        .table
        .rows
        .iter()
        .filter(|row| found().any(|place| std::ptr::eq(place.row, *row)))
        .map(|row| {
            let at = |(data, records): &(Data, CountRange)| {
                let place = beside.places.iter().find(|place| {
                    std::ptr::eq(place.row, row) && place.data == *data && place.records == *records
                });
                place.map_or_else(|| "<td></td>".into(), cell)
            };
            let cells: String = columns.iter().map(at).collect();
            let name = escape(&format!("{} {}", row.figure, row.record_size));
            format!("<tr><th scope=\"row\">{name}</th>{cells}</tr>")
        })
        .collect();
    format!(
        "<div class=\"scroll\"><table class=\"beside\"><thead><tr><th scope=\"col\">figure</th>{heads}</tr></thead>\
         <tbody>{rows}</tbody></table></div>"
    )
}

fn cell(place: &Place<'_>) -> String {
    let unit = if place.row.figure == "space" { Unit::Share } else { Unit::Nanoseconds };
    let published = escape(&place.published.in_words());
    let best = place.found.as_ref().and_then(|found| found.shown.first());
    let ours =
        best.map_or("not run".into(), |best| escape(&format!("{} {}", best.who, unit.show(best.value))));
    let (sign, class) = match place.found.as_ref().map(|found| found.outcome) {
        Some(Outcome::Agrees) => ("=", "yes"),
        Some(Outcome::Close) => ("≈", "close"),
        Some(Outcome::Disagrees) => ("≠", "no"),
        Some(Outcome::Missing) => ("?", "none"),
        None => ("", "none"),
    };
    format!("<td class=\"{class}\">{ours}<br><small>{sign} {published}</small></td>")
}
