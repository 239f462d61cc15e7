//! An answer as a section of the page.

use storebench_core::units::three_digits;

use super::Advice;
use super::changes::changes;
use super::judge::{Candidate, reasons};
use super::remarks::{practice, remarks};
use super::sentences::{
    against, costs, danger, given_up, measured, name, notes, riskier, settings, sure, trade,
};
use crate::column::Unit;
use crate::page::markup::{element, escape, list};

/// The section's content.
pub fn section(advice: &Advice, snippet: Option<&str>) -> String {
    let [best, others @ ..] = advice.verdict.ranking.as_slice() else { return String::new() };
    let paragraphs = |lines: &[String]| lines.iter().map(|line| element("p", line)).collect::<String>();
    let items = |lines: &[String]| list(&lines.iter().map(|line| escape(line)).collect::<Vec<_>>());
    let titled = |title: &str, lines: &[String]| match lines {
        [] => String::new(),
        _ => format!("<h3>{title}</h3>{}", items(lines)),
    };
    let lead = if advice.is_recommendation() { "Keep them in" } else { "Only one store was measured:" };
    let mut out = format!(
        "<section class=\"group\"><p class=\"lead\">{lead} <strong>{}</strong> {}. {}</p>",
        escape(&best.store),
        escape(&best.version),
        escape(&danger(advice, best)),
    );
    out.push_str(&paragraphs(&[costs(advice, best), remarks(advice), practice(advice)].concat()));
    out.push_str(&element("p", &format!("How sure is that? {}", sure(advice))));
    out.push_str(&format!(
        "<p class=\"note\">Asked: {}.</p><p class=\"note\">Measured: {}</p>",
        escape(&advice.question.to_string()),
        escape(&measured(advice).join(" "))
    ));
    let risks: Vec<String> = advice.verdict.riskier.iter().map(|store| riskier(advice, store)).collect();
    out.push_str(&titled("Riskier", &risks));
    if !others.is_empty() {
        out.push_str("<h3>Stores, best first</h3>");
        out.push_str(&table(advice));
        out.extend(notes(advice).iter().map(|line| format!("<p class=\"note\">{}</p>", escape(line))));
        out.push_str(&format!("<h3>Compared with {}</h3>", escape(&best.store)));
        out.push_str(&items(&others.iter().map(trade).collect::<Vec<_>>()));
    }
    let looked: Vec<String> = advice.verdict.given_up.iter().map(|store| given_up(advice, store)).collect();
    out.push_str(&titled("Given up after a first look", &looked));
    out.push_str(&titled("Ruled out", &reasons(&advice.verdict.out)));
    out.push_str("<h3>What would change the answer?</h3>");
    out.push_str(&items(&changes(advice)));
    out.push_str(&element("h3", &format!("Settings of {}", best.store)));
    out.push_str(&element("p", &settings(best)));
    if let Some(snippet) = snippet {
        out.push_str(&format!(
            "<h3>Open it like this</h3>{}<div class=\"code\"><pre tabindex=\"0\">{}</pre></div>",
            element("p", &danger(advice, best)),
            escape(snippet)
        ));
    }
    out + "</section>"
}

fn table(advice: &Advice) -> String {
    let mut head: Vec<String> = vec!["store".into(), "operation".into()];
    head.extend(advice.question.mix.shares().iter().map(|(operation, _)| operation.name().to_owned()));
    head.extend(["disk/values", "memory", "vs best", "consider"].map(str::to_owned));
    let head: String = head.iter().map(|title| format!("<th scope=\"col\">{}</th>", escape(title))).collect();
    let rows = advice.verdict.ranking.iter().enumerate();
    let rows: String = rows.map(|(rank, store)| row(advice, rank, store)).collect();
    format!(
        "<div class=\"scroll\"><table class=\"figures\"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
}

fn row(advice: &Advice, rank: usize, store: &Candidate) -> String {
    let mut cells = vec![Unit::Nanoseconds.show(store.speed.mean.value)];
    cells.extend(store.operations.iter().map(|(_, latency)| Unit::Nanoseconds.show(latency.mean.value)));
    cells.push(three_digits(store.space.mean.value));
    cells.push(Unit::Bytes.show(store.memory.mean.value));
    cells.push(against(rank, store, "too close to call"));
    cells.push(
        store.beaten_by.as_ref().map_or_else(|| "yes".into(), |other| format!("no: {other} is as good")),
    );
    let cells: String = cells.iter().map(|cell| element("td", cell)).collect();
    format!("<tr><th scope=\"row\">{}</th>{cells}</tr>", escape(&name(advice, store)))
}
