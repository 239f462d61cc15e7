//! Findings in words, for all reports: what was measured, what a verdict needs, and one check in a line.

use std::borrow::Cow;
use std::collections::BTreeMap;

use indexmap::IndexSet;
use storebench_model::cell::{Axis, HERE};
use storebench_model::units::{plural, three_digits};

use super::CheckedClaim;
use crate::claims::{CheckTally, Claim, Coverage, Evidence, Expect, Finding, Outcome, TableVerdict, Verdict};
use crate::column::Unit;
use crate::data::names::describe_share;
use crate::data::spread;
use crate::stats::Interval;

/// The machines on which a finding holds: `holds on most machines (3 of 4), not on 1`. It holds on a machine if one verdict is
/// `reproduced` and none is `not reproduced`; in part if there are both. `None` if it was checked on only one machine.
pub fn describe_machines<'m>(verdicts: impl Iterator<Item = (Cow<'m, str>, Verdict)>) -> Option<String> {
    let mut machines: BTreeMap<Cow<'m, str>, [bool; 2]> = BTreeMap::new();
    for (machine, verdict) in verdicts {
        let [holds, not] = machines.entry(machine).or_default();
        *holds |= verdict == Verdict::Reproduced;
        *not |= verdict == Verdict::NotReproduced;
    }
    (machines.len() > 1).then_some(())?;
    let count = |wanted: [bool; 2]| machines.values().filter(|outcome| **outcome == wanted).count();
    let others = [("not", [false, true]), ("in part", [true, true]), ("unknown", [false, false])];
    let others =
        others.map(|(words, wanted)| (words, count(wanted))).into_iter().filter(|(_, number)| *number > 0);
    let others = others.map(|(words, number)| format!(", {words} on {number}"));
    let share = describe_share(count([true, false]), machines.len());
    Some(format!("holds {share}{}", others.collect::<String>()))
}

/// The machines on which a claim's measured findings hold.
pub fn describe_all_machines(checked: &CheckedClaim<'_>) -> Option<String> {
    let machine = |finding: &Finding| match finding.scope.value(Axis::MACHINE) {
        Some(limited) if limited != HERE => format!("{} as {limited}", finding.scope.hardware),
        _ => finding.scope.hardware.clone(),
    };
    let measured = checked.findings.iter().filter(|finding| finding.is_measured());
    describe_machines(measured.map(|finding| (machine(finding).into(), finding.verdict)))
}

/// The check that best explains the verdict, or the leaning.
pub fn telling(finding: &Finding) -> Option<&Evidence> {
    let outcomes = match finding.so_far {
        Verdict::Reproduced => [Outcome::Agrees].as_slice(),
        Verdict::NotReproduced => &[Outcome::Disagrees],
        Verdict::Unknown => &[Outcome::Close, Outcome::Missing],
    };
    outcomes.iter().find_map(|outcome| finding.evidence.iter().find(|evidence| evidence.leaning == *outcome))
}

/// The measurements that a verdict needs: figures, more of the combinations, more trials.
pub fn describe_needs(claim: &Claim, finding: &Finding) -> Option<String> {
    if finding.verdict != Verdict::Unknown {
        return None;
    }
    if !finding.is_measured() {
        return Some(why_undecided(claim, finding));
    }
    let mut needs = Vec::new();
    if let Some(coverage) = finding.coverage.as_ref().filter(|coverage| !claim.is_covered(coverage)) {
        needs.push(more_combinations(claim, coverage));
    } else if finding.tally.missing > 0 {
        needs.push(describe_missing(finding));
    }
    if finding.crowded {
        needs.push("a run with nothing else running: other programs left too few processors".to_owned());
    } else if finding.tally.close > 0 {
        let checks = plural(finding.tally.close, "check");
        needs.push(format!("more trials (--trials) for {checks} that these can't decide"));
    }
    Some(format!("takes {}", needs.join("; ")))
}

fn more_combinations(claim: &Claim, coverage: &Coverage) -> String {
    let Coverage { measured, whole, short } = coverage;
    match short.as_slice() {
        _ if claim.is_of_average() => {
            format!("all {whole} combinations, as an average ({measured} measured)")
        }
        [] => format!("half of its {whole} combinations ({measured} measured)"),
        counts => format!(
            "half of its combinations for each of {} ({measured} of {whole} measured)",
            counts.join(", ")
        ),
    }
}

