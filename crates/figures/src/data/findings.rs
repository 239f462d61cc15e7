//! Checks published findings against the runs: the verdicts on each claim, and their figures in a line.

pub mod document;
pub mod words;

use std::borrow::Cow;
use std::collections::HashSet;

use indexmap::IndexMap;
use storebench_model::cell::{Axis, GuaranteeChoice};
use storebench_model::result::RunHeader;

use super::matrix::{SortedTrials, competing_series, headers_of, judging_terms, ranked};
use super::merge::{BlockKey, Group, GroupKey, GuaranteeLabel, Merged};
use super::saturation;
use crate::claims::{
    Claim, Figure, Finding, Pool, Scope, StudyClaims, TableVerdict, Verdict, check_tables, evaluate,
};
use crate::judge::interim;
use crate::judge::standing::Terms;
use crate::published::Table;

/// The claims of a study, with the results.
#[derive(Debug)]
pub struct Study<'a> {
    /// The study.
    pub study: &'a StudyClaims,
    /// In the order of the plan.
    pub checked: Vec<CheckedClaim<'a>>,
}

/// A claim, with its results.
#[derive(Debug)]
pub struct CheckedClaim<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// One for each group, or each set of groups that differ only in what the claim compares.
    pub findings: Vec<Finding>,
    /// The result of the same rule on the published tables of its paper.
    pub published: Vec<TableVerdict>,
}

/// Checks all claims of the runs' studies.
pub fn check<'a>(merged: &'a Merged<'_>) -> Vec<Study<'a>> {
    check_at(merged, 0.0)
}

/// Checks them with at least this confidence, as before the last of several interim analyses.
pub fn check_at<'a>(merged: &'a Merged<'_>, confidence: f64) -> Vec<Study<'a>> {
    let mut figures: Vec<Figure> = Vec::new();
    for figure in merged.claims.iter().flat_map(|study| &study.claims).flat_map(|claim| &claim.figure) {
        if !figures.contains(figure) {
            figures.push(figure.clone());
        }
    }
    let mut pools = pools(merged, &figures);
    pools.iter_mut().flatten().for_each(|pool| pool.terms.confidence = pool.terms.confidence.max(confidence));
    let pools_of = |figure: &Figure| -> &[Pool<BlockKey>] {
        let position = figures.iter().position(|listed| listed == figure);
        position.and_then(|position| pools.get(position)).map_or(&[], Vec::as_slice)
    };
    let study = |study: &'a StudyClaims| {
        let checked = |claim: &'a Claim| CheckedClaim {
            claim,
            findings: evaluate(claim, &study.among, study.design.as_ref(), &pools_of),
            published: check_tables(claim, &study.among, study_tables(merged, study)),
        };
        Study { study, checked: study.claims.iter().map(checked).collect() }
    };
    merged.claims.iter().map(study).collect()
}

/// The published tables of a study.
fn study_tables<'m>(merged: &'m Merged<'_>, study: &StudyClaims) -> &'m [Table] {
    let is_of_study = |table: &Table| table.study == study.study;
    // A study's tables are consecutive.
    let start = merged.tables.iter().position(is_of_study).unwrap_or_default();
    let count = merged.tables[start..].iter().take_while(|table| is_of_study(table)).count();
    &merged.tables[start..start + count]
}

/// Each figure of every group in which stores compete. Published tables compare stores as shipped, whatever they guarantee:
/// so do these if `default` was asked for, and only here. Tables of winners never mix tiers.
pub fn pools(merged: &Merged<'_>, figures: &[Figure]) -> Vec<Vec<Pool<BlockKey>>> {
    let mut pools_by_figure: Vec<Vec<Pool<BlockKey>>> = figures.iter().map(|_| Vec::new()).collect();
    for group in &merged.groups {
        let sorted = SortedTrials::new(merged, group);
        if sorted.stores.is_empty() {
            continue;
        }
        for (figure, pools) in figures.iter().zip(&mut pools_by_figure) {
            let pool = build_pool(merged, group, &sorted, figure);
            match pools.iter_mut().find(|earlier| are_as_shipped(&earlier.scope, &pool.scope)) {
                Some(earlier) => merge_pool(earlier, pool),
                None => pools.push(pool),
            }
        }
    }
    pools_by_figure
}

