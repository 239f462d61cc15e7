//! One thread's calls on a Berkeley DB. Transactions lock the pages that they read and write, and the engine chooses which of those
//! in a deadlock gives way.

use std::ffi::c_int;
use std::ptr;

use storebench_model::store::{Result, Session, StoreError, Transaction, TransactionBody};

use super::{BerkeleyDb, check, ffi, message};
use crate::one_session::SessionPass;

/// About the bytes of a record's log entries besides key and value.
const LOG_OVERHEAD: u64 = 200;

const FIRST_BUFFER_BYTES: usize = 16 << 10;

pub struct BerkeleySession<'a> {
    store: &'a BerkeleyDb,
    _pass: Option<SessionPass<'a>>,
    /// Reused buffers: the engine gives no access to its pages, so there must be one copy.
    key: Vec<u8>,
    value: Vec<u8>,
    length: usize,
    /// About the bytes that this session has logged since it last asked for a checkpoint.
    logged: u64,
    /// The engine then checks whether all sessions together logged enough.
    checkpoint_at: u64,
}

/// The engine keeps lengths in 32 bits.
fn size(bytes: &[u8]) -> Result<u32> {
    u32::try_from(bytes.len()).map_err(|_| {
        StoreError::Unsupported(format!("{} bytes are too long for a key or value", bytes.len()))
    })
}

/// Repeats a call while the engine makes it give way to another session.
pub fn retry(mut call: impl FnMut() -> Result<c_int>) -> Result<c_int> {
    loop {
        match call()? {
            ffi::DEADLOCK => (),
            code => return Ok(code),
        }
    }
}

fn grow(buffer: &mut Vec<u8>, needed: u32) {
    let needed = usize::try_from(needed).unwrap_or(usize::MAX);
    if needed > buffer.len() {
        buffer.resize(needed.next_power_of_two(), 0);
    }
}

fn buffer_room(buffer: &[u8]) -> u32 {
    u32::try_from(buffer.len()).unwrap_or(u32::MAX)
}

