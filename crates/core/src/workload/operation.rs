//! The operations on single records, by name.

use storebench_model::units::as_text;
use storebench_model::words::words;

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames, strum::VariantArray)]
#[allow(missing_docs)]
#[strum(serialize_all = "lowercase")]
pub enum Operation {
    Insert,
    Get,
    Update,
    Remove,
}

words!(Operation, "{} is not an operation: use insert, get, update or remove");

as_text!(Operation);
