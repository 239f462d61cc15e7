//! The axes within the page's matrices, with their values.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use serde::Serialize;
use storebench_model::axis::{Role, Value};
use storebench_model::cell::Axis;

use storebench_figures::layout::{Position, words};

/// The axes, in the order of a matrix' address.
#[derive(Debug, Serialize)]
pub struct Axes(Vec<PageAxis>);

#[derive(Debug, Serialize)]
struct PageAxis {
    id: &'static str,
    name: String,
    one: String,
    /// The part of a matrix that its values form: `half`, `row` or `column`.
    makes: &'static str,
    /// The position in sentences, from 0.
    spoken: usize,
    values: Vec<NamedValue>,
    #[serde(skip)]
    axis: Axis,
    #[serde(skip)]
    indices: BTreeMap<Value, usize>,
}

#[derive(Debug, Serialize)]
struct NamedValue {
    /// As in plans.
    text: String,
    /// Below a heading with the axis.
    short: String,
    words: String,
    at: Option<f64>,
}

impl Axes {
    pub fn from_positions<'p>(positions: impl Iterator<Item = &'p Position> + Clone) -> Axes {
        let axes: BTreeSet<Axis> = positions.clone().flat_map(Position::axes).collect();
        let mut spoken: Vec<Axis> = axes.iter().copied().collect();
        spoken.sort_by_key(|axis| (axis.place_in_id(), *axis));
        let page_axis = |axis: Axis| {
            let values: BTreeSet<Value> =
                positions.clone().filter_map(|position| position.value(axis)).cloned().collect();
            PageAxis {
                id: axis.name(),
                name: words::heading(axis),
                one: words::value_noun(axis),
                makes: match positions.clone().next().map_or(axis.role(), |position| position.role(axis)) {
                    Role::Row => "row",
                    Role::Column => "column",
                    Role::Half | Role::Contestant | Role::Group => "half",
                },
                spoken: spoken.iter().position(|other| *other == axis).unwrap_or_default(),
                values: values.iter().map(|value| NamedValue::new(axis, value)).collect(),
                axis,
                indices: values.into_iter().enumerate().map(|(number, value)| (value, number)).collect(),
            }
        };
        Axes(axes.into_iter().map(page_axis).collect())
    }

    /// Each position's values as indices into the lists of values, by the axes' names.
    pub fn numbers<'p>(
        &self,
        positions: impl Iterator<Item = &'p Position> + Clone,
    ) -> IndexMap<&'static str, Vec<Option<usize>>> {
        let number =
            |axis: &PageAxis, position: &Position| axis.indices.get(position.value(axis.axis)?).copied();
        let axis_numbers =
            |axis: &PageAxis| positions.clone().map(|position| number(axis, position)).collect();
        self.0.iter().map(|axis| (axis.id, axis_numbers(axis))).collect()
    }
}

impl NamedValue {
    fn new(axis: Axis, value: &Value) -> NamedValue {
        NamedValue {
            text: value.to_string(),
            short: words::short(axis, value),
            words: (axis.def().words)(value),
            at: words::number(axis, value),
        }
    }
}
