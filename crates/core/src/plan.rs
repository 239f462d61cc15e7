//! Plans: a study as TOML, its presets, and how the command line narrows it. An unknown key is an error that names it.

mod explain;
mod findings;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::findings::{ClaimsOver, claims_of};
use crate::cell::{Background, Cache, Data, GuaranteeChoice, Rate, Tuning};
use crate::claims::Claim;
use crate::error::{Error, Exit, Result, meant};
use crate::shown::{piece, quoted};
pub use crate::units::Percent;
use crate::units::{CountRange, SizeRange, as_text, exact_bytes, parse_bytes, parse_duration};
use crate::workload::driver::{Operation, Visit};

/// The version of the plan format.
pub const PLAN_FORMAT: u32 = 1;

/// The most threads that a cell can have: beyond it, it is the machine that is tried, not a store.
pub const MOST_THREADS: u32 = 1024;

/// The largest record size, in bytes.
pub const MOST_BYTES: u64 = 1 << 30;

/// A size in bytes, written as people do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&exact_bytes(self.0))
    }
}

impl FromStr for Bytes {
    type Err = String;
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        parse_bytes(text).map(Bytes)
    }
}

/// A duration, written as people do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub struct Period(pub Duration);

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.0.as_millis())
    }
}

impl FromStr for Period {
    type Err = String;
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        parse_duration(text).map(Period)
    }
}

as_text!(Bytes);
as_text!(Period);

/// Settings of stores: by store, then by the engine's name for the setting.
pub type Settings = BTreeMap<String, BTreeMap<String, String>>;

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What a study does to its stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Workload {
    /// Insert, get, update and remove single records ([`crate::workload::crud`]).
    Crud,
}

/// When stores that can compress values do so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// For compressible data.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

impl Compression {
    /// Whether it is on for `data`.
    pub fn is_on(self, data: Data) -> bool {
        match self {
            Compression::Auto => data == Data::Compressible,
            Compression::On => true,
            Compression::Off => false,
        }
    }
}

/// A study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// [`PLAN_FORMAT`].
    pub format: u32,
    /// The study's name: lower-case letters, digits and hyphens.
    pub name: String,
    /// What it asks, in a line.
    pub title: String,
    /// Where the method comes from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// What is done to the stores.
    pub workload: Workload,
    /// How often each cell runs.
    #[serde(default = "Plan::default_trials")]
    pub trials: u32,
    /// How many of each operation are timed.
    pub operations: u64,
    /// Which operations, in this order.
    pub order: Vec<Operation>,
    /// Records in a batch of the loader, at most.
    pub batch: u32,
    /// What is done with a value that is read.
    pub visit: Visit,
    /// When values are compressed.
    pub compression: Compression,
    /// Everything random comes from it.
    pub seed: u64,
    /// Combinations with more value bytes than this are left out.
    pub size_limit: Bytes,
    /// A trial that takes longer has failed.
    pub timeout: Period,
    /// A folder of files that compressible values are made from; the built-in generator otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<PathBuf>,
    /// How long each operation goes on; then `operations` does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Period>,
    /// Operations of each kind that are done first and not measured.
    #[serde(default, skip_serializing_if = "is_default")]
    pub warm_up: u64,
    /// The total cache of every engine where tuning is `equal`.
    #[serde(default = "Plan::default_equal_cache")]
    pub equal_cache: Bytes,
    /// Blocks are added until the interval of every ratio that decides a winner is no wider than this to either side, at one of
    /// the planned looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Percent>,
    /// No block is begun after this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Period>,
    /// A store that does not offer a guarantee runs at the next stronger one that it offers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at_least: bool,
    /// The stores that claims compare which name none; all where it is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims_among: Vec<String>,
    /// What claims are about where they don't narrow it; the plan as it is before a preset and options where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims_over: Option<ClaimsOver>,
    /// Settings of stores, by store and name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: Settings,
    /// The axes.
    pub axes: Axes,
    /// Named sets of changes, such as `quick`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub presets: BTreeMap<String, Changes>,
    /// Published findings that its runs are checked against.
    #[serde(default, rename = "claim", skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
}

