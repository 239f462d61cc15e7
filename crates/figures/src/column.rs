//! The table of figures. Every report reads it: a figure added here appears in all of them.

pub mod checks;

use serde::{Serialize, Serializer};
use storebench_core::workload::replay::SPEED_REACHED;
use storebench_model::result::{Counters, Device, Latency, Measurements, OperationResult, Requests, Traffic};
use storebench_model::units::{rough_bytes, rough_ns, three_digits};
use storebench_model::words::words;

pub use crate::stats::Better;

/// The unit of a column's values. Its name is its sign, the suffix of column names in CSV and SQL; empty for [`Unit::Count`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames)]
pub enum Unit {
    /// Nanoseconds.
    #[strum(serialize = "ns")]
    Nanoseconds,
    /// Bytes.
    #[strum(serialize = "bytes")]
    Bytes,
    /// Operations per second.
    #[strum(serialize = "per_s")]
    PerSecond,
    /// Bytes per second.
    #[strum(serialize = "bytes_per_s")]
    BytesPerSecond,
    /// A number, or a ratio.
    #[strum(serialize = "")]
    Count,
    /// A share of 1.
    #[strum(serialize = "share")]
    Share,
}

words!(Unit);

impl Unit {
    /// Writes a value for people, to three digits.
    pub fn show(self, value: f64) -> String {
        match self {
            Unit::Nanoseconds => rough_ns(value),
            Unit::Bytes => rough_bytes(value),
            Unit::PerSecond => format!("{}/s", three_digits(value)),
            Unit::BytesPerSecond => format!("{}/s", rough_bytes(value)),
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

/// The source of a column's values; `None` if a trial has none.
#[derive(Debug, Clone, Copy)]
pub enum Value {
    /// One operation of a trial.
    Operation(fn(&OperationResult) -> Option<f64>),
    /// The latencies of some calls, in nanoseconds: of a timed operation, or of anything else with a distribution.
    Latency(fn(&Latency) -> u64),
    /// A trial as a whole.
    Trial(fn(&Measurements) -> Option<f64>),
}

/// How the clock of the timed loop limits a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockLimit {
    /// Not at all: they are counted, or too long for the clock to matter.
    No,
    /// They are times of operations.
    Latency,
    /// They are operations, or their bytes, per second.
    Rate,
}

/// One figure.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name, without the unit.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The unit of its values.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// Computes it from a trial.
    pub value: Value,
    /// How the clock limits it.
    pub clocked: ClockLimit,
    /// Whether it counts requests to a simulated disk.
    pub counts_requests: bool,
    /// Whether tables for people show it; the others are in JSON and SQL.
    pub in_tables: bool,
}

impl Column {
    /// The value of one operation; `None` for columns of trials.
    pub fn operation_value(&self, operation: &OperationResult) -> Option<f64> {
        match self.value {
            Value::Operation(value) => value(operation),
            // An operation that was never timed has no latency, rather than a latency of zero.
            Value::Latency(value) => (operation.count > 0).then(|| value(&operation.latency) as f64),
            Value::Trial(_) => None,
        }
    }

    /// The value of some latencies in nanoseconds; `None` for columns of other figures.
    pub fn latency_value(&self, latency: &Latency) -> Option<u64> {
        match self.value {
            Value::Latency(value) => Some(value(latency)),
            Value::Operation(_) | Value::Trial(_) => None,
        }
    }

    /// The value of a trial; `None` for columns of operations.
    pub fn trial_value(&self, measured: &Measurements) -> Option<f64> {
        match self.value {
            Value::Operation(_) | Value::Latency(_) => None,
            Value::Trial(value) => value(measured),
        }
    }

    /// The value in a trial; `None` if a column of operations has no `operation`, or a doubtful one. A late disk does not affect counts.
    pub fn value_in(&self, measured: &Measurements, operation: Option<&OperationResult>) -> Option<f64> {
        match self.value {
            Value::Operation(_) | Value::Latency(_) => {
                let is_sound = |operation: &&OperationResult| {
                    self.counts_requests || measured.warning(&operation.operation).is_none()
                };
                self.operation_value(operation.filter(is_sound)?)
            }
            Value::Trial(value) => value(measured),
        }
    }

