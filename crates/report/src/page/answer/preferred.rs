//! Which store to prefer for what, and for which part of the combinations. Pure.

use indexmap::IndexMap;
use storebench_core::axis::Value;
use storebench_core::cell::Axis;

use crate::data::matrix::{Contender, Contest, Figure, Matrix, Row};
use crate::layout::{Position, words};
use crate::stats::{Better, Estimate, Series, decide, geometric_mean};

/// A store that is at most so many times worse than the best is near it.
const NEAR: f64 = 1.2;
/// Parts of the combinations that an answer may have; with more it would be a list of winners.
const MOST_PARTS: usize = 4;
/// The share of the combinations that a further part must decide, to be worth its words.
const WORTH: f64 = 0.1;

/// A combination, such as of record size, record count and data, and how the stores did there.
#[derive(Debug, Clone, Copy)]
pub struct Spot<'a> {
    /// The row of the matrix.
    pub row: &'a Row,
    /// The column.
    pub place: &'a Position,
    /// The contest where they meet.
    pub contest: &'a Contest,
}

impl<'a> Spot<'a> {
    /// A store's figure here.
    pub fn contender(&self, store: &str) -> Option<&'a Contender> {
        self.contest.contenders.iter().find(|contender| contender.store == store)
    }

    /// The factor by which a store is worse than the best; 1 for the best itself.
    pub fn times_worse(&self, store: &str) -> Option<f64> {
        let position = self.contest.contenders.iter().position(|contender| contender.store == store)?;
        if position == 0 {
            return Some(1.0);
        }
        Some(self.contest.contenders[position].times_worse?.ratio.value)
    }

    /// Whether a store is the best here or too close to call with it.
    pub fn is_won_by(&self, store: &str) -> bool {
        self.contender(store).is_some_and(|contender| contender.wins)
    }

    fn is_near(&self, store: &str) -> bool {
        self.is_won_by(store) || self.times_worse(store).is_some_and(|times| times <= NEAR)
    }

    /// Its values on the axes within the matrix.
    pub fn at(&self) -> Position {
        self.row.at.joined(self.place)
    }

    fn value(&self, axis: Axis) -> Option<Value> {
        self.row.at.value(axis).or_else(|| self.place.value(axis)).cloned()
    }
}

/// The combinations of some rows in which stores can be compared: two or more have a figure.
pub fn held<'a>(rows: &[&'a Row], matrix: &'a Matrix) -> Vec<Spot<'a>> {
    let of_row = |row: &&'a Row| {
        let row = *row;
        matrix.columns.iter().zip(&row.contests).map(move |(place, contest)| Spot { row, place, contest })
    };
    rows.iter().flat_map(of_row).filter(|spot| spot.contest.contenders.len() > 1).collect()
}

/// The way in which an answer is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Nothing: it holds throughout.
    Whole,
    /// An axis within the matrix.
    Axis(Axis),
}

/// Combinations with one answer.
#[derive(Debug)]
pub struct Part<'a> {
    /// The store to prefer; `None` where none is best throughout.
    pub store: Option<&'a str>,
    /// Which of the axis's values they have, in words; nothing where they are all.
    pub range: String,
    /// Neighbours on the axis that it is made of.
    stretches: usize,
    /// The combinations.
    pub spots: Vec<Spot<'a>>,
}

impl<'a> Part<'a> {
    /// The store that won the most combinations, alone or with others, and how many.
    pub fn most_often(&self) -> Option<(&'a str, usize)> {
        most_often(&self.spots)
    }

    /// Whether the store is the best by itself anywhere, or is preferred for being near the best.
    pub fn is_decided(&self) -> bool {
        let Some(store) = self.store else { return false };
        let won: Vec<&Spot<'_>> = self.spots.iter().filter(|spot| spot.is_won_by(store)).collect();
        won.len() * 2 < self.spots.len() || won.iter().any(|spot| spot.contest.winners().count() == 1)
    }

