//! Published findings in the terminal: counts, then each claim with its verdicts and its most telling figures; an undecided one in a line.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anstyle::{AnsiColor, Style as Paint};
use storebench_figures::claims::{Finding, Verdict};
use storebench_figures::data::findings::words::{
    describe_all_machines, describe_coverage, describe_lack, describe_leaning, describe_needs,
    describe_published, describe_score, evidence_line, judged_without, measured, telling,
};
use storebench_figures::data::findings::{
    CheckedClaim, Counts, NOT_APPLICABLE, NOT_MEASURABLE, Study, check, counts, label, mixed_tiers,
    why_unmeasured,
};
use storebench_figures::data::merge::Merged;
use storebench_figures::data::names::HEADING;

use crate::terminal::grid::{Grid, Item, Style, wrap};

const INDENT: &str = "      ";

/// The section: counts, and every claim; empty if no study has claims.
pub fn text(merged: &Merged<'_>, style: Style) -> String {
    check(merged).iter().map(|study| study_text(merged, study, true, style)).collect()
}

/// The section of an overview: counts, every decided claim, and the number of the others.
pub fn decided_text(merged: &Merged<'_>, style: Style) -> String {
    check(merged).iter().map(|study| study_text(merged, study, false, style)).collect()
}

pub fn counts_text(merged: &Merged<'_>, style: Style) -> String {
    check(merged).iter().map(|study| summary(merged, study, style)).collect()
}

fn study_text(merged: &Merged<'_>, study: &Study<'_>, in_full: bool, style: Style) -> String {
    let mut out = summary(merged, study, style);
    let is_shown = if in_full { has_measurement } else { is_decided };
    let (shown, others): (Vec<_>, Vec<_>) =
        study.checked.iter().enumerate().partition(|(_, checked)| is_shown(checked));
    if !in_full && !others.is_empty() {
        out.push_str(&wrap(&describe_undecided(&others), style.width, "  "));
    }
    if in_full || !shown.is_empty() {
        out.push('\n');
    }
    for (number, checked) in shown {
        out.push_str(&claim_text(merged, number + 1, checked, style));
    }
    if in_full && !others.is_empty() {
        let title = "    Unknown, as nothing was measured of them, and what it would take";
        out.push_str(&style.paint(paint(Verdict::Unknown), title));
        out.push('\n');
        for (number, checked) in others {
            let line = format!("{:>3} {}: {}", number + 1, describe_claim(checked), why_unmeasured(checked));
            out.push_str(&wrap(&line, style.width, INDENT));
        }
    }
    let findings = study.checked.iter().flat_map(|checked| &checked.findings);
    if let Some(note) = mixed_tiers(&findings.map(|finding| &finding.scope).collect::<Vec<_>>()) {
        out.push_str(&wrap(note, style.width, "  "));
    }
    out
}

/// A study's source, its stores, and the number of each verdict; in one line if no finding got a verdict.
fn summary(merged: &Merged<'_>, study: &Study<'_>, style: Style) -> String {
    if !study.checked.iter().any(is_decided) {
        let heading = style.paint(HEADING, "Published findings:");
        let relation = if study.checked.iter().any(has_measurement) { "decided by" } else { "measured in" };
        return format!("\n{heading} none of the {} was {relation} this run.\n", study.checked.len());
    }
    let mut out = format!("\n{}\n", style.paint(HEADING, "Published findings"));
    if !study.study.source.is_empty() {
        out.push_str(&wrap(&study.study.source, style.width, "  "));
    }
    if !study.study.among.is_empty() {
        let verb = if study.study.among.len() == 1 { "is" } else { "are" };
        let among =
            format!("Only {} {verb} compared, unless a finding names others.", study.study.among.join(", "));
        out.push_str(&wrap(&among, style.width, "  "));
    }
    out.push_str(&counts_table(merged, study, style));
    out
}

fn has_measurement(checked: &CheckedClaim<'_>) -> bool {
    checked.findings.iter().any(Finding::is_measured)
}

/// Whether any group has a verdict on it.
fn is_decided(checked: &CheckedClaim<'_>) -> bool {
    checked.findings.iter().any(|finding| finding.verdict != Verdict::Unknown)
}

