//! The defaults from which entries of the table of axes begin.

use std::str::FromStr;

use super::def::{AxisDef, Form, Presence, Role};
use super::value::Value;
use crate::sanitize::quoted;
use crate::units::parse_count;

/// The fields that most axes share: words, which make groups, and which ids leave out at `default`.
pub const WORDS: AxisDef = AxisDef {
    name: "",
    order: 0,
    value_name: "NAME,...",
    help: "",
    many: "",
    presence: Presence::Off("default"),
    role: Role::Group,
    prepares: false,
    form: Form::Text,
    unit: "",
    known: &[],
    read: read_name,
    check: |_| Ok(()),
    words: |value| value.text().to_owned(),
    completed: |value, _| value,
    split: None,
};

/// [`WORDS`] of an axis of this name, at this place in the order, and with this plural.
pub(super) const fn named(name: &'static str, order: u16, many: &'static str) -> AxisDef {
    AxisDef { name, order, many, ..WORDS }
}

/// Reads a value of a type.
pub fn read<T: FromStr<Err = String> + Into<Value>>(text: &str) -> Result<Value, String> {
    text.parse::<T>().map(Into::into)
}

fn read_name(text: &str) -> Result<Value, String> {
    match text.trim() {
        "" => Err("a value is empty".into()),
        text => Ok(Value::word(text)),
    }
}

/// Reads a whole number of things; `example` is one such number.
pub(super) fn read_count(text: &str, noun: &str, example: u32) -> Result<Value, String> {
    let to_error = |_| format!("{} is not a number of {noun}: write it like {example}", quoted(text));
    parse_count(text).map(Value::from).map_err(to_error)
}

/// Reads a word of a list, by its place there, as it stands.
pub(super) fn read_word(noun: &str, text: &str, known: &[&str]) -> Result<Value, String> {
    match known.iter().position(|word| *word == text) {
        Some(index) => Ok(Value::new(text, index as u64, 0)),
        None => Err(format!("{} is not a {noun}: use {}", quoted(text), known.join(", "))),
    }
}

/// Reads one of some words, by its place among them.
pub fn read_choice(text: &str, noun: &str, known: &[&str]) -> Result<Value, String> {
    match known.iter().position(|known| *known == text.trim()) {
        Some(index) => Ok(Value::new(known[index], index as u64, 0)),
        None => Err(format!("{} is not {noun}: use {}", quoted(text), known.join(" or "))),
    }
}
