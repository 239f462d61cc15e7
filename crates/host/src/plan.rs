//! Plans: a study as TOML, its presets, and how the command line narrows it. An unknown key is an error that names the key.

mod axes;
mod changes;
mod claims;
mod clients;
mod count;
mod disks;
pub mod explain;
mod machines;
mod named_items;
mod other_keys;
pub mod paired;
mod variants;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use storebench_disk::disks::Disk;

pub use self::axes::{ALWAYS_CROSSED, Axes};
pub use self::changes::Changes;
pub use self::claims::ClaimsOver;
use self::other_keys::{Fields, OtherKeys};
pub use self::variants::SettingsPoint;
use crate::machine::Machine;
use storebench_core::workload::case::Case;
use storebench_core::workload::parameter::Parameters;
use storebench_core::workload::table::Workload;
use storebench_model::axis::Axis;
use storebench_model::cell::{Cell, Tuning};
use storebench_model::error::{Error, Exit, Result, meant};
use storebench_model::result::format1;
use storebench_model::sanitize::{piece, quoted};
use storebench_model::store::StoreDef;
pub use storebench_model::units::{Bytes, Percent, Period};

/// This source, for the reference: the comments of [`Plan`] are its text.
pub const SOURCE: &str = include_str!("plan.rs");

/// The version of the plan format.
pub const PLAN_FORMAT: u32 = 2;

/// Settings of stores: by store, then by the engine's name for the setting.
pub type Settings = BTreeMap<String, BTreeMap<String, String>>;

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", expecting = "a plan")]
pub struct Plan {
    /// The version of this format: 2.
    pub format: u32,
    /// The study's name: lower-case letters, digits and hyphens.
    pub name: String,
    /// The question, in a line.
    pub title: String,
    /// Where the method comes from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// The workload: what is done to the stores.
    pub workload: Workload,
    /// The parameters of the workload.
    #[serde(flatten, skip_deserializing)]
    pub parameters: Parameters,
    /// The number of times that each cell runs.
    #[serde(default = "default_trials")]
    pub trials: u32,
    /// Seed for keys, values, record choice and trial order.
    pub seed: u64,
    /// Combinations with this many bytes of values, or more, are left out.
    pub size_limit: Bytes,
    /// A longer trial is stopped and fails. Opening, closing and the audit have limits of their own.
    pub timeout: Period,
    /// After all trials, measure further until each ratio that decides a winner is known to within this share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<Percent>,
    /// After all trials, measure undecided pairs further until this time since the start is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Period>,
    /// Spend the budget on what claims need.
    #[serde(default, skip_serializing_if = "is_default")]
    pub for_claims: bool,
    /// The axes whose values are ranked; by default stores, or what the workload ranks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compare: Vec<Axis>,
    /// Axes that make the rows of a matrix, in addition to the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Axis>,
    /// Axes that make its columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Axis>,
    /// Axes whose values have a matrix each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Axis>,
    /// A store that does not offer a guarantee runs at the next stronger one that it offers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at_least: bool,
    /// The stores that claims compare if they name none; by default all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims_among: Vec<String>,
    /// The cells that claims are about; by default the plan's before a preset and options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claims_over: Option<ClaimsOver>,
    /// Vary settings one at a time from the plan's own, instead of combining them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub one_at_a_time: bool,
    /// Vary each axis but stores and guarantees alone, from the first value of all others. Settings are one axis.
    #[serde(default, skip_serializing_if = "is_default")]
    pub axes_one_at_a_time: bool,
    /// Lists of axes whose values are taken in step, the first with the first and so on. Such an axis may repeat values. Options that
    /// name one of them combine them again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paired: Vec<Vec<Axis>>,
    /// Whether counts of records are fewer than the study's, as more did not fit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fewer_records: bool,
    /// Disks on which times are estimated, from what trials ask of a simulated disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disk_estimate: Vec<String>,
    /// States after power cuts to check after each trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuts: Option<u64>,
    /// The disk of these states tears blocks: it writes only sectors as a whole.
    #[serde(default, skip_serializing_if = "is_default")]
    pub torn: bool,
    /// Cut all of these states while the store settles, instead of a fifth of them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub settling: bool,
    /// Faults of each kind that the disk of each trial's store has after the trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<u64>,
    /// Numbers of records with which to measure how long the store takes to open after a kill.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recovery: Vec<u64>,
    /// Machines that have the sessions, by their names for ssh; by default this one has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<String>,
    /// Let settings through that give another guarantee than the one asked for, and check them against that one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub judge_settings: bool,
    /// Settings of stores, by store and name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: Settings,
    /// Settings that are measured in addition to the axes' values, each under a name.
    #[serde(rename = "point", default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<SettingsPoint>,
    /// Machines that the plan defines, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub machines: BTreeMap<String, Machine>,
    /// Simulated disks that the plan defines, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub disks: BTreeMap<String, Disk>,
    /// The axes, below.
    pub axes: Axes,
    /// Named sets of changes, such as `quick`.
    #[serde(default, skip_serializing)]
    pub presets: BTreeMap<String, Changes>,
    /// Published findings that runs are checked against. They are kept as they are written: what reads results knows their meaning.
    #[serde(rename = "claim", default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<toml::Table>,
    /// The axis of this name, as plans of format 1 may write it; `None` once a plan is read.
    #[serde(skip_serializing)]
    pub compression: Option<String>,
}

