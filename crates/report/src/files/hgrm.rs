//! HdrHistogram's percentile distribution as text (`.hgrm`): what its own tools print and its plotter reads.
//!
//! The layout is that of `outputPercentileDistribution` of HdrHistogram's Java library, with five ticks for each half of
//! what is left up to 100 %, and values in microseconds: their three decimals hold every nanosecond.

use std::collections::BTreeSet;

use hdrhistogram::Histogram;
use storebench_core::measure::latency::decode;
use xxhash_rust::xxh3::xxh3_64;

use crate::data::by_cell::{OfCell, cells};
use crate::data::merge::Merged;

/// Lines for each half of the distance to 100 %.
const TICKS: u32 = 5;

/// Nanoseconds in the unit of the values.
const SCALE: f64 = 1e3;

/// A name of a file holds at most 255 bytes.
const LONGEST_NAME: usize = 200;

/// Hands out a file for each cell and operation, trials merged: its name and its text.
///
/// # Errors
/// A sentence, when a histogram can't be read, or what `write` gives.
pub fn write<E>(
    merged: &Merged<'_>,
    broken: impl Fn(String) -> E,
    mut write: impl FnMut(&str, &str) -> Result<(), E>,
) -> Result<usize, E> {
    let several = merged.groups.windows(2).any(|pair| pair[0].key.hardware != pair[1].key.hardware);
    let mut names = BTreeSet::new();
    for of_cell in cells(merged) {
        for operation in of_cell.operations() {
            let histogram = histogram(&of_cell, operation)
                .map_err(|why| broken(format!("{}, {operation}: {why}", of_cell.cell.id())))?;
            let hardware = if several { format!("{}/", of_cell.hardware) } else { String::new() };
            let method = of_cell.method;
            let method =
                if method.is_empty() { String::new() } else { format!("/{}", method.replace(", ", "/")) };
            let name = format!("{hardware}{}{method}/{operation}", of_cell.cell.id());
            let name = file_name(&name, &mut names);
            write(&name, &text(&histogram))?;
        }
    }
    Ok(names.len())
}

/// The latencies of all trials of a cell together.
fn histogram(of_cell: &OfCell<'_>, operation: &str) -> Result<Histogram<u64>, String> {
    let mut all: Option<Histogram<u64>> = None;
    for done in of_cell.measured().filter_map(|(_, measured)| measured.operation(operation)) {
        let one = decode(&done.latency.histogram)?;
        match &mut all {
            // Where another version chose other bounds, the sum must hold them all.
            Some(all) => {
                all.auto(true);
                all.add(&one).map_err(|error| error.to_string())?;
            }
            None => all = Some(one),
        }
    }
    all.ok_or_else(|| "no trial has it".to_owned())
}

/// A name for a file, of letters that every file system takes, and that no other has.
fn file_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-=".contains(c) { c } else { '_' };
    let mut plain: String = name.chars().map(plain).collect();
    if plain.len() > LONGEST_NAME {
        plain.truncate(LONGEST_NAME);
        plain.push_str(&format!("_{:016x}", xxh3_64(name.as_bytes())));
    }
    let numbered = (2..).map(|number: u64| format!("{plain}-{number}"));
    let name = std::iter::once(plain.clone()).chain(numbered).find(|name| !taken.contains(name));
    let name = name.unwrap_or(plain);
    taken.insert(name.clone());
    format!("{name}.hgrm")
}

