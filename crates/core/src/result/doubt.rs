//! Figures of a trial that can't be as they seem, or can't be known.

use serde::{Deserialize, Serialize};

/// A figure that can't be as it seems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    /// The figure's name: [`SPACE`], [`super::DISK_GROWTH`] or an operation's.
    pub figure: String,
    /// Why not.
    pub reason: String,
}

/// The name of the figure that space efficiency comes from.
pub const SPACE: &str = "space";

/// The name of the files' figures where they are unknown.
pub const DISK: &str = "disk";

/// A figure that can't be known on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Unknown {
    pub figure: String,
    pub reason: String,
}
