//! The combinations that a plan's claims are about. The claims themselves are plain text here; the report crate reads them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::other_keys::{Fields, OtherKeys};
use super::paired::steps;
use super::{Axes, Bytes, Plan};
use crate::schedule::spread;
use storebench_core::workload::crud::parameters::CrudParameters;
use storebench_model::axis::Axis;
use storebench_model::cell::Cell;

/// The combinations that a plan's claims are about unless they narrow it: the full study, which runs keep however they were narrowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", expecting = "a table of axes, operations and size_limit")]
pub struct ClaimsOver {
    /// The values on the axes within a matrix.
    #[serde(flatten, skip_deserializing)]
    pub axes: Axes,
    /// Lists of axes whose values are taken in step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paired: Vec<Vec<Axis>>,
    /// The most records that are inserted, which decides how large a combination is.
    pub operations: u64,
    /// Combinations with this many value bytes are left out.
    pub size_limit: Bytes,
}

impl ClaimsOver {
    /// The combinations that a plan covers.
    pub fn from_plan(plan: &Plan) -> ClaimsOver {
        let axes_within = plan.workload.def().axes.iter().filter(|axis| axis.role().is_within());
        let axes = axes_within
            .fold(Axes::default(), |axes, axis| axes.with(*axis, plan.axes.values(*axis).iter().cloned()));
        let operations = CrudParameters::from_parameters(&plan.parameters).most_inserts();
        ClaimsOver { axes, paired: plan.paired.clone(), operations, size_limit: plan.size_limit }
    }

    /// Checks that it is not empty.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        match self.combinations().is_empty() {
            true => Err("claims_over holds no combination: name record_size, records and data, or what else lies within a \
                         matrix, below its size_limit"
                .into()),
            false => Ok(()),
        }
    }

    /// The combinations, each once: cells with only the axes within a matrix.
    pub fn combinations(&self) -> Vec<Cell> {
        let mut cells = vec![Cell::default()];
        let values = |axis| self.axes.values(axis).into_owned();
        for steps in steps(&self.paired, self.axes.names_iter(), values) {
            spread(&mut cells, &steps);
        }
        let has_records = self.axes.names(Axis::RECORDS);
        cells.retain(|cell| !has_records || cell.expected_bytes(self.operations) < self.size_limit.0 as f64);
        cells
    }
}

impl<'de> Deserialize<'de> for ClaimsOver {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ClaimsOver, D::Error> {
        let mut others = OtherKeys { axes: Some(Axes::default()), parameters: None };
        let claims = ClaimsOver::deserialize(Fields(deserializer, &mut others))?;
        Ok(ClaimsOver { axes: others.axes.unwrap_or_default(), ..claims })
    }
}

impl Serialize for ClaimsOver {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ClaimsOver::serialize(self, serializer)
    }
}
