//! The soundness of one run: whether it is complete, figures follow from histograms, the machine was quiet, and what is doubtful.

mod figures;

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use storebench_figures::data::merge::Merged;
use storebench_figures::data::rule::rule_text;
use storebench_figures::data::summary::{counts, cut_off, noise_lines, unfinished, warning_lines};
use storebench_figures::data::{builds, contention};
use storebench_figures::judge::Rule;
use storebench_host::run::Run;
use storebench_model::result::{Environment, Outcome};
use storebench_model::sanitize;
use storebench_model::units::{plural, three_digits};

use crate::report::Report;
use crate::terminal::checklist::{Group, Line, State};

/// A clock that takes longer than this to read makes the quickest operations inaccurate.
pub const SLOW_CLOCK_NS: f64 = 100.0;
/// Load per processor from which other programs are clearly at work.
pub const BUSY: f64 = 0.2;
/// The harness is at fault if it takes this share of the threads' time.
const MUCH_SHARE: f64 = 0.5;
const MOST_SHOWN: usize = 3;

/// All checks of the single run in `report`, of this folder; `notes` list damage to its files.
pub fn all(report: &Report<'_>, folder: &Path, notes: &[String]) -> Vec<Group> {
    let merged = report.merged;
    let Some(run) = merged.runs.first() else { return Vec::new() };
    vec![
        Group { about: "the files", lines: check_files(run, notes) },
        Group {
            about: "the run",
            lines: check_complete(merged, folder).chain(check_trials(report)).collect(),
        },
        Group { about: "the machine", lines: check_machine(merged, &run.header.environment) },
        Group {
            about: "the figures",
            lines: vec![check_harness(merged, run), check_warnings(merged), check_engines(merged)],
        },
    ]
}

/// Whether no check failed.
pub fn is_sound(groups: &[Group]) -> bool {
    groups.iter().flat_map(|group| &group.lines).all(|line| line.state != State::No)
}

/// The first findings, and the number of others; `None` without findings.
fn first_findings(found: &[String]) -> Option<String> {
    let more = found.len().saturating_sub(MOST_SHOWN);
    let more = (more > 0).then(|| format!("and {more} more"));
    let shown: Vec<String> = found.iter().take(MOST_SHOWN).cloned().chain(more).collect();
    (!shown.is_empty()).then(|| shown.join("; "))
}

fn check_files(run: &Run, notes: &[String]) -> Vec<Line> {
    let lines = [check_results(run, notes), check_figures(run), check_unique(run)];
    lines.into_iter().chain(find_user_names(run)).collect()
}

/// Addresses with user names in the run's files: whoever publishes the run should know.
fn find_user_names(run: &Run) -> Option<Line> {
    let texts = run.header.command.iter().chain([&run.header.plan]);
    let words = texts.flat_map(|text| text.split([' ', '\n', '"', '\'', ',']));
    let named = words.filter(|word| sanitize::without_names(word) != *word);
    let addresses: BTreeSet<String> = named.map(sanitize::without_users).collect();
    let addresses: Vec<String> = addresses.into_iter().collect();
    let help = "reports and sites leave user names out; look at run.json before you publish it";
    Some(Line::hint("names", format!("run.json has {}", first_findings(&addresses)?), help))
}

fn check_results(run: &Run, notes: &[String]) -> Line {
    match first_findings(notes) {
        Some(notes) => Line::no("results", notes),
        None => Line::ok("results", format!("read whole: {}", plural(run.trials.len(), "trial"))),
    }
}

fn check_figures(run: &Run) -> Line {
    let (checked, wrong) = figures::find_wrong(run);
    match first_findings(&wrong) {
        Some(wrong) => Line::no("figures", format!("these do not follow from their histograms: {wrong}")),
        None => {
            let checked = plural(checked, "operation");
            Line::ok("figures", format!("the figures of {checked} follow from their histograms"))
        }
    }
}

fn check_unique(run: &Run) -> Line {
    let (mut cells, mut positions) = (HashSet::new(), HashSet::new());
    let mut wrong: Vec<String> = Vec::new();
    for trial in &run.trials {
        if !cells.insert((&trial.cell, trial.block)) || !positions.insert(trial.position) {
            wrong.push(format!("{}, block {}, is there twice", trial.cell.id(), trial.block));
        }
    }
    match first_findings(&wrong) {
        Some(wrong) => Line::no("trials", wrong),
        None => Line::ok("trials", "each is there once"),
    }
}