/// Why there is no verdict: `needs lmdb at 100 records`, or that stores fell behind the rate asked for, or are unavailable.
pub fn why_undecided(claim: &Claim, finding: &Finding) -> String {
    let claim_stores = claim.expect.stores();
    let unavailable: Vec<String> =
        finding.without.iter().filter(|(store, _)| claim_stores.contains(store)).map(state_absence).collect();
    match (finding.behind.as_slice(), unavailable.as_slice()) {
        ([first, rest @ ..], _) => {
            let more = if rest.is_empty() { String::new() } else { format!(", {} more", rest.len()) };
            format!("not judged: fell behind ({first}{more})")
        }
        (_, [first, rest @ ..]) => {
            let more = if rest.is_empty() { String::new() } else { format!("; {} more", rest.len()) };
            format!("left out, without {first}{more}")
        }
        ([], []) if !finding.without.is_empty() && finding.evidence.is_empty() => {
            let stores: Vec<String> = finding.without.iter().map(state_absence).collect();
            format!("left out, without {}", stores.join("; "))
        }
        ([], []) => format!("needs {}", describe_missing(finding)),
    }
}

/// What an undecided claim needs, in words that many claims share.
pub fn describe_lack(checked: &CheckedClaim<'_>) -> &'static str {
    let claim_stores = checked.claim.expect.stores();
    let is_absent = |finding: &Finding| {
        finding.cannot_be_measured() || finding.without.iter().any(|(store, _)| claim_stores.contains(store))
    };
    let Some(finding) = checked.findings.iter().find(|finding| finding.is_measured()) else {
        return match checked.findings.first() {
            None => "another group, such as another place, load or number of threads",
            Some(finding) if !finding.behind.is_empty() => "stores that keep up",
            Some(finding) if is_absent(finding) => "stores that are not available",
            Some(_) => "combinations of which none was run",
        };
    };
    let is_covered = finding.coverage.as_ref().is_none_or(|coverage| checked.claim.is_covered(coverage));
    match finding {
        _ if !is_covered => "more combinations",
        Finding { crowded: true, .. } => "a run with nothing else running",
        _ if finding.tally.close > 0 => "more trials",
        _ => "figures that are missing",
    }
}

pub fn state_absence((store, why): &(String, String)) -> String {
    format!("{store}: {why}")
}

/// The unavailable stores without which a claim is judged.
pub fn judged_without(finding: &Finding) -> Option<String> {
    if finding.without.is_empty() || finding.evidence.is_empty() {
        return None;
    }
    let stores: Vec<&str> = finding.without.iter().map(|(store, _)| store.as_str()).collect();
    Some(format!("judged without {}", stores.join(", ")))
}

/// The missing cells of a finding: a few of them, and the number of the others.
pub fn describe_missing(finding: &Finding) -> String {
    let evidence = finding.evidence.iter().filter(|evidence| evidence.outcome == Outcome::Missing);
    let missing = finding.missing.iter().chain(evidence.flat_map(|evidence| &evidence.missing));
    let missing: IndexSet<&str> = missing.map(String::as_str).collect();
    match missing.into_iter().collect::<Vec<_>>().as_slice() {
        [] => "figures that are not zero, of one block".into(),
        [first, second, rest @ ..] if !rest.is_empty() => format!("{first}, {second}, {} more", rest.len()),
        few => few.join(", "),
    }
}

pub fn describe_leaning(finding: &Finding) -> &'static str {
    match (finding.verdict, finding.so_far) {
        (Verdict::Unknown, Verdict::Reproduced) => "so far looks right",
        (Verdict::Unknown, Verdict::NotReproduced) => "so far looks wrong",
        _ => "",
    }
}

/// The measured part of a claim, if not the whole: `12 of 68 combinations measured`.
pub fn describe_coverage(finding: &Finding) -> Option<String> {
    let coverage = finding.coverage.as_ref().filter(|coverage| !coverage.is_whole())?;
    Some(format!("{} of {} combinations measured", coverage.measured, coverage.whole))
}

