//! The parameters of replay.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::shown::quoted;
use crate::trace::{Ask, Facts, Form, time_unit};
use crate::units::parse_count;
use crate::words::words;
use crate::workload::parameter::common::AfterLoad;
use crate::workload::parameter::{ParameterDef, ParameterForm, Parameters};

/// The trace's file.
pub static TRACE: ParameterDef = ParameterDef {
    name: "trace",
    value_name: "FILE",
    help: "Trace to replay: CSV, Twitter's cache traces, RocksDB's trace_analyzer; plain, gzip or zstd",
    form: ParameterForm::File,
    read: |text| Ok(text.to_owned()),
    ..ParameterDef::WORD
};

/// The form in which the trace is written.
pub static TRACE_FORMAT: ParameterDef = ParameterDef {
    name: "trace_format",
    value_name: "FORMAT",
    help: "How the trace is written: csv, twitter, rocksdb [default: the file tells]",
    read: |text| text.parse::<Form>().map(|form| form.name().into()),
    ..ParameterDef::WORD
};

/// The unit of its times, where the column of CSV does not say it.
pub static TRACE_TIME_UNIT: ParameterDef = ParameterDef {
    name: "trace_time_unit",
    value_name: "UNIT",
    help: "Unit of the times of a CSV trace: s, ms, us, ns [default: the column's name tells]",
    read: |text| time_unit(text).map(|_| text.into()),
    ..ParameterDef::WORD
};

/// The speed at which it is played.
pub static SPEED: ParameterDef = ParameterDef {
    name: "speed",
    value_name: "SPEED",
    help: "Speed of a replay: max (as fast as it goes), 1 (at the trace's own times), 10 (ten times faster)",
    default: Some("max"),
    read: |text| text.parse::<Speed>().map(|speed| speed.to_string()),
    ..ParameterDef::WORD
};

/// The records that are in the store before the first operation.
pub static LOAD: ParameterDef = ParameterDef {
    name: "load",
    value_name: "WHAT",
    help: "Load before a replay: read-first (keys that the trace reads before it writes them), nothing",
    default: Some("read-first"),
    read: |text| text.parse::<Loads>().map(|loads| loads.name().into()),
    ..ParameterDef::WORD
};

/// The part of the trace that is played.
pub static LIMIT: ParameterDef = ParameterDef {
    name: "limit",
    help: "Replay only the first N operations of the trace",
    read: |text| match parse_count(text)? {
        0 => Err("limit is 0: it must be at least 1".into()),
        count => Ok(count.to_string()),
    },
    ..ParameterDef::NUMBER
};

/// The facts that were found out about the trace before the run.
pub static TRACE_FACTS: ParameterDef = ParameterDef {
    name: "trace_facts",
    value_name: "FACTS",
    help: "What the trace is like, which storebench finds out before a run",
    form: ParameterForm::Found,
    read: |text| text.parse::<Facts>().map(|facts| facts.to_string()),
    ..ParameterDef::WORD
};

/// The speed at which a trace is played.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speed {
    /// Each operation when the one before it has ended.
    Max,
    /// So many times as fast as the trace's times say.
    Times(f64),
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Speed::Max => f.write_str("max"),
            Speed::Times(times) => write!(f, "{times}"),
        }
    }
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Speed, String> {
        let times = || text.parse().ok().filter(|times: &f64| (0.001..=1e6).contains(times));
        match text {
            "max" => Ok(Speed::Max),
            _ => times().map(Speed::Times).ok_or_else(|| {
                format!(
                    "{} is no speed: use max, 1 for the trace's own times, or a number from 0.001 to 1000000",
                    quoted(text)
                )
            }),
        }
    }
}

/// The records that are in the store before the first operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Loads {
    /// Every key whose first operation looks for it.
    ReadFirst,
    /// Nothing: reads of what the trace has not written are misses.
    Nothing,
}

words!(Loads, "{} is nothing to load: use read-first or nothing");

/// The values that parameters give.
#[derive(Debug, Clone)]
pub struct ReplayParameters {
    /// The trace's file.
    pub trace: PathBuf,
    /// The questions that its reader is asked.
    pub ask: Ask,
    /// The facts about it.
    pub facts: Facts,
    /// The speed at which it is played.
    pub speed: Speed,
    /// Whether keys that are looked for first are loaded.
    pub loads: bool,
    /// The moment when the replay begins.
    pub after_load: AfterLoad,
}

/// What parameters ask of the trace's reader.
pub fn ask(parameters: &Parameters) -> Ask {
    let unit_ns = parameters.text(&TRACE_TIME_UNIT).and_then(|unit| time_unit(unit).ok());
    Ask { form: parameters.get(&TRACE_FORMAT), limit: parameters.get(&LIMIT), unit_ns }
}

impl ReplayParameters {
    /// The values that parameters give; `None` where no trace is named, or it was not looked at.
    pub fn of(parameters: &Parameters) -> Option<ReplayParameters> {
        let facts: Facts = parameters.get(&TRACE_FACTS)?;
        Some(ReplayParameters {
            trace: parameters.get(&TRACE)?,
            ask: Ask { form: Some(facts.form), ..ask(parameters) },
            facts,
            speed: parameters.get(&SPEED).unwrap_or(Speed::Max),
            loads: parameters.get(&LOAD) != Some(Loads::Nothing),
            after_load: AfterLoad::of(parameters),
        })
    }

    /// The time that the trace lasts at its speed; `None` as fast as it goes.
    pub fn lasts(&self) -> Option<Duration> {
        match self.speed {
            Speed::Max => None,
            Speed::Times(times) => Some(Duration::from_nanos((self.facts.span_ns as f64 / times) as u64)),
        }
    }

    /// Whether the facts are of just what is played: in a trial of settings, less is.
    pub fn is_whole(&self) -> bool {
        self.ask.limit.unwrap_or_default() == self.facts.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_and_loads_are_read() {
        assert_eq!((SPEED.read)("max"), Ok("max".into()));
        assert_eq!((SPEED.read)("10"), Ok("10".into()));
        assert_eq!((SPEED.read)("0.50"), Ok("0.5".into()));
        for text in ["0", "-1", "fast", "inf", "NaN"] {
            assert!((SPEED.read)(text).is_err(), "{text}");
        }
        assert!((LOAD.read)("all").is_err() && (LIMIT.read)("0").is_err());
        assert_eq!((LIMIT.read)("1M"), Ok("1000000".into()));
    }
}
