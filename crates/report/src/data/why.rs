//! Why a store has no figure.

use serde::Serialize;
use storebench_core::words::words;

/// Why a store has no figure. The order is the order in which they explain an empty place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, strum::VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "lowercase")]
pub enum Why {
    /// Its trials failed.
    Failed,
    /// It can't do this here.
    Unsupported,
    /// It has figures, but its engine was compiled as its authors would not ship it ([`storebench_core::store::StoreBuild`]).
    #[strum(serialize = "not ranked")]
    NotRanked,
    /// It did not keep up with the rate asked for, so that its latency tells nothing.
    Saturated,
    /// The work has no such operation, or takes what the store lacks by its nature.
    #[strum(serialize = "not applicable")]
    NotApplicable,
    /// The combination was left out.
    #[strum(serialize = "left out")]
    LeftOut,
    /// The figure can't be as it seems.
    Doubted,
    /// It ran, and has no such figure.
    #[strum(serialize = "not measured")]
    NotMeasured,
    /// It was not run.
    #[strum(serialize = "not run")]
    NotRun,
}

words!(Why);
