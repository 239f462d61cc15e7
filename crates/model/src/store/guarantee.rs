//! The tiers of safety.

use serde::{Deserialize, Serialize};

use crate::words::words;

/// The accidents that an acknowledged write survives. The order is the order of safety.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Guarantee {
    /// Not even a crash of the process.
    #[default]
    None,
    /// The process being killed, but not a power cut.
    Process,
    /// A power cut.
    Power,
    /// A power cut, and the loss of a machine for good: a majority of machines has it, each as after `power`.
    Node,
}

words!(Guarantee, "{} is not a guarantee: use default, none, process, power or node");
