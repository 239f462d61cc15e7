//! Which store to prefer for what, and for which part of the combinations. Pure.

use storebench_core::axis::Value;
use storebench_core::cell::Axis;

use crate::data::matrix::{Contest, Figure, Matrix, Row};
use crate::judge::combinations::{self, Preferred};
use crate::judge::place::Contender;
use crate::layout::{Position, words};

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
        combinations::contender(&self.contest.contenders, store)
    }

    /// The factor by which a store is worse than the best; 1 for the best itself.
    pub fn times_worse(&self, store: &str) -> Option<f64> {
        combinations::times_worse(&self.contest.contenders, store)
    }

    /// Whether a store is the best here or too close to call with it.
    pub fn is_won_by(&self, store: &str) -> bool {
        combinations::is_won_by(&self.contest.contenders, store)
    }

    /// Its values on the axes within the matrix.
    pub fn at(&self) -> Position {
        self.row.at.joined(self.place)
    }

    fn value(&self, axis: Axis) -> Option<Value> {
        self.row.at.value(axis).or_else(|| self.place.value(axis)).cloned()
    }
}

/// The combinations of some rows in which stores can be compared: two or more have a figure, and are judged.
pub fn held<'a>(rows: &[&'a Row], matrix: &'a Matrix) -> Vec<Spot<'a>> {
    let of_row = |row: &&'a Row| {
        let row = *row;
        matrix.columns.iter().zip(&row.contests).map(move |(place, contest)| Spot { row, place, contest })
    };
    let is_held = |spot: &Spot<'_>| spot.contest.contenders.len() > 1 && !spot.contest.is_not_judged();
    rows.iter().flat_map(of_row).filter(is_held).collect()
}

/// The rankings at some combinations.
pub fn ranked<'a>(spots: &[Spot<'a>]) -> Vec<&'a [Contender]> {
    spots.iter().map(|spot| spot.contest.contenders.as_slice()).collect()
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
        combinations::most_often(&ranked(&self.spots))
    }

    /// Why the store is preferred; `None` where none is.
    pub fn why(&self) -> Option<Preferred> {
        self.store.map(|store| combinations::is_decided_for(&ranked(&self.spots), store))
    }

    /// The stores that are too close to call with it, those that are so most often first.
    pub fn rivals(&self) -> Vec<&'a str> {
        self.store.map_or_else(Vec::new, |store| combinations::rivals(&ranked(&self.spots), store))
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
    part.store.map_or(0, |store| {
        ranked(&part.spots).iter().filter(|ranked| combinations::is_near(ranked, store)).count()
    })
}

/// The combinations sorted by an axis's values, those with the same store put together.
fn parts<'a>(by: By, held: &[Spot<'a>]) -> Vec<Part<'a>> {
    let mut sorted: Vec<Spot<'a>> = held.to_vec();
    sorted.sort_by_cached_key(|spot| key(by, spot));
    let mut stretches: Vec<(Option<&'a str>, Vec<Spot<'a>>)> = Vec::new();
    for slice in sorted.chunk_by(|a, b| key(by, a) == key(by, b)) {
        let store = combinations::preferred(&ranked(slice));
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
