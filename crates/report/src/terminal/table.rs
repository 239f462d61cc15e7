//! All figures: every store, every column, with intervals, for each place of the matrix.

use std::collections::BTreeSet;

use storebench_figures::column::{COLUMNS, Column, PEAK_MEMORY, Unit};
use storebench_figures::data::builds::is_unranked;
use storebench_figures::data::matrix::{Matrix, SortedTrials, operations, series};
use storebench_figures::data::merge::{Group, Merged};
use storebench_figures::data::names::{HEADING, join_parts, store_style};
use storebench_figures::data::rule::rule_text;
use storebench_figures::data::{clock, scope, spread};
use storebench_figures::judge::Rule;
use storebench_figures::judge::standing::is_won;
use storebench_figures::layout::{Position, words};
use storebench_figures::stats::{Estimate, Interval, MeanKind, Summary};
use storebench_model::units::with_commas;

use super::grid::{Grid, Item, Style, wrap};

/// All figures of all groups, and whether any is a range. Each line is ended.
pub(super) fn text(merged: &Merged<'_>, matrices: &[&Matrix], style: Style) -> (String, bool) {
    let mut out = String::new();
    let mut footnotes = Footnotes::default();
    for group in &merged.groups {
        out.push_str(&group_table(merged, group, style, &mut footnotes));
    }
    if out.is_empty() {
        return (out, false);
    }
    out.push('\n');
    let mut lines = vec![
        "Figures are geometric means over trials (arithmetic where one is zero). ± is the larger side of the 95 % interval; \
         where that is as large as the figure, \"within 3x\" says within how many times of it the interval lies. Both are absent with a single trial. *: the best, or too close to call with it."
            .to_owned(),
    ];
    lines.push(merged.memory.note().to_owned());
    lines.extend(footnotes.rules.into_iter().map(rule_text));
    lines.extend(clock::notes(merged, matrices.iter().map(|matrix| matrix.clocked())));
    lines.extend(scope::notes(merged));
    lines.push("More figures, such as page faults, context switches and bytes read: --json.".to_owned());
    out.extend(lines.iter().map(|line| wrap(line, style.width, "  ")));
    (out, footnotes.ranges)
}

#[derive(Default)]
struct Footnotes {
    rules: BTreeSet<Rule>,
    ranges: bool,
}

fn group_table(merged: &Merged<'_>, group: &Group<'_>, style: Style, footnotes: &mut Footnotes) -> String {
    let sorted = SortedTrials::new(merged, group);
    let operations = operations(group);
    let mut out = String::new();
    for position in sorted.entries.keys() {
        let group_name = join_parts([group.key.hardware.as_str(), &merged.label(&group.key)]);
        let place = words::position_in_full(position);
        let title = if place.is_empty() { group_name } else { format!("{group_name}: {place}") };
        let mut grids = Vec::new();
        for operation in &operations {
            let columns: Vec<&Column> =
                shown_columns(merged).filter(|column| column.is_of_operation()).collect();
            grids.push(grid(merged, &sorted, position, operation, &columns, footnotes));
        }
        // A figure that no store here has, such as recovery without its check, gets no column.
        let stores = || sorted.entries[position].values();
        let is_measured =
            |column: &&Column| stores().any(|entries| !series(entries, "trial", column).is_empty());
        let columns: Vec<&Column> =
            shown_columns(merged).filter(|column| !column.is_of_operation()).filter(is_measured).collect();
        grids.push(grid(merged, &sorted, position, "trial", &columns, footnotes));
        out.push_str(&format!("\n{}\n", style.paint(HEADING, wrap(&title, style.width, "  ").trim_end())));
        let texts: Vec<String> = grids.iter().map(|grid| grid.render(style)).collect();
        out.push_str(&texts.join("\n"));
    }
    out
}

