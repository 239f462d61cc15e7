//! The types of the values on the axes of one file.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::sanitize::quoted;
use crate::words::words;

/// A block's size must be a multiple of this many bytes: the smallest sector.
pub const SECTOR_BYTES: u64 = 512;
/// Sizes of a block, in bytes.
pub const BLOCK_BYTES: RangeInclusive<u64> = SECTOR_BYTES..=16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames, strum::VariantArray)]
#[allow(missing_docs)]
#[strum(serialize_all = "kebab-case")]
pub enum Pattern {
    SeqRead,
    SeqWrite,
    RandRead,
    RandWrite,
}

words!(Pattern, all);

impl Pattern {
    /// Whether it writes.
    pub fn writes(self) -> bool {
        matches!(self, Pattern::SeqWrite | Pattern::RandWrite)
    }

    /// Whether blocks follow each other in no order.
    pub fn is_random(self) -> bool {
        matches!(self, Pattern::RandRead | Pattern::RandWrite)
    }
}

/// The I/O mode of the open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Io {
    /// Through the page cache.
    Buffered,
    /// Past the page cache: `O_DIRECT`. What the device's own cache holds may still be lost with the power.
    Direct,
    /// Through the page cache; a write returns when its bytes are durable: `O_DSYNC`.
    Dsync,
    /// Past the page cache, and a write returns when its bytes are durable: `O_DIRECT` and `O_DSYNC`.
    DirectDsync,
}

words!(Io, all);

impl Io {
    /// Whether it passes the page cache by.
    pub fn is_direct(self) -> bool {
        matches!(self, Io::Direct | Io::DirectDsync)
    }

    /// Whether each write is synced by the flag `O_DSYNC`.
    pub fn is_dsync(self) -> bool {
        matches!(self, Io::Dsync | Io::DirectDsync)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames)]
#[allow(missing_docs)]
#[strum(serialize_all = "lowercase")]
pub enum SyncCall {
    Fsync,
    Fdatasync,
}

words!(SyncCall);

/// When a thread makes its writes durable. As text: `none`, `fsync`, `fdatasync`, `fdatasync/16`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Never while the clock runs.
    None,
    /// After every n writes of a thread; 0 counts as 1.
    Each(SyncCall, u32),
}

impl fmt::Display for Sync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sync::None => f.write_str("none"),
            Sync::Each(call, 0 | 1) => f.write_str(call.name()),
            Sync::Each(call, writes) => write!(f, "{}/{writes}", call.name()),
        }
    }
}

impl FromStr for Sync {
    type Err = String;

    fn from_str(text: &str) -> Result<Sync, String> {
        let known = "none, fsync, fdatasync, or one of these with a count: fsync/16";
        let to_error = || format!("{} is not {known}", quoted(text));
        let (call, writes) = match text.split_once('/') {
            Some((call, writes)) => (call, writes.parse().ok().filter(|writes| *writes > 0)),
            None => (text, Some(1)),
        };
        let writes = writes.ok_or_else(to_error)?;
        match call {
            "none" if !text.contains('/') => Ok(Sync::None),
            "fsync" => Ok(Sync::Each(SyncCall::Fsync, writes)),
            "fdatasync" => Ok(Sync::Each(SyncCall::Fdatasync, writes)),
            _ => Err(to_error()),
        }
    }
}
