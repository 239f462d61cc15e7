//! Parameters of workloads: what a plan or the command line says of the work itself, next to the axes.

mod value;

use std::time::Duration;

use serde::de::{Error as _, MapAccess};
use serde::{Deserialize, Serialize};
use storebench_model::result::Rest;
use storebench_model::units::as_text;
use storebench_model::words::words;

use self::value::NamedParameter;
pub use self::value::{Count, List, Size, Time};
pub(super) use self::value::{read_words, write_words};
use super::driver::Visit;
use super::life::bursts::BurstLoad;
use super::mix::Mix;
use super::operation::Operation;
use super::replay::parameters::{ReplayLoad, Speed};
use super::shop::kind::Shares;
use super::ycsb::parameters::{BetweenRounds, MaxTime};
use super::ycsb::property::Properties;
use crate::measure::rest;
use crate::trace::{Facts, Form, TimeUnit};

macro_rules! parameters {
    ($($(#[$about:meta])* $name:ident: $type:ty,)*) => {
        /// The parameters of all workloads; a name means the same in each. If there is no value, the workload takes its default.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, clap::Args)]
        #[serde(default, deny_unknown_fields, expecting = "values by parameter")]
        pub struct Parameters {
            $($(#[$about])* #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$type>,)*
        }

        impl Parameters {
            /// Every parameter, in the order in which plans are written.
            pub const NAMES: &[&str] = &[$(stringify!($name)),*];

            /// The parameters that have a value.
            pub fn names(&self) -> impl Iterator<Item = &'static str> {
                [$(self.$name.is_some().then_some(stringify!($name))),*].into_iter().flatten()
            }

            /// A value as the command line has it; `None` if there is none.
            pub fn text(&self, name: &str) -> Option<String> {
                match name {
                    $(stringify!($name) => self.$name.as_ref().map(ToString::to_string),)*
                    _ => None,
                }
            }

            /// Sets a value to what the command line would have. The error says what is wrong with it.
            pub fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
                match name {
                    $(stringify!($name) => {
                        self.$name = Some(text.parse::<$type>().map_err(|error| format!("{name}: {error}"))?);
                    })*
                    _ => return Err(unknown(name)),
                }
                Ok(())
            }

            /// Takes a parameter's value from a map whose key was read. Fails for an unknown parameter or value.
            pub fn take<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
                match name {
                    $(stringify!($name) => self.$name = Some(map.next_value_seed(NamedParameter::new(name))?),)*
                    _ => return Err(A::Error::custom(unknown(name))),
                }
                Ok(())
            }

            /// Lays the values of others over its own.
            pub fn change(&mut self, others: Parameters) {
                $(if others.$name.is_some() {
                    self.$name = others.$name;
                })*
            }
        }
    };
}

// In alphabetical order, as plans have always been written.
parameters! {
    /// Begin operations when the store is at rest after loading (rest), or straight away (at-once)
    #[arg(long, value_name = "WHEN")]
    after_load: AfterLoad,
    /// Most records in one batch while loading
    #[arg(long, value_name = "N")]
    batch: Count<1>,
    /// ycsb: between rounds, do nothing to the store, or close it and open it again (close)
    #[arg(long, value_name = "WHAT")]
    between_rounds: BetweenRounds,
    /// The text of a row, on average, of androbench: half as much to half as much again
    #[arg(long, value_name = "SIZE")]
    body: Size<2, { 1 << 20 }>,
    /// life: the time of each load of --bursts; a 60th of it is the burst, a sixth of it the pause
    #[arg(long, value_name = "TIME")]
    burst_period: Time<600>,
    /// life: afterwards send steps by a schedule at these loads, each with a burst of ten times as many and a pause: shares of the
    /// store's speed (10%,50%,90%) or steps a second (5000/s)
    #[arg(long, value_name = "LOADS")]
    bursts: List<BurstLoad>,
    /// Time each kind of operation for this long, instead of a number of them
    #[arg(long, value_name = "TIME", conflicts_with = "operations")]
    duration: Time<1>,
    /// data-size: show throughput and latency for each stretch of this length
    #[arg(long, value_name = "TIME")]
    epoch: Time<100, 3_600_000>,
    /// Cache of each engine with --tuning equal
    #[arg(long, value_name = "SIZE")]
    equal_cache: Size<1>,
    /// Replay only the first N operations
    #[arg(long, value_name = "N")]
    limit: Count<1, { u64::MAX }>,
    /// Load before a replay: read-first (keys that the trace reads before it writes them), nothing
    #[arg(long, value_name = "WHAT")]
    load: ReplayLoad,
    /// ycsb: stop after this time, whatever --operations says; none: don't
    #[arg(long, value_name = "TIME")]
    max_time: MaxTime,
    /// Alternate operations by weight in one phase, of --operations in all: get=80,update=20
    #[arg(long, value_name = "NAME=WEIGHT,...", conflicts_with = "order")]
    mix: Mix,
    /// Timed operations of each kind
    #[arg(long, value_name = "N")]
    operations: Count<1>,
    /// The same at guarantees whose writes wait for no disk
    #[arg(long, value_name = "N")]
    operations_unsynced: Count<1>,
    /// Operations to time, in this order: insert, get, update, remove
    #[arg(long, value_name = "NAME,...")]
    order: List<Operation>,
    /// ycsb: YCSB's properties, which every workload on the axis takes: fieldcount=1,fieldlength=100; of one: A/fieldcount=1
    #[arg(long, value_name = "NAME=VALUE,...")]
    properties: Properties,
    /// Do nothing for this long before each kind of transaction of batch
    #[arg(long, value_name = "TIME")]
    rest: Time<0, 3_600_000>,
    /// ycsb: times that --operations are sent to one database, with figures and disk size after each round
    #[arg(long, value_name = "N")]
    rounds: Count<1, 100>,
    /// data-size: how often each transaction comes: orders=25,buy=50,restock=25
    #[arg(long, value_name = "NAME=SHARE,...")]
    shares: Shares,
    /// Speed of a replay: max (as fast as it goes), 1 (at the trace's own times), 10 (ten times faster)
    #[arg(long, value_name = "SPEED")]
    speed: Speed,
    /// Folder of files to make compressible values from
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    text: String,
    /// Trace to replay: CSV, Twitter's cache traces, RocksDB's trace_analyzer; plain, gzip or zstd
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    trace: String,
    /// What the trace is like, which storebench finds out before a run.
    #[arg(skip)]
    trace_facts: Facts,
    /// How the trace is written: csv, twitter, rocksdb [default: read from the file]
    #[arg(long, value_name = "FORMAT")]
    trace_format: Form,
    /// Unit of the times of a CSV trace: s, ms, us, ns [default: the column's name says it]
    #[arg(long, value_name = "UNIT")]
    trace_time_unit: TimeUnit,
    /// life: times that the set is written over, with figures after each tenth
    #[arg(long, value_name = "N")]
    turnover: Count<1, 100_000>,
    /// life: then write more tenths until neither speed nor files have a trend over the last five; at most N times the turnover
    #[arg(long, value_name = "N")]
    until_steady: Count<1, 10>,
    /// What to do with a value that was read: copy, touch
    #[arg(long, value_name = "HOW")]
    visit: Visit,
    /// Operations of each kind to do first without timing them
    #[arg(long, value_name = "N")]
    warm_up: Count<0>,
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

words!(AfterLoad, "{}: use rest or at-once");
as_text!(AfterLoad);

impl AfterLoad {
    /// The shortest that it takes: of a store that has nothing to do, which may be a private server.
    pub fn shortest(self, server: bool) -> Duration {
        if self == AfterLoad::Rest { rest::shortest(server) } else { Duration::ZERO }
    }

    /// Lets the store rest, if it is to. Everything that was to be loaded has been.
    pub fn wait(self) -> Option<Rest> {
        (self == AfterLoad::Rest).then(rest::wait)
    }
}

fn unknown(name: &str) -> String {
    format!("no workload has a parameter {name}")
}

impl Parameters {
    /// Whether no parameter has a value.
    pub fn is_empty(&self) -> bool {
        self.names().next().is_none()
    }

    /// Sets one value. Fails as [`Parameters::set`] does.
    pub fn with(mut self, name: &str, text: &str) -> Result<Parameters, String> {
        self.set(name, text)?;
        Ok(self)
    }

    /// Timed operations of each kind.
    pub fn operations(&self) -> u64 {
        self.operations.map_or(1000, |count| count.0)
    }

    /// The time for which each operation goes on; then their number does not count.
    pub fn duration(&self) -> Option<Duration> {
        self.duration.map(|time| time.0)
    }

    /// Most records in a batch of the loader.
    pub fn batch(&self) -> u64 {
        self.batch.map_or(500, |count| count.0)
    }

    /// Bytes of each engine's cache if tuning is equal.
    pub fn equal_cache(&self) -> u64 {
        self.equal_cache.map_or(64 << 20, |size| size.0)
    }

    /// The moment when operations begin.
    pub fn after_load(&self) -> AfterLoad {
        self.after_load.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::table;

    #[test]
    fn each_parameter_is_some_workload_s_and_no_workload_has_another() {
        let used_names: Vec<&str> = table::all().flat_map(|workload| workload.parameters).copied().collect();
        assert!(Parameters::NAMES.is_sorted());
        assert_eq!(Parameters::NAMES.iter().find(|name| !used_names.contains(name)), None);
        assert_eq!(used_names.iter().find(|name| !Parameters::NAMES.contains(name)), None);
    }

    #[test]
    fn what_is_written_is_read_again_and_lies_over_what_was_there() {
        let texts = [
            ("after_load", "at-once"),
            ("body", "200B"),
            ("bursts", "10%,5000/s"),
            ("duration", "2000ms"),
            ("limit", "5000000000"),
            ("max_time", "none"),
            ("mix", "get=80,update=20"),
            ("order", "get,insert"),
            ("properties", "fieldcount=1,fieldlength=10"),
            ("shares", "orders=25,buy=50,restock=25"),
            ("speed", "0.5"),
            ("visit", "touch"),
        ];
        let parameters = texts
            .iter()
            .fold(Parameters::default(), |parameters, (name, text)| parameters.with(name, text).unwrap());
        let json = serde_json::to_string(&parameters).unwrap();
        assert_eq!(serde_json::from_str::<Parameters>(&json).unwrap(), parameters, "{json}");
        texts
            .iter()
            .for_each(|(name, text)| assert_eq!(parameters.text(name).as_deref(), Some(*text), "{name}"));
        let shorter =
            Parameters::default().with("limit", "1M").unwrap().with("bursts", "10%, 2000/s").unwrap();
        assert_eq!(
            (shorter.limit, shorter.text("bursts").as_deref()),
            (Some(Count(1_000_000)), Some("10%,2000/s"))
        );
        assert_eq!(parameters.names().count(), texts.len());
        let mut changed = Parameters::default().with("visit", "copy").unwrap().with("batch", "7").unwrap();
        changed.change(parameters);
        assert_eq!((changed.visit, changed.batch()), (Some(Visit::Touch), 7));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (name, text, wrong) in [
            ("operations", "0", "operations: 0 is too few: it must be at least 1"),
            ("operations", "5000000000", "at most 4294967295"),
            ("duration", "0s", "at least 1ms"),
            ("after_load", "never", "rest or at-once"),
            ("order", "get,get", "get stands in it twice"),
            ("order", "", "is empty"),
            ("order", "fetch", "not an operation"),
            ("mix", "get=80,fetch=20", "no operation"),
            ("visit", "hash", "copy or touch"),
            ("body", "1B", "at least 2B"),
            ("body", "2MiB", "at most 1MiB"),
            ("epoch", "1ms", "at least 100ms"),
            ("epoch", "2h", "at most 3600000ms"),
            ("rest", "soon", "not a duration"),
            ("rounds", "101", "at most 100"),
            ("between_rounds", "sleep", "nothing or close"),
            ("speed", "0", "is no speed"),
            ("load", "all", "read-first or nothing"),
            ("limit", "0", "at least 1"),
            ("turnover", "1000000", "at most 100000"),
            ("until_steady", "11", "at most 10"),
            ("bursts", "50%,50%", "twice"),
            ("bursts", "120%", "120%"),
            ("bursts", "0/s", "0/s"),
            ("burst_period", "0.1s", "at least 600ms"),
            ("trace_format", "xml", "csv, twitter or rocksdb"),
            ("nosuch", "1", "no workload has a parameter nosuch"),
        ] {
            let error = Parameters::default().with(name, text).unwrap_err();
            assert!(error.contains(wrong), "{name}: {error}");
        }
    }
}