    /// The stores that are too close to call with it, those that are so most often first.
    pub fn rivals(&self) -> Vec<&'a str> {
        let Some(store) = self.store else { return Vec::new() };
        let mut tally: IndexMap<&str, usize> = IndexMap::new();
        for spot in self.spots.iter().filter(|spot| spot.is_won_by(store)) {
            let others = spot.contest.winners().filter(|winner| winner.store != store);
            others.for_each(|winner| *tally.entry(&winner.store).or_default() += 1);
        }
        tally.sort_by_cached_key(|_, times| std::cmp::Reverse(*times));
        tally.into_keys().collect()
    }
}

/// The answer on one figure.
#[derive(Debug)]
pub struct Verdict<'a> {
    /// The figure.
    pub figure: &'a Figure,
    /// The axis in which its parts differ, if it has several.
    pub by: By,
    /// Its parts; none where no two stores were measured at the same combination.
    pub parts: Vec<Part<'a>>,
}

impl<'a> Verdict<'a> {
    /// The verdict on the rows of one figure: the fewest parts that decide the most combinations.
    pub fn of(figure: &'a Figure, rows: &[&'a Row], matrix: &'a Matrix) -> Verdict<'a> {
        let held = held(rows, matrix);
        let mut best = (By::Whole, Vec::new(), f64::NEG_INFINITY);
        for by in ways(matrix) {
            let parts = parts(by, &held);
            let stretches: usize = parts.iter().map(|part| part.stretches).sum();
            let decided: usize = parts.iter().map(credit).sum();
            let worth = decided as f64 - WORTH * held.len() as f64 * stretches as f64;
            if stretches <= MOST_PARTS && worth > best.2 {
                best = (by, parts, worth);
            }
        }
        Verdict { figure, by: best.0, parts: best.1 }
    }
}

/// The ways to split an answer: none, and by each axis within the matrix, in the order in which sentences name them.
fn ways(matrix: &Matrix) -> Vec<By> {
    let positions = matrix.rows.iter().map(|row| &row.at).chain(&matrix.columns);
    let mut axes: Vec<Axis> = positions.flat_map(Position::axes).collect();
    axes.sort_by_key(|axis| (axis.place_in_id(), *axis));
    axes.dedup();
    std::iter::once(By::Whole).chain(axes.into_iter().map(By::Axis)).collect()
}

/// The combinations in which the preferred store is the best or near it.
fn credit(part: &Part<'_>) -> usize {
    part.store.map_or(0, |store| part.spots.iter().filter(|spot| spot.is_near(store)).count())
}

/// The combinations sorted by an axis's values, those with the same store put together.
fn parts<'a>(by: By, held: &[Spot<'a>]) -> Vec<Part<'a>> {
    let mut sorted: Vec<Spot<'a>> = held.to_vec();
    sorted.sort_by_cached_key(|spot| key(by, spot));
    let mut stretches: Vec<(Option<&'a str>, Vec<Spot<'a>>)> = Vec::new();
    for slice in sorted.chunk_by(|a, b| key(by, a) == key(by, b)) {
        let store = preferred(slice);
        match stretches.last_mut() {
            Some((last, spots)) if *last == store => spots.extend(slice),
            _ => stretches.push((store, slice.to_vec())),
        }
    }
    let whole = stretches.len() == 1;
    let mut parts: Vec<Part<'a>> = Vec::new();
    for (store, spots) in stretches {
        let range = if whole { String::new() } else { range(by, &spots) };
        match parts.iter_mut().find(|part| part.store == store) {
            Some(part) => {
                part.range.push_str(&format!(" and {range}"));
                part.stretches += 1;
                part.spots.extend(spots);
            }
            None => parts.push(Part { store, range, stretches: 1, spots }),
        }
    }
    parts
}

/// The value that tells a combination's slice from the others.
fn key(by: By, spot: &Spot<'_>) -> Option<Value> {
    match by {
        By::Whole => None,
        By::Axis(axis) => spot.value(axis),
    }
}

