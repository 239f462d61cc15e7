//! Stores that are servers: a kind of server is its [`Dialect`] and its entry in the table. What they have in common is here: their
//! files and processes, records and SQL, servers that were running before.

mod dialect;
mod files;
mod installed;
mod own;
mod passing;
pub mod password;
mod plan;
mod process;
mod running;
mod session;
pub mod socket;
pub mod sql;
mod store;

use storebench_core::server::{self, User};
use storebench_core::store::make_servers_known;

pub use self::dialect::{Connection, Dialect, Records, Turn};
pub use self::installed::Programs;
pub use self::own::Paths;
pub use self::passing::Way;
pub use self::plan::Plan;
pub use self::process::Saying;
pub use self::running::Running;
pub use self::store::open;

/// As whom servers run ([`server::user`]). They are made known here to a process that has not come by the command line, such as a
/// test: whoever starts a server must be able to end it.
pub fn user() -> Option<&'static User> {
    make_servers_known(crate::STORES);
    server::user()
}
