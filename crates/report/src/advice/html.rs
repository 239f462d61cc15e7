//! An answer as a section of the page.

use storebench_figures::column::Unit;
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
use crate::markup::{
    Html, Tag, code, column, heading, note, p, row as table_row, scroll, table as html_table, tag, titled,
};

pub fn section(advice: &Advice, snippet: Option<&str>) -> Html {
    let [best, others @ ..] = advice.verdict.ranking.as_slice() else { return Html::default() };
    let paragraphs = |lines: Vec<String>| lines.into_iter().map(p).collect::<Vec<_>>();
    let lead = (
        leading_words(advice),
        " ",
        tag("strong").with(&best.store),
        " ",
        &best.version,
        ". ",
        describe_danger(advice, best),
    );
    let given_up = advice.verdict.given_up.iter().map(|store| given_up(advice, store)).collect();
    let cautions = cautions(advice).into_iter();
    let compared = (!others.is_empty()).then(|| {
        (
            heading("Stores, best first"),
            table(advice),
            notes(advice).into_iter().map(note).collect::<Vec<_>>(),
            titled(&format!("Compared with {}", best.store), others.iter().map(trade).collect()),
        )
    });
    let summary = (
        (
            p(lead).class("lead"),
            any_will_do(advice).map(p),
            advice.proof.clone().map(p),
            cautions.map(|line| p((tag("strong").with("Caution: "), line))).collect::<Vec<_>>(),
            paragraphs([costs(advice, best), remarks(advice), practice(advice)].concat()),
        ),
        p(("How sure is that? ", describe_confidence(advice))),
        titled("Riskier", riskier(advice)),
        titled("As it grows old", aged::describe(advice)),
        titled(clusters::TITLE, clusters::describe(advice)),
        note(("Asked: ", advice.question.to_string(), ".")),
        note(("Measured: ", measured(advice).join(" "))),
    );
    let details = (
        (compared, titled("Given up after a look", given_up)),
        titled("Ruled out", ruled_out(advice)),
        titled("Not measured", not_measured(advice)),
        titled("What would change the answer?", changes(advice)),
        (heading(&format!("Settings of {}", best.store)), paragraphs(advice.settings.clone())),
        snippet
            .map(|snippet| (heading("Open it like this"), p(describe_danger(advice, best)), code(snippet))),
    );
    Html::new(tag("section").class("group").with(summary).with(details))
}

fn table(advice: &Advice) -> Tag {
    let operations = advice.question.mix.shares().iter().map(|(operation, _)| operation.name());
    let heads = ["store", "operation"].into_iter().chain(operations);
    let heads = heads.chain(["space amp.", "memory", "vs best", "consider"]).map(column);
    let rows = advice.verdict.ranking.iter().enumerate();
    let rows: Vec<Tag> = rows.map(|(rank, store)| row(advice, rank, store)).collect();
    scroll(html_table(heads.collect(), rows).class("figures"))
}

fn row(advice: &Advice, rank: usize, store: &Candidate) -> Tag {
    let times = std::iter::once(&store.speed).chain(store.operations.iter().map(|(_, latency)| latency));
    let mut cells: Vec<String> = times.map(|time| Unit::Nanoseconds.show(time.mean.value)).collect();
    cells.push(three_digits(store.space.mean.value));
    cells.push(Unit::Bytes.show(store.memory.mean.value));
    cells.push(describe_ratio(advice, rank, "too close to call"));
    let equal = |other: &String| format!("no: {other} is as good");
    cells.push(store.beaten_by.as_ref().map_or_else(|| "yes".into(), equal));
    let cells: Vec<Tag> = cells.into_iter().map(|cell| tag("td").with(cell)).collect();
    table_row(name(advice, store), cells)
}
