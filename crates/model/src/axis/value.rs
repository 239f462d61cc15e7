//! A value on an axis.

use std::any::Any;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

/// A value on an axis as the table reads it. Values are sorted by their bounds, then by their text.
#[derive(Clone)]
pub struct Value {
    lower: u64,
    upper: u64,
    text: Arc<str>,
    typed: Option<Arc<dyn Any + Send + Sync>>,
}

impl Value {
    /// A value that plans write as `text`; `lower` and `upper` are a range's bounds, and sort other values.
    pub fn new(text: &str, lower: u64, upper: u64) -> Value {
        Value { lower, upper, text: text.into(), typed: None }
    }

    /// A value of a type, which plans write as its text.
    pub fn of<T: ToString + Send + Sync + 'static>(value: T, lower: u64, upper: u64) -> Value {
        let plain = Value::new(&value.to_string(), lower, upper);
        Value { typed: Some(Arc::new(value)), ..plain }
    }

    /// A word, which sorts by its letters.
    pub fn word(text: &str) -> Value {
        Value::new(text, 0, 0)
    }

    /// As plans write it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// As code obeys it; `None` if it is not of the type.
    pub fn typed<T: Clone + FromStr + 'static>(&self) -> Option<T> {
        let downcast = self.typed.as_ref().and_then(|typed| typed.downcast_ref::<T>());
        downcast.cloned().or_else(|| self.text.parse().ok())
    }

    /// The lower bound of a range, and the first key that sorts other values.
    pub fn lower(&self) -> u64 {
        self.lower
    }

    /// The upper bound of a range, and the second key that sorts other values.
    pub fn upper(&self) -> u64 {
        self.upper
    }

    /// Whether a range lies within this one.
    pub fn holds(&self, other: &Value) -> bool {
        self.lower <= other.lower && other.upper <= self.upper
    }

    fn key(&self) -> (u64, u64, &str) {
        (self.lower, self.upper, &self.text)
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::of(number, number, number)
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
