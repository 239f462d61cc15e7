//! Finds the trials among runs that answer a question.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use storebench_figures::data::merge::{Group, GroupKey, Merged};
use storebench_model::axis::Value;
use storebench_model::axis::life::FRESH;
use storebench_model::cell::{Axis, Cache, Cell};
use storebench_model::store::StoreDef;
use storebench_model::units::{CountRange, Sizes, plural};

use super::question::Question;
use super::ranking::{RuledOut, reasons};
use super::record_shape::{RecordShape, SizesAndCounts, record_shape};
use super::tiers;
use crate::terminal::grid::one_line;

/// The greatest factor between the measured number of records and the question's.
const NEAR_FACTOR: f64 = 4.0;

const MOST_NAMED: usize = 5;

/// The part of a question that runs do not cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissingCoverage {
    /// No trial was made with its guarantee and threads, as shipped and undisturbed.
    Group(String),
    /// Trials of several machines, places or methods match, which can't be compared.
    Several(Vec<String>),
    /// No trial had records of this kind, size and number; the available ones, nearest first.
    Place(Vec<String>),
    /// No store is left, and why.
    NoStore(Vec<RuledOut>),
}

impl fmt::Display for MissingCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&self.describe()))
    }
}

impl MissingCoverage {
    fn describe(&self) -> String {
        match self {
            MissingCoverage::Group(conditions) => format!("no trial was made {conditions}"),
            MissingCoverage::Several(places) => {
                format!(
                    "the runs differ in machine, place or method, and each would have another answer; name runs of one: {}",
                    places.join("; ")
                )
            }
            MissingCoverage::Place(positions) => {
                let nearest =
                    positions.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join("; ");
                match positions.len() {
                    0 => "no trial had such records; measured were none of that kind".to_owned(),
                    1..=MOST_NAMED => format!("no trial had such records; measured were {nearest}"),
                    count => format!(
                        "no trial had such records; measured were {count} combinations, the nearest {nearest}"
                    ),
                }
            }
            MissingCoverage::NoStore(out) => {
                format!("no store answers the question: {}", reasons(out).join("; "))
            }
        }
    }
}

/// The comparable trials that cover a question, and the position nearest to the question's, or made for it. Trials with overwritten
/// records are preferred if the question says that they are overwritten before, otherwise trials with fresh ones.
pub fn find<'a>(
    question: &Question,
    merged: &Merged<'a>,
    wanted: Option<SizesAndCounts>,
    table: &[StoreDef],
) -> Result<(Group<'a>, RecordShape), MissingCoverage> {
    let aged = question.overwritten.is_some();
    groups_of_age(aged, question, merged, wanted, table).or_else(|error| {
        let other = groups_of_age(!aged, question, merged, wanted, table);
        other.map_err(|other| if matches!(error, MissingCoverage::Group(_)) { other } else { error })
    })
}

fn groups_of_age<'a>(
    aged: bool,
    question: &Question,
    merged: &Merged<'a>,
    wanted: Option<SizesAndCounts>,
    table: &[StoreDef],
) -> Result<(Group<'a>, RecordShape), MissingCoverage> {
    let groups = comparable_groups(question, merged, table, aged);
    if groups.is_empty() {
        return Err(MissingCoverage::Group(format!(
            "at guarantee {} with {}, {} caches as shipped and no other load{}",
            question.guarantee,
            question.sessions(),
            if question.cold { "cold reads," } else { "warm reads," },
            question.whereabouts(),
        )));
    }
    let nearest = |group: &Group<'_>| {
        let candidates = shapes_of(group, question).into_iter().filter(|shape| match wanted {
            Some(wanted) => (shape.1, shape.2) == wanted,
            None => covers(shape.1, shape.2, question),
        });
        let differs = |shape: &RecordShape| shape.1 != question.size;
        candidates.min_by(|a, b| {
            distance(a, question).total_cmp(&distance(b, question)).then(differs(a).cmp(&differs(b)))
        })
    };
    let found: Vec<(&Group<'a>, RecordShape)> =
        groups.iter().filter_map(|group| Some((group, nearest(group)?))).collect();
    match found.as_slice() {
        [(group, shape)] => Ok(((*group).clone(), *shape)),
        [_, _, ..] => {
            let name = |group: &Group<'_>| format!("{}, {}", group.key.hardware, merged.label(&group.key));
            Err(MissingCoverage::Several(found.iter().map(|(group, _)| name(group)).collect()))
        }
        [] => {
            let mut positions: Vec<RecordShape> =
                groups.iter().flat_map(|group| shapes_of(group, question)).collect();
            positions.sort_by(|a, b| distance(a, question).total_cmp(&distance(b, question)).then(a.cmp(b)));
            positions.dedup();
            let describe_shape =
                |shape: &RecordShape| format!("{} of {}", plural(shape.2.from, "record"), shape.1.describe());
            Err(MissingCoverage::Place(positions.iter().map(describe_shape).collect()))
        }
    }
}