/// Whether two groups differ only in the tier that `default` resolved to.
pub fn are_as_shipped(a: &Scope, b: &Scope) -> bool {
    let shipped = |scope: &Scope| scope.guarantee.is_some_and(|(asked, _)| asked == GuaranteeChoice::Default);
    shipped(a) && shipped(b) && a.without_axis(Axis::GUARANTEE) == b.without_axis(Axis::GUARANTEE)
}

fn merge_pool(joined: &mut Pool<BlockKey>, pool: Pool<BlockKey>) {
    joined.behind.extend(pool.behind);
    joined.terms.confidence = joined.terms.confidence.max(pool.terms.confidence);
    if pool.terms.resolution.fixed_ns > joined.terms.resolution.fixed_ns {
        joined.terms.resolution = pool.terms.resolution;
    }
    // A store that one tier leaves out may be in another.
    joined.cannot.retain(|(store, _)| !pool.stores.contains(store));
    joined.cannot.extend(pool.cannot.into_iter().filter(|(store, _)| !joined.stores.contains(store)));
    joined.scope.guarantee = Some((GuaranteeChoice::Default, None));
    joined
        .stores
        .extend(pool.stores.into_iter().filter(|store| !joined.stores.contains(store)).collect::<Vec<_>>());
    for (position, stores) in pool.cells {
        let stores_here = joined.cells.entry(position).or_default();
        for (store, series) in stores {
            // A trial with an unknown tier is in every group, without a figure.
            stores_here.entry(store).or_default().extend(series);
        }
    }
}

fn build_pool(
    merged: &Merged<'_>,
    group: &Group<'_>,
    sorted: &SortedTrials<'_, '_>,
    figure: &Figure,
) -> Pool<BlockKey> {
    let mut pool = Pool {
        scope: scope(&group.key),
        stores: sorted.stores.iter().map(|store| store.to_string()).collect(),
        terms: terms_of(merged, group, sorted, figure),
        cannot: excluded(merged, group, sorted),
        behind: Vec::new(),
        cells: Default::default(),
    };
    for (position, stores) in &sorted.entries {
        let competing = stores.iter().filter(|(store, _)| sorted.stores.contains(*store));
        let figures = competing.map(|(store, entries)| {
            let ranked = ranked(entries);
            let series = competing_series(&ranked, &figure.operation, figure.column);
            let behind = saturation::reached_rate(&ranked, &figure.operation).filter(|_| series.is_empty());
            pool.behind.extend(behind.map(|how_far| (store.to_string(), how_far)));
            (store.to_string(), series)
        });
        let figures = figures.collect();
        pool.cells.insert(position.clone(), figures);
    }
    pool
}

/// The terms of a figure in a group: the same as in the tables of winners, for all of its runs.
fn terms_of(merged: &Merged<'_>, group: &Group<'_>, sorted: &SortedTrials<'_, '_>, figure: &Figure) -> Terms {
    let headers: Vec<&RunHeader> = merged.runs.iter().map(|run| &run.header).collect();
    Terms {
        // The last analysis has the confidence that strict early ones left.
        confidence: interim::levels(&headers_of(&headers, group.trials.iter())).end,
        resolution: sorted.resolution(&figure.operation, figure.column),
        ..judging_terms(&headers, group.trials.iter(), &figure.operation, figure.column)
    }
}

/// The stores of a group none of whose combinations could run, with reasons.
fn excluded(merged: &Merged<'_>, group: &Group<'_>, sorted: &SortedTrials<'_, '_>) -> Vec<(String, String)> {
    let run_stores: HashSet<Cow<'_, str>> =
        group.trials.iter().map(|entry| merged.layout.contestant(&entry.trial.cell)).collect();
    let mut stores: Vec<(String, String)> = Vec::new();
    for omitted in &group.left_out {
        let store = merged.layout.contestant(&omitted.cell);
        let is_known = stores.iter().any(|(known_store, _)| *known_store == store);
        if sorted.stores.contains(&store) && !run_stores.contains(&store) && !is_known {
            stores.push((store.into_owned(), omitted.reason.to_string()));
        }
    }
    stores
}

pub fn scope(key: &GroupKey) -> Scope {
    Scope {
        hardware: key.hardware.clone(),
        guarantee: key.asked.map(|asked| (asked, key.tier)),
        facets: key.facets.clone(),
        method: key.method.clone(),
    }
}

