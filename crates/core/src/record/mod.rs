//! What is kept: the keys and values of records.

pub mod text;
