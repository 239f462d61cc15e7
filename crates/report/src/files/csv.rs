//! CSV as paper 000's programs write and read it: its header, its names, its units, whole numbers only.
//!
//! The format has four operations, memory (KiB) and space (percent). Every store in the file competes: those of the harness and builds
//! that are not ranked are left out. Sizes are half-open: `1B to 1KiB` is from 1 to 1,023 bytes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use indexmap::IndexSet;
use storebench_figures::data::matrix::OPERATIONS;
use storebench_figures::data::merge::{Group, Merged};
use storebench_figures::data::names::paper_name;
use storebench_model::cell::{Axis, Data};
use storebench_model::result::Measurements;
use storebench_model::units::{Sizes, exact_bytes};

use crate::files::spreadsheet_safe::put;

const HEADER: [&str; 11] =
    ["hardware", "store", "op", "size", "records", "data type", "measurements", "sum", "min", "max", "avg"];

#[derive(Debug, Clone, Copy)]
struct Pool {
    measurements: u64,
    sum: f64,
    min: f64,
    max: f64,
}

impl Pool {
    fn single(value: f64) -> Pool {
        Pool { measurements: 1, sum: value, min: value, max: value }
    }

    fn add(self, other: Pool) -> Pool {
        Pool {
            measurements: self.measurements + other.measurements,
            sum: self.sum + other.sum,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

type Writer<'w> = csv::Writer<&'w mut dyn Write>;

/// The key of a row: data, size, the lower bound of the record count, the indices of the store and of the operation.
type RowKey = (Data, Sizes, u64, usize, usize);

/// Writes a row per store, operation, size, count and kind of data, of pooled trials. The hardware's name includes guarantees and places
/// if there are several, as they must not be mixed.
pub fn write(merged: &Merged<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut writer: Writer<'_> = csv::Writer::from_writer(out);
    writer.write_record(HEADER)?;
    for group in &merged.groups {
        write_group(merged, group, &mut writer)?;
    }
    writer.flush()
}

fn write_group(merged: &Merged<'_>, group: &Group<'_>, writer: &mut Writer<'_>) -> io::Result<()> {
    let hardware = merged.hardware_label(&group.key);
    let mut stores: IndexSet<Cow<'_, str>> = IndexSet::new();
    let mut rows: BTreeMap<RowKey, (&str, Pool)> = BTreeMap::new();
    for entry in &group.trials {
        let cell = &entry.trial.cell;
        let has_records = [Axis::RECORD_SIZE, Axis::RECORDS].iter().all(|axis| cell.value(*axis).is_some());
        let is_ranked = !merged.is_harness(cell.store()) && entry.not_ranked().is_none();
        let Some(measured) = entry.trial.ok().filter(|_| is_ranked && has_records) else { continue };
        let store = stores.insert_full(merged.layout.contestant(cell)).0;
        for (order, (name, pool)) in pools(measured).into_iter().enumerate() {
            let Some(pool) = pool else { continue };
            let key = (cell.data(), cell.record_size(), cell.records().from, store, order);
            rows.entry(key).and_modify(|row| row.1 = row.1.add(pool)).or_insert((name, pool));
        }
    }
    for ((data, sizes, records, store, _), (operation, pool)) in rows {
        let store = stores.get_index(store).map_or("", |store| paper_name(store));
        let size = match sizes.single_range() {
            Some(size) => format!("{} to {}", exact_bytes(size.from), exact_bytes(size.to)),
            None => sizes.to_string(),
        };
        let texts = [&hardware, store, operation, &size, &records.to_string(), data.name()];
        let average = pool.sum / pool.measurements as f64;
        let numbers = [pool.measurements as f64, pool.sum, pool.min, pool.max, average];
        let numbers = numbers.map(|number| format!("{number:.0}"));
        put(writer, texts.into_iter().chain(numbers.iter().map(String::as_str)))?;
    }
    Ok(())
}

fn pools(measured: &Measurements) -> [(&'static str, Option<Pool>); 6] {
    let operation = |name: &'static str| {
        let operation = measured.operation(name).filter(|operation| operation.count > 0);
        let pool = operation.map(|o| Pool {
            measurements: o.count,
            sum: o.sum_ns as f64,
            min: o.latency.min_ns as f64,
            max: o.latency.max_ns as f64,
        });
        (name, pool)
    };
    let [insert, update, get, remove] = OPERATIONS.map(operation);
    let kib = measured.memory.peak_above_base_bytes as f64 / 1024.0;
    let percent = measured.space_efficiency().map(|share| Pool::single(share * 100.0));
    [insert, update, get, remove, ("memory", Some(Pool::single(kib))), ("space", percent)]
}

#[cfg(test)]
mod tests {
    use storebench_host::run::Run;
    use storebench_model::store::Guarantee;
    use storebench_model::stores::NULL;
    use storebench_model::units::CountRange;

    use storebench_model::units::SizeRange;
    use storebench_samples::{Sample, run};

    use super::*;

    fn text(runs: &[Run]) -> String {
        let mut out = Vec::new();
        write(&Merged::new(runs, &[NULL]), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn trials_are_pooled() {
        let runs = [1000.0, 2000.0, 2001.0].map(|ns| run("box", &[Sample::new("lmdb").ns(ns)]));
        let text = text(&runs);
        let lines = [("insert", "3000,5001000,500,40020,1667"), ("memory", "3,5001,1000,2001,1667")];
        for (figure, values) in lines {
            let line = format!("\nbox,lmdb,{figure},1B to 1KiB,100,incompressible,{values}\n");
            assert!(text.contains(&line), "{text}");
        }
        let thrice = [84.4; 3].map(Pool::single).into_iter().reduce(Pool::add).unwrap();
        assert_eq!(format!("{:.0}", thrice.sum), "253", "and not three times 84");
    }

    #[test]
    fn a_single_size_is_exact() {
        let size = SizeRange { from: 4096, to: 4097 };
        assert!(text(&[run("box", &[Sample::new("lmdb").size(size)])]).contains(",4KiB to 4097B,"));
    }

    #[test]
    fn guarantees_and_places_are_in_the_hardwares_name_where_they_differ() {
        let names = |samples: &[Sample]| {
            let text = text(&[run("box", samples)]);
            let names = text.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned());
            names.collect::<IndexSet<String>>().into_iter().collect::<Vec<_>>()
        };
        let power = Sample::new("lmdb").guarantee("power");
        let shipped = Sample::new("lmdb").guarantee("default").tier(Guarantee::Power);
        assert_eq!(names(std::slice::from_ref(&power)), ["box"]);
        assert_eq!(names(&[power.clone(), shipped]), ["box (default: power)", "box (power)"]);
        assert_eq!(names(&[power.clone(), power.place("ssd")]), ["box (at here)", "box (at ssd)"]);
    }

    #[test]
    fn what_does_not_compete_is_left_out() {
        let samples = [Sample::new("lmdb"), Sample::new("rocksdb").distributed(true)];
        assert!(!text(&[run("box", &samples)]).contains("RocksDB"));
        assert!(text(&[run("box", &[Sample::new("rocksdb").distributed(false)])]).contains("RocksDB"));
    }

    #[test]
    fn upper_bounds_do_not_split_a_row() {
        let other = CountRange { from: 100, to: 900 };
        let text = text(&[run("box", &[Sample::new("lmdb"), Sample::new("lmdb").records(other)])]);
        assert_eq!(text.lines().count(), 1 + 6);
    }
}
