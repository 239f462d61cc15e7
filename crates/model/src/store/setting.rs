//! The definitions of the settings that a user may give, and the values that a store reads back of them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Capabilities;
use super::memory_share::MemoryShare;
use crate::result::{WrittenRecords, format1};
use crate::units::{exact_bytes, parse_bytes, with_commas};

/// The setting that says how many servers are one store.
pub const NODES: &str = "nodes";
/// The setting that puts a network between them.
pub const ROUND_TRIP: &str = "round-trip";

/// A setting as the engine reads it back after opening, or a statistic of the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The engine's own name for it.
    pub name: String,
    /// Its value, as the engine prints it.
    pub value: String,
    /// Where the value comes from.
    pub source: SettingSource,
}

/// Where the value of a [`Setting`] was taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingSource {
    /// The engine was asked, after opening, or its files were read.
    ReadBack,
    /// The engine has no way to be asked: this is what it was given.
    Given,
    /// It was left as its engine's authors ship it, and its value is not known.
    AsShipped,
}

impl Setting {
    /// A value that the engine reports.
    pub fn read_back(name: impl Into<String>, value: impl fmt::Display) -> Setting {
        Setting { name: name.into(), value: value.to_string(), source: SettingSource::ReadBack }
    }

    /// A value as the engine's authors ship it, which cannot be read back.
    pub fn as_shipped(name: impl Into<String>) -> Setting {
        Setting { name: name.into(), value: "as shipped".into(), source: SettingSource::AsShipped }
    }

    /// Whether it was left as its engine's authors ship it, and its value is not known.
    pub fn is_as_shipped(&self) -> bool {
        self.source == SettingSource::AsShipped || format1::is_as_shipped(&self.value)
    }

    /// A value that was handed to an engine which can't be asked for it.
    pub fn unverified(name: impl Into<String>, value: impl fmt::Display) -> Setting {
        Setting { name: name.into(), value: value.to_string(), source: SettingSource::Given }
    }
}

/// A setting that a user may give (`--set sqlite.page_size=8192`).
#[derive(Debug, Clone, Copy)]
pub struct SettingDef {
    /// The engine's own name for it.
    pub name: &'static str,
    /// The values that it takes.
    pub values: &'static str,
    /// The value that holds where none is given.
    pub default: &'static str,
    /// The same as a value, if it is always or usually that one.
    pub usual: Option<&'static str>,
    /// A description of its effect.
    pub help: &'static str,
    /// Its effect on the guarantee; empty if it has none.
    pub guarantee: &'static str,
    /// The way in which it is read back; empty where the engine can't be asked, so that results hold what was given.
    pub read_by: &'static str,
    /// The unit of its numbers.
    pub unit: Unit,
    /// Changes the store's abilities as a value of the setting demands.
    pub capabilities: fn(&str, &mut Capabilities),
    /// Whether it is the size of a buffer of writes, which matters only where more is written than it holds.
    pub is_filled_by_writes: bool,
    /// Its part of the machine's memory where tuning is `share`; `None` for what is no cache.
    pub share: Option<MemoryShare>,
    /// Values worth a trial when settings are tuned, besides the default.
    pub tune: &'static [&'static str],
    /// The cost of these values that no figure shows, in half a sentence; empty if there is none.
    pub cost: &'static str,
    /// Its values where they read back as numbers, in the order of these; empty where they don't.
    pub numbered: &'static [&'static str],
}

/// Bytes that a buffer of writes keeps for a record at most, in addition to its key and its value; a removal of it included.
const BUFFERED: u64 = 256;

/// The unit of a setting's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// It takes words, or numbers of something else.
    None,
    /// Bytes: people may write `4KiB`, and are shown `4 KiB`; the store is given 4096.
    Bytes,
}

impl SettingDef {
    /// A setting that leaves the guarantee and the store's capabilities alone, and that the engine can't be asked for.
    pub const fn new(
        name: &'static str,
        values: &'static str,
        default: &'static str,
        help: &'static str,
    ) -> SettingDef {
        let capabilities: fn(&str, &mut Capabilities) = |_, _| ();
        let unit = Unit::None;
        SettingDef {
            name,
            values,
            default,
            usual: Some(default),
            help,
            guarantee: "",
            read_by: "",
            unit,
            capabilities,
            is_filled_by_writes: false,
            share: None,
            tune: &[],
            cost: "",
            numbered: &[],
        }
    }

    /// Whether it is the size of a write buffer that these writes did not fill.
    pub fn is_unfilled(&self, size: &str, written: &WrittenRecords) -> bool {
        let max_bytes = written.bytes() + written.records * BUFFERED;
        self.is_filled_by_writes && size.parse::<u64>().is_ok_and(|size| max_bytes < size)
    }

    /// Whether its values are sizes in bytes.
    pub fn is_in_bytes(&self) -> bool {
        self.unit == Unit::Bytes
    }

