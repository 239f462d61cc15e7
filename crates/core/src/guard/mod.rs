//! Files and folders that others may tamper with: reached without following links, deleted only if they are ours. The program
//! deletes everything through this module, except single files that a user named.

mod file;
mod folder;
mod lock;

pub use file::{open, plain_file, remove, rewrite};
pub use folder::{Folder, remove_made};
pub use lock::{Lock, try_lock};
