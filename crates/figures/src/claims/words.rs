//! The expectation of a claim, in words, for reports.

use super::claim::{Average, Claim};
use super::expect::{Expect, Greatest, MoreWins};

impl Claim {
    /// The check in words: `berkeleydb the best by insert, at record_size 1B..10KiB, in 75% of the checks`.
    pub fn describe(&self) -> String {
        let figures: Vec<String> = self.figure.iter().map(ToString::to_string).collect();
        let mut words = self.expect.describe(&figures.join(", "));
        words.push_str(match self.average {
            Average::None => "",
            Average::Comparisons => ", by the mean over combinations",
            Average::Stores => ", by the mean over combinations and stores",
        });
        let regions = [self.at.places_in_words(), self.at.groups_in_words()];
        let regions: Vec<String> = regions.into_iter().filter(|words| !words.is_empty()).collect();
        if !regions.is_empty() {
            words.push_str(&format!(", at {}", regions.join(", ")));
        }
        if self.share.0 < 100.0 {
            words.push_str(&format!(", in {} of the checks", self.share));
        }
        words
    }
}

impl Expect {
    fn describe(&self, figures: &str) -> String {
        match self {
            Expect::Winner(winner) => {
                let factor =
                    winner.within.map_or("".into(), |within| format!("at most {within} times worse than "));
                format!("{} {factor}the best by {figures}", winner.stores.join(" or "))
            }
            Expect::Order(order) => {
                let rest = if order.rest_behind { ", all others behind" } else { "" };
                format!("by {figures}, the best first: {}{rest}", order.stores.join(", "))
            }
            Expect::Ratio(ratio) => {
                let stores = if ratio.stores.is_empty() {
                    String::new()
                } else {
                    format!(" of {}", ratio.stores.join(", "))
                };
                format!("{figures}{stores}, {} over {}: {} times", ratio.of, ratio.to, ratio.range)
            }
            Expect::Value(values) => format!("{figures} of {}: {}", values.stores.join(", "), values.range),
            Expect::Unchanged(unchanged) => {
                let [a, b] = &unchanged.between;
                format!("the best by {figures} is the same with {} {a} and {b}", unchanged.axis)
            }
            Expect::MoreAt(more) => format!(
                "{} the best more often by {} than by the others of {figures}",
                more.stores.join(" or "),
                more.figure
            ),
            Expect::Alike(alike) => format!(
                "none of {} more than {} times worse than another by {figures}",
                alike.stores.join(", "),
                alike.within
            ),
            Expect::Behind(behind) => {
                format!("each of {} worse than all others by {figures}", behind.stores.join(", "))
            }
            Expect::MoreWins(MoreWins { store, axis, at, than }) => {
                format!("{store} is the best by {figures} in more combinations with {axis} {at} than {than}")
            }
            Expect::Greatest(Greatest { of, to, along, value, range, .. }) => {
                let range = range.as_ref().map_or(String::new(), |range| format!(": {range} times"));
                format!("{figures}, {of} over {to}, is greatest at {along} {value}{range}")
            }
        }
    }
}
