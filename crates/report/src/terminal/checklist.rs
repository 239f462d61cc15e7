//! Lists of checks, of a machine or a run.

use serde::Serialize;
use storebench_model::words::words;

use super::grid::wrap;

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum State {
    /// In order.
    Ok,
    /// Not in order.
    No,
    /// May make figures less meaningful.
    Hint,
}

words!(State);

/// A line of a checklist.
#[derive(Debug, Serialize)]
pub struct Line {
    /// Its subject.
    pub name: String,
    /// The result of the check.
    pub state: State,
    /// The finding in words.
    pub found: String,
    /// What would help, if `found` doesn't say it.
    pub help: Option<String>,
}

impl Line {
    /// A check in order.
    pub fn ok(name: impl Into<String>, found: impl Into<String>) -> Line {
        Line { name: name.into(), state: State::Ok, found: found.into(), help: None }
    }

    /// A failed check.
    pub fn no(name: impl Into<String>, found: impl Into<String>) -> Line {
        Line { state: State::No, ..Line::ok(name, found) }
    }

    /// A check that may make figures less meaningful, unless the user follows `help`.
    pub fn hint(name: impl Into<String>, found: impl Into<String>, help: impl Into<String>) -> Line {
        Line { state: State::Hint, help: Some(help.into()), ..Line::ok(name, found) }
    }
}

/// The lines of one check.
#[derive(Debug, Serialize)]
pub struct Group {
    /// Their subject.
    pub about: &'static str,
    /// At least one.
    pub lines: Vec<Line>,
}

impl Group {
    /// The group as text of this width, under its subject.
    pub fn text(&self, width: usize) -> String {
        let mut text = format!("{}\n", capital(self.about));
        for Line { name, state, found, help } in &self.lines {
            let help = help.as_ref().map_or(String::new(), |help| format!(": {help}"));
            text.push_str(&entry(name, state.name(), &format!("{found}{help}"), width));
        }
        text
    }
}

/// The widths of a line's first two columns.
const NAME_WIDTH: usize = 18;
const STATE_WIDTH: usize = 6;

/// A line: a name, a word, and a sentence that wraps below itself.
pub fn entry(name: &str, word: &str, sentence: &str, width: usize) -> String {
    let first = format!("  {name:<NAME_WIDTH$} {word:<STATE_WIDTH$} ");
    let indent = " ".repeat(first.chars().count());
    let sentence = wrap(sentence, width.saturating_sub(indent.len()), "");
    let mut lines = sentence.lines();
    let mut text = format!("{first}{}\n", lines.next().unwrap_or_default());
    lines.for_each(|line| text.push_str(&format!("{indent}{line}\n")));
    text
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_goes_on_below_itself() {
        let lines = vec![Line::ok("clock", "tsc"), Line::hint("load", "some other work", "end it")];
        let text = Group { about: "the machine", lines }.text(45);
        let indent = " ".repeat(28);
        assert_eq!(
            text,
            format!(
                "The machine\n  clock              ok     tsc\n  load               hint   some other work:\n{indent}end it\n"
            )
        );
    }
}