/// The trials of each cell if a plan gives no number.
fn default_trials() -> u32 {
    5
}

impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Plan, D::Error> {
        let mut others = OtherKeys { parameters: Some(Parameters::default()), axes: None };
        let mut plan = Plan::deserialize(Fields(deserializer, &mut others))?;
        plan.parameters = others.parameters.unwrap_or_default();
        plan.upgrade().map_err(D::Error::custom)?;
        plan.record_for_estimates();
        Ok(plan)
    }
}

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        Plan::serialize(self, serializer)
    }
}

impl Plan {
    /// Makes a plan of format 1 one of today's.
    fn upgrade(&mut self) -> std::result::Result<(), String> {
        let old_compression = self.compression.take();
        if self.format == 1 {
            self.format = PLAN_FORMAT;
        } else if self.format == PLAN_FORMAT && old_compression.is_some() {
            return Err("unknown key \"compression\": it is an axis".into());
        }
        let Some(compression) = old_compression.filter(|_| !self.axes.names(Axis::COMPRESSION)) else {
            return Ok(());
        };
        let (axis, value) = format1::compression_value(&compression)
            .ok_or_else(|| format!("{} is no way to compress", quoted(&compression)))?;
        self.axes.set(axis, [value]);
        Ok(())
    }

    /// Checks that reports place each axis at most once, and only the plan's.
    fn check_layout(&self) -> std::result::Result<(), String> {
        let is_axis_of_plan = |axis: &Axis| self.workload.def().axes.contains(axis) || self.axes.names(*axis);
        let lists = [
            ("compare", &self.compare),
            ("rows", &self.rows),
            ("columns", &self.columns),
            ("groups", &self.groups),
        ];
        let mut placed: Vec<(Axis, &str)> = Vec::new();
        for (list, axes) in lists {
            for axis in axes {
                if !is_axis_of_plan(axis) {
                    return Err(format!("{list} names {axis}, which is not an axis of the plan"));
                }
                if *axis == Axis::GUARANTEE && list != "compare" {
                    return Err(format!("{list} names guarantee: guarantees always have a matrix each"));
                }
                if let Some((_, first_list)) = placed.iter().find(|(placed_axis, _)| placed_axis == axis) {
                    return Err(format!("{axis} is named by {first_list} and by {list}: name it once"));
                }
                placed.push((*axis, list));
            }
        }
        Ok(())
    }

