//! Why a store has no figure.

use serde::Serialize;
use storebench_model::words::words;

/// Why a store has no figure, in order of precedence for an empty place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, strum::VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "lowercase")]
pub enum AbsenceReason {
    Failed,
    Unsupported,
    /// It has figures, but its engine was compiled differently from its authors' release ([`storebench_model::store::StoreBuild`]).
    #[strum(serialize = "not ranked")]
    NotRanked,
    /// It did not keep up with the required rate, so that its latency means nothing.
    Saturated,
    /// The work has no such operation, or needs what the store lacks by its nature.
    #[strum(serialize = "not applicable")]
    NotApplicable,
    #[strum(serialize = "left out")]
    LeftOut,
    Warning,
    /// It ran, but has no such figure.
    #[strum(serialize = "not measured")]
    NotMeasured,
    #[strum(serialize = "not run")]
    NotRun,
}

words!(AbsenceReason);
