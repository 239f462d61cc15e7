//! The operations on single records, by name.

use crate::units::as_text;
use crate::words::words;

/// The operation that is done with one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
#[derive(strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Operation {
    Insert,
    Get,
    Update,
    Remove,
}

words!(Operation, "{} is not an operation: use insert, get, update or remove");

as_text!(Operation);
