//! Where contestants meet.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use storebench_core::axis::{Role, Value};
use storebench_core::cell::{Axis, Cell};

use super::words;

/// The part of a cell on the axes that lie within a matrix, or on some of these: the others are averaged over, or compared
/// between. Positions are sorted by axis.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(Arc<Cell>);

impl Position {
    /// A position of these values.
    pub fn of(values: impl IntoIterator<Item = (Axis, Value)>) -> Position {
        Position(Arc::new(
            values.into_iter().fold(Cell::default(), |cell, (axis, value)| cell.with(axis, value)),
        ))
    }

    /// Its values as those of a cell, which has no others.
    pub fn cell(&self) -> &Cell {
        &self.0
    }

    /// Whether it has no value off the default.
    pub fn is_empty(&self) -> bool {
        self.0.values().next().is_none()
    }

    /// The axes on which it has values off the default.
    pub fn axes(&self) -> impl Iterator<Item = Axis> {
        self.0.values().map(|(axis, _)| axis)
    }

    /// Its value on an axis, as plans write it; the default where it has none of its own, and else empty.
    pub fn text(&self, axis: Axis) -> &str {
        self.0.text(axis)
    }

    /// Its value on an axis, or the default.
    pub fn value(&self, axis: Axis) -> Option<Value> {
        words::value(&self.0, axis)
    }

    fn keep(&self, keep: impl Fn(Axis) -> bool) -> Position {
        let kept = self.0.values().filter(|(axis, _)| keep(*axis));
        Position::of(kept.map(|(axis, value)| (axis, value.clone())))
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

    /// Its values and those of another, whose count where both have one.
    pub fn joined(&self, other: &Position) -> Position {
        let both = self.0.values().chain(other.0.values());
        Position::of(both.map(|(axis, value)| (axis, value.clone())))
    }
}

impl fmt::Display for Position {
    /// `1B..1KiB, 1,000 records, compressible`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut values: Vec<(Axis, &Value)> = self.0.values().collect();
        values.sort_by_key(|(axis, _)| (axis.place_in_id(), *axis));
        let parts: Vec<String> = values.iter().map(|(axis, value)| (axis.def().words)(value)).collect();
        f.write_str(&parts.join(", "))
    }
}

impl Serialize for Position {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
