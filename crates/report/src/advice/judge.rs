//! Which store answers a question best, who comes next, and what each gives up.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use storebench_core::result::{Outcome, SPACE};
use storebench_core::store::{Guarantee, Setting, StoreDef};
use storebench_core::units::rough_bytes;
use storebench_core::workload::operation::Operation;

use super::absent::{NOT_CHOSEN, absent, unable};
use super::at::{self, At, position};
use super::figures::{Figures, Here, fits, most_memory, terms, weighed, within};
use super::question::{Goal, Question};
use crate::column::MEAN_LATENCY;
use crate::data::looks;
use crate::data::matrix::{Sorted, ranked, ranked_stores, series};
use crate::data::memory::Basis;
use crate::data::merge::{BlockKey, Entry, Group, Merged, measured};
use crate::stats::{Better, Ratio, Rule, Series, Summary, Terms, compare_at, decide_on, order};

/// A store that was measured for a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its name.
    pub store: String,
    /// Its engine's version.
    pub version: String,
    /// The guarantee that it gave: the one asked for, or the next stronger where it does not offer that one.
    pub guarantee: Guarantee,
    /// Whether it was measured often enough to be the best; one that was given up after the first look was not.
    pub finalist: bool,
    /// Mean latency of each operation of the mix, in nanoseconds.
    pub operations: Vec<(Operation, Summary)>,
    /// The mean time of an operation of the mix, in nanoseconds.
    pub speed: Summary,
    /// Bytes on disk over bytes of values.
    pub space: Summary,
    /// Peak memory, in bytes, by [`Merged::memory`].
    pub memory: Summary,
    /// How many times worse by the goal than the recommended store; absent for that one, and where the two share no block.
    pub times_worse: Option<Ratio>,
    /// Whether it is the best by the goal, or too close to call with it.
    pub wins: bool,
    /// What decided that.
    pub rule: Option<Rule>,
    /// How many times its speed, space and memory are those of the recommended store: over 1 is worse.
    pub against_best: Vec<(Goal, Option<Ratio>)>,
    /// A store that is better at speed, space or memory, and at which this one is better at none, so that it is not on the
    /// Pareto front.
    pub beaten_by: Option<String>,
    /// Its settings as they were read back.
    pub settings: Vec<Setting>,
}

/// A store that is out of the question, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Out {
    /// Its name.
    pub store: String,
    /// Why.
    pub why: String,
}

/// Why stores are out of the question: those with the same reason together.
pub fn reasons(out: &[Out]) -> Vec<String> {
    let mut by_reason: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for out in out {
        by_reason.entry(&out.why).or_default().push(&out.store);
    }
    by_reason.into_iter().map(|(why, stores)| format!("{}: {why}", stores.join(", "))).collect()
}

/// The stores at one place, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Those that answer the question, the best first.
    pub ranking: Vec<Candidate>,
    /// Those that don't.
    pub out: Vec<Out>,
    /// How many looks at the figures the intervals allow for; 1 where nobody looked before the end.
    pub looks: usize,
}

/// Judges the stores at a position of a group.
pub fn judge(
    merged: &Merged<'_>,
    group: &Group<'_>,
    at: At,
    question: &Question,
    table: &[StoreDef],
) -> Verdict {
    let sorted = Sorted::new(merged, group);
    let basis = merged.memory;
    let none = IndexMap::new();
    let all = sorted.entries.get(&position(at)).unwrap_or(&none);
    let mut here = ranked_stores(all);
    here.retain(|store, entries| {
        !merged.is_harness(store)
            && question.allows(store)
            && fits(entries, question, basis)
            && measured(entries).iter().any(|(_, m)| Figures::of(m, &question.mix, basis).is_some())
    });
    let by_goal: IndexMap<Goal, Here<'_>> =
        Goal::ALL.into_iter().map(|goal| (goal, weighed(&here, &question.mix, goal, basis))).collect();
    // Of stores that are exactly alike by the goal, as those with next to no memory are, the quickest comes first.
    let speed = &by_goal[&Goal::Speed];
    let quickest_first = order::ordered(&speed.values().cloned().collect::<Vec<_>>(), Better::Lower);
    let names = quickest_first.into_iter().filter_map(|index| Some(speed.get_index(index)?.0.clone()));
    let weights: Here<'_> = names
        .filter_map(|store| {
            let weight = by_goal[&question.goal].get(&store)?.clone();
            Some((store, weight))
        })
        .collect();
    let looks = looks::behind(merged, all);
    let confidence = looks::confidence(looks);
    let series: Vec<Series<BlockKey>> = weights.values().cloned().collect();
    let finalists = order::may_win(&series);
    let terms_of = |goal| terms(merged, &question.mix, goal, confidence);
    let standings = decide_on(&series, Better::Lower, terms_of(question.goal));
    let best = standings.first().and_then(|first| weights.get_index(first.index)).map(|(store, _)| &**store);
    let mut ranking: Vec<Candidate> = Vec::new();
    for standing in standings {
        let Some((store, _)) = weights.get_index(standing.index) else { continue };
        let made = candidate(store, &here[store], question, (basis, confidence));
        let Some(mut candidate) = made else { continue };
        candidate.times_worse = standing.times_worse;
        candidate.finalist = finalists[standing.index];
        (candidate.wins, candidate.rule) = (standing.wins && candidate.finalist, standing.rule);
        candidate.against_best = against(best, store, &by_goal, confidence);
        ranking.push(candidate);
    }
    mark_front(&mut ranking, &by_goal, &terms_of);
    let answered = ranking.iter().map(|candidate| candidate.store.as_str()).collect();
    let out = left(merged, group, at, question, table, answered);
    Verdict { ranking, out, looks }
}

