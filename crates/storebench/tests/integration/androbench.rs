//! The workload `androbench` over SQLite, and over stores that lose what they acknowledged.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use storebench_core::workload::spec::TrialError;
use storebench_model::result::{Failure, Measurements};
use storebench_model::store::sql::{SqlSession, SqlType, SqlValue, StatementId};
use storebench_model::store::{Guarantee, Loss, OpenFn, OpenOptions, Result, Store, StoreDef, StoreError};

use crate::trial::{Values, with_trial};

fn sqlite() -> StoreDef {
    storebench::STORES.iter().find(|store| store.name == "sqlite").unwrap().clone()
}

fn trial(
    store: StoreDef,
    values: Values<'_>,
    settings: Values<'_>,
) -> std::result::Result<Measurements, TrialError> {
    let axes = [&[("rows", "50"), ("guarantee", "default")][..], values].concat();
    let folder = tempfile::tempdir().unwrap();
    with_trial("androbench", store, &folder, [&axes, &[("operations", "20")], settings], |trial| {
        (trial.spec.workload.def().run)(trial)
    })
}

/// With transactions of one statement and of several.
#[test]
fn servers_keep_every_row() {
    for (name, engine) in [("postgres", None), ("mariadb", Some("innodb")), ("mariadb", Some("rocksdb"))] {
        let store = storebench::STORES.iter().find(|store| store.name == name).unwrap().clone();
        if store.open.is_err() || store.missing_need().is_some() {
            println!("skipped: {name} can't run here: {:?}", store.missing_need());
            continue;
        }
        let settings: Vec<(&str, &str)> = engine.map(|engine| ("engine", engine)).into_iter().collect();
        for statements in ["1", "4"] {
            let measured = trial(store.clone(), &[("statements", statements)], &settings)
                .unwrap_or_else(|error| panic!("{name} {engine:?}: {error:?}"));
            let counts: Vec<u64> = measured.operations.iter().map(|operation| operation.count).collect();
            assert_eq!(counts, [20; 3], "{name}");
            let audit = measured.audit.unwrap();
            assert!(audit.reopened > 0 && audit.read_back > 0, "{name} {engine:?}");
        }
    }
}

#[test]
fn every_row_is_there_and_every_transaction_is_counted() {
    if sqlite().open.is_err() {
        println!("skipped: this build has no sqlite");
        return;
    }
    for statements in ["1", "3"] {
        let wal = [("journal_mode", "WAL"), ("synchronous", "FULL"), ("page_size", "1024")];
        let measured = trial(sqlite(), &[("statements", statements)], &wal).unwrap();
        let counts: Vec<_> = measured
            .operations
            .iter()
            .map(|operation| (operation.operation.as_str(), operation.count, operation.errors))
            .collect();
        assert_eq!(counts, [("insert", 20, 0), ("update", 20, 0), ("delete", 20, 0)]);
        let audit = measured.audit.unwrap();
        assert_eq!((measured.stored.records, audit.records, audit.reopened), (50, 50, 2));
        assert_eq!(measured.load.records, 50);
        let touched: u64 = 20 * statements.parse::<u64>().unwrap();
        assert_eq!(measured.written.unwrap().records, 50 + 2 * touched);
        assert_eq!((measured.guarantee, measured.power_cut), (Guarantee::Power, Some(Loss::Nothing)));
        for operation in &measured.operations {
            let syncs = operation.counters.as_ref().unwrap().syncs;
            assert!(syncs.is_none_or(|syncs| syncs >= 20), "{}: {syncs:?}", operation.operation);
            assert!(operation.value_bytes > 0 || operation.operation == "delete");
        }
        let page_size = measured.settings.iter().find(|setting| setting.name == "page_size").unwrap();
        assert_eq!(page_size.value, "1024");
    }
}

#[test]
fn the_settings_decide_the_tier_unless_one_is_asked_for() {
    if sqlite().open.is_err() {
        println!("skipped: this build has no sqlite");
        return;
    }
    for (settings, tier, cut) in [
        ([("journal_mode", "DELETE"), ("synchronous", "FULL")], Guarantee::Process, Loss::Last),
        ([("journal_mode", "WAL"), ("synchronous", "NORMAL")], Guarantee::Process, Loss::Newest),
        ([("journal_mode", "OFF"), ("synchronous", "FULL")], Guarantee::None, Loss::Whole),
        ([("journal_mode", "TRUNCATE"), ("synchronous", "EXTRA")], Guarantee::Power, Loss::Nothing),
    ] {
        let measured = trial(sqlite(), &[], &settings).unwrap();
        assert_eq!((measured.guarantee, measured.power_cut), (tier, Some(cut)), "{settings:?}");
    }
    let Err(TrialError::Failed(stop)) = trial(sqlite(), &[("guarantee", "power")], &[("synchronous", "OFF")])
    else {
        panic!("a setting that takes the guarantee away was taken");
    };
    assert!(
        stop.message.contains("these settings give the guarantee process, not power"),
        "{}",
        stop.message
    );
}