    /// Reads a plan except its claims; `origin` names the source of the text in messages. Fails with [`Exit::BadPlan`] and the place in
    /// the text.
    pub fn parse(text: &str, origin: &str) -> Result<Plan> {
        Plan::read(text).map_err(|reason| unusable(origin, &reason))
    }

    /// Reads a plan except its claims; else says what is wrong.
    pub(crate) fn read(text: &str) -> std::result::Result<Plan, String> {
        let plan: Plan = explain::read(text)?;
        plan.check()?;
        Ok(plan)
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.format != PLAN_FORMAT {
            return Err(format!(
                "it has format = {}, and this storebench reads formats 1 to {PLAN_FORMAT}",
                self.format
            ));
        }
        let is_good_name = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        };
        if !is_good_name(&self.name) {
            return Err(format!("name = {}: use lower-case letters, digits and hyphens", quoted(&self.name)));
        }
        let positive_values = [
            ("trials", u64::from(self.trials)),
            ("size_limit", self.size_limit.0),
            ("timeout in ms", self.timeout.0.as_millis() as u64),
        ];
        if let Some((name, _)) = positive_values.iter().find(|(_, value)| *value == 0) {
            return Err(format!("{name} is 0: it must be at least 1"));
        }
        if self.recovery.contains(&0) {
            return Err("recovery names 0 records: it must be at least 1".into());
        }
        let cut_options = [("torn", self.torn), ("settling", self.settling)];
        if let Some((name, _)) = cut_options.iter().find(|(_, is_set)| *is_set && self.cuts.is_none()) {
            return Err(format!("{name} is of states after power cuts: say how many with cuts (--cuts N)"));
        }
        if let Some(unknown_name) = self.parameters.names().find(|name| !self.workload.has_parameter(name)) {
            return Err(format!("{unknown_name} is not a parameter of the workload {}", self.workload));
        }
        self.check_clients()?;
        self.axes.check_for(self.workload)?;
        self.axes.check(&self.paired)?;
        self.check_paired()?;
        self.check_points()?;
        self.check_machines()?;
        self.check_disks()?;
        self.check_layout()?;
        let mut stores = self.claims_among.iter().enumerate();
        if let Some((_, repeated)) = stores.find(|(index, name)| self.claims_among[..*index].contains(name)) {
            return Err(format!("claims_among names {} twice", piece(repeated)));
        }
        self.claims_over.as_ref().map_or(Ok(()), ClaimsOver::check)
    }

    /// A cell in the form that the plan's workload judges.
    pub fn case<'a>(&'a self, cell: &'a Cell, stores: &'a [StoreDef]) -> Case<'a> {
        Case {
            cell,
            parameters: &self.parameters,
            stores,
            settings: &self.settings,
            size_limit: self.size_limit.0,
            memory_limit: self.memory_limit(cell),
            clients: self.clients.len(),
        }
    }

    /// The settings of a cell's store: the plan's, overridden by the cell's own axes.
    pub fn settings_of(&self, cell: &Cell) -> BTreeMap<String, String> {
        let mut settings = self.settings.get(cell.store()).cloned().unwrap_or_default();
        settings.extend(cell.settings().map(|(name, value)| (name.to_owned(), value.to_owned())));
        settings
    }

    /// The settings that a cell's store is opened with: its own, and its caches' shares of the machine's memory if tuning is `share`.
    pub fn settings_to_open(&self, cell: &Cell, stores: &[StoreDef]) -> BTreeMap<String, String> {
        let mut settings = self.settings_of(cell);
        let memory = self.memory_limit(cell).filter(|_| cell.tuning() == Tuning::Share);
        if let (Some(memory), Some(store)) = (memory, stores.iter().find(|store| store.name == cell.store()))
        {
            store.share_out(memory, cell.threads().into(), &mut settings);
        }
        settings
    }

    /// Applies the preset `name`. Fails with [`Exit::BadPlan`] if the plan has none of that name.
    pub fn apply_preset(&mut self, name: &str) -> Result<()> {
        let Some(changes) = self.presets.get(name).cloned() else {
            let names: Vec<_> = self.presets.keys().map(String::as_str).collect();
            let presets =
                if names.is_empty() { "it has none".into() } else { format!("it has {}", names.join(", ")) };
            return Err(Error::new(
                Exit::BadPlan,
                format!("the study {} has no preset {}: {presets}", piece(&self.name), quoted(name)),
            ));
        };
        self.apply(changes)
    }

    /// Applies changes, and checks that the plan still makes sense. Fails with [`Exit::BadValue`] if it does not.
    pub fn apply(&mut self, changes: Changes) -> Result<()> {
        if !self.claims.is_empty() && self.claims_over.is_none() {
            self.claims_over = Some(ClaimsOver::from_plan(self));
        }
        changes.make(self);
        self.check().map_err(Error::bad_value)
    }

    /// The plan as TOML, presets aside, so that it can be run again. It would be a bug if that failed.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|error| Error::new(Exit::Failure, format!("writing the plan: {error}")))
    }
}

