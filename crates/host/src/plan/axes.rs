//! The values on a plan's axes, and the part of a file that names them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::str::FromStr;

use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::other_keys::{Fields, OtherKeys};
use storebench_core::workload::table::Workload;
use storebench_model::axis::read::ValueListWriter;
use storebench_model::axis::{Axis, Value};
use storebench_model::sanitize::piece;

/// Axes that stay combined when each other axis is varied alone: what is compared, and what is never mixed.
pub const ALWAYS_CROSSED: [Axis; 2] = [Axis::STORE, Axis::GUARANTEE];

/// The values on each axis. An axis that it does not name has only its default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Axes(BTreeMap<Axis, Vec<Value>>);

impl Axes {
    /// These values on one axis.
    pub fn single(axis: Axis, values: impl IntoIterator<Item = impl Into<Value>>) -> Axes {
        Axes::default().with(axis, values)
    }

    /// These axes with other values on one.
    pub fn with(mut self, axis: Axis, values: impl IntoIterator<Item = impl Into<Value>>) -> Axes {
        self.set(axis, values);
        self
    }

    /// Replaces the values on an axis.
    pub fn set(&mut self, axis: Axis, values: impl IntoIterator<Item = impl Into<Value>>) {
        self.0.insert(axis, values.into_iter().map(Into::into).collect());
    }

    /// The values on an axis.
    pub fn values(&self, axis: Axis) -> Cow<'_, [Value]> {
        match (self.0.get(&axis), axis.default_value()) {
            (Some(values), _) => Cow::Borrowed(values),
            (None, Some(default)) => Cow::Owned(axis.read(default).into_iter().collect()),
            (None, None) => Cow::Borrowed(&[]),
        }
    }

    /// The values on an axis, parsed.
    pub fn list<T: Clone + FromStr + 'static>(&self, axis: Axis) -> Vec<T> {
        self.values(axis).iter().filter_map(Value::typed).collect()
    }

    /// The values on an axis, as plans write them.
    pub fn texts(&self, axis: Axis) -> Vec<String> {
        self.values(axis).iter().map(Value::to_string).collect()
    }

    /// Whether it names an axis.
    pub fn names(&self, axis: Axis) -> bool {
        self.0.contains_key(&axis)
    }

    /// The named axes, in their order.
    pub fn names_iter(&self) -> impl Iterator<Item = Axis> {
        self.0.keys().copied()
    }

    /// The axes that are settings of stores.
    pub fn settings(&self) -> impl Iterator<Item = (Axis, &[Value])> {
        let settings = self.0.iter().filter(|(axis, _)| axis.setting().is_some());
        settings.map(|(axis, values)| (*axis, values.as_slice()))
    }

    /// Resets an axis to its default.
    pub fn remove(&mut self, axis: Axis) {
        self.0.remove(&axis);
    }

    /// Keeps only the first values of an axis.
    pub fn cut(&mut self, axis: Axis, values: usize) {
        if let Some(existing_values) = self.0.get_mut(&axis) {
            existing_values.truncate(values);
        }
    }

    /// Replaces values by those of `others`. A count given without an upper bound takes the existing one; a store
    /// that is removed takes the values of its settings with it.
    pub(super) fn change(&mut self, others: Axes) {
        if others.names(Axis::STORE) {
            let mut left_out = self.texts(Axis::STORE);
            left_out.retain(|store| !others.texts(Axis::STORE).contains(store));
            self.0.retain(|axis, _| {
                !axis.setting().is_some_and(|(store, _)| left_out.iter().any(|removed| removed == store))
            });
        }
        for (axis, values) in others.0 {
            let existing_values = self.values(axis);
            let completed: Vec<Value> =
                values.into_iter().map(|value| (axis.def().completed)(value, &existing_values)).collect();
            self.0.insert(axis, completed);
        }
    }

    /// Checks that the workload has all of the axes.
    pub(super) fn check_for(&self, workload: Workload) -> Result<(), String> {
        let workload_axes = workload.def().axes;
        let is_unknown = |axis: &&Axis| axis.setting().is_none() && !workload_axes.contains(*axis);
        if let Some(unknown_axis) = self.0.keys().find(is_unknown) {
            return Err(format!("{unknown_axis} is not an axis of the workload {workload}"));
        }
        let missing = workload_axes.iter().find(|axis| axis.default_value().is_none() && !self.names(**axis));
        missing.map_or(Ok(()), |axis| Err(format!("missing field `{axis}`: name its values in [axes]")))
    }

    /// Removes repeated values of an axis.
    pub(super) fn unrepeat(&mut self, axis: Axis) {
        let mut seen = HashSet::new();
        self.0.entry(axis).and_modify(|values| values.retain(|value| seen.insert(value.clone())));
    }

    /// Checks the values: none may be missing or repeated, as a repeated value would run its cells twice, and neither block
    /// nor id could distinguish them. Values of `paired` axes may repeat; their steps may not.
    pub(super) fn check(&self, paired: &[Vec<Axis>]) -> Result<(), String> {
        for (axis, values) in &self.0 {
            if values.is_empty() {
                return Err(format!("the number of {} is 0: it must be at least 1", axis.def().many));
            }
            for value in values {
                (axis.def().check)(value)?;
            }
            let mut seen = HashSet::with_capacity(values.len());
            let is_paired = paired.iter().flatten().any(|paired| paired == axis);
            if let Some(repeated) = values.iter().find(|value| !seen.insert(*value) && !is_paired) {
                return Err(format!("{axis} names {} twice", piece(repeated.text())));
            }
        }
        Ok(())
    }
}

impl Serialize for Axes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_default = |axis: &Axis| match (self.values(*axis).as_ref(), axis.default_value()) {
            ([only], Some(default)) => only.text() == default,
            _ => false,
        };
        let mut axes: Vec<Axis> = self.0.keys().copied().filter(|axis| !is_default(axis)).collect();
        axes.sort_by_key(|axis| (axis.place_in_id(), *axis));
        let mut map = serializer.serialize_map(Some(axes.len()))?;
        for axis in axes {
            map.serialize_entry(axis.name(), &ValueListWriter(axis, &self.values(axis)))?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Axes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Axes, D::Error> {
        /// A table in which all keys are axes.
        #[derive(Deserialize)]
        #[serde(expecting = "axes: lists of values by axis")]
        struct NoFields {}
        let mut others = OtherKeys { axes: Some(Axes::default()), parameters: None };
        NoFields::deserialize(Fields(deserializer, &mut others))?;
        Ok(others.axes.unwrap_or_default())
    }
}
