//! The parameters of crud: what is done to the records, and how often.

use std::path::PathBuf;
use std::time::Duration;

use storebench_model::cell::Cell;
use storebench_model::store::Guarantee;

use crate::workload::driver::Visit;
use crate::workload::mix::Mix;
use crate::workload::operation::Operation;
use crate::workload::parameter::Parameters;

/// The values that a plan gives.
#[derive(Debug, Clone, PartialEq)]
pub struct CrudParameters {
    /// The number of timed operations of each kind; of a mix, of all together.
    pub operations: u64,
    /// Which operations, in this order.
    pub order: Vec<Operation>,
    /// Operations that alternate in one phase; then `order` does not count.
    pub mix: Option<Mix>,
    /// Records in a batch of the loader, at most.
    pub batch: u64,
    /// The use of a value that is read.
    pub visit: Visit,
    /// A folder of files that compressible values are made from; the built-in generator otherwise.
    pub text: Option<PathBuf>,
    /// The time for which each operation goes on; then `operations` does not count.
    pub duration: Option<Duration>,
    /// Operations of each kind that are done first and not measured.
    pub warm_up: u64,
}

impl CrudParameters {
    /// The values that parameters give.
    pub fn from_parameters(parameters: &Parameters) -> CrudParameters {
        CrudParameters {
            operations: parameters.operations(),
            order: parameters.order.as_ref().map_or(Operation::ALL.to_vec(), |order| order.0.clone()),
            mix: parameters.mix,
            batch: parameters.batch(),
            visit: parameters.visit.unwrap_or(Visit::Copy),
            text: parameters.text.as_ref().map(PathBuf::from),
            duration: parameters.duration(),
            warm_up: parameters.warm_up.map_or(0, |count| count.0),
        }
    }

    /// The values that parameters give for a cell.
    pub fn for_cell(parameters: &Parameters, cell: &Cell) -> CrudParameters {
        let common = CrudParameters::from_parameters(parameters);
        let is_unsynced = cell.guarantee().tier().is_some_and(|guarantee| guarantee < Guarantee::Power);
        let unsynced = parameters.operations_unsynced.filter(|_| is_unsynced);
        CrudParameters { operations: unsynced.map_or(common.operations, |count| count.0), ..common }
    }

    /// The most records that a trial inserts, warm-up included; without bound for a duration.
    pub fn most_inserts(&self) -> u64 {
        let total = self.operations + self.warm_up;
        match self.mix {
            _ if self.duration.is_some() => u64::MAX / 2,
            Some(mix) => (total as f64 * mix.share(Operation::Insert)).ceil() as u64,
            None => total,
        }
    }
}

#[cfg(test)]
mod tests {
    use storebench_model::cell::Axis;

    use super::*;

    #[test]
    fn defaults_say_what_holds_where_nothing_is_said() {
        let work = CrudParameters::from_parameters(&Parameters::default());
        assert_eq!((work.operations, work.batch, work.order.as_slice()), (1000, 500, &Operation::ALL[..]));
        assert_eq!((work.duration, work.text), (None, None));
    }

    #[test]
    fn writes_that_wait_for_no_disk_can_be_more() {
        let parameters = Parameters::default().with("operations", "100").unwrap();
        let parameters = parameters.with("operations_unsynced", "400").unwrap();
        let operations_at = |guarantee: &str| {
            let cell = Cell::default().with(Axis::GUARANTEE, Axis::GUARANTEE.read(guarantee).unwrap());
            CrudParameters::for_cell(&parameters, &cell).operations
        };
        assert_eq!(["none", "process", "power", "default"].map(operations_at), [400, 400, 100, 100]);
    }
}
