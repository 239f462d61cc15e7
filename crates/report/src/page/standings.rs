//! The page's first screen: the first lines of every output, a chart of all stores, and their table.

use std::collections::BTreeSet;
use storebench_figures::data::names::palette_position;
use storebench_figures::stats::Interval;

use super::group_address;
use crate::brief::{self, Lines};
use crate::markup::{
    Html, Tag, column, escape_fragment, note, number, p, row as table_row, scroll, small,
    table as html_table, tag,
};
use crate::report::Report;
use crate::standings::{Mark, Row, RowFigure, Standings, Table, are_short};
use crate::terminal;
use storebench_model::axis::Role;

/// Bars end at this multiple of the best; longer ones are cut off.
const MAX_RATIO: f64 = 10.0;

const LEGEND: &str = "*: take this one. ≈: too close to call with it; of these the safest is named first, then the smallest. Rows: by the geometric \
    mean over the operations, which is no verdict. Lines on bars: 95 % intervals; a bar that fades is longer. Bold figures: best of their column, or \
    too close to call. disk: bytes for each byte of values.";

/// The lines; and if the tables are short, each with its chart.
pub fn html(report: &Report<'_>) -> Html {
    let Lines { first, danger, last } = brief::build_lines(report);
    let line = |line: String| p(line).class("line");
    let first: Vec<Tag> = first.into_iter().map(line).collect();
    let lines = Html::new((first, danger.map(|danger| p(danger).class("alert soft")), last.map(line)));
    if !are_short(report.standings(), report) {
        return lines;
    }
    let mut mentioned = BTreeSet::new();
    let mut groups = Vec::new();
    for standings in report.standings() {
        groups.extend(standings.tables.iter().map(|table| draw_table(standings, table, &mut mentioned)));
    }
    Html::new((lines, groups, note(LEGEND)))
}

fn draw_table(standings: &Standings, table: &Table, mentioned: &mut BTreeSet<String>) -> Tag {
    let operations = standings.figures.iter().enumerate().filter(|(_, figure)| figure.is_of_operations());
    let panels: Vec<Tag> =
        operations.map(|(place, figure)| panel(&figure.name, standings, table, place)).collect();
    let is_known = table.rows.iter().any(|row| row.power_cut.is_some());
    let figures = standings.figures.iter().map(|figure| column(terminal::standings::head(figure)).class("n"));
    let last = is_known.then(|| column("a power cut").class("wide"));
    let heads = [column("store")].into_iter().chain(figures).chain(last).collect();
    let rows: Vec<Tag> = table.rows.iter().map(|row| draw_row(standings, row, is_known)).collect();
    let riskier: Vec<&Row> = table.rows.iter().filter(|row| row.is_riskier).collect();
    tag("section").class("standings").with((
        tag("h3").with(standings.title(table)),
        tag("div").class("panels").with(panels),
        scroll(html_table(heads, rows))
            .attr("tabindex", "0")
            .attr("role", "region")
            .attr("aria-label", "All stores"),
        (!riskier.is_empty()).then(|| note(standings.risks(&riskier, mentioned))),
        table.unfilled.as_deref().map(note),
    ))
}

fn panel(name: &str, standings: &Standings, table: &Table, place: usize) -> Tag {
    let figures = || table.rows.iter().filter_map(|row| row.figures.get(place)?.as_ref());
    let values = || figures().map(|row_figure| row_figure.figure.mean.value);
    let (lowest, highest) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let end = highest.min(lowest * MAX_RATIO);
    let percent = |value: f64| (value / end * 100.0).clamp(0.0, 100.0);
    let bars: Vec<Tag> = table
        .rows
        .iter()
        .filter_map(|row| {
            let row_figure = row.figures.get(place)?.as_ref()?;
            let value = row_figure.figure.mean.value;
            let bar = tag("b").attr("style", format!("width:{:.1}%", percent(value)));
            let bar = if value > end { bar.class("cut") } else { bar };
            let interval = row_figure.figure.mean.interval;
            let interval = interval.filter(|interval| !interval.is_range() && interval.low < end);
            let whisker = interval.map(|Interval { low, high, .. }| {
                let (low, high) = (percent(low), percent(high));
                tag("i").attr("style", format!("left:{low:.1}%;width:{:.1}%", high - low))
            });
            let unit = standings.figures.get(place)?.unit;
            let track = tag("span").class("track").with((bar, whisker));
            let colour = format!("--c:var(--c{})", palette_position(&row.store));
            let parts =
                (tag("span").class("who").with(store_name(row)), track, tag("span").with(unit.show(value)));
            Some(tag("div").class("bar").attr("style", colour).with(parts))
        })
        .collect();
    // Links to the row of the matrix, which has the deciding rule and all figures.
    let values = table.at.values_by_role(Role::Row);
    let parts: Vec<&str> =
        std::iter::once(name).chain(values.values().map(|(_, value)| value.text())).collect();
    let target =
        format!("#{}&mark={}&go=winners", group_address(&standings.key), escape_fragment(&parts.join("|")));
    tag("figure").with((tag("figcaption").with(tag("a").attr("href", target).with(name)), bars))
}

fn store_name(row: &Row) -> Html {
    match (row.mark, row.is_riskier) {
        (_, true) => Html::new((row.store.as_str(), " ", small("riskier"))),
        (Mark::Best, _) => Html::new(("* ", tag("strong").with(row.store.as_str()))),
        (Mark::Close, _) => Html::new(("≈ ", row.store.as_str())),
        (Mark::None, _) => Html::new(row.store.as_str()),
    }
}

fn draw_row(standings: &Standings, row: &Row, is_known: bool) -> Tag {
    let cell = |(figure, row_figure): (&storebench_figures::data::matrix::Figure, &Option<RowFigure>)| {
        let Some(row_figure) = row_figure else { return number("-") };
        let text = figure.unit.show(row_figure.figure.mean.value);
        if row_figure.wins { number(tag("strong").with(text)) } else { number(text) }
    };
    let cells: Vec<Tag> = standings.figures.iter().zip(&row.figures).map(cell).collect();
    let cut = row.power_cut.map_or_else(|| "is not known".to_owned(), |loss| loss.to_string());
    let short = is_known.then(|| small(terminal::standings::cost(row)).class("narrow"));
    table_row((store_name(row), short), (cells, is_known.then(|| tag("td").class("wide").with(cut))))
}
