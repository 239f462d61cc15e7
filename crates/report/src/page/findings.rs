//! Published findings in the page: counts, each claim with its verdicts, and all checks behind them.

use storebench_figures::claims::{Claim, Evidence, Finding, Outcome, Verdict};
use storebench_figures::column::Unit;
use storebench_figures::data::findings::words::{
    describe_all_machines, describe_leaning, describe_needs, describe_published, evidence_line,
    judged_without, measured, telling, why_undecided,
};
use storebench_figures::data::findings::{
    CheckedClaim, Counts, Study, check, counts, label, mixed_tiers, why_unmeasured,
};
use storebench_figures::data::merge::Merged;

use crate::markup::{Html, Tag, column, folded, list, note, number, p, row, scroll, small, table, tag};

/// Checks of one verdict that are listed; the rest is counted, and in the JSON.
const LISTED: usize = 24;

pub fn html(merged: &Merged<'_>) -> Html {
    let studies = check(merged);
    if studies.is_empty() {
        return Html::new(p("The plan of this run names no published findings."));
    }
    Html::new(studies.iter().map(|study| study_section(merged, study)).collect::<Vec<_>>())
}

fn study_section(merged: &Merged<'_>, study: &Study<'_>) -> Html {
    let numbered = study.checked.iter().enumerate();
    let (measured, unmeasured): (Vec<_>, Vec<_>) = numbered.partition(|(_, checked)| is_measured(checked));
    let claim = |(index, checked): (usize, &CheckedClaim<'_>)| {
        claim_section(merged, checked).attr("value", (index + 1).to_string())
    };
    let claims: Vec<Tag> = measured.into_iter().map(claim).collect();
    let scopes: Vec<_> =
        study.checked.iter().flat_map(|checked| &checked.findings).map(|finding| &finding.scope).collect();
    let checked_claims = (!claims.is_empty()).then(|| {
        let counts = (
            non_empty(&describe_among(study)).map(p),
            verdict_counts(merged, study),
            mixed_tiers(&scopes).map(note),
        );
        Html::new((counts, tag("ol").class("claims").with(claims)))
    });
    Html::new((
        non_empty(&study.study.source).map(note),
        checked_claims,
        (!unmeasured.is_empty()).then(|| not_measured(&unmeasured, study.checked.len())),
    ))
}

fn is_measured(checked: &CheckedClaim<'_>) -> bool {
    checked.findings.iter().any(Finding::is_measured)
}

