//! Ranks the stores that answer a question, and lists what each gives up.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use storebench_figures::data::contention;
use storebench_figures::data::matrix::{ContestantTrials as Entries, SortedTrials, ranked, ranked_stores};
use storebench_figures::data::memory::Basis;
use storebench_figures::data::merge::{BlockKey, Entry, Group, Merged, measured};
use storebench_figures::judge::contention::Contention;
use storebench_figures::judge::recommendation::{beaten_by, comparable, ranked as ranked_among};
use storebench_figures::judge::standing::Terms;
use storebench_figures::judge::{Verdict, interim, order};
use storebench_figures::stats::{Better, Series, compare_at};
use storebench_model::result::{Outcome, RunHeader, SPACE};
use storebench_model::store::StoreDef;
use storebench_model::units::rough_bytes;

use super::absent::{NOT_CHOSEN, absent, why_outgrown, why_unable};
pub use super::candidate::Candidate;
use super::candidate::CandidateContext;
use super::danger::{avoided, danger, is_avoided};
use super::figures::{Figures, StoreFigures, fits_in_memory, goal_terms, most_memory, weigh_stores};
use super::other_counts;
use super::question::{Goal, Question};
use super::record_shape::{self, RecordShape, position};
use super::settling_budget::Cost;

/// A store that does not answer, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuledOut {
    /// Its name.
    pub store: String,
    /// Why.
    pub why: String,
    /// Whether the only reason is that it was not measured.
    pub unmeasured: bool,
}

/// Why stores do not answer, grouped by reason.
pub fn reasons<'o>(out: impl IntoIterator<Item = &'o RuledOut>) -> Vec<String> {
    let mut by_reason: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for out in out {
        by_reason.entry(&out.why).or_default().push(&out.store);
    }
    by_reason.into_iter().map(|(why, stores)| format!("{}: {why}", stores.join(", "))).collect()
}

/// The judged stores at one place.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedStores {
    /// The stores that can be recommended, the best first. All their figures are from the same blocks.
    pub ranking: Vec<Candidate>,
    /// The stores that a power cut can wreck completely, the best first, in the blocks shared with the recommended one; none if allowed.
    pub riskier: Vec<Candidate>,
    /// The stores that were given up after a look, the best first; figures likewise.
    pub given_up: Vec<Candidate>,
    /// The stores that don't answer the question.
    pub out: Vec<RuledOut>,
    /// The number of looks that the intervals allow for; 1 without interim looks.
    pub looks: usize,
    /// The cost of the measurements.
    pub cost: Cost,
    /// Other programs' load, if it left too few processors: then no store is called faster.
    pub contention: Option<Contention>,
}

impl JudgedStores {
    /// All stores that were measured for the question.
    pub fn all(&self) -> impl Iterator<Item = &Candidate> {
        self.ranking.iter().chain(&self.riskier).chain(&self.given_up)
    }
}

pub(super) fn rank(
    merged: &Merged<'_>,
    group: &Group<'_>,
    shape: RecordShape,
    question: &Question,
    table: &[StoreDef],
) -> JudgedStores {
    let sorted = SortedTrials::new(merged, group);
    let basis = merged.memory;
    let empty = IndexMap::new();
    let tested = sorted.entries.get(&position(shape)).unwrap_or(&empty);
    let eligible = answering(merged, tested, question, table);
    let looks = merged.analyses(tested.values().flatten());
    let confidence = interim::confidence(looks);
    let headers: Vec<&RunHeader> = merged.runs.iter().map(|run| &run.header).collect();
    let contention = contention::find_contention(&headers, tested.values().flatten());
    let judging = JudgingContext {
        context: CandidateContext { question, basis, confidence },
        terms: &|goal| {
            let terms = goal_terms(merged, &question.mix, goal, confidence);
            terms.during(contention, goal.is_of_time())
        },
        by_goal: Goal::ALL
            .into_iter()
            .map(|goal| (goal, weigh_stores(&eligible, question, &question.mix, goal, basis)))
            .collect(),
        eligible: &eligible,
        table,
    };
    let avoided = avoided(&eligible, question, table);
    let (mut ranking, mut given_up) = judging.rank_and_split(&avoided, true);
    if given_up.iter().any(|store| store.is_better_at(question.goal)) {
        (ranking, given_up) = judging.rank_and_split(&avoided, false);
    }
    let mut riskier = match ranking.first() {
        Some(best) => judging.compare_with_best(&best.store, &mut avoided.iter().map(String::as_str)),
        None => Vec::new(),
    };
    if let Some(best) = ranking.first() {
        let found = other_counts::find_candidates(merged, &sorted, shape, (question, table), &best.store);
        let (risky, others): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|store| is_avoided(store, question));
        riskier.extend(risky);
        given_up.extend(others);
    }
    riskier.iter_mut().for_each(|store| store.verdict = Verdict::Dangerous);
    let answered =
        ranking.iter().chain(&riskier).chain(&given_up).map(|store| store.store.as_str()).collect();
    let out = unanswered_stores(merged, group, shape, question, table, answered);
    let cost = Cost::measure(merged, &ranking, tested);
    JudgedStores { ranking, riskier, given_up, out, looks, cost, contention }
}

