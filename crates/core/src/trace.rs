//! Traces: files of operations that an application did, one after the other, with their times, keys and sizes. They are
//! streamed: whatever a file's length, its reader holds one line of it.

mod census;
mod entry;
mod facts;
mod form;
mod line;
mod operation;
mod reader;
mod source;
mod spread;
mod summary;
mod zipf;

pub use self::census::{EXACT, Skew};
pub use self::entry::{Entry, key_hash};
pub use self::facts::Facts;
pub use self::form::Form;
pub use self::line::{TimeUnit, family_of};
pub use self::operation::{OperationName, TraceOperation};
pub use self::reader::{Reader, ReaderOptions};
pub use self::spread::Spread;
pub use self::summary::{Share, Sizes, Summary, TouchedRecords};

#[cfg(test)]
pub(crate) mod synthetic;
