//! A comparison as one HTML file that needs no network and no script, in the style of the report's page.

use super::words::{self, Axes};
use super::{Comparison, FigureChange, Verdict};
use crate::page::STYLE;
use crate::page::markup::{element, escape, fill, list};

const PAGE: &str = include_str!("page.html");

/// The page.
pub fn text(comparison: &Comparison<'_>) -> String {
    let axes = Axes::of(comparison);
    let split = comparison.figures.partition_point(FigureChange::is_significant);
    let (significant, others) = comparison.figures.split_at(split);
    let sides = [("BASE", &comparison.base), ("NEW", &comparison.new)];
    let mut subtitle =
        sides.map(|(name, side)| escape(&format!("{name}: {}", words::side(side)))).join("<br>");
    if !axes.common.is_empty() {
        subtitle.push_str(&format!("<br>{}", escape(&format!("All cells: {}", axes.common.join(", ")))));
    }
    let behind = words::circumstances(comparison).into_iter().chain(words::cells(comparison));
    let behind = behind.chain(words::stores(comparison)).chain(words::controls(comparison));
    let reach = reach(&comparison.figures);
    fill(
        PAGE,
        &[
            ("title", "NEW against BASE"),
            ("version", env!("CARGO_PKG_VERSION")),
            ("style", STYLE),
            ("subtitle", &subtitle),
            ("answer", &escape(&words::headline(comparison))),
            ("broken", &broken(comparison)),
            ("changes", &table(significant, &axes, reach)),
            ("others", &table(others, &axes, reach)),
            ("behind", &list(&behind.map(|line| escape(&line)).collect::<Vec<_>>())),
            ("rules", &list(&words::rules(comparison).iter().map(|rule| escape(rule)).collect::<Vec<_>>())),
        ],
    )
}

fn broken(comparison: &Comparison<'_>) -> String {
    if comparison.broken.is_empty() {
        return String::new();
    }
    let count = words::counted(comparison.broken.len(), "cell");
    format!(
        "<p class=\"alert\">{count} that BASE measured failed in NEW: see <a href=\"#behind\">below</a>.</p>"
    )
}

fn table(figures: &[FigureChange], axes: &Axes, reach: f64) -> String {
    if figures.is_empty() {
        return "<p>None.</p>".into();
    }
    let heads = ["", "store", "figure", "where", "change", "95 % interval", "", "BASE", "NEW"];
    let heads: String = heads.iter().map(|head| format!("<th scope=\"col\">{head}</th>")).collect();
    let rows: String = figures.iter().map(|figure| row(figure, axes, reach)).collect();
    format!("<div class=\"scroll\"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>")
}

fn row(figure: &FigureChange, axes: &Axes, reach: f64) -> String {
    let number = |text: &str| format!("<td class=\"n\">{}</td>", escape(text));
    let class = match figure.verdict {
        Verdict::Worse => " class=\"worse\"",
        Verdict::Better => " class=\"better\"",
        Verdict::Unclear | Verdict::TooFew | Verdict::NoRatio => "",
    };
    let [base, new] = [figure.base, figure.new].map(|side| number(&figure.unit.show(side.mean.value)));
    let names = [figure.contestant.clone(), words::name(figure), axes.place(figure)];
    format!(
        "<tr><td{class}>{}</td>{}{}{}<td{class}>{}</td>{base}{new}</tr>",
        figure.verdict.name(),
        names.map(|name| element("td", &name)).concat(),
        number(&words::estimate(figure)),
        number(&words::interval(figure).unwrap_or_default()),
        span(figure, reach)
    )
}

/// How far the drawings reach to either side, as a logarithm: far enough for every change, and for most intervals.
fn reach(figures: &[FigureChange]) -> f64 {
    let changes = figures.iter().filter_map(|figure| figure.change);
    let furthest = changes.map(|change| change.ratio.value.ln().abs()).fold(0.0, f64::max);
    (furthest * 1.2).clamp(0.02, 8.0)
}

/// A drawing of the change: no change in the middle, the interval as a line, the estimate as a dot.
fn span(figure: &FigureChange, reach: f64) -> String {
    let Some(change) = figure.change else { return String::new() };
    let at = |ratio: f64| 100.0 + (ratio.ln() / reach).clamp(-1.0, 1.0) * 98.0;
    let line = change.ratio.interval.map_or_else(String::new, |interval| {
        format!("<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"10\" y2=\"10\"/>", at(interval.low), at(interval.high))
    });
    format!(
        "<svg class=\"span\" viewBox=\"0 0 200 20\" role=\"img\" aria-label=\"{}\"><line class=\"none\" x1=\"100\" x2=\"100\" \
         y1=\"0\" y2=\"20\"/>{line}<circle cx=\"{:.1}\" cy=\"10\" r=\"4\"/></svg>",
        escape(&words::change(figure)),
        at(change.ratio.value)
    )
}
