//! Determines which part of a study can run here: its own plan and all its presets, with cells selected as by `run`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;
use storebench_host::machine::Core;
use storebench_host::plan::{self, Plan};
use storebench_model::axis::table::HERE;
use storebench_model::cell::{Axis, DEFAULT_PLACE};
use storebench_model::error::Result;
use storebench_model::result::{LeftOutCell, LeftOutReason};
use storebench_model::store::StoreDef;
use storebench_model::units::{plural, with_commas};

use super::super::launch::{self, Launch};

/// The part of a study that can run here.
#[derive(Debug, PartialEq, Serialize)]
pub struct StudyAbility {
    pub name: String,
    /// The combinations that can run, including those of presets.
    pub can: usize,
    /// The combinations that another machine could run.
    pub of: usize,
    /// The argument that the command line must give.
    pub asks_for: Option<&'static str>,
    /// What the others need.
    pub lacks: Vec<MissingNeed>,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct MissingNeed {
    pub reason: String,
    pub combinations: usize,
}

impl StudyAbility {
    pub fn describe(&self) -> String {
        match (self.asks_for, self.of) {
            (Some(option), 0) => format!("with {option}"),
            (_, total) if self.can == total => format!("all {}", plural(total, "combination")),
            (_, total) => {
                format!("{} of {}", with_commas(self.can as u64), plural(total, "combination"))
            }
        }
    }
}

/// The part of a study that can run in a directory.
pub fn ability(stores: &[StoreDef], name: &str, directory: &Path) -> Result<StudyAbility> {
    let plain = plan::find(name)?;
    let mut plans = vec![plain.clone()];
    for preset in plain.presets.keys() {
        let mut plan = plain.clone();
        plan.apply_preset(preset)?;
        plans.push(plan);
    }
    let mut tally = Tally::default();
    for plan in plans {
        tally.add(stores, plan, directory)?;
    }
    Ok(tally.ability(name))
}

/// Combinations by outcome. A combination of several presets counts once.
#[derive(Default)]
struct Tally {
    runnable: BTreeSet<String>,
    missing: BTreeMap<String, BTreeSet<String>>,
    asks_for: Option<&'static str>,
}

impl Tally {
    fn add(&mut self, stores: &[StoreDef], mut plan: Plan, directory: &Path) -> Result<()> {
        if plan.axes.names(Axis::MACHINE) {
            plan.settle(Core::measure);
        }
        let directories = BTreeMap::from([(DEFAULT_PLACE.to_owned(), directory.to_path_buf())]);
        launch::select_file_system(&mut plan, &directories);
        let places = launch::places(&plan, &directories)?;
        let launch = Launch::new(stores, &plan, &places, None)?;
        self.runnable.extend(launch.cells.iter().map(|cell| cell.id()));
        for omitted in &launch.header.left_out {
            if omitted.reason == LeftOutReason::NoTrace {
                self.asks_for = Some("--trace FILE");
            } else if omitted.reason.is_of_the_machine() && !is_of_limits(omitted) {
                let ids = self.missing.entry(omitted.reason.to_string()).or_default();
                ids.insert(omitted.cell.id());
            }
        }
        Ok(())
    }

    fn ability(mut self, name: &str) -> StudyAbility {
        // A preset may need less.
        self.missing.values_mut().for_each(|ids| ids.retain(|id| !self.runnable.contains(id)));
        self.missing.retain(|_, ids| !ids.is_empty());
        let missing: BTreeSet<&String> = self.missing.values().flatten().collect();
        let total = self.runnable.len() + missing.len();
        let to_need = |(reason, ids): (&String, &BTreeSet<String>)| MissingNeed {
            reason: reason.clone(),
            combinations: ids.len(),
        };
        StudyAbility {
            name: name.to_owned(),
            can: self.runnable.len(),
            of: total,
            asks_for: self.asks_for,
            lacks: self.missing.iter().map(to_need).collect(),
        }
    }
}

/// Whether the machine profile has too little memory, whatever this machine has.
fn is_of_limits(omitted: &LeftOutCell) -> bool {
    matches!(omitted.reason, LeftOutReason::NoMemory { .. }) && omitted.cell.machine() != HERE
}
