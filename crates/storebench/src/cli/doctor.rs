//! `storebench doctor`: what this machine can run of each study, what it lacks with what would help, and what may disturb figures.

mod checks;
mod studies;

use std::path::Path;

use serde::Serialize;
use storebench_core::error::{Error, Exit, Result};
use storebench_core::plan::STUDIES;
use storebench_core::store::StoreDef;
use storebench_report::terminal::grid::wrap;

use self::checks::{Group, Here, Line, State};
use self::studies::{Ability, Lack};
use super::args::DoctorArgs;
use super::output::{WIDTH, print, print_data};
use super::{launch, runs};

/// The version of the form of `--json`.
const FORMAT: u32 = 1;

/// All that was found.
#[derive(Debug, Serialize)]
struct Findings {
    format: u32,
    /// Whether every study that was asked for can be run in full.
    complete: bool,
    studies: Vec<Ability>,
    checks: Vec<Group>,
}

/// Looks, and prints what it found.
///
/// # Errors
/// As for a study or a directory that can't be used.
pub fn doctor(stores: &[StoreDef], args: &DoctorArgs) -> Result<Exit> {
    let directory = runs::directory("looking at", &args.at)?;
    launch::clean(&directory)?;
    let found = look(stores, &names(args), &directory)?;
    if args.json {
        let text = serde_json::to_string_pretty(&found)
            .map_err(|error| Error::new(Exit::Failure, format!("writing JSON: {error}")))?;
        print_data(format!("{text}\n").as_bytes())?;
    } else {
        print(&page(&found))?;
    }
    Ok(if found.complete { Exit::Success } else { Exit::Incomplete })
}

fn names(args: &DoctorArgs) -> Vec<String> {
    match args.studies.as_slice() {
        [] => STUDIES.iter().map(|study| study.name.to_owned()).collect(),
        named => named.to_vec(),
    }
}

fn look(stores: &[StoreDef], names: &[String], directory: &Path) -> Result<Findings> {
    let here = Here::look(stores, directory)?;
    let checks = checks::all(&here);
    let ability = |name: &String| studies::ability(stores, name, directory);
    let studies = names.iter().map(ability).collect::<Result<Vec<Ability>>>()?;
    let complete = studies.iter().all(|study| study.lacks.is_empty());
    Ok(Findings { format: FORMAT, complete, studies, checks })
}

/// The widths of a line's first two columns.
const NAME_WIDTH: usize = 18;
const STATE_WIDTH: usize = 6;

fn page(found: &Findings) -> String {
    let mut text = String::from("What this machine can run\n");
    for study in &found.studies {
        text.push_str(&entry(
            &study.name,
            if study.lacks.is_empty() { "yes" } else { "part" },
            &study.words(),
        ));
        for Lack { reason, combinations } in &study.lacks {
            text.push_str(&entry("", "", &format!("{combinations} need more: {reason}")));
        }
    }
    for Group { about, lines } in &found.checks {
        text.push_str(&format!("\n{}\n", capital(about)));
        for Line { name, state, found, help } in lines {
            let help = help.as_ref().map_or(String::new(), |help| format!(": {help}"));
            text.push_str(&entry(name, state.word(), &format!("{found}{help}")));
        }
    }
    let states = [State::No, State::Hint].map(|state| format!("{}: {}", state.word(), state.meaning()));
    text.push_str(&format!("\n{}", wrap(&format!("{}.", states.join("; ")), WIDTH, "")));
    text
}

/// A line: a name, a word, and a sentence that goes on below itself.
fn entry(name: &str, word: &str, sentence: &str) -> String {
    let first = format!("  {name:<NAME_WIDTH$} {word:<STATE_WIDTH$} ");
    let indent = " ".repeat(first.chars().count());
    let sentence = wrap(sentence, WIDTH.saturating_sub(indent.len()), "");
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
    use storebench_core::stores::{MEMORY, NULL};

    fn found() -> Findings {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        look(&[NULL, MEMORY], &["data-size".into()], directory.path()).unwrap()
    }

    #[test]
    fn a_page_has_every_check_and_fits() {
        let found = found();
        let text = page(&found);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        for group in &found.checks {
            assert!(text.contains(&capital(group.about)) && !group.lines.is_empty(), "{text}");
            for line in &group.lines {
                assert!(text.contains(&line.name) && !line.found.is_empty(), "{}: {text}", line.name);
            }
        }
        assert!(text.starts_with("What this machine can run\n  data-size"), "{text}");
    }

    #[test]
    fn a_sentence_goes_on_below_itself() {
        let text = entry("name", "no", &"word ".repeat(20));
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines.len() > 1 && lines[1].starts_with(&" ".repeat(28)) && lines[1].trim().starts_with("word")
        );
    }
}
