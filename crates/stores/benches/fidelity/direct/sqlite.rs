//! SQLite by its C interface: prepared statements, bytes bound where they lie.

use std::ffi::CStr;
use std::path::Path;
use std::ptr;

use rusqlite::ffi;
use storebench_core::record::Key;

use super::{Engine, c_path};

pub struct Sqlite {
    db: *mut ffi::sqlite3,
    insert: *mut ffi::sqlite3_stmt,
    update: *mut ffi::sqlite3_stmt,
    get: *mut ffi::sqlite3_stmt,
}

const SETTINGS: &CStr = c"PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536; \
    CREATE TABLE records (key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL)";

impl Sqlite {
    fn execute(&self, sql: &CStr) {
        // SAFETY: the connection is open, the text ends with a zero byte, and there is no callback.
        let code =
            unsafe { ffi::sqlite3_exec(self.db, sql.as_ptr(), None, ptr::null_mut(), ptr::null_mut()) };
        assert_eq!(code, ffi::SQLITE_OK, "SQLite does {sql:?}");
    }

    fn prepare(&self, sql: &CStr) -> *mut ffi::sqlite3_stmt {
        let mut statement = ptr::null_mut();
        let flags = ffi::SQLITE_PREPARE_PERSISTENT as _;
        // SAFETY: the connection is open; the text ends with a zero byte, as -1 promises.
        let code = unsafe {
            ffi::sqlite3_prepare_v3(self.db, sql.as_ptr(), -1, flags, &raw mut statement, ptr::null_mut())
        };
        assert_eq!(code, ffi::SQLITE_OK, "SQLite prepares {sql:?}");
        statement
    }

    fn write(statement: *mut ffi::sqlite3_stmt, key: &Key, value: &[u8]) {
        // SAFETY: the statement is alive; what is bound lives until it has stepped.
        let code = unsafe {
            ffi::sqlite3_bind_blob(statement, 1, key.as_ptr().cast(), key.len() as _, ffi::SQLITE_STATIC());
            ffi::sqlite3_bind_blob(
                statement,
                2,
                value.as_ptr().cast(),
                value.len() as _,
                ffi::SQLITE_STATIC(),
            );
            let code = ffi::sqlite3_step(statement);
            ffi::sqlite3_reset(statement);
            code
        };
        assert_eq!(code, ffi::SQLITE_DONE, "SQLite writes");
    }
}

impl Engine for Sqlite {
    fn open(folder: &Path) -> Sqlite {
        let path = c_path(&folder.join("records.sqlite"));
        let flags = ffi::SQLITE_OPEN_READWRITE | ffi::SQLITE_OPEN_CREATE | ffi::SQLITE_OPEN_NOMUTEX;
        let null = ptr::null_mut();
        let mut sqlite =
            Sqlite { db: null, insert: ptr::null_mut(), update: ptr::null_mut(), get: ptr::null_mut() };
        // SAFETY: the path ends with a zero byte; a null name means the system's own file functions.
        let code = unsafe { ffi::sqlite3_open_v2(path.as_ptr(), &raw mut sqlite.db, flags, ptr::null()) };
        assert_eq!(code, ffi::SQLITE_OK, "SQLite opens");
        sqlite.execute(SETTINGS);
        sqlite.insert = sqlite.prepare(c"INSERT INTO records (key, value) VALUES (?1, ?2)");
        sqlite.update = sqlite.prepare(c"UPDATE records SET value = ?2 WHERE key = ?1");
        sqlite.get = sqlite.prepare(c"SELECT value FROM records WHERE key = ?1");
        sqlite
    }

    fn put(&mut self, key: &Key, value: &[u8]) {
        Sqlite::write(self.update, key, value);
    }

    fn get(&mut self, key: &Key, buffer: &mut [u8]) -> usize {
        // SAFETY: the statement is alive; the value stays until it is reset.
        unsafe {
            ffi::sqlite3_bind_blob(self.get, 1, key.as_ptr().cast(), key.len() as _, ffi::SQLITE_STATIC());
            assert_eq!(ffi::sqlite3_step(self.get), ffi::SQLITE_ROW, "SQLite reads");
            let value = ffi::sqlite3_column_blob(self.get, 0);
            let length = ffi::sqlite3_column_bytes(self.get, 0) as usize;
            ptr::copy_nonoverlapping(value.cast(), buffer[..length].as_mut_ptr(), length);
            ffi::sqlite3_reset(self.get);
            length
        }
    }

    fn put_all(&mut self, records: &[(Key, Vec<u8>)]) {
        self.execute(c"BEGIN IMMEDIATE");
        records.iter().for_each(|(key, value)| Sqlite::write(self.insert, key, value));
        self.execute(c"COMMIT");
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        // SAFETY: all are alive, and nothing uses them after this.
        unsafe {
            for statement in [self.insert, self.update, self.get] {
                ffi::sqlite3_finalize(statement);
            }
            ffi::sqlite3_close(self.db);
        }
    }
}
