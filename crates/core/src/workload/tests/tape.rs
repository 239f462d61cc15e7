//! A store over another one that writes down every call that reaches it, in the order of each session.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use storebench_model::store::sql::{SqlSession, SqlType, SqlValue, StatementId};
use storebench_model::store::{
    OpenFn, OpenOptions, Result, Session, Store, StoreError, Transaction, TransactionBody,
};
use xxhash_rust::xxh3::Xxh3;

use super::database::Database;

/// The number of calls, and a digest of their names and arguments, in order.
#[derive(Default)]
struct Calls {
    digest: Xxh3,
    count: u64,
}

impl Calls {
    fn note(&mut self, name: &str, passed: &[&[u8]]) {
        self.count += 1;
        for bytes in std::iter::once(name.as_bytes()).chain(passed.iter().copied()) {
            self.digest.update(&(bytes.len() as u64).to_le_bytes());
            self.digest.update(bytes);
        }
    }

    fn end(&self) -> (u64, u64) {
        (self.count, self.digest.digest())
    }
}

#[derive(Clone)]
struct Tape {
    inner: OpenFn,
    /// For stores that speak SQL: it outlives the open store.
    database: Option<Arc<Database>>,
    store: Arc<Mutex<Calls>>,
    sessions: Arc<Mutex<Vec<(u64, u64)>>>,
    /// Calls after which a session panics, once.
    panics_after: Option<u64>,
    has_panicked: Arc<AtomicBool>,
}

impl Tape {
    fn new(inner: OpenFn, sql: bool, panics_after: Option<u64>) -> Tape {
        let database = sql.then(|| Arc::new(Database::default()));
        let (store, sessions, has_panicked) = Default::default();
        Tape { inner, database, store, sessions, panics_after, has_panicked }
    }

    fn may_panic(&self, calls: &Calls) {
        let is_due = self.panics_after.is_some_and(|limit| calls.count > limit);
        assert!(!is_due || self.has_panicked.swap(true, Ordering::Relaxed), "a fault that was planted");
    }
}

thread_local! {
    static RUNNING: RefCell<Option<Tape>> = const { RefCell::new(None) };
}

/// The number and digest of the calls of `trial` on a store over `inner`, per session, in whatever order they are opened.
pub fn recorded(inner: OpenFn, sql: bool, trial: impl FnOnce()) -> (u64, u64) {
    let tape = Tape::new(inner, sql, None);
    RUNNING.set(Some(tape.clone()));
    trial();
    RUNNING.set(None);
    let mut sessions = std::mem::take(&mut *tape.sessions.lock().unwrap());
    sessions.sort_unstable();
    sessions.push(tape.store.lock().unwrap().end());
    let mut digest = Xxh3::new();
    sessions.iter().for_each(|(_, session)| digest.update(&session.to_le_bytes()));
    (sessions.iter().map(|(count, _)| count).sum(), digest.digest())
}

/// Does `trial` on a store over `inner`, one session of which panics after a number of calls.
pub fn panicking<T>(inner: OpenFn, sql: bool, calls_before: u64, trial: impl FnOnce() -> T) -> T {
    RUNNING.set(Some(Tape::new(inner, sql, Some(calls_before))));
    let result = trial();
    RUNNING.set(None);
    result
}

pub fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    let tape = RUNNING.with_borrow(Clone::clone).expect("a trial is recorded");
    let inner = (tape.inner)(options)?;
    tape.store.lock().unwrap().note("open", &[]);
    Ok(Box::new(Recorded { inner, tape }))
}

struct Recorded {
    inner: Box<dyn Store>,
    tape: Tape,
}

impl Recorded {
    fn note(&self, name: &str) {
        self.tape.store.lock().unwrap().note(name, &[]);
    }
}

impl Store for Recorded {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        let inner = self.inner.session()?;
        Ok(Box::new(RecordedSession { inner, calls: Calls::default(), tape: &self.tape }))
    }
    fn sql(&self) -> Result<Box<dyn SqlSession + '_>> {
        let database = self.tape.database.as_deref();
        let database = database.ok_or_else(|| StoreError::Unsupported("no SQL".into()))?;
        let inner: Box<dyn SqlSession + '_> = Box::new(database.session());
        Ok(Box::new(RecordedSession { inner, calls: Calls::default(), tape: &self.tape }))
    }
    storebench_model::pass_on!(inner: guarantee, settings);
    fn count(&self) -> Result<u64> {
        self.note("count");
        self.inner.count()
    }
    fn settle(&self) -> Result<()> {
        self.note("settle");
        self.inner.settle()
    }
    fn discard(self: Box<Self>) -> Result<()> {
        self.note("discard");
        self.inner.discard()
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.note("close");
        self.inner.close()
    }
}

