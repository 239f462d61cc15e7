//! Data against memory as CSV: a row for each store, operation and size, with where that store falls.

use std::io::{self, Write};

use crate::data::merge::Merged;
use crate::data::sizes::{AtSize, Fall, Sizes, sizes};
use crate::stats::cliff::Cliff;
use crate::stats::{Estimate, Summary};

const HEADER: [&str; 24] = [
    "hardware",
    "title",
    "store",
    "operation",
    "data_over_memory",
    "trials",
    "throughput_per_s",
    "throughput_low_per_s",
    "throughput_high_per_s",
    "latency_mean_ns",
    "latency_mean_low_ns",
    "latency_mean_high_ns",
    "latency_p99_ns",
    "latency_p99_low_ns",
    "latency_p99_high_ns",
    "cliff",
    "cliff_at",
    "cliff_low",
    "cliff_high",
    "kept",
    "kept_low",
    "kept_high",
    "falls_last",
    "falls_least",
];

/// Writes the rows; the header alone where data were not of several sizes.
///
/// # Errors
/// What the writer gives.
pub fn write(merged: &Merged<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(HEADER)?;
    for one in &sizes(merged) {
        for falls in &one.operations {
            for fall in &falls.stores {
                for size in &fall.sizes {
                    writer.write_record(row(one, &falls.operation, fall, size))?;
                }
            }
        }
    }
    writer.flush()
}

fn row(one: &Sizes, operation: &str, fall: &Fall, size: &AtSize) -> Vec<String> {
    let mut row = vec![
        one.hardware.clone(),
        one.title.clone(),
        fall.store.clone(),
        operation.to_owned(),
        size.times.to_string(),
        size.per_second.trials.to_string(),
    ];
    row.extend(with_ends(Some(&size.per_second.mean)));
    let mean = |summary: &Option<Summary>| summary.as_ref().map(|summary| summary.mean);
    row.extend(with_ends(mean(&size.latency_ns).as_ref()));
    row.extend(with_ends(mean(&size.p99_ns).as_ref()));
    row.extend(match fall.cliff {
        Cliff::At { at, low, high } => {
            let at = at.map_or_else(String::new, |at| at.to_string());
            ["at".to_owned(), at, low.to_string(), high.to_string()]
        }
        Cliff::None => ["none", "", "", ""].map(str::to_owned),
        Cliff::Unknown => ["unknown", "", "", ""].map(str::to_owned),
    });
    row.extend(with_ends(fall.kept.as_ref().map(|kept| &kept.ratio)));
    row.extend([fall.falls_last, fall.falls_least].map(|is| u8::from(is).to_string()));
    row
}

/// A value and the ends of its interval; empty where they are not known.
fn with_ends(estimate: Option<&Estimate>) -> [String; 3] {
    let Some(Estimate { value, interval }) = estimate else { return Default::default() };
    let ends = interval
        .map_or_else(Default::default, |interval| [interval.low, interval.high].map(|end| end.to_string()));
    let [low, high] = ends;
    [value.to_string(), low, high]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::sizes::tests::outgrown;

    #[test]
    fn every_size_has_a_row_with_the_cliff_of_its_store() {
        let runs = [outgrown()];
        let mut out = Vec::new();
        write(&Merged::new(&runs, &[]), &mut out).unwrap();
        let mut reader = csv::Reader::from_reader(out.as_slice());
        let head: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
        assert_eq!(head, HEADER);
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 3 * 7 * 4);
        let of = |row: &csv::StringRecord, name: &str| {
            row[HEADER.iter().position(|own| *own == name).unwrap()].to_owned()
        };
        let redb: Vec<&csv::StringRecord> =
            rows.iter().filter(|row| &row[2] == "redb" && &row[3] == "insert").collect();
        assert_eq!((redb.len(), of(redb[0], "data_over_memory").as_str()), (7, "0.25"));
        assert!(redb.iter().all(|row| of(row, "cliff") == "at" && of(row, "falls_last") == "1"));
        assert!((of(redb[0], "kept").parse::<f64>().unwrap() - 0.5).abs() < 0.05);
        let sqlite = rows.iter().find(|row| &row[2] == "sqlite").unwrap();
        assert_eq!((of(sqlite, "cliff").as_str(), of(sqlite, "cliff_at").as_str()), ("none", ""));
    }
}
