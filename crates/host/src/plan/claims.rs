//! The combinations that a plan's claims are about. What they say is read by what reads results: here they are text.

use serde::Serialize;
use serde::de::{Error as _, MapAccess};

use super::axes::unknown_field;
use super::{Axes, Bytes, Plan};
use storebench_core::axis::Axis;
use storebench_core::axis::read::{Key, ReadList};
use storebench_core::cell::Cell;
use storebench_core::workload::crud::parameters::CrudParameters;

/// The combinations that a plan's claims are about where they don't narrow it: the study in full, which runs keep
/// however they were narrowed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClaimsOver {
    /// The values on the axes that lie within a matrix.
    #[serde(flatten)]
    pub axes: Axes,
    /// Records that are inserted at most, which decides how large a combination is.
    pub operations: u64,
    /// Combinations with as many value bytes are no part of it.
    pub size_limit: Bytes,
}

impl ClaimsOver {
    /// The combinations that a plan covers.
    pub fn of(plan: &Plan) -> ClaimsOver {
        let within = plan.workload.def().axes.iter().filter(|axis| axis.role().is_within());
        let axes = within
            .fold(Axes::default(), |axes, axis| axes.with(*axis, plan.axes.values(*axis).iter().cloned()));
        let operations = CrudParameters::of(&plan.parameters).most_inserts();
        ClaimsOver { axes, operations, size_limit: plan.size_limit }
    }

    /// Whether there is anything in it.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        match self.combinations().is_empty() {
            true => Err("claims_over holds no combination: name record_size, records and data, or what else lies within a \
                         matrix, below its size_limit"
                .into()),
            false => Ok(()),
        }
    }

    /// The combinations in it, each once: cells of the axes within a matrix alone.
    pub fn combinations(&self) -> Vec<Cell> {
        let mut cells = vec![Cell::default()];
        for axis in self.axes.named() {
            let values = self.axes.values(axis);
            let spread = |cell: Cell| {
                let at = |value: &_| cell.clone().with(axis, Clone::clone(value));
                values.iter().map(at).collect::<Vec<_>>()
            };
            cells = cells.into_iter().flat_map(spread).collect();
        }
        let has_records = self.axes.names(Axis::RECORDS);
        cells.retain(|cell| !has_records || cell.expected_bytes(self.operations) < self.size_limit.0 as f64);
        cells
    }
}

/// The fields that are no axes.
const OWN: [&str; 2] = ["operations", "size_limit"];

storebench_core::from_map!(ClaimsOver, "a table of axes, operations and size_limit", read);

/// Reads it: what is no field is an axis.
fn read<'de, A: MapAccess<'de>>(mut map: A) -> Result<ClaimsOver, A::Error> {
    let (mut axes, mut operations, mut size_limit) = (Axes::default(), None, None);
    let known = |name: &str| match OWN.contains(&name) || Axis::named(name).is_some() {
        true => Ok(()),
        false => Err(unknown_field(name, &OWN)),
    };
    while let Some(name) = map.next_key_seed(Key(known))? {
        match (name.as_str(), Axis::named(&name)) {
            ("operations", _) => operations = Some(map.next_value()?),
            ("size_limit", _) => size_limit = Some(map.next_value()?),
            (_, Some(axis)) => axes.set(axis, map.next_value_seed(ReadList(axis))?),
            (name, None) => return Err(A::Error::custom(unknown_field(name, &OWN))),
        }
    }
    Ok(ClaimsOver {
        axes,
        operations: operations.ok_or_else(|| A::Error::missing_field("operations"))?,
        size_limit: size_limit.ok_or_else(|| A::Error::missing_field("size_limit"))?,
    })
}
