//! What stores share that start a server of the trial's own: its files, and its process.

mod files;
mod found;
mod passing;
mod process;

pub use self::files::{Template, make_folder};
pub use self::found::{in_path, newest_first};
pub use self::passing::{Way, closed_above};
pub use self::process::{Process, Reached, Saying, new_folder, unprivileged};