/// The stores of a position that answer the question, with the trials that count.
pub(super) fn answering<'a>(
    merged: &Merged<'_>,
    tested: &Entries<'a>,
    question: &Question,
    table: &[StoreDef],
) -> Entries<'a> {
    let mut eligible = ranked_stores(tested);
    eligible.retain(|store, entries| {
        !merged.is_harness(store)
            && question.allows(store)
            && why_outgrown(table, store, question).is_none()
            && fits_in_memory(entries, question, merged.memory)
            && measured(entries)
                .iter()
                .any(|(_, m)| Figures::from_trial(m, &question.mix, merged.memory).is_some())
    });
    eligible
}

/// The terms and figures by which the stores of a position are judged.
struct JudgingContext<'j, 'a> {
    context: CandidateContext<'j>,
    terms: &'j dyn Fn(Goal) -> Terms,
    by_goal: IndexMap<Goal, StoreFigures<'a>>,
    eligible: &'j Entries<'a>,
    table: &'j [StoreDef],
}

impl JudgingContext<'_, '_> {
    /// The ranking of the stores that are not `avoided`, and those given up: with `often`, also those that were measured seldom.
    fn rank_and_split(&self, avoided: &BTreeSet<String>, often: bool) -> (Vec<Candidate>, Vec<Candidate>) {
        let (shared, stores) = self.comparable_stores(avoided, often);
        let ranking = self.ranking(&shared, &stores);
        let is_given_up =
            |store: &&str| !avoided.contains(*store) && !stores.iter().any(|other| other == store);
        let given_up = match ranking.first() {
            Some(best) => self.compare_with_best(
                &best.store,
                &mut self.eligible.keys().map(|store| &**store).filter(is_given_up),
            ),
            None => Vec::new(),
        };
        (ranking, given_up)
    }

    /// The blocks of all figures in the ranking, and the stores that have them.
    fn comparable_stores(
        &self,
        avoided: &BTreeSet<String>,
        often: bool,
    ) -> (BTreeSet<BlockKey>, Vec<String>) {
        let goal = self.context.question.goal;
        // Stores that are exactly equal by the goal, as with next to no memory, are ordered by speed.
        let speed = &self.by_goal[&Goal::Speed];
        let quickest_first = order::ordered(&speed.values().cloned().collect::<Vec<_>>(), Better::Lower);
        let names =
            quickest_first.into_iter().filter_map(|index| Some(speed.get_index(index)?.0.to_string()));
        let by_goal = &self.by_goal[&goal];
        let names: Vec<String> =
            names.filter(|store| !avoided.contains(store) && by_goal.contains_key(store.as_str())).collect();
        let weights: Vec<&Series<BlockKey>> = names.iter().map(|store| &by_goal[store.as_str()]).collect();
        let (shared, indices) = comparable(&weights, often);
        (shared, indices.into_iter().map(|index| names[index].clone()).collect())
    }

    fn series_in(&self, store: &str, goal: Goal, blocks: &BTreeSet<BlockKey>) -> Series<BlockKey> {
        let series = self.by_goal[&goal].get(store).into_iter().flatten();
        series.filter(|(block, _)| blocks.contains(block)).map(|(block, value)| (*block, *value)).collect()
    }

    fn ranking(&self, shared: &BTreeSet<BlockKey>, stores: &[String]) -> Vec<Candidate> {
        let goal = self.context.question.goal;
        let by_goal: IndexMap<Goal, StoreFigures<'_>> = Goal::ALL
            .into_iter()
            .map(|goal| {
                let series = |store: &String| (store.clone().into(), self.series_in(store, goal, shared));
                (goal, stores.iter().map(series).collect())
            })
            .collect();
        let series = |goal: Goal| -> Vec<Series<BlockKey>> { by_goal[&goal].values().cloned().collect() };
        let aims = [Goal::Speed, Goal::Space, Goal::Memory].map(|goal| (series(goal), (self.terms)(goal)));
        let beaten_by = beaten_by(&aims);
        let safety = |store: &String| {
            let danger = danger(self.table, store, self.eligible.get(store.as_str())?)?;
            Some((danger.power_cut, danger.kill))
        };
        let safety: Vec<_> = stores.iter().map(safety).collect();
        let standings = ranked_among(&series(goal), (self.terms)(goal), &beaten_by, &safety);
        let Some(best) = standings.first().and_then(|first| stores.get(first.index)) else {
            return Vec::new();
        };
        let mut ranking = Vec::new();
        for standing in &standings {
            let store = &stores[standing.index];
            let entries = &self.eligible[store.as_str()];
            let danger = danger(self.table, store, entries);
            let Some(candidate) = self.context.candidate(store, entries, shared, danger) else { continue };
            ranking.push(Candidate {
                times_worse: standing.times_worse,
                verdict: standing.verdict,
                against_best: self.context.ratios_to_best(best, store, &by_goal),
                beaten_by: beaten_by[standing.index].map(|other| stores[other].clone()),
                ..candidate
            });
        }
        ranking
    }

