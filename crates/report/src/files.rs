//! Results as files for other programs: tables, documents, databases, histograms.

pub mod continuous;
pub mod csv;
pub mod csv_effects;
pub mod csv_long;
pub mod csv_sizes;
pub mod hgrm;
pub mod json;
pub mod sql;
pub mod ycsb;
