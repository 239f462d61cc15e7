//! An answer to a question, with everything that its sentences need.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use storebench_core::result::LocationInfo;
use storebench_core::store::{Caution, Danger};

use super::aged::AgedStore;
use super::clusters::Clusters;
use super::cold::ColdReads;
use super::question::Question;
use super::ranking::{Candidate, JudgedStores};
use super::record_shape::RecordShape;
use super::sensitivity::Sensitivity;
use crate::data::memory::Basis;
use crate::judge::interim;

/// An answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// The question.
    pub question: Question,
    /// Where the measurements for the answer were made.
    pub at: RecordShape,
    /// The machine's name.
    pub hardware: String,
    /// The place where the stores' files were.
    pub place: Option<LocationInfo>,
    /// The judged stores.
    pub verdict: JudgedStores,
    /// The changes of the question that would change the answer.
    pub turns: Sensitivity,
    /// The cold reads of the ranked stores, if they were measured.
    pub cold: Option<ColdReads>,
    /// The stores that a power cut can wreck, but not at the guarantee `power`.
    pub safer: BTreeSet<String>,
    /// The settings of the recommended store, in two lines.
    pub settings: Vec<String>,
    /// The findings of power cuts of the recommended store, if there are any.
    pub proof: Option<String>,
    /// How often each record had been overwritten before the operations that answer the question.
    pub age: u32,
    /// How the ranked stores age, if that was measured.
    pub aged: Vec<AgedStore>,
    /// The recommended store compared with servers and clusters, if that was measured.
    pub clusters: Clusters,
    /// The dangers of the stores that are recommended for other questions.
    pub dangers: BTreeMap<String, &'static Danger>,
    /// If reads should be cold and a trial makes more of them than there are records: how many of each.
    pub repeated: Option<(u64, u64)>,
    /// The remarks on practice, which no benchmark sees, for the recommended store and the next, in half a line each.
    pub practice: Vec<(String, &'static str)>,
    /// The warnings of the recommended store's authors about long use.
    pub cautions: &'static [Caution],
    /// The address at which a page opens: the question's own place.
    pub start: String,
    /// The figure by which memory was compared.
    pub memory: Basis,
    /// How the runs differ from runs that are made for an answer.
    pub otherwise: BTreeSet<String>,
}

impl Advice {
    /// Whether the best is known to be better than the second, or both are known to be alike to within `precision`, a share of 1.
    pub fn is_clear(&self, precision: f64) -> bool {
        let second = self.verdict.ranking.get(1);
        second.is_none_or(|second| interim::is_clear(second.verdict, second.times_worse, precision))
    }

    /// The stores that more blocks won't move relative to the best: clear, as [`Advice::is_clear`] says of the second, or
    /// unlikely to become so even at the last of these looks.
    pub fn beyond_deciding(&self, precision: f64, looks: &[u32]) -> Vec<String> {
        let is_beyond =
            |store: &&Candidate| interim::is_beyond(store.verdict, store.times_worse, precision, looks);
        self.verdict.ranking.iter().skip(1).filter(is_beyond).map(|store| store.store.clone()).collect()
    }

    /// The trials of each ranked store, the best first.
    pub fn trials(&self) -> IndexMap<&str, usize> {
        self.verdict.ranking.iter().map(|store| (store.store.as_str(), store.speed.trials)).collect()
    }

    /// Whether stores were compared, so that the best is a recommendation.
    pub fn is_recommendation(&self) -> bool {
        self.verdict.all().count() > 1
    }
}
