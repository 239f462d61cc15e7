//! A value on an axis.

use std::fmt;
use std::sync::Arc;

/// A value on an axis as the table reads it. Values are sorted by their bounds, then by their text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value {
    from: u64,
    to: u64,
    text: Arc<str>,
}

impl Value {
    /// A value that plans write as `text`; `from` and `to` are a range's bounds, and sort other values.
    pub fn new(text: &str, from: u64, to: u64) -> Value {
        Value { from, to, text: text.into() }
    }

    /// A word, which sorts by its letters.
    pub fn word(text: &str) -> Value {
        Value::new(text, 0, 0)
    }

    /// As plans write it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The lower bound of a range, and the first key that sorts other values.
    pub fn lower(&self) -> u64 {
        self.from
    }

    /// The upper bound of a range, and the second key that sorts other values.
    pub fn upper(&self) -> u64 {
        self.to
    }

    /// Whether a range lies within this one.
    pub fn holds(&self, other: &Value) -> bool {
        self.from <= other.from && other.to <= self.to
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::new(&number.to_string(), number, number)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}
