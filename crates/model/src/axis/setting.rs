//! Settings of stores as axes: `sqlite.page_size`. An axis is made when it is first named.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::def::{Axis, AxisDef, Presence, Role};
use super::words;

const MAX_NAME_BYTES: usize = 100;

/// Settings stand behind the store among axes.
const ORDER: u16 = 2000;

/// The settings named so far, kept until the program ends, as cells refer to them.
static KNOWN: Mutex<BTreeMap<&'static str, &'static AxisDef>> = Mutex::new(BTreeMap::new());

pub(super) fn find_setting(name: &str) -> Option<Axis> {
    parts(name)?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(def) = known.get(name) {
        return Some(Axis(def));
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    let def = AxisDef {
        name,
        order: ORDER,
        help: "A setting of a store",
        many: "values of a setting",
        presence: Presence::Off(""),
        role: Role::Contestant,
        ..words::WORDS
    };
    let def: &'static AxisDef = Box::leak(Box::new(def));
    known.insert(name, def);
    Some(Axis(def))
}

pub(super) fn parts(name: &str) -> Option<(&str, &str)> {
    let is_word = |part: &str| {
        let is_word_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        !part.is_empty() && part.bytes().all(is_word_byte)
    };
    let (store, setting) = name.split_once('.')?;
    (name.len() <= MAX_NAME_BYTES && is_word(store) && is_word(setting)).then_some((store, setting))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Value;
    use crate::cell::Cell;

    #[test]
    fn a_setting_is_an_axis_of_its_own() {
        let axis = find_setting("sqlite.page_size").unwrap();
        assert_eq!((axis.name(), axis.setting()), ("sqlite.page_size", Some(("sqlite", "page_size"))));
        assert_eq!(axis, find_setting("sqlite.page_size").unwrap());
        assert_eq!(axis.describe("8192"), "page_size=8192");
        assert_eq!(Axis::STORE.setting(), None);
        let cell = Cell::new("sqlite").with(axis, Value::word("8192"));
        assert_eq!(cell.id(), "sqlite/sqlite.page_size=8192");
        assert_eq!(cell.settings().collect::<Vec<_>>(), [("page_size", "8192")]);
        for name in
            ["", "sqlite", ".page_size", "sqlite.", "sqlite.page size", "a.\u{1b}[2J", &"a.b".repeat(50)]
        {
            assert!(find_setting(name).is_none(), "{name}");
        }
    }
}
