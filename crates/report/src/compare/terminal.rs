//! A comparison on the terminal.

use storebench_core::units::counted;

use super::words::{self, Axes};
use super::{Comparison, FigureChange, Verdict};
use crate::data::names::{FAILURE, HEADING, store_style};
use crate::terminal::grid::{Grid, Item, Style, wrap};

/// The style of changes for the better.
const GOOD: anstyle::Style =
    anstyle::Style::new().bold().fg_color(Some(anstyle::Color::Ansi(anstyle::AnsiColor::Green)));

/// The comparison as text, each line ended. Significant changes are all there; of the others `others`, those of most weight.
pub fn text(comparison: &Comparison<'_>, others: usize, style: Style) -> String {
    let axes = Axes::of(comparison);
    let mut out = String::new();
    let line = |text: &str| wrap(text, style.width, "  ");
    for (name, side) in [("BASE", &comparison.base), ("NEW", &comparison.new)] {
        out.push_str(&line(&format!("{name}: {}", words::side(side))));
    }
    if !axes.common.is_empty() {
        out.push_str(&line(&format!("All cells: {}", axes.common.join(", "))));
    }
    for text in words::circumstances(comparison) {
        out.push_str(&line(&format!("- {text}")));
    }
    out.push('\n');
    out.push_str(&style.paint(HEADING, line(&words::headline(comparison)).trim_end()));
    out.push('\n');
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
        let one_line = wide(figures, axes);
        let grid = if one_line.width() <= style.width { one_line } else { narrow(figures, axes, style) };
        out.push_str(&grid.render(style));
    }
    if rest.len() > shown.len() {
        let more = counted(rest.len() - shown.len(), "more figure");
        out.push_str(&wrap(&format!("{more} without a significant change: --all"), style.width, "  "));
    }
    out
}

/// A line for each figure.
fn wide(figures: &[FigureChange], axes: &Axes) -> Grid {
    let row = |figure: &FigureChange| {
        let [base, new] = values(figure);
        let interval = words::interval(figure).unwrap_or_default();
        let numbers = [words::estimate(figure), interval, words::detectable(figure), base, new];
        let numbers = numbers.map(|text| Item::new(text).right());
        let names = [words::name(figure), axes.place(figure)].map(Item::new);
        [verdict(figure)].into_iter().chain(numbers).chain([store(figure)]).chain(names).collect()
    };
    let heads = ["", "change", "95 % interval", "seen", "BASE", "NEW", "store", "figure", "where"];
    let right = |head: &'static str| matches!(head, "change" | "95 % interval" | "seen" | "BASE" | "NEW");
    let heads = heads.map(|head| if right(head) { Item::new(head).right() } else { Item::new(head) });
    grid(heads.into(), figures.iter().map(row).collect())
}

/// Two lines or more for each figure: what is last takes as many as it needs in the room that is left.
fn narrow(figures: &[FigureChange], axes: &Axes, style: Style) -> Grid {
    let with = |last: &dyn Fn(&FigureChange) -> Vec<String>| {
        let row = |figure: &FigureChange| {
            let seen = (!figure.is_significant()).then(|| format!("seen: {}", words::detectable(figure)));
            let change = [words::estimate(figure), words::interval(figure).unwrap_or_default()];
            let change: Vec<String> = change.into_iter().chain(seen).collect();
            let [base, new] = values(figure);
            let [change, values, last] = [change, vec![base, new], last(figure)].map(Item::lines);
            vec![verdict(figure), change, values, store(figure), last]
        };
        let heads = ["", "change", "BASE, NEW", "store", "figure"].map(Item::new);
        grid(heads.into(), figures.iter().map(row).collect())
    };
    let taken = with(&|_| Vec::new()).width() - "figure".len();
    let room = style.width.saturating_sub(taken).max(16);
    with(&|figure| {
        let place = wrap(&axes.place(figure), room, "");
        std::iter::once(words::name(figure)).chain(place.lines().map(str::to_owned)).collect()
    })
}

fn grid(heads: Vec<Item>, rows: Vec<Vec<Item>>) -> Grid {
    let mut grid = Grid::new(0);
    grid.head(heads);
    grid.group(rows);
    grid
}

fn verdict(figure: &FigureChange) -> Item {
    let item = Item::new(figure.verdict.name());
    match figure.verdict {
        Verdict::Worse => item.painted(FAILURE),
        Verdict::Better => item.painted(GOOD),
        Verdict::Unclear | Verdict::TooFew | Verdict::NoRatio => item,
    }
}

fn store(figure: &FigureChange) -> Item {
    Item::new(&figure.contestant).painted(store_style(&figure.contestant))
}

fn values(figure: &FigureChange) -> [String; 2] {
    [figure.base, figure.new].map(|side| figure.unit.show(side.mean.value))
}
