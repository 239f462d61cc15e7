//! The axes of the workload `ycsb`.

use super::def::{AxisDef, Presence, Role};
use super::value::Value;
use super::words::{named, read_word};
use crate::sanitize::quoted;

/// YCSB's workloads by their letters, the paper's workload of updates alone, and the loading phase.
pub const BUILT_IN: &[&str] = &["A", "B", "C", "D", "E", "F", "U", "load"];

/// The prefix of the name of a workload from a user's own property file.
pub const OWN: &str = "own:";

const MAX_NAME_BYTES: usize = 60;

/// YCSB's own zipfian law; its files call it `zipfian`, which here is the exact law.
pub const ZIPFIAN_YCSB: &str = "zipfian-ycsb";

/// The ways to choose records, by name.
pub const DISTRIBUTIONS: &[&str] =
    &["default", "uniform", "zipfian", ZIPFIAN_YCSB, "latest", "hotspot", "exponential", "sequential"];

pub(super) static WORKLOAD: AxisDef = AxisDef {
    help: "ycsb: its workloads A, B, C, D, E, F; U (updates alone); load (inserts into an empty store)",
    presence: Presence::Always(6),
    role: Role::Row,
    known: BUILT_IN,
    read: workload,
    words: |value| format!("workload {value}"),
    ..named("workload", 1031, "workloads")
};

pub(super) static DISTRIBUTION: AxisDef = AxisDef {
    help: "ycsb: how records are chosen: default (as the workload says), uniform, zipfian, zipfian-ycsb, latest, hotspot, exponential, sequential",
    role: Role::Row,
    known: DISTRIBUTIONS,
    read: |text| read_word("distribution", text, DISTRIBUTIONS),
    ..named("distribution", 1032, "distributions")
};

fn workload(text: &str) -> Result<Value, String> {
    let short = text.strip_prefix("workload").unwrap_or(text);
    if let Some(index) = BUILT_IN.iter().position(|known| known.eq_ignore_ascii_case(short)) {
        return Ok(Value::new(BUILT_IN[index], index as u64, 0));
    }
    match text.strip_prefix(OWN) {
        Some(name) if is_name(name) => Ok(Value::new(text, BUILT_IN.len() as u64, 0)),
        _ => {
            let (wrong, known) = (quoted(text), BUILT_IN.join(", "));
            let own = "a property file of your own with -P FILE";
            Err(format!("{wrong} is not a workload of YCSB: use {known}, or {own}"))
        }
    }
}

fn is_name(name: &str) -> bool {
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.bytes().all(is_name_byte)
}

/// The axis value for a workload in a file of this name.
pub fn own_name(file: &str) -> String {
    let replace_other =
        |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let name: String = file.chars().map(replace_other).take(MAX_NAME_BYTES).collect();
    format!("{OWN}{}", if name.is_empty() { "own" } else { &name })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Axis;

    #[test]
    fn workloads_are_known_by_letter_and_by_file() {
        for (text, value) in
            [("A", "A"), ("c", "C"), ("workloadf", "F"), ("load", "load"), ("own:x-1", "own:x-1")]
        {
            assert_eq!(Axis::WORKLOAD.read(text).unwrap().text(), value);
        }
        assert_eq!(Axis::DISTRIBUTION.read("latest").unwrap().text(), "latest");
        for text in ["", "G", "workload", "own:", "own:a/b", "AA"] {
            let error = Axis::WORKLOAD.read(text).unwrap_err();
            assert!(error.contains("is not a workload of YCSB"), "{text}: {error}");
        }
        assert_eq!(own_name("my file"), "own:my_file");
        for file in ["", &"é".repeat(99)] {
            assert!(Axis::WORKLOAD.read(&own_name(file)).is_ok(), "{file}");
        }
    }
}