fn text(histogram: &Histogram<u64>) -> String {
    let mut out =
        format!("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    let mut count = 0;
    for step in histogram.iter_quantiles(TICKS) {
        count += step.count_since_last_iteration();
        let (value, quantile) = (step.value_iterated_to() as f64 / SCALE, step.quantile_iterated_to());
        out.push_str(&format!("{value:12.3} {quantile:.12} {count:10}"));
        // At 100 %, there is no such number.
        if quantile < 1.0 {
            out.push_str(&format!(" {:14.2}", 1.0 / (1.0 - quantile)));
        }
        out.push('\n');
    }
    let max = if histogram.is_empty() { 0 } else { histogram.max() };
    let (mean, deviation, max) = (histogram.mean() / SCALE, histogram.stdev() / SCALE, max as f64 / SCALE);
    // The number that the library calls sub-buckets: enough single values for its digits, twice over.
    let sub_buckets = (2 * 10_u64.pow(u32::from(histogram.sigfig()))).next_power_of_two();
    out.push_str(&format!("#[Mean    = {mean:12.3}, StdDeviation   = {deviation:12.3}]\n"));
    out.push_str(&format!("#[Max     = {max:12.3}, Total count    = {:12}]\n", histogram.len()));
    out.push_str(&format!("#[Buckets = {:12}, SubBuckets     = {sub_buckets:12}]\n", histogram.buckets()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples::{Sample, blocks, run};

    #[test]
    fn a_known_distribution_is_written_as_the_library_writes_it() {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        histogram.record(2_000).unwrap();
        histogram.record_n(4_000, 10).unwrap();
        let expected = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n\
            \x20      2.000 0.000000000000          1           1.00\n\
            \x20      4.001 0.100000000000         11           1.11\n\
            \x20      4.001 1.000000000000         11\n\
            #[Mean    =        3.819, StdDeviation   =        0.575]\n\
            #[Max     =        4.001, Total count    =           11]\n\
            #[Buckets =           32, SubBuckets     =         2048]\n";
        assert_eq!(text(&histogram), expected);
    }

    /// The lines of a text: value in nanoseconds, share, count.
    fn parsed(text: &str) -> Vec<(f64, f64, u64)> {
        let lines = text.lines().skip(2).filter(|line| !line.starts_with('#'));
        lines
            .map(|line| {
                let fields: Vec<&str> = line.split_whitespace().collect();
                assert!(fields.len() == 4 || fields[1] == "1.000000000000", "{line}");
                let share: f64 = fields[1].parse().unwrap();
                if let Some(inverse) = fields.get(3) {
                    let inverse: f64 = inverse.parse().unwrap();
                    assert!((inverse - 1.0 / (1.0 - share)).abs() <= 0.005 + inverse * 1e-6, "{line}");
                }
                (fields[0].parse::<f64>().unwrap() * 1e3, share, fields[2].parse().unwrap())
            })
            .collect()
    }

    #[test]
    fn every_line_is_true_of_the_values() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut values: Vec<u64> =
            (0..50_000).map(|_| (1e3 * (6.0 * random.f64().powi(3)).exp()) as u64).collect();
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        values.iter().for_each(|value| histogram.record(*value).unwrap());
        values.sort_unstable();
        let lines = parsed(&text(&histogram));
        assert!(lines.len() > 60, "{}", lines.len());
        for (value, share, count) in &lines {
            let below = values.iter().take_while(|v| **v as f64 <= value + 1e-6).count() as u64;
            assert_eq!(below, *count, "{value}");
            assert!(*count as f64 >= share * 50_000.0 - 1e-6, "{share}");
        }
        // Five to each half: 10 % apart up to half, 5 % up to three quarters, and so on.
        let shares: Vec<f64> = lines.iter().map(|line| line.1).take(8).collect();
        let expected = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6];
        assert!(shares.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{shares:?}");
        assert_eq!(lines.last().map(|line| (line.1, line.2)), Some((1.0, 50_000)));
    }

    fn files(runs: &[storebench_core::result::Run]) -> Vec<(String, String)> {
        let mut files = Vec::new();
        let count = write(
            &Merged::new(runs, &[]),
            |why| why,
            |name, text| {
                files.push((name.to_owned(), text.to_owned()));
                Ok(())
            },
        );
        assert_eq!(count, Ok(files.len()));
        files
    }

    #[test]
    fn trials_are_merged_and_every_cell_and_operation_has_a_file() {
        let all = files(&[blocks(
            "box",
            &[vec![Sample::new("lmdb"), Sample::new("x/../y")], vec![Sample::new("lmdb")]],
        )]);
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.len(), 8);
        assert_eq!(names[0], "lmdb_1B..1KiB_100..500_incompressible_process_insert.hgrm");
        assert!(names.contains(&"x_.._y_1B..1KiB_100..500_incompressible_process_get.hgrm"), "{names:?}");
        assert!(all[0].1.contains("Total count    =         2000]"), "{}", all[0].1);
    }

    #[test]
    fn names_are_never_taken_twice_nor_too_long() {
        let long = "é".repeat(300);
        let runs = [
            run("a", &[Sample::new("x/y"), Sample::new("x_y"), Sample::new(&long)]),
            run("b", &[Sample::new("x/y")]),
        ];
        let all = files(&runs);
        let names: BTreeSet<&String> = all.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), all.len());
        assert!(
            names.iter().all(|name| name.len() < 255 && (name.starts_with("a_") || name.starts_with("b_")))
        );
    }

    #[test]
    fn a_broken_histogram_is_named() {
        let mut run = run("box", &[Sample::new("lmdb")]);
        run.trials[0].measured.as_mut().unwrap().operations[1].latency.histogram = "?".into();
        let error = write(&Merged::new(&[run], &[]), |why| why, |_, _| Ok(())).unwrap_err();
        assert!(
            error.starts_with(
                "lmdb/1B..1KiB/100..500/incompressible/process, get: the histogram is not base64"
            ),
            "{error}"
        );
    }
}
