//! Decides which stores are best, tied, candidates, not judged, given up or dangerous, by figures by block and the conditions of their
//! measurement alone. Reading runs and writing sentences is done elsewhere.

pub mod change;
pub mod combinations;
pub mod contention;
pub mod danger;
pub mod interim;
pub mod order;
pub mod recommendation;
pub mod settings;
pub mod standing;

use serde::ser::{Serialize, SerializeStruct, Serializer};

/// The verdict on a store at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No other store has a better figure. The others' verdicts say whether any may be as good.
    Best,
    /// Too close to call with the best.
    Tied(Rule),
    /// It may be the best: there are too few trials to decide.
    Candidate(Rule),
    /// It was measured under conditions that allow no verdict.
    NotJudged(Rule),
    /// Worse than the best.
    Worse(Rule),
    /// It is not ranked: it was measured less often than those that are.
    GivenUp,
    /// It is not recommended: a power cut can cost the whole store.
    Dangerous,
}

impl Verdict {
    /// The verdict of a comparison with the best by a rule.
    fn from_rule(rule: Rule, is_worse: bool) -> Verdict {
        match rule {
            _ if is_worse => Verdict::Worse(rule),
            _ if rule.names_candidates() => Verdict::Candidate(rule),
            _ => Verdict::Tied(rule),
        }
    }

    /// Whether the store is, or may be, the best.
    pub fn wins(self) -> bool {
        matches!(self, Verdict::Best | Verdict::Tied(_) | Verdict::Candidate(_))
    }

    /// The deciding rule; `None` for the best, and for a store that is not ranked.
    pub fn rule(self) -> Option<Rule> {
        match self {
            Verdict::Tied(rule)
            | Verdict::Candidate(rule)
            | Verdict::NotJudged(rule)
            | Verdict::Worse(rule) => Some(rule),
            Verdict::Best | Verdict::GivenUp | Verdict::Dangerous => None,
        }
    }
}

/// In files: `wins` and `rule`.
impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Verdict", 2)?;
        fields.serialize_field("wins", &self.wins())?;
        fields.serialize_field("rule", &self.rule())?;
        fields.end()
    }
}

/// The rule that decided whether a store is too close to call with the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// With at least [`MIN_BLOCKS`](crate::stats::MIN_BLOCKS) shared blocks: whether the interval of the ratio includes 1.
    Interval,
    /// With fewer than [`ENOUGH_BLOCKS`](standing::ENOUGH_BLOCKS), but a scatter known from cells that ran more
    /// than once: whether the resulting interval of the ratio includes 1, or the ratio is within
    /// [`THRESHOLD`](crate::stats::THRESHOLD) of it.
    Scatter,
    /// With fewer than [`MIN_BLOCKS`](crate::stats::MIN_BLOCKS), and an unknown scatter: any store may be the best.
    Open,
    /// Other programs left too few processors: no store is judged.
    Crowded,
    /// Without a ratio, or if only likeness is asked for: whether the ratio, or else the figure, is within
    /// [`THRESHOLD`](crate::stats::THRESHOLD) of the best's.
    Threshold,
    /// Another rule would call it worse, but by no more than the clock's resolution: always too close.
    Clock,
    /// The same for disk space: the difference is too small to matter.
    Little,
}

impl Rule {
    /// Whether the rule names candidates, but no best and no tie.
    pub fn names_candidates(self) -> bool {
        matches!(self, Rule::Scatter | Rule::Open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_may_be_the_best_win() {
        let wins = [Verdict::Best, Verdict::Tied(Rule::Clock), Verdict::Candidate(Rule::Open)];
        assert!(wins.into_iter().all(Verdict::wins));
        let others = [Verdict::Worse(Rule::Interval), Verdict::GivenUp, Verdict::Dangerous];
        assert!(!Verdict::NotJudged(Rule::Crowded).wins());
        assert!(!others.into_iter().any(Verdict::wins));
        assert_eq!(Verdict::Dangerous.rule(), None);
        let json = serde_json::to_string(&Verdict::Tied(Rule::Clock)).unwrap();
        assert_eq!(json, r#"{"wins":true,"rule":"clock"}"#);
    }
}
