//! Results as files for other programs: tables, documents, databases.

pub mod csv;
mod harmless;
pub mod json;
pub mod markdown;
pub mod section;
pub mod sql;
pub mod ycsb;
