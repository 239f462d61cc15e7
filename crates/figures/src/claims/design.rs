//! The design of a study: what it covers in full, and how much of that was measured for a claim.

use std::collections::BTreeSet;

use storebench_host::plan::ClaimsOver;
use storebench_model::axis::{Axis, Form, Value};
use storebench_model::cell::Cell;

use super::claim::{Average, Claim};
use super::expect::Expect;
use super::figure::Figure;
use super::verdict::{Coverage, Evidence, Outcome};
use crate::layout::{Position, words};

/// The combinations of record size, records and data that a study covers in full, however little of it was run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Design {
    pub positions: Vec<Position>,
}

impl Claim {
    /// Whether the claim is about an average, which a part of the combinations would change.
    pub fn is_of_average(&self) -> bool {
        self.average != Average::None || matches!(self.expect, Expect::Greatest(_))
    }

    /// Whether the measured part is enough for a verdict: for checks of single combinations half, at every record count and size, for
    /// every figure.
    pub fn is_covered(&self, coverage: &Coverage) -> bool {
        let is_half = 2 * coverage.measured >= coverage.whole && coverage.short.is_empty();
        if self.is_of_average() { coverage.is_whole() } else { is_half }
    }
}

impl Design {
    /// The combinations of the plan's claims unless they narrow it.
    pub fn from_claims(claims_over: &ClaimsOver) -> Design {
        let axes: Vec<Axis> = claims_over.axes.names_iter().collect();
        let position = |cell: &Cell| {
            Position::from_values(axes.iter().filter_map(|axis| Some((*axis, words::value(cell, *axis)?))))
        };
        Design { positions: claims_over.combinations().iter().map(position).collect() }
    }

    /// The measured share of a claim's combinations; `None` if it names none.
    pub(super) fn coverage(&self, claim: &Claim, evidence: &[Evidence]) -> Option<Coverage> {
        let positions = self.positions.iter().map(|position| without_preparation(claim, position));
        let design = Design { positions: positions.collect() };
        let spots = design.spots(claim);
        // A claim about something that no plan of the study covers in full, such as a preset's own values, names its own part.
        let (spots, is_named_by_claim) =
            if spots.is_empty() { (claim.at.combinations(), true) } else { (spots, false) };
        let stands_for = |position: &Position| match is_named_by_claim {
            true => spots.iter().find(|spot| claim.at.stands_for(spot, position)).cloned(),
            false => {
                let position = design.stands_for(&without_preparation(claim, position));
                position.map(|position| counted_position(claim, &position))
            }
        };
        let decided = evidence.iter().filter(|evidence| evidence.leaning != Outcome::Missing);
        let measured: BTreeSet<(&str, Position)> = decided
            .flat_map(|evidence| {
                let covered = evidence.covers.iter().filter_map(stands_for);
                covered.map(|position| (evidence.figure.as_str(), position)).collect::<Vec<_>>()
            })
            .filter(|(_, spot)| spots.contains(spot))
            .collect();
        let figures: BTreeSet<String> = claim.figure.iter().map(Figure::to_string).collect();
        (!spots.is_empty()).then(|| Coverage {
            measured: measured.len(),
            whole: spots.len() * figures.len(),
            short: short_parts(&spots, &measured, &figures),
        })
    }

    /// The combinations of a claim; two compared values of an axis count as one.
    fn spots(&self, claim: &Claim) -> BTreeSet<Position> {
        let sides = claim.expect.axis().zip(claim.expect.sides());
        let is_side = |position: &Position| {
            sides.is_none_or(|(axis, (a, b))| {
                let value = position.value(axis).filter(|_| axis.role().is_within());
                value.is_none_or(|value| [a, b].iter().any(|side| axis.read(side).as_ref() == Ok(value)))
            })
        };
        let spots = self.positions.iter().filter(|position| claim.at.holds(position) && is_side(position));
        spots.map(|position| counted_position(claim, position)).collect()
    }

    /// The combination of the design that a measured one represents, axis by axis: the range that contains the middle of the
    /// measured one. A range that is called by its lower bound, such as a record count, is located there; between two ranges
    /// the nearer one counts, by ratio.
    fn stands_for(&self, measured: &Position) -> Option<Position> {
        // An axis that plans leave at its default is not named in the design.
        let is_plain = |axis: Axis, value: &Value| {
            axis.default_value() == Some(value.text())
                && self.positions.iter().all(|p| p.value(axis).is_none())
        };
        let values = measured.values().filter(|(axis, value)| !is_plain(*axis, value));
        let values = values.map(|(axis, value)| Some((axis, self.stand_in(axis, value)?)));
        let position = Position::from_values(values.collect::<Option<Vec<_>>>()?);
        self.positions.contains(&position).then_some(position)
    }

