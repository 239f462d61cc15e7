//! The outcome of a claim.

use serde::Serialize;

use super::pool::Scope;
use crate::column::Unit;
use crate::layout::Position;
use crate::stats::{Estimate, Interval};

use storebench_core::words::words;

/// The outcome of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It is as expected.
    Agrees,
    /// Something else.
    Disagrees,
    /// The trials can't tell.
    Close,
    /// A figure that it takes is not there.
    Missing,
}

/// The verdict of a run on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Verdict {
    /// As many checks agree as the claim asks for.
    Reproduced,
    /// Too few do, whatever the undecided ones would say.
    #[strum(serialize = "not reproduced")]
    NotReproduced,
    /// Neither: figures lack, too little of what the claim is about was measured, or there are too few trials.
    Unknown,
}

words!(Verdict, all);

/// A figure that a check looked at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    /// Whose: a store, and the axis' value where these are compared.
    pub who: String,
    /// Its mean over trials, or how many there are.
    pub value: f64,
    /// The interval of the mean, where one exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// One check, and the figures that it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    /// The figure's name.
    pub figure: String,
    /// The unit of what is shown.
    pub unit: Unit,
    /// Where: a position, some of whose axes may be averaged over, or compared between.
    #[serde(flatten)]
    pub spot: Position,
    /// The number of places that were averaged; absent where the check is of one place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub averaged: Option<usize>,
    /// The number of stores that were averaged; absent where each is by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub averaged_stores: Option<usize>,
    /// The outcome, as far as intervals settle it.
    pub outcome: Outcome,
    /// The outcome that few trials lean to; the same where it is settled.
    pub leaning: Outcome,
    /// The figures.
    pub shown: Vec<Shown>,
    /// The ratio that decided it, where one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<Estimate>,
    /// The figures that it would have taken besides, or those that an average had to do without.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The combinations that stand behind it.
    #[serde(skip)]
    pub covers: Vec<Position>,
}

/// The number of checks by their outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Tally {
    pub agree: usize,
    pub disagree: usize,
    pub close: usize,
    pub missing: usize,
}

impl Tally {
    /// Counts what is settled.
    pub fn of(evidence: &[Evidence]) -> Tally {
        Tally::count(evidence.iter().map(|evidence| evidence.outcome))
    }

    /// Counts what the trials lean to.
    pub fn leaning(evidence: &[Evidence]) -> Tally {
        Tally::count(evidence.iter().map(|evidence| evidence.leaning))
    }

    /// Counts.
    pub fn count(outcomes: impl Iterator<Item = Outcome> + Clone) -> Tally {
        let count = |wanted: Outcome| outcomes.clone().filter(|outcome| *outcome == wanted).count();
        Tally {
            agree: count(Outcome::Agrees),
            disagree: count(Outcome::Disagrees),
            close: count(Outcome::Close),
            missing: count(Outcome::Missing),
        }
    }

    /// All checks.
    pub fn total(self) -> usize {
        self.agree + self.disagree + self.close + self.missing
    }

    /// The verdict where `percent` of the checks must agree. It is known only where the checks that lack a figure leave both open: where
    /// the others could have borne the claim out, and could have contradicted it.
    pub fn verdict(self, percent: f64) -> Verdict {
        // So that 2 of 3 are 66.7 %, and nothing is asked for beyond all by a rounding error.
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

/// The number of combinations of operation (or other figure), record size, records and data that a claim is about, and
/// how many of them were measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Those measured.
    pub measured: usize,
    /// All.
    pub whole: usize,
    /// The record counts or other values on an axis, and the figures, of which less than half was measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub short: Vec<String>,
}

impl Coverage {
    /// Whether it is all that the claim is about.
    pub fn is_whole(&self) -> bool {
        self.measured >= self.whole
    }

    /// Whether it is enough for a verdict on what is checked combination by combination: half, at every record count and size,
    /// of every figure.
    pub fn is_half(&self) -> bool {
        2 * self.measured >= self.whole && self.short.is_empty()
    }
}

/// The finding of one machine, guarantee and so on for a claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Of which figures.
    pub scope: Scope,
    /// The verdict on the claim.
    pub verdict: Verdict,
    /// The verdict so far: what the trials lean to, of what was measured. The same where the verdict is known.
    pub looks: Verdict,
    /// The share of what the claim is about that was measured; `None` where it is not known.
    pub coverage: Option<Coverage>,
    /// The checks by outcome, as far as it is settled.
    pub tally: Tally,
    /// The checks by what the trials lean to.
    pub leaning: Tally,
    /// The checks.
    pub evidence: Vec<Evidence>,
    /// The values that the claim speaks of and the figures don't have at all.
    pub missing: Vec<String>,
    /// The stores that can't be had here, each with the reason: the claim is judged without them, or not at all.
    pub without: Vec<(String, String)>,
    /// Which of its stores fell behind the rate asked for, and how far: they are not judged there.
    pub behind: Vec<String>,
    /// Whether other programs left too few processors, so that its figures of time settle nothing.
    pub crowded: bool,
}

impl Finding {
    /// Whether anything of what the claim is about was measured.
    pub fn is_measured(&self) -> bool {
        self.tally.missing < self.tally.total()
    }

    /// Whether a store that it can't be judged without can't be had here: it is no open question of its runs.
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
            Tally { agree, disagree, close, missing }.verdict(percent)
        };
        assert_eq!(verdict(0, 0, 0, 0, 100.0), Verdict::Unknown);
        assert_eq!(verdict(3, 0, 0, 0, 100.0), Verdict::Reproduced);
        assert_eq!(verdict(2, 1, 0, 0, 100.0), Verdict::NotReproduced);
        assert_eq!(verdict(2, 0, 1, 0, 100.0), Verdict::Unknown);
        assert_eq!(verdict(2, 0, 0, 1, 100.0), Verdict::Unknown);
        // Refuted by a check, and could never have been borne out.
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
