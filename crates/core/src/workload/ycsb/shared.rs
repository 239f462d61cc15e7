//! The state that the threads of a trial share.

use storebench_model::cell::Data;

use super::definition::{Definition, Kind};
use super::fields::Fields;
use super::parameters::YcsbParameters;
use super::scanned_records::KeyOrder;
use super::versions::Versions;
use crate::measure::clock::Clock;
use crate::measure::series::Series;
use crate::workload::mix::WeightedTurns;

/// What the threads share, with all of its memory.
pub struct YcsbContext<'a> {
    pub work: YcsbParameters,
    pub fields: Fields,
    pub versions: Versions,
    /// The order that scans must show; `None` without scans.
    pub order: Option<KeyOrder>,
    pub turns: WeightedTurns<{ Kind::ALL.len() }>,
    /// Whether reads can be checked: not with a store that keeps nothing.
    pub can_check: bool,
    /// Whether two versions may be the same bytes.
    pub may_be_alike: bool,
    pub clock: &'a Clock,
    pub series: Series,
}

impl<'a> YcsbContext<'a> {
    /// Takes all memory that the threads share. `can_check` is whether the store keeps what it is given.
    pub fn new(
        work: YcsbParameters,
        data: Data,
        seed: u64,
        clock: &'a Clock,
        can_check: bool,
    ) -> Result<YcsbContext<'a>, String> {
        let definition = &work.definition;
        let fields = Fields::new(definition, data, seed);
        let slots = if definition.is_partial() { definition.fields } else { 1 };
        let checks_scans = definition.includes(Kind::Scan) && can_check;
        Ok(YcsbContext {
            versions: Versions::new(work.most_records(), slots, work.threads),
            order: checks_scans.then(|| KeyOrder::new(definition.naming, work.most_records())),
            turns: WeightedTurns::new(definition.shares),
            can_check,
            may_be_alike: fields.may_be_alike(),
            fields,
            clock,
            series: Series::new(work.threads as usize)?,
            work,
        })
    }

    #[inline]
    pub fn definition(&self) -> &Definition {
        &self.work.definition
    }
}
