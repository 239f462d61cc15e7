//! A position in a matrix, where contestants meet.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Serialize, Serializer};
use storebench_model::axis::{Role, Value};
use storebench_model::cell::{Axis, Cell};

/// The part of a cell on the axes within a matrix, including defaults, or on some of them. Positions are sorted by axis, then by value.
#[derive(Debug, Clone)]
pub struct Position {
    values: Arc<[(Axis, Value)]>,
    roles: MovedRoles,
}

/// Positions with the same values are equal, whatever their axes' roles.
impl PartialEq for Position {
    fn eq(&self, other: &Position) -> bool {
        self.values == other.values
    }
}

impl Eq for Position {}

impl PartialOrd for Position {
    fn partial_cmp(&self, other: &Position) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Position {
    fn cmp(&self, other: &Position) -> Ordering {
        self.values.cmp(&other.values)
    }
}

impl Hash for Position {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.values.hash(state);
    }
}

/// The roles of axes in a matrix that a plan changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MovedRoles(Option<Arc<BTreeMap<Axis, Role>>>);

impl MovedRoles {
    pub fn new(axes: impl IntoIterator<Item = (Axis, Role)>) -> MovedRoles {
        let axes: BTreeMap<Axis, Role> = axes.into_iter().collect();
        MovedRoles(Some(axes).filter(|axes| !axes.is_empty()).map(Arc::new))
    }

    /// The role of an axis: the plan's, otherwise the role in the table of axes.
    pub fn role(&self, axis: Axis) -> Role {
        let role = self.0.as_ref().and_then(|role| role.get(&axis).copied());
        role.unwrap_or(axis.role())
    }
}

impl Default for Position {
    fn default() -> Position {
        Position::from_values([])
    }
}

impl Position {
    /// A position of these values; of two on one axis the later counts.
    pub fn from_values(values: impl IntoIterator<Item = (Axis, Value)>) -> Position {
        let sorted: BTreeMap<Axis, Value> = values.into_iter().collect();
        Position { values: sorted.into_iter().collect(), roles: MovedRoles::default() }
    }

    pub fn with_roles(self, roles: &MovedRoles) -> Position {
        Position { roles: roles.clone(), ..self }
    }

    pub fn role(&self, axis: Axis) -> Role {
        self.roles.role(axis)
    }

    pub fn cell(&self) -> Cell {
        self.values().fold(Cell::default(), |cell, (axis, value)| cell.with(axis, value.clone()))
    }

    pub fn values(&self) -> impl Iterator<Item = (Axis, &Value)> {
        self.values.iter().map(|(axis, value)| (*axis, value))
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub fn axes(&self) -> impl Iterator<Item = Axis> {
        self.values.iter().map(|(axis, _)| *axis)
    }

    pub fn value(&self, axis: Axis) -> Option<&Value> {
        self.values.iter().find(|(other, _)| *other == axis).map(|(_, value)| value)
    }

    /// The value on an axis, as plans write it; empty without a value.
    pub fn text(&self, axis: Axis) -> &str {
        self.value(axis).map_or("", Value::text)
    }

    fn keep(&self, keep: impl Fn(Axis) -> bool) -> Position {
        let values = self.values.iter().filter(|(axis, _)| keep(*axis)).cloned().collect();
        Position { values, roles: self.roles.clone() }
    }

    pub fn only_axis(&self, axis: Axis) -> Position {
        self.keep(|other| other == axis)
    }

    pub fn without_axis(&self, axis: Axis) -> Position {
        self.keep(|other| other != axis)
    }

    pub fn values_by_role(&self, role: Role) -> Position {
        self.keep(|other| self.role(other) == role)
    }

    /// The column, including the half.
    pub fn column(&self) -> Position {
        self.keep(|other| self.role(other) != Role::Row)
    }

    /// The values of both positions; `other` wins.
    pub fn merged_with(&self, other: &Position) -> Position {
        Position::from_values(self.values.iter().chain(other.values.iter()).cloned()).with_roles(&self.roles)
    }

    /// The values in the order of ids and sentences.
    fn in_spoken_order(&self) -> Vec<&(Axis, Value)> {
        let mut values: Vec<&(Axis, Value)> = self.values.iter().collect();
        values.sort_by_key(|(axis, _)| (axis.place_in_id(), *axis));
        values
    }
}

impl fmt::Display for Position {
    /// `1B..1KiB, 1,000 records, compressible`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> =
            self.in_spoken_order().iter().map(|(axis, value)| (axis.def().words)(value)).collect();
        f.write_str(&parts.join(", "))
    }
}

impl Serialize for Position {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let values = self.in_spoken_order();
        let texts: IndexMap<&str, &str> =
            values.iter().map(|(axis, value)| (axis.name(), value.text())).collect();
        texts.serialize(serializer)
    }
}
