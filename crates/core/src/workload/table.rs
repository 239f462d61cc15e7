//! The table of workloads.

use std::str::FromStr;
use std::sync::OnceLock;

use storebench_model::error::meant;
use storebench_model::sanitize::quoted;
use storebench_model::units::as_text;

pub use super::def::{Headline, Workload, WorkloadDef};
use super::{crud, device, life, replay, shop, transactions, ycsb};

static ALL: [&WorkloadDef; 8] = [
    &crud::WORKLOAD,
    &device::WORKLOAD,
    &transactions::androbench::WORKLOAD,
    &transactions::batch::WORKLOAD,
    &ycsb::WORKLOAD,
    &replay::WORKLOAD,
    &shop::WORKLOAD,
    &life::WORKLOAD,
];

static ADDED: OnceLock<Vec<&'static WorkloadDef>> = OnceLock::new();

/// Adds workloads to the table, for the whole process. Only the first call counts.
pub fn add(workloads: &[&'static WorkloadDef]) {
    let _ = ADDED.set(workloads.to_vec());
}

/// Every workload.
pub fn all() -> impl Iterator<Item = &'static WorkloadDef> {
    ALL.iter().chain(ADDED.get().map(Vec::as_slice).unwrap_or_default()).copied()
}

impl Workload {
    /// The first, which stores are measured by.
    pub const CRUD: Workload = Workload::from_def(&crud::WORKLOAD);
}

impl FromStr for Workload {
    type Err = String;

    fn from_str(text: &str) -> Result<Workload, String> {
        all().find(|workload| workload.name == text).map(Workload::from_def).ok_or_else(|| {
            let known: Vec<&str> = all().map(|workload| workload.name).collect();
            let hint = meant(text, known.iter().copied());
            let hint = hint.map_or(String::new(), |name| format!(" (did you mean {name}?)"));
            format!("there is no workload {}{hint}: there is {}", quoted(text), known.join(", "))
        })
    }
}

as_text!(Workload);
