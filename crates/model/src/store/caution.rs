//! Warnings of a store's authors to who uses it for long.

/// The side of a store's life that a caution is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgingRisk {
    /// Room that removed records had.
    Space,
    /// Readers that are held for long.
    Readers,
    /// Writes that wait for the engine's own work.
    Waits,
}

/// A warning to who writes to a store for long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caution {
    /// The side of its life.
    pub of: AgingRisk,
    /// A sentence without its full stop, which says no more than the source.
    pub says: &'static str,
    /// The place where its authors say so: its documentation, in most cases.
    pub source: &'static str,
}
