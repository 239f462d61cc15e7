//! Published tables of winners that come with the program, to compare with runs. They are data: studies/published/.

use serde::Deserialize;
use storebench_model::cell::{Background, Data};
use storebench_model::error::{Error, Exit, Result};
use storebench_model::units::{CountRange, SizeRange};

const FILES: [(&str, &str); 4] = [
    ("ext4", include_str!("../studies/published/crud-ext4.toml")),
    ("hdd", include_str!("../studies/published/crud-hdd.toml")),
    ("ssd-video", include_str!("../studies/published/crud-ssd-video.toml")),
    ("hdd-video", include_str!("../studies/published/crud-hdd-video.toml")),
];

/// A published table of winners.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// The study whose runs the table is compared with.
    pub study: String,
    /// A short title of the measurement.
    pub title: String,
    /// The publication.
    pub source: String,
    /// The machine, as far as known.
    pub hardware: String,
    /// The place of its stores, as claims name it.
    pub place: String,
    /// Whether only claims that name it use it: a table from another paper.
    #[serde(default)]
    pub by_name_alone: bool,
    /// The background load of its measurements.
    pub background: Background,
    /// The unit printed after times.
    pub printed_unit: String,
    /// The unit that was meant.
    pub unit: String,
    /// Notes for readers.
    pub notes: Vec<String>,
    /// The compared stores.
    pub stores: Vec<String>,
    /// Its columns, for each kind of data.
    pub records: Vec<CountRange>,
    /// Its rows, in the file's form.
    row: Vec<FileRow>,
    /// Its rows.
    #[serde(skip)]
    pub rows: Vec<Row>,
}

/// A row of a published table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The figure, by the matrix's name: an operation, or `space`.
    pub figure: String,
    /// The sizes of the values.
    pub record_size: SizeRange,
    /// By column; `None` for an empty place.
    pub incompressible: Vec<Option<Cell>>,
    /// By column; `None` for an empty place.
    pub compressible: Vec<Option<Cell>>,
}

impl Row {
    /// The cells of one kind of data.
    pub fn cells(&self, data: Data) -> &[Option<Cell>] {
        match data {
            Data::Incompressible => &self.incompressible,
            Data::Compressible => &self.compressible,
        }
    }
}

/// The published winner of a place.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The store.
    pub store: String,
    /// The figure, in nanoseconds or as a share of 1; `None` if illegible.
    pub value: Option<f64>,
    /// The figure with the printed digits, in the unit that was meant; empty if illegible.
    pub text: String,
}

impl Cell {
    /// The store and its figure: `lmdb 12 µs`.
    pub fn describe(&self) -> String {
        if self.text.is_empty() { self.store.clone() } else { format!("{} {}", self.store, self.text) }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRow {
    figure: String,
    record_size: SizeRange,
    incompressible: Vec<String>,
    compressible: Vec<String>,
}

/// The published tables of a study.
///
/// # Errors
/// [`Exit::Failure`] if one can't be read, which would be a bug.
pub fn tables(study: &str) -> Result<Vec<Table>> {
    let parse_file = |(name, text): (&str, &str)| {
        let failure = |message: String| format!("the published table {name}: {message}");
        parse(text).map_err(|message| Error::new(Exit::Failure, failure(message)))
    };
    let mut tables = FILES.into_iter().map(parse_file).collect::<Result<Vec<_>>>()?;
    tables.retain(|table| table.study == study);
    Ok(tables)
}

fn parse(text: &str) -> std::result::Result<Table, String> {
    let mut table: Table = toml::from_str(text).map_err(|error| error.to_string())?;
    let factor = match table.unit.as_str() {
        "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        other => return Err(format!("{other:?} is no unit of times here")),
    };
    for row in std::mem::take(&mut table.row) {
        let columns = table.records.len();
        let cells = |texts: &[String]| {
            if texts.len() != columns {
                return Err(format!("{} {} has not {columns} cells", row.figure, row.record_size));
            }
            texts.iter().map(|text| cell(text, factor, &table.unit, &table.stores)).collect()
        };
        let row = Row {
            figure: row.figure.clone(),
            record_size: row.record_size,
            incompressible: cells(&row.incompressible)?,
            compressible: cells(&row.compressible)?,
        };
        table.rows.push(row);
    }
    Ok(table)
}

/// `lmdb 12` in the table's unit of time, `lmdb 98%`, or only `lmdb`.
fn cell(text: &str, factor: f64, unit: &str, stores: &[String]) -> std::result::Result<Option<Cell>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let (store, number) = text.split_once(' ').map_or((text, None), |(store, number)| (store, Some(number)));
    if !stores.iter().any(|name| name == store) {
        return Err(format!("{store:?} is none of its stores"));
    }
    let value = |number: &str| match number.strip_suffix('%') {
        Some(percent) => percent.parse().map(|percent: f64| percent / 100.0),
        None => number.parse().map(|number: f64| number * factor),
    };
    let value = number.map(value).transpose().map_err(|_| format!("{text:?} is no store and number"))?;
    let text = number.map_or(String::new(), |number| match number.strip_suffix('%') {
        Some(percent) => format!("{percent} %"),
        None => format!("{number} {unit}"),
    });
    Ok(Some(Cell { store: store.to_owned(), value, text }))
}

#[cfg(test)]
mod tests {
    use storebench_core::workload::operation::Operation;
    use storebench_host::plan;

