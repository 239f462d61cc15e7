//! A cell: one combination of axis values, with a stable id.

use std::fmt;
use std::str::FromStr;

use serde::de::{Error as _, MapAccess};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

pub use crate::axis::Axis;
use crate::axis::Value;
use crate::axis::read::{ValueSeed, ValueWriter};
pub use crate::axis::table::{DEFAULT_PLACE, HERE};
pub use crate::axis::values::{Background, Cache, Compression, Data, GuaranteeChoice, Rate, Tuning};
use crate::units::{CountRange, SizeRange, Sizes};

/// A location with the simulated disk under it: each has its own folder, costs and facts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocationOnDisk {
    /// The location's name.
    pub place: String,
    /// The simulated disk, if there is one.
    pub disk: Option<String>,
}

impl LocationOnDisk {
    /// A location on the disk that it is on anyway.
    pub fn unsimulated(place: &str) -> LocationOnDisk {
        LocationOnDisk { place: place.to_owned(), disk: None }
    }
}

impl fmt::Display for LocationOnDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)?;
        self.disk.iter().try_for_each(|disk| write!(f, " on simulated {disk}"))
    }
}

/// One combination of axis values. An axis that is not set is at its default.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// Sorted by axis, without defaults.
    values: Vec<(Axis, Value)>,
}

impl Cell {
    /// A cell of a store, at the smallest of everything.
    pub fn new(store: &str) -> Cell {
        Cell::default().with(Axis::STORE, Value::word(store))
    }

    /// The cell with another value on an axis.
    pub fn with(mut self, axis: Axis, value: Value) -> Cell {
        self.set(axis, value);
        self
    }

    /// Puts it at a value of an axis.
    pub fn set(&mut self, axis: Axis, value: Value) {
        let is_set = axis.default_value() != Some(value.text());
        match self.values.binary_search_by(|(known_axis, _)| known_axis.cmp(&axis)) {
            Ok(index) if is_set => self.values[index].1 = value,
            Ok(index) => drop(self.values.remove(index)),
            Err(index) if is_set => self.values.insert(index, (axis, value)),
            Err(_) => {}
        }
    }

    /// Takes an axis out of it.
    pub fn remove(&mut self, axis: Axis) {
        self.values.retain(|(known_axis, _)| *known_axis != axis);
    }

    /// The value on an axis, unless it is the default.
    pub fn value(&self, axis: Axis) -> Option<&Value> {
        let index = self.values.binary_search_by(|(known_axis, _)| known_axis.cmp(&axis)).ok()?;
        Some(&self.values[index].1)
    }

    /// The value on an axis as plans write it; empty if there is none.
    pub fn text(&self, axis: Axis) -> &str {
        self.value(axis).map_or(axis.default_value().unwrap_or_default(), Value::text)
    }

    /// Its axes and values, but for those at their default.
    pub fn values(&self) -> impl Iterator<Item = (Axis, &Value)> {
        self.values.iter().map(|(axis, value)| (*axis, value))
    }

    /// A stable, readable name, the same in every run and version: axes at their default are left out.
    pub fn id(&self) -> String {
        let mut parts: Vec<_> =
            self.values().map(|(axis, value)| (axis.place_in_id(), axis, value)).collect();
        parts.sort_unstable_by_key(|(place, axis, _)| (*place, *axis));
        let format_part = |(_, axis, value): &(_, Axis, &Value)| match axis.default_value() {
            None => value.to_string(),
            Some(_) => format!("{axis}={value}"),
        };
        parts.iter().map(format_part).collect::<Vec<_>>().join("/")
    }

    /// The store's name; empty if there is none.
    pub fn store(&self) -> &str {
        self.text(Axis::STORE)
    }

    /// The store's settings that axes give, by the engine's names.
    pub fn settings(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.values().filter_map(|(axis, value)| {
            let (store, name) = axis.setting()?;
            (store == self.store()).then(|| (name, value.text()))
        })
    }

    /// The sizes of its values.
    pub fn record_size(&self) -> Sizes {
        self.typed(Axis::RECORD_SIZE).unwrap_or(SizeRange { from: 1, to: 2 }.into())
    }

    /// The number of records that it holds.
    pub fn records(&self) -> CountRange {
        self.typed(Axis::RECORDS).unwrap_or(CountRange::starting_at(1))
    }

    /// The kind of bytes that its values are made of.
    pub fn data(&self) -> Data {
        self.typed(Axis::DATA).unwrap_or(Data::Incompressible)
    }

    /// The guarantee asked for.
    pub fn guarantee(&self) -> GuaranteeChoice {
        self.typed(Axis::GUARANTEE).unwrap_or(GuaranteeChoice::Default)
    }

    /// The name of the place where its files live.
    pub fn location_name(&self) -> &str {
        self.text(Axis::PLACE)
    }

    /// The disk under its place: simulated, or `here`.
    pub fn disk(&self) -> &str {
        self.text(Axis::DISK)
    }

    /// The location, with the disk if that is simulated.
    pub fn location_on_disk(&self) -> LocationOnDisk {
        let disk = self.value(Axis::DISK).map(|disk| disk.text().to_owned());
        LocationOnDisk { place: self.location_name().to_owned(), disk }
    }

    /// The machine that its limits stand in for.
    pub fn machine(&self) -> &str {
        self.text(Axis::MACHINE)
    }

    /// The times that each record is overwritten before the operations.
    pub fn age(&self) -> u32 {
        self.typed(Axis::AGE).unwrap_or(0)
    }

