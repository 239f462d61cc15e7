//! The rest of a store after loading.

use serde::{Deserialize, Serialize};

/// The wait, before the first operation, for what loading had left the store to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rest {
    /// Its duration, in nanoseconds.
    pub took_ns: u64,
    /// Whether the store had come to rest; if not, it was still at work when the longest wait was over.
    pub at_rest: bool,
}