/// A session with records, or with rows.
struct RecordedSession<'s, S: ?Sized> {
    inner: Box<S>,
    calls: Calls,
    tape: &'s Tape,
}

impl<S: ?Sized> Drop for RecordedSession<'_, S> {
    fn drop(&mut self) {
        self.tape.sessions.lock().unwrap().push(self.calls.end());
    }
}

fn keys_and_values<'a>(records: &[(&'a [u8], &'a [u8])]) -> Vec<&'a [u8]> {
    records.iter().flat_map(|(key, value)| [*key, *value]).collect()
}

/// Methods that write down their name and arguments, and pass them on.
macro_rules! noted {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => { $(
        fn $name(&mut self, $($argument: $type),*) -> Result<$result> {
            self.calls.note(stringify!($name), &[$(AsRef::<[u8]>::as_ref($argument)),*]);
            self.inner.$name($($argument),*)
        }
    )* };
}

impl Session for RecordedSession<'_, dyn Session + '_> {
    noted! {
        insert(key: &[u8], value: &[u8]) -> ();
        set(key: &[u8], value: &[u8]) -> ();
        remove(key: &[u8]) -> ();
        end_appending() -> ();
    }
    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.calls.note("update", &[key, value]);
        self.tape.may_panic(&self.calls);
        self.inner.update(key, value)
    }
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.calls.note("get", &[key]);
        self.tape.may_panic(&self.calls);
        self.inner.get(key, visit)
    }
    fn copied(&self) -> Option<&[u8]> {
        self.inner.copied()
    }
    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        self.calls.note("scan", &[from, &limit.to_le_bytes()]);
        self.inner.scan(from, limit, visit)
    }
    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        self.calls.note("insert_batch", &keys_and_values(records));
        self.inner.insert_batch(records)
    }
    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        self.calls.note("remove_batch", keys);
        self.inner.remove_batch(keys)
    }
    fn append_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<bool> {
        self.calls.note("append_batch", &keys_and_values(records));
        self.inner.append_batch(records)
    }
    fn transact(&mut self, work: &mut TransactionBody<'_>) -> Result<()> {
        let RecordedSession { inner, calls, .. } = self;
        calls.note("transact", &[]);
        inner.transact(&mut |inner| work(&mut RecordedTransaction { inner, calls }))
    }
}

struct RecordedTransaction<'t> {
    inner: &'t mut dyn Transaction,
    calls: &'t mut Calls,
}

impl Transaction for RecordedTransaction<'_> {
    noted! {
        put(key: &[u8], value: &[u8]) -> ();
    }
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.calls.note("get", &[key]);
        self.inner.get(key, visit)
    }
    fn get_to_change(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.calls.note("get_to_change", &[key]);
        self.inner.get_to_change(key, visit)
    }
}

impl RecordedSession<'_, dyn SqlSession + '_> {
    fn note(&mut self, name: &str, statement: StatementId, values: &[SqlValue<'_>]) {
        let text = format!("{} {values:?}", statement.0);
        self.calls.note(name, &[text.as_bytes()]);
    }
}

impl SqlSession for RecordedSession<'_, dyn SqlSession + '_> {
    fn type_name(&self, sql_type: SqlType) -> &'static str {
        self.inner.type_name(sql_type)
    }
    noted! {
        execute(sql: &str) -> ();
        prepare(sql: &str) -> StatementId;
        begin() -> ();
        commit() -> ();
        roll_back() -> ();
        check_settings() -> ();
    }
    fn run(&mut self, statement: StatementId, values: &[SqlValue<'_>]) -> Result<u64> {
        self.note("run", statement, values);
        self.inner.run(statement, values)
    }
    fn query(
        &mut self,
        statement: StatementId,
        values: &[SqlValue<'_>],
        visit: &mut dyn FnMut(&[SqlValue<'_>]),
    ) -> Result<u64> {
        self.note("query", statement, values);
        self.tape.may_panic(&self.calls);
        self.inner.query(statement, values, visit)
    }
}
