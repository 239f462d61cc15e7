//! The names that traces give their operations, and what a replay does for each.

use crate::words::words;

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
    pub const PLAYED: [TraceOperation; 5] = [
        TraceOperation::Get,
        TraceOperation::Set,
        TraceOperation::Modify,
        TraceOperation::Remove,
        TraceOperation::Scan,
    ];

    /// Whether it writes a value.
    pub fn writes(self) -> bool {
        matches!(self, TraceOperation::Set | TraceOperation::Modify)
    }

    /// Whether it needs its key to be there, to find what it found in the application.
    pub fn needs_key(self) -> bool {
        matches!(self, TraceOperation::Get | TraceOperation::Modify | TraceOperation::Remove)
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

const fn word(name: &'static str, does: TraceOperation, lost: &'static str) -> OperationName {
    OperationName { name, does, lost }
}

/// A value that grows by what is appended would have to be known: one of the size in the trace is written.
const APPENDED: &str = "the value is read, and one of the size in the trace replaces it";
const WHATEVER: &str = "it is written whether its condition holds or not";

/// The words of Twitter's traces: the commands of memcached.
pub static TWITTER: [OperationName; 11] = [
    word("get", TraceOperation::Get, ""),
    word("gets", TraceOperation::Get, ""),
    word("set", TraceOperation::Set, ""),
    word("add", TraceOperation::Set, WHATEVER),
    word("replace", TraceOperation::Set, WHATEVER),
    word("cas", TraceOperation::Set, WHATEVER),
    word("append", TraceOperation::Modify, APPENDED),
    word("prepend", TraceOperation::Modify, APPENDED),
    word("delete", TraceOperation::Remove, ""),
    word("incr", TraceOperation::Modify, APPENDED),
    word("decr", TraceOperation::Modify, APPENDED),
];

/// The operations of RocksDB's trace_analyzer, by its numbers.
pub static ROCKSDB: [OperationName; 9] = [
    word("get", TraceOperation::Get, ""),
    word("put", TraceOperation::Set, ""),
    word("delete", TraceOperation::Remove, ""),
    word("single_delete", TraceOperation::Remove, ""),
    word("range_delete", TraceOperation::Skip, "the trace does not say where the range ends"),
    word("merge", TraceOperation::Modify, APPENDED),
    word("iterator_Seek", TraceOperation::Scan, "the trace does not say how many records were read: one is"),
    word("iterator_SeekForPrev", TraceOperation::Skip, "stores here scan upwards only"),
    word("multiget", TraceOperation::Get, "each key is read alone"),
];

/// The words of storebench's own form.
pub static OWN: [OperationName; 14] = [
    word("get", TraceOperation::Get, ""),
    word("read", TraceOperation::Get, ""),
    word("select", TraceOperation::Get, ""),
    word("set", TraceOperation::Set, ""),
    word("put", TraceOperation::Set, ""),
    word("write", TraceOperation::Set, ""),
    word("insert", TraceOperation::Set, ""),
    word("update", TraceOperation::Set, ""),
    word("upsert", TraceOperation::Set, ""),
    word("modify", TraceOperation::Modify, ""),
    word("remove", TraceOperation::Remove, ""),
    word("delete", TraceOperation::Remove, ""),
    word("scan", TraceOperation::Scan, ""),
    word("skip", TraceOperation::Skip, "the trace says so"),
];

/// The word of a table, in whichever case.
pub fn find(table: &'static [OperationName], name: &[u8]) -> Option<&'static OperationName> {
    table.iter().find(|word| word.name.as_bytes().eq_ignore_ascii_case(name))
}
