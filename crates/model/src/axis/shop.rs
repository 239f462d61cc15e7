//! The axes of the workload `shop`.

use std::str::FromStr;

use super::def::{AxisDef, Form, Presence, Role};
use super::value::Value;
use super::words::{named, read_choice};
use crate::sanitize::quoted;
use crate::units::{Bytes, exact_bytes};

const LEAST_BYTES: u64 = 1 << 10;
const MOST_BYTES: u64 = 1 << 40;

/// A size relative to memory is written in thousandths.
const PARTS: f64 = 1000.0;
const LEAST_PARTS: u64 = 10;
const MOST_PARTS: u64 = 100_000;

/// The size of the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DataSize {
    /// So many bytes.
    Bytes(u64),
    /// So many times the memory of the machine.
    Times(f64),
}

impl FromStr for DataSize {
    type Err = String;

    fn from_str(text: &str) -> Result<DataSize, String> {
        let size = match text.trim().strip_suffix('x') {
            Some(times) => {
                times.trim().parse().ok().filter(|times: &f64| times.is_finite()).map(DataSize::Times)
            }
            None => text.parse::<Bytes>().ok().map(|bytes| DataSize::Bytes(bytes.0)),
        };
        let form = "write it like 200MiB, or 1.25x of the machine's memory";
        size.ok_or_else(|| format!("{} is not a size of data: {form}", quoted(text)))
    }
}

impl DataSize {
    /// The bytes on a machine with so much memory; `None` if that takes a limit which is not there.
    pub fn bytes(self, memory: Option<u64>) -> Option<u64> {
        match self {
            DataSize::Bytes(bytes) => Some(bytes),
            DataSize::Times(times) => memory.map(|memory| (memory as f64 * times) as u64),
        }
    }
}

fn data_size(text: &str) -> Result<Value, String> {
    Ok(match text.parse::<DataSize>()? {
        DataSize::Bytes(bytes) => Value::new(&Bytes(bytes).to_string(), bytes, bytes),
        // Sizes of both kinds in one plan sort by kind.
        DataSize::Times(times) => {
            let parts = (times * PARTS).round();
            Value::new(&format!("{}x", parts / PARTS), parts as u64, 0)
        }
    })
}

/// Checks the bounds. A relative size has no upper bound as a value.
fn check_data_size(size: &Value) -> Result<(), String> {
    match matches!(size.text().parse(), Ok(DataSize::Times(_))) {
        true if (LEAST_PARTS..=MOST_PARTS).contains(&size.lower()) => Ok(()),
        true => Err(format!("the data are {size} of the memory: they must be from 0.01x to 100x")),
        false if (LEAST_BYTES..=MOST_BYTES).contains(&size.lower()) => Ok(()),
        false => {
            let [found, least, most] = [size.lower(), LEAST_BYTES, MOST_BYTES].map(exact_bytes);
            Err(format!("the data are {found}: they must be from {least} to {most}"))
        }
    }
}

pub(super) static DATA_SIZE: AxisDef = AxisDef {
    value_name: "SIZE,...",
    help: "data-size: the data in all tables: 200MiB, or 1.25x (of the machine's memory)",
    presence: Presence::Always(23),
    role: Role::Column,
    form: Form::Quantity,
    read: data_size,
    check: check_data_size,
    words: |size| format!("data size {size}"),
    ..named("data_size", 1041, "data sizes")
};

pub(super) static INDEX: AxisDef = AxisDef {
    help: "data-size: the secondary index on orders: customer (by customer), none",
    presence: Presence::Off("customer"),
    role: Role::Row,
    known: &["customer", "none"],
    read: |text| read_choice(text, "an index", &["customer", "none"]),
    words: |index| match index.text() {
        "none" => "no index".into(),
        other => format!("index by {other}"),
    },
    ..named("index", 1036, "indexes")
};

pub(super) static LOAD_ORDER: AxisDef = AxisDef {
    help: "data-size: the order of rows when they are loaded: sorted (by primary key), unsorted",
    presence: Presence::Off("sorted"),
    role: Role::Row,
    prepares: true,
    known: &["sorted", "unsorted"],
    read: |text| read_choice(text, "an order to load in", &["sorted", "unsorted"]),
    words: |order| format!("loaded {order}"),
    ..named("load_order", 1037, "load orders")
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Axis;

    #[test]
    fn data_sizes_are_absolute_or_relative_to_memory() {
        let read = |text: &str| Axis::DATA_SIZE.read(text);
        assert_eq!(read("200MiB").unwrap().text(), "200MiB");
        for (text, shown, words) in [("0.75x", "0.75x", "data size 0.75x"), (" 4.0x", "4x", "data size 4x")] {
            let value = read(text).unwrap();
            assert_eq!((value.text(), Axis::DATA_SIZE.describe(value.text()).as_str()), (shown, words));
            assert_eq!(read(value.text()).unwrap(), value);
        }
        assert!(read("0.75x").unwrap() < read("1.25x").unwrap());
        for (text, expected) in [
            ("x", "is not a size of data"),
            ("NaNx", "is not a size of data"),
            ("many", "is not a size of data"),
            ("0x", "from 0.01x to 100x"),
            ("-1x", "from 0.01x to 100x"),
            ("1B", "from 1KiB to 1TiB"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let bytes = |text: &str, memory| text.parse::<DataSize>().unwrap().bytes(memory);
        assert_eq!(bytes("1.5x", Some(1 << 20)), Some(3 << 19));
        assert_eq!((bytes("1.5x", None), bytes("2KiB", None)), (None, Some(2048)));
    }
}
