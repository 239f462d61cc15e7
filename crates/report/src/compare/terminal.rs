//! A comparison on the terminal.

use storebench_figures::data::names::HEADING;
use storebench_model::units::plural;

use super::changes::{Changes, LINES, NARROW};
use super::words::{self, Axes};
use super::{Comparison, FigureChange};
use crate::terminal::grid::{Grid, Style, wrap};
use crate::terminal::section::wide_grid;

/// The comparison as text, each line ended: all significant changes, and of the others the `others` with most weight.
pub fn text(comparison: &Comparison<'_>, others: usize, style: Style) -> String {
    let axes = Axes::from_comparison(comparison);
    let mut out = String::new();
    let line = |text: &str| wrap(text, style.width, "  ");
    words::first(comparison).iter().for_each(|text| out.push_str(&line(text)));
    out.push('\n');
    for (name, side) in [("BASE", &comparison.base), ("NEW", &comparison.new)] {
        out.push_str(&line(&format!("{name}: {}", words::side(side))));
    }
    if !axes.common.is_empty() {
        out.push_str(&line(&format!("All cells: {}", axes.common.join(", "))));
    }
    for text in words::circumstances(comparison) {
        out.push_str(&line(&format!("- {text}")));
    }
    out.push_str(&tables(comparison, &axes, others, style));
    out.push('\n');
    let notes = words::cells(comparison).into_iter().chain(words::stores(comparison));
    let notes = notes.chain(words::controls(comparison)).chain(words::rules(comparison));
    notes.for_each(|note| out.push_str(&line(&note)));
    out
}

/// Significant changes, then the others.
fn tables(comparison: &Comparison<'_>, axes: &Axes, others: usize, style: Style) -> String {
    let split = comparison.figures.partition_point(FigureChange::is_significant);
    let (significant, rest) = comparison.figures.split_at(split);
    let shown = &rest[..rest.len().min(others)];
    let mut out = String::new();
    for (title, figures) in [("Significant changes", significant), ("Without a significant change", shown)] {
        if figures.is_empty() {
            continue;
        }
        out.push_str(&format!("\n{}\n", style.paint(HEADING, title)));
        let lines = wide_grid(&Changes { axes, reach: 0.0, room: 0 }.table(&LINES, figures).view(true));
        let grid = if lines.width() <= style.width { lines } else { narrow(figures, axes, style) };
        out.push_str(&grid.render(style));
    }
    if rest.len() > shown.len() {
        let more = plural(rest.len() - shown.len(), "more figure");
        out.push_str(&wrap(&format!("{more} without a significant change: --all"), style.width, "  "));
    }
    out
}

/// Two lines or more for each figure: the last column takes as many as it needs in the remaining width.
fn narrow(figures: &[FigureChange], axes: &Axes, style: Style) -> Grid {
    let grid_with = |room| wide_grid(&Changes { axes, reach: 0.0, room }.table(&NARROW, figures).view(true));
    let other_width = grid_with(0).width() - "figure".len();
    grid_with(style.width.saturating_sub(other_width).max(16))
}
