//! A comparison as Markdown, for a pull request: changes on top, the rest folded.

use storebench_model::units::plural;

use super::changes::{Changes, MARKDOWN};
use super::words::{self, Axes};
use super::{Comparison, FigureChange};
use crate::files::markdown::{self, code};

/// Rows without a significant change: comments on pull requests have a limit.
const OTHERS: usize = 100;

/// The comparison. Text from others appears as code, so that it can't act as markup or mention anyone.
pub fn text(comparison: &Comparison<'_>) -> String {
    let axes = Axes::from_comparison(comparison);
    let split = comparison.figures.partition_point(FigureChange::is_significant);
    let (significant, others) = comparison.figures.split_at(split);
    let mut out = format!("### storebench: NEW against BASE\n\n**{}**\n\n", words::headline(comparison));
    words::first(comparison).iter().skip(1).for_each(|line| out.push_str(&format!("- {}\n", code(line))));
    out.push_str(&table(significant, &axes));
    let shown = &others[..others.len().min(OTHERS)];
    if !shown.is_empty() {
        let more =
            if others.len() > shown.len() { format!(", of which these are {OTHERS}") } else { String::new() };
        let title = format!("Without a significant change: {}{more}", plural(others.len(), "figure"));
        out.push_str(&details(&title, &table(shown, &axes)));
    }
    let common = (!axes.common.is_empty()).then(|| format!("all cells: {}", axes.common.join(", ")));
    let sides = [("BASE", &comparison.base), ("NEW", &comparison.new)];
    let sides = sides.map(|(name, side)| format!("{name}: {}", words::side(side)));
    let lines = sides.into_iter().chain(common).chain(words::circumstances(comparison));
    let lines = lines.chain(words::cells(comparison)).chain(words::stores(comparison));
    let list: String =
        lines.chain(words::controls(comparison)).map(|line| format!("- {}\n", code(&line))).collect();
    let rules: String = words::rules(comparison).iter().map(|rule| format!("- {rule}\n")).collect();
    out.push_str(&details("What was compared, and how", &format!("\n{list}\n{rules}")));
    out
}

fn details(title: &str, content: &str) -> String {
    format!("\n<details><summary>{title}</summary>\n{content}\n</details>\n")
}

fn table(figures: &[FigureChange], axes: &Axes) -> String {
    match figures {
        [] => String::new(),
        _ => markdown::table(&Changes { axes, reach: 0.0, room: 0 }.table(&MARKDOWN, figures).view(true)),
    }
}