    const fn closer(self) -> Column {
        Column { in_tables: false, ..self }
    }

    const fn clocked(self, clocked: ClockLimit) -> Column {
        Column { clocked, ..self }
    }

    /// The same column, which counts requests to a simulated disk: fewer are better, and tables for people have them in a section.
    const fn as_disk_requests(self) -> Column {
        Column { counts_requests: true, better: Better::Lower, in_tables: false, ..self }
    }

    /// Whether it is a figure of single operations.
    pub fn is_of_operation(&self) -> bool {
        !matches!(self.value, Value::Trial(_))
    }

    /// The name in an SQLite file's table of operations: the id, without the word for latency, and the unit last.
    pub fn sql_name(&self) -> String {
        let id = match self.id {
            // The name in results.
            "harness_time" => "harness",
            id => id.strip_prefix("latency_").unwrap_or(id),
        };
        match self.unit.name() {
            "" => id.to_owned(),
            unit => format!("{id}_{unit}"),
        }
    }
}

const fn column(id: &'static str, title: &'static str, unit: Unit, better: Better, value: Value) -> Column {
    let clocked = ClockLimit::No;
    Column { id, title, unit, better, value, clocked, counts_requests: false, in_tables: true }
}

const fn operation(
    id: &'static str,
    title: &'static str,
    unit: Unit,
    better: Better,
    value: fn(&OperationResult) -> Option<f64>,
) -> Column {
    column(id, title, unit, better, Value::Operation(value))
}

const fn latency(id: &'static str, title: &'static str, value: Value) -> Column {
    column(id, title, Unit::Nanoseconds, Better::Lower, value).clocked(ClockLimit::Latency)
}

const fn trial(
    id: &'static str,
    title: &'static str,
    unit: Unit,
    better: Better,
    value: fn(&Measurements) -> Option<f64>,
) -> Column {
    column(id, title, unit, better, Value::Trial(value))
}

/// A figure of operations with no good direction, left out of tables for people.
const fn closer_operation(
    id: &'static str,
    title: &'static str,
    unit: Unit,
    value: fn(&OperationResult) -> Option<f64>,
) -> Column {
    operation(id, title, unit, Better::Neither, value).closer()
}

const fn closer_trial(
    id: &'static str,
    title: &'static str,
    unit: Unit,
    better: Better,
    value: fn(&Measurements) -> Option<f64>,
) -> Column {
    trial(id, title, unit, better, value).closer()
}

/// Mean latency: the sum of the latencies over their number. The matrix shows it for operations.
pub const MEAN_LATENCY: Column = latency(
    "latency_mean",
    "mean",
    Value::Operation(|o| (o.count > 0).then(|| o.sum_ns as f64 / o.count as f64)),
);

/// The latency that half of the operations exceed.
pub const P50: Column = latency("latency_p50", "p50", Value::Latency(|latency| latency.p50_ns));

/// The latency that one operation of a hundred exceeds.
pub const P99: Column = latency("latency_p99", "p99", Value::Latency(|latency| latency.p99_ns));

/// The latency that one operation of a thousand exceeds.
pub const P999: Column = latency("latency_p999", "p99.9", Value::Latency(|latency| latency.p999_ns));

/// The longest latency.
pub const MAX: Column = latency("latency_max", "max", Value::Latency(|latency| latency.max_ns));

/// Operations per second. The matrix shows it for all operations together.
pub const THROUGHPUT: Column =
    operation("throughput", "ops/s", Unit::PerSecond, Better::Higher, OperationResult::per_second)
        .clocked(ClockLimit::Rate);

/// Peak memory above the base, pages of mapped files included.
pub const PEAK_MEMORY: Column =
    trial("memory_peak_above_base", "peak memory", Unit::Bytes, Better::Lower, |m| {
        Some(m.memory.peak_above_base_bytes as f64)
    });

/// Peak memory above the base without pages of mapped files.
pub const PEAK_WITHOUT_MAPPED_FILES: Column = closer_trial(
    "memory_peak_without_mapped_files",
    "peak without mapped files",
    Unit::Bytes,
    Better::Lower,
    |m| Some(m.memory.peak_without_mapped_files_bytes? as f64),
);

/// Peak memory with the page cache.
pub const PEAK_WITH_PAGE_CACHE: Column =
    closer_trial("memory_peak_with_page_cache", "peak with page cache", Unit::Bytes, Better::Lower, |m| {
        Some(m.memory.peak_with_page_cache_bytes? as f64)
    });

/// Value bytes over bytes on disk: the figure of paper 000, in its claims and tables.
pub const SPACE_EFFICIENCY: Column = closer_trial(
    "space_efficiency",
    "space efficiency",
    Unit::Share,
    Better::Higher,
    Measurements::space_efficiency,
);

/// Bytes on disk per byte of values: the space by which stores are ranked.
pub const SPACE_AMPLIFICATION: Column = trial(
    "space_amplification_allocated",
    "space amp.",
    Unit::Count,
    Better::Lower,
    Measurements::space_amplification,
);

/// Space on disk beyond the files' lengths: last clusters, folders, reserves. `None` if files are shorter on disk, as sparse ones are.
pub const BEYOND_LENGTHS: Column =
    closer_trial("disk_beyond_lengths", "beyond lengths", Unit::Bytes, Better::Lower, |m| {
        let disk = m.known_disk()?;
        disk.allocated_bytes.checked_sub(disk.apparent_bytes).map(|bytes| bytes as f64)
    });

/// The speed at which a trace was replayed, as a multiple of its own.
pub const REPLAY_SPEED: Column =
    closer_trial("replay_speed", "times the trace's speed", Unit::Count, Better::Neither, |m| {
        let setting = m.statistics.iter().find(|setting| setting.name == SPEED_REACHED)?;
        setting.value.parse().ok()
    });

/// Syncs of all threads during the operation, over the operations. Guarantees are checked against it.
pub const SYNCS_PER_OPERATION: Column =
    operation("syncs_per_operation", "syncs/op", Unit::Count, Better::Neither, |o| {
        (o.count > 0).then_some(o.counters.as_ref()?.syncs? as f64 / o.count as f64)
    });

/// Every column, in the order in which reports show them.
pub const COLUMNS: &[Column] = &[
    THROUGHPUT,
    operation(
        "bandwidth",
        "bytes/s",
        Unit::BytesPerSecond,
        Better::Higher,
        OperationResult::bytes_per_second,
    )
    .clocked(ClockLimit::Rate),
    MEAN_LATENCY,
    latency("latency_min", "min", Value::Latency(|latency| latency.min_ns)),
    P50,
    latency("latency_p90", "p90", Value::Latency(|latency| latency.p90_ns)),
    P99,
    P999,
    MAX,
    operation("latency_stdev", "st. dev.", Unit::Nanoseconds, Better::Lower, |o| {
        (o.count > 0).then_some(o.latency.stdev_ns)
    }),
    operation("latency_sum", "sum", Unit::Nanoseconds, Better::Lower, |o| {
        (o.count > 0).then_some(o.sum_ns as f64)
    })
    .closer(),
    operation("errors", "errors", Unit::Count, Better::Lower, |o| Some(o.errors as f64)),
    operation("conflicts", "conflicts", Unit::Count, Better::Lower, |o| {
        (o.count > 0).then_some(o.conflicts as f64)
    })
    .closer(),
    operation("wall_per_operation", "wall/op", Unit::Nanoseconds, Better::Neither, |o| {
        (o.count > 0).then(|| o.wall_ns as f64 / o.count as f64)
    }),
    closer_operation("harness_time", "harness", Unit::Share, |o| o.harness_share.filter(|_| o.count > 0)),
    SYNCS_PER_OPERATION,
    operation("sync_time", "time in syncs", Unit::Share, Better::Neither, |o| {
        (o.sum_ns > 0).then_some(o.counters.as_ref()?.sync_ns? as f64 / o.sum_ns as f64)
    }),
    operation("written_per_operation", "written/op", Unit::Bytes, Better::Neither, |o| {
        per_operation(o, |c| c.written_bytes)
    }),
    closer_operation("device_written_per_operation", "device/op", Unit::Bytes, |o| {
        (o.count > 0).then_some(o.device_written_bytes? as f64 / o.count as f64)
    }),
    closer_operation("device_read_per_operation", "device reads/op", Unit::Bytes, |o| {
        (o.count > 0).then_some(o.device_read_bytes? as f64 / o.count as f64)
    }),
    closer_operation("operation_device_read", "device reads meanwhile", Unit::BytesPerSecond, |o| {
        per_wall_second(o, o.device_read_bytes?)
    }),
    closer_operation("operation_device_written", "device writes meanwhile", Unit::BytesPerSecond, |o| {
        per_wall_second(o, o.device_written_bytes?)
    }),
    closer_operation("operation_idle", "CPUs idle meanwhile", Unit::Share, |o| {
        Some(o.processors.as_ref().filter(|_| o.count > 0)?.idle_share)
    }),
    closer_operation("operation_io_wait", "I/O wait meanwhile", Unit::Share, |o| {
        Some(o.processors.as_ref().filter(|_| o.count > 0)?.io_wait_share)
    }),
    closer_operation("operation_busy", "CPUs busy meanwhile", Unit::Share, |o| {
        let processors = o.processors.as_ref().filter(|_| o.count > 0)?;
        Some((1.0 - processors.idle_share - processors.io_wait_share).max(0.0))
    }),
    operation("written_per_sync", "written/sync", Unit::Bytes, Better::Neither, |o| {
        let counters = own_counters(o).filter(|_| o.count > 0 && o.warm_up == 0)?;
        ratio(counters.written_bytes?, counters.syncs?)
    }),
    closer_operation("read_per_operation", "read/op", Unit::Bytes, |o| per_operation(o, |c| c.read_bytes)),
    closer_operation("minor_faults_per_operation", "minor faults/op", Unit::Count, |o| {
        per_operation(o, |c| Some(c.minor_faults))
    }),
    closer_operation("major_faults_per_operation", "major faults/op", Unit::Count, |o| {
        per_operation(o, |c| Some(c.major_faults))
    }),
    closer_operation("voluntary_switches_per_operation", "waits/op", Unit::Count, |o| {
        per_operation(o, |c| Some(c.voluntary_switches))
    }),
    closer_operation("involuntary_switches_per_operation", "preemptions/op", Unit::Count, |o| {
        per_operation(o, |c| Some(c.involuntary_switches))
    }),
    closer_operation("disk_requests_per_operation", "disk requests/op", Unit::Count, |o| {
        request_count(o, Requests::all)
    })
    .as_disk_requests(),
    closer_operation("disk_traffic_per_operation", "disk bytes/op", Unit::Bytes, |o| request_count(o, bytes))
        .as_disk_requests(),
    closer_operation("disk_flushes_per_operation", "disk flushes/op", Unit::Count, |o| {
        request_count(o, |r| r.flushes)
    })
    .as_disk_requests(),
    closer_operation("cpu_per_operation", "CPU/op", Unit::Nanoseconds, |o| per_operation(o, |c| c.cpu_ns)),
    PEAK_MEMORY,
    PEAK_WITHOUT_MAPPED_FILES,
    PEAK_WITH_PAGE_CACHE,
    trial("cpu_user", "user CPU", Unit::Nanoseconds, Better::Lower, |m| Some(m.cpu.user_ns as f64)),
    trial("cpu_system", "system CPU", Unit::Nanoseconds, Better::Lower, |m| Some(m.cpu.system_ns as f64)),
    trial("disk_allocated", "on disk", Unit::Bytes, Better::Lower, |m| {
        m.known_disk().map(|disk| disk.allocated_bytes as f64)
    }),
    trial("disk_apparent", "apparent", Unit::Bytes, Better::Lower, |m| {
        m.known_disk().map(|disk| disk.apparent_bytes as f64)
    }),
    BEYOND_LENGTHS,
    closer_trial(
        "disk_growth",
        "disk, last/first round",
        Unit::Share,
        Better::Lower,
        Measurements::disk_growth,
    ),
    trial("files", "files", Unit::Count, Better::Neither, |m| m.known_disk().map(|disk| disk.files as f64)),
    trial("values_stored", "values", Unit::Bytes, Better::Neither, |m| Some(m.stored.value_bytes as f64)),
    SPACE_EFFICIENCY,
    SPACE_AMPLIFICATION,
    closer_trial("space_amplification_apparent", "apparent space amp.", Unit::Count, Better::Lower, |m| {
        ratio(m.known_disk()?.apparent_bytes, m.stored.value_bytes)
    }),
    trial("write_amplification_burst", "write amp. burst", Unit::Count, Better::Neither, |m| {
        write_amplification(m, |device| &device.burst)
    }),
    trial("write_amplification_settled", "write amp. settled", Unit::Count, Better::Lower, |m| {
        write_amplification(m, |device| &device.settled)
    }),
    closer_trial("device_written", "device writes", Unit::Bytes, Better::Neither, |m| {
        Some(m.device.as_ref()?.settled.written_bytes as f64)
    }),
    closer_trial("device_read", "device reads", Unit::Bytes, Better::Neither, |m| {
        Some(m.device.as_ref()?.settled.read_bytes as f64)
    }),
    closer_trial("device_flushes", "device flushes", Unit::Count, Better::Neither, |m| {
        Some(m.device.as_ref()?.settled.flushes? as f64)
    }),
    closer_trial(
        "device_idle_written",
        "device writes while idle",
        Unit::BytesPerSecond,
        Better::Neither,
        |m| m.device.as_ref()?.idle_written_bytes_per_s,
    ),
    trial("idle", "CPUs idle", Unit::Share, Better::Neither, |m| Some(m.processors.as_ref()?.idle_share)),
    trial("io_wait", "I/O wait", Unit::Share, Better::Neither, |m| {
        Some(m.processors.as_ref()?.io_wait_share)
    }),
    trial("load_syncs", "syncs in load", Unit::Count, Better::Neither, |m| {
        Some(m.load.counters.as_ref()?.syncs? as f64)
    }),
    closer_trial("settle_syncs", "syncs in settling", Unit::Count, Better::Neither, |m| {
        Some(m.settle_counters.as_ref()?.syncs? as f64)
    }),
    REPLAY_SPEED,
    closer_trial("audit_time", "read back", Unit::Nanoseconds, Better::Neither, |m| {
        Some(m.audit.as_ref()?.took_ns as f64)
    }),
    trial("load_time", "load", Unit::Nanoseconds, Better::Lower, |m| Some(m.load.store_ns as f64)),
    trial("load_rate", "loaded", Unit::PerSecond, Better::Higher, |m| {
        ratio(m.load.records, m.load.store_ns).filter(|rate| *rate > 0.0).map(|rate| rate * 1e9)
    }),
    trial("load_disk_requests", "disk requests in load", Unit::Count, Better::Lower, |m| {
        Some(requests_in_load(m)?.all() as f64)
    })
    .as_disk_requests(),
    trial("load_disk_traffic", "disk bytes in load", Unit::Bytes, Better::Lower, |m| {
        Some(bytes(requests_in_load(m)?) as f64)
    })
    .as_disk_requests(),
    trial("load_disk_flushes", "disk flushes in load", Unit::Count, Better::Lower, |m| {
        Some(requests_in_load(m)?.flushes as f64)
    })
    .as_disk_requests(),
    checks::REST_TIME,
    trial("settle_time", "settle", Unit::Nanoseconds, Better::Lower, |m| Some(m.settle_ns as f64)),
    checks::CUTS_LOST,
    checks::CUTS_BROKEN,
    checks::CUTS_MOST_LOST,
    checks::CUTS_OPEN,
    checks::RECOVERY,
    checks::RECOVERY_MOST,
    checks::FILES_LEFT,
    checks::FILES_AFTER_RECLAIM,
    checks::SCAN_AGED,
    checks::PAUSED,
    checks::TAIL,
    checks::FAULTS_SILENT,
    checks::SYNC_FAULTS_SILENT,
];

/// The counters of an operation, if they include no other work.
fn own_counters(operation: &OperationResult) -> Option<&Counters> {
    operation.counters.as_ref().filter(|_| operation.put_back + operation.warm_up == 0)
}

/// Requests to a simulated disk per operation, warm-ups included; a removal includes the insert that puts a record back.
fn request_count(operation: &OperationResult, number: fn(&Requests) -> u64) -> Option<f64> {
    let (requests, operations) = operation.disk_requests()?;
    ratio(number(requests), operations)
}

fn requests_in_load(measured: &Measurements) -> Option<&Requests> {
    measured.load.counters.as_ref()?.disk.as_ref()
}

fn bytes(requests: &Requests) -> u64 {
    requests.reads.bytes + requests.writes.bytes
}

fn per_wall_second(operation: &OperationResult, bytes: u64) -> Option<f64> {
    (operation.wall_ns > 0).then(|| bytes as f64 / (operation.wall_ns as f64 / 1e9))
}

fn per_operation(operation: &OperationResult, number: fn(&Counters) -> Option<u64>) -> Option<f64> {
    // A warm-up is of the same operations.
    let operations = operation.count + operation.warm_up;
    (operation.count > 0).then_some(number(own_counters(operation)?)? as f64 / operations as f64)
}

fn ratio(numerator: u64, denominator: u64) -> Option<f64> {
    (denominator > 0).then(|| numerator as f64 / denominator as f64)
}

/// Bytes written to the device over bytes of the records handed to the store, keys included.
fn write_amplification(measured: &Measurements, traffic: fn(&Device) -> &Traffic) -> Option<f64> {
    ratio(traffic(measured.device.as_ref()?).written_bytes, measured.written?.bytes())
}

#[cfg(test)]
mod tests {
    use storebench_samples as samples;

    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = COLUMNS.iter().map(|column| column.id).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COLUMNS.len());
    }

    fn column(id: &str) -> &'static Column {
        COLUMNS.iter().find(|column| column.id == id).unwrap()
    }

    #[test]
    fn bytes_per_second_are_of_values_and_over_the_time_of_the_rate() {
        let measured = samples::measured(1000.0);
        let value_of = |id: &str, name: &str| column(id).operation_value(measured.operation(name).unwrap());
        let insert = measured.operation("insert").unwrap();
        let each = insert.value_bytes as f64 / insert.count as f64;
        assert_eq!(value_of("bandwidth", "insert"), value_of("throughput", "insert").map(|rate| rate * each));
        assert_eq!(value_of("bandwidth", "remove"), None, "nothing is read or written");
    }

    #[test]
    fn loading_has_a_rate_where_something_was_loaded() {
        let rate = |records, store_ns| {
            let load = storebench_model::result::Load { records, store_ns, ..Default::default() };
            let measured = Measurements { load, ..samples::measured(1000.0) };
            column("load_rate").trial_value(&measured)
        };
        assert_eq!(rate(3_000, 2_000_000_000), Some(1_500.0));
        assert_eq!((rate(0, 1_000), rate(0, 0), rate(5, 0)), (None, None, None));
    }

    #[test]
    fn what_is_put_back_is_not_taken_for_removing() {
        let measured = samples::measured(1000.0);
        let value_of = |id: &str, name: &str| column(id).operation_value(measured.operation(name).unwrap());
        assert_eq!(value_of("written_per_operation", "update"), Some(640.0));
        assert_eq!(value_of("written_per_sync", "update"), Some(640.0));
        assert_eq!(value_of("written_per_sync", "get"), None, "there were no syncs");
        for id in ["written_per_operation", "written_per_sync", "minor_faults_per_operation"] {
            assert_eq!(value_of(id, "remove"), None, "{id}");
        }
        assert_eq!(value_of("syncs_per_operation", "remove"), Some(1.0), "syncs are told apart");
    }

    #[test]
    fn write_amplification_counts_all_that_was_handed_over() {
        let mut measured = samples::measured(1000.0);
        let value_of = |measured: &Measurements, id: &str| column(id).trial_value(measured);
        let bytes = (67_200 + 1_075_200) as f64;
        assert_eq!(value_of(&measured, "write_amplification_burst"), Some(f64::from(1 << 20) / bytes));
        assert_eq!(value_of(&measured, "write_amplification_settled"), Some(f64::from(3 << 20) / bytes));
        measured.device = None;
        assert_eq!(value_of(&measured, "write_amplification_settled"), None);
    }

    #[test]
    fn an_operation_that_never_ran_has_no_latency() {
        let mut operation = samples::measured(1000.0).operations.remove(0);
        assert_eq!(MEAN_LATENCY.operation_value(&operation), Some(1000.0));
        operation.count = 0;
        operation.sum_ns = 0;
        for column in COLUMNS.iter().filter(|column| column.is_of_operation() && column.id != "errors") {
            assert_eq!(column.operation_value(&operation), None, "{}", column.id);
        }
    }
}
