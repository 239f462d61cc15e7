//! An answer as a section of the page.

use super::TunedSettings;
use super::sentences::{
    WORTH_NOTE, change, describe_elsewhere, describe_safety, describe_tried, gain, leading_line, mattered,
    not_taken, settings, times, worth_words,
};
use super::worth::ValueWorth;
use crate::markup::{
    Html, Tag, code, column, heading, list, note, number, p, row, scroll, table, tag, titled,
};

pub fn section(tuned: &TunedSettings, snippet: Option<&str>) -> Html {
    let changes = tuned.changes().map(|gain| {
        list(gain.changes.iter().map(|entry| tag("strong").with(change(tuned, entry))).collect())
    });
    let safety = tuned.changes().is_none().then(|| p(describe_safety(tuned)));
    let worth = (!tuned.worth.is_empty()).then(|| {
        let rows: Vec<Tag> = tuned.worth.iter().map(worth_row).collect();
        let heads = ["value", "time", ""].map(column).into();
        (
            (heading("What each setting is worth"), scroll(table(heads, rows).class("figures"))),
            note(WORTH_NOTE),
            mattered(tuned).into_iter().map(p).collect::<Vec<_>>(),
        )
    });
    let first = (
        p(leading_line(tuned)).class("lead"),
        changes,
        (gain(tuned).into_iter().map(p).collect::<Vec<_>>(), safety),
        note(("Asked: ", tuned.question.to_string(), ".")),
        note(("Tried: ", describe_tried(tuned).join(" "))),
    );
    let rest = (
        titled("Where the gain turns into a loss", describe_elsewhere(tuned)),
        worth,
        titled("Not taken", not_taken(tuned)),
        (heading(&format!("Settings of {}", tuned.store.0)), p(settings(tuned))),
        snippet.map(|snippet| (heading("Open it like this"), code(snippet))),
    );
    Html::new(tag("section").class("group").with(first).with(rest))
}

fn worth_row(worth: &ValueWorth) -> Tag {
    let name = format!("{}={}, not {}", worth.change.setting, worth.readable[0], worth.readable[1]);
    let time = worth.times.as_ref().map_or_else(|| "-".to_owned(), times);
    row(name, (number(time), tag("td").with(worth_words(worth))))
}