pub(crate) fn unusable(origin: &str, reason: &str) -> Error {
    Error::new(Exit::BadPlan, format!("the plan {origin} can't be used: {reason}"))
}

/// A study that comes with storebench.
#[derive(Debug, Clone, Copy)]
pub struct BuiltInStudy {
    /// Its name.
    pub name: &'static str,
    /// Its TOML.
    pub text: &'static str,
}

/// The studies that come with storebench.
pub const STUDIES: &[BuiltInStudy] = &[
    BuiltInStudy { name: "crud", text: include_str!("../studies/crud.toml") },
    BuiltInStudy { name: "crash", text: include_str!("../studies/crash.toml") },
    BuiltInStudy { name: "data-size", text: include_str!("../studies/data-size.toml") },
    BuiltInStudy { name: "device", text: include_str!("../studies/device.toml") },
    BuiltInStudy { name: "filesystems", text: include_str!("../studies/filesystems.toml") },
    BuiltInStudy { name: "life", text: include_str!("../studies/life.toml") },
    BuiltInStudy { name: "replay", text: include_str!("../studies/replay.toml") },
    BuiltInStudy { name: "sqlite-settings", text: include_str!("../studies/sqlite-settings.toml") },
    BuiltInStudy { name: "ycsb", text: include_str!("../studies/ycsb.toml") },
];

/// A plan as text.
#[derive(Debug, Clone)]
pub struct PlanSource {
    /// The TOML.
    pub text: Cow<'static, str>,
    /// The source of the text, for messages.
    pub origin: String,
}

impl PlanSource {
    /// A plan's file. Fails with [`Exit::BadPlan`] if it can't be read.
    pub fn read(path: &Path) -> Result<PlanSource> {
        let text = explain::text(path).map_err(|error| {
            Error::new(Exit::BadPlan, format!("the plan {} can't be read: {error}", path.display()))
        })?;
        Ok(PlanSource { text: text.into(), origin: path.display().to_string() })
    }

    /// Whether the study comes with storebench.
    pub fn is_shipped(&self) -> bool {
        STUDIES.iter().any(|study| study.text == self.text)
    }

    /// The plan, without its claims. Fails with [`Exit::BadPlan`] and the place in the text.
    pub fn plan(&self) -> Result<Plan> {
        Plan::parse(&self.text, &self.origin)
    }
}

/// Finds a plan: a built-in study by its name, or a file. Fails with [`Exit::BadPlan`] if there is neither, or the plan is invalid.
pub fn find(name: &str) -> Result<Plan> {
    source(name)?.plan()
}

/// Finds a plan's text: of a built-in study by its name, or of a file. Fails with [`Exit::BadPlan`] if there is neither.
pub fn source(name: &str) -> Result<PlanSource> {
    if let Some(study) = STUDIES.iter().find(|study| study.name == name) {
        return Ok(PlanSource { text: study.text.into(), origin: format!("studies/{name}.toml") });
    }
    if name.ends_with(".toml") || Path::new(name).exists() {
        return PlanSource::read(Path::new(name));
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
