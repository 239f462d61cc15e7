//! Changes of a question that would change its answer: another goal, another share of gets, other records.

use storebench_core::workload::operation::Operation;
use storebench_figures::data::contention;
use storebench_figures::data::matrix::{SortedTrials, ranked_stores};
use storebench_figures::data::merge::{BlockKey, Entry, Group, Merged};
use storebench_figures::judge::interim;
use storebench_figures::judge::recommendation::better_than;
use storebench_figures::judge::standing::{Terms, decide_on};
use storebench_figures::stats::{Better, Ratio, Series, compare};
use storebench_model::result::RunHeader;
use storebench_model::store::StoreDef;
use storebench_model::units::{CountRange, Sizes};

use super::danger::avoided;
use super::figures::{StoreFigures, fits_in_memory, goal_terms, weigh_stores};
use super::other_store::{OtherStore, OtherStoreReason, walk_outward};
use super::question::{Goal, Mix, Question};
use super::ranking::why_out;
use super::record_shape::{self, RecordShape, position};

/// A change of the question that changes the answer.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerChange {
    /// With another goal another store is best; the factor by which it beats the recommended one at that goal.
    Goal(Goal, String, Option<Ratio>),
    /// With this number of gets in a hundred operations another store is better: the nearest in each direction.
    Gets(u32, OtherStore),
    /// With records of another size another store is better, likewise; both are equal at a point in bytes.
    Size(Box<Sizes>, OtherStore),
    /// With another number of records, likewise.
    Records(CountRange, OtherStore),
}

/// The measurements outside the question's own place, and whether they change the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    pub turns: Vec<AnswerChange>,
    /// Other record sizes at which the recommended store is best or may be, the smallest first; none beyond one that changes the answer.
    pub sizes: Vec<Sizes>,
    /// Other record counts, likewise.
    pub counts: Vec<CountRange>,
}

/// Finds changes that would make another store than `best` the best.
pub fn find_changes(
    merged: &Merged<'_>,
    group: &Group<'_>,
    shape: RecordShape,
    (question, table): (&Question, &[StoreDef]),
    best: &str,
) -> Sensitivity {
    let sorted = SortedTrials::new(merged, group);
    let context = SensitivityContext { merged, group, sorted: &sorted, question, table, best };
    let by_goal = |goal: Goal| {
        let figures = context.figures_at(shape, &question.mix, goal);
        let terms = context.terms_at(shape, &question.mix, goal);
        let (store, times) = other_winner(&figures, best, terms)?;
        Some(AnswerChange::Goal(goal, store, times))
    };
    let goals = Goal::ALL.into_iter().filter(|goal| *goal != question.goal);
    let mut turns: Vec<AnswerChange> = goals.filter_map(by_goal).collect();
    if question.goal != Goal::Space && question.goal != Goal::Memory {
        turns.extend(context.find_gets(shape));
    }
    let measured = sorted.entries.keys().map(|position| record_shape::record_shape(&position.cell()));
    let positions = || measured.clone().filter(|place| place.0 == shape.0);
    let by_size = positions().filter(|p| p.2 == shape.2).map(|p| (p.1.mean(), p));
    let by_count = positions().filter(|p| p.1 == shape.1).map(|p| (p.2.from as f64, p));
    let (sizes, other_sizes) = walk_outward(&context, (shape.1.mean(), shape), by_size.collect());
    let (counts, other_counts) = walk_outward(&context, (shape.2.from as f64, shape), by_count.collect());
    turns.extend(
        other_sizes.into_iter().map(|(p, other_store)| AnswerChange::Size(Box::new(p.1), other_store)),
    );
    turns.extend(other_counts.into_iter().map(|(p, other_store)| AnswerChange::Records(p.2, other_store)));
    Sensitivity {
        turns,
        sizes: sizes.into_iter().map(|position| position.1).collect(),
        counts: counts.into_iter().map(|position| position.2).collect(),
    }
}

pub(super) struct SensitivityContext<'l, 'g, 'a> {
    merged: &'l Merged<'a>,
    group: &'l Group<'a>,
    sorted: &'l SortedTrials<'g, 'a>,
    question: &'l Question,
    table: &'l [StoreDef],
    pub(super) best: &'l str,
}

pub(super) enum RecommendedStanding {
    /// The best, or too close to call with it.
    Best,
    /// Another store is better, by this factor.
    Beaten(String, Option<Ratio>),
    /// It is ruled out there, with the reason; and the best store there, if any.
    Out(String, Option<String>),
    /// It was not measured there, or no other store was.
    Unknown,
}

impl AnswerChange {
    pub fn store(&self) -> Option<&str> {
        match self {
            AnswerChange::Goal(_, store, _) => Some(store),
            AnswerChange::Gets(_, there) | AnswerChange::Size(_, there) | AnswerChange::Records(_, there) => {
                there.store.as_deref()
            }
        }
    }
}

