//! The page of a published finding: on which machines, at which guarantee, it holds.

use std::collections::BTreeMap;

use storebench_figures::claims::Verdict;
use storebench_figures::data::findings::words::describe_machines;
use storebench_model::units::plural;

use super::facts::{Outcome, RunFacts, SentenceVerdict};
use super::frame::{UP, link, page, run_link, table_section, td, type_notes};
use crate::markup::{Html, Tag, folded, list, note, p, row, small, tag};
use crate::page::findings::badge;

pub type RunVerdicts<'f> = Vec<(&'f RunFacts, &'f SentenceVerdict)>;

pub fn group_by_finding(runs: &[RunFacts]) -> BTreeMap<(&str, usize, &str), RunVerdicts<'_>> {
    let mut findings: BTreeMap<(&str, usize, &str), RunVerdicts<'_>> = BTreeMap::new();
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let each_verdict = || runs.iter().flat_map(|run| run.verdicts.iter().map(move |verdict| (run, verdict)));
    for (_, verdict) in each_verdict() {
        // The same finding may have another number in the plan of an older version.
        let number = numbers.entry(&verdict.name).or_insert(verdict.number);
        *number = verdict.number.min(*number);
    }
    for (run, verdict) in each_verdict() {
        let number = numbers.get(verdict.name.as_str()).copied().unwrap_or(verdict.number);
        findings.entry((&verdict.study, number, &verdict.name)).or_default().push((run, verdict));
    }
    findings
}

fn outcomes<'f>(run_verdicts: &'f RunVerdicts<'f>) -> impl Iterator<Item = (&'f RunFacts, &'f Outcome)> {
    run_verdicts.iter().filter_map(|(run, verdict)| Some((*run, verdict.outcome.as_ref()?)))
}

pub fn is_measured(run_verdicts: &RunVerdicts<'_>) -> bool {
    outcomes(run_verdicts).next().is_some()
}

/// The number of machines on which it holds; `None` for a single machine.
fn machine_summary(run_verdicts: &RunVerdicts<'_>) -> Option<String> {
    describe_machines(
        outcomes(run_verdicts).map(|(run, outcome)| (run.header.hardware.as_str().into(), outcome.verdict)),
    )
}

pub fn finding_page(run_verdicts: &RunVerdicts<'_>) -> String {
    let Some((_, first)) = run_verdicts.first() else { return String::new() };
    let mut lines: Vec<_> = outcomes(run_verdicts).collect();
    lines
        .sort_by_key(|(run, outcome)| (&run.header.hardware, &outcome.scope, &run.header.started, &run.name));
    let unmeasured_runs = run_verdicts.len() - lines.len();
    let format_row = |(run, outcome): &(&RunFacts, &Outcome)| {
        let verdict = link(UP, "runs", &run.name, badge(outcome.verdict));
        row(&run.header.hardware, (td(verdict), td(&outcome.scope), td(&outcome.why), td(run_link(UP, run))))
    };
    let rows: Vec<Tag> = lines.iter().map(format_row).collect();
    let notes: Vec<Tag> = first.notes.iter().map(note).collect();
    let sum = machine_summary(run_verdicts).map(|sum| {
        Html::new((p(("Over machines: ", sum, ".")), type_notes(outcomes(run_verdicts).map(|(run, _)| run))))
    });
    let others = (unmeasured_runs > 0)
        .then(|| note(format!("{} more measured nothing of it.", plural(unmeasured_runs, "run"))));
    let title = format!("Finding {} of {}", first.number, first.study);
    let statement = p(tag("strong").with(&first.says)).class("claim");
    let heads = ["machine", "verdict", "where", "why", "run"];
    let verdicts = table_section("verdicts", "Where it holds", others, &heads, rows);
    page(&title, &first.source, (statement, notes, sum, verdicts))
}

pub fn rows(findings: &BTreeMap<(&str, usize, &str), RunVerdicts<'_>>) -> Vec<Tag> {
    let format_row = |((study, number, name), run_verdicts): (&(&str, usize, &str), &RunVerdicts<'_>)| {
        let machines = |verdict: Verdict| {
            let with_verdict = outcomes(run_verdicts).filter(|(_, outcome)| outcome.verdict == verdict);
            let hardware: std::collections::BTreeSet<&str> =
                with_verdict.map(|(run, _)| run.header.hardware.as_str()).collect();
            (!hardware.is_empty())
                .then(|| Html::new((badge(verdict), format!(" on {} ", plural(hardware.len(), "machine")))))
        };
        let verdicts: Vec<Html> = Verdict::ALL.into_iter().filter_map(machines).collect();
        let summary = machine_summary(run_verdicts);
        let statement = run_verdicts.first().map(|(_, verdict)| link("", "findings", name, &verdict.says));
        row(format!("{study} {number}"), (td(statement), td((verdicts, summary.map(small)))))
    };
    findings.iter().filter(|(_, run_verdicts)| is_measured(run_verdicts)).map(format_row).collect()
}

/// The unmeasured findings, in one folded list; `None` if there are none.
pub fn unmeasured(findings: &BTreeMap<(&str, usize, &str), RunVerdicts<'_>>) -> Option<Tag> {
    let format_item = |((study, number, _), run_verdicts): (&(&str, usize, &str), &RunVerdicts<'_>)| {
        let statement = run_verdicts
            .first()
            .map(|(_, verdict)| (verdict.says.as_str(), " ", small(("(", &verdict.source, ")"))));
        Html::new((format!("{study} {number}: "), statement))
    };
    let items: Vec<Html> =
        findings.iter().filter(|(_, run_verdicts)| !is_measured(run_verdicts)).map(format_item).collect();
    let heading = format!("{} of which no run here measured anything", plural(items.len(), "finding"));
    list(items).map(|items| folded(heading, items))
}
