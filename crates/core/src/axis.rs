//! Axes: the lists of values that a study combines. One table ([`table`]) holds all that is said of each; plans, options,
//! cells, schedules, claims and reports read it.

pub mod device;
pub mod file_system;
pub mod own;
pub mod read;
mod setting;
pub mod shop;
mod sql;
pub mod table;
mod value;
pub mod values;
pub mod words;
pub mod ycsb;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use crate::error::meant;
use crate::shown::quoted;
use crate::units::as_text;
pub use value::Value;

/// All that is said of an axis.
#[derive(Debug)]
pub struct AxisDef {
    /// The word used in plans, options and results.
    pub name: &'static str,
    /// Where it stands among axes: smaller is further out in a schedule's loops and earlier in titles.
    pub order: u16,
    /// The form of its values on the command line: `RANGE,...`.
    pub value_name: &'static str,
    /// A line of help.
    pub help: &'static str,
    /// Its values, in words: `record sizes`.
    pub many: &'static str,
    /// Its name in a cell's id, and its value where none is written.
    pub presence: Presence,
    /// The role of its values in a report's matrix.
    pub role: Role,
    /// The form of its values in TOML and SQL.
    pub form: Form,
    /// The unit of a range's bounds, as exports name it: `bytes`; empty where they count what the axis is named after.
    pub unit: &'static str,
    /// Values that a shell completes; none where they are too many to name.
    pub known: &'static [&'static str],
    /// Reads a value.
    pub read: fn(&str) -> Result<Value, String>,
    /// The check of a value that can be read: an error where it is out of bounds.
    pub check: fn(&Value) -> Result<(), String>,
    /// A value with as much of the axis' name as it takes to be understood: `1,000 records`.
    pub words: fn(&Value) -> String,
    /// The completion of a value given without an upper bound, where the plan has such a value.
    pub completed: fn(Value, &[Value]) -> Value,
    /// The values in a list with commas between them, where a value can have some in itself; the others' are those of
    /// numbers alone.
    pub split: Option<fn(&str) -> Vec<String>>,
}

/// The presence of an axis in a cell's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// By its value alone, at this position; each cell of a workload that has the axis has a value.
    Always(u8),
    /// By `name=value`, and only off this value: so new axes leave old ids as they are.
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
    /// Whether its values lie within a matrix.
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
pub struct Axis(&'static AxisDef);

impl Axis {
    /// The axis of an entry of the table, or of one's own.
    pub const fn of(def: &'static AxisDef) -> Axis {
        Axis(def)
    }

    /// All that is said of it.
    pub fn def(self) -> &'static AxisDef {
        self.0
    }

    /// Every axis of the table, and those that the program adds, in their order.
    pub fn all() -> Vec<Axis> {
        let mut all: Vec<Axis> = table::ALL.iter().chain(own::axes()).map(|def| Axis(def)).collect();
        all.sort();
        all
    }

    /// The axis of a name; a name like `sqlite.page_size` is that of a store's setting.
    pub fn named(name: &str) -> Option<Axis> {
        let table = table::ALL.iter().chain(own::axes()).find(|def| def.name == name);
        table.map(|def| Axis(def)).or_else(|| setting::named(name))
    }

    /// The store and the name of the setting, where it is one.
    pub fn setting(self) -> Option<(&'static str, &'static str)> {
        setting::parts(self.0.name)
    }

    /// Every axis, in the order in which plans write them.
    pub fn as_written() -> Vec<Axis> {
        let mut axes = Axis::all();
        axes.sort_by_key(|axis| axis.place_in_id());
        axes
    }

    /// The word used in plans and results.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The role of its values in a report's matrix.
    pub fn role(self) -> Role {
        self.0.role
    }

    /// The value of an axis that most studies leave alone, and ids leave out; `None` for the axes that every id names.
    pub fn default_value(self) -> Option<&'static str> {
        match self.0.presence {
            Presence::Always(_) => None,
            Presence::Off(default) => Some(default),
        }
    }

    /// Reads a value of it, within its bounds.
    ///
    /// # Errors
    /// A sentence that says what a value looks like.
    pub fn read(self, text: &str) -> Result<Value, String> {
        let value = self.parse(text)?;
        (self.0.check)(&value)?;
        Ok(value)
    }

    /// Reads a value of it, whatever its bounds.
    ///
    /// # Errors
    /// A sentence that says what a value looks like, and what was probably meant.
    pub fn parse(self, text: &str) -> Result<Value, String> {
        (self.0.read)(text).map_err(|wrong| match meant(text, self.0.known.iter().copied()) {
            Some(meant) => format!("{wrong} (did you mean {meant}?)"),
            None => wrong,
        })
    }

    /// A value of it, which plans write as `text`, with as much of its name as it takes to be understood.
    pub fn words(self, text: &str) -> String {
        match (self.setting(), self.read(text)) {
            (Some((_, name)), _) => format!("{name}={text}"),
            (None, Ok(value)) => (self.0.words)(&value),
            (None, Err(_)) => text.to_owned(),
        }
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

impl FromStr for Axis {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Axis::named(text).ok_or_else(|| {
            let known: Vec<_> = Axis::all().into_iter().map(Axis::name).collect();
            format!("{} is not an axis: there are {}", quoted(text), known.join(", "))
        })
    }
}

as_text!(Axis);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_and_orders_are_unique_and_defaults_can_be_read() {
        let all = Axis::all();
        let names: BTreeSet<&str> = all.iter().map(|axis| axis.name()).collect();
        let orders: BTreeSet<u16> = all.iter().map(|axis| axis.def().order).collect();
        assert_eq!((names.len(), orders.len()), (all.len(), all.len()));
        for axis in all {
            assert_eq!(axis.name().parse::<Axis>().unwrap(), axis);
            if let Some(default) = axis.default_value() {
                assert_eq!(axis.read(default).unwrap().text(), default);
            }
        }
        assert!("size".parse::<Axis>().unwrap_err().contains("place, machine, background"));
    }
}