/// The values on each axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Axes {
    pub store: Vec<String>,
    pub record_size: Vec<SizeRange>,
    pub records: Vec<CountRange>,
    pub data: Vec<Data>,
    pub guarantee: Vec<GuaranteeChoice>,
    #[serde(default = "one_thread", skip_serializing_if = "is_one_thread")]
    pub threads: Vec<u32>,
    #[serde(default = "only_default", skip_serializing_if = "is_only_default")]
    pub rate: Vec<Rate>,
    #[serde(default = "only_default", skip_serializing_if = "is_only_default")]
    pub tuning: Vec<Tuning>,
    #[serde(default = "only_default", skip_serializing_if = "is_only_default")]
    pub cache: Vec<Cache>,
    #[serde(default = "only_default", skip_serializing_if = "is_only_default")]
    pub background: Vec<Background>,
}

fn one_thread() -> Vec<u32> {
    vec![1]
}

fn is_one_thread(threads: &[u32]) -> bool {
    threads == [1]
}

fn only_default<T: Default>() -> Vec<T> {
    vec![T::default()]
}

fn is_only_default<T: Default + PartialEq>(values: &[T]) -> bool {
    values == [T::default()]
}

/// Changes to a plan: a preset, or what the command line says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Changes {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trials: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<Operation>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visit: Option<Visit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression: Option<Compression>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_limit: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Period>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Period>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equal_cache: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<Percent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Period>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: Settings,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_size: Option<Vec<SizeRange>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<Vec<CountRange>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Vec<Data>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guarantee: Option<Vec<GuaranteeChoice>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Vec<Rate>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Vec<Tuning>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<Vec<Cache>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<Vec<Background>>,
}

impl Plan {
    fn default_trials() -> u32 {
        5
    }

    fn default_equal_cache() -> Bytes {
        Bytes(64 << 20)
    }

    /// Reads a plan; `origin` is where the text comes from, for messages.
    ///
    /// # Errors
    /// [`Exit::BadPlan`], with the place in the text.
    pub fn parse(text: &str, origin: &str) -> Result<Plan> {
        let wrong = |message: String| {
            Error::new(Exit::BadPlan, format!("the plan {origin} can't be used: {message}"))
        };
        let mut plan: Plan = explain::read(text).map_err(wrong)?;
        findings::note_lines(&mut plan.claims, text);
        plan.check().map_err(wrong)?;
        Ok(plan)
    }

