//! Parameters that several workloads have.

use std::time::Duration;

use super::{ParameterDef, Parameters};
use crate::measure::rest;
use crate::result::Rest;
use crate::units::{Bytes, Period, parse_count};
use crate::words::words;

/// The number of timed operations of each kind.
pub static OPERATIONS: ParameterDef = ParameterDef {
    name: "operations",
    help: "Timed operations of each kind",
    default: Some("1000"),
    read: |text| count("operations", text, 1),
    ..ParameterDef::NUMBER
};

/// The time for which each operation goes on.
pub static DURATION: ParameterDef = ParameterDef {
    name: "duration",
    value_name: "TIME",
    help: "Time each kind of operation for this long, instead of a number of them",
    instead_of: Some("operations"),
    read: |text| match text.parse::<Period>()? {
        Period(time) if time < Duration::from_millis(1) => {
            Err("duration in ms is 0: it must be at least 1".into())
        }
        time => Ok(time.to_string()),
    },
    ..ParameterDef::WORD
};

/// The total cache of every engine where tuning is equal.
pub static EQUAL_CACHE: ParameterDef = ParameterDef {
    name: "equal_cache",
    value_name: "SIZE",
    help: "Cache of each engine with --tuning equal",
    default: Some("64MiB"),
    read: |text| match text.parse::<Bytes>()? {
        Bytes(0) => Err("equal_cache is 0: it must be at least 1".into()),
        size => Ok(size.to_string()),
    },
    ..ParameterDef::WORD
};

/// Records in a batch of the loader.
pub static BATCH: ParameterDef = ParameterDef {
    name: "batch",
    help: "Most records in one batch while loading",
    default: Some("500"),
    read: |text| count("batch", text, 1),
    ..ParameterDef::NUMBER
};

/// The moment when operations begin.
pub static AFTER_LOAD: ParameterDef = ParameterDef {
    name: "after_load",
    value_name: "WHEN",
    help: "Begin operations when the store has come to rest after loading (rest), or straight away (at-once)",
    default: Some(AfterLoad::Rest.name()),
    read: |text| text.parse::<AfterLoad>().map(|after| after.name().into()),
    ..ParameterDef::WORD
};

/// Reads a number of things: `least` of them or more.
pub(in crate::workload) fn count(name: &str, text: &str, least: u64) -> Result<String, String> {
    match parse_count(text)? {
        count if count < least => Err(format!("{name} is {count}: it must be at least {least}")),
        count if count > u64::from(u32::MAX) => Err(format!("{name} is too large: at most {}", u32::MAX)),
        count => Ok(count.to_string()),
    }
}

/// The moment when operations begin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum AfterLoad {
    /// When the store has done what loading left it to do: what follows is its own speed.
    #[default]
    Rest,
    /// Straight away: what follows is what an application sees right after a bulk load.
    AtOnce,
}

words!(AfterLoad, "after_load = {}: use rest or at-once");

impl AfterLoad {
    /// That of parameters.
    pub fn of(parameters: &Parameters) -> AfterLoad {
        parameters.get(&AFTER_LOAD).unwrap_or_default()
    }

    /// The shortest that it takes: of a store that has nothing to do, which may be a server of the trial's own.
    pub fn shortest(self, server: bool) -> Duration {
        if self == AfterLoad::Rest { rest::shortest(server) } else { Duration::ZERO }
    }

    /// Lets the store rest, if it is to. Everything that was to be loaded has been.
    pub fn wait(self) -> Option<Rest> {
        (self == AfterLoad::Rest).then(rest::wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_can_be_read_and_contradictions_are_refused() {
        for parameter in [&OPERATIONS, &DURATION, &EQUAL_CACHE, &BATCH, &AFTER_LOAD] {
            if let Some(default) = parameter.default {
                assert_eq!((parameter.read)(default).as_deref(), Ok(default), "{}", parameter.name);
            }
        }
        for (parameter, text, wrong) in [
            (&OPERATIONS, "0", "at least 1"),
            (&OPERATIONS, "5000000000", "too large"),
            (&DURATION, "0s", "at least 1"),
            (&AFTER_LOAD, "never", "rest or at-once"),
        ] {
            let error = (parameter.read)(text).unwrap_err();
            assert!(error.contains(wrong), "{}: {error}", parameter.name);
        }
    }
}
