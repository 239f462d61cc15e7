//! Features that a program has only where its build has the code for them.

use storebench_host::like::ReadSqlite;
use storebench_report::files::sql::OpenSqlite;

/// Optional features of a program beside measuring, where its build has the code for them ([`crate::EXTRAS`]).
#[derive(Clone, Copy, Default)]
pub struct Extras {
    /// Done first of all in every process: it makes libraries quiet that would print by themselves.
    pub begin: Option<fn()>,
    /// The writer of SQLite files; without it, `report --sqlite` says that this build can't.
    pub sqlite: Option<OpenSqlite>,
    /// The reader of the values of a table in a SQLite file; without it, `advise --like` takes none.
    pub sqlite_values: Option<ReadSqlite>,
}
