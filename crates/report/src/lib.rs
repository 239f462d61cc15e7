//! This crate reads results: it makes statistics, reports, comparisons, advice, and verdicts on published findings.
//!
//! Everything starts with [`data::merge::Merged`], which sorts the trials of any number of runs into comparable
//! groups; the rest only reads it. Nothing here runs a trial or prints: functions return strings, or write to a
//! given writer.

pub mod advice;
pub mod brief;
pub mod check;
pub mod claims;
pub mod column;
pub mod compare;
pub mod data;
pub mod files;
pub mod findings;
pub mod judge;
pub mod layout;
pub mod markup;
pub mod page;
pub mod published;
pub mod report;
pub mod section;
pub mod sections;
pub mod site;
pub mod stats;
pub mod terminal;
pub mod tuning;

#[cfg(test)]
mod tests;
