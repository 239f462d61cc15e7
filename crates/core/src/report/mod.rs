//! From runs to text: the matrix of winners, full figures, CSV and JSON.
//!
//! Everything starts with [`merge::Merged`], which sorts the trials of any number of runs into groups that may be
//! compared; the rest only reads it. Nothing here prints: callers get strings, or hand over a writer.

pub mod advice;
mod builds;
mod by_cell;
mod clock;
pub use crate::column;
pub mod compare;
pub mod continuous;
pub mod csv;
pub mod csv_long;
pub mod findings;
mod grid;
pub mod hgrm;
pub mod html;
pub mod json;
pub mod looks;
pub mod matrix;
pub mod memory;
pub mod merge;
mod method;
mod names;
pub mod noise;
mod planned;
pub mod precision;
pub mod published;
mod rules;
#[cfg(test)]
pub(crate) mod samples;
mod scope;
pub mod slowdown;
mod spread;
pub mod sql;
mod summary;
mod table;
pub mod terminal;

#[cfg(test)]
mod tests;