/// The stores without an answer, and why.
fn left(
    merged: &Merged<'_>,
    group: &Group<'_>,
    at: At,
    question: &Question,
    table: &[StoreDef],
    answered: BTreeSet<&str>,
) -> Vec<Out> {
    let sorted = Sorted::new(merged, group);
    let tried = sorted.entries.get(&position(at)).into_iter().flatten();
    let tried = tried.filter(|(store, _)| !merged.is_harness(store) && !answered.contains(&***store));
    let mut out: Vec<Out> = tried
        .map(|(store, entries)| Out {
            store: store.to_string(),
            why: if question.allows(store) {
                why_out(entries, question, merged.memory)
            } else {
                NOT_CHOSEN.to_owned()
            },
        })
        .collect();
    for omitted in &group.left_out {
        let cell = &omitted.cell;
        let here = at::at(cell) == at && question.allows(cell.store());
        if here && !answered.contains(cell.store()) && out.iter().all(|out| out.store != cell.store()) {
            let why = cell.guarantee().tier().and_then(|tier| unable(table, cell.store(), tier));
            out.push(Out {
                store: cell.store().to_owned(),
                why: why.unwrap_or_else(|| omitted.reason.to_owned()),
            });
        }
    }
    let known: BTreeSet<&str> =
        answered.iter().copied().chain(out.iter().map(|out| out.store.as_str())).collect();
    let absent = absent(merged, group, at, question, table, &known);
    out.extend(absent);
    out
}

fn candidate(
    store: &str,
    entries: &[Entry<'_>],
    question: &Question,
    (basis, confidence): (Basis, f64),
) -> Option<Candidate> {
    let trials = measured(entries);
    let figures: Vec<Figures> =
        trials.iter().filter_map(|(_, m)| Figures::of(m, &question.mix, basis)).collect();
    let summary =
        |value: fn(&Figures) -> f64| Summary::at(&figures.iter().map(value).collect::<Vec<_>>(), confidence);
    let latency = |operation: Operation| {
        let values: Vec<f64> = series(entries, operation.name(), &MEAN_LATENCY).into_values().collect();
        Some((operation, Summary::of(&values)?))
    };
    let (_, last) = trials.last()?;
    Some(Candidate {
        store: store.to_owned(),
        version: last.store_version.clone(),
        guarantee: last.guarantee,
        finalist: false,
        operations: question.mix.shares().iter().filter_map(|(operation, _)| latency(*operation)).collect(),
        speed: summary(|figures| figures.speed_ns)?,
        space: summary(|figures| figures.space)?,
        memory: summary(|figures| figures.memory_bytes)?,
        times_worse: None,
        wins: false,
        rule: None,
        against_best: Vec::new(),
        beaten_by: None,
        settings: last.settings.clone(),
    })
}

fn against(
    best: Option<&str>,
    store: &str,
    by_goal: &IndexMap<Goal, Here<'_>>,
    confidence: f64,
) -> Vec<(Goal, Option<Ratio>)> {
    let Some(best) = best.filter(|best| *best != store) else { return Vec::new() };
    let ratio = |here: &Here<'_>| compare_at(here.get(store)?, here.get(best)?, confidence);
    [Goal::Speed, Goal::Space, Goal::Memory].into_iter().map(|goal| (goal, ratio(&by_goal[&goal]))).collect()
}

/// Says of each store whether another is no worse at anything and better at something, by the rule that decides winners:
/// what is too close to call counts as alike.
fn mark_front(
    ranking: &mut [Candidate],
    by_goal: &IndexMap<Goal, Here<'_>>,
    terms_of: &dyn Fn(Goal) -> Terms,
) {
    let names: Vec<String> = ranking.iter().map(|candidate| candidate.store.clone()).collect();
    let better = |a: &str, b: &str| {
        let one = |goal: Goal| {
            let (a, b) = (by_goal[&goal].get(a)?, by_goal[&goal].get(b)?);
            let standings = decide_on(&[within(a, b), within(b, a)], Better::Lower, terms_of(goal));
            Some(standings.first()?.index == 0 && !standings.get(1)?.wins)
        };
        [Goal::Speed, Goal::Space, Goal::Memory].into_iter().any(|goal| one(goal) == Some(true))
    };
    for candidate in ranking {
        let own = candidate.store.as_str();
        candidate.beaten_by = names.iter().find(|other| better(other, own) && !better(own, other)).cloned();
    }
}

/// Why a store with these trials does not answer a question.
pub(super) fn why_out(entries: &[Entry<'_>], question: &Question, basis: Basis) -> String {
    if !fits(entries, question, basis) {
        let peak = most_memory(entries, basis).unwrap_or(0);
        let by = if basis == Basis::Resident { String::new() } else { format!(" {}", basis.words()) };
        return format!("took {} of memory{by}", rough_bytes(peak as f64));
    }
    if ranked(entries).is_empty()
        && let Some(why) = entries.iter().find_map(Entry::not_ranked)
    {
        return format!("{why}, not ranked (docs/building.md)");
    }
    let said = entries.iter().find_map(|entry| match &entry.trial.outcome {
        Outcome::Failed { message, .. } => Some(format!("failed: {message}")),
        Outcome::Unsupported { message } => Some(message.clone()),
        Outcome::Ok => None,
    });
    let doubted = || measured(entries).into_iter().find_map(|(_, m)| m.doubt(SPACE).map(str::to_owned));
    said.or_else(doubted).unwrap_or_else(|| "not every operation of the mix was measured".into())
}

#[cfg(test)]
mod tests;