impl<'a> SensitivityContext<'_, '_, 'a> {
    fn figures_at(&self, shape: RecordShape, mix: &Mix, goal: Goal) -> StoreFigures<'a> {
        let Some(entries) = self.sorted.entries.get(&position(shape)) else { return StoreFigures::new() };
        let mut entries = ranked_stores(entries);
        entries.retain(|store, entries| {
            !self.merged.is_harness(store)
                && self.question.allows(store)
                && fits_in_memory(entries, self.question, self.merged.memory)
        });
        // A store that is not recommended for its risk is no other answer either.
        let avoided = avoided(&entries, self.question, self.table);
        entries.retain(|store, _| !avoided.contains(&**store));
        weigh_stores(&entries, self.question, mix, goal, self.merged.memory)
    }

    pub(super) fn question_figures(&self, shape: RecordShape) -> StoreFigures<'a> {
        self.figures_at(shape, &self.question.mix, self.question.goal)
    }

    fn terms_at(&self, shape: RecordShape, mix: &Mix, goal: Goal) -> Terms {
        let entries = || {
            self.sorted.entries.get(&position(shape)).into_iter().flatten().flat_map(|(_, entries)| entries)
        };
        let headers: Vec<&RunHeader> = self.merged.runs.iter().map(|run| &run.header).collect();
        let terms = goal_terms(self.merged, mix, goal, interim::confidence(self.merged.analyses(entries())));
        terms.during(contention::find_contention(&headers, entries()), goal.is_of_time())
    }

    pub(super) fn question_terms(&self, shape: RecordShape) -> Terms {
        self.terms_at(shape, &self.question.mix, self.question.goal)
    }

    pub(super) fn standing_at(&self, shape: RecordShape) -> RecommendedStanding {
        let Some(entries) = self.sorted.entries.get(&position(shape)) else {
            return RecommendedStanding::Unknown;
        };
        let figures = self.question_figures(shape);
        if figures.contains_key(self.best) {
            if self.question_terms(shape).crowded {
                return RecommendedStanding::Unknown;
            }
            let is_rival = |store: &str| {
                store != self.best && !self.merged.is_harness(store) && self.question.allows(store)
            };
            let has_rival = entries.keys().any(|store| is_rival(store));
            return match other_winner(&figures, self.best, self.question_terms(shape)) {
                Some((store, times)) => RecommendedStanding::Beaten(store, times),
                None if has_rival => RecommendedStanding::Best,
                None => RecommendedStanding::Unknown,
            };
        }
        let omitted = || {
            let mut omitted = self.group.left_out.iter();
            let found = omitted.find(|omitted| {
                let cell = &omitted.cell;
                cell.store() == self.best && record_shape::record_shape(cell) == shape
            });
            found.map(|omitted| omitted.reason.to_string())
        };
        let why_out = |entries: &Vec<Entry<'_>>| why_out(entries, self.question, self.merged.memory);
        let reason = entries.get(self.best).map(why_out).or_else(omitted);
        let standings = decide_on(&series(&figures), Better::Lower, self.question_terms(shape));
        let best_store = standings.first().and_then(|best_store| figures.get_index(best_store.index));
        reason.map_or(RecommendedStanding::Unknown, |reason| {
            RecommendedStanding::Out(reason, best_store.map(|(store, _)| store.to_string()))
        })
    }

    /// The nearest share of gets in each direction, to one percent, at which another store is better.
    fn find_gets(&self, shape: RecordShape) -> Vec<AnswerChange> {
        let current = (self.question.mix.share(Operation::Get) * 100.0).round() as u32;
        let figures_and_terms = |percent: u32| {
            let (mix, goal) = (self.question.mix.with_gets(f64::from(percent) / 100.0)?, self.question.goal);
            Some((self.figures_at(shape, &mix, goal), self.terms_at(shape, &mix, goal)))
        };
        let nearest_change = |shares: Vec<u32>| {
            let winner = |percent| {
                figures_and_terms(percent)
                    .and_then(|(figures, terms)| other_winner(&figures, self.best, terms))
            };
            let (percent, (store, times)) =
                shares.iter().find_map(|share| Some((*share, winner(*share)?)))?;
            let is_ahead = |percent: &&u32| {
                let ratio = figures_and_terms(**percent)
                    .and_then(|(figures, _)| compare(figures.get(&*store)?, figures.get(self.best)?));
                ratio.is_some_and(|ratio| ratio.ratio.value < 1.0)
            };
            let equal_at = shares.iter().find(is_ahead).map(|percent| f64::from(*percent));
            let trials = times.map_or(0, |times| times.blocks);
            let why = OtherStoreReason::Beaten(times, equal_at);
            Some(AnswerChange::Gets(percent, OtherStore { store: Some(store), why, trials }))
        };
        let sides = [(0..current).rev().collect(), (current + 1..=100).collect()];
        sides.into_iter().filter_map(nearest_change).collect()
    }
}

fn series(figures: &StoreFigures<'_>) -> Vec<Series<BlockKey>> {
    figures.values().cloned().collect()
}

/// The best store here that beats `best` clearly, and the factor. `None` also if `best` has no figure here.
fn other_winner(figures: &StoreFigures<'_>, best: &str, terms: Terms) -> Option<(String, Option<Ratio>)> {
    let (first, times) = better_than(&series(figures), figures.get_index_of(best)?, terms)?;
    Some((figures.get_index(first)?.0.to_string(), times))
}
