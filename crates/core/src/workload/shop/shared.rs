//! The state that the client threads of a trial share.

use storebench_model::store::{self, Store};

use super::kind::Kind;
use super::parameters::ShopParameters;
use super::record_tables::RecordTables;
use super::rows::Data;
use super::shared_knowledge::SharedKnowledge;
use super::sql_tables::SqlTables;
use super::tables::Tables;
use crate::measure::clock::Clock;
use crate::measure::series::Series;
use crate::workload::gauge::Gauge;
use crate::workload::mix::WeightedTurns;
use crate::workload::spec::Spec;
use crate::workload::workload_error::WorkloadError;

/// What the threads share, with all of its memory.
pub struct ShopContext<'a> {
    pub work: ShopParameters,
    pub data: Data,
    pub knowledge: SharedKnowledge,
    pub turns: WeightedTurns<{ Kind::ALL.len() }>,
    pub clock: &'a Clock,
    pub gauge: Gauge<'a>,
    /// For each kind, then for all.
    pub epochs: [Series; Kind::ALL.len() + 1],
    sql: bool,
}

impl<'a> ShopContext<'a> {
    pub fn new(
        work: ShopParameters,
        spec: &'a Spec,
        clock: &'a Clock,
        sql: bool,
    ) -> Result<ShopContext<'a>, String> {
        let data = Data::with_size(spec.seed, work.data_bytes);
        let epoch = || Series::every(work.epoch, work.threads as usize);
        Ok(ShopContext {
            knowledge: SharedKnowledge::new(&data),
            data,
            turns: WeightedTurns::new(work.shares.fractions()),
            clock,
            gauge: Gauge::for_threads(spec, clock, work.threads)?,
            epochs: [epoch()?, epoch()?, epoch()?, epoch()?],
            sql,
            work,
        })
    }

    pub fn open<'s>(&self, store: &'s dyn Store) -> Result<Box<dyn Tables + 's>, WorkloadError> {
        self.tables(store, false).map_err(WorkloadError::during("opening a session"))
    }

    pub fn make<'s>(&self, store: &'s dyn Store) -> Result<Box<dyn Tables + 's>, WorkloadError> {
        self.tables(store, true).map_err(WorkloadError::during("making the tables"))
    }

    fn tables<'s>(&self, store: &'s dyn Store, anew: bool) -> store::Result<Box<dyn Tables + 's>> {
        let ShopParameters { indexed, sorted, .. } = self.work;
        Ok(match self.sql {
            true if anew => Box::new(SqlTables::make(store.sql()?, indexed, sorted)?),
            true => Box::new(SqlTables::open(store.sql()?, indexed)?),
            false => Box::new(RecordTables::new(store.session()?, indexed, sorted)),
        })
    }
}
