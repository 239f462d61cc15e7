//! The tables of stores in the terminal: within 80 columns for the operations of crud.

use std::collections::BTreeSet;

use anstyle::Style as Paint;
use storebench_figures::column::Unit;
use storebench_figures::data::matrix::Figure;
use storebench_figures::data::names::{HEADING, store_style};
use storebench_model::result::SPACE;
use storebench_model::store::Loss;
use storebench_model::units::{three_digits, with_commas};

use super::grid::{Grid, Item, Style, wrap};
use crate::standings::{HEIGHTS, Mark, Row, RowFigure, Standings};

const BARS: [char; HEIGHTS] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

pub const LEGEND: &str = "*: take this one. ≈: too close to call with it; of these the safest is named first, then the smallest. Rows: by the \
    geometric mean over the operations, which is no verdict. Bars: ▁ is the best; each step up is as many times slower. \
    disk: bytes for each byte of values. power cut: what it can cost (torn: a value that is half written).";

/// The tables, each line ended.
pub fn text(groups: &[Standings], style: Style) -> String {
    let mut shown_risks = BTreeSet::new();
    let tables: Vec<String> =
        groups.iter().map(|standings| group_text(standings, &mut shown_risks, style)).collect();
    tables.join("\n")
}

fn group_text(standings: &Standings, shown_risks: &mut BTreeSet<String>, style: Style) -> String {
    let mut tables = Vec::new();
    for table in &standings.tables {
        let mut out = style.paint(HEADING, wrap(&standings.title(table), style.width, "  ").trim_end());
        out.push('\n');
        let is_known = table.rows.iter().any(|row| row.power_cut.is_some());
        let mut grid = Grid::new(1);
        let heads = standings.figures.iter().map(|figure| Item::new(head(figure)).right());
        let last = is_known.then(|| Item::new("power cut"));
        grid.head([Item::new("")].into_iter().chain(heads).chain(last).collect());
        let (ranked, riskier): (Vec<&Row>, Vec<&Row>) = table.rows.iter().partition(|row| !row.is_riskier);
        let items =
            |rows: Vec<&Row>| rows.into_iter().map(|row| items(standings, row, is_known)).collect::<Vec<_>>();
        grid.group(items(ranked));
        if !riskier.is_empty() {
            grid.titled_group(standings.risks(&riskier, shown_risks), items(riskier));
        }
        out.push_str(&grid.render(style));
        out.extend(table.unfilled.iter().map(|line| wrap(line, style.width, "  ")));
        tables.push(out);
    }
    let unseen: String = standings.unseen.iter().map(|line| wrap(line, style.width, "  ")).collect();
    tables.join("\n") + &unseen
}

fn items(standings: &Standings, row: &Row, is_known: bool) -> Vec<Item> {
    let mark = match row.mark {
        Mark::Best => '*',
        Mark::Close => '≈',
        Mark::None => ' ',
    };
    let bold = |item: Item| if row.mark == Mark::Best { item.painted(Paint::new().bold()) } else { item };
    let name = Item::new(format!("{mark} {}", row.store));
    let name = match row.mark {
        Mark::Best => name.painted(store_style(&row.store).bold()),
        _ => name.painted(store_style(&row.store)),
    };
    let figures = standings.figures.iter().zip(&row.figures).map(|(figure, shown)| {
        let text = shown.as_ref().map(|shown| describe_figure(figure.unit, &figure.name, shown));
        bold(Item::new(text.unwrap_or_else(|| "-".to_owned())).right())
    });
    let power_cut = is_known.then(|| bold(Item::new(cost(row))));
    [name].into_iter().chain(figures).chain(power_cut).collect()
}

fn describe_figure(unit: Unit, name: &str, shown: &RowFigure) -> String {
    let value = shown.figure.mean.value;
    const TIMES: [(&str, f64); 4] = [("ns", 1e3), ("µs", 1e3), ("ms", 1e3), ("s", f64::INFINITY)];
    const SIZES: [(&str, f64); 4] = [("B", 1024.0), ("KiB", 1024.0), ("MiB", 1024.0), ("GiB", f64::INFINITY)];
    let bar = shown.height.checked_sub(1).and_then(|height| BARS.get(height));
    let bar = bar.map_or_else(String::new, char::to_string);
    match unit {
        Unit::Nanoseconds => two_digits(value, &TIMES) + &bar,
        Unit::Bytes => two_digits(value, &SIZES),
        _ if name == SPACE => format!("{}x", short(value)),
        Unit::PerSecond => format!("{}{bar}", unit.show(value)),
        _ => three_digits(value),
    }
}

/// A value in the largest unit in which it is at least 1, to two digits.
fn two_digits(mut value: f64, units: &[(&str, f64)]) -> String {
    let mut name = "";
    for (unit, next) in units {
        name = unit;
        // A value that rounds up to the next unit is written in that unit.
        if value.round() < *next {
            break;
        }
        value /= next;
    }
    format!("{} {name}", short(value))
}

fn short(value: f64) -> String {
    if value > 0.0 && value < 9.95 { format!("{value:.1}") } else { with_commas(value.round() as u64) }
}

pub fn head(figure: &Figure) -> &str {
    if figure.name == SPACE { "disk" } else { &figure.name }
}

pub fn cost(row: &Row) -> &'static str {
    match row.power_cut {
        None => "not known",
        Some(Loss::Whole | Loss::RarelyWhole) => "whole store",
        Some(Loss::ByHand) => "may not open",
        Some(Loss::Torn) => "newest, torn",
        Some(Loss::Newest) => "newest lost",
        Some(Loss::Last) => "last lost",
        Some(Loss::Unfinished) => "torn value",
        Some(Loss::Nothing) => "nothing lost",
    }
}
