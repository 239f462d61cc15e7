//! RocksDB's C interface, as its header declares it.

#![allow(non_camel_case_types, non_upper_case_globals, non_snake_case, dead_code, missing_docs)]
#![allow(clippy::all, clippy::pedantic, reason = "declarations made by bindgen")]

include!(concat!(env!("OUT_DIR"), "/rocksdb.rs"));
