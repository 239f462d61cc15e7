//! An answer to a question, with everything that its sentences need.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use storebench_figures::data::memory::Basis;
use storebench_figures::judge::interim;
use storebench_model::result::LocationInfo;
use storebench_model::store::{Caution, Danger};

use super::aged::AgedStore;
use super::clusters::Clusters;
use super::cold::ColdReads;
use super::question::Question;
use super::ranking::{Candidate, JudgedStores};
use super::record_shape::RecordShape;
use super::sensitivity::Sensitivity;

/// An answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    pub(super) question: Question,
    /// Where the measurements for the answer were made.
    pub at: RecordShape,
    pub(super) hardware: String,
    pub(super) place: Option<LocationInfo>,
    /// The judged stores.
    pub verdict: JudgedStores,
    pub(super) turns: Sensitivity,
    pub(super) cold: Option<ColdReads>,
    /// The stores that a power cut can wreck, but not at the guarantee `power`.
    pub(super) safer: BTreeSet<String>,
    pub(super) settings: Vec<String>,
    pub(super) proof: Option<String>,
    /// How often each record had been overwritten before the operations that answer the question.
    pub(super) age: u32,
    /// How the ranked stores age, if that was measured.
    pub aged: Vec<AgedStore>,
    /// The recommended store compared with servers and clusters, if that was measured.
    pub clusters: Clusters,
    /// Those of the stores that are recommended for other questions.
    pub(super) dangers: BTreeMap<String, &'static Danger>,
    /// If reads should be cold and a trial makes more of them than there are records: how many of each.
    pub(super) repeated: Option<(u64, u64)>,
    pub(super) practice: Vec<(String, &'static str)>,
    pub(super) cautions: &'static [Caution],
    /// The address at which a page opens: the question's own place.
    pub(super) start: String,
    pub(super) memory: Basis,
    /// How the runs differ from runs that are made for an answer.
    pub(super) otherwise: BTreeSet<String>,
}

impl Advice {
    /// Whether the best is known to be better than the second, or both are known to be alike to within `precision`, a share of 1.
    pub fn is_clear(&self, precision: f64) -> bool {
        let second = self.verdict.ranking.get(1);
        second.is_none_or(|second| interim::is_clear(second.verdict, second.times_worse, precision))
    }

    /// The stores that more blocks won't move relative to the best: clear, or unlikely to become so even at the last of these looks.
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
