//! The figures of the page: the columns of every report, and those that only its charts need.

use crate::report::column::{COLUMNS, Column, Unit, Value};
use crate::result::Measured;
use crate::stats::Better;

/// Figures of what was counted beside the times; absent where it was not counted.
const EXTRA: [Column; 5] = [
    Column {
        id: "syncs_per_operation",
        title: "syncs/op",
        unit: Unit::Count,
        better: Better::Neither,
        value: Value::Operation(|o| per_operation(o.counters.as_ref()?.syncs, o.count)),
    },
    Column {
        id: "sync_share",
        title: "in syncs",
        unit: Unit::Share,
        better: Better::Neither,
        value: Value::Operation(|o| per_operation(o.counters.as_ref()?.sync_ns, o.wall_ns)),
    },
    Column {
        id: "written_per_operation",
        title: "written/op",
        unit: Unit::Bytes,
        better: Better::Lower,
        value: Value::Operation(|o| per_operation(o.counters.as_ref()?.written_bytes?, o.count)),
    },
    Column {
        id: "write_amplification_burst",
        title: "write ampl., burst",
        unit: Unit::Count,
        better: Better::Lower,
        value: Value::Trial(|m| amplification(m, m.device.as_ref()?.burst.written_bytes)),
    },
    Column {
        id: "write_amplification_settled",
        title: "write ampl., settled",
        unit: Unit::Count,
        better: Better::Lower,
        value: Value::Trial(|m| amplification(m, m.device.as_ref()?.settled.written_bytes)),
    },
];

fn per_operation(amount: u64, by: u64) -> Option<f64> {
    (by > 0).then(|| amount as f64 / by as f64)
}

/// Bytes that reached the device over bytes of values that were handed to the store, loading included.
fn amplification(measured: &Measured, device_bytes: u64) -> Option<f64> {
    let writes = measured.operations.iter().filter(|o| matches!(o.operation.as_str(), "insert" | "update"));
    let values = measured.load.value_bytes + writes.map(|operation| operation.value_bytes).sum::<u64>();
    (values > 0).then(|| device_bytes as f64 / values as f64)
}

/// Every column, each once.
pub fn columns() -> Vec<&'static Column> {
    let extra = EXTRA.iter().filter(|extra| COLUMNS.iter().all(|column| column.id != extra.id));
    COLUMNS.iter().chain(extra).collect()
}
