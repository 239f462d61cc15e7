//! The state that the client threads of a trial share.

use super::by_records::ByRecords;
use super::by_sql::BySql;
use super::chunk::LoadOrder;
use super::kind::Kind;
use super::parameters::ShopParameters;
use super::rows::Data;
use super::shared_knowledge::SharedKnowledge;
use super::tables::Tables;
use crate::measure::clock::Clock;
use crate::measure::series::Series;
use crate::store::Store;
use crate::workload::mix::WeightedTurns;
use crate::workload::workload_error::WorkloadError;

/// What the threads share, with all of its memory.
pub struct ShopContext<'a> {
    pub work: ShopParameters,
    pub data: Data,
    pub knowledge: SharedKnowledge,
    pub turns: WeightedTurns<{ Kind::ALL.len() }>,
    pub clock: &'a Clock,
    pub seconds: Series,
    /// For each kind, then for all.
    pub epochs: [Series; Kind::ALL.len() + 1],
    sql: bool,
}

impl<'a> ShopContext<'a> {
    pub fn new(
        work: ShopParameters,
        seed: u64,
        clock: &'a Clock,
        sql: bool,
    ) -> Result<ShopContext<'a>, String> {
        let data = Data::with_size(seed, work.data_bytes);
        let threads = work.threads as usize;
        let epoch = || Series::every(work.epoch, threads);
        Ok(ShopContext {
            knowledge: SharedKnowledge::new(&data),
            data,
            turns: WeightedTurns::new(work.shares.fractions()),
            clock,
            seconds: Series::new(threads)?,
            epochs: [epoch()?, epoch()?, epoch()?, epoch()?],
            sql,
            work,
        })
    }

    pub fn open<'s>(&self, store: &'s dyn Store) -> Result<Box<dyn Tables + 's>, WorkloadError> {
        let session_error = |error| WorkloadError::store("opening a session", &error);
        if self.sql {
            let tables = store.sql().and_then(|session| BySql::open(session, self.work.indexed));
            return Ok(Box::new(tables.map_err(session_error)?));
        }
        self.open_records(store).map_err(session_error)
    }

    pub fn make<'s>(&self, store: &'s dyn Store) -> Result<Box<dyn Tables + 's>, WorkloadError> {
        let make_error = |error| WorkloadError::store("making the tables", &error);
        if self.sql {
            let ShopParameters { indexed, order, .. } = self.work;
            let tables = store.sql().and_then(|session| BySql::make(session, indexed, order));
            return Ok(Box::new(tables.map_err(make_error)?));
        }
        self.open_records(store).map_err(make_error)
    }

    fn open_records<'s>(&self, store: &'s dyn Store) -> crate::store::Result<Box<dyn Tables + 's>> {
        let sorted = self.work.order == LoadOrder::Sorted;
        Ok(Box::new(ByRecords::new(store.session()?, self.work.indexed, sorted)))
    }
}
