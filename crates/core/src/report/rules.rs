//! The rules by which winners are decided, in words.

use crate::measure::clock::HIDDEN_NS;
use crate::stats::{MIN_BLOCKS, Rule, THRESHOLD};
use crate::units::rough_ns;

/// What a rule means by "too close to call".
pub(super) fn rule_text(rule: Rule) -> String {
    match rule {
        Rule::Interval => format!(
            "Too close to call, where stores share {MIN_BLOCKS} blocks or more: the interval of the ratio to the best, paired \
             by block, includes 1. It allows for all stores of a place at once: where all are equal, any is called worse in at \
             most 5 % of places."
        ),
        Rule::Threshold => format!(
            "Too close to call, where stores share fewer than {MIN_BLOCKS} blocks, or a figure is zero, so that no interval can \
             tell: within {:.0} % of the best.",
            THRESHOLD * 100.0
        ),
        Rule::Clock => format!(
            "Too close to call, whatever intervals say: latencies that differ by less than the clock can tell, which is what a \
             reading of it costs, and for gets a tenth more, up to {}: docs/fairness.md.",
            rough_ns(HIDDEN_NS)
        ),
    }
}
