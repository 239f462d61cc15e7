//! A comparison as one HTML file without network or script, in the style of the report's page.

use super::changes::{Changes, PAGE};
use super::words::{self, Axes};
use super::{Comparison, FigureChange};
use crate::markup::{BREAK, Html, Literal, fill, list, p};
use crate::page::{STYLE, section};

const TEMPLATE: &str = include_str!("page.html");

/// The page.
pub fn text(comparison: &Comparison<'_>) -> String {
    let axes = Axes::from_comparison(comparison);
    let split = comparison.figures.partition_point(FigureChange::is_significant);
    let (significant, others) = comparison.figures.split_at(split);
    let sides = [("BASE", &comparison.base), ("NEW", &comparison.new)];
    let sides = sides.map(|(name, side)| format!("{name}: {}", words::side(side)));
    let common = (!axes.common.is_empty()).then(|| format!("All cells: {}", axes.common.join(", ")));
    let subtitle = Html::join(sides.into_iter().chain(common), BREAK);
    let background = words::circumstances(comparison).into_iter().chain(words::cells(comparison));
    let background = background.chain(words::stores(comparison)).chain(words::controls(comparison));
    let reach = drawing_range(&comparison.figures);
    fill(
        TEMPLATE,
        &[
            ("title", Html::new("NEW against BASE")),
            ("version", Html::new(env!("CARGO_PKG_VERSION"))),
            ("style", Html::new(Literal(STYLE))),
            ("subtitle", subtitle),
            ("answer", Html::join(words::first(comparison), BREAK)),
            ("changes", table(significant, &axes, reach)),
            ("others", table(others, &axes, reach)),
            ("behind", Html::new(list(background.collect()))),
            ("rules", Html::new(list(words::rules(comparison)))),
        ],
    )
    .into_string()
}

fn table(figures: &[FigureChange], axes: &Axes, reach: f64) -> Html {
    match figures {
        [] => Html::new(p("None.")),
        _ => section::figures(&Changes { axes, reach, room: 0 }.table(&PAGE, figures)),
    }
}

/// The ends of the drawings on either side, as a logarithm: enough for every change, and most intervals.
fn drawing_range(figures: &[FigureChange]) -> f64 {
    let changes = figures.iter().filter_map(|figure| figure.change);
    let furthest = changes.map(|change| change.ratio.value.ln().abs()).fold(0.0, f64::max);
    (furthest * 1.2).clamp(0.02, 8.0)
}
