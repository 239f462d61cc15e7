//! A comparison as one HTML file that needs no network and no script, in the style of the report's page.

use storebench_core::units::counted;

use super::words::{self, Axes};
use super::{Comparison, FigureChange, Verdict};
use crate::markup::{
    BREAK, Html, Literal, Tag, column, fill, list, number, p, scroll, table as html_table, tag,
};
use crate::page::STYLE;

const PAGE: &str = include_str!("page.html");

/// The page.
pub fn text(comparison: &Comparison<'_>) -> String {
    let axes = Axes::of(comparison);
    let split = comparison.figures.partition_point(FigureChange::is_significant);
    let (significant, others) = comparison.figures.split_at(split);
    let sides = [("BASE", &comparison.base), ("NEW", &comparison.new)];
    let sides = sides.map(|(name, side)| format!("{name}: {}", words::side(side)));
    let common = (!axes.common.is_empty()).then(|| format!("All cells: {}", axes.common.join(", ")));
    let subtitle = Html::joined(sides.into_iter().chain(common), BREAK);
    let behind = words::circumstances(comparison).into_iter().chain(words::cells(comparison));
    let behind = behind.chain(words::stores(comparison)).chain(words::controls(comparison));
    let reach = reach(&comparison.figures);
    fill(
        PAGE,
        &[
            ("title", Html::of("NEW against BASE")),
            ("version", Html::of(env!("CARGO_PKG_VERSION"))),
            ("style", Html::of(Literal(STYLE))),
            ("subtitle", subtitle),
            ("answer", Html::of(words::headline(comparison))),
            ("broken", Html::of(broken(comparison))),
            ("changes", Html::of(table(significant, &axes, reach))),
            ("others", Html::of(table(others, &axes, reach))),
            ("behind", Html::of(list(behind.collect()))),
            ("rules", Html::of(list(words::rules(comparison)))),
        ],
    )
    .into_string()
}

fn broken(comparison: &Comparison<'_>) -> Option<Tag> {
    let count = counted(comparison.broken.len(), "cell");
    let below = tag("a").attr("href", "#behind").with("below");
    let text = (count, " that BASE measured failed in NEW: see ", below, ".");
    (!comparison.broken.is_empty()).then(|| p(text).class("alert"))
}

fn table(figures: &[FigureChange], axes: &Axes, reach: f64) -> Tag {
    if figures.is_empty() {
        return p("None.");
    }
    let heads = ["", "store", "figure", "where", "change", "95 % interval", "", "seen", "BASE", "NEW"];
    let rows: Vec<Tag> = figures.iter().map(|figure| row(figure, axes, reach)).collect();
    scroll(html_table(heads.map(column).into(), rows))
}

fn row(figure: &FigureChange, axes: &Axes, reach: f64) -> Tag {
    let cell = || match figure.verdict {
        Verdict::Worse => tag("td").class("worse"),
        Verdict::Better => tag("td").class("better"),
        Verdict::Unclear | Verdict::TooFew | Verdict::NoRatio => tag("td"),
    };
    let names = [figure.contestant.clone(), words::name(figure), axes.place(figure)];
    tag("tr").with((
        cell().with(figure.verdict.name()),
        names.map(|name| tag("td").with(name)),
        number(words::estimate(figure)),
        number(words::interval(figure).unwrap_or_default()),
        cell().with(span(figure, reach)),
        number(words::detectable(figure)),
        [figure.base, figure.new].map(|side| number(figure.unit.show(side.mean.value))),
    ))
}

/// The ends of the drawings to either side, as a logarithm: far enough for every change, and for most intervals.
fn reach(figures: &[FigureChange]) -> f64 {
    let changes = figures.iter().filter_map(|figure| figure.change);
    let furthest = changes.map(|change| change.ratio.value.ln().abs()).fold(0.0, f64::max);
    (furthest * 1.2).clamp(0.02, 8.0)
}

/// A drawing of the change: no change in the middle, the interval as a line, the estimate as a dot.
fn span(figure: &FigureChange, reach: f64) -> Option<Tag> {
    let change = figure.change?;
    let at = |ratio: f64| 100.0 + (ratio.ln() / reach).clamp(-1.0, 1.0) * 98.0;
    let line = |from: f64, to: f64, above: &str, below: &str| {
        let line = tag("line").attr("x1", format!("{from:.1}")).attr("x2", format!("{to:.1}"));
        line.attr("y1", above).attr("y2", below)
    };
    let interval =
        change.ratio.interval.map(|interval| line(at(interval.low), at(interval.high), "10", "10"));
    let value = tag("circle").attr("cx", format!("{:.1}", at(change.ratio.value))).attr("cy", "10");
    let svg = tag("svg").class("span").attr("viewBox", "0 0 200 20").attr("role", "img");
    let svg = svg.attr("aria-label", words::change(figure));
    Some(svg.with((line(100.0, 100.0, "0", "20").class("none"), interval, value.attr("r", "4"))))
}