/// `12 not decided: 9 need more trials; 3 need ...`, and where they are listed.
fn describe_undecided(claims: &[(usize, &CheckedClaim<'_>)]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    claims.iter().for_each(|(_, checked)| *counts.entry(describe_lack(checked)).or_default() += 1);
    let mut groups: Vec<(&str, usize)> = counts.into_iter().collect();
    groups.sort_by_key(|(_, number)| Reverse(*number));
    let verb = |number: usize| if number == 1 { "needs" } else { "need" };
    let groups = groups.iter().map(|(need_text, number)| format!("{number} {} {need_text}", verb(*number)));
    let groups = groups.collect::<Vec<_>>().join("; ");
    format!("{} not decided: {groups}. The page and --table list them.", claims.len())
}

fn describe_claim(checked: &CheckedClaim<'_>) -> String {
    format!("{} ({})", checked.claim.says, checked.claim.source)
}

fn counts_table(merged: &Merged<'_>, study: &Study<'_>, style: Style) -> String {
    let mut grid = Grid::new(1);
    let heads = Verdict::ALL.iter().map(|verdict| Item::new(verdict.name()).right());
    grid.head([Item::new(format!("of {}", study.checked.len()))].into_iter().chain(heads).collect());
    let row = |(label, counts): (String, Counts)| {
        let numbers = counts.iter().map(|count| Item::new(count.to_string()).right());
        [Item::new(label)].into_iter().chain(numbers).collect()
    };
    let (shown, silent): (Vec<_>, Vec<_>) =
        counts(merged, study).into_iter().partition(|(label, _)| is_any_measured(merged, study, label));
    grid.group(shown.into_iter().map(row).collect());
    let mut out = grid.render(style);
    let (uncounted, silent): (Vec<_>, Vec<_>) =
        silent.into_iter().partition(|(label, _)| [NOT_APPLICABLE, NOT_MEASURABLE].contains(&label.as_str()));
    let labels: Vec<&str> = silent.iter().map(|(label, _)| label.as_str()).collect();
    if !labels.is_empty() {
        let line = format!("None of the findings could be checked at: {}.", labels.join("; "));
        out.push_str(&wrap(&line, style.width, "  "));
    }
    for (label, counts) in uncounted {
        let reason = match label.as_str() {
            NOT_MEASURABLE => "Not measurable here, and counted in no share",
            _ => "About what this run does not cover",
        };
        let line = format!("{reason}: {}.", counts.iter().sum::<usize>());
        out.push_str(&wrap(&line, style.width, "  "));
    }
    out
}

fn is_any_measured(merged: &Merged<'_>, study: &Study<'_>, group: &str) -> bool {
    let findings = study.checked.iter().flat_map(|checked| &checked.findings);
    findings.filter(|finding| finding.is_measured()).any(|finding| label(merged, &finding.scope) == group)
}

fn paint(verdict: Verdict) -> Paint {
    match verdict {
        Verdict::Reproduced => Paint::new().fg_color(Some(AnsiColor::Green.into())),
        Verdict::NotReproduced => Paint::new().bold().fg_color(Some(AnsiColor::Red.into())),
        Verdict::Unknown => Paint::new().fg_color(Some(AnsiColor::Yellow.into())),
    }
}

fn claim_text(merged: &Merged<'_>, number: usize, checked: &CheckedClaim<'_>, style: Style) -> String {
    if checked.findings.iter().all(|finding| finding.verdict == Verdict::Unknown) {
        let measured: Vec<&Finding> =
            checked.findings.iter().filter(|finding| finding.is_measured()).collect();
        let needs = measured.first().and_then(|first| describe_needs(checked.claim, first));
        let parts = [Some(describe_groups(merged, Verdict::Unknown, &measured)), needs].into_iter().flatten();
        let parts = parts.collect::<Vec<_>>().join("; ");
        return wrap(&format!("{number:>3} {}: {parts}", describe_claim(checked)), style.width, INDENT);
    }
    let mut out = wrap(&format!("{number:>3} {}", describe_claim(checked)), style.width, "    ");
    let mut push_line = |text: String| {
        let lines = wrap(&text, style.width - 4, "  ");
        out.extend(lines.lines().map(|line| format!("    {line}\n")));
    };
    push_line(format!("expected: {}", checked.claim.describe()));
    let published = describe_published(checked).map(|words| format!("on the paper's own figures: {words}"));
    let machines = describe_all_machines(checked).map(|words| format!("over machines: {words}"));
    published.into_iter().chain(machines).for_each(push_line);
    for verdict in Verdict::ALL {
        let findings: Vec<&Finding> =
            checked.findings.iter().filter(|finding| finding.verdict == verdict).collect();
        // Unmeasured findings come last.
        let (measured, unmeasured): (Vec<&Finding>, Vec<_>) =
            findings.into_iter().partition(|finding| finding.is_measured());
        for findings in [measured, unmeasured] {
            out.push_str(&verdict_text(merged, checked, &findings, style));
        }
    }
    out
}

fn verdict_text(
    merged: &Merged<'_>,
    checked: &CheckedClaim<'_>,
    findings: &[&Finding],
    style: Style,
) -> String {
    let [first, others @ ..] = findings else { return String::new() };
    let name = first.verdict.name();
    let line = wrap(&describe_groups(merged, first.verdict, findings), style.width - 4, "  ");
    // Painted after it was broken into lines, which count visible characters.
    let line = line.replacen(name, &style.paint(paint(first.verdict), name), 1);
    let mut out: String = line.lines().map(|line| format!("    {line}\n")).collect();
    let prefix = if others.is_empty() { String::new() } else { format!("{}: ", label(merged, &first.scope)) };
    let measured = measured(checked.claim, first).map(|measured| format!("measured {measured}"));
    let parts = [measured, describe_needs(checked.claim, first), judged_without(first)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let evidence = telling(first).filter(|_| first.is_measured());
    let evidence = evidence.map(|evidence| evidence_line(evidence, checked.claim.figure.len() > 1));
    for text in [parts.join("; ")].into_iter().chain(evidence).filter(|text| !text.is_empty()) {
        let lines = wrap(&format!("{prefix}{text}"), style.width - 6, "  ");
        out.extend(lines.lines().map(|line| format!("      {line}\n")));
    }
    out
}

fn describe_groups(merged: &Merged<'_>, verdict: Verdict, findings: &[&Finding]) -> String {
    let format_group = |finding: &&Finding| {
        let label = label(merged, &finding.scope);
        if !finding.is_measured() {
            return label;
        }
        let parts = [label, describe_score(finding), describe_leaning(finding).into()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let scores: Vec<String> = findings.iter().map(format_group).collect();
    let mut words = format!("{}: {}", verdict.name(), scores.join("; "));
    let measured = findings.iter().filter(|finding| finding.is_measured());
    let mut parts: Vec<String> = measured.filter_map(|finding| describe_coverage(finding)).collect();
    parts.dedup();
    if !parts.is_empty() {
        words.push_str(&format!(" ({})", parts.join("; ")));
    }
    words
}