/// The values of an axis that neighbouring combinations have.
fn range(by: By, spots: &[Spot<'_>]) -> String {
    let By::Axis(axis) = by else { return String::new() };
    let mut values: Vec<Value> = spots.iter().filter_map(|spot| spot.value(axis)).collect();
    values.dedup();
    words::together(axis, &values)
}

/// The number of combinations that each store won, alone or with others.
fn wins<'a>(spots: &[Spot<'a>]) -> IndexMap<&'a str, usize> {
    let mut tally: IndexMap<&str, usize> = IndexMap::new();
    for winner in spots.iter().flat_map(|spot| spot.contest.winners()) {
        *tally.entry(&winner.store).or_default() += 1;
    }
    tally
}

/// The store that won the most of them, alone or with others, and how many.
pub fn most_often<'a>(spots: &[Spot<'a>]) -> Option<(&'a str, usize)> {
    wins(spots).into_iter().reduce(|best, other| if other.1 > best.1 { other } else { best })
}

/// The store that wins at least half of the combinations, or else stays near the best; `None` where none does.
fn preferred<'a>(spots: &[Spot<'a>]) -> Option<&'a str> {
    let wins = wins(spots);
    let most = wins.values().copied().max()?;
    if most * 2 >= spots.len() {
        let leading: Vec<&str> =
            wins.iter().filter(|(_, wins)| **wins == most).map(|(store, _)| *store).collect();
        return nearest(spots, &leading).map(|nearest| nearest.store).or_else(|| leading.first().copied());
    }
    let nearest = nearest(spots, &measured_in_half(spots))?;
    let own: Vec<f64> = spots.iter().filter_map(|spot| spot.times_worse(nearest.store)).collect();
    (nearest.times.value <= NEAR && geometric_mean(&own).is_some_and(|mean| mean.value <= NEAR))
        .then_some(nearest.store)
}

/// The stores that have a figure in at least half of the combinations.
fn measured_in_half<'a>(spots: &[Spot<'a>]) -> Vec<&'a str> {
    let mut tally: IndexMap<&str, usize> = IndexMap::new();
    for spot in spots {
        let known = spot.contest.contenders.iter().filter(|c| spot.times_worse(&c.store).is_some());
        known.for_each(|contender| *tally.entry(&contender.store).or_default() += 1);
    }
    tally.into_iter().filter(|(_, times)| times * 2 >= spots.len()).map(|(store, _)| store).collect()
}

/// The store that is best overall.
#[derive(Debug)]
pub struct Nearest<'a> {
    /// Its name.
    pub store: &'a str,
    /// The factor by which it is worse than the best, as a geometric mean, with its interval over the combinations.
    pub times: Estimate,
    /// Stores that are too close to call with it over the combinations.
    pub tied: Vec<&'a str>,
    /// Over how many combinations: those in which all stores that it was compared with have a figure.
    pub shared: usize,
}

/// Of some stores the one that is best overall, over the combinations in which all of them have a figure, so that what
/// was not measured speaks for none of them.
fn nearest<'a>(spots: &[Spot<'a>], stores: &[&'a str]) -> Option<Nearest<'a>> {
    let ratios = |spot: &Spot<'_>| -> Option<Vec<f64>> {
        stores.iter().map(|store| spot.times_worse(store)).collect()
    };
    let shared: Vec<Vec<f64>> = spots.iter().filter_map(ratios).collect();
    let own = |index: usize| shared.iter().map(move |ratios| ratios[index]).enumerate();
    let series: Vec<Series<usize>> = (0..stores.len()).map(|index| own(index).collect()).collect();
    // Combinations take the place of blocks: what is better in most, by enough, is better overall.
    let mut standings = decide(&series, Better::Lower).into_iter();
    let best = standings.next()?;
    let tied = standings.filter(|standing| standing.wins).map(|standing| stores[standing.index]);
    let times = best.figure.mean;
    Some(Nearest { store: stores[best.index], times, tied: tied.collect(), shared: shared.len() })
}

/// The store that is best over all combinations, of those measured in at least half of them.
pub fn nearest_of_all<'a>(spots: &[Spot<'a>]) -> Option<Nearest<'a>> {
    nearest(spots, &measured_in_half(spots))
}
