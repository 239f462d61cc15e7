//! The parameters of replay.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use storebench_model::sanitize::quoted;
use storebench_model::units::as_text;
use storebench_model::words::words;

use crate::trace::{Facts, ReaderOptions, TimeUnit};
use crate::workload::parameter::{AfterLoad, Parameters};

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
        match text.parse() {
            _ if text == "max" => Ok(Speed::Max),
            Ok(times) if (0.001..=1e6).contains(&times) => Ok(Speed::Times(times)),
            _ => Err(format!(
                "{} is no speed: use max, 1 for the trace's own times, or a number from 0.001 to 1000000",
                quoted(text)
            )),
        }
    }
}

as_text!(Speed);

/// The records that are in the store before the first operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum ReplayLoad {
    /// Every key whose first operation looks for it.
    ReadFirst,
    /// Nothing: reads of what the trace has not written are misses.
    Nothing,
}

words!(ReplayLoad, "{} is nothing to load: use read-first or nothing");
as_text!(ReplayLoad);

/// The values that parameters give.
#[derive(Debug, Clone)]
pub struct ReplayParameters {
    /// The trace's file.
    pub trace: PathBuf,
    /// The options of its reader.
    pub reader_options: ReaderOptions,
    /// The facts about it.
    pub facts: Facts,
    /// The speed at which it is played.
    pub speed: Speed,
    /// Whether keys that are looked for first are loaded.
    pub loads: bool,
    /// The moment when the replay begins.
    pub after_load: AfterLoad,
}

/// The options that parameters give for the trace's reader.
pub fn reader_options(parameters: &Parameters) -> ReaderOptions {
    let unit_ns = parameters.trace_time_unit.map(TimeUnit::ns);
    ReaderOptions { form: parameters.trace_format, limit: parameters.limit.map(|count| count.0), unit_ns }
}

impl ReplayParameters {
    /// The values that parameters give; `None` where no trace is named, or it was not looked at.
    pub fn from_parameters(parameters: &Parameters) -> Option<ReplayParameters> {
        let facts = parameters.trace_facts.clone()?;
        Some(ReplayParameters {
            trace: PathBuf::from(parameters.trace.as_ref()?),
            reader_options: ReaderOptions { form: Some(facts.form), ..reader_options(parameters) },
            facts,
            speed: parameters.speed.unwrap_or(Speed::Max),
            loads: parameters.load != Some(ReplayLoad::Nothing),
            after_load: parameters.after_load(),
        })
    }

    /// The time that the trace lasts at its speed; `None` as fast as it goes.
    pub fn duration(&self) -> Option<Duration> {
        match self.speed {
            Speed::Max => None,
            Speed::Times(times) => Some(Duration::from_nanos((self.facts.span_ns as f64 / times) as u64)),
        }
    }

    /// Whether the facts are of just what is played: in a trial of settings, less is.
    pub fn is_whole(&self) -> bool {
        self.reader_options.limit.unwrap_or_default() == self.facts.limit
    }
}