impl<'a> BerkeleySession<'a> {
    pub fn new(store: &'a BerkeleyDb, pass: Option<SessionPass<'a>>) -> BerkeleySession<'a> {
        BerkeleySession {
            store,
            _pass: pass,
            key: vec![0; FIRST_BUFFER_BYTES],
            value: vec![0; FIRST_BUFFER_BYTES],
            length: 0,
            logged: 0,
            checkpoint_at: u64::from(store.checkpoint_kbyte) * 1024 / 8 / u64::from(store.sessions),
        }
    }

    fn db(&self) -> *mut ffi::Db {
        self.store.db.as_ptr()
    }

    fn put(&self, txn: *mut ffi::Txn, key: &[u8], value: &[u8]) -> Result<c_int> {
        let (key_size, value_size) = (size(key)?, size(value)?);
        // SAFETY: the database is open, the transaction is null or open; the engine copies key and value.
        Ok(unsafe {
            ffi::sb_bdb_put(self.db(), txn, key.as_ptr().cast(), key_size, value.as_ptr().cast(), value_size)
        })
    }

    /// Without checkpoints the log and recovery grow for ever.
    fn note_logged(&mut self, bytes: usize) -> Result<()> {
        if self.store.checkpoint_kbyte == 0 {
            return Ok(());
        }
        self.logged += bytes as u64 + LOG_OVERHEAD;
        if self.logged < self.checkpoint_at {
            return Ok(());
        }
        self.logged = 0;
        // SAFETY: the database is open.
        check(unsafe { ffi::sb_bdb_checkpoint(self.db(), self.store.checkpoint_kbyte) })
    }

    /// Runs all records in one transaction; gives a deadlock's code if it was chosen to give way: then nothing of it remains.
    fn try_batch<T>(&self, items: &[T], apply: impl Fn(*mut ffi::Txn, &T) -> Result<c_int>) -> Result<c_int> {
        let mut txn = ptr::null_mut();
        // SAFETY: the database is open and has transactions.
        check(unsafe { ffi::sb_bdb_begin(self.db(), &raw mut txn) })?;
        for item in items {
            let outcome = apply(txn, item);
            if !matches!(outcome, Ok(ffi::OK)) {
                let outcome =
                    outcome.and_then(|code| if code == ffi::DEADLOCK { Ok(code) } else { Err(message()) });
                // SAFETY: the transaction is open, and not used afterwards.
                return check(unsafe { ffi::sb_bdb_abort(txn) }).and(outcome);
            }
        }
        // SAFETY: as above.
        Ok(unsafe { ffi::sb_bdb_commit(txn) })
    }

    /// Repeats [`BerkeleySession::try_batch`] until no other transaction is in its way; `bytes` go into the log.
    fn batch<T>(
        &mut self,
        items: &[T],
        bytes: usize,
        apply: impl Fn(&Self, *mut ffi::Txn, &T) -> Result<c_int>,
    ) -> Result<()> {
        check(retry(|| self.try_batch(items, |txn, item| apply(self, txn, item)))?)?;
        self.note_logged(bytes)
    }

    /// Shows up to `limit` records from `self.key[..key_size]` on with a cursor. Gives the engine's last code: not found at the
    /// end of records. The key shown last is in `self.key`, its size in `key_size`.
    fn walk(
        &mut self,
        key_size: &mut u32,
        mut skip_first: bool,
        limit: usize,
        shown: &mut usize,
        visit: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<c_int> {
        let start = *key_size as usize;
        let mut cursor = ptr::null_mut();
        // SAFETY: the database is open.
        check(unsafe { ffi::sb_bdb_cursor_open(self.db(), &raw mut cursor) })?;
        let mut seek = 1;
        let mut code = ffi::OK;
        while *shown < limit {
            let (mut key_len, mut value_len) = (*key_size, 0);
            // SAFETY: the cursor is open; the buffers are as large as is said, and not looked at meanwhile.
            code = unsafe {
                ffi::sb_bdb_cursor_get(
                    cursor,
                    seek,
                    self.key.as_mut_ptr().cast(),
                    buffer_room(&self.key),
                    &raw mut key_len,
                    self.value.as_mut_ptr().cast(),
                    buffer_room(&self.value),
                    &raw mut value_len,
                )
            };
            match code {
                ffi::OK => (),
                ffi::BUFFER_SMALL => {
                    grow(&mut self.key, key_len);
                    grow(&mut self.value, value_len);
                    continue;
                }
                _ => break,
            }
            let is_start_key = skip_first && key_len as usize == start;
            *key_size = key_len;
            seek = 0;
            if !(std::mem::take(&mut skip_first) && is_start_key) {
                visit(&self.key[..key_len as usize], &self.value[..value_len as usize]);
                *shown += 1;
            }
        }
        // SAFETY: the cursor is open, and not used afterwards.
        let closed = unsafe { ffi::sb_bdb_cursor_close(cursor) };
        if closed == ffi::OK { Ok(code) } else { Err(message()) }
    }
}

impl Session for BerkeleySession<'_> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check(retry(|| self.put(ptr::null_mut(), key, value))?)?;
        self.note_logged(key.len() + value.len())
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.insert(key, value)
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let key_size = size(key)?;
        let db = self.db();
        let mut len = 0;
        loop {
            // SAFETY: the database is open; the buffer is as large as is said, and not looked at meanwhile.
            let code = retry(|| unsafe {
                let (buffer, room) = (self.value.as_mut_ptr().cast(), buffer_room(&self.value));
                Ok(ffi::sb_bdb_get(db, key.as_ptr().cast(), key_size, buffer, room, &raw mut len))
            });
            match code? {
                ffi::OK => {
                    self.length = len as usize;
                    visit(&self.value[..self.length]);
                    return Ok(true);
                }
                ffi::NOT_FOUND => return Ok(false),
                ffi::BUFFER_SMALL => grow(&mut self.value, len),
                _ => return Err(message()),
            }
        }
    }

    fn copied(&self) -> Option<&[u8]> {
        self.value.get(..self.length)
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        let key_size = size(key)?;
        // SAFETY: the database is open.
        let code = retry(|| unsafe {
            Ok(ffi::sb_bdb_delete(self.db(), ptr::null_mut(), key.as_ptr().cast(), key_size))
        });
        match code? {
            ffi::OK => self.note_logged(key.len()),
            ffi::NOT_FOUND => Ok(()),
            _ => Err(message()),
        }
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        if self.store.hash {
            return Err(StoreError::Unsupported("type=DB_HASH keeps its keys in no order".into()));
        }
        let mut key_size = size(from)?;
        grow(&mut self.key, key_size);
        self.key[..from.len()].copy_from_slice(from);
        let mut shown = 0;
        loop {
            // After a deadlock the walk goes on behind the key that was shown last.
            match self.walk(&mut key_size, shown > 0, limit, &mut shown, visit)? {
                ffi::OK | ffi::NOT_FOUND => return Ok(shown),
                ffi::DEADLOCK => (),
                _ => return Err(message()),
            }
        }
    }

    fn transact(&mut self, work: &mut TransactionBody<'_>) -> Result<()> {
        let bytes = run(self.store, &mut self.value, work)?;
        self.note_logged(bytes)
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        if self.store.checkpoint_kbyte == 0 {
            return records.iter().try_for_each(|(key, value)| self.insert(key, value));
        }
        let bytes = records.iter().map(|(key, value)| key.len() + value.len()).sum();
        self.batch(records, bytes, |session, txn, (key, value)| session.put(txn, key, value))
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        if self.store.checkpoint_kbyte == 0 {
            return keys.iter().try_for_each(|key| self.remove(key));
        }
        let bytes = keys.iter().map(|key| key.len()).sum();
        self.batch(keys, bytes, |session, txn, key| {
            let key_size = size(key)?;
            // SAFETY: the database and the transaction are open.
            let code = unsafe { ffi::sb_bdb_delete(session.db(), txn, key.as_ptr().cast(), key_size) };
            Ok(if code == ffi::NOT_FOUND { ffi::OK } else { code })
        })
    }
}

