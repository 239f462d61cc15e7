//! The table of workloads.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::OnceLock;

use serde::Serialize;
use serde::de::{Error as _, MapAccess};
use serde::ser::{SerializeMap, Serializer};

pub use super::def::{ByRehearsal, Headline, Workload, WorkloadDef};
use super::parameter::{BETWEEN, ParameterDef, ParameterForm, Parameters, Read};
use super::{crud, device, life, replay, shop, transactions, ycsb};
use crate::error::meant;
use crate::shown::quoted;
use crate::units::as_text;

/// The workloads that come with storebench.
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

static OWN: OnceLock<Vec<&'static WorkloadDef>> = OnceLock::new();

/// Adds workloads to the table, for the whole process. Only the first call counts.
pub fn add(workloads: &[&'static WorkloadDef]) {
    let _ = OWN.set(workloads.to_vec());
}

/// Every workload.
pub fn all() -> impl Iterator<Item = &'static WorkloadDef> {
    ALL.iter().chain(OWN.get().map(Vec::as_slice).unwrap_or_default()).copied()
}

/// The parameter of a name, of whichever workload: those of one name are the same in all.
pub fn parameter(name: &str) -> Option<&'static ParameterDef> {
    parameters().into_iter().find(|parameter| parameter.name == name)
}

/// Every parameter of any workload, once.
pub fn parameters() -> Vec<&'static ParameterDef> {
    let mut parameters: Vec<&ParameterDef> = Vec::new();
    for parameter in all().flat_map(|workload| workload.parameters) {
        if !parameters.iter().any(|known| known.name == parameter.name) {
            parameters.push(parameter);
        }
    }
    parameters
}

impl Workload {
    /// The first, which stores are measured by.
    pub const CRUD: Workload = Workload::of(&crud::WORKLOAD);
}

impl FromStr for Workload {
    type Err = String;

    fn from_str(text: &str) -> Result<Workload, String> {
        all().find(|workload| workload.name == text).map(Workload::of).ok_or_else(|| {
            let known: Vec<&str> = all().map(|workload| workload.name).collect();
            let hint = meant(text, known.iter().copied());
            let hint = hint.map_or(String::new(), |meant| format!(" (did you mean {meant}?)"));
            format!("there is no workload {}{hint}: there is {}", quoted(text), known.join(", "))
        })
    }
}

as_text!(Workload);

impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.texts().len()))?;
        for (name, text) in self.texts() {
            match parameter(name).map(|known| known.form) {
                Some(ParameterForm::Number) => match text.parse::<u64>() {
                    Ok(number) => map.serialize_entry(name, &number)?,
                    Err(_) => map.serialize_entry(name, text)?,
                },
                Some(ParameterForm::List) => {
                    map.serialize_entry(name, &text.split(BETWEEN).collect::<Vec<_>>())?;
                }
                _ => map.serialize_entry(name, text)?,
            }
        }
        map.end()
    }
}

crate::from_map!(Parameters, "values by parameter", read);

fn read<'de, A: MapAccess<'de>>(mut map: A) -> Result<Parameters, A::Error> {
    let mut all = BTreeMap::new();
    while let Some(name) = map.next_key::<String>()? {
        let known = parameter(&name);
        let known = known.ok_or_else(|| A::Error::custom(format!("no workload has a parameter {name}")))?;
        let text = map.next_value_seed(Read(known))?;
        all.insert(name, text);
    }
    Ok(Parameters::of_read(all))
}
