//! Published findings in the page: counts, each claim with its verdicts, and all checks behind them.

use super::markup::{element, escape, list};
use crate::claims::{Evidence, Finding, Outcome, Verdict};
use crate::column::Unit;
use crate::data::findings::{
    Checked, Counts, Study, check, counts, covered, evidence_line, label, lacks, leaning, mixed_tiers,
    telling, unheard,
};
use crate::data::merge::Merged;

/// Checks of one verdict that are listed before the rest is only counted; all are in the JSON.
const LISTED: usize = 24;

/// The section's content; nothing where no study has claims.
pub fn html(merged: &Merged<'_>) -> String {
    let studies = check(merged);
    if studies.is_empty() {
        return "<p>The plan of this run names no published findings.</p>".into();
    }
    studies.iter().map(|study| of_study(merged, study)).collect()
}

fn of_study(merged: &Merged<'_>, study: &Study<'_>) -> String {
    let claims: String = study.checked.iter().map(|checked| of_claim(merged, checked)).collect();
    let scopes: Vec<_> =
        study.checked.iter().flat_map(|checked| &checked.findings).map(|finding| &finding.scope).collect();
    let note = mixed_tiers(&scopes).map_or(String::new(), |note| paragraph("note", note));
    format!(
        "{}{}{}{note}<ol class=\"claims\">{claims}</ol>",
        paragraph("note", &study.study.source),
        paragraph("", &among(study)),
        table(merged, study)
    )
}

/// Which stores its claims compare, where these are not all.
fn among(study: &Study<'_>) -> String {
    let all = &study.study.among;
    if all.is_empty() {
        return String::new();
    }
    format!(
        "Only {} are compared here, unless a finding names others: a store that is the best below need not be \
         the best of all that were measured.",
        all.join(", ")
    )
}

fn paragraph(class: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<p class=\"{class}\">{}</p>", escape(text)) }
}

/// How many claims got which verdict, by group.
fn table(merged: &Merged<'_>, study: &Study<'_>) -> String {
    let heads: String =
        Verdict::ALL.iter().map(|v| format!("<th scope=\"col\" class=\"n\">{}</th>", v.name())).collect();
    let row = |(label, counts): (String, Counts)| {
        let numbers: String = counts.iter().map(|count| format!("<td class=\"n\">{count}</td>")).collect();
        format!("<tr><th scope=\"row\">{}</th>{numbers}</tr>", escape(&label))
    };
    let rows: String = counts(merged, study).into_iter().map(row).collect();
    format!(
        "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">{} findings</th>{heads}</tr></thead>\
         <tbody>{rows}</tbody></table></div>",
        study.checked.len()
    )
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "yes",
        Verdict::NotReproduced => "no",
        Verdict::TooCloseToCall => "close",
        Verdict::SoFar | Verdict::NotMeasured => "none",
    }
}

fn badge(verdict: Verdict) -> String {
    format!("<span class=\"verdict {}\">{}</span>", class(verdict), verdict.name())
}

fn of_claim(merged: &Merged<'_>, checked: &Checked<'_>) -> String {
    let claim = checked.claim;
    let mut verdicts: Vec<String> =
        checked.findings.iter().map(|finding| of_finding(merged, checked, finding)).collect();
    if verdicts.is_empty() {
        let takes = format!("it takes {}", unheard(claim));
        verdicts.push(format!("{} {}", badge(Verdict::NotMeasured), escape(&takes)));
    }
    let note = claim.note.as_deref().map_or(String::new(), |note| paragraph("note", note));
    let expected = format!("Checked: {}.", claim.in_words());
    format!(
        "<li>{} <small>({})</small>{}<details><summary>How it was checked</summary>{note}{}{}</details></li>",
        element("strong", &claim.says),
        escape(&claim.source),
        list(&verdicts),
        paragraph("note", &expected),
        all_checks(merged, checked)
    )
}

/// A verdict, where it holds, and the figures that tell.
fn of_finding(merged: &Merged<'_>, checked: &Checked<'_>, finding: &Finding) -> String {
    let label = label(merged, &finding.scope);
    let why = match finding.verdict {
        Verdict::NotMeasured => format!("it takes {}", lacks(finding)),
        _ => telling(finding)
            .map(|evidence| in_full(evidence, checked.claim.figure.len() > 1))
            .unwrap_or_default(),
    };
    let score = if finding.tally.total() == 0 {
        String::new()
    } else {
        format!("{} of {} checks agree", finding.tally.agree, finding.tally.total())
    };
    let measured = covered(checked.claim, finding.coverage).filter(|_| finding.tally.total() > 0);
    let looks = if finding.verdict == Verdict::SoFar { leaning(finding.looks) } else { "" };
    let parts = [escape(&label), looks.into(), score, measured.unwrap_or_default(), escape(&why)];
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    format!("{} {}", badge(finding.verdict), parts.join("; "))
}

/// One check in a line, with what its unit means where that is not clear.
fn in_full(evidence: &Evidence, with_figure: bool) -> String {
    let line = evidence_line(evidence, with_figure);
    let is_space = evidence.unit == Unit::Share && evidence.figure == "space";
    if is_space && !evidence.shown.is_empty() {
        format!("{line}; values, of the bytes on disk")
    } else {
        line
    }
}

/// Every check of every group, those that disagree first.
fn all_checks(merged: &Merged<'_>, checked: &Checked<'_>) -> String {
    let with_figure = checked.claim.figure.len() > 1;
    let of_group = |finding: &Finding| {
        let outcomes = [Outcome::Disagrees, Outcome::Close, Outcome::Missing, Outcome::Agrees];
        let lists: String =
            outcomes.iter().map(|outcome| of_outcome(finding, *outcome, with_figure)).collect();
        if lists.is_empty() {
            return String::new();
        }
        format!("{}{lists}", element("h4", &label(merged, &finding.scope)))
    };
    checked.findings.iter().map(of_group).collect()
}

fn of_outcome(finding: &Finding, outcome: Outcome, with_figure: bool) -> String {
    let alike: Vec<&Evidence> =
        finding.evidence.iter().filter(|evidence| evidence.outcome == outcome).collect();
    let words = match outcome {
        Outcome::Agrees => "agree",
        Outcome::Disagrees => "disagree",
        Outcome::Close => "too close to call",
        Outcome::Missing => "lack a figure",
    };
    let mut items: Vec<String> =
        alike.iter().take(LISTED).map(|evidence| line(evidence, with_figure)).collect();
    if alike.len() > LISTED {
        items.push(format!("and {} more, in the JSON", alike.len() - LISTED));
    }
    if items.is_empty() {
        return String::new();
    }
    format!("<p>{} {words}:</p>{}", alike.len(), list(&items))
}

fn line(evidence: &Evidence, with_figure: bool) -> String {
    let mut line = in_full(evidence, with_figure);
    if !evidence.missing.is_empty() {
        let without = if line.is_empty() { "without" } else { "; without" };
        line.push_str(&format!("{without} {}", evidence.missing.join("; ")));
    }
    escape(&line)
}
