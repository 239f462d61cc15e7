//! The table of figures. Every report reads it: a figure added here appears in all of them.

use serde::{Serialize, Serializer};

use crate::result::{Measured, OperationResult};
pub use crate::stats::Better;
use crate::units::{rough_bytes, rough_ns, three_digits};

/// The unit of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// Operations per second.
    PerSecond,
    /// A number of things.
    Count,
    /// A share of 1.
    Share,
}

impl Unit {
    /// The unit's sign, as it ends the names of columns in CSV; empty for [`Unit::Count`].
    pub fn name(self) -> &'static str {
        match self {
            Unit::Nanoseconds => "ns",
            Unit::Bytes => "bytes",
            Unit::PerSecond => "per_s",
            Unit::Count => "",
            Unit::Share => "share",
        }
    }

    /// Writes a value for people, to three digits.
    pub fn show(self, value: f64) -> String {
        match self {
            Unit::Nanoseconds => rough_ns(value),
            Unit::Bytes => rough_bytes(value),
            Unit::PerSecond => format!("{}/s", three_digits(value)),
            Unit::Count if value.fract() == 0.0 && value.abs() < 1000.0 => format!("{value}"),
            Unit::Count => three_digits(value),
            Unit::Share => format!("{} %", three_digits(value * 100.0)),
        }
    }
}

impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Where a column's value comes from; `None` where a trial has none.
#[derive(Debug, Clone, Copy)]
pub enum Value {
    /// One operation of a trial.
    Operation(fn(&OperationResult) -> Option<f64>),
    /// A trial as a whole.
    Trial(fn(&Measured) -> Option<f64>),
}

/// One figure.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name in CSV and JSON, without the unit.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The unit of its values.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// How to take it from a trial.
    pub value: Value,
}

impl Column {
    /// The value of one operation; `None` for columns of trials.
    pub fn of_operation(&self, operation: &OperationResult) -> Option<f64> {
        match self.value {
            Value::Operation(value) => value(operation),
            Value::Trial(_) => None,
        }
    }

    /// The value of a trial; `None` for columns of operations.
    pub fn of_trial(&self, measured: &Measured) -> Option<f64> {
        match self.value {
            Value::Operation(_) => None,
            Value::Trial(value) => value(measured),
        }
    }

    /// Whether it is a figure of single operations.
    pub fn is_of_operation(&self) -> bool {
        matches!(self.value, Value::Operation(_))
    }

    /// Its name in CSV: the id, and the unit last.
    pub fn csv_name(&self) -> String {
        match self.unit.name() {
            "" => self.id.to_owned(),
            unit => format!("{}_{unit}", self.id),
        }
    }
}

const fn operation(
    id: &'static str,
    title: &'static str,
    unit: Unit,
    better: Better,
    value: fn(&OperationResult) -> Option<f64>,
) -> Column {
    Column { id, title, unit, better, value: Value::Operation(value) }
}

const fn latency(
    id: &'static str,
    title: &'static str,
    value: fn(&OperationResult) -> Option<f64>,
) -> Column {
    operation(id, title, Unit::Nanoseconds, Better::Lower, value)
}

const fn trial(
    id: &'static str,
    title: &'static str,
    unit: Unit,
    better: Better,
    value: fn(&Measured) -> Option<f64>,
) -> Column {
    Column { id, title, unit, better, value: Value::Trial(value) }
}

/// Mean latency: the sum of the latencies over their number. What the matrix shows of operations.
pub const MEAN_LATENCY: Column =
    latency("latency_mean", "mean", |o| (o.count > 0).then(|| o.sum_ns as f64 / o.count as f64));

/// Peak memory above the base. What the matrix shows of memory.
pub const PEAK_MEMORY: Column =
    trial("memory_peak_above_base", "peak memory", Unit::Bytes, Better::Lower, |m| {
        Some(m.memory.peak_above_base_bytes as f64)
    });

/// Value bytes over bytes on disk. What the matrix shows of space.
pub const SPACE_EFFICIENCY: Column =
    trial("space_efficiency", "space efficiency", Unit::Share, Better::Higher, Measured::space_efficiency);

/// Every column, in the order in which reports show them.
pub const COLUMNS: &[Column] = &[
    operation("throughput", "ops/s", Unit::PerSecond, Better::Higher, |o| {
        (o.sum_ns > 0).then(|| o.count as f64 / (o.sum_ns as f64 / 1e9))
    }),
    MEAN_LATENCY,
    latency("latency_min", "min", |o| measured(o, o.latency.min_ns)),
    latency("latency_p50", "p50", |o| measured(o, o.latency.p50_ns)),
    latency("latency_p90", "p90", |o| measured(o, o.latency.p90_ns)),
    latency("latency_p99", "p99", |o| measured(o, o.latency.p99_ns)),
    latency("latency_p999", "p99.9", |o| measured(o, o.latency.p999_ns)),
    latency("latency_max", "max", |o| measured(o, o.latency.max_ns)),
    latency("latency_stdev", "st. dev.", |o| (o.count > 0).then_some(o.latency.stdev_ns)),
    operation("errors", "errors", Unit::Count, Better::Lower, |o| Some(o.errors as f64)),
    operation("wall_per_operation", "wall/op", Unit::Nanoseconds, Better::Neither, |o| {
        (o.count > 0).then(|| o.wall_ns as f64 / o.count as f64)
    }),
    PEAK_MEMORY,
    trial("cpu_user", "user CPU", Unit::Nanoseconds, Better::Lower, |m| Some(m.cpu.user_ns as f64)),
    trial("cpu_system", "system CPU", Unit::Nanoseconds, Better::Lower, |m| Some(m.cpu.system_ns as f64)),
    trial("disk_allocated", "on disk", Unit::Bytes, Better::Lower, |m| Some(m.disk.allocated_bytes as f64)),
    trial("disk_apparent", "apparent", Unit::Bytes, Better::Lower, |m| Some(m.disk.apparent_bytes as f64)),
    trial("files", "files", Unit::Count, Better::Neither, |m| Some(m.disk.files as f64)),
    trial("values_stored", "values", Unit::Bytes, Better::Neither, |m| Some(m.stored.value_bytes as f64)),
    SPACE_EFFICIENCY,
    trial("load_time", "load", Unit::Nanoseconds, Better::Lower, |m| Some(m.load.store_ns as f64)),
    trial("settle_time", "settle", Unit::Nanoseconds, Better::Lower, |m| Some(m.settle_ns as f64)),
];

/// An operation that was never timed has no latency, rather than one of zero.
fn measured(operation: &OperationResult, ns: u64) -> Option<f64> {
    (operation.count > 0).then_some(ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<String> = COLUMNS.iter().map(Column::csv_name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), COLUMNS.len());
    }

    #[test]
    fn an_operation_that_never_ran_has_no_latency() {
        let measured = samples::measured(1000.0);
        let mut operation = measured.operations[0].clone();
        assert_eq!(MEAN_LATENCY.of_operation(&operation), Some(1000.0));
        operation.count = 0;
        operation.sum_ns = 0;
        for column in COLUMNS.iter().filter(|column| column.is_of_operation() && column.id != "errors") {
            assert_eq!(column.of_operation(&operation), None, "{}", column.id);
        }
    }
}
