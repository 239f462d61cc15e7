//! Where, among what runs have measured, a question is answered.

use std::fmt;

use super::Here;
use super::judge::{Out, reasons};
use super::question::Question;
use crate::cell::{Axis, Cell};
use crate::report::grid::one_line;
use crate::report::matrix::Position;
use crate::report::merge::{Group, GroupKey, Merged};
use crate::units::{CountRange, SizeRange, grouped};

/// How many times more or fewer records than asked for may have been measured.
const NEAR: f64 = 4.0;

/// Combinations that are named where none covers a question.
const NAMED: usize = 5;

/// What of a question runs do not cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Uncovered {
    /// No trial was made at its guarantee, with its threads, as shipped, undisturbed.
    Group(String),
    /// The trials were made on several machines or in several places, which can't be compared.
    Several(Vec<String>),
    /// No trial had records of its kind, size and number; what there is, the nearest first.
    Place(Vec<String>),
    /// No store is left, and why.
    NoStore(Vec<Out>),
}

impl fmt::Display for Uncovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&self.in_words()))
    }
}

impl Uncovered {
    fn in_words(&self) -> String {
        match self {
            Uncovered::Group(what) => format!("no trial was made {what}"),
            Uncovered::Several(places) => {
                format!("the trials were made in several places, name runs of one: {}", places.join("; "))
            }
            Uncovered::Place(there) => {
                let nearest = there.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join("; ");
                match there.len() {
                    0 => "no trial had such records; measured were none of that kind".to_owned(),
                    1..=NAMED => format!("no trial had such records; measured were {nearest}"),
                    all => format!(
                        "no trial had such records; measured were {all} combinations, the nearest {nearest}"
                    ),
                }
            }
            Uncovered::NoStore(out) => {
                format!("no store answers the question: {}", reasons(out).join("; "))
            }
        }
    }
}

/// The group and the position that cover a question, the nearest to it; or the one that was made for it.
pub fn find<'m, 'a>(
    question: &Question,
    merged: &'m Merged<'a>,
    here: Option<Here>,
) -> Result<(&'m Group<'a>, Position), Uncovered> {
    let groups: Vec<&Group<'a>> =
        merged.groups.iter().filter(|group| is_plain(&group.key, question)).collect();
    let group = match groups.as_slice() {
        [] => {
            return Err(Uncovered::Group(format!(
                "at guarantee {} with {} thread(s), caches as shipped and nothing beside it",
                question.guarantee, question.threads
            )));
        }
        [group] => *group,
        several => {
            let name = |group: &&Group<'_>| format!("{}, {}", group.key.hardware, merged.label(&group.key));
            return Err(Uncovered::Several(several.iter().map(name).collect()));
        }
    };
    let mut positions: Vec<Position> = group
        .trials
        .iter()
        .map(|entry| &entry.trial.cell)
        .filter(|cell| cell.data == question.data)
        .map(|cell| (cell.data, cell.record_size, cell.records))
        .collect();
    positions.sort();
    positions.dedup();
    let near = positions.iter().filter(|at| match here {
        Some(here) => (at.1, at.2) == here,
        None => covers(at.1, at.2, question),
    });
    let nearest = near.min_by(|a, b| distance(a, question).total_cmp(&distance(b, question)));
    let there = |at: &Position| format!("{} records of {}", grouped(at.2.from), at.1);
    if let Some(at) = nearest {
        return Ok((group, *at));
    }
    positions.sort_by(|a, b| distance(a, question).total_cmp(&distance(b, question)));
    Err(Uncovered::Place(positions.iter().map(there).collect()))
}

/// Whether all trials of a group were made as the question wants: every axis but the place as a cell has it by default.
fn is_plain(key: &GroupKey, question: &Question) -> bool {
    let plain = Cell { threads: question.threads, ..Cell::default() };
    let alike = |(axis, value): &(Axis, String)| *axis == Axis::Place || *value == axis.value(&plain);
    key.tier == Some(question.guarantee) && key.asked.tier().is_some() && key.facets.iter().all(alike)
}

fn covers(size: SizeRange, records: CountRange, question: &Question) -> bool {
    let typical = (question.size.from.max(1) as f64 * (question.size.to - 1).max(1) as f64).sqrt() as u64;
    let factor = records.from as f64 / question.records as f64;
    (size == question.size || (size.from..size.to).contains(&typical))
        && (1.0 / NEAR..=NEAR).contains(&factor)
}

/// How far what was measured is from what was asked: sizes and counts as logarithms.
fn distance(at: &Position, question: &Question) -> f64 {
    let far = |a: f64, b: f64| (a / b).ln().abs();
    far(at.1.mean(), question.size.mean()) + far(at.2.from as f64, question.records as f64)
}