    /// Reads a plan from a file.
    ///
    /// # Errors
    /// [`Exit::BadPlan`], also when the file can't be read.
    pub fn read(path: &Path) -> Result<Plan> {
        let text = explain::text(path).map_err(|error| {
            Error::new(Exit::BadPlan, format!("the plan {} can't be read: {error}", path.display()))
        })?;
        Plan::parse(&text, &path.display().to_string())
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.format != PLAN_FORMAT {
            return Err(format!(
                "it has format = {}, and this storebench reads format = {PLAN_FORMAT}",
                self.format
            ));
        }
        let named_well = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        };
        if !named_well(&self.name) {
            return Err(format!("name = {}: use lower-case letters, digits and hyphens", quoted(&self.name)));
        }
        let at_least_one = [
            ("trials", u64::from(self.trials)),
            ("operations", self.operations),
            ("batch", u64::from(self.batch)),
            ("order's length", self.order.len() as u64),
            ("size_limit", self.size_limit.0),
            ("equal_cache", self.equal_cache.0),
            ("duration in ms", self.duration.map_or(1, |duration| duration.0.as_millis() as u64)),
            ("timeout in ms", self.timeout.0.as_millis() as u64),
            ("the number of stores", self.axes.store.len() as u64),
            ("the number of record sizes", self.axes.record_size.len() as u64),
            ("the number of record counts", self.axes.records.len() as u64),
            ("the number of kinds of data", self.axes.data.len() as u64),
            ("the number of guarantees", self.axes.guarantee.len() as u64),
            ("the number of thread counts", self.axes.threads.len() as u64),
            ("a number of threads", self.axes.threads.iter().copied().min().unwrap_or(0).into()),
            ("the number of rates", self.axes.rate.len() as u64),
            ("the number of tunings", self.axes.tuning.len() as u64),
            ("the number of cache states", self.axes.cache.len() as u64),
            ("the number of backgrounds", self.axes.background.len() as u64),
        ];
        if let Some((name, _)) = at_least_one.iter().find(|(_, value)| *value == 0) {
            return Err(format!("{name} is 0: it must be at least 1"));
        }
        if let Some(threads) = self.axes.threads.iter().find(|threads| **threads > MOST_THREADS) {
            return Err(format!("{threads} threads are too many: at most {MOST_THREADS}"));
        }
        if self.budget.is_some() && self.precision.is_none() {
            return Err("budget bounds the search for a precision: give precision too".into());
        }
        if self.warm_up > u64::from(u32::MAX) {
            return Err(format!("warm_up is too large: at most {}", u32::MAX));
        }
        if self.operations > u64::from(u32::MAX) {
            return Err(format!("operations is too large: at most {}", u32::MAX));
        }
        // A range does not include its upper bound.
        let too_large = |size: &&SizeRange| size.to - 1 > MOST_BYTES;
        if let Some(size) = self.axes.record_size.iter().find(too_large) {
            return Err(format!(
                "record sizes go up to {} ({size}): at most {}",
                exact_bytes(size.to - 1),
                exact_bytes(MOST_BYTES)
            ));
        }
        self.check_repeated()?;
        self.claims_over.as_ref().map_or(Ok(()), ClaimsOver::check)?;
        findings::check(&self.claims, &self.claims_among)
    }

    /// A value that is there twice would run its cells twice, and neither block nor id could tell them apart.
    fn check_repeated(&self) -> std::result::Result<(), String> {
        let axes = &self.axes;
        let lists = [
            ("order", texts(&self.order)),
            ("store", texts(&axes.store)),
            ("record_size", texts(&axes.record_size)),
            ("records", texts(&axes.records)),
            ("data", axes.data.iter().map(|data| data.name().into()).collect()),
            ("guarantee", texts(&axes.guarantee)),
            ("threads", texts(&axes.threads)),
            ("rate", texts(&axes.rate)),
            ("tuning", axes.tuning.iter().map(|tuning| tuning.name().into()).collect()),
            ("cache", axes.cache.iter().map(|cache| cache.name().into()).collect()),
            ("background", texts(&axes.background)),
            ("claims_among", self.claims_among.clone()),
        ];
        for (name, values) in lists {
            let mut seen = HashSet::with_capacity(values.len());
            if let Some(twice) = values.iter().find(|value| !seen.insert(*value)) {
                return Err(format!("{name} names {} twice", piece(twice)));
            }
        }
        Ok(())
    }

    /// Applies the preset `name`.
    ///
    /// # Errors
    /// [`Exit::BadPlan`] when the plan has no such preset.
    pub fn apply_preset(&mut self, name: &str) -> Result<()> {
        let Some(changes) = self.presets.get(name).cloned() else {
            let known: Vec<_> = self.presets.keys().map(String::as_str).collect();
            let known =
                if known.is_empty() { "it has none".into() } else { format!("it has {}", known.join(", ")) };
            return Err(Error::new(
                Exit::BadPlan,
                format!("the study {} has no preset {}: {known}", piece(&self.name), quoted(name)),
            ));
        };
        self.apply(changes)
    }

    /// Applies changes, and checks that the plan still makes sense.
    ///
    /// # Errors
    /// [`Exit::BadValue`] when it does not.
    pub fn apply(&mut self, changes: Changes) -> Result<()> {
        fn set<T>(value: &mut T, change: Option<T>) {
            if let Some(change) = change {
                *value = change;
            }
        }
        if !self.claims.is_empty() && self.claims_over.is_none() {
            self.claims_over = Some(ClaimsOver::of(self));
        }
        let known_counts: HashMap<u64, CountRange> =
            self.axes.records.iter().rev().map(|known| (known.from, *known)).collect();
        set(&mut self.trials, changes.trials);
        set(&mut self.operations, changes.operations);
        set(&mut self.order, changes.order);
        set(&mut self.visit, changes.visit);
        set(&mut self.compression, changes.compression);
        set(&mut self.seed, changes.seed);
        set(&mut self.size_limit, changes.size_limit);
        set(&mut self.timeout, changes.timeout);
        set(&mut self.text, changes.text.map(Some));
        set(&mut self.duration, changes.duration.map(Some));
        set(&mut self.warm_up, changes.warm_up);
        set(&mut self.equal_cache, changes.equal_cache);
        set(&mut self.precision, changes.precision.map(Some));
        set(&mut self.budget, changes.budget.map(Some));
        for (store, settings) in changes.settings {
            self.settings.entry(store).or_default().extend(settings);
        }
        set(&mut self.axes.store, changes.store);
        set(&mut self.axes.record_size, changes.record_size);
        set(&mut self.axes.records, changes.records);
        set(&mut self.axes.data, changes.data);
        set(&mut self.axes.guarantee, changes.guarantee);
        set(&mut self.axes.threads, changes.threads);
        set(&mut self.axes.rate, changes.rate);
        set(&mut self.axes.tuning, changes.tuning);
        set(&mut self.axes.cache, changes.cache);
        set(&mut self.axes.background, changes.background);
        for count in &mut self.axes.records {
            // A count given without an upper bound takes the plan's, where the plan has that count.
            if *count == CountRange::starting_at(count.from) {
                *count = known_counts.get(&count.from).copied().unwrap_or(*count);
            }
        }
        self.check().map_err(|message| Error::new(Exit::BadValue, message))
    }

    /// The plan as TOML, presets aside, so that it can be run again.
    ///
    /// # Errors
    /// [`Exit::Failure`] when it can't be written, which would be a mistake of ours.
    pub fn to_toml(&self) -> Result<String> {
        let plain = Plan { presets: BTreeMap::new(), ..self.clone() };
        toml::to_string(&plain)
            .map_err(|error| Error::new(Exit::Failure, format!("writing the plan: {error}")))
    }
}