    /// The value of the design that a measured one represents.
    fn stand_in(&self, axis: Axis, measured: &Value) -> Option<Value> {
        if axis.def().form != Form::Range {
            return Some(measured.clone());
        }
        let values = || self.positions.iter().filter_map(|position| position.value(axis));
        let number = words::number(axis, measured)?;
        let contains = |range: &&Value| range.lower() as f64 <= number && number < range.upper() as f64;
        let value = match words::is_by_lower_bound(axis, measured) {
            true => values().find(contains).or_else(|| nearest(values(), number)),
            false => values().find(|range| *range == measured).or_else(|| values().find(contains)),
        };
        value.cloned()
    }
}

/// The nearer of the ranges around a number, by ratio.
fn nearest<'v>(ranges: impl Iterator<Item = &'v Value> + Clone, number: f64) -> Option<&'v Value> {
    let below =
        ranges.clone().filter(|range| range.upper() as f64 <= number).max_by_key(|range| range.upper())?;
    let above = ranges.filter(|range| range.lower() as f64 > number).min_by_key(|range| range.lower())?;
    let (down, up) = (number / below.upper() as f64, above.lower() as f64 / number);
    Some(if down <= up { below } else { above })
}

/// The values on an axis, and the figures, less than half of which was measured; empty if that is true of each.
fn short_parts(
    spots: &BTreeSet<Position>,
    measured: &BTreeSet<(&str, Position)>,
    figures: &BTreeSet<String>,
) -> Vec<String> {
    let lies_at = |spot: &Position, value: &Position| {
        value.values().all(|(axis, value)| spot.value(axis) == Some(value))
    };
    let is_short = |value: &Position| {
        let whole = spots.iter().filter(|spot| lies_at(spot, value)).count() * figures.len();
        2 * measured.iter().filter(|(_, spot)| lies_at(spot, value)).count() < whole
    };
    let axes: BTreeSet<Axis> = spots.iter().flat_map(Position::axes).collect();
    let check_axis = |axis: Axis| -> Vec<(String, bool)> {
        let values: BTreeSet<Position> = spots.iter().map(|spot| spot.only_axis(axis)).collect();
        values.iter().map(|value| (value.to_string(), is_short(value))).collect()
    };
    let check_figure = |figure: &String| {
        let count = measured.iter().filter(|(name, _)| name == figure).count();
        (figure.clone(), 2 * count < spots.len())
    };
    let lists = axes.into_iter().map(check_axis).chain([figures.iter().map(check_figure).collect()]);
    let lists = lists.filter(|list: &Vec<(String, bool)>| list.iter().any(|(_, is_short)| !is_short));
    lists.flatten().filter(|(_, is_short)| *is_short).map(|(name, _)| name).collect()
}

/// A combination without the axes on how the data were loaded, unless the claim names them.
fn without_preparation(claim: &Claim, position: &Position) -> Position {
    let is_named = |axis: Axis| claim.at.names(axis) || claim.expect.axis() == Some(axis);
    let unnamed = position.axes().filter(|axis| axis.def().prepares && !is_named(*axis));
    unnamed.fold(position.clone(), |position, axis| position.without_axis(axis))
}

/// A combination as a claim counts it: without the axis whose values it compares.
pub(super) fn counted_position(claim: &Claim, position: &Position) -> Position {
    claim.expect.axis().map_or_else(|| position.clone(), |axis| position.without_axis(axis))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(size: &str, records: &str) -> Position {
        let read_value = |axis: Axis, text: &str| (axis, axis.read(text).unwrap());
        Position::from_values([
            read_value(Axis::DATA, "incompressible"),
            read_value(Axis::RECORD_SIZE, size),
            read_value(Axis::RECORDS, records),
        ])
    }

    fn design() -> Design {
        let sizes = ["1B..1KiB", "10KiB..100KiB"];
        let counts = ["100..500", "1000..5000"];
        let combinations = sizes.iter().flat_map(|size| counts.iter().map(|count| position(size, count)));
        Design { positions: combinations.filter(|p| *p != position("10KiB..100KiB", "1000..5000")).collect() }
    }

    #[test]
    fn a_combination_stands_for_the_one_that_holds_it_or_is_nearest() {
        for (size, records, stands_for) in [
            ("1B..1KiB", "100..500", Some(("1B..1KiB", "100..500"))),
            ("1B..1KiB", "200..1000", Some(("1B..1KiB", "100..500"))),
            ("100B..1800B", "4999..6000", Some(("1B..1KiB", "1000..5000"))),
            ("100B..3KiB", "100..500", None),
            ("10KiB..12KiB", "499..500", Some(("10KiB..100KiB", "100..500"))),
            ("1B..1KiB", "700..800", Some(("1B..1KiB", "100..500"))),
            ("1B..1KiB", "710..800", Some(("1B..1KiB", "1000..5000"))),
            ("1B..1KiB", "99..500", None),
            ("1B..1KiB", "5000..6000", None),
            // Left out of the design, as too large.
            ("10KiB..100KiB", "1000..5000", None),
        ] {
            let spot = design().stands_for(&position(size, records));
            assert_eq!(spot, stands_for.map(|(size, records)| position(size, records)), "{size} {records}");
        }
    }
}
