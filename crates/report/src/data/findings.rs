//! Published findings against the runs at hand: the verdicts on each claim, and their figures in a line.

use serde::Serialize;
use storebench_core::cell::{Axis, GuaranteeChoice};
use storebench_core::units::three_digits;

use super::matrix::{Sorted, competing_series, ranked};
use super::merge::{BlockKey, Group, GroupKey, GuaranteeLabel, Merged};
use super::saturated;
use crate::claims::{Claim, Coverage, Evidence, Figure, Finding, Outcome, Pool, Scope};
use crate::claims::{StudyClaims, Tally, Verdict, evaluate};

/// The claims of a study, each with what came of it.
#[derive(Debug)]
pub struct Study<'a> {
    /// The study's name, and where its findings come from.
    pub study: &'a StudyClaims,
    /// In the order of the plan.
    pub checked: Vec<Checked<'a>>,
}

/// A claim, and what came of it.
#[derive(Debug)]
pub struct Checked<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// For each group, or each set of groups that differ only in what the claim compares.
    pub findings: Vec<Finding>,
}

/// Checks all claims of the runs' studies.
pub fn check<'a>(merged: &'a Merged<'_>) -> Vec<Study<'a>> {
    let mut figures: Vec<Figure> = Vec::new();
    for figure in merged.claims.iter().flat_map(|study| &study.claims).flat_map(|claim| &claim.figure) {
        if !figures.contains(figure) {
            figures.push(figure.clone());
        }
    }
    let known = pools(merged, &figures);
    let pools = |figure: &Figure| -> &[Pool<BlockKey>] {
        let position = figures.iter().position(|other| other == figure);
        position.and_then(|position| known.get(position)).map_or(&[], Vec::as_slice)
    };
    let study = |study: &'a StudyClaims| {
        let checked = |claim: &'a Claim| Checked {
            claim,
            findings: evaluate(claim, &study.among, study.design.as_ref(), &pools),
        };
        Study { study, checked: study.claims.iter().map(checked).collect() }
    };
    merged.claims.iter().map(study).collect()
}

/// Each figure of every group in which stores compete. What was published compares stores as shipped, whatever they promise:
/// so do these where `default` was asked for, and only here. Tables of winners never mix tiers.
pub(crate) fn pools(merged: &Merged<'_>, figures: &[Figure]) -> Vec<Vec<Pool<BlockKey>>> {
    let mut all: Vec<Vec<Pool<BlockKey>>> = figures.iter().map(|_| Vec::new()).collect();
    for group in &merged.groups {
        let sorted = Sorted::new(merged, group);
        if sorted.stores.is_empty() {
            continue;
        }
        for (figure, pools) in figures.iter().zip(&mut all) {
            let pool = pool(group, &sorted, figure);
            match pools.iter_mut().find(|known| are_as_shipped(&known.scope, &pool.scope)) {
                Some(known) => join(known, pool),
                None => pools.push(pool),
            }
        }
    }
    all
}

/// Whether two groups differ in nothing but the tier that `default` turned out to be.
fn are_as_shipped(a: &Scope, b: &Scope) -> bool {
    let shipped = |scope: &Scope| scope.guarantee.is_some_and(|(asked, _)| asked == GuaranteeChoice::Default);
    shipped(a) && shipped(b) && a.without(Axis::GUARANTEE) == b.without(Axis::GUARANTEE)
}

fn join(known: &mut Pool<BlockKey>, pool: Pool<BlockKey>) {
    known.behind.extend(pool.behind);
    known.scope.guarantee = Some((GuaranteeChoice::Default, None));
    known
        .stores
        .extend(pool.stores.into_iter().filter(|store| !known.stores.contains(store)).collect::<Vec<_>>());
    for (position, stores) in pool.cells {
        let here = known.cells.entry(position).or_default();
        for (store, series) in stores {
            // A trial whose tier is not known stands in every group, without a figure.
            here.entry(store).or_default().extend(series);
        }
    }
}

fn pool(group: &Group<'_>, sorted: &Sorted<'_, '_>, figure: &Figure) -> Pool<BlockKey> {
    let mut pool = Pool {
        scope: scope(&group.key),
        stores: sorted.stores.iter().map(|store| store.to_string()).collect(),
        resolution: sorted.resolution(&figure.operation, figure.column),
        behind: Vec::new(),
        cells: Default::default(),
    };
    for (position, stores) in &sorted.entries {
        let competing = stores.iter().filter(|(store, _)| sorted.stores.contains(*store));
        let figures = competing.map(|(store, entries)| {
            let ranked = ranked(entries);
            let series = competing_series(&ranked, &figure.operation, figure.column);
            let behind = saturated::of(&ranked, &figure.operation).filter(|_| series.is_empty());
            pool.behind.extend(behind.map(|how_far| (store.to_string(), how_far)));
            (store.to_string(), series)
        });
        let figures = figures.collect();
        pool.cells.insert(position.clone(), figures);
    }
    pool
}

