//! The part of the axes that a claim covers.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::de::{Error as _, MapAccess};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use storebench_model::axis::file_system::FileSystem;
use storebench_model::axis::read::{KeySeed, ValueListSeed, ValueListWriter};
use storebench_model::axis::{Axis, Form, Value};
use storebench_model::result::format1::current_value_name;

use super::pool::Scope;
use crate::layout::Position;

/// Values on each axis, as in a plan's axes; an axis without values is not narrowed. Ranges include everything within them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Region(BTreeMap<Axis, Vec<Value>>);

impl Region {
    /// The values on an axis; empty if it is not narrowed.
    pub fn values(&self, axis: Axis) -> &[Value] {
        self.0.get(&axis).map_or(&[], Vec::as_slice)
    }

    pub fn names(&self, axis: Axis) -> bool {
        !self.values(axis).is_empty()
    }

    pub fn holds(&self, position: &Position) -> bool {
        let is_narrowed =
            |axis: Axis, values: &[Value]| position.role(axis).is_within() && !values.is_empty();
        self.0.iter().filter(|(axis, values)| is_narrowed(**axis, values)).all(|(axis, values)| {
            let value = position.value(*axis);
            value.is_some_and(|value| values.iter().any(|claimed| includes(*axis, claimed, value)))
        })
    }

    /// Whether the shared axes of a pool's cells are in the region. An axis that the scope lacks counts as inside.
    pub fn admits(&self, scope: &Scope) -> bool {
        self.0.iter().all(|(axis, values)| {
            values.is_empty() || scope.value(*axis).is_none() || is_at(scope, *axis, values)
        })
    }

    /// Whether the region names a value of any shared axis of a pool's cells.
    pub fn contains(&self, scope: &Scope) -> bool {
        self.0.iter().any(|(axis, values)| is_at(scope, *axis, values))
    }

    /// The combinations of the named values on the axes within a matrix; empty if none is named.
    pub(super) fn combinations(&self) -> BTreeSet<Position> {
        let narrowed = self.0.iter().filter(|(axis, values)| axis.role().is_within() && !values.is_empty());
        let mut combinations: Vec<Vec<(Axis, Value)>> = vec![Vec::new()];
        for (axis, values) in narrowed {
            let extend = |combination: Vec<(Axis, Value)>| {
                let pairs = values.iter().map(move |value| (*axis, value.clone()));
                pairs.map(move |pair| combination.iter().cloned().chain([pair]).collect()).collect::<Vec<_>>()
            };
            combinations = combinations.into_iter().flat_map(extend).collect();
        }
        combinations.retain(|combination| !combination.is_empty());
        combinations.into_iter().map(Position::from_values).collect()
    }

    /// Whether a measured combination is within one of [`Region::combinations`].
    pub(super) fn stands_for(&self, claimed: &Position, measured: &Position) -> bool {
        claimed
            .values()
            .all(|(axis, claimed)| measured.value(axis).is_some_and(|value| includes(axis, claimed, value)))
    }

    pub(super) fn check(&self) -> Result<(), String> {
        self.0.iter().try_for_each(|(axis, values)| {
            let texts: Vec<String> = values.iter().map(Value::to_string).collect();
            no_repeats(axis.name(), &texts)
        })
    }

    /// The narrowed axes within a matrix, in words: `record_size 1KiB..10KiB, data compressible`.
    pub fn places_in_words(&self) -> String {
        let mut axes: Vec<Axis> = Axis::all().into_iter().filter(|axis| axis.role().is_within()).collect();
        axes.sort_by_key(|axis| axis.place_in_id());
        self.describe(axes)
    }

    /// The narrowed axes that distinguish groups, in words.
    pub fn groups_in_words(&self) -> String {
        self.describe(Axis::all().into_iter().filter(|axis| !axis.role().is_within()))
    }

    fn describe(&self, axes: impl IntoIterator<Item = Axis>) -> String {
        let narrowed = axes.into_iter().filter(|axis| self.names(*axis));
        let words = narrowed.map(|axis| {
            let values: Vec<&str> = self.values(axis).iter().map(Value::text).collect();
            format!("{axis} {}", values.join(" or "))
        });
        words.collect::<Vec<_>>().join(", ")
    }
}

/// Whether one of a claim's values includes a scope's.
fn is_at(scope: &Scope, axis: Axis, values: &[Value]) -> bool {
    if axis == Axis::PLACE {
        return values.iter().any(|claimed| scope.is_at(axis, claimed.text()));
    }
    let value = scope.value(axis).and_then(|value| axis.read(&value).ok());
    value.is_some_and(|value| values.iter().any(|claimed| includes(axis, claimed, &value)))
}

/// Whether a claim's value includes a cell's.
fn includes(axis: Axis, claimed: &Value, value: &Value) -> bool {
    match axis.def().form {
        // An image in a named directory has both names.
        _ if axis == Axis::PLACE => {
            FileSystem::names_of(value.text()).iter().any(|name| name == claimed.text())
        }
        Form::Range => claimed.holds(value),
        Form::Text | Form::Number | Form::Quantity => claimed == value,
    }
}

/// A value of an axis as plans write it, or the error in it.
pub(super) fn canonical(axis: Axis, text: &str) -> Result<String, String> {
    axis.read(current_value_name(axis, text)).map(|value| value.to_string())
}

impl Serialize for Region {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (axis, values) in self.0.iter().filter(|(_, values)| !values.is_empty()) {
            map.serialize_entry(axis.name(), &ValueListWriter(*axis, values))?;
        }
        map.end()
    }
}

storebench_model::from_map!(Region, "values by axis", read);

/// Reads lists of values, each by its axis.
fn read<'de, A: MapAccess<'de>>(mut map: A) -> Result<Region, A::Error> {
    let mut region = Region::default();
    let check_name = |name: &str| Axis::find(name).map(drop).ok_or_else(|| unknown_field(name));
    while let Some(name) = map.next_key_seed(KeySeed(check_name))? {
        let axis = Axis::find(&name).ok_or_else(|| A::Error::custom(unknown_field(&name)))?;
        if region.0.insert(axis, map.next_value_seed(ValueListSeed(axis))?).is_some() {
            return Err(A::Error::custom(format!("duplicate field `{axis}`")));
        }
    }
    Ok(region)
}

fn unknown_field(name: &str) -> String {
    let mut axes = Axis::all();
    axes.sort_by_key(|axis| axis.place_in_id());
    let names: Vec<String> = axes.into_iter().map(|axis| format!("`{axis}`")).collect();
    format!("unknown field `{name}`, expected one of {}", names.join(", "))
}

/// Checks that no value is repeated in a list.
pub(super) fn no_repeats(name: &str, values: &[String]) -> Result<(), String> {
    let mut seen = HashSet::with_capacity(values.len());
    match values.iter().find(|value| !seen.insert(*value)) {
        Some(repeated) => Err(format!("{name} names {repeated} twice")),
        None => Ok(()),
    }
}
