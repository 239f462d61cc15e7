//! The names that traces give their operations, and what a replay does for each.

use crate::words::words;

/// An operation of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Does {
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

words!(Does);

impl Does {
    /// All that is played, in the order in which reports show it.
    pub const PLAYED: [Does; 5] = [Does::Get, Does::Set, Does::Modify, Does::Remove, Does::Scan];

    /// Whether it writes a value.
    pub fn writes(self) -> bool {
        matches!(self, Does::Set | Does::Modify)
    }

    /// Whether it needs its key to be there, to find what it found in the application.
    pub fn looks(self) -> bool {
        matches!(self, Does::Get | Does::Modify | Does::Remove)
    }
}

/// A trace's name for an operation.
#[derive(Debug, PartialEq, Eq)]
pub struct Word {
    /// The trace's own word.
    pub name: &'static str,
    /// The operation that is done for it.
    pub does: Does,
    /// The loss of meaning by that; empty where there is none.
    pub lost: &'static str,
}

const fn word(name: &'static str, does: Does, lost: &'static str) -> Word {
    Word { name, does, lost }
}

/// A value that grows by what is appended would have to be known: one of the size in the trace is written.
const APPENDED: &str = "the value is read, and one of the size in the trace replaces it";
const WHATEVER: &str = "it is written whether its condition holds or not";

/// The words of Twitter's traces: the commands of memcached.
pub static TWITTER: [Word; 11] = [
    word("get", Does::Get, ""),
    word("gets", Does::Get, ""),
    word("set", Does::Set, ""),
    word("add", Does::Set, WHATEVER),
    word("replace", Does::Set, WHATEVER),
    word("cas", Does::Set, WHATEVER),
    word("append", Does::Modify, APPENDED),
    word("prepend", Does::Modify, APPENDED),
    word("delete", Does::Remove, ""),
    word("incr", Does::Modify, APPENDED),
    word("decr", Does::Modify, APPENDED),
];

/// The operations of RocksDB's trace_analyzer, by its numbers.
pub static ROCKSDB: [Word; 9] = [
    word("get", Does::Get, ""),
    word("put", Does::Set, ""),
    word("delete", Does::Remove, ""),
    word("single_delete", Does::Remove, ""),
    word("range_delete", Does::Skip, "the trace does not say where the range ends"),
    word("merge", Does::Modify, APPENDED),
    word("iterator_Seek", Does::Scan, "the trace does not say how many records were read: one is"),
    word("iterator_SeekForPrev", Does::Skip, "stores here scan upwards only"),
    word("multiget", Does::Get, "each key is read alone"),
];

/// The words of storebench's own form.
pub static OWN: [Word; 14] = [
    word("get", Does::Get, ""),
    word("read", Does::Get, ""),
    word("select", Does::Get, ""),
    word("set", Does::Set, ""),
    word("put", Does::Set, ""),
    word("write", Does::Set, ""),
    word("insert", Does::Set, ""),
    word("update", Does::Set, ""),
    word("upsert", Does::Set, ""),
    word("modify", Does::Modify, ""),
    word("remove", Does::Remove, ""),
    word("delete", Does::Remove, ""),
    word("scan", Does::Scan, ""),
    word("skip", Does::Skip, "the trace says so"),
];

/// The word of a table, in whichever case.
pub fn find(table: &'static [Word], name: &[u8]) -> Option<&'static Word> {
    table.iter().find(|word| word.name.as_bytes().eq_ignore_ascii_case(name))
}