fn scope(key: &GroupKey) -> Scope {
    Scope {
        hardware: key.hardware.clone(),
        guarantee: key.asked.map(|asked| (asked, key.tier)),
        facets: key.facets.clone(),
        method: key.method.clone(),
    }
}

/// The values that distinguish a scope from the others, for people; where none do, its guarantee. Axes whose values it spans are
/// called compared.
pub fn label(merged: &Merged<'_>, scope: &Scope) -> String {
    let groups = &merged.groups;
    let hardware = groups.iter().any(|group| group.key.hardware != scope.hardware);
    let hardware = hardware.then(|| scope.hardware.clone());
    let varies =
        |axis: &Axis| groups.windows(2).any(|pair| pair[0].key.facet(*axis) != pair[1].key.facet(*axis));
    let value = |axis: Axis| scope.facets.iter().find(|(own, _)| *own == axis).map(|(_, value)| value);
    let facets: Vec<String> = merged
        .facets()
        .into_iter()
        .filter(varies)
        .map(|axis| match value(axis) {
            Some(value) => format!("{} {value}", axis.name()),
            None => format!("{} compared", axis.name()),
        })
        .collect();
    let method = (!scope.method.is_empty()).then(|| scope.method.clone());
    let said = !is_one_guarantee(merged) || (hardware.is_none() && facets.is_empty() && method.is_none());
    let has_guarantee = groups.iter().any(|group| group.key.asked.is_some());
    let guarantee = said.then_some(()).and_then(|()| match scope.guarantee {
        Some((GuaranteeChoice::Default, None)) => Some("default (as shipped)".to_owned()),
        Some((asked, tier)) => Some(GuaranteeLabel(asked, tier, None).to_string()),
        None => has_guarantee.then(|| "guarantee compared".to_owned()),
    });
    let parts: Vec<String> = hardware.into_iter().chain(guarantee).chain(facets).chain(method).collect();
    if parts.is_empty() { scope.hardware.clone() } else { parts.join(", ") }
}

/// Whether the groups differ in no guarantee, but for the tiers that `default` turned out to be.
fn is_one_guarantee(merged: &Merged<'_>) -> bool {
    let of = |group: &Group<'_>| match group.key.asked {
        Some(GuaranteeChoice::Default) => (Some(GuaranteeChoice::Default), None),
        asked => (asked, group.key.tier),
    };
    merged.groups.windows(2).all(|pair| of(&pair[0]) == of(&pair[1]))
}

/// The remark below verdicts of stores as shipped, whose tiers differ; nothing where there are none.
pub(crate) fn mixed_tiers(scopes: &[&Scope]) -> Option<&'static str> {
    let mixed = scopes.iter().any(|scope| scope.guarantee == Some((GuaranteeChoice::Default, None)));
    mixed.then_some(
        "At default the stores are compared as shipped, as was published, though some promise more than others. The tables \
         of winners never mix guarantees.",
    )
}

/// The verdict on a claim where no group says anything of it: why.
pub(crate) fn unheard(claim: &Claim) -> String {
    let groups = claim.at.groups_in_words();
    if groups.is_empty() { "a trial".into() } else { groups }
}

/// The check that shows best why the verdict is what it is.
pub(crate) fn telling(finding: &Finding) -> Option<&Evidence> {
    let wanted = match finding.looks {
        Verdict::Reproduced => Outcome::Agrees,
        Verdict::NotReproduced => Outcome::Disagrees,
        Verdict::TooCloseToCall => Outcome::Close,
        Verdict::SoFar | Verdict::NotMeasured => Outcome::Missing,
    };
    finding.evidence.iter().find(|evidence| evidence.outcome == wanted)
}

/// Why there is no verdict: `needs lmdb at 100 records`, or that stores fell behind the rate asked for.
pub(crate) fn why_not(finding: &Finding) -> String {
    match finding.behind.as_slice() {
        [] => format!("needs {}", lacks(finding)),
        [first, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(", {} more", rest.len()) };
            format!("not judged: fell behind ({first}{more})")
        }
    }
}

/// The cells that a finding lacks: two of them, and the number of the others.
pub(crate) fn lacks(finding: &Finding) -> String {
    let cells = finding
        .evidence
        .iter()
        .filter(|evidence| evidence.outcome == Outcome::Missing)
        .flat_map(|evidence| &evidence.missing);
    let mut all: Vec<&str> = Vec::new();
    for missing in finding.missing.iter().chain(cells) {
        if !all.contains(&missing.as_str()) {
            all.push(missing);
        }
    }
    match all.as_slice() {
        [] => "figures that are not zero, of one block".into(),
        [first, second, rest @ ..] if !rest.is_empty() => format!("{first}, {second}, {} more", rest.len()),
        few => few.join(", "),
    }
}

/// The words for a claim of which too little was measured for a verdict.
pub(crate) fn leaning(looks: Verdict) -> &'static str {
    match looks {
        Verdict::Reproduced => "looks right",
        Verdict::NotReproduced => "looks wrong",
        Verdict::TooCloseToCall => "can't be told",
        Verdict::SoFar | Verdict::NotMeasured => "",
    }
}

