//! Results as files for other programs: tables, documents, databases.

pub mod csv;
pub mod json;
pub mod markdown;
pub mod section;
mod spreadsheet_safe;
pub mod sql;
pub mod ycsb;
