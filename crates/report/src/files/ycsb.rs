//! The text that YCSB prints at the end of a run, for scripts that read it: a line for each figure, with operation, figure and value.
//! YCSB has only whole microseconds: lines in its own form use them, additional lines have nanoseconds.

use std::fmt::{Display, Write};

use storebench_core::measure::latency::decode;
use storebench_host::run::Run;
use storebench_model::result::{Measurements, OVERALL, OperationResult};

const PERCENTILES: [(&str, f64); 3] = [("50th", 0.5), ("95th", 0.95), ("99th", 0.99)];

/// The successful trials of some runs, each after a line that begins with `#` if there are several; an error if a histogram can't be read.
pub fn text(runs: &[Run]) -> Result<String, String> {
    let trials = || runs.iter().flat_map(|run| &run.trials).filter_map(|trial| Some((trial, trial.ok()?)));
    let several = trials().count() > 1;
    let mut text = String::new();
    for (trial, measured) in trials() {
        let id = trial.cell.id();
        if several {
            let _ = writeln!(text, "# {id}, block {}", trial.block + 1);
        }
        trial_text(measured, &mut text).map_err(|reason| format!("{id}: {reason}"))?;
    }
    Ok(text)
}

fn trial_text(measured: &Measurements, text: &mut String) -> Result<(), String> {
    let operations = &measured.operations;
    let overall = operations.iter().find(|operation| operation.operation == OVERALL);
    if let Some(overall) = overall.or(operations.first()) {
        let ms = overall.wall_ns as f64 / 1e6;
        write_line(text, "OVERALL", "RunTime(ms)", ms.round());
        if ms > 0.0 {
            write_line(text, "OVERALL", "Throughput(ops/sec)", overall.count as f64 * 1e3 / ms);
        }
    }
    for operation in operations.iter().filter(|operation| operation.operation != OVERALL) {
        operation_text(operation, text)?;
    }
    Ok(())
}

fn operation_text(operation: &OperationResult, text: &mut String) -> Result<(), String> {
    let name = operation.operation.to_uppercase();
    let OperationResult { count, latency, .. } = operation;
    write_line(text, &name, "Operations", count);
    if *count > 0 {
        let histogram = decode(&latency.histogram)?;
        let us = |ns: u64| ns / 1_000;
        write_line(text, &name, "AverageLatency(us)", latency.mean_ns / 1e3);
        write_line(text, &name, "MinLatency(us)", us(latency.min_ns));
        write_line(text, &name, "MaxLatency(us)", us(latency.max_ns));
        // A bucket's upper end may exceed the longest latency.
        let percentiles = PERCENTILES
            .map(|(name, quantile)| (name, histogram.value_at_quantile(quantile).min(latency.max_ns)));
        for (percentile, ns) in percentiles {
            write_line(text, &name, &format!("{percentile}PercentileLatency(us)"), us(ns));
        }
        write_line(text, &name, "MinLatency(ns)", latency.min_ns);
        write_line(text, &name, "MaxLatency(ns)", latency.max_ns);
        for (percentile, ns) in percentiles {
            write_line(text, &name, &format!("{percentile}PercentileLatency(ns)"), ns);
        }
    }
    write_line(text, &name, "Return=OK", count);
    if operation.errors > 0 {
        write_line(text, &name, "Return=ERROR", operation.errors);
    }
    Ok(())
}

fn write_line(text: &mut String, operation: &str, figure: &str, value: impl Display) {
    let _ = writeln!(text, "[{operation}], {figure}, {value}");
}

#[cfg(test)]
mod tests {
    use storebench_samples::{Sample, blocks};

    use super::*;

    /// The operation, the figure and the value of each line, as a script reads them.
    fn read(text: &str) -> Vec<(&str, &str, f64)> {
        let lines = text.lines().filter(|line| line.starts_with('['));
        lines
            .map(|line| {
                let [operation, figure, value] = line.split(", ").collect::<Vec<_>>().try_into().unwrap();
                (operation.trim_matches(['[', ']']), figure, value.parse().unwrap())
            })
            .collect()
    }

    #[test]
    fn scripts_for_ycsb_find_its_figures() {
        let run =
            blocks("box", &[vec![Sample::new("lmdb").ns(2_500.0)], vec![Sample::new("lmdb").ns(3_500.0)]]);
        let text = text(std::slice::from_ref(&run)).unwrap();
        assert_eq!(text.lines().filter(|line| line.starts_with("# lmdb/")).count(), 2, "{text}");
        let lines = read(&text);
        let value_of = |operation: &str, figure: &str| {
            lines.iter().find(|(o, f, _)| (*o, *f) == (operation, figure)).unwrap().2
        };
        assert!(value_of("OVERALL", "RunTime(ms)") >= 0.0);
        assert!(value_of("OVERALL", "Throughput(ops/sec)") > 0.0);
        assert!(value_of("INSERT", "AverageLatency(us)") > 0.0);
        assert_eq!(value_of("INSERT", "Operations"), value_of("INSERT", "Return=OK"));
        for percentile in ["50th", "95th", "99th"] {
            let us = value_of("INSERT", &format!("{percentile}PercentileLatency(us)"));
            let ns = value_of("INSERT", &format!("{percentile}PercentileLatency(ns)"));
            assert_eq!((ns / 1e3).floor(), us, "whole microseconds, as YCSB prints them");
        }
    }
}