/// The measured part of all that a claim is about, where that is not the whole: `12 of 68 combinations measured`.
pub(crate) fn covered(claim: &Claim, coverage: Option<Coverage>) -> Option<String> {
    let Coverage { measured, whole } = coverage.filter(|coverage| !coverage.is_whole())?;
    let all = if claim.is_of_average() { ", an average takes all" } else { "" };
    Some(format!("{measured} of {whole} combinations measured{all}"))
}

/// The checks that agree, out of all: `3/4`.
pub(crate) fn score(tally: Tally) -> String {
    format!("{}/{}", tally.agree, tally.total())
}

/// One check in a line: where, the figures, and the ratio.
pub(crate) fn evidence_line(evidence: &Evidence, with_figure: bool) -> String {
    let mut at = Vec::new();
    if with_figure {
        at.push(evidence.figure.clone());
    }
    if let Some(places) = evidence.averaged {
        let stores = evidence.averaged_stores.map_or("".into(), |stores| format!(", {stores} stores"));
        at.push(format!("mean of {places} combination{}{stores}", if places == 1 { "" } else { "s" }));
    }
    let spot = evidence.spot.to_string();
    at.extend((!spot.is_empty()).then_some(spot));
    let shown: Vec<String> = evidence
        .shown
        .iter()
        .map(|shown| format!("{} {}", shown.who, evidence.unit.show(shown.value)))
        .collect();
    let mut line = at.join(", ");
    if !line.is_empty() && !shown.is_empty() {
        line.push_str(": ");
    }
    line.push_str(&shown.join(", "));
    if let Some(times) = evidence.times {
        line.push_str(&format!(" ({} times)", three_digits(times.value)));
    }
    line
}

/// The words in place of a scope for claims that were checked in none.
pub(crate) const NOT_APPLICABLE: &str = "not applicable";

/// The number of claims of each verdict in one scope.
pub(crate) type Counts = [usize; Verdict::ALL.len()];

/// The verdicts counted, for each scope that any claim was checked in, and last of those that were checked in none. A claim
/// that spans groups is counted under what they have in common.
pub(crate) fn counts(merged: &Merged<'_>, study: &Study<'_>) -> Vec<(String, Counts)> {
    let mut rows: Vec<(String, Counts)> = Vec::new();
    for finding in study.checked.iter().flat_map(|checked| &checked.findings) {
        let label = label(merged, &finding.scope);
        let index = Verdict::ALL.iter().position(|verdict| *verdict == finding.verdict).unwrap_or_default();
        match rows.iter_mut().find(|(known, _)| *known == label) {
            Some((_, counts)) => counts[index] += 1,
            None => {
                let mut counts = Counts::default();
                counts[index] = 1;
                rows.push((label, counts));
            }
        }
    }
    let unheard = study.checked.iter().filter(|checked| checked.findings.is_empty()).count();
    if unheard > 0 {
        let mut counts = Counts::default();
        counts[Verdict::ALL.len() - 1] = unheard;
        rows.push((NOT_APPLICABLE.into(), counts));
    }
    rows
}

/// A study's claims as JSON has them.
#[derive(Serialize)]
pub struct StudyDocument<'a> {
    study: &'a str,
    source: &'a str,
    claims: Vec<ClaimDocument<'a>>,
}

#[derive(Serialize)]
struct ClaimDocument<'a> {
    says: &'a str,
    source: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    expected: String,
    findings: Vec<FindingDocument<'a>>,
}

#[derive(Serialize)]
struct FindingDocument<'a> {
    hardware: &'a str,
    title: String,
    verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    looks: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<Coverage>,
    checks: Tally,
    evidence: &'a [Evidence],
    missing: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    behind: &'a [String],
}

/// The verdicts as JSON has them.
pub fn documents<'a>(merged: &'a Merged<'_>, studies: &'a [Study<'a>]) -> Vec<StudyDocument<'a>> {
    let finding = |finding: &'a Finding| FindingDocument {
        hardware: &finding.scope.hardware,
        title: label(merged, &finding.scope),
        verdict: finding.verdict,
        looks: (finding.verdict == Verdict::SoFar).then_some(finding.looks),
        coverage: finding.coverage,
        checks: finding.tally,
        evidence: &finding.evidence,
        missing: &finding.missing,
        behind: &finding.behind,
    };
    let claim = |checked: &'a Checked<'a>| ClaimDocument {
        says: &checked.claim.says,
        source: &checked.claim.source,
        note: checked.claim.note.as_deref(),
        expected: checked.claim.in_words(),
        findings: checked.findings.iter().map(finding).collect(),
    };
    let study = |study: &'a Study<'a>| StudyDocument {
        study: &study.study.study,
        source: &study.study.source,
        claims: study.checked.iter().map(claim).collect(),
    };
    studies.iter().map(study).collect()
}

#[cfg(test)]
mod tests;