/// The columns of tables for people; of memory only the compared one.
fn shown_columns(merged: &Merged<'_>) -> impl Iterator<Item = &'static Column> {
    let memory = merged.memory.column();
    let shown = COLUMNS.iter().filter(|column| column.in_tables);
    shown.map(move |column| if column.id == PEAK_MEMORY.id { memory } else { column })
}

fn grid(
    merged: &Merged<'_>,
    sorted: &SortedTrials<'_, '_>,
    position: &Position,
    name: &str,
    columns: &[&Column],
    footnotes: &mut Footnotes,
) -> Grid {
    let contests: Vec<_> = columns.iter().map(|column| sorted.contest(position, name, column)).collect();
    let contenders =
        contests.iter().filter(|contest| is_won(&contest.contenders)).flat_map(|contest| &contest.contenders);
    footnotes.rules.extend(contenders.filter_map(|contender| contender.verdict.rule()));
    let mut grid = Grid::new(2);
    let heads = columns.iter().map(|column| Item::new(column.title).right());
    let labels = [Item::new(name).painted(HEADING), Item::new("trials").right()];
    grid.head(labels.into_iter().chain(heads).collect());
    let mut rows = Vec::new();
    for (store, entries) in sorted.entries.get(position).into_iter().flatten() {
        let succeeded = entries.iter().filter(|entry| entry.trial.ok().is_some()).count();
        let trials = match entries.len() - succeeded {
            0 => succeeded.to_string(),
            _ => format!("{succeeded} of {}", entries.len()),
        };
        let figures = columns.iter().zip(&contests).map(|(column, contest)| {
            let values: Vec<f64> = series(entries, name, column).into_values().collect();
            let wins = is_won(&contest.contenders) && contest.winners().any(|winner| winner.store == *store);
            let summary = Summary::from_values(&values);
            footnotes.ranges |=
                summary.and_then(|s| s.mean.interval).is_some_and(|i| i.is_range() && i.low < i.high);
            Item::new(summary.map_or_else(|| "-".into(), |s| figure(column.unit, &s, wins))).right()
        });
        let readable_name = merged.readable.name(store);
        let name = match () {
            () if is_unranked(entries) => format!("{readable_name} (not ranked)"),
            () if sorted.avoided.contains(store) => format!("{readable_name} (riskier)"),
            () => readable_name.into_owned(),
        };
        let labels = [Item::new(name).painted(store_style(store)), Item::new(trials).right()];
        rows.push(labels.into_iter().chain(figures).collect());
    }
    grid.group(rows);
    grid
}

fn figure(unit: Unit, summary: &Summary, wins: bool) -> String {
    let mut text = unit.show(summary.mean.value);
    match summary.mean.interval.filter(Interval::is_range) {
        Some(range) => text.push_str(&spread::describe_after(Some(range), |end| unit.show(end))),
        None => text.extend(uncertainty(unit, summary).map(|margin| format!(" {margin}"))),
    }
    // Room for the mark, so that figures stay aligned.
    text.push_str(if wins { "*" } else { " " });
    text
}

/// The larger side of the interval, if any: in percent of a geometric mean, as a multiple if that is 100 % or more, otherwise in the unit.
fn uncertainty(unit: Unit, summary: &Summary) -> Option<String> {
    let Estimate { value, interval } = summary.mean;
    let interval = interval.filter(|interval| interval.high > interval.low)?;
    let half = (interval.high - value).max(value - interval.low);
    Some(match summary.mean_kind {
        MeanKind::Geometric => {
            let percent = half / value * 100.0;
            match percent < 99.5 {
                true => format!("±{}", self::percent(percent)),
                false => format!("within {}x", two_digits((interval.high / value).max(value / interval.low))),
            }
        }
        MeanKind::Arithmetic => format!("±{}", unit.show(half)),
    })
}

fn two_digits(value: f64) -> String {
    if value < 10.0 { format!("{value:.1}") } else { with_commas(value.round() as u64) }
}

fn percent(value: f64) -> String {
    if value < 0.1 { "<0.1%".into() } else { format!("{}%", two_digits(value)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_uncertainty_as_large_as_its_figure_is_told_in_times_of_it() {
        let describe = |low: f64, high: f64| {
            let interval = Some(Interval { low, high, confidence: 0.95 });
            let mean = Estimate { value: 1_000.0, interval };
            let summary = Summary { mean, ..Summary::from_values(&[1_000.0; 3]).unwrap() };
            uncertainty(Unit::Nanoseconds, &summary).unwrap()
        };
        assert_eq!(describe(999.9, 1_000.1), "±<0.1%");
        assert_eq!(describe(950.0, 1_050.0), "±5.0%");
        assert_eq!(describe(600.0, 1_700.0), "±70%");
        assert_eq!(describe(400.0, 2_500.0), "within 2.5x");
        assert_eq!(describe(60.0, 17_000.0), "within 17x");
    }
}
