//! Where contestants meet.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Serialize, Serializer};
use storebench_core::axis::{Role, Value};
use storebench_core::cell::{Axis, Cell};

/// The part of a cell on the axes that lie within a matrix, values by default included; or on some of these axes: the others
/// are averaged over, or compared between. Positions are sorted by axis, then by value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(Arc<[(Axis, Value)]>);

impl Default for Position {
    /// The position that says nothing.
    fn default() -> Position {
        Position::of([])
    }
}

impl Position {
    /// A position of these values; of two on one axis the later counts.
    pub fn of(values: impl IntoIterator<Item = (Axis, Value)>) -> Position {
        let sorted: BTreeMap<Axis, Value> = values.into_iter().collect();
        Position(sorted.into_iter().collect())
    }

    /// Its values as those of a cell, which has no others.
    pub fn cell(&self) -> Cell {
        self.values().fold(Cell::default(), |cell, (axis, value)| cell.with(axis, value.clone()))
    }

    /// Its values, sorted by axis.
    pub fn values(&self) -> impl Iterator<Item = (Axis, &Value)> {
        self.0.iter().map(|(axis, value)| (*axis, value))
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The axes on which it has values.
    pub fn axes(&self) -> impl Iterator<Item = Axis> {
        self.0.iter().map(|(axis, _)| *axis)
    }

    /// Its value on an axis.
    pub fn value(&self, axis: Axis) -> Option<&Value> {
        self.0.iter().find(|(own, _)| *own == axis).map(|(_, value)| value)
    }

    /// Its value on an axis, as plans write it; empty where it has none.
    pub fn text(&self, axis: Axis) -> &str {
        self.value(axis).map_or("", Value::text)
    }

    fn keep(&self, keep: impl Fn(Axis) -> bool) -> Position {
        Position(self.0.iter().filter(|(axis, _)| keep(*axis)).cloned().collect())
    }

    /// Its value on one axis alone.
    pub fn only(&self, axis: Axis) -> Position {
        self.keep(|own| own == axis)
    }

    /// The same without an axis.
    pub fn without(&self, axis: Axis) -> Position {
        self.keep(|own| own != axis)
    }

    /// Its values on the axes that do one thing in a matrix.
    pub fn part(&self, role: Role) -> Position {
        self.keep(|own| own.role() == role)
    }

    /// The column that it stands in, its half included.
    pub fn column(&self) -> Position {
        self.keep(|own| own.role() != Role::Row)
    }

    /// Its values and those of another, which count where both have one.
    pub fn joined(&self, other: &Position) -> Position {
        Position::of(self.0.iter().chain(other.0.iter()).cloned())
    }

    /// Its values as ids and sentences name them.
    fn spoken(&self) -> Vec<&(Axis, Value)> {
        let mut values: Vec<&(Axis, Value)> = self.0.iter().collect();
        values.sort_by_key(|(axis, _)| (axis.place_in_id(), *axis));
        values
    }
}

impl fmt::Display for Position {
    /// `1B..1KiB, 1,000 records, compressible`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> =
            self.spoken().iter().map(|(axis, value)| (axis.def().words)(value)).collect();
        f.write_str(&parts.join(", "))
    }
}

impl Serialize for Position {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let values = self.spoken();
        let texts: IndexMap<&str, &str> =
            values.iter().map(|(axis, value)| (axis.name(), value.text())).collect();
        texts.serialize(serializer)
    }
}
