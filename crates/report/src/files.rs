//! Results as files for other programs: tables, documents, databases, histograms.

pub mod continuous;
pub mod csv;
pub mod csv_long;
mod harmless;
pub mod hgrm;
pub mod json;
pub mod section;
pub mod sql;
pub mod ycsb;
