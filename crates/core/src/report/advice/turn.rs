//! What would change an answer: another goal, another share of gets, other records.

use super::figures::{Here, fits, weighed};
use super::looks;
use super::question::{Goal, Mix, Question};
use crate::report::matrix::{Position, Sorted};
use crate::report::merge::{Group, Merged};
use crate::stats::{Better, Ratio, compare, decide_at};
use crate::units::{CountRange, SizeRange};
use crate::workload::driver::Operation;

/// A change of the question that changes the answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// With another goal another store is best; how many times better by that goal it is than the recommended one.
    Goal(Goal, String, Option<Ratio>),
    /// With fewer gets than this share of all operations another store is best.
    FewerGets(f64, String),
    /// With more gets than this share of all operations another store is best.
    MoreGets(f64, String),
    /// With records of another size another store is best, how many times better; and the size in bytes at which both are
    /// alike, between the two that were measured.
    Size(SizeRange, String, Option<Ratio>, Option<f64>),
    /// With another number of records, likewise.
    Records(CountRange, String, Option<Ratio>, Option<f64>),
}

/// What was measured besides the question's own place, and whether it changes the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Turns {
    /// What changes it.
    pub turns: Vec<Turn>,
    /// Other record sizes that were measured.
    pub sizes: Vec<SizeRange>,
    /// Other record counts that were measured.
    pub counts: Vec<CountRange>,
}

/// Looks for what would make another store the best than `best`.
pub fn turns(merged: &Merged<'_>, group: &Group<'_>, at: Position, question: &Question, best: &str) -> Turns {
    let sorted = Sorted::new(merged, group);
    let look = Look { merged, sorted: &sorted, question, best };
    let mut turns: Vec<Turn> = Goal::ALL
        .into_iter()
        .filter(|goal| *goal != question.goal)
        .filter_map(|goal| {
            let here = look.here(at, &question.mix, goal);
            other_winner(&here, best, look.confidence(at)).map(|(store, times)| Turn::Goal(goal, store, times))
        })
        .collect();
    if question.goal != Goal::Space && question.goal != Goal::Memory {
        turns.extend(look.gets(at));
    }
    let (mut sizes, mut counts) = (Vec::new(), Vec::new());
    for position in sorted.entries.keys().copied().filter(|position| position.0 == at.0) {
        if position.2 == at.2 && position.1 != at.1 {
            sizes.push(position.1);
            let means = (at.1.mean(), position.1.mean());
            let turn = look.elsewhere(at, position, means);
            turns.extend(turn.map(|(store, times, even)| Turn::Size(position.1, store, times, even)));
        } else if position.1 == at.1 && position.2 != at.2 {
            counts.push(position.2);
            let froms = (at.2.from as f64, position.2.from as f64);
            let turn = look.elsewhere(at, position, froms);
            turns.extend(turn.map(|(store, times, even)| Turn::Records(position.2, store, times, even)));
        }
    }
    Turns { turns, sizes, counts }
}

struct Look<'l, 'g, 'a> {
    merged: &'l Merged<'a>,
    sorted: &'l Sorted<'g, 'a>,
    question: &'l Question,
    best: &'l str,
}

impl<'a> Look<'_, '_, 'a> {
    fn here(&self, at: Position, mix: &Mix, goal: Goal) -> Here<'a> {
        let Some(entries) = self.sorted.entries.get(&at) else { return Here::new() };
        let mut entries = entries.clone();
        entries.retain(|store, entries| !self.merged.is_harness(store) && fits(entries, self.question));
        weighed(&entries, mix, goal)
    }

    /// The confidence of intervals at a position.
    fn confidence(&self, at: Position) -> f64 {
        looks::confidence(self.sorted.entries.get(&at).map_or(1, |here| looks::behind(self.merged, here)))
    }

    /// The shares of gets, to a hundredth, beyond which another store is best.
    fn gets(&self, at: Position) -> Vec<Turn> {
        let now = (self.question.mix.share(Operation::Get) * 100.0).round() as u32;
        let confidence = self.confidence(at);
        let winner = |percent: u32| {
            let mix = self.question.mix.with_gets(f64::from(percent) / 100.0)?;
            let here = self.here(at, &mix, self.question.goal);
            other_winner(&here, self.best, confidence).map(|(store, _)| store)
        };
        let fewer = (0..now).rev().find_map(|percent| Some((percent, winner(percent)?)));
        let more = (now + 1..=100).find_map(|percent| Some((percent, winner(percent)?)));
        let fewer = fewer.map(|(percent, store)| Turn::FewerGets(f64::from(percent + 1) / 100.0, store));
        let more = more.map(|(percent, store)| Turn::MoreGets(f64::from(percent - 1) / 100.0, store));
        fewer.into_iter().chain(more).collect()
    }

    /// Who is best elsewhere, if another, by how much, and where on the way both are alike.
    fn elsewhere(
        &self,
        at: Position,
        there: Position,
        (from, to): (f64, f64),
    ) -> Option<(String, Option<Ratio>, Option<f64>)> {
        let here = self.here(at, &self.question.mix, self.question.goal);
        let confidence = self.confidence(there);
        let there = self.here(there, &self.question.mix, self.question.goal);
        let (store, times) = other_winner(&there, self.best, confidence)?;
        let ratio = |place: &Here<'_>| {
            compare(place.get(store.as_str())?, place.get(self.best)?).map(|ratio| ratio.ratio.value)
        };
        let even = ratio(&here).zip(ratio(&there)).and_then(|(a, b)| even(from, to, a, b));
        Some((store, times, even))
    }
}

/// Where a ratio that is `a` at `from` and `b` at `to` is 1, if between them: both axes logarithmic.
fn even(from: f64, to: f64, a: f64, b: f64) -> Option<f64> {
    (a > 1.0 && b < 1.0).then(|| (from.ln() + (to / from).ln() * a.ln() / (a / b).ln()).exp())
}

/// The best store here, where `best` is neither it nor too close to call with it; and how many times better it is.
fn other_winner(here: &Here<'_>, best: &str, confidence: f64) -> Option<(String, Option<Ratio>)> {
    let standings = decide_at(&here.values().cloned().collect::<Vec<_>>(), Better::Lower, confidence);
    let name = |index: usize| here.get_index(index).map(|(store, _)| *store);
    let first = name(standings.first()?.index)?;
    let own = standings.iter().find(|standing| name(standing.index) == Some(best))?;
    (!own.wins).then(|| (first.to_owned(), own.times_worse))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lines_cross_where_their_ratio_is_one() {
        assert!((even(1.0, 100.0, 2.0, 0.5).unwrap() - 10.0).abs() < 1e-9);
        assert!((even(1000.0, 10.0, 10.0, 0.1).unwrap() - 100.0).abs() < 1e-9);
        assert_eq!(even(1.0, 2.0, 0.9, 0.5), None);
        assert_eq!(even(1.0, 2.0, 1.5, 1.2), None);
    }
}
