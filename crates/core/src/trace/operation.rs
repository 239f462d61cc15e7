//! The names that traces give their operations, and what a replay does for each.

use storebench_model::words::words;

use self::TraceOperation::{Get, Modify, Remove, Scan, Set, Skip};

/// An operation of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum TraceOperation {
    /// Reads the value of a key.
    Get,
    /// Writes the value of a key, whether it is there or not.
    Set,
    /// Reads the value of a key, then writes one.
    Modify,
    /// Removes a key.
    Remove,
    /// Reads records from a key on, in the order of keys.
    Scan,
    /// Nothing: no store has such an operation, or the trace says too little about it.
    Skip,
}

words!(TraceOperation);

impl TraceOperation {
    /// All that is played, in the order in which reports show it.
    pub const PLAYED: [TraceOperation; 5] = [Get, Set, Modify, Remove, Scan];

    /// Whether it writes a value.
    pub fn writes(self) -> bool {
        matches!(self, Set | Modify)
    }

    /// Whether it needs its key to be there, to find what it found in the application.
    pub fn needs_key(self) -> bool {
        matches!(self, Get | Modify | Remove)
    }
}

/// A trace's name for an operation.
#[derive(Debug, PartialEq, Eq)]
pub struct OperationName {
    /// The trace's own word.
    pub name: &'static str,
    /// The operation that is done for it.
    pub does: TraceOperation,
    /// The loss of meaning by that; empty where there is none.
    pub lost: &'static str,
}

const fn operation_name(name: &'static str, does: TraceOperation, lost: &'static str) -> OperationName {
    OperationName { name, does, lost }
}

/// A value that grows by what is appended would have to be known: one of the size in the trace is written.
const APPENDED: &str = "the value is read, and one of the size in the trace replaces it";
const UNCONDITIONAL: &str = "it is written whether its condition holds or not";

/// The words of Twitter's traces: the commands of memcached.
pub static TWITTER: [OperationName; 11] = [
    operation_name("get", Get, ""),
    operation_name("gets", Get, ""),
    operation_name("set", Set, ""),
    operation_name("add", Set, UNCONDITIONAL),
    operation_name("replace", Set, UNCONDITIONAL),
    operation_name("cas", Set, UNCONDITIONAL),
    operation_name("append", Modify, APPENDED),
    operation_name("prepend", Modify, APPENDED),
    operation_name("delete", Remove, ""),
    operation_name("incr", Modify, APPENDED),
    operation_name("decr", Modify, APPENDED),
];

/// The operations of RocksDB's trace_analyzer, by its numbers.
pub static ROCKSDB: [OperationName; 9] = [
    operation_name("get", Get, ""),
    operation_name("put", Set, ""),
    operation_name("delete", Remove, ""),
    operation_name("single_delete", Remove, ""),
    operation_name("range_delete", Skip, "the trace does not say where the range ends"),
    operation_name("merge", Modify, APPENDED),
    operation_name("iterator_Seek", Scan, "the trace does not say how many records were read: one is"),
    operation_name("iterator_SeekForPrev", Skip, "stores here scan upwards only"),
    operation_name("multiget", Get, "each key is read alone"),
];

/// The words of storebench's own form.
pub static OWN: [OperationName; 14] = [
    operation_name("get", Get, ""),
    operation_name("read", Get, ""),
    operation_name("select", Get, ""),
    operation_name("set", Set, ""),
    operation_name("put", Set, ""),
    operation_name("write", Set, ""),
    operation_name("insert", Set, ""),
    operation_name("update", Set, ""),
    operation_name("upsert", Set, ""),
    operation_name("modify", Modify, ""),
    operation_name("remove", Remove, ""),
    operation_name("delete", Remove, ""),
    operation_name("scan", Scan, ""),
    operation_name("skip", Skip, "the trace says so"),
];

/// The word of a table, in whichever case.
pub fn find(table: &'static [OperationName], name: &[u8]) -> Option<&'static OperationName> {
    table.iter().find(|word| word.name.as_bytes().eq_ignore_ascii_case(name))
}
