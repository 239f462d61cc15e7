//! The work that an engine does for itself.

/// A kind of work that an engine does for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upkeep {
    /// Its name.
    pub work: &'static str,
    /// A figure that is another one when it was done once more.
    pub count: u64,
    /// Whether it runs now; false also if unknown.
    pub under_way: bool,
}

impl Upkeep {
    /// Work of which only its end is known.
    pub fn done(work: &'static str, count: u64) -> Upkeep {
        Upkeep { work, count, under_way: false }
    }
}