    /// Sessions at work at once.
    pub fn threads(&self) -> u32 {
        self.value(Axis::THREADS).map_or(1, |threads| threads.lower() as u32)
    }

    /// The timing of operations: one after the other, or at a fixed rate.
    pub fn rate(&self) -> Rate {
        self.typed(Axis::RATE).unwrap_or_default()
    }

    /// The engines' caches.
    pub fn tuning(&self) -> Tuning {
        self.typed(Axis::TUNING).unwrap_or_default()
    }

    /// When its store compresses values.
    pub fn compression(&self) -> Compression {
        self.typed(Axis::COMPRESSION).unwrap_or_default()
    }

    /// The state of memory before the reads.
    pub fn cache(&self) -> Cache {
        self.typed(Axis::CACHE).unwrap_or_default()
    }

    /// The load that runs meanwhile.
    pub fn background(&self) -> Background {
        self.typed(Axis::BACKGROUND).unwrap_or_default()
    }

    /// The value on an axis as code obeys it; `None` at the default.
    pub fn typed<T: Clone + FromStr + 'static>(&self, axis: Axis) -> Option<T> {
        self.value(axis)?.typed()
    }

    /// The value bytes that the records come to at most with `inserts` inserts: mean size times the largest count.
    pub fn expected_bytes(&self, inserts: u64) -> f64 {
        let records = self.records();
        self.record_size().mean() * records.from.saturating_add(inserts).min(records.to) as f64
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut values: Vec<_> = self.values().collect();
        values.sort_unstable_by_key(|(axis, _)| (axis.place_in_id(), *axis));
        let mut map = serializer.serialize_map(Some(values.len()))?;
        for (axis, value) in values {
            map.serialize_entry(axis.name(), &ValueWriter(axis, value))?;
        }
        map.end()
    }
}

crate::from_map!(Cell, "a cell: values by axis", read);

fn read<'de, A: MapAccess<'de>>(mut map: A) -> Result<Cell, A::Error> {
    let mut cell = Cell::default();
    while let Some(axis) = map.next_key::<Axis>()? {
        if cell.value(axis).is_some() {
            return Err(A::Error::custom(format!("duplicate field `{axis}`")));
        }
        cell.set(axis, map.next_value_seed(ValueSeed(axis))?);
    }
    Ok(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell() -> Cell {
        read(r#"{"store":"sqlite","record_size":"1B..1KiB","records":"100..500","data":"compressible","guarantee":"power"}"#)
            .unwrap()
    }

    fn read(text: &str) -> Result<Cell, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    fn at<const N: usize>(values: [(Axis, &str); N]) -> Cell {
        values.into_iter().fold(cell(), |cell, (axis, value)| cell.with(axis, axis.read(value).unwrap()))
    }

    #[test]
    fn ids_are_stable() {
        assert_eq!(cell().id(), "sqlite/1B..1KiB/100..500/compressible/power");
        let elsewhere = at([(Axis::RATE, "5000/s"), (Axis::THREADS, "4"), (Axis::PLACE, "ssd")]);
        let id = "sqlite/1B..1KiB/100..500/compressible/power/place=ssd/threads=4/rate=5000/s";
        assert_eq!(elsewhere.id(), id);
        assert_eq!(at([(Axis::THREADS, "4"), (Axis::THREADS, "1")]), cell());
    }

    #[test]
    fn what_is_left_at_its_default_is_not_written_and_is_read_back() {
        let text = serde_json::to_string(&cell()).unwrap();
        assert!(!text.contains("threads") && !text.contains("background"), "{text}");
        assert_eq!(read(&text).unwrap(), cell());
        let full = at([(Axis::BACKGROUND, "cpu:2"), (Axis::CACHE, "cold"), (Axis::THREADS, "4")]);
        let text = serde_json::to_string(&full).unwrap();
        assert!(text.contains("\"threads\":4"), "{text}");
        assert_eq!(read(&text).unwrap(), full);
        assert_eq!((full.background(), full.cache(), full.threads()), (Background::Cpu(2), Cache::Cold, 4));
    }

    #[test]
    fn fields_that_are_no_axis_or_hold_no_value_of_it_are_refused() {
        for (text, expected) in [
            (r#"{"stor":"x"}"#, "is not an axis"),
            (r#"{"records":"none"}"#, "count"),
            (r#"{"threads":0}"#, "at least 1"),
            (r#"{"threads":-1}"#, "threads"),
            (r#"{"store":"a","store":"b"}"#, "duplicate"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn expected_bytes_stop_at_the_upper_bound() {
        let cell = at([(Axis::RECORD_SIZE, "1B..2B")]);
        assert_eq!(cell.expected_bytes(1000), 500.0);
        assert_eq!(cell.expected_bytes(50), 150.0);
    }

    #[test]
    fn a_place_on_a_simulated_disk_has_a_name_of_its_own() {
        let cell = Cell::default().with(Axis::PLACE, Axis::PLACE.read("ext4:4096").unwrap());
        assert_eq!((cell.location_on_disk(), cell.disk()), (LocationOnDisk::unsimulated("ext4:4096"), HERE));
        let cell = cell.with(Axis::DISK, Axis::DISK.read("emmc-5.1").unwrap());
        assert_eq!(cell.location_on_disk().to_string(), "ext4:4096 on simulated emmc-5.1");
        assert!(cell.id().contains("disk=emmc-5.1"), "{}", cell.id());
        assert!(Axis::DISK.read("a b").unwrap_err().contains("lower-case letters"));
    }
}
