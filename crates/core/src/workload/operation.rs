//! The operations on single records, by name.

use std::fmt;
use std::str::FromStr;

use crate::shown::quoted;
use crate::units::as_text;

/// The operation that is done with one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Operation {
    Insert,
    Get,
    Update,
    Remove,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Operation; 4] = [Operation::Insert, Operation::Get, Operation::Update, Operation::Remove];

    /// The word used in results.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Insert => "insert",
            Operation::Get => "get",
            Operation::Update => "update",
            Operation::Remove => "remove",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Operation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Operation::ALL
            .into_iter()
            .find(|operation| operation.name() == text)
            .ok_or_else(|| format!("{} is not an operation: use insert, get, update or remove", quoted(text)))
    }
}

as_text!(Operation);
