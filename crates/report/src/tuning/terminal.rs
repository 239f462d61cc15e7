//! An answer for the terminal.

use storebench_figures::data::names::HEADING;

use super::TunedSettings;
use super::sentences::{
    WORTH_NOTE, change, describe_elsewhere, describe_safety, describe_tried, gain, leading_line, mattered,
    not_taken, settings, times, worth_words,
};
use super::worth::ValueWorth;
use crate::advice::snippet::for_terminal;
use crate::terminal::grid::{Grid, Item, Style, indented, one_line, titled, wrap};

pub fn text(tuned: &TunedSettings, snippet: Option<&str>, style: Style) -> String {
    let mut out = titled("Asked", &[tuned.question.to_string()], style);
    out.push_str(&format!("\n{}\n", style.paint(HEADING, &one_line(&leading_line(tuned)))));
    if let Some(gain) = tuned.changes() {
        let changes: Vec<String> = gain.changes.iter().map(|entry| change(tuned, entry)).collect();
        out.push_str(&indented(&changes, style));
    }
    out.push_str(&titled("What that gains", &gain(tuned), style));
    if tuned.changes().is_none() {
        out.push_str(&indented(&[describe_safety(tuned)], style));
    }
    out.push_str(&titled("Where the gain turns into a loss", &describe_elsewhere(tuned), style));
    if !tuned.worth.is_empty() {
        out.push_str(&format!("\n{}\n", style.paint(HEADING, "What each setting is worth")));
        out.push_str(&table(&tuned.worth).render(style));
        out.push_str(&wrap(WORTH_NOTE, style.width, "   "));
        out.push_str(&indented(&mattered(tuned), style));
    }
    out.push_str(&titled("Not taken", &not_taken(tuned), style));
    out.push_str(&titled("Tried", &describe_tried(tuned), style));
    out.push_str(&titled(&format!("Settings of {}", tuned.store.0), &[settings(tuned)], style));
    if let Some(snippet) = snippet {
        out.push_str(&format!("\n{}\n", style.paint(HEADING, "Open it like this")));
        out.push_str(&for_terminal(snippet));
    }
    out
}

fn table(worth: &[ValueWorth]) -> Grid {
    let mut grid = Grid::new(1);
    grid.head(vec![Item::new("setting"), Item::new("time").right(), Item::new("")]);
    for values in worth.chunk_by(|a, b| a.change.setting == b.change.setting) {
        let row = |worth: &ValueWorth| {
            let time = worth.times.as_ref().map_or_else(|| "-".to_owned(), times);
            vec![
                Item::new(one_line(&worth.readable[0])),
                Item::new(time).right(),
                Item::new(worth_words(worth)),
            ]
        };
        let title = values.first().map_or_else(String::new, |first| {
            format!("{}, from {}", first.change.setting, first.readable[1])
        });
        grid.titled_group(one_line(&title), values.iter().map(row).collect());
    }
    grid
}
