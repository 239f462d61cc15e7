//! Why a store has no figure.

use serde::Serialize;

/// Why a store has no figure. The order is the order in which they explain an empty place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// Its trials failed.
    Failed,
    /// It can't do this here.
    Unsupported,
    /// It has figures, but its engine was compiled as its authors would not ship it ([`storebench_core::store::StoreBuild`]).
    NotRanked,
    /// It did not keep up with the rate asked for, so that its latency tells nothing.
    Saturated,
    /// The work has no such operation, or takes what the store lacks by its nature.
    NotApplicable,
    /// The combination was left out.
    LeftOut,
    /// The figure can't be as it seems.
    Doubted,
    /// It ran, and has no such figure.
    NotMeasured,
    /// It was not run.
    NotRun,
}

impl Why {
    /// The words in reports.
    pub fn name(self) -> &'static str {
        match self {
            Why::Failed => "failed",
            Why::Unsupported => "unsupported",
            Why::NotRanked => "not ranked",
            Why::Saturated => "saturated",
            Why::LeftOut => "left out",
            Why::Doubted => "doubted",
            Why::NotApplicable => "not applicable",
            Why::NotMeasured => "not measured",
            Why::NotRun => "not run",
        }
    }
}
