//! Stores that are servers: a kind of server is its [`Server`], its [`Dialect`] where it speaks SQL, and its entry in the table. What
//! they have in common is here: their files and processes, records and SQL, servers that were running before.

mod dialect;
mod files;
mod installed;
mod kind;
mod own;
mod passing;
pub mod password;
mod plan;
mod process;
mod rest;
mod running;
mod session;
pub mod socket;
pub mod sql;
mod store;

pub use self::dialect::{Connection, Dialect, Records, Turn};
pub use self::installed::{PROGRAMS_SETTING, Programs};
pub use self::kind::Server;
pub use self::own::Paths;
pub use self::plan::Plan;
pub use self::process::{LOG, Saying};
pub use self::rest::wait_until;
pub use self::running::Running;
pub use self::session::RecordSession;
pub use self::sql::Sql;
pub use self::store::open;

use storebench_core::store::StoreError;

/// The longest answer that is taken in: more than any value of a store's.
pub const MOST_ANSWER: usize = 1 << 30;

/// The error of an answer that is none to what was asked, or longer than any.
pub fn unreadable() -> StoreError {
    StoreError::Engine("the server sent an answer that can't be read".into())
}

/// An error of a server as it is repeated: in one line, of 300 characters at most.
pub fn error_text(words: &str) -> String {
    storebench_core::shown::within(&storebench_core::shown::one_line(words), 300)
}
