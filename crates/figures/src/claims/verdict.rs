//! The outcomes of checks and claims.

use serde::Serialize;

use super::claim::Claim;
use super::design::counted_position;
use super::figure::Figure;
use super::pair::CheckOutcome;
use super::pool::Scope;
use crate::column::Unit;
use crate::layout::Position;
use crate::stats::{Estimate, Interval};

use storebench_model::words::words;

/// The outcome of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Agrees,
    Disagrees,
    /// The trials can't tell.
    Close,
    Missing,
}

/// A run's verdict on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Verdict {
    /// As many checks agree as required.
    Reproduced,
    /// Too few agree, whatever the undecided ones would say.
    #[strum(serialize = "not reproduced")]
    NotReproduced,
    /// Neither: figures are missing, too little was measured, or there are too few trials.
    Unknown,
}

words!(Verdict, all);

/// A figure behind a check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckedFigure {
    /// Its owner: a store, and the axis' value if these are compared.
    pub who: String,
    /// The mean over trials, or the number.
    pub value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// One check, and the figures behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    pub figure: String,
    pub unit: Unit,
    /// The position, some of whose axes may be averaged or compared.
    #[serde(flatten)]
    pub spot: Position,
    /// The number of averaged comparisons; `None` for a single one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub averaged: Option<usize>,
    /// The number of averaged stores; `None` if each is checked separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub averaged_stores: Option<usize>,
    /// The outcome, if intervals settle it.
    pub outcome: Outcome,
    /// The leaning of few trials; equal to `outcome` if it is settled.
    pub leaning: Outcome,
    pub shown: Vec<CheckedFigure>,
    /// The ratio that decided it, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<Estimate>,
    /// Further figures that it needs, or that an average lacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    #[serde(skip)]
    pub covers: Vec<Position>,
}

impl Evidence {
    /// A check of one comparison, without what only some checks have.
    pub(super) fn new(
        figure: &Figure,
        spot: &Position,
        outcome: CheckOutcome,
        shown: Vec<CheckedFigure>,
    ) -> Evidence {
        Evidence {
            figure: figure.to_string(),
            unit: figure.column.unit,
            spot: spot.clone(),
            averaged: None,
            averaged_stores: None,
            outcome: outcome.settled,
            leaning: outcome.leaning,
            shown,
            times: None,
            missing: Vec::new(),
            covers: Vec::new(),
        }
    }
}

/// The number of checks by their outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CheckTally {
    pub agree: usize,
    pub disagree: usize,
    pub close: usize,
    pub missing: usize,
}

impl CheckTally {
    pub fn count_settled(evidence: &[Evidence]) -> CheckTally {
        CheckTally::count(evidence.iter().map(|evidence| evidence.outcome))
    }

    pub fn count_leaning(evidence: &[Evidence]) -> CheckTally {
        CheckTally::count(evidence.iter().map(|evidence| evidence.leaning))
    }

    pub fn count(outcomes: impl Iterator<Item = Outcome> + Clone) -> CheckTally {
        let count = |wanted: Outcome| outcomes.clone().filter(|outcome| *outcome == wanted).count();
        CheckTally {
            agree: count(Outcome::Agrees),
            disagree: count(Outcome::Disagrees),
            close: count(Outcome::Close),
            missing: count(Outcome::Missing),
        }
    }

    pub fn total(self) -> usize {
        self.agree + self.disagree + self.close + self.missing
    }

    /// The verdict if `percent` of the checks must agree. It is known only if the checks without a figure leave both open: the
    /// others could have supported the claim, and could have contradicted it.
    pub fn verdict(self, percent: f64) -> Verdict {
        // So that 2 of 3 are 66.7 %, and a rounding error requires no more than all.
        let needed = (percent / 100.0 * self.total() as f64 - 1e-6).ceil() as usize;
        match self {
            _ if self.total() == 0 => Verdict::Unknown,
            _ if self.missing > self.total().saturating_sub(needed) || self.missing >= needed => {
                Verdict::Unknown
            }
            _ if self.agree >= needed => Verdict::Reproduced,
            _ if self.total() - self.disagree < needed => Verdict::NotReproduced,
            _ => Verdict::Unknown,
        }
    }
}

