//! Axes: the lists of values that a study combines. Plans, options, cells, schedules, claims and reports read one table ([`table`]).

pub mod added_axes;
mod def;
pub mod device;
pub mod file_system;
pub mod life;
pub mod read;
mod setting;
pub mod shop;
mod sql;
pub mod table;
mod value;
pub mod values;
pub mod words;
pub mod ycsb;

use std::str::FromStr;

use crate::result::format1::current_axis_name;
use crate::sanitize::quoted;
use crate::units::as_text;
pub use def::{Axis, AxisDef, Form, Presence, Role};
pub use value::Value;

impl Axis {
    /// Every axis of the table, then those that the program adds.
    pub fn all() -> Vec<Axis> {
        let mut axes: Vec<Axis> = table::ALL.iter().chain(added_axes::axes()).map(|def| Axis(def)).collect();
        axes.sort();
        axes
    }

    /// The axis with a name, or with the one that it had in earlier formats; `sqlite.page_size` names a store's setting.
    pub fn find(name: &str) -> Option<Axis> {
        let name = current_axis_name(name);
        let table = table::ALL.iter().chain(added_axes::axes()).find(|def| def.name == name);
        table.map(|def| Axis(def)).or_else(|| setting::find_setting(name))
    }

    /// The store and the setting that the axis is for, if it is for one.
    pub fn setting(self) -> Option<(&'static str, &'static str)> {
        setting::parts(self.0.name)
    }

    /// Every axis, in the order in which plans write them.
    pub fn as_written() -> Vec<Axis> {
        let mut axes = Axis::all();
        axes.sort_by_key(|axis| axis.place_in_id());
        axes
    }

    /// A value as plans write it (`text`), with as much of the axis' name as it takes to be understood.
    pub fn describe(self, text: &str) -> String {
        match (self.setting(), self.read(text)) {
            (Some((_, name)), _) => format!("{name}={text}"),
            (None, Ok(value)) => (self.0.words)(&value),
            (None, Err(_)) => text.to_owned(),
        }
    }
}

impl FromStr for Axis {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Axis::find(text).ok_or_else(|| {
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
        let axes = Axis::all();
        let names: BTreeSet<&str> = axes.iter().map(|axis| axis.name()).collect();
        let orders: BTreeSet<u16> = axes.iter().map(|axis| axis.def().order).collect();
        assert_eq!((names.len(), orders.len()), (axes.len(), axes.len()));
        for axis in axes {
            assert_eq!(axis.name().parse::<Axis>().unwrap(), axis);
            if let Some(default) = axis.default_value() {
                assert_eq!(axis.read(default).unwrap().text(), default);
            }
        }
        assert!("size".parse::<Axis>().unwrap_err().contains("place, disk, machine, background"));
    }
}