fn texts<T: fmt::Display>(values: &[T]) -> Vec<String> {
    values.iter().map(T::to_string).collect()
}

/// A study that comes with storebench.
#[derive(Debug, Clone, Copy)]
pub struct BuiltIn {
    /// Its name.
    pub name: &'static str,
    /// Its TOML.
    pub text: &'static str,
}

/// The studies that come with storebench.
pub const STUDIES: &[BuiltIn] = &[BuiltIn { name: "crud", text: include_str!("../../../studies/crud.toml") }];

/// Finds a plan: a built-in study by its name, or a file.
///
/// # Errors
/// [`Exit::BadPlan`] when there is neither.
pub fn find(name: &str) -> Result<Plan> {
    if let Some(study) = STUDIES.iter().find(|study| study.name == name) {
        return Plan::parse(study.text, &format!("studies/{name}.toml"));
    }
    if name.ends_with(".toml") || Path::new(name).exists() {
        return Plan::read(Path::new(name));
    }
    let names: Vec<_> = STUDIES.iter().map(|study| study.name).collect();
    let hint = meant(name, names.iter().copied())
        .map(|meant| format!("; did you mean {meant}?"))
        .unwrap_or_default();
    let known = names.join(", ");
    Err(Error::new(
        Exit::BadPlan,
        format!("there is no study {} (there is {known}) and no file of that name{hint}", quoted(name)),
    ))
}

#[cfg(test)]
mod tests;
