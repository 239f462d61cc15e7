//! The full figures: every store, every column, with intervals, for each place of the matrix.

use std::collections::BTreeSet;

use super::column::{COLUMNS, Column, Unit};
use super::grid::{Grid, Item, Style, wrap};
use super::matrix::{Contest, Position, Sorted, operations, series};
use super::merge::{Group, Merged};
use super::names::{HEADING, store_style};
use super::scope;
use super::terminal::rule_text;
use crate::stats::{Estimate, MeanKind, Rule, Summary};
use crate::units::grouped;

/// All figures of all groups. Each line is ended.
pub(super) fn text(merged: &Merged<'_>, style: Style) -> String {
    let mut out = String::new();
    let mut rules = BTreeSet::new();
    for group in &merged.groups {
        out.push_str(&of_group(merged, group, style, &mut rules));
    }
    if out.is_empty() {
        return out;
    }
    out.push('\n');
    let mut lines = vec![
        "Figures are geometric means over trials (arithmetic where one is zero); ± is the larger side of the mean's \
         95 % interval, absent with a single trial. *: the best, or too close to call with it."
            .to_owned(),
    ];
    lines.extend(rules.into_iter().map(rule_text));
    lines.extend(scope::notes(merged));
    lines.push("More figures, such as page faults, context switches and bytes read: --csv-long.".to_owned());
    out.extend(lines.iter().map(|line| wrap(line, style.width, "  ")));
    out
}

fn of_group(merged: &Merged<'_>, group: &Group<'_>, style: Style, rules: &mut BTreeSet<Rule>) -> String {
    let sorted = Sorted::new(merged, group);
    let operations = operations(group);
    let mut out = String::new();
    for position in sorted.entries.keys() {
        let (data, size, records) = position;
        let title = format!(
            "{}, {}: {size}, {} to {} records, {}",
            group.key.hardware,
            merged.label(&group.key),
            grouped(records.from),
            grouped(records.to),
            data.name()
        );
        let mut grids = Vec::new();
        for operation in &operations {
            let columns: Vec<&Column> = shown().filter(|column| column.is_of_operation()).collect();
            grids.push(grid(&sorted, *position, operation, &columns, rules));
        }
        let columns: Vec<&Column> = shown().filter(|column| !column.is_of_operation()).collect();
        grids.push(grid(&sorted, *position, "trial", &columns, rules));
        out.push_str(&format!("\n{}\n", style.paint(HEADING, wrap(&title, style.width, "  ").trim_end())));
        let texts: Vec<String> = grids.iter().map(|grid| grid.render(style)).collect();
        out.push_str(&texts.join("\n"));
    }
    out
}

/// The columns of tables for people.
fn shown() -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().filter(|column| column.in_tables)
}

fn grid(
    sorted: &Sorted<'_, '_>,
    position: Position,
    name: &str,
    columns: &[&Column],
    rules: &mut BTreeSet<Rule>,
) -> Grid {
    let contests: Vec<_> = columns.iter().map(|column| sorted.contest(position, name, column)).collect();
    // Where all figures are equal, as errors mostly are, nobody won anything.
    let decided = |contest: &Contest| {
        let mut values = contest.contenders.iter().map(|contender| contender.figure.mean.value);
        let first = values.next();
        values.len() == 0 || values.any(|value| Some(value) != first)
    };
    let contenders = contests.iter().filter(|c| decided(c)).flat_map(|contest| &contest.contenders);
    rules.extend(contenders.filter_map(|contender| contender.rule));
    let mut grid = Grid::new(2);
    let heads = columns.iter().map(|column| Item::new(column.title).right());
    let labels = [Item::new(name).painted(HEADING), Item::new("trials").right()];
    grid.head(labels.into_iter().chain(heads).collect());
    let mut rows = Vec::new();
    for (store, entries) in sorted.entries.get(&position).into_iter().flatten() {
        let succeeded = entries.iter().filter(|entry| entry.trial.ok().is_some()).count();
        let trials = match entries.len() - succeeded {
            0 => succeeded.to_string(),
            _ => format!("{succeeded} of {}", entries.len()),
        };
        let figures = columns.iter().zip(&contests).map(|(column, contest)| {
            let values: Vec<f64> = series(entries, name, column).into_values().collect();
            let wins = decided(contest) && contest.winners().any(|winner| winner.store == **store);
            Item::new(Summary::of(&values).map_or_else(|| "-".into(), |s| figure(column.unit, &s, wins)))
                .right()
        });
        let labels = [Item::new(*store).painted(store_style(store)), Item::new(trials).right()];
        rows.push(labels.into_iter().chain(figures).collect());
    }
    grid.group(rows);
    grid
}

/// A figure with its uncertainty, and whether it wins.
fn figure(unit: Unit, summary: &Summary, wins: bool) -> String {
    let mut text = unit.show(summary.mean.value);
    if let Some(half) = half_width(unit, summary) {
        text.push_str(&format!(" ±{half}"));
    }
    // A place is kept for the mark, so that figures stay aligned.
    text.push_str(if wins { "*" } else { " " });
    text
}

/// The larger side of the interval: in percent of a geometric mean, else in the unit. Absent where there is no spread.
fn half_width(unit: Unit, summary: &Summary) -> Option<String> {
    let Estimate { value, interval } = summary.mean;
    let interval = interval.filter(|interval| interval.high > interval.low)?;
    let half = (interval.high - value).max(value - interval.low);
    Some(match summary.mean_kind {
        MeanKind::Geometric => percent(half / value * 100.0),
        MeanKind::Arithmetic => unit.show(half),
    })
}

/// Two digits are enough for an uncertainty.
fn percent(value: f64) -> String {
    match value {
        v if v < 0.1 => "<0.1%".into(),
        v if v < 10.0 => format!("{v:.1}%"),
        v => format!("{}%", grouped(v.round() as u64)),
    }
}
