//! What stores share that start a server of the trial's own: its files, and its process.

mod files;
mod found;
mod passing;
mod process;

use storebench_core::server::{self, User};
use storebench_core::store::make_servers_known;

pub use self::files::{Template, make_folder};
pub use self::found::{in_path, newest_first};
pub use self::passing::{Way, closed_above};
pub use self::process::{Process, Reached, Saying, new_folder, unprivileged};

/// As whom servers run ([`server::user`]). They are made known here to a process that has not come by the command line, such as a
/// test: whoever starts a server must be able to end it.
pub fn user() -> Option<&'static User> {
    make_servers_known(crate::STORES);
    server::user()
}
