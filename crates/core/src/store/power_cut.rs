//! What a power cut can take, where a store's settings tell it more finely than a tier does.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a power cut can do to transactions that were acknowledged. The order is the order of safety.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PowerCut {
    /// It can leave files that are damaged.
    Damages,
    /// It can do so where the file system orders writes badly; the engine's authors call the chance very small.
    RarelyDamages,
    /// Files stay whole; all that came after the last sync, which may be many transactions ago, can be undone.
    TakesRecent,
    /// Files stay whole; the last transaction can be undone.
    TakesLast,
    /// Nothing is lost: the tier `power`.
    TakesNothing,
}

impl PowerCut {
    /// Every kind, the worst first.
    pub const ALL: [PowerCut; 5] = [
        PowerCut::Damages,
        PowerCut::RarelyDamages,
        PowerCut::TakesRecent,
        PowerCut::TakesLast,
        PowerCut::TakesNothing,
    ];

    /// The word in results.
    pub fn name(self) -> &'static str {
        match self {
            PowerCut::Damages => "damages",
            PowerCut::RarelyDamages => "rarely-damages",
            PowerCut::TakesRecent => "takes-recent",
            PowerCut::TakesLast => "takes-last",
            PowerCut::TakesNothing => "takes-nothing",
        }
    }

    /// In a few words, of a power cut: `can undo the last transaction`.
    pub fn words(self) -> &'static str {
        match self {
            PowerCut::Damages => "can damage the files",
            PowerCut::RarelyDamages => "can damage the files, though rarely",
            PowerCut::TakesRecent => "can undo recent transactions",
            PowerCut::TakesLast => "can undo the last transaction",
            PowerCut::TakesNothing => "takes nothing",
        }
    }
}

impl fmt::Display for PowerCut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_names() {
        for power_cut in PowerCut::ALL {
            assert_eq!(serde_json::to_value(power_cut).unwrap(), power_cut.name());
        }
    }
}
