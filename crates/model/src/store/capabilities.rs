//! The abilities of a store, as its entry of the table declares them.

use crate::words::words;

/// The number of sessions that a store can have at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Threads {
    /// One session at a time.
    One,
    /// Many sessions, whose writes wait for one another.
    #[strum(serialize = "many readers, one writer")]
    ManyReadersOneWriter,
    /// Many sessions that read and write side by side.
    Many,
}

words!(Threads);

/// The promise of [`super::Session::insert_batch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Batch {
    /// All or nothing, even through a crash.
    Atomic,
    /// One synchronisation for all, but a crash can leave a part.
    Grouped,
}

words!(Batch);

/// The abilities of a store. The conformance suite holds every store to what it declares here.
#[derive(Debug, Clone)]
pub struct Capabilities {
    /// It keeps what it is given. False only for the harness's `null`.
    pub keeps: bool,
    /// Whether records are there again when it is opened anew, at least after a clean close. False for stores in the process's memory.
    pub persists: bool,
    /// A reader can be held for which records are kept as they are ([`super::Store::hold_reader`]), while others write.
    pub held_reader: bool,
    /// It can make a backup while others write ([`super::Store::back_up`]).
    pub backup: bool,
    /// It can reclaim the space of removed records while others read and write ([`super::Store::compact_concurrently`]).
    pub compacts_beside: bool,
    /// It can scan in the order of the keys' bytes.
    pub order: bool,
    /// It speaks SQL ([`super::Store::sql`]).
    pub sql: bool,
    /// Transactions over records that read and write ([`super::Session::transact`]). SQL has its own.
    pub transactions: bool,
    /// The number of sessions that it can have at once.
    pub threads: Threads,
    /// The codec used when compression is on; `None` where the store has no compression of values.
    pub compression: Option<&'static str>,
    /// The promise of a batch.
    pub batch: Batch,
    /// Who reads a value while another thread replaces it gets the old one or the new one, whole, at every guarantee.
    pub replaces_whole: bool,
    /// Inserting an existing key gives [`super::StoreError::Exists`]; otherwise the value is replaced.
    pub notices_existing: bool,
    /// Updating or removing a missing key gives [`super::StoreError::Missing`]; otherwise an update inserts, and a remove does nothing.
    pub notices_missing: bool,
    /// Keys may hold any byte, zero included; otherwise only what a file name may hold.
    pub any_byte_in_keys: bool,
    /// Values may be empty.
    pub empty_values: bool,
    /// The longest key in bytes; longer ones give [`super::StoreError::Unsupported`]. At least 32.
    pub max_key_bytes: usize,
    /// The most that all of its files may come to, in bytes.
    pub max_bytes: u64,
    /// Whether its system calls pass the C library, where they are counted. False for engines in languages that make them themselves.
    pub calls_are_seen: bool,
}

impl Capabilities {
    /// A capable store; entries of the table say how they differ from it.
    pub const DEFAULT: Capabilities = Capabilities {
        keeps: true,
        persists: true,
        held_reader: false,
        backup: false,
        compacts_beside: false,
        order: true,
        sql: false,
        transactions: false,
        threads: Threads::Many,
        compression: None,
        batch: Batch::Atomic,
        replaces_whole: true,
        notices_existing: false,
        notices_missing: false,
        any_byte_in_keys: true,
        empty_values: true,
        max_key_bytes: 256,
        max_bytes: u64::MAX,
        calls_are_seen: true,
    };
}
