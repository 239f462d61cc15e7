//! Prepared statements that bind the caller's bytes in place. `rusqlite` copies every blob that it binds and borrows the
//! connection for a statement's life; sessions keep statements and pass values of up to megabytes.

use std::ffi::{CStr, c_int};
use std::ptr::{self, NonNull};

use rusqlite::{Connection, ffi};
use storebench_model::store::sql::SqlValue;
use storebench_model::store::{Result, StoreError};

/// A compiled statement, to be dropped before its connection, which leaks otherwise. One thread at a time uses both.
pub struct Statement {
    raw: NonNull<ffi::sqlite3_stmt>,
}

pub struct Row<'a> {
    statement: &'a Statement,
}

impl Statement {
    pub fn prepare(connection: &Connection, sql: &CStr) -> Result<Statement> {
        let mut raw = ptr::null_mut();
        // SAFETY: the handle is open while `connection` is borrowed; `sql` ends in a zero byte, as -1 promises.
        let code = unsafe {
            let database = connection.handle();
            ffi::sqlite3_prepare_v3(
                database,
                sql.as_ptr(),
                -1,
                ffi::SQLITE_PREPARE_PERSISTENT as _,
                &mut raw,
                ptr::null_mut(),
            )
        };
        match NonNull::new(raw) {
            Some(raw) if code == ffi::SQLITE_OK => Ok(Statement { raw }),
            // SAFETY: the handle is open, as above.
            _ => Err(unsafe { last_error(connection.handle()) }),
        }
    }

    pub fn run(&mut self, values: &[SqlValue<'_>]) -> Result<()> {
        self.rows(values, |_| ()).map(drop)
    }

    /// Shows each row to `visit`; gives their number.
    pub fn rows(&mut self, values: &[SqlValue<'_>], mut visit: impl FnMut(&Row<'_>)) -> Result<usize> {
        for (index, value) in (1..).zip(values) {
            self.bind(index, value)?;
        }
        let rewind = StatementReset { statement: self };
        let mut count = 0;
        loop {
            // SAFETY: the statement is alive, and the bytes bound to it are borrowed until this call returns.
            match unsafe { ffi::sqlite3_step(rewind.statement.raw.as_ptr()) } {
                ffi::SQLITE_ROW => visit(&Row { statement: rewind.statement }),
                ffi::SQLITE_DONE => return Ok(count),
                _ => return Err(rewind.statement.error()),
            }
            count += 1;
        }
    }

    /// Rows that the last INSERT, UPDATE or DELETE on this connection changed.
    pub fn changes(&self) -> c_int {
        // SAFETY: the statement is alive, and so is the connection that it belongs to.
        unsafe { ffi::sqlite3_changes(ffi::sqlite3_db_handle(self.raw.as_ptr())) }
    }

    fn bind(&mut self, index: c_int, value: &SqlValue<'_>) -> Result<()> {
        let raw = self.raw.as_ptr();
        // SAFETY: SQLite reads bound bytes only while it steps. `rows` steps only while it borrows them, and binds
        // every parameter anew before the first step of the next run.
        let code = unsafe {
            match value {
                SqlValue::Blob(bytes) => {
                    let (start, length) = (bytes.as_ptr().cast(), bytes.len() as u64);
                    ffi::sqlite3_bind_blob64(raw, index, start, length, ffi::SQLITE_STATIC())
                }
                SqlValue::Text(text) => {
                    let (start, length) = (text.as_ptr().cast(), text.len() as u64);
                    let utf8 = ffi::SQLITE_UTF8 as _;
                    ffi::sqlite3_bind_text64(raw, index, start, length, ffi::SQLITE_STATIC(), utf8)
                }
                SqlValue::Integer(number) => ffi::sqlite3_bind_int64(raw, index, *number),
                SqlValue::Real(number) => ffi::sqlite3_bind_double(raw, index, *number),
                SqlValue::Null => ffi::sqlite3_bind_null(raw, index),
            }
        };
        if code == ffi::SQLITE_OK { Ok(()) } else { Err(self.error()) }
    }

    fn error(&self) -> StoreError {
        // SAFETY: the statement is alive, and so is the connection that it belongs to.
        unsafe { last_error(ffi::sqlite3_db_handle(self.raw.as_ptr())) }
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: the statement is alive, and nothing uses it after this.
        unsafe { ffi::sqlite3_finalize(self.raw.as_ptr()) };
    }
}

impl Row<'_> {
    pub fn columns(&self) -> usize {
        // SAFETY: the statement is alive.
        let columns = unsafe { ffi::sqlite3_column_count(self.statement.raw.as_ptr()) };
        usize::try_from(columns).unwrap_or(0)
    }

    /// A column, counted from 0, in its stored type. Text that is not UTF-8 is shown as bytes.
    pub fn value(&self, column: c_int) -> SqlValue<'_> {
        let raw = self.statement.raw.as_ptr();
        // SAFETY: the statement stands on a row while this row is borrowed.
        unsafe {
            match ffi::sqlite3_column_type(raw, column) {
                ffi::SQLITE_INTEGER => SqlValue::Integer(ffi::sqlite3_column_int64(raw, column)),
                ffi::SQLITE_FLOAT => SqlValue::Real(ffi::sqlite3_column_double(raw, column)),
                ffi::SQLITE_NULL => SqlValue::Null,
                ffi::SQLITE_TEXT => {
                    let bytes = self.blob(column);
                    std::str::from_utf8(bytes).map_or(SqlValue::Blob(bytes), SqlValue::Text)
                }
                _ => SqlValue::Blob(self.blob(column)),
            }
        }
    }

    pub fn blob(&self, column: c_int) -> &[u8] {
        let raw = self.statement.raw.as_ptr();
        // SAFETY: the statement stands on a row, and neither steps nor resets while this row is borrowed. The length
        // is asked for after the pointer, as SQLite wants it.
        unsafe {
            let start: *const u8 = ffi::sqlite3_column_blob(raw, column).cast();
            let length = usize::try_from(ffi::sqlite3_column_bytes(raw, column)).unwrap_or(0);
            if start.is_null() { &[] } else { std::slice::from_raw_parts(start, length) }
        }
    }
}

/// Resets a statement however a run ends, which ends its transaction and locks.
struct StatementReset<'a> {
    statement: &'a Statement,
}

impl Drop for StatementReset<'_> {
    fn drop(&mut self) {
        // SAFETY: the statement is alive. The code repeats the error of the last step, which was handled there.
        unsafe { ffi::sqlite3_reset(self.statement.raw.as_ptr()) };
    }
}

/// The last error of a connection.
///
/// # Safety
/// `database` is an open connection that no other thread uses now.
unsafe fn last_error(database: *mut ffi::sqlite3) -> StoreError {
    // SAFETY: the caller's promise; the message is valid until the next call on the connection.
    let (code, message) = unsafe {
        (
            ffi::sqlite3_extended_errcode(database),
            CStr::from_ptr(ffi::sqlite3_errmsg(database)).to_string_lossy(),
        )
    };
    match code {
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY => StoreError::Exists,
        ffi::SQLITE_TOOBIG => {
            StoreError::Unsupported("SQLite takes keys and values of up to 1,000,000,000 bytes".into())
        }
        code if code & 0xFF == ffi::SQLITE_BUSY => {
            StoreError::Conflict(format!("{message} (SQLite error {code})"))
        }
        _ => StoreError::Engine(format!("{message} (SQLite error {code})")),
    }
}
