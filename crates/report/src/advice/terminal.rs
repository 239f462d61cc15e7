//! An answer for the terminal.

use storebench_figures::column::Unit;
use storebench_figures::data::names::{HEADING, store_style};
use storebench_model::units::three_digits;

use super::aged;
use super::answer::Advice;
use super::changes::changes;
use super::clusters;
use super::ranking::Candidate;
use super::remarks::{any_will_do, practice, remarks};
use super::sentences::{
    cautions, costs, describe_confidence, describe_danger, describe_ratio, given_up, leading_words, measured,
    name, not_measured, notes, riskier, ruled_out, trade,
};
use super::snippet::for_terminal;
use crate::terminal::grid::{Grid, Item, Style, indented, one_line, titled, wrap};

/// Runners-up that get a sentence.
const DISCUSSED: usize = 3;

pub fn text(advice: &Advice, snippet: Option<&str>, style: Style) -> String {
    let mut out = titled("Asked", &[advice.question.to_string()], style);
    let [best, others @ ..] = advice.verdict.ranking.as_slice() else { return out };
    let painted = style.paint(store_style(&best.store), &format!(" {} ", one_line(&best.store)));
    let lead = style.paint(HEADING, leading_words(advice));
    out.push_str(&format!("\n{lead} {painted} {}\n", one_line(&best.version)));
    let cautions = cautions(advice).into_iter().map(|line| format!("Caution: {line}")).collect();
    let lines = [
        any_will_do(advice).into_iter().collect(),
        vec![describe_danger(advice, best)],
        advice.proof.iter().cloned().collect(),
        cautions,
        costs(advice, best),
        remarks(advice),
        practice(advice),
    ]
    .concat();
    out.push_str(&indented(&lines, style));
    out.push_str(&titled("How sure is that?", &[describe_confidence(advice)], style));
    out.push_str(&titled("Riskier", &riskier(advice), style));
    out.push_str(&titled("Measured", &measured(advice), style));
    out.push_str(&titled("As it grows old", &aged::describe(advice), style));
    out.push_str(&titled(clusters::TITLE, &clusters::describe(advice), style));
    if !others.is_empty() {
        out.push_str(&format!("\n{}\n", style.paint(HEADING, "Stores, best first")));
        out.push_str(&table(advice).render(style));
        out.push_str(&wrap(
            "* Consider only these: no other store is at least as good in time, disk and memory.",
            style.width,
            "   ",
        ));
        out.extend(notes(advice).iter().map(|line| wrap(&one_line(line), style.width, "   ")));
        let trades: Vec<String> = others.iter().take(DISCUSSED).map(trade).collect();
        out.push_str(&titled(&format!("Compared with {}", best.store), &trades, style));
    }
    let given_up: Vec<String> =
        advice.verdict.given_up.iter().map(|store| given_up(advice, store) + ".").collect();
    out.push_str(&titled("Given up after a look", &given_up, style));
    out.push_str(&titled("Ruled out", &ruled_out(advice), style));
    out.push_str(&titled("Not measured", &not_measured(advice), style));
    out.push_str(&titled("What would change the answer?", &changes(advice), style));
    out.push_str(&titled(&format!("Settings of {}", best.store), &advice.settings, style));
    if let Some(snippet) = snippet {
        out.push_str(&titled("Open it like this", &[describe_danger(advice, best)], style));
        out.push_str(&for_terminal(snippet));
    }
    out
}

/// A row for every ranked store; all figures are from the same trials.
fn table(advice: &Advice) -> Grid {
    let mut grid = Grid::new(1);
    let operations = advice.question.mix.shares();
    // What a narrow terminal has no room for goes into a second table: the ratio stays in the first.
    let mut head = Vec::from(["", "vs best", "operation"].map(|title| Item::new(title).right()));
    if operations.len() > 1 {
        head.extend(operations.iter().map(|(operation, _)| Item::new(operation.name()).right()));
    }
    head.extend(["space amp.", "memory"].map(|title| Item::new(title).right()));
    grid.head(head);
    let row = |(rank, store): (usize, &Candidate)| {
        let front = if store.beaten_by.is_none() { " *" } else { "" };
        let ns = |value: f64| Item::new(Unit::Nanoseconds.show(value)).right();
        let mut items = vec![
            Item::new(format!("{}{front}", one_line(&name(advice, store))))
                .painted(store_style(&store.store)),
            Item::new(describe_ratio(advice, rank, "tie")).right(),
            ns(store.speed.mean.value),
        ];
        if operations.len() > 1 {
            items.extend(store.operations.iter().map(|(_, latency)| ns(latency.mean.value)));
        }
        items.push(Item::new(three_digits(store.space.mean.value)).right());
        items.push(Item::new(Unit::Bytes.show(store.memory.mean.value)).right());
        items
    };
    grid.group(advice.verdict.ranking.iter().enumerate().map(row).collect());
    grid
}
