//! What a plan's claims are about. What they say is read by what reads results: here they are text.

use serde::{Deserialize, Serialize};

use super::{Bytes, Plan};
use crate::axis::Axis;
use crate::cell::{Cell, Data};
use crate::units::{CountRange, SizeRange};
use crate::workload::crud::work::Work;

/// What a plan's claims are about where they don't narrow it: the study in full, which runs keep however they were narrowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct ClaimsOver {
    pub record_size: Vec<SizeRange>,
    pub records: Vec<CountRange>,
    pub data: Vec<Data>,
    /// Records that are inserted at most, which decides how large a combination is.
    pub operations: u64,
    /// Combinations with as many value bytes are no part of it.
    pub size_limit: Bytes,
}

impl ClaimsOver {
    /// What a plan covers.
    pub fn of(plan: &Plan) -> ClaimsOver {
        let axes = &plan.axes;
        ClaimsOver {
            record_size: axes.list(Axis::RECORD_SIZE),
            records: axes.list(Axis::RECORDS),
            data: axes.list(Axis::DATA),
            operations: Work::of(&plan.parameters).most_inserts(),
            size_limit: plan.size_limit,
        }
    }

    /// Whether there is anything in it.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        match self.combinations().next() {
            None => Err(
                "claims_over holds no combination: name record_size, records and data below its size_limit"
                    .into(),
            ),
            Some(_) => Ok(()),
        }
    }

    /// The combinations in it, each once.
    pub fn combinations(&self) -> impl Iterator<Item = (SizeRange, CountRange, Data)> {
        let sizes = self.record_size.iter();
        let both = sizes.flat_map(|size| self.records.iter().map(move |records| (*size, *records)));
        let fits = |&(record_size, records): &(SizeRange, CountRange)| {
            let cell = Cell::default()
                .with(Axis::RECORD_SIZE, record_size.into())
                .with(Axis::RECORDS, records.into());
            cell.expected_bytes(self.operations) < self.size_limit.0 as f64
        };
        both.filter(fits).flat_map(|(size, records)| self.data.iter().map(move |data| (size, records, *data)))
    }
}