    /// Stores compared with the recommended one in the blocks of both, the best first; without a common block last.
    fn compare_with_best(&self, best: &str, stores: &mut dyn Iterator<Item = &str>) -> Vec<Candidate> {
        compare_with_best(&self.context, (self.eligible, &self.by_goal), self.table, best, stores)
    }
}

/// Stores compared with the recommended one in the blocks of both, the best first; without a common block last.
pub(super) fn compare_with_best(
    context: &CandidateContext<'_>,
    (eligible, by_goal): (&Entries<'_>, &IndexMap<Goal, StoreFigures<'_>>),
    table: &[StoreDef],
    best: &str,
    stores: &mut dyn Iterator<Item = &str>,
) -> Vec<Candidate> {
    let weights = &by_goal[&context.question.goal];
    let compare = |store: &str| {
        let entries = eligible.get(store)?;
        let own_blocks: BTreeSet<BlockKey> = weights.get(store)?.keys().copied().collect();
        let best_blocks: BTreeSet<BlockKey> = weights.get(best)?.keys().copied().collect();
        let shared = &own_blocks & &best_blocks;
        let blocks = if shared.is_empty() { &own_blocks } else { &shared };
        let candidate = context.candidate(store, entries, blocks, danger(table, store, entries))?;
        Some(Candidate {
            times_worse: compare_at(weights.get(store)?, weights.get(best)?, context.confidence),
            against_best: context.ratios_to_best(best, store, by_goal),
            ..candidate
        })
    };
    let mut candidates: Vec<Candidate> = stores.filter_map(compare).collect();
    let times = |store: &Candidate| store.times_worse.map_or(f64::INFINITY, |ratio| ratio.ratio.value);
    candidates.sort_by(|a, b| times(a).total_cmp(&times(b)));
    candidates
}

fn unanswered_stores(
    merged: &Merged<'_>,
    group: &Group<'_>,
    shape: RecordShape,
    question: &Question,
    table: &[StoreDef],
    answered: BTreeSet<&str>,
) -> Vec<RuledOut> {
    let sorted = SortedTrials::new(merged, group);
    let tried = sorted.entries.get(&position(shape)).into_iter().flatten();
    let tried = tried.filter(|(store, _)| !merged.is_harness(store) && !answered.contains(&***store));
    let mut out: Vec<RuledOut> = tried
        .map(|(store, entries)| RuledOut {
            store: store.to_string(),
            why: match why_outgrown(table, store, question) {
                _ if !question.allows(store) => NOT_CHOSEN.to_owned(),
                outgrown => outgrown.unwrap_or_else(|| why_out(entries, question, merged.memory)),
            },
            unmeasured: false,
        })
        .collect();
    for omitted in &group.left_out {
        let cell = &omitted.cell;
        let is_missing = record_shape::record_shape(cell) == shape && question.allows(cell.store());
        if is_missing && !answered.contains(cell.store()) && out.iter().all(|out| out.store != cell.store()) {
            let why = cell.guarantee().tier().and_then(|tier| why_unable(table, cell.store(), tier));
            out.push(RuledOut {
                store: cell.store().to_owned(),
                why: why.unwrap_or_else(|| omitted.reason.to_string()),
                unmeasured: false,
            });
        }
    }
    let known_stores: BTreeSet<&str> =
        answered.iter().copied().chain(out.iter().map(|out| out.store.as_str())).collect();
    let absent = absent(merged, group, shape, question, table, &known_stores);
    out.extend(absent);
    out
}

/// Why a store with these trials does not answer a question.
pub(super) fn why_out(entries: &[Entry<'_>], question: &Question, basis: Basis) -> String {
    if !fits_in_memory(entries, question, basis) {
        let peak = most_memory(entries, basis).unwrap_or(0);
        let basis_words =
            if basis == Basis::Resident { String::new() } else { format!(" {}", basis.describe()) };
        return format!("took up to {} of memory{basis_words}", rough_bytes(peak as f64));
    }
    if ranked(entries).is_empty()
        && let Some(why) = entries.iter().find_map(Entry::not_ranked)
    {
        return format!("{why}, not ranked (docs/building.md)");
    }
    let failure = entries.iter().find_map(|entry| why_no_figures(&entry.trial.outcome));
    let warning = || measured(entries).into_iter().find_map(|(_, m)| m.warning(SPACE).map(str::to_owned));
    failure.or_else(warning).unwrap_or_else(|| "not every operation of the mix was measured".into())
}

/// Why a trial gave no figures; `None` if it did.
pub(super) fn why_no_figures(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Failed { message, .. } => Some(format!("failed: {message}")),
        Outcome::Unsupported { message } => Some(message.clone()),
        Outcome::Ok => None,
    }
}

#[cfg(test)]
mod tests;