/// The combinations of figure, record size, records and data that a claim is about, and how many of them were measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Coverage {
    pub measured: usize,
    pub whole: usize,
    /// The record counts or other values on an axis, and the figures, less than half of which was measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub short: Vec<String>,
}

impl Coverage {
    /// Whether everything in the claim was measured.
    pub fn is_whole(&self) -> bool {
        self.measured >= self.whole
    }
}

/// The finding on a claim for one machine, guarantee and so on.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub scope: Scope,
    pub verdict: Verdict,
    /// The verdict that the trials lean to, from what was measured; equal to `verdict` if that is known.
    pub so_far: Verdict,
    /// The measured share of the claim's combinations; `None` if unknown.
    pub coverage: Option<Coverage>,
    pub tally: CheckTally,
    pub leaning: CheckTally,
    pub evidence: Vec<Evidence>,
    /// Values of the claim that the figures lack completely.
    pub missing: Vec<String>,
    /// The unavailable stores, each with the reason: the claim is judged without them, or not at all.
    pub without: Vec<(String, String)>,
    /// Stores that fell behind the rate asked for, and how far: they are not judged there.
    pub behind: Vec<String>,
    /// Whether other programs left too few processors, so that figures of time settle nothing.
    pub crowded: bool,
}

impl Finding {
    /// Whether any part of the claim was measured.
    pub fn is_measured(&self) -> bool {
        self.tally.missing < self.tally.total()
    }

    /// Whether more trials of what was measured may decide it.
    pub fn is_open(&self, claim: &Claim) -> bool {
        let is_covered = self.coverage.as_ref().is_none_or(|coverage| claim.is_covered(coverage));
        self.verdict == Verdict::Unknown && is_covered && self.tally.close > 0
    }

    /// Whether a check that is too close to call rests on a combination.
    pub fn is_close_at(&self, claim: &Claim, position: &Position) -> bool {
        let without_side = |spot: &Position| counted_position(claim, spot);
        let rests_on = |evidence: &&Evidence| {
            let covers = &evidence.covers;
            covers.is_empty() || covers.iter().any(|spot| without_side(spot) == without_side(position))
        };
        let mut close = self.evidence.iter().filter(|evidence| evidence.outcome == Outcome::Close);
        claim.at.holds(position) && close.any(|evidence| rests_on(&evidence))
    }

    /// Whether a store that the claim needs is unavailable here: then its runs leave no open question.
    pub fn cannot_be_measured(&self) -> bool {
        !self.without.is_empty() && self.evidence.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_must_agree_and_doubts_count_for_both_sides() {
        let verdict = |agree, disagree, close, missing, percent| {
            CheckTally { agree, disagree, close, missing }.verdict(percent)
        };
        assert_eq!(verdict(0, 0, 0, 0, 100.0), Verdict::Unknown);
        assert_eq!(verdict(3, 0, 0, 0, 100.0), Verdict::Reproduced);
        assert_eq!(verdict(2, 1, 0, 0, 100.0), Verdict::NotReproduced);
        assert_eq!(verdict(2, 0, 1, 0, 100.0), Verdict::Unknown);
        assert_eq!(verdict(2, 0, 0, 1, 100.0), Verdict::Unknown);
        // Refuted by a check, and could never have been supported.
        assert_eq!(verdict(1, 1, 1, 1, 100.0), Verdict::Unknown);
        assert_eq!(verdict(0, 3, 0, 1, 50.0), Verdict::NotReproduced);
        assert_eq!(verdict(2, 0, 0, 2, 50.0), Verdict::Unknown);
        assert_eq!(verdict(2, 1, 0, 0, 66.7), Verdict::NotReproduced);
        assert_eq!(verdict(2, 1, 0, 0, 66.6), Verdict::Reproduced);
        assert_eq!(verdict(2, 2, 0, 0, 50.0), Verdict::Reproduced);
        assert_eq!(verdict(1, 1, 1, 1, 50.0), Verdict::Unknown);
        assert_eq!(verdict(1, 2, 0, 1, 50.0), Verdict::Unknown);
        assert_eq!(verdict(1, 3, 0, 0, 50.0), Verdict::NotReproduced);
        assert_eq!(verdict(100, 0, 0, 0, 100.0), Verdict::Reproduced);
    }
}
