//! The tiers of safety.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The accidents that an acknowledged write survives. The order is the order of safety.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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

impl Guarantee {
    /// Every tier, weakest first.
    pub const ALL: [Guarantee; 4] = [Guarantee::None, Guarantee::Process, Guarantee::Power, Guarantee::Node];

    /// The word used in plans, on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Guarantee::None => "none",
            Guarantee::Process => "process",
            Guarantee::Power => "power",
            Guarantee::Node => "node",
        }
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Guarantee {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        Guarantee::ALL.into_iter().find(|tier| tier.name() == text).ok_or(())
    }
}