/// The measured range: the share of checks that agree, and the smallest and greatest ratio or figure if a range is asked for.
pub fn measured(claim: &Claim, finding: &Finding) -> Option<String> {
    if !finding.is_measured() {
        return None;
    }
    let shares = (claim.share.0 < 100.0 || finding.leaning.total() > 1).then(|| share(finding.leaning));
    let parts: Vec<String> = describe_range(claim, finding).into_iter().chain(shares).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// `53 % of 34 checks`, or `26..41 % of 34 checks` if some are open.
fn share(tally: CheckTally) -> String {
    let percent = |number: usize| 100.0 * number as f64 / tally.total() as f64;
    let (least, most) = (percent(tally.agree), percent(tally.total() - tally.disagree));
    let checks = plural(tally.total(), "check");
    match tally.close + tally.missing {
        0 => format!("{least:.1} % of {checks}"),
        _ => format!("{least:.1} to {most:.1} % of {checks}"),
    }
}

/// The smallest and the greatest of the ratios or figures that a range is asked of, with the ends of their intervals.
fn describe_range(claim: &Claim, finding: &Finding) -> Option<String> {
    let evidence = || finding.evidence.iter().filter(|evidence| evidence.leaning != Outcome::Missing);
    let ends = |value: f64, interval: Option<Interval>| {
        interval.map_or([value; 2], |interval| [interval.low.min(value), interval.high.max(value)])
    };
    let is_ratio = matches!(claim.expect, Expect::Ratio(_) | Expect::Alike(_));
    let (ranges, unit): (Vec<[f64; 2]>, Option<Unit>) = match &claim.expect {
        _ if is_ratio => {
            let ratios = evidence().filter_map(|evidence| evidence.times);
            (ratios.map(|times| ends(times.value, times.interval)).collect(), None)
        }
        Expect::Value(_) => {
            let shown = evidence().flat_map(|evidence| &evidence.shown);
            let unit = evidence().next().map(|evidence| evidence.unit);
            (shown.map(|shown| ends(shown.value, shown.interval)).collect(), unit)
        }
        _ => return None,
    };
    let least = ranges.iter().map(|[low, _]| *low).reduce(f64::min)?;
    let most = ranges.iter().map(|[_, high]| *high).reduce(f64::max)?;
    let show = |value: f64| unit.map_or_else(|| three_digits(value), |unit| unit.show(value));
    let times = if unit.is_none() { " times" } else { "" };
    match show(least) == show(most) {
        true => Some(format!("{}{times}", show(least))),
        false => Some(format!("{} to {}{times}", show(least), show(most))),
    }
}

/// The same rule's result on the paper's own figures: `ext4 73.5 % of 68 checks: not reproduced`. `None` if winners alone say nothing.
pub fn describe_published(checked: &CheckedClaim<'_>) -> Option<String> {
    let format_verdict =
        |table: &TableVerdict| format!("{} {}: {}", table.table, share(table.tally), table.verdict.name());
    let verdicts: Vec<String> = checked.published.iter().map(format_verdict).collect();
    (!verdicts.is_empty()).then(|| verdicts.join("; "))
}

/// The checks that agree so far, of all: `3/4`.
pub fn describe_score(finding: &Finding) -> String {
    format!("{}/{}", finding.leaning.agree, finding.leaning.total())
}

/// One check in a line: the place, the figures, and the ratio.
pub fn evidence_line(evidence: &Evidence, with_figure: bool) -> String {
    format_evidence(evidence, with_figure, |_, _| String::new())
}

/// One check in a line, with the intervals.
pub fn evidence_with_intervals(evidence: &Evidence, with_figure: bool) -> String {
    format_evidence(evidence, with_figure, |interval, show| spread::describe_after(interval, show))
}

fn format_evidence(
    evidence: &Evidence,
    with_figure: bool,
    reach: impl Fn(Option<Interval>, &dyn Fn(f64) -> String) -> String,
) -> String {
    let mut place_parts = Vec::new();
    if with_figure {
        place_parts.push(evidence.figure.clone());
    }
    if let Some(places) = evidence.averaged {
        let stores =
            evidence.averaged_stores.map_or("".into(), |stores| format!(", {}", plural(stores, "store")));
        place_parts.push(format!("mean of {}{stores}", plural(places, "combination")));
    }
    let spot = evidence.spot.to_string();
    place_parts.extend((!spot.is_empty()).then_some(spot));
    let shown: Vec<String> = evidence
        .shown
        .iter()
        .map(|shown| {
            let interval_text = reach(shown.interval, &|end| evidence.unit.show(end));
            format!("{} {}{interval_text}", shown.who, evidence.unit.show(shown.value))
        })
        .collect();
    let mut line = place_parts.join(", ");
    if !line.is_empty() && !shown.is_empty() {
        line.push_str(": ");
    }
    line.push_str(&shown.join(", "));
    if let Some(times) = evidence.times {
        let interval_text = reach(times.interval, &three_digits);
        line.push_str(&format!(" ({}{interval_text} times)", three_digits(times.value)));
    }
    line
}