/// The values that distinguish a scope from the others; if none do, its guarantee. Axes with several values are called compared.
pub fn label(merged: &Merged<'_>, scope: &Scope) -> String {
    let groups = &merged.groups;
    let has_several = groups.iter().any(|group| group.key.hardware != scope.hardware);
    let hardware = has_several.then(|| scope.hardware.clone());
    let varies =
        |axis: &Axis| groups.windows(2).any(|pair| pair[0].key.facet(*axis) != pair[1].key.facet(*axis));
    let value_of = |axis: Axis| scope.facets.iter().find(|(key, _)| *key == axis).map(|(_, value)| value);
    let describe =
        |axis: Axis| format!("{} {}", axis.name(), value_of(axis).map_or("compared", String::as_str));
    let facets: Vec<String> = merged.facets().into_iter().filter(varies).map(describe).collect();
    let method = (!scope.method.is_empty()).then(|| scope.method.clone());
    let is_shown = !is_one_guarantee(merged) || (hardware.is_none() && facets.is_empty() && method.is_none());
    let has_guarantee = groups.iter().any(|group| group.key.asked.is_some());
    let guarantee = is_shown.then_some(()).and_then(|()| match scope.guarantee {
        Some((GuaranteeChoice::Default, None)) => Some("default (as shipped)".to_owned()),
        Some((asked, tier)) => Some(GuaranteeLabel(asked, tier, None).to_string()),
        None => has_guarantee.then(|| "guarantee compared".to_owned()),
    });
    let parts: Vec<String> = hardware.into_iter().chain(guarantee).chain(facets).chain(method).collect();
    if parts.is_empty() { scope.hardware.clone() } else { parts.join(", ") }
}

/// Whether all groups have one guarantee, except for the tiers that `default` resolved to.
fn is_one_guarantee(merged: &Merged<'_>) -> bool {
    let guarantee_of = |group: &Group<'_>| match group.key.asked {
        Some(GuaranteeChoice::Default) => (Some(GuaranteeChoice::Default), None),
        asked => (asked, group.key.tier),
    };
    merged.groups.windows(2).all(|pair| guarantee_of(&pair[0]) == guarantee_of(&pair[1]))
}

/// The note on verdicts about stores as shipped, whose tiers differ.
pub fn mixed_tiers(scopes: &[&Scope]) -> Option<&'static str> {
    let is_mixed = scopes.iter().any(|scope| scope.guarantee == Some((GuaranteeChoice::Default, None)));
    is_mixed.then_some(
        "At default the stores are compared as shipped, as was published, though some promise more than others. The tables \
         of winners never mix guarantees.",
    )
}

/// Why there is no verdict on a claim of which nothing was measured.
pub fn why_unmeasured(checked: &CheckedClaim<'_>) -> String {
    let reason_of = |finding| words::why_undecided(checked.claim, finding);
    checked.findings.first().map_or_else(|| format!("needs {}", name_needed_groups(checked.claim)), reason_of)
}

pub fn name_needed_groups(claim: &Claim) -> String {
    let groups = claim.at.groups_in_words();
    if groups.is_empty() { "a trial".into() } else { groups }
}

/// The scope's name for claims that no group covers.
pub const NOT_APPLICABLE: &str = "not applicable";

/// The scope's name for claims that no machine here can check.
pub const NOT_MEASURABLE: &str = "not measurable here";

/// The number of claims of each verdict in one scope.
pub type Counts = [usize; Verdict::ALL.len()];

/// The verdicts counted by scope, at the end those that can't be checked here, and those that no
/// group covers. A claim that spans groups is counted under what they share.
pub fn counts(merged: &Merged<'_>, study: &Study<'_>) -> Vec<(String, Counts)> {
    let mut rows: IndexMap<String, Counts> = IndexMap::new();
    let findings = study.checked.iter().flat_map(|checked| &checked.findings);
    for finding in findings.filter(|finding| !finding.cannot_be_measured()) {
        let index = Verdict::ALL.iter().position(|verdict| *verdict == finding.verdict).unwrap_or_default();
        rows.entry(label(merged, &finding.scope)).or_default()[index] += 1;
    }
    let is_silent = |checked: &&CheckedClaim<'_>| checked.findings.iter().all(Finding::cannot_be_measured);
    let silent = study.checked.iter().filter(is_silent);
    let (inapplicable, unmeasurable): (Vec<_>, Vec<_>) =
        silent.partition(|checked| checked.findings.is_empty());
    for (label, number) in [(NOT_MEASURABLE, unmeasurable.len()), (NOT_APPLICABLE, inapplicable.len())] {
        if number > 0 {
            rows.entry(label.into()).or_default()[Verdict::ALL.len() - 1] = number;
        }
    }
    rows.into_iter().collect()
}
