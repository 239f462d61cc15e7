//! The page of a published finding: on which machines, at which guarantee, it holds.

use std::collections::BTreeMap;

use storebench_core::units::plural;

use super::facts::{FoundVerdict, Outcome, RunFacts};
use super::frame::{UP, link, listed, page, run_link, td, types};
use crate::claims::Verdict;
use crate::data::findings::words::describe_machines;
use crate::markup::{Html, Tag, folded, list, note, p, row, small, tag};
use crate::page::findings::badge;

/// A finding, with each run's result.
pub type RunVerdicts<'f> = Vec<(&'f RunFacts, &'f FoundVerdict)>;

/// The findings of all runs by study and number.
pub fn all(runs: &[RunFacts]) -> BTreeMap<(&str, usize, &str), RunVerdicts<'_>> {
    let mut all: BTreeMap<(&str, usize, &str), RunVerdicts<'_>> = BTreeMap::new();
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let found = || runs.iter().flat_map(|run| run.verdicts.iter().map(move |found| (run, found)));
    for (_, found) in found() {
        // The same finding may have another number in the plan of an older version.
        let number = numbers.entry(&found.name).or_insert(found.number);
        *number = found.number.min(*number);
    }
    for (run, found) in found() {
        let number = numbers.get(found.name.as_str()).copied().unwrap_or(found.number);
        all.entry((&found.study, number, &found.name)).or_default().push((run, found));
    }
    all
}

/// The outcomes of the runs that measured any part of a finding.
fn outcomes<'f>(told: &'f RunVerdicts<'f>) -> impl Iterator<Item = (&'f RunFacts, &'f Outcome)> {
    told.iter().filter_map(|(run, found)| Some((*run, found.outcome.as_ref()?)))
}

/// Whether any run measured any part of a finding, which gives it a page.
pub fn is_measured(told: &RunVerdicts<'_>) -> bool {
    outcomes(told).next().is_some()
}

/// The number of machines on which it holds; `None` for a single machine.
fn summed(told: &RunVerdicts<'_>) -> Option<String> {
    describe_machines(
        outcomes(told).map(|(run, outcome)| (run.header.hardware.as_str().into(), outcome.verdict)),
    )
}

/// The page.
pub fn finding_page(told: &RunVerdicts<'_>) -> String {
    let Some((_, first)) = told.first() else { return String::new() };
    let mut lines: Vec<_> = outcomes(told).collect();
    lines
        .sort_by_key(|(run, outcome)| (&run.header.hardware, &outcome.scope, &run.header.started, &run.name));
    let without = told.len() - lines.len();
    let line = |(run, outcome): &(&RunFacts, &Outcome)| {
        let verdict = link(UP, "runs", &run.name, badge(outcome.verdict));
        row(&run.header.hardware, (td(verdict), td(&outcome.scope), td(&outcome.why), td(run_link(UP, run))))
    };
    let rows: Vec<Tag> = lines.iter().map(line).collect();
    let notes: Vec<Tag> = first.notes.iter().map(note).collect();
    let sum = summed(told)
        .map(|sum| Html::new((p(("Over machines: ", sum, ".")), types(outcomes(told).map(|(run, _)| run)))));
    let others =
        (without > 0).then(|| note(format!("{} more measured nothing of it.", plural(without, "run"))));
    let title = format!("Finding {} of {}", first.number, first.study);
    let says = p(tag("strong").with(&first.says)).class("claim");
    let heads = ["machine", "verdict", "where", "why", "run"];
    page(
        &title,
        &first.source,
        (says, notes, sum, listed("verdicts", "Where it holds", others, &heads, rows)),
    )
}

/// The rows of the list of findings, without unmeasured ones.
pub fn rows(all: &BTreeMap<(&str, usize, &str), RunVerdicts<'_>>) -> Vec<Tag> {
    let one = |((study, number, name), told): (&(&str, usize, &str), &RunVerdicts<'_>)| {
        let machines = |verdict: Verdict| {
            let on = outcomes(told).filter(|(_, outcome)| outcome.verdict == verdict);
            let on: std::collections::BTreeSet<&str> =
                on.map(|(run, _)| run.header.hardware.as_str()).collect();
            (!on.is_empty())
                .then(|| Html::new((badge(verdict), format!(" on {} ", plural(on.len(), "machine")))))
        };
        let verdicts: Vec<Html> = Verdict::ALL.into_iter().filter_map(machines).collect();
        let says = told.first().map(|(_, found)| link("", "findings", name, &found.says));
        row(format!("{study} {number}"), (td(says), td((verdicts, summed(told).map(small)))))
    };
    all.iter().filter(|(_, told)| is_measured(told)).map(one).collect()
}

/// The unmeasured findings, in one folded list; `None` if there are none.
pub fn unmeasured(all: &BTreeMap<(&str, usize, &str), RunVerdicts<'_>>) -> Option<Tag> {
    let one = |((study, number, _), told): (&(&str, usize, &str), &RunVerdicts<'_>)| {
        let says =
            told.first().map(|(_, found)| Html::new((&found.says, " ", small(("(", &found.source, ")")))));
        Html::new((format!("{study} {number}: "), says))
    };
    let items: Vec<Html> = all.iter().filter(|(_, told)| !is_measured(told)).map(one).collect();
    let says = format!("{} of which no run here measured anything", plural(items.len(), "finding"));
    list(items).map(|items| folded(says, items))
}