#[test]
fn a_planted_loss_is_found() {
    if sqlite().open.is_err() {
        println!("skipped: this build has no sqlite");
        return;
    }
    for (name, open, complaint) in [
        ("loses-insert", &open_as::<0> as OpenFn, "the row 9 is missing, after the trial"),
        ("loses-update", &open_as::<1>, "is not what was just written"),
        ("loses-delete", &open_as::<2>, "is still there, though it was just deleted"),
        ("reverts", &open_as::<5>, "is not what was written last, after the trial"),
        ("revives", &open_as::<6>, "is there, though it was deleted"),
        ("empties", &open_as::<7>, "is missing, after the trial"),
        ("forgets-changes", &open_as::<3>, "changed 0 rows, but should change 1"),
    ] {
        let store = StoreDef { name, open: Ok(open), ..sqlite() };
        let Err(TrialError::Failed(stop)) = trial(store, &[], &[]) else { panic!("{name} passed") };
        assert_eq!(stop.failure, Failure::WrongData, "{name}: {}", stop.message);
        assert!(stop.message.contains(complaint), "{name}: {}", stop.message);
    }
    let honest = StoreDef { name: "honest", open: Ok(&open_as::<9>), ..sqlite() };
    assert!(trial(honest, &[], &[]).is_ok(), "the liar is found for its lie alone");
}

#[test]
fn a_store_that_says_power_and_never_syncs_is_found() {
    if sqlite().open.is_err() {
        println!("skipped: this build has no sqlite");
        return;
    }
    // Other tests of this process sync as well now and then, and are counted.
    let is_found = (0..20).any(|_| {
        let liar = StoreDef { name: "never-syncs", open: Ok(&open_as::<4>), ..sqlite() };
        match trial(liar, &[], &[]) {
            Err(TrialError::Failed(stop)) => stop.failure == Failure::Unsynced,
            Err(other) => panic!("{other:?}"),
            // Where syncs can't be counted, what is said is believed.
            Ok(measured) => measured.operations[0].counters.as_ref().unwrap().syncs.is_none(),
        }
    });
    assert!(is_found);
}

/// A store that differs from SQLite in one operation.
struct Lie(usize);

impl Lie {
    /// Statements that it does not run, by what they begin with.
    fn drops(&self, sql: &str) -> bool {
        let verb = ["INSERT", "UPDATE", "DELETE", "UPDATE"].get(self.0);
        verb.is_some_and(|verb| sql.starts_with(verb))
    }
}

fn open_as<const LIE: usize>(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    let open = sqlite().open.map_err(|reason| StoreError::Unsupported(reason.into()))?;
    let without_syncs = BTreeMap::from([("synchronous".to_owned(), "OFF".to_owned())]);
    let settings = if LIE == 4 { &without_syncs } else { options.settings };
    Ok(Box::new(Liar { inner: open(&OpenOptions { settings, ..options.clone() })?, lie: Lie(LIE) }))
}

struct Liar {
    inner: Box<dyn Store>,
    lie: Lie,
}

impl Store for Liar {
    storebench_model::pass_on!(inner: session, count, settle, settings);
    fn sql(&self) -> Result<Box<dyn SqlSession + '_>> {
        Ok(Box::new(LiarSession {
            inner: self.inner.sql()?,
            lie: &self.lie,
            texts: Vec::new(),
            runs: AtomicU64::new(0),
        }))
    }
    fn guarantee(&self) -> Guarantee {
        if self.lie.0 == 4 { Guarantee::Power } else { self.inner.guarantee() }
    }
    /// Some lose what they showed only when they are closed.
    fn close(self: Box<Self>) -> Result<()> {
        let statement = match self.lie.0 {
            5 => "UPDATE messages SET score = score + 1 WHERE id = 3",
            6 => {
                "INSERT INTO messages SELECT 1000, conversation, sender, sent_at, unread, score, body, picture FROM messages LIMIT 1"
            }
            7 => "DELETE FROM messages WHERE id = (SELECT max(id) FROM messages)",
            _ => "",
        };
        self.inner.sql()?.execute(statement)?;
        self.inner.close()
    }
}

struct LiarSession<'a> {
    inner: Box<dyn SqlSession + 'a>,
    lie: &'a Lie,
    texts: Vec<(StatementId, String)>,
    runs: AtomicU64,
}

impl SqlSession for LiarSession<'_> {
    fn type_name(&self, sql_type: SqlType) -> &'static str {
        self.inner.type_name(sql_type)
    }
    fn execute(&mut self, sql: &str) -> Result<()> {
        self.inner.execute(sql)
    }
    fn prepare(&mut self, sql: &str) -> Result<StatementId> {
        let prepared = self.inner.prepare(sql)?;
        self.texts.push((prepared, sql.to_owned()));
        Ok(prepared)
    }
    fn run(&mut self, statement: StatementId, values: &[SqlValue<'_>]) -> Result<u64> {
        let is_dropped =
            self.texts.iter().any(|(prepared, sql)| *prepared == statement && self.lie.drops(sql));
        // The tenth of them. (Inserts are of the last statement that was prepared of their kind: rows that are loaded count.)
        if is_dropped && self.runs.fetch_add(1, Ordering::Relaxed) == 9 {
            return Ok(if self.lie.0 == 3 { 0 } else { 1 });
        }
        self.inner.run(statement, values)
    }
    fn query(
        &mut self,
        statement: StatementId,
        values: &[SqlValue<'_>],
        visit: &mut dyn FnMut(&[SqlValue<'_>]),
    ) -> Result<u64> {
        self.inner.query(statement, values, visit)
    }
    fn begin(&mut self) -> Result<()> {
        self.inner.begin()
    }
    fn commit(&mut self) -> Result<()> {
        self.inner.commit()
    }
    fn roll_back(&mut self) -> Result<()> {
        self.inner.roll_back()
    }
    fn check_settings(&mut self) -> Result<()> {
        self.inner.check_settings()
    }
}
