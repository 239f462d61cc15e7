//! Records in a store, and those that it was handed.

use serde::{Deserialize, Serialize};

/// Records in the store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Stored {
    pub records: u64,
    pub key_bytes: u64,
    pub value_bytes: u64,
}

/// Records handed to the store over a trial: loaded (each time anew where inserts filled the store), inserted, updated, put
/// back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Written {
    pub records: u64,
    pub key_bytes: u64,
    pub value_bytes: u64,
}

impl Written {
    /// Both together.
    pub fn plus(self, other: Written) -> Written {
        Written {
            records: self.records + other.records,
            key_bytes: self.key_bytes + other.key_bytes,
            value_bytes: self.value_bytes + other.value_bytes,
        }
    }

    /// Keys and values.
    pub fn bytes(&self) -> u64 {
        self.key_bytes + self.value_bytes
    }
}
