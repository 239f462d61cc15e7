//! `storebench doctor`: what this machine can run of each study, what it lacks with what would help, and what may disturb figures.

mod checks;
mod studies;

use std::path::Path;

use serde::Serialize;
use storebench_core::error::{Exit, Result};
use storebench_core::store::StoreDef;
use storebench_host::plan::STUDIES;
use storebench_report::terminal::checklist::{Group, State, entry};
use storebench_report::terminal::grid::wrap;

use self::checks::Here;
use self::studies::{Ability, Lack};
use super::args::DoctorArgs;
use super::output::{WIDTH, print, print_json};
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
pub fn doctor(stores: &[StoreDef], args: &DoctorArgs) -> Result<Exit> {
    let directory = runs::directory("looking at", &args.at)?;
    launch::clean(&directory)?;
    let found = look(stores, &names(args), &directory)?;
    if args.json {
        print_json(&found)?;
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

/// The meaning of a state where it is told of this machine.
fn meaning(state: State) -> &'static str {
    match state {
        State::Ok => "it is there",
        State::No => "what needs it can't be run here",
        State::Hint => "it may disturb figures, or make them mean less",
    }
}

fn page(found: &Findings) -> String {
    let mut text = String::from("What this machine can run\n");
    for study in &found.studies {
        let word = if study.lacks.is_empty() { "yes" } else { "part" };
        text.push_str(&entry(&study.name, word, &study.words(), WIDTH));
        for Lack { reason, combinations } in &study.lacks {
            text.push_str(&entry("", "", &format!("{combinations} need more: {reason}"), WIDTH));
        }
    }
    for group in &found.checks {
        text.push_str(&format!("\n{}", group.text(WIDTH)));
    }
    let states = [State::No, State::Hint].map(|state| format!("{}: {}", state.name(), meaning(state)));
    text.push_str(&format!("\n{}", wrap(&format!("{}.", states.join("; ")), WIDTH, "")));
    text
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
        // The path of a folder is one word, and as long as it is.
        let fits = |line: &str| line.chars().count() <= WIDTH || !line.trim().contains(' ');
        assert!(text.lines().all(fits), "{text}");
        for group in &found.checks {
            assert!(text.contains(&group.text(WIDTH)) && !group.lines.is_empty(), "{text}");
            for line in &group.lines {
                assert!(text.contains(&line.name) && !line.found.is_empty(), "{}: {text}", line.name);
            }
        }
        assert!(text.starts_with("What this machine can run\n  data-size"), "{text}");
    }
}
