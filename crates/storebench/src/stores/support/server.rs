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

pub use self::dialect::{Connection, Dialect, Records, Turn};
pub use self::installed::Programs;
pub use self::own::Paths;
pub use self::passing::Way;
pub use self::plan::Plan;
pub use self::process::Saying;
pub use self::running::Running;
pub use self::store::open;
