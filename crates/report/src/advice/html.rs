//! An answer as a section of the page.

use storebench_core::units::three_digits;

use super::Advice;
use super::judge::{Candidate, reasons};
use super::sentences::{changes, costs, measured, name, notes, settings, sure, times_worse, trade};
use crate::column::Unit;
use crate::markup::{
    Html, Tag, code, column, list, note, p, row as table_row, scroll, table as html_table, tag,
};

/// The section's content.
pub fn section(advice: &Advice, snippet: Option<&str>) -> Html {
    let [best, others @ ..] = advice.verdict.ranking.as_slice() else { return Html::default() };
    let paragraphs = |lines: Vec<String>| lines.into_iter().map(p).collect::<Vec<_>>();
    let heading = |text: &str| tag("h3").with(text);
    let lead = ("Keep them in ", tag("strong").with(&best.store), " ", &best.version, ".");
    let compared = (!others.is_empty()).then(|| {
        (
            heading("The stores, the best first"),
            table(advice),
            notes(advice).into_iter().map(note).collect::<Vec<_>>(),
            heading(&format!("What they give up against {}, and gain", best.store)),
            list(others.iter().map(trade).collect()),
        )
    });
    let out = (!advice.verdict.out.is_empty())
        .then(|| (heading("Out of the question"), list(reasons(&advice.verdict.out))));
    let answer = (
        (p(lead).class("lead"), paragraphs(costs(advice, best))),
        p(("How sure is that? ", sure(advice))),
        note(("Asked: ", advice.question.to_string(), ".")),
        note(("Measured: ", measured(advice).join(" "))),
        (compared, out),
        (heading("What would change the answer?"), list(changes(advice))),
        (heading(&format!("How {} was open", best.store)), p(settings(best))),
        snippet.map(|snippet| (heading("Open it like this"), code(snippet))),
    );
    Html::of((
        tag("section").class("group").with(answer),
        heading("All that was measured for it, operation by operation"),
    ))
}

fn table(advice: &Advice) -> Tag {
    let operations = advice.question.mix.shares().iter().map(|(operation, _)| operation.name());
    let heads = ["store", "operation"].into_iter().chain(operations);
    let heads = heads.chain(["disk/values", "memory", "times worse", "Pareto front"]).map(column);
    let rows = advice.verdict.ranking.iter().enumerate();
    let rows: Vec<Tag> = rows.map(|(rank, store)| row(advice, rank, store)).collect();
    scroll(html_table(heads.collect(), rows).class("figures"))
}

fn row(advice: &Advice, rank: usize, store: &Candidate) -> Tag {
    let mut cells = vec![Unit::Nanoseconds.show(store.speed.mean.value)];
    cells.extend(store.operations.iter().map(|(_, latency)| Unit::Nanoseconds.show(latency.mean.value)));
    cells.push(three_digits(store.space.mean.value));
    cells.push(Unit::Bytes.show(store.memory.mean.value));
    cells.push(times_worse(rank, store, "too close to call"));
    cells.push(store.beaten_by.as_ref().map_or_else(|| "on it".into(), |other| format!("behind {other}")));
    let cells: Vec<Tag> = cells.into_iter().map(|cell| tag("td").with(cell)).collect();
    table_row(name(advice, store), cells)
}
