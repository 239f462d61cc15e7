//! The parts that all reports share: the trials of runs sorted and put together, who is the best at what, and how sure that is.

pub(crate) mod builds;
pub(crate) mod by_cell;
pub(crate) mod clock;
pub(crate) mod clusters;
pub(crate) mod crowd;
pub(crate) mod cuts;
pub(crate) mod danger;
mod disks;
pub mod effects;
pub(crate) mod estimates;
pub mod findings;
pub mod floor;
pub mod looks;
pub(crate) mod machines;
pub mod matrix;
pub mod memory;
pub mod merge;
pub(crate) mod method;
pub(crate) mod names;
pub mod noise;
pub(crate) mod pace;
mod planned;
pub mod published;
pub mod readable;
pub(crate) mod requests;
pub(crate) mod rounds;
pub(crate) mod rule;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod saturated;
pub(crate) mod scope;
pub mod sizes;
pub mod slowdown;
pub(crate) mod spread;
pub(crate) mod summary;
pub mod undecided;
pub mod why;