/// What groups of different tiers must share to be joined: machine, facets, method.
type GroupConditions<'m> = (&'m str, &'m [(Axis, String)], &'m str);

fn comparable_groups<'a>(
    question: &Question,
    merged: &Merged<'a>,
    table: &[StoreDef],
    aged: bool,
) -> Vec<Group<'a>> {
    let is_of_age = |group: &&Group<'_>| is_aged(&group.key) == aged;
    let plain = merged.groups.iter().filter(is_of_age).filter(|group| is_plain(&group.key, question));
    let mut by_conditions: BTreeMap<GroupConditions<'_>, Vec<&Group<'a>>> = BTreeMap::new();
    for group in plain {
        let key = &group.key;
        by_conditions.entry((&key.hardware, &key.facets, &key.method)).or_default().push(group);
    }
    let joined = by_conditions.into_values().filter_map(|groups| {
        let is_exact = groups.iter().any(|group| group.key.tier == Some(question.guarantee));
        tiers::join_groups(&groups, question, table).filter(|group| is_exact || !group.trials.is_empty())
    });
    joined.collect()
}

fn shapes_of(group: &Group<'_>, question: &Question) -> BTreeSet<RecordShape> {
    let cells = group.trials.iter().map(|entry| &entry.trial.cell);
    cells.filter(|cell| cell.data() == question.data).map(record_shape).collect()
}

fn is_aged(key: &GroupKey) -> bool {
    key.facets.iter().any(|(axis, value)| *axis == Axis::AGE && value != FRESH)
}

/// Whether a group was measured at the guarantee or a stronger one, and with the question's values or defaults except for place and age.
fn is_plain(key: &GroupKey, question: &Question) -> bool {
    let cache = if question.cold { Cache::Cold } else { Cache::Warm };
    let mut plain = Cell::default()
        .with(Axis::THREADS, u64::from(question.threads).into())
        .with(Axis::CACHE, cache.into())
        .with(Axis::MACHINE, Value::word(&question.machine));
    if let Some(disk) = &question.disk {
        plain.set(Axis::DISK, Value::word(disk));
    }
    let is_free = |axis: Axis| {
        [Axis::PLACE, Axis::AGE].contains(&axis) || (axis == Axis::DISK && question.may_have_own_disk())
    };
    let is_default = |(axis, value): &(Axis, String)| is_free(*axis) || *value == plain.text(*axis);
    let asked = key.asked.and_then(|asked| asked.tier());
    key.tier >= Some(question.guarantee) && asked.is_some() && key.facets.iter().all(is_default)
}

pub(super) fn covers(size: Sizes, records: CountRange, question: &Question) -> bool {
    let is_near = |factor: f64| (1.0 / NEAR_FACTOR..=NEAR_FACTOR).contains(&factor);
    let is_within = (size.span().from..size.span().to).contains(&typical_size(&question.size));
    // Mixed sizes may range from nearly nothing to very much, with few records at the ends.
    let is_mixed = size.single_range().is_none() || question.size.single_range().is_none();
    let is_alike = is_within && (!is_mixed || is_near(size.mean() / question.size.mean()));
    (size == question.size || is_alike) && is_near(records.from as f64 / question.records as f64)
}

/// A typical size: of a range the geometric mean of its ends, of mixed sizes the median.
fn typical_size(sizes: &Sizes) -> u64 {
    match sizes.single_range() {
        Some(range) => (range.from.max(1) as f64 * (range.to - 1).max(1) as f64).sqrt() as u64,
        None => sizes.median(),
    }
}

fn distance(shape: &RecordShape, question: &Question) -> f64 {
    let log_distance = |a: f64, b: f64| (a / b).ln().abs();
    log_distance(shape.1.mean(), question.size.mean())
        + log_distance(shape.2.from as f64, question.records as f64)
}
