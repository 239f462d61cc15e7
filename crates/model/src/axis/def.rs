//! An entry of the table of axes, and an axis as the handle of one.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::value::Value;
use crate::error::meant;

/// An entry of the table of axes.
#[derive(Debug)]
pub struct AxisDef {
    /// The word used in plans, options and results.
    pub name: &'static str,
    /// The order among axes: smaller is further out in a schedule's loops and earlier in titles.
    pub order: u16,
    /// The form of its values on the command line: `RANGE,...`.
    pub value_name: &'static str,
    /// A line of help.
    pub help: &'static str,
    /// The plural for text: `record sizes`.
    pub many: &'static str,
    /// How the axis appears in a cell's id.
    pub presence: Presence,
    /// The role of its values in a report's matrix.
    pub role: Role,
    /// Whether it says how the data came there, not what is done to them: a claim that doesn't name it is about each value.
    pub prepares: bool,
    /// The form of its values in TOML and SQL.
    pub form: Form,
    /// The unit of a range's bounds, as exports name it: `bytes`; empty where they count what the axis is named after.
    pub unit: &'static str,
    /// Values that a shell completes; none where they are too many to name.
    pub known: &'static [&'static str],
    /// Reads a value.
    pub read: fn(&str) -> Result<Value, String>,
    /// Checks the bounds of a value that was read.
    pub check: fn(&Value) -> Result<(), String>,
    /// Gives a value with as much of the axis' name as it takes to be understood: `1,000 records`.
    pub words: fn(&Value) -> String,
    /// Completes a value without an upper bound from the plan's values.
    pub completed: fn(Value, &[Value]) -> Value,
    /// Splits a list at commas, for values that can contain commas; `None` if only their numbers can.
    pub split: Option<fn(&str) -> Vec<String>>,
}

/// The presence of an axis in a cell's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// By its value alone, at this position; each cell of a workload with the axis has a value.
    Always(u8),
    /// By `name=value`, and only off this value, so that new axes leave old ids as they are.
    Off(&'static str),
}

/// The role of an axis's values in a report's matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// They are ranked against each other.
    Contestant,
    /// They make rows.
    Row,
    /// They make columns.
    Column,
    /// They make matrices side by side.
    Half,
    /// They make groups, which are never compared.
    Group,
}

impl Role {
    /// Whether values lie within a matrix.
    pub fn is_within(self) -> bool {
        matches!(self, Role::Row | Role::Column | Role::Half)
    }
}

/// The form in which values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Words.
    Text,
    /// Whole numbers.
    Number,
    /// Quantities with a unit, written as people do: `4KiB`.
    Quantity,
    /// Ranges, of which a wide one holds those within it.
    Range,
}

/// An axis: one list of values in a study.
#[derive(Clone, Copy)]
pub struct Axis(pub(super) &'static AxisDef);

impl Axis {
    /// The axis of an entry.
    pub const fn from_def(def: &'static AxisDef) -> Axis {
        Axis(def)
    }

    /// The entry.
    pub fn def(self) -> &'static AxisDef {
        self.0
    }

    /// The word used in plans and results.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The role of its values in a report's matrix.
    pub fn role(self) -> Role {
        self.0.role
    }

    /// The value that most studies leave alone and ids leave out; `None` for axes that every id names.
    pub fn default_value(self) -> Option<&'static str> {
        match self.0.presence {
            Presence::Always(_) => None,
            Presence::Off(default) => Some(default),
        }
    }

    /// Reads a value within the axis' bounds. The error says what a value looks like.
    pub fn read(self, text: &str) -> Result<Value, String> {
        let value = self.parse(text)?;
        (self.0.check)(&value)?;
        Ok(value)
    }

    /// Reads a value, whatever the bounds. The error says what a value looks like, and what was probably meant.
    pub fn parse(self, text: &str) -> Result<Value, String> {
        (self.0.read)(text).map_err(|error| match meant(text, self.0.known.iter().copied()) {
            Some(meant) => format!("{error} (did you mean {meant}?)"),
            None => error,
        })
    }

    /// The key that sorts axes as ids and plans name them.
    pub fn place_in_id(self) -> (u16, u16) {
        match self.0.presence {
            Presence::Always(position) => (u16::from(position), 0),
            Presence::Off(_) => (u16::MAX, self.0.order),
        }
    }
}

impl PartialEq for Axis {
    fn eq(&self, other: &Axis) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Axis {}

impl PartialOrd for Axis {
    fn partial_cmp(&self, other: &Axis) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Axis {
    fn cmp(&self, other: &Axis) -> Ordering {
        (self.0.order, self.0.name).cmp(&(other.0.order, other.0.name))
    }
}

impl Hash for Axis {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl fmt::Debug for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0.name)
    }
}
