//! A cell as its workload judges it before it runs: whether it can run, and what it will cost.

use std::collections::BTreeMap;

use crate::cell::Cell;
use crate::store::{self, Capabilities, Kind, StoreDef};
use crate::workload::crud::work::Work;
use crate::workload::parameter::Parameters;

/// A cell that may be run.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The cell.
    pub cell: &'a Cell,
    /// The workload's parameters.
    pub parameters: &'a Parameters,
    /// The table of stores.
    pub stores: &'a [StoreDef],
    /// Settings that the plan gives stores, by store and name. Those of the cell's own axes count before them.
    pub settings: &'a BTreeMap<String, BTreeMap<String, String>>,
    /// A cell with as many bytes of data is left out.
    pub size_limit: u64,
}

impl Case<'_> {
    /// Its store, if it is known.
    pub fn store(&self) -> Option<&StoreDef> {
        self.stores.iter().find(|store| store.name == self.cell.store())
    }

    /// What its store keeps in memory alone, in bytes: all records, where it has nowhere else for them.
    pub fn kept_in_memory(&self) -> f64 {
        let in_memory = self.capabilities().is_some_and(|able| able.keeps && !able.persists);
        let inserts = Work::of(self.parameters).most_inserts();
        if in_memory { self.cell.expected_bytes(inserts) } else { 0.0 }
    }

    /// What its store can do with its settings; `None` where it is not known.
    pub fn capabilities(&self) -> Option<Capabilities> {
        let store = self.store()?;
        let mut settings = self.settings.get(store.name).cloned().unwrap_or_default();
        settings.extend(self.cell.settings().map(|(name, value)| (name.to_owned(), value.to_owned())));
        Some(store.capabilities_with(settings.iter().map(|(name, value)| (name.as_str(), value.as_str()))))
    }

    /// What its store is.
    pub fn kind(&self) -> Kind {
        store::kind(self.stores, self.cell.store())
    }
}

/// Disk that a cell takes, in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Space {
    /// What its files may come to at their peak.
    pub peak_bytes: f64,
    /// What must be free for it to be tried.
    pub room_bytes: f64,
}

/// Time that a trial takes, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Time {
    /// All of it.
    pub trial_s: f64,
    /// Reading back what it left, which is a part of that.
    pub audit_s: f64,
}