    use super::*;
    use crate::claims::Figure;
    use storebench_model::cell::Axis;

    #[test]
    fn every_cell_is_one_of_the_study() {
        let plan = plan::find("crud").unwrap();
        let tables = tables("crud").unwrap();
        assert_eq!(tables.len(), FILES.len());
        for (table, (name, _)) in tables.iter().zip(FILES) {
            assert_eq!(table.name, name);
            let (counts, sizes) = (plan.axes.list(Axis::RECORDS), plan.axes.list(Axis::RECORD_SIZE));
            assert!(table.stores.iter().all(|store| plan.axes.texts(Axis::STORE).contains(store)), "{name}");
            assert!(table.records.iter().all(|records| counts.contains(records)), "{name}");
            assert_eq!(table.rows.len(), 20, "{name}");
            for row in &table.rows {
                assert!(sizes.contains(&row.record_size), "{name}: {}", row.record_size);
                let operations = Operation::ALL.map(Operation::name);
                assert!(row.figure == "space" || operations.contains(&row.figure.as_str()), "{}", row.figure);
                assert!(row.figure.parse::<Figure>().is_ok());
                // The study leaves out the same combinations as the paper, so the tables have the same holes.
                for (records, cells) in
                    table.records.iter().zip(row.incompressible.iter().zip(&row.compressible))
                {
                    let bytes =
                        row.record_size.mean() * records.from.saturating_add(1000).min(records.to) as f64;
                    let is_measured = bytes < plan.size_limit.0 as f64;
                    assert_eq!([cells.0, cells.1].map(Option::is_some), [is_measured; 2], "{name} {row:?}");
                }
            }
        }
        assert!(super::tables("another").unwrap().is_empty());
    }

    #[test]
    fn figures_have_the_unit_that_was_meant() {
        let tables = tables("crud").unwrap();
        let hdd = tables.iter().find(|table| table.name == "hdd").unwrap();
        assert_eq!((hdd.printed_unit.as_str(), hdd.unit.as_str()), ("ns", "µs"));
        let first = hdd.rows[0].cells(Data::Incompressible)[0].clone().unwrap();
        assert_eq!((first.value, first.describe()), (Some(2000.0), "berkeleydb 2 µs".into()));
        let space = hdd.rows.iter().find(|row| row.figure == "space").unwrap();
        let last = space.cells(Data::Compressible)[4].clone().unwrap();
        assert_eq!((last.value, last.describe()), (Some(1.13), "rocksdb 113 %".into()));
        let unreadable = |table: &Table| {
            let cells = table.rows.iter().flat_map(|row| [&row.incompressible, &row.compressible]);
            cells.flatten().flatten().filter(|cell| cell.value.is_none()).count()
        };
        let counts: Vec<usize> = tables.iter().map(unreadable).collect();
        assert_eq!(counts, [0, 1, 1, 0]);
    }

    #[test]
    fn a_broken_table_is_told() {
        let good = FILES[0].1;
        for (text, replacement, word) in [
            ("berkeleydb 2", "berkeley 2", "\"berkeley\" is none of its stores"),
            ("berkeleydb 2", "berkeleydb two", "no store and number"),
            ("unit = \"µs\"\nnotes", "unit = \"weeks\"\nnotes", "\"weeks\""),
            ("\"berkeleydb 2\", ", "", "has not 5 cells"),
            ("hardware =", "hardwear =", "hardwear"),
        ] {
            assert!(good.contains(text), "{text}");
            let message = parse(&good.replacen(text, replacement, 1)).unwrap_err();
            assert!(message.contains(word), "{message}");
        }
    }
}
