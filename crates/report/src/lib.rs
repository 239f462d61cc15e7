//! Shows figures to people: reports in the terminal, pages, files, comparisons, advice, and what holds of published studies.
//!
//! Everything starts with [`report::Report`] or [`storebench_figures::data::merge::Merged`]. Nothing here runs a trial or prints: functions
//! return strings, or write to a given writer.

pub mod advice;
pub mod brief;
pub mod check;
pub mod compare;
pub mod files;
pub mod findings;
pub mod markup;
pub mod page;
pub mod report;
pub mod section;
pub mod sections;
pub mod site;
pub(crate) mod standings;
pub mod terminal;
pub mod tuning;

#[cfg(test)]
mod tests;
