//! Files and folders that others may tamper with: reached without following links, deleted only where they are ours. All that
//! the program deletes goes through here, but for single files that a user named.

mod file;
mod folder;
mod lock;

pub use file::{open, plain_file, remove, rewrite};
pub use folder::{Folder, remove_made};
pub use lock::{Lock, try_lock};
