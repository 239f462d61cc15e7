//! Stores that are servers: a kind is its [`Server`], its [`Dialect`] if it speaks SQL, and its entry in the table.

mod installed;
mod kind;
mod own_server;
pub mod password;
mod process;
mod running;
pub mod socket;
pub mod sql;
mod store;

pub use self::installed::{PROGRAMS_SETTING, Programs, url_setting};
pub use self::kind::{OpenSql, Plan, Server, wait_until};
pub use self::own_server::Paths;
pub use self::process::LOG;
pub use self::running::RunningServer;
pub use self::sql::{Connection, Dialect, RecordSession, Records, TransactionCommand};
pub use self::store::open;

use storebench_model::store::StoreError;

/// Larger than any value of a store.
pub const MAX_ANSWER_BYTES: usize = 1 << 30;

/// An unexpected or too long answer.
pub fn unreadable() -> StoreError {
    StoreError::Engine("the server sent an answer that can't be read".into())
}

/// A server's error in one line of at most 300 characters.
pub fn error_text(words: &str) -> String {
    storebench_model::sanitize::shorten(&storebench_model::sanitize::one_line(words), 300)
}
