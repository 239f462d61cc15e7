//! `storebench doctor`: what this machine can run of each study, what it lacks and what would help, and what may disturb figures.

mod checks;
mod studies;

use std::path::Path;

use serde::Serialize;
use storebench_host::image::driver;
use storebench_host::plan::STUDIES;
use storebench_model::error::{Exit, Result};
use storebench_model::store::StoreDef;
use storebench_report::terminal::checklist::{Group, Line, State, entry};
use storebench_report::terminal::grid::wrap;

use self::checks::CheckedMachine;
use self::studies::{MissingNeed, StudyAbility};
use super::args::DoctorArgs;
use super::output::{WIDTH, print, print_json};
use super::{launch, runs};

/// The version of the `--json` format.
const FORMAT: u32 = 1;

#[derive(Debug, Serialize)]
struct Findings {
    format: u32,
    /// Whether every requested study can run completely.
    complete: bool,
    studies: Vec<StudyAbility>,
    checks: Vec<Group>,
}

pub fn doctor(stores: &[StoreDef], args: &DoctorArgs) -> Result<Exit> {
    let directory = runs::directory("looking at", &args.at)?;
    launch::delete_leftovers(&directory)?;
    let findings = check_machine(stores, &names(args), &directory)?;
    if args.json {
        print_json(&findings)?;
    } else {
        print(&page(&findings))?;
    }
    Ok(if findings.complete { Exit::Success } else { Exit::Incomplete })
}

fn names(args: &DoctorArgs) -> Vec<String> {
    match args.studies.as_slice() {
        [] => STUDIES.iter().map(|study| study.name.to_owned()).collect(),
        names => names.to_vec(),
    }
}

fn check_machine(stores: &[StoreDef], names: &[String], directory: &Path) -> Result<Findings> {
    // As root this command would mount nothing that stays.
    driver::advise("run the study as root");
    let checked = CheckedMachine::inspect(stores, directory)?;
    let checks = checks::run_all(&checked);
    let ability = |name: &String| studies::ability(stores, name, directory);
    let studies = names.iter().map(ability).collect::<Result<Vec<StudyAbility>>>()?;
    let complete = studies.iter().all(|study| study.lacks.is_empty());
    Ok(Findings { format: FORMAT, complete, studies, checks })
}

/// A reason; if its remedy was named before, the study or check that named it instead of the remedy.
fn without_repetition<'f>(reasons: &mut Vec<(String, &'f str)>, name: &'f str, reason: &str) -> String {
    let find_place = |text: &str| {
        let (_, place) = reasons.iter().find(|(earlier, _)| earlier.ends_with(text))?;
        Some(if *place == name { "as above".to_owned() } else { format!("as for {place}") })
    };
    let find_remedy = || {
        let (text, remedy) = reason.split_once(": ")?;
        find_place(&format!(": {remedy}")).map(|earlier| format!("{text}: {earlier}"))
    };
    find_place(reason).or_else(find_remedy).unwrap_or_else(|| {
        reasons.push((reason.to_owned(), name));
        reason.to_owned()
    })
}

fn page(findings: &Findings) -> String {
    let mut reasons = Vec::new();
    // If these could not begin, the check of the directory has failed.
    let stores = findings.checks.iter().flat_map(|group| &group.lines).next();
    let summary =
        stores.map(|built| format!("Works here: run crud --quick, advise and tune, with {}.", built.found));
    let mut text = summary.map_or_else(String::new, |summary| wrap(&summary, WIDTH, "  ") + "\n");
    text.push_str("What this machine can run\n");
    for study in &findings.studies {
        let word = match study.can {
            _ if study.lacks.is_empty() => "yes",
            0 => "no",
            _ => "part",
        };
        text.push_str(&entry(&study.name, word, &study.describe(), WIDTH));
        for MissingNeed { reason, combinations } in &study.lacks {
            let reason = without_repetition(&mut reasons, &study.name, reason);
            text.push_str(&entry("", "", &format!("{combinations} need more: {reason}"), WIDTH));
        }
    }
    for group in &findings.checks {
        let lines = group.lines.iter().map(|line| {
            let found = match line.state {
                State::No => without_repetition(&mut reasons, &line.name, &line.found),
                State::Ok | State::Hint => line.found.clone(),
            };
            Line { name: line.name.clone(), state: line.state, found, help: line.help.clone() }
        });
        let group = Group { about: group.about, lines: lines.collect() };
        text.push_str(&format!("\n{}", group.text(WIDTH)));
    }
    let states = [
        (State::No, "what needs it can't be run here"),
        (State::Hint, "it may disturb figures, or make them mean less"),
    ];
    let states = states.map(|(state, meaning)| format!("{}: {meaning}", state.name()));
    text.push_str(&format!("\n{}", wrap(&format!("{}.", states.join("; ")), WIDTH, "")));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_is_named_once_and_a_study_of_which_nothing_can_run_is_no_part() {
        let mut reasons = Vec::new();
        let mut once = |name, reason: &str| super::without_repetition(&mut reasons, name, reason);
        assert_eq!(once("crud", "a disk needs FUSE: load fuse"), "a disk needs FUSE: load fuse");
        assert_eq!(once("crud", "another needs FUSE: load fuse"), "another needs FUSE: as above");
        assert_eq!(once("FUSE", "load fuse"), "as for crud");
        assert_eq!(once("FUSE", "it needs a loop device"), "it needs a loop device");
        let lacks = vec![MissingNeed { reason: "a server".into(), combinations: 3 }];
        let study = StudyAbility { name: "data-size".into(), can: 0, of: 3, asks_for: None, lacks };
        let findings = Findings { format: FORMAT, complete: false, studies: vec![study], checks: Vec::new() };
        assert!(
            page(&findings).contains("  data-size          no     0 of 3 combinations"),
            "{}",
            page(&findings)
        );
    }
}
