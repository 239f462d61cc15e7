//! Reports for the terminal: a summary and the matrix of winners, or all figures.

pub mod checklist;
pub(crate) mod findings;
pub mod grid;
pub mod published;
pub(crate) mod section;
pub(crate) mod standings;
mod summary;
mod table;

use std::collections::BTreeSet;

use anstyle::Style as Paint;
use storebench_figures::data::matrix::{AbsenceReason, Contest, MEMORY, Matrix, Row};
use storebench_figures::data::merge::Merged;
use storebench_figures::data::names::{FAILURE, HEADING, join_parts, store_style};
use storebench_figures::data::{clock, rule::rule_text, spread};
use storebench_figures::judge::Rule;
use storebench_figures::layout::{Position, words};
use storebench_model::axis::Role;
use storebench_model::cell::Axis;
use storebench_model::result::SPACE;
use storebench_model::units::with_commas;

pub use self::grid::Style;
use self::grid::{Grid, Item, wrap};
use crate::brief;
use crate::report::Report;
use crate::section::{Block, PagePosition, Section, Table};
use crate::sections::SECTIONS;
use crate::standings::are_short;

/// The answer, the tables of stores, the summary, one matrix of winners per group, the sections, and the decided verdicts on findings.
pub fn overview(report: &Report<'_>, style: Style) -> String {
    let later = SECTIONS.iter().filter(|section| !section.at_end);
    let sections: String = later.map(|section| section_text(report, section, style, false)).collect();
    let ranges = ranges_legend(report, false, style);
    let (matrices, first) = (readable_matrices(report), first_sections(report, style, false));
    first_screen(report, style)
        + &summary::text(report.merged, &matrices, &first, false, style)
        + &winners_text(report, true, style)
        + &sections
        + &ranges
        + &findings::decided_text(report.merged, style)
}

/// The output at the end of a run: the answer, the tables of stores, or the winners if those are too long, and notes; verdicts are counted.
pub fn end_text(report: &Report<'_>, style: Style) -> String {
    let is_short = are_short(report.standings(), report);
    first_screen(report, style)
        + &summary::notes(report.merged, &readable_matrices(report), style)
        + &first_sections(report, style, false)
        + &winners_text(report, !is_short, style)
        + &ranges_legend(report, false, style)
        + &findings::counts_text(report.merged, style)
}

fn first_screen(report: &Report<'_>, style: Style) -> String {
    let mut out = brief::text(report, style);
    if are_short(report.standings(), report) {
        out.push_str(&standings::text(report.standings(), style));
        for line in [standings::LEGEND, report.merged.memory.note()] {
            out.push_str(&wrap(line, style.width, "  "));
        }
        out.push('\n');
    }
    out
}

fn readable_matrices<'r>(report: &'r Report<'_>) -> Vec<&'r Matrix> {
    report.readable().iter().flatten().collect()
}

/// The matrices, if asked for, with the sections of the end and the legend.
fn winners_text(report: &Report<'_>, with_matrices: bool, style: Style) -> String {
    let matrices = if with_matrices { readable_matrices(report) } else { Vec::new() };
    let mut out = String::new();
    for matrix in &matrices {
        out.push('\n');
        out.push_str(&matrix_text(matrix, style));
    }
    for section in later_sections().filter(|section| section.at_end) {
        out.push_str(&section_text(report, section, style, false));
    }
    if !matrices.is_empty() {
        out.push('\n');
        out.push_str(&legend(report.merged, &matrices, style));
    }
    out
}

/// The summary, then the figures of all stores, with intervals, then all of the sections, and all published findings.
pub fn full(report: &Report<'_>, style: Style) -> String {
    let matrices = readable_matrices(report);
    let mut out = brief::text(report, style);
    out.push_str(&summary::text(report.merged, &matrices, &first_sections(report, style, true), true, style));
    let (figures, ranges) = table::text(report.merged, &matrices, style);
    out.push_str(&figures);
    later_sections().for_each(|section| out.push_str(&section_text(report, section, style, true)));
    out.push_str(&ranges_legend(report, ranges, style));
    out.push_str(&findings::text(report.merged, style));
    out
}

fn first_sections(report: &Report<'_>, style: Style, in_full: bool) -> String {
    let sections = SECTIONS.iter().filter(|section| section.stands == PagePosition::First);
    sections.map(|section| section_text(report, section, style, in_full)).collect()
}

fn later_sections() -> impl Iterator<Item = &'static Section> {
    SECTIONS.iter().copied().filter(|section| section.stands != PagePosition::First)
}