/// Runs `work` in a transaction, which commits unless `work` fails; `buffer` receives values. Gives the number of bytes put.
fn run(store: &BerkeleyDb, buffer: &mut Vec<u8>, work: &mut TransactionBody<'_>) -> Result<usize> {
    if store.checkpoint_kbyte == 0 {
        return Err(StoreError::Unsupported("this store was opened without transactions".into()));
    }
    let mut txn = ptr::null_mut();
    // SAFETY: the database is open and has transactions.
    check(unsafe { ffi::sb_bdb_begin(store.db.as_ptr(), &raw mut txn) })?;
    let mut transaction = OpenTransaction { store, txn, buffer, put: 0 };
    let outcome = work(&mut transaction);
    let put = transaction.put;
    match outcome {
        // SAFETY: the transaction is open, and not used afterwards, whatever comes of it.
        Ok(()) => check_found(unsafe { ffi::sb_bdb_commit(txn) }).map(|_| put),
        Err(error) => {
            // SAFETY: as above. The first error counts.
            unsafe { ffi::sb_bdb_abort(txn) };
            Err(error)
        }
    }
}

struct OpenTransaction<'a> {
    store: &'a BerkeleyDb,
    txn: *mut ffi::Txn,
    buffer: &'a mut Vec<u8>,
    put: usize,
}

/// The meaning of a code: whether something was found, or that the transaction must give way.
fn check_found(code: c_int) -> Result<bool> {
    match code {
        ffi::OK => Ok(true),
        ffi::NOT_FOUND => Ok(false),
        ffi::DEADLOCK => Err(StoreError::Conflict("it was chosen to resolve a deadlock".into())),
        _ => Err(message()),
    }
}

impl OpenTransaction<'_> {
    fn read(&mut self, to_change: bool, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let key_size = size(key)?;
        let mut len = 0;
        loop {
            // SAFETY: the database and the transaction are open; the buffer is as large as is said, and not looked at meanwhile.
            let code = unsafe {
                let (buffer, room) = (self.buffer.as_mut_ptr().cast(), buffer_room(self.buffer));
                let (db, key) = (self.store.db.as_ptr(), key.as_ptr().cast());
                let to_change = c_int::from(to_change);
                ffi::sb_bdb_get_in(db, self.txn, to_change, key, key_size, buffer, room, &raw mut len)
            };
            if code == ffi::BUFFER_SMALL {
                grow(self.buffer, len);
                continue;
            }
            let found = check_found(code)?;
            if found {
                visit(&self.buffer[..len as usize]);
            }
            return Ok(found);
        }
    }
}

impl Transaction for OpenTransaction<'_> {
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.read(false, key, visit)
    }

    fn get_to_change(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.read(true, key, visit)
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let (key_size, value_size) = (size(key)?, size(value)?);
        // SAFETY: the database and the transaction are open; the engine copies key and value.
        let code = unsafe {
            let (db, key, value) = (self.store.db.as_ptr(), key.as_ptr().cast(), value.as_ptr().cast());
            ffi::sb_bdb_put(db, self.txn, key, key_size, value, value_size)
        };
        check_found(code)?;
        self.put += key.len() + value.len();
        Ok(())
    }
}
