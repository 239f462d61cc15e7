//! Features that a program has only if its build includes their code.

use storebench_host::sample_data::ReadSqlite;
use storebench_report::files::sql::OpenSqlite;

/// Optional features of a program besides measuring, if its build includes them ([`crate::EXTRAS`]).
#[derive(Clone, Copy, Default)]
pub struct Extras {
    /// Called first in every process: silences libraries that print by themselves.
    pub begin: Option<fn()>,
    /// The writer of SQLite files; without it, `report --sqlite` is an error.
    pub sqlite: Option<OpenSqlite>,
    /// The reader of values in SQLite files; without it, `advise --like` can't read them.
    pub sqlite_values: Option<ReadSqlite>,
}