/// The legend of ranges, once, if any figure has a range instead of an interval; `has_ranges` if one is outside the sections.
fn ranges_legend(report: &Report<'_>, has_ranges: bool, style: Style) -> String {
    let shown = SECTIONS.iter().filter(|section| section.stands != PagePosition::InFiles);
    let mut tables = shown.flat_map(|section| Block::tables(report.blocks(section)));
    if !has_ranges && !tables.any(Table::has_ranges) {
        return String::new();
    }
    format!("\n{}", wrap(spread::LEGEND, style.width, "  "))
}

fn section_text(report: &Report<'_>, section: &Section, style: Style, in_full: bool) -> String {
    match section.stands {
        PagePosition::InFiles => String::new(),
        _ => section::text(section, report.blocks(section), style, in_full),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Layout {
    OneLine,
    TwoLines,
}

/// Halves, such as the kinds of data, are next to each other if the width allows, otherwise below each other; so are names and figures.
fn matrix_text(matrix: &Matrix, style: Style) -> String {
    let common_values =
        matrix.rows.first().map_or_else(String::new, |row| describe_position(&row.at, &common_axes(matrix)));
    let heading = format!("Winners: {}", join_parts([matrix.name().as_str(), &common_values]));
    let mut out = style.paint(HEADING, wrap(&heading, style.width, "  ").trim_end());
    out.push('\n');
    let halves: BTreeSet<Position> = matrix.columns.iter().map(half_of).collect();
    let full_grid = grid(matrix, None, Layout::OneLine);
    if halves.len() == 1 || full_grid.width() <= style.width {
        let fits = full_grid.width() <= style.width;
        let grid = if fits { full_grid } else { grid(matrix, None, Layout::TwoLines) };
        out.push_str(&grid.render(style));
    } else {
        let one_line: Vec<Grid> =
            halves.iter().map(|half| grid(matrix, Some(half), Layout::OneLine)).collect();
        let all_fit = one_line.iter().all(|grid| grid.width() <= style.width);
        let layout = if all_fit { Layout::OneLine } else { Layout::TwoLines };
        let texts: Vec<String> =
            halves.iter().map(|half| grid(matrix, Some(half), layout).render(style)).collect();
        out.push_str(&texts.join("\n"));
    }
    out.extend(matrix.dangers.iter().map(|line| wrap(line, style.width, "  ")));
    out
}

fn half_of(column: &Position) -> Position {
    column.values_by_role(Role::Half)
}

fn grid(matrix: &Matrix, only: Option<&Position>, layout: Layout) -> Grid {
    let shown: Vec<usize> = (0..matrix.columns.len())
        .filter(|index| only.is_none_or(|only| half_of(&matrix.columns[*index]) == *only))
        .collect();
    let halves: BTreeSet<Axis> = axes(&matrix.columns, Role::Half);
    let heads: BTreeSet<Axis> = axes(&matrix.columns, Role::Column);
    let labels = labels(matrix);
    let names: Vec<String> = heads.iter().map(|axis| words::heading(*axis)).collect();
    let mut grid = Grid::new(2);
    let mut kinds = vec![Item::new(""), Item::new("")];
    let mut counts = vec![Item::new(""), Item::new(names.join(", "))];
    for (position, index) in shown.iter().enumerate() {
        let column = &matrix.columns[*index];
        let first = position == 0 || half_of(&matrix.columns[shown[position - 1]]) != half_of(column);
        let kind = if first { describe_position(column, &halves) } else { String::new() };
        kinds.push(Item::new(kind).painted(HEADING));
        counts.push(Item::new(head(matrix, column, &heads)));
    }
    if !halves.is_empty() {
        grid.head(kinds);
    }
    grid.head(counts);
    for rows in matrix.rows.chunk_by(|a, b| a.figure == b.figure) {
        let lines = rows.iter().enumerate().map(|(index, row)| {
            let name = if index == 0 { row.figure.name.as_str() } else { "" };
            let labels = [Item::new(name).painted(HEADING), Item::new(describe_position(&row.at, &labels))];
            let places = shown.iter().map(|index| place_item(row, &row.contests[*index], layout));
            labels.into_iter().chain(places).collect()
        });
        grid.group(lines.collect());
    }
    grid
}

/// The axes that name rows: those in which they differ.
fn labels(matrix: &Matrix) -> BTreeSet<Axis> {
    let row_axes = axes(matrix.rows.iter().map(|row| &row.at), Role::Row);
    row_axes.into_iter().filter(|axis| !is_alike(matrix, *axis)).collect()
}

/// The axes of rows in the heading: all rows have the same value, which is not the default.
fn common_axes(matrix: &Matrix) -> BTreeSet<Axis> {
    let row_axes = axes(matrix.rows.iter().map(|row| &row.at), Role::Row);
    let is_default =
        |axis: &Axis| matrix.rows.first().is_some_and(|row| axis.default_value() == Some(row.at.text(*axis)));
    row_axes.into_iter().filter(|axis| is_alike(matrix, *axis) && !is_default(axis)).collect()
}

fn is_alike(matrix: &Matrix, axis: Axis) -> bool {
    matrix.rows.windows(2).all(|pair| pair[0].at.value(axis) == pair[1].at.value(axis))
}

fn axes<'p>(positions: impl IntoIterator<Item = &'p Position>, role: Role) -> BTreeSet<Axis> {
    let axes_of = |position: &'p Position| position.axes().filter(move |axis| position.role(*axis) == role);
    positions.into_iter().flat_map(axes_of).collect()
}

fn describe_position(position: &Position, axes: &BTreeSet<Axis>) -> String {
    let words = |axis: &Axis| Some((axis.def().words)(position.value(*axis)?));
    axes.iter().filter_map(words).collect::<Vec<_>>().join(", ")
}

/// A position's values on some axes, below headings with the axes' names.
fn short_names(position: &Position, axes: &BTreeSet<Axis>) -> String {
    let short = |axis: &Axis| Some(words::short(*axis, position.value(*axis)?));
    axes.iter().filter_map(short).collect::<Vec<_>>().join(", ")
}

/// A column's heading: the lower bound of its range, or the whole range if that alone says too little.
fn head(matrix: &Matrix, column: &Position, axes: &BTreeSet<Axis>) -> String {
    let short = short_names(column, axes);
    let looks_alike =
        |other: &&Position| half_of(other) == half_of(column) && short_names(other, axes) == short;
    if matrix.columns.iter().filter(looks_alike).count() == 1 {
        return short;
    }
    let parts = axes.iter().filter_map(|axis| {
        let value = column.value(*axis)?;
        Some(match words::is_by_lower_bound(*axis, value) {
            true => format!("{}..{}", with_commas(value.lower()), with_commas(value.upper())),
            false => words::short(*axis, value),
        })
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn place_item(row: &Row, contest: &Contest, layout: Layout) -> Item {
    let first = contest.contenders.first().filter(|_| contest.is_not_judged());
    let Some(best) = contest.winners().next().or(first) else {
        // A place that no run has, such as the other count of a pair, is not explained.
        let why = contest.why_empty().filter(|why| *why != AbsenceReason::NotRun);
        let paint = if contest.failed_trials > 0 { FAILURE } else { Paint::new().dimmed() };
        return Item::new(why.map_or("", |why| why.name())).painted(paint);
    };
    let mut name = best.store.clone();
    match contest.winners().count() {
        0 => name.push_str(" ?"),
        1 => {}
        winners => name.push_str(&format!(" +{}", winners - 1)),
    }
    let mut figure = row.figure.unit.show(best.figure.mean.value);
    if contest.failed_trials > 0 {
        figure.push_str(" !");
    }
    let item = match layout {
        Layout::OneLine => Item::new(format!("{name} {figure}")),
        Layout::TwoLines => Item::from_lines(vec![name, figure]),
    };
    item.painted(store_style(&best.store))
}

/// The legend of the matrices, and the rules by which their winners were decided.
fn legend(merged: &Merged<'_>, matrices: &[&Matrix], style: Style) -> String {
    let (noun, _) = merged.layout.ranked(merged.cells());
    let has_figure =
        |name: &str| matrices.iter().flat_map(|matrix| &matrix.rows).any(|row| row.figure.name == name);
    let (space, memory) = (has_figure(SPACE), has_figure(MEMORY));
    let mut figures = vec!["the mean latency of operations"];
    figures.extend(space.then_some("bytes on disk per byte of values for space"));
    figures.extend(memory.then_some("the peak for memory"));
    let figures = figures.join(", ");
    let mut lines = vec![format!(
        "Each cell names the best {noun} and its figure, a geometric mean over trials: {figures}."
    )];
    lines.extend(memory.then(|| merged.memory.note().to_owned()));
    let contests = || matrices.iter().flat_map(|matrix| &matrix.rows).flat_map(|row| &row.contests);
    lines.extend(match contests().map(|contest| contest.winners().count()).max() {
        None | Some(0 | 1) => None,
        Some(2) => Some("+1: one more is too close to call with it; --table shows both.".to_owned()),
        Some(_) => Some("+2: two more are too close to call with it; --table shows all.".to_owned()),
    });
    if contests().any(|contest| contest.failed_trials > 0) {
        lines.push("!: a trial failed there.".to_owned());
    }
    for rule in matrices.iter().flat_map(|matrix| matrix.rules()).collect::<BTreeSet<Rule>>() {
        lines.push(rule_text(rule));
    }
    lines.extend(clock::notes(merged, matrices.iter().map(|matrix| matrix.clocked())));
    lines.iter().map(|line| wrap(line, style.width, "  ")).collect()
}

#[cfg(test)]
mod tests {
    use storebench_model::stores::{MEMORY, NULL};
    use storebench_samples::{self as samples, Sample, run};
    use unicode_width::UnicodeWidthStr;

    use super::*;

    fn show(render: fn(&Report<'_>, Style) -> String, width: usize, colour: bool) -> String {
        let runs = [samples::study()];
        render(&Report::new(&Merged::new(&runs, &[NULL, MEMORY])), Style { width, colour })
    }

    /// Escapes as `‹...m`, for readable snapshots.
    fn visible(text: &str) -> String {
        text.replace("\u{1b}[", "‹")
    }

    #[test]
    fn overview_snapshots() {
        for width in [80, 100, 160] {
            insta::assert_snapshot!(format!("overview_{width}"), show(overview, width, false));
            let colour = visible(&show(overview, width, true));
            insta::assert_snapshot!(format!("overview_{width}_colour"), colour);
        }
    }

    #[test]
    fn kinds_of_data_stand_side_by_side_where_they_fit() {
        let mut run = samples::study();
        run.trials.retain(|trial| trial.cell.records().from != 1_000);
        let runs = [run];
        let text = overview(&Report::new(&Merged::new(&runs, &[NULL])), Style { width: 160, colour: false });
        insta::assert_snapshot!("overview_160_side_by_side", text);
    }

    #[test]
    fn table_snapshots() {
        let block = |block: usize| {
            let wobble = 1.0 + block as f64 / 40.0;
            vec![
                Sample::new("lmdb").ns(1000.0 * wobble),
                Sample::new("redb").ns(1500.0 * wobble * wobble),
                Sample::new("null").ns(20.0),
                Sample::new("unqlite").unsupported("not in this build"),
            ]
        };
        let runs = [samples::blocks("mybox", &[0, 1, 2].map(block))];
        let merged = Merged::new(&runs, &[NULL]);
        let table = |width: usize, colour: bool| full(&Report::new(&merged), Style { width, colour });
        for width in [80, 100, 160] {
            insta::assert_snapshot!(format!("table_{width}"), table(width, false));
        }
        insta::assert_snapshot!("table_100_colour", visible(&table(100, true)));
    }

    #[test]
    fn lines_fit_the_width() {
        for width in [80, 100, 160] {
            for text in [show(overview, width, false), show(full, width, false)] {
                for line in text.lines() {
                    assert!(line.width() <= width, "{} > {width}: {line}", line.width());
                }
            }
        }
    }

    #[test]
    fn colour_changes_nothing_but_colour() {
        for width in [80, 160] {
            let mut plain = String::new();
            let mut escaped = false;
            for c in show(overview, width, true).chars() {
                match c {
                    '\u{1b}' => escaped = true,
                    'm' if escaped => escaped = false,
                    _ if escaped => {}
                    _ => plain.push(c),
                }
            }
            let trimmed: Vec<&str> = plain.lines().map(str::trim_end).collect();
            assert_eq!(trimmed.join("\n") + "\n", show(overview, width, false));
        }
    }

    #[test]
    fn without_a_single_success_there_is_still_a_report() {
        let failed = [Sample::new("lmdb").guarantee("default").failed("broken")];
        for (samples, parts) in
            [(&failed[..], &["as shipped: unknown", "broken", "failed"][..]), (&[][..], &["no trials"][..])]
        {
            let runs = [run("box", samples)];
            let text = overview(&Report::new(&Merged::new(&runs, &[])), Style { width: 80, colour: false });
            assert!(parts.iter().all(|part| text.contains(*part)), "{text}");
        }
    }
}