    /// Says which value its default usually is, where the guarantee or something else may ask for another.
    pub const fn usually(self, usual: &'static str) -> SettingDef {
        SettingDef { usual: Some(usual), ..self }
    }

    /// Marks a setting whose default is no value.
    pub const fn varying(self) -> SettingDef {
        SettingDef { usual: None, ..self }
    }

    /// Marks a setting that changes what writes survive.
    pub const fn guarantee(self, guarantee: &'static str) -> SettingDef {
        SettingDef { guarantee, ..self }
    }

    /// Says how it is read back.
    pub const fn read_by(self, read_by: &'static str) -> SettingDef {
        SettingDef { read_by, ..self }
    }

    /// Marks a setting in bytes.
    pub const fn bytes(self) -> SettingDef {
        SettingDef { unit: Unit::Bytes, ..self }
    }

    /// Marks a setting whose value changes the store's capabilities.
    pub const fn capabilities(self, capabilities: fn(&str, &mut Capabilities)) -> SettingDef {
        SettingDef { capabilities, ..self }
    }

    /// Marks the size of a buffer of writes.
    pub const fn filled_by_writes(self) -> SettingDef {
        SettingDef { is_filled_by_writes: true, ..self }
    }

    /// Gives a cache this part of the machine's memory with the tuning `share`.
    pub const fn share(self, share: MemoryShare) -> SettingDef {
        SettingDef { share: Some(share), ..self }
    }

    /// Adds values that are worth a trial when settings are tuned.
    pub const fn tune(self, tune: &'static [&'static str]) -> SettingDef {
        SettingDef { tune, ..self }
    }

    /// Adds the cost of the tuned values that no figure shows.
    pub const fn costing(self, cost: &'static str) -> SettingDef {
        SettingDef { cost, ..self }
    }

    /// Marks a setting whose values read back as numbers, in the order of these.
    pub const fn numbered(self, numbered: &'static [&'static str]) -> SettingDef {
        SettingDef { numbered, ..self }
    }

    /// A value as the store takes it: `4KiB` is `4096` for a setting in bytes. What is no size stays as it is, for the store to judge.
    pub fn read(&self, text: &str) -> String {
        match (self.unit, parse_bytes(text)) {
            (Unit::Bytes, Ok(bytes)) => bytes.to_string(),
            _ => text.to_owned(),
        }
    }

    /// The word for a value that reads back as its number; other values as they are.
    pub fn word<'v>(&self, value: &'v str) -> &'v str {
        let index = value.parse::<usize>().ok();
        index.and_then(|index| self.numbered.get(index)).copied().unwrap_or(value)
    }

    /// A value for people: `67108864` is `64 MiB` if it is in bytes, and `1` the second of numbered values.
    pub fn describe_value(&self, value: &str) -> String {
        let number = value.parse::<u64>().ok();
        let Some(bytes) = number.filter(|_| self.unit == Unit::Bytes) else {
            return self.word(value).to_owned();
        };
        let exact = exact_bytes(bytes);
        match exact.trim_start_matches(|digit: char| digit.is_ascii_digit()) {
            "B" => format!("{} {}", with_commas(bytes), if bytes == 1 { "byte" } else { "bytes" }),
            unit => format!("{} {unit}", &exact[..exact.len() - unit.len()]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: SettingDef = SettingDef::new("page_size", "512 to 64 KiB", "4096", "a page").bytes();

    #[test]
    fn a_buffer_that_no_trial_filled_is_known() {
        let written = |records, value_bytes| WrittenRecords { records, key_bytes: 32, value_bytes };
        let is_unfilled = |def: &SettingDef, size: &str| def.is_unfilled(size, &written(10, 1_500));
        let buffer = PAGE.filled_by_writes();
        assert!(is_unfilled(&buffer, "4096") && !is_unfilled(&PAGE, "4096"));
        assert!(!is_unfilled(&buffer, "4092") && !is_unfilled(&buffer, "as shipped"));
    }

    #[test]
    fn sizes_are_read_and_shown_where_a_setting_counts_bytes() {
        for (text, value) in
            [("4KiB", "4096"), ("1.5 MiB", "1572864"), ("4096", "4096"), ("-1", "-1"), ("many", "many")]
        {
            assert_eq!(PAGE.read(text), value);
        }
        let shown = [
            ("4096", "4 KiB"),
            ("67108864", "64 MiB"),
            ("335872", "328 KiB"),
            ("1000000", "1,000,000 bytes"),
            ("1", "1 byte"),
            ("0", "0 bytes"),
            ("-1", "-1"),
            ("as shipped", "as shipped"),
        ];
        for (value, text) in shown {
            assert_eq!(PAGE.describe_value(value), text);
        }
        let pages = SettingDef::new("cache_size", "pages", "-2000", "the cache");
        assert_eq!((pages.read("4KiB"), pages.describe_value("4096")), ("4KiB".into(), "4096".into()));
    }
}
