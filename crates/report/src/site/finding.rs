//! The page of a published finding: on which machines, under which guarantee, it holds.

use std::collections::BTreeMap;

use storebench_core::units::counted;

use super::facts::{Facts, Found};
use super::frame::{UP, link, listed, page, run_link, td};
use crate::claims::Verdict;
use crate::markup::{Html, Tag, note, p, row, tag};
use crate::page::findings::badge;

/// A finding, as each run has found it.
pub type Told<'f> = Vec<(&'f Facts, &'f Found)>;

/// The findings of all runs by study and number.
pub fn all(runs: &[Facts]) -> BTreeMap<(&str, usize, &str), Told<'_>> {
    let mut all: BTreeMap<(&str, usize, &str), Told<'_>> = BTreeMap::new();
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

/// The page.
pub fn page_of(told: &Told<'_>) -> String {
    let Some((_, first)) = told.first() else { return String::new() };
    let mut lines: Vec<_> =
        told.iter().filter_map(|(run, found)| Some((*run, found.outcome.as_ref()?))).collect();
    lines
        .sort_by_key(|(run, outcome)| (&run.header.hardware, &outcome.scope, &run.header.started, &run.name));
    let without = told.len() - lines.len();
    let line = |(run, outcome): &(&Facts, &super::facts::Outcome)| {
        let verdict = link(UP, "runs", &run.name, badge(outcome.verdict));
        row(&run.header.hardware, (td(verdict), td(&outcome.scope), td(&outcome.why), td(run_link(UP, run))))
    };
    let rows: Vec<Tag> = lines.iter().map(line).collect();
    let notes: Vec<Tag> = first.notes.iter().map(note).collect();
    let none = rows.is_empty().then(|| p("No run here measured anything of it."));
    let others = (without > 0 && none.is_none())
        .then(|| note(format!("{} more measured nothing of it.", counted(without, "run"))));
    let title = format!("Finding {} of {}", first.number, first.study);
    let says = p(tag("strong").with(&first.says)).class("claim");
    let heads = ["machine", "verdict", "where", "why", "run"];
    page(
        &title,
        &first.source,
        (says, notes, none, listed("verdicts", "Where it holds", others, &heads, rows)),
    )
}

/// The rows of the list of findings.
pub fn rows(all: &BTreeMap<(&str, usize, &str), Told<'_>>) -> Vec<Tag> {
    let one = |((study, number, name), told): (&(&str, usize, &str), &Told<'_>)| {
        let outcomes = || told.iter().filter_map(|(_, found)| found.outcome.as_ref());
        let machines = |verdict: Verdict| {
            let on = told
                .iter()
                .filter(|(_, found)| found.outcome.as_ref().is_some_and(|own| own.verdict == verdict));
            let on: std::collections::BTreeSet<&str> =
                on.map(|(run, _)| run.header.hardware.as_str()).collect();
            (!on.is_empty())
                .then(|| Html::of((badge(verdict), format!(" on {} ", counted(on.len(), "machine")))))
        };
        let verdicts: Vec<Html> = Verdict::ALL.into_iter().filter_map(machines).collect();
        let none = outcomes().next().is_none().then_some("not measured");
        let says = told.first().map(|(_, found)| link("", "findings", name, &found.says));
        row(format!("{study} {number}"), (td(says), td((verdicts, none))))
    };
    all.iter().map(one).collect()
}
