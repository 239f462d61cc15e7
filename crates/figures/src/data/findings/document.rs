//! Findings as JSON has them.

use serde::Serialize;

use super::words::{describe_needs, measured, state_absence};
use super::{CheckedClaim, Study, label};
use crate::claims::{CheckTally, Claim, Coverage, Evidence, Finding, TableVerdict, Verdict};
use crate::data::merge::Merged;

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
    /// The result of the same rule on the paper's own tables.
    #[serde(skip_serializing_if = "<[TableVerdict]>::is_empty")]
    published: &'a [TableVerdict],
    findings: Vec<FindingDocument<'a>>,
}

#[derive(Serialize)]
struct FindingDocument<'a> {
    hardware: &'a str,
    title: String,
    verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    so_far: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<&'a Coverage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<String>,
    /// The measurements that a verdict needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    takes: Option<String>,
    checks: CheckTally,
    /// Checks by the leanings of few trials.
    leaning: CheckTally,
    evidence: &'a [Evidence],
    missing: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    without: Vec<String>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    behind: &'a [String],
}

/// The verdicts as JSON has them.
pub fn documents<'a>(merged: &'a Merged<'_>, studies: &'a [Study<'a>]) -> Vec<StudyDocument<'a>> {
    let finding_document = |claim: &Claim, finding: &'a Finding| FindingDocument {
        hardware: &finding.scope.hardware,
        title: label(merged, &finding.scope),
        verdict: finding.verdict,
        so_far: (finding.verdict != finding.so_far).then_some(finding.so_far),
        coverage: finding.coverage.as_ref(),
        measured: measured(claim, finding),
        takes: describe_needs(claim, finding),
        checks: finding.tally,
        leaning: finding.leaning,
        evidence: &finding.evidence,
        missing: &finding.missing,
        without: finding.without.iter().map(state_absence).collect(),
        behind: &finding.behind,
    };
    let claim_document = |checked: &'a CheckedClaim<'a>| ClaimDocument {
        says: &checked.claim.says,
        source: &checked.claim.source,
        note: checked.claim.note.as_deref(),
        expected: checked.claim.describe(),
        published: &checked.published,
        findings: checked.findings.iter().map(|finding| finding_document(checked.claim, finding)).collect(),
    };
    let study_document = |study: &'a Study<'a>| StudyDocument {
        study: &study.study.study,
        source: &study.study.source,
        claims: study.checked.iter().map(claim_document).collect(),
    };
    studies.iter().map(study_document).collect()
}
