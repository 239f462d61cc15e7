//! One file per store.