fn not_measured(unmeasured: &[(usize, &CheckedClaim<'_>)], total: usize) -> Tag {
    let line = |(index, checked): &(usize, &CheckedClaim<'_>)| {
        let needs = why_unmeasured(checked);
        let claim = (&checked.claim.says, " ", small(("(", &checked.claim.source, ")")));
        tag("li").attr("value", (index + 1).to_string()).with((claim, format!(": {needs}.")))
    };
    let items: Vec<Tag> = unmeasured.iter().map(line).collect();
    let summary = match unmeasured.len() {
        count if count == total => {
            format!("None of the {total} findings can be checked: this run measured nothing of them")
        }
        1 => "1 more finding can't be checked: this run measured nothing of it".to_owned(),
        count => format!("{count} more findings can't be checked: this run measured nothing of them"),
    };
    folded(summary, tag("ol").class("unmeasured").with(items))
}

fn non_empty(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// The stores that its claims compare, if not all.
fn describe_among(study: &Study<'_>) -> String {
    let stores = &study.study.among;
    if stores.is_empty() {
        return String::new();
    }
    let verb = if stores.len() == 1 { "is" } else { "are" };
    format!(
        "Only {} {verb} compared here, unless a finding names others: the best below need not be the best of all that were \
         measured.",
        stores.join(", ")
    )
}

fn verdict_counts(merged: &Merged<'_>, study: &Study<'_>) -> Tag {
    let verdicts = Verdict::ALL.iter().map(|verdict| column(verdict.name()).class("n"));
    let heads = std::iter::once(column(format!("{} findings", study.checked.len()))).chain(verdicts);
    let group_row =
        |(label, counts): (String, Counts)| row(label, counts.map(|count| number(count.to_string())));
    let rows: Vec<Tag> = counts(merged, study).into_iter().map(group_row).collect();
    scroll(table(heads.collect(), rows))
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "yes",
        Verdict::NotReproduced => "no",
        Verdict::Unknown => "close",
    }
}

pub(crate) fn badge(verdict: Verdict) -> Tag {
    tag("span").class(&format!("verdict {}", class(verdict))).with(verdict.name())
}

fn claim_section(merged: &Merged<'_>, checked: &CheckedClaim<'_>) -> Tag {
    let claim = checked.claim;
    let (measured, others): (Vec<&Finding>, Vec<_>) =
        checked.findings.iter().partition(|finding| finding.is_measured());
    let mut verdicts: Vec<Html> =
        measured.into_iter().map(|finding| finding_item(merged, checked, finding)).collect();
    verdicts.extend((!others.is_empty()).then(|| unmeasured_groups(merged, claim, &others)));
    let checks = (claim.note.as_deref().map(note), all_checks(merged, checked));
    let source = small(("(", &claim.source, ")"));
    tag("li").with((
        (tag("strong").with(&claim.says), " ", source),
        note(("Expected: ", claim.describe(), ".")),
        describe_published(checked).map(|published| note(("On the paper's own figures: ", published, "."))),
        describe_all_machines(checked).map(|over| note(("Over machines: ", over, "."))),
        list(verdicts),
        folded("How it was checked", checks),
    ))
}

fn unmeasured_groups(merged: &Merged<'_>, claim: &Claim, others: &[&Finding]) -> Html {
    let [finding] = others else {
        let groups = format!(" in {} other groups", others.len());
        let lines = others
            .iter()
            .map(|other| format!("{}: {}", label(merged, &other.scope), why_undecided(claim, other)));
        return Html::new(folded((badge(Verdict::Unknown), groups), list(lines.collect())));
    };
    let needs = format!(" {}; {}", label(merged, &finding.scope), why_undecided(claim, finding));
    Html::new((badge(Verdict::Unknown), needs))
}

fn finding_item(merged: &Merged<'_>, checked: &CheckedClaim<'_>, finding: &Finding) -> Html {
    let label = label(merged, &finding.scope);
    let evidence = telling(finding)
        .map(|evidence| describe_evidence(evidence, checked.claim.figure.len() > 1))
        .unwrap_or_default();
    let score = format!("{} of {} checks agree", finding.leaning.agree, finding.leaning.total());
    let measured = measured(checked.claim, finding).map(|measured| format!("measured {measured}"));
    let (leaning, needs) = (describe_leaning(finding).to_owned(), describe_needs(checked.claim, finding));
    let without = judged_without(finding);
    let parts = [Some(label), Some(leaning), Some(score), measured, needs, without, Some(evidence)];
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    Html::new((badge(finding.verdict), " ", parts.join("; ")))
}

/// One check in a line, with the meaning of its unit if that is unclear.
fn describe_evidence(evidence: &Evidence, with_figure: bool) -> String {
    let line = evidence_line(evidence, with_figure);
    let is_space = evidence.unit == Unit::Share && evidence.figure == "space";
    match is_space && !evidence.shown.is_empty() {
        true => format!("{line}; values, of the bytes on disk"),
        false => line,
    }
}

fn all_checks(merged: &Merged<'_>, checked: &CheckedClaim<'_>) -> Html {
    let with_figure = checked.claim.figure.len() > 1;
    let group_lists = |finding: &Finding| {
        let outcomes = [Outcome::Disagrees, Outcome::Close, Outcome::Missing, Outcome::Agrees];
        let lists: Vec<_> =
            outcomes.iter().filter_map(|outcome| outcome_item(finding, *outcome, with_figure)).collect();
        (!lists.is_empty()).then(|| (tag("h4").with(label(merged, &finding.scope)), lists))
    };
    Html::new(checked.findings.iter().map(group_lists).collect::<Vec<_>>())
}

fn outcome_item(finding: &Finding, outcome: Outcome, with_figure: bool) -> Option<(Tag, Option<Tag>)> {
    let checks: Vec<&Evidence> =
        finding.evidence.iter().filter(|evidence| evidence.outcome == outcome).collect();
    let words = match outcome {
        Outcome::Agrees => "agree",
        Outcome::Disagrees => "disagree",
        Outcome::Close => "too close to call",
        Outcome::Missing => "lack a figure",
    };
    let mut items: Vec<String> =
        checks.iter().take(LISTED).map(|evidence| evidence_text(evidence, with_figure)).collect();
    if checks.len() > LISTED {
        items.push(format!("and {} more, in the JSON", checks.len() - LISTED));
    }
    (!items.is_empty()).then(|| (p(format!("{} {words}:", checks.len())), list(items)))
}

fn evidence_text(evidence: &Evidence, with_figure: bool) -> String {
    let mut line = describe_evidence(evidence, with_figure);
    if !evidence.missing.is_empty() {
        let separator = if line.is_empty() { "without" } else { "; without" };
        line.push_str(&format!("{separator} {}", evidence.missing.join("; ")));
    }
    line
}
