//! The rules that decide winners, in words.

use storebench_core::measure::clock::HIDDEN_NS;
use storebench_model::units::rough_ns;

use crate::judge::Rule;
use crate::judge::standing::ENOUGH_BLOCKS;
use crate::stats::{MIN_BLOCKS, THRESHOLD};

/// The meaning of "too close to call" by a rule.
pub fn rule_text(rule: Rule) -> String {
    let percent = THRESHOLD * 100.0;
    match rule {
        Rule::Interval => format!(
            "Too close to call, with {MIN_BLOCKS} or more shared blocks: the 95 % interval of the ratio to the best, paired by \
             block, includes 1. It allows for all stores in a combination: where all are equal, one is called worse in at \
             most 5 % of combinations."
        ),
        Rule::Scatter => format!(
            "Candidates, with fewer than {ENOUGH_BLOCKS} shared blocks: no further from the best than trials of the same cells \
             scatter in this run, at 95 % confidence for all stores in a combination, or within {percent:.0} % of it."
        ),
        Rule::Open => {
            "Candidates: too few trials to name a winner. This run does not show how much trials of one cell scatter, so every \
             store is a candidate; the first one looked best. More trials separate stores."
                .into()
        }
        Rule::Crowded => {
            "?: not judged, as other programs left too few processors: the store named looked best, and not all others look more than \
             twice as bad for sure. Measure again with nothing else running."
                .into()
        }
        Rule::Threshold => {
            format!("Too close to call, with a figure of zero: within {percent:.0} % of the best.")
        }
        Rule::Clock => format!(
            "Too close to call by the clock: latencies that differ by less than the cost of one clock reading, and for gets by \
             less than a tenth more, up to {}. See docs/fairness.md.",
            rough_ns(HIDDEN_NS)
        ),
        Rule::Little => "Too close to call: the difference in room on disk is too little to matter.".into(),
    }
}
