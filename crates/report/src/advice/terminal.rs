//! An answer for the terminal.

use storebench_core::units::three_digits;

use super::Advice;
use super::judge::{Candidate, reasons};
use super::sentences::{changes, costs, measured, name, notes, settings, sure, times_worse, trade};
use crate::column::Unit;
use crate::data::names::{HEADING, store_style};
use crate::terminal::grid::{Grid, Item, Style, one_line, wrap};

/// Runners-up that get a sentence.
const DISCUSSED: usize = 3;

/// The whole answer. Each line is ended.
pub fn text(advice: &Advice, snippet: Option<&str>, style: Style) -> String {
    let mut out = titled("Asked", &[advice.question.to_string()], style);
    out.push_str(&titled("Measured", &measured(advice), style));
    let [best, others @ ..] = advice.verdict.ranking.as_slice() else { return out };
    let painted = style.paint(store_style(&best.store), &format!(" {} ", one_line(&best.store)));
    let version = one_line(&best.version);
    out.push_str(&format!("\n{} {painted} {version}\n", style.paint(HEADING, "Recommended:")));
    out.push_str(&indented(&costs(advice, best), style));
    out.push_str(&titled("How sure is that?", &[sure(advice)], style));
    if !others.is_empty() {
        out.push_str(&format!("\n{}\n", style.paint(HEADING, "The stores, the best first")));
        out.push_str(&table(advice).render(style));
        out.push_str(&wrap(
            "*: on the Pareto front: every other store that is better at time, disk or memory is worse at another of them.",
            style.width,
            "   ",
        ));
        out.extend(notes(advice).iter().map(|line| wrap(&one_line(line), style.width, "   ")));
        let trades: Vec<String> = others.iter().take(DISCUSSED).map(trade).collect();
        out.push_str(&titled(&format!("What they give up against {}, and gain", best.store), &trades, style));
    }
    let out_of_it = reasons(&advice.verdict.out);
    if !out_of_it.is_empty() {
        out.push_str(&titled("Out of the question", &out_of_it, style));
    }
    out.push_str(&titled("What would change the answer?", &changes(advice), style));
    out.push_str(&titled(&format!("How {} was open", best.store), &[settings(best)], style));
    if let Some(snippet) = snippet {
        out.push_str(&format!("\n{}\n", style.paint(HEADING, "Open it like this")));
        out.extend(snippet.lines().map(|line| format!("  {}", one_line(line)).trim_end().to_owned() + "\n"));
    }
    out
}

fn titled(title: &str, lines: &[String], style: Style) -> String {
    format!("\n{}\n{}", style.paint(HEADING, &one_line(title)), indented(lines, style))
}

fn indented(lines: &[String], style: Style) -> String {
    lines.iter().map(|line| wrap(&format!("  {}", one_line(line)), style.width, "    ")).collect()
}

/// A row for every store.
fn table(advice: &Advice) -> Grid {
    let mut grid = Grid::new(1);
    let operations = advice.question.mix.shares();
    let mut head = vec![Item::new(""), Item::new("operation").right()];
    head.extend(operations.iter().map(|(operation, _)| Item::new(operation.name()).right()));
    head.extend(["disk/values", "memory", "times worse"].map(|title| Item::new(title).right()));
    grid.head(head);
    let row = |(rank, store): (usize, &Candidate)| {
        let front = if store.beaten_by.is_none() { " *" } else { "" };
        let ns = |value: f64| Item::new(Unit::Nanoseconds.show(value)).right();
        let mut items = vec![
            Item::new(format!("{}{front}", one_line(&name(advice, store))))
                .painted(store_style(&store.store)),
            ns(store.speed.mean.value),
        ];
        items.extend(store.operations.iter().map(|(_, latency)| ns(latency.mean.value)));
        items.push(Item::new(three_digits(store.space.mean.value)).right());
        items.push(Item::new(Unit::Bytes.show(store.memory.mean.value)).right());
        items.push(Item::new(times_worse(rank, store, "tie")).right());
        items
    };
    grid.group(advice.verdict.ranking.iter().enumerate().map(row).collect());
    grid
}