fn check_complete(merged: &Merged<'_>, folder: &Path) -> impl Iterator<Item = Line> {
    let lacking = unfinished(merged);
    let whole = lacking.is_empty().then(|| Line::ok("complete", counts(merged)));
    let lacking = lacking.into_iter().map(|line| Line::no("complete", line));
    let trials = merged.runs.iter().flat_map(|run| &run.trials);
    let failed = trials.filter(|trial| matches!(trial.outcome, Outcome::Failed { .. })).count();
    let failed = (failed > 0).then(|| {
        let help = format!("its report shows the reasons: storebench report {}", folder.display());
        Line::hint("failed", format!("{} failed", plural(failed, "trial")), help)
    });
    whole.into_iter().chain(lacking).chain(failed)
}

fn check_trials(report: &Report<'_>) -> Vec<Line> {
    let rules = report.matrices().iter().flatten().flat_map(|matrix| matrix.rules());
    let few: BTreeSet<Rule> = rules.filter(|rule| rule.names_candidates()).collect();
    let line = |rule| Line { state: State::Hint, ..Line::ok("candidates", rule_text(rule)) };
    few.into_iter().map(line).collect()
}

const CROWDED: &str =
    "On average they may take what a store's threads leave, and a quarter of a processor more.";

fn check_machine(merged: &Merged<'_>, machine: &Environment) -> Vec<Line> {
    let mut lines = Vec::new();
    let crowded = contention::describe_contention(merged).into_iter();
    let hint =
        |line: String| Line { state: State::Hint, ..Line::ok("other programs", format!("{line} {CROWDED}")) };
    lines.extend(crowded.map(hint));
    if lines.is_empty() {
        let busy = merged.runs.iter().flat_map(|run| &run.trials).filter_map(|trial| trial.others_processors);
        lines.push(match busy.reduce(f64::max) {
            Some(most) => {
                let busy = format!("kept {} of {} processors busy", three_digits(most), machine.cores);
                Line::ok("other programs", format!("{busy} at most. {CROWDED}"))
            }
            None => Line::hint("other programs", "not known", "this system does not report what they took"),
        });
    }
    let finding = |load: f64| format!("{load} on {} processors when the run began", machine.cores);
    lines.push(match machine.load_1min {
        Some(load) if load > BUSY * f64::from(machine.cores) => {
            Line::hint("load", finding(load), "something else was running, or had just ended")
        }
        Some(load) => Line::ok("load", finding(load)),
        None => Line::hint("load", "not known", "this system does not report it"),
    });
    let clock = format!("{}, {} ns a reading", machine.clock, three_digits(machine.clock_ns));
    lines.push(match machine.clock_ns > SLOW_CLOCK_NS {
        true => Line::hint("clock", clock, "operations of less than a microsecond are blurred"),
        false => Line::ok("clock", clock),
    });
    if let Some(governor) = machine.governor.as_deref().filter(|name| *name != "performance") {
        lines.push(Line::hint("governor", governor, "the frequency can change with the load"));
    }
    let noise = cut_off(noise_lines(merged), "signs of noise");
    match noise.is_empty() {
        true => lines.push(Line::ok("noise", "no sign of it; few trials show few")),
        false => lines.push(Line::hint("noise", "trials differ", noise.join(" "))),
    }
    lines
}

fn check_harness(merged: &Merged<'_>, run: &Run) -> Line {
    let stores = run.trials.iter().filter(|trial| !merged.is_harness(trial.cell.store()));
    let shares = stores.flat_map(|trial| {
        let operations = trial.ok().into_iter().flat_map(|measured| &measured.operations);
        operations
            .filter_map(move |operation| Some((operation.harness_share?, &operation.operation, &trial.cell)))
    });
    let Some((share, operation, cell)) = shares.max_by(|a, b| a.0.total_cmp(&b.0)) else {
        return Line::ok("harness", "no closed loop, so no such share");
    };
    let finding =
        format!("took at most {:.0} % of the threads' time: {operation} of {}", share * 100.0, cell.id());
    let help = "storebench was busy for longer than the store was; latencies are the store's alone";
    match share > MUCH_SHARE {
        true => Line::hint("harness", finding, help),
        false => Line::ok("harness", finding),
    }
}

fn check_warnings(merged: &Merged<'_>) -> Line {
    match first_findings(&cut_off(warning_lines(merged), "warnings")) {
        Some(warnings) => Line::hint("warnings", "some figures can't be as they seem", warnings),
        None => Line::ok("warnings", "none"),
    }
}

fn check_engines(merged: &Merged<'_>) -> Line {
    match first_findings(&builds::not_ranked(merged)) {
        Some(builds) => Line::hint("engines", "not all are as their authors ship them", builds),
        None => Line::ok("engines", "none is known to be built as its authors would not ship it"),
    }
}

#[cfg(test)]
mod tests;
