//! Reads plans within bounds, and explains an error in a line that names its place.

use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

use storebench_model::error::meant;
use storebench_model::read_limited;
use storebench_model::sanitize::{is_code, piece, simplify_message};

/// The longest plan, in bytes: a longer file was named by mistake, or has no end.
const MOST_BYTES: u64 = 1 << 20;

/// The text of a plan's file. Fails when it is too long to be a plan.
pub(super) fn text(path: &Path) -> io::Result<String> {
    read_limited::text(path, MOST_BYTES).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => io::Error::new(error.kind(), format!("{error}, the limit for a plan")),
        _ => error,
    })
}

/// Reads TOML without escape codes in its texts: they would reach the terminal. Else says what the mistake is, with its line.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let explain_error = |error| explain(text, &error);
    let table = DeTable::parse(text).map_err(explain_error)?;
    let code = code_in(table.get_ref());
    let value = T::deserialize(toml::Deserializer::from(table)).map_err(explain_error)?;
    match code {
        Some((key, code)) => Err(format!(
            "{} holds the control character U+{:04X}: leave it out",
            piece(&key),
            u32::from(code)
        )),
        None => Ok(value),
    }
}

/// The first key whose text, or whose name, holds an escape code.
fn code_in(table: &DeTable<'_>) -> Option<(String, char)> {
    table.iter().find_map(|(key, value)| {
        let (key, value) = (key.get_ref(), value.get_ref());
        let found = key.chars().find(|letter| letter.is_control());
        // The name of the key is shown without its control characters.
        let key: String = key.chars().filter(|letter| !letter.is_control()).collect();
        found.or_else(|| code_in_value(value)).map(|code| (key, code))
    })
}

fn code_in_value(value: &DeValue<'_>) -> Option<char> {
    match value {
        DeValue::String(text) => text.chars().find(|letter| is_code(*letter)),
        DeValue::Array(values) => values.iter().find_map(|value| code_in_value(value.get_ref())),
        DeValue::Table(table) => code_in(table).map(|(_, code)| code),
        _ => None,
    }
}

/// The mistake in a text: its line, what is wrong, and what was probably meant, in one line.
fn explain(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map_or(String::new(), |span| {
        let text_before = text.get(..span.start).unwrap_or_default();
        format!("line {}: ", ends_of_lines(text_before) + 1)
    });
    // Serde quotes what it found and then what it expected.
    let mut quoted = error.message().split('`').skip(1).step_by(2);
    let hint = quoted.next().and_then(|found| meant(&piece(found), quoted));
    let hint = hint.map_or(String::new(), |meant| format!(" (did you mean {}?)", piece(meant)));
    format!("{line}{}{hint}", simplify_message(error.message()))
}

/// The number of lines that end in a text.
pub fn ends_of_lines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}
