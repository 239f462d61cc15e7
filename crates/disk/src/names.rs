//! The names of a disk's files.

/// The name of the disk's file in the folder where it is mounted.
pub const DISK: &str = "disk";
/// The name of the file there that holds its counts, as JSON, at the moment at which it is opened.
pub const COUNTS: &str = "counts";
/// The source of the mount, as the kernel lists it.
pub const SOURCE: &str = "storebench-disk";
