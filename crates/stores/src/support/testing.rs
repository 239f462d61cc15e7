//! Helpers of the stores' own tests.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use storebench_model::server::{DATA, end_in, user_of};
use storebench_model::store::sql::{BulkLoad, SqlSession, SqlType, SqlValue};
use storebench_model::store::{
    Guarantee, Loss, OpenOptions, Result, Setting, Store, StoreDef, StoreError, StoreKind, make_servers_known,
};
use tempfile::TempDir;

pub fn new_folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// A new folder for a server, if that is installed.
pub fn folder_if_here(server: &StoreDef) -> Option<TempDir> {
    match server.missing_need() {
        None => Some(new_folder()),
        Some(why) => {
            println!("not tried: {why}");
            None
        }
    }
}

#[test]
fn no_study_runs_a_server_unasked() {
    for def in crate::STORES.iter().filter(|def| def.kind == StoreKind::Server) {
        assert_eq!(def.server.is_some(), def.open.is_ok(), "{}", def.name);
        assert!(!def.runs_by_default(), "{}", def.name);
    }
}

pub fn open(
    def: &StoreDef,
    directory: &Path,
    guarantee: Option<Guarantee>,
    compression: bool,
    settings: &[(&str, &str)],
) -> Result<Box<dyn Store>> {
    make_servers_known(crate::STORES);
    let settings = settings.iter().map(|(name, value)| (String::from(*name), String::from(*value))).collect();
    let options = OpenOptions {
        guarantee,
        compression,
        settings: &settings,
        sessions: 2,
        ..OpenOptions::new(directory)
    };
    (def.open.unwrap())(&options)
}

pub fn opened(
    def: &StoreDef,
    folder: &TempDir,
    tier: Option<Guarantee>,
    settings: &[(&str, &str)],
) -> Box<dyn Store> {
    open(def, folder.path(), tier, false, settings).unwrap()
}

pub fn refused(
    def: &StoreDef,
    folder: &TempDir,
    tier: Option<Guarantee>,
    settings: &[(&str, &str)],
) -> StoreError {
    match open(def, folder.path(), tier, false, settings) {
        Ok(_) => panic!("{} took {settings:?}", def.name),
        Err(error) => error,
    }
}

pub fn setting(store: &dyn Store, name: &str) -> String {
    let settings = store.settings().unwrap();
    settings.into_iter().find(|setting| setting.name == name).expect("the setting is reported").value
}

/// The store of this name, if it was built and what it needs is installed.
fn store_if_here(name: &str) -> Option<&'static StoreDef> {
    let def = crate::STORES.iter().find(|def| def.name == name).unwrap();
    Some(def).filter(|def| def.open.is_ok() && def.missing_need().is_none())
}

/// Unknown names, and values that a store can't take, would ignore, or would panic on.
#[test]
fn settings_that_do_not_take_are_refused() {
    let bad_settings: [(&str, &[(&str, &str)]); 19] = [
        ("berkeleydb", &[("page_size", "4096"), ("pagesize", "5000"), ("type", "DB_QUEUE")]),
        ("etcd", &[("reads", "sometimes"), ("snapshot-count", "0"), ("colour", "red")]),
        ("fjall", &[("max_journaling_size", "1"), ("data_block_size", "16"), ("worker_threads", "0")]),
        ("leveldb", &[("page_size", "1"), ("block_size", "4k"), ("block_size", "1"), ("bloom_bits", "99")]),
        ("libmdbx", &[("pagesize", "5000"), ("pagesize", "128"), ("size_upper", "0")]),
        ("libmdbx", &[("growth_step", "-2"), ("sync_bytes", "many")]),
        ("lmdb", &[("nosync", "1")]),
        ("mariadb", &[("engine", "myisam"), ("innodb_doublewrite", "perhaps"), ("innodb_page_size", "5000")]),
        ("mariadb", &[("innodb_flush_log_at_trx_commit", "7"), ("rocksdb_block_cache_size", "1048576")]),
        ("mariadb", &[("colour", "red")]),
        ("postgres", &[("fsync", "perhaps"), ("shared_buffers", "8192"), ("colour", "red")]),
        ("postgres", &[("wal_segment_size", "3000000")]),
        ("redb", &[("durability", "eventual")]),
        ("redis", &[("appendfsync", "perhaps"), ("save", "60"), ("save", "often"), ("save", "off")]),
        ("redis", &[("io-threads", "129"), ("colour", "red")]),
        ("rocksdb", &[("page_size", "4096"), ("compression", "zip"), ("max_background_jobs", "0")]),
        ("sled", &[("cache_capacity", "255"), ("flush_every_ms", "0"), ("flush_every_ms", "10001")]),
        ("sqlite", &[("synchronous", "OFF; DROP TABLE x"), ("colour", "red")]),
        ("unqlite", &[("max_page_cache", "1"), ("page_size", "5000"), ("page_size", "256"), ("cache", "1")]),
    ];
    for (name, settings) in bad_settings {
        let Some(def) = store_if_here(name) else { continue };
        for given in settings {
            let error = refused(def, &new_folder(), None, &[*given]);
            assert!(matches!(error, StoreError::BadSetting(_)), "{name} {given:?}: {error}");
        }
    }
}

#[test]
fn settings_never_change_the_guarantee_unsaid() {
    for (name, tier, given, real) in [
        ("etcd", Guarantee::Process, ("reads", "linearizable"), "power"),
        ("libmdbx", Guarantee::Power, ("sync_mode", "nometasync"), "process"),
        ("lmdb", Guarantee::Power, ("nometasync", "true"), "process"),
        ("lmdb", Guarantee::Process, ("nosync", "false"), "power"),
        ("mariadb", Guarantee::Power, ("innodb_doublewrite", "OFF"), "process"),
        ("postgres", Guarantee::Power, ("fsync", "off"), "process"),
        ("redb", Guarantee::Power, ("durability", "none"), "none"),
        ("redis", Guarantee::Power, ("appendfsync", "everysec"), "none"),
        ("sled", Guarantee::Process, ("flush", "false"), "none"),
        ("sqlite", Guarantee::Power, ("synchronous", "OFF"), "process"),
    ] {
        let Some(def) = store_if_here(name) else { continue };
        let error = refused(def, &new_folder(), Some(tier), &[given]);
        let why = format!("the guarantee {real}, not {tier}");
        assert!(matches!(&error, StoreError::BadSetting(text) if text.contains(&why)), "{name}: {error}");
    }
}

/// The cost of a power cut at a tier with these settings; neither it nor that of a kill contradicts the tier.
pub fn loss_at_power_cut(def: &StoreDef, tier: Guarantee, settings: &[Setting]) -> Loss {
    let danger = def.offer(tier).unwrap().danger(settings).unwrap();
    assert_eq!(tier == Guarantee::None, danger.kill != Loss::Nothing, "{settings:?}");
    assert_eq!(tier == Guarantee::Power, danger.power_cut == Loss::Nothing, "{settings:?}");
    danger.power_cut
}

/// Checks a store's SQL session: rows as they were written, transactions, and loads.
pub fn hold_sql_to_its_promise(store: &dyn Store) {
    let mut session = store.sql().unwrap();
    let [real, blob] = [SqlType::Real, SqlType::Blob].map(|sql_type| session.type_name(sql_type));
    let table = format!("CREATE TABLE t (id INTEGER PRIMARY KEY, a {real}, b VARCHAR(100), c {blob})");
    session.execute(&table).unwrap();
    let row = [SqlValue::Integer(7), SqlValue::Real(0.5), SqlValue::Text("é"), SqlValue::Blob(&[0, 255])];
    let null_row = [SqlValue::Integer(8), SqlValue::Null, SqlValue::Null, SqlValue::Null];
    let insert = session.prepare("INSERT INTO t VALUES (?, ?, ?, ?)").unwrap();
    assert_eq!(session.run(insert, &row).unwrap(), 1);
    assert!(matches!(session.run(insert, &row), Err(StoreError::Exists)));
    session.begin().unwrap();
    session.run(insert, &null_row).unwrap();
    session.roll_back().unwrap();
    let select = session.prepare("SELECT id, a, b, c FROM t ORDER BY id").unwrap();
    let rows = |session: &mut dyn SqlSession| {
        let mut rows = Vec::new();
        session.query(select, &[], &mut |row| rows.push(format!("{row:?}"))).unwrap();
        rows
    };
    assert_eq!(rows(session.as_mut()), [format!("{row:?}")]);
    session.begin().unwrap();
    session.run(insert, &null_row).unwrap();
    session.commit().unwrap();
    assert_eq!(rows(session.as_mut()), [format!("{row:?}"), format!("{null_row:?}")]);
    let update = session.prepare("UPDATE t SET b = ? WHERE id >= ?").unwrap();
    assert_eq!(session.run(update, &[SqlValue::Text("x"), SqlValue::Integer(0)]).unwrap(), 2);
    assert_eq!(session.run(update, &[SqlValue::Text("x"), SqlValue::Integer(0)]).unwrap(), 2, "found");
    assert_eq!(session.run(update, &[SqlValue::Text("x"), SqlValue::Integer(9)]).unwrap(), 0);
    session.check_settings().unwrap();
    let sorted: Vec<i64> = (100..20_100).collect();
    assert_eq!(load(session.as_mut(), true, &sorted).unwrap(), 20_000);
    // Before, between and behind what is there.
    let unsorted: Vec<i64> =
        (0..10_000).map(|id| 30_000 + (id * 7919) % 10_000).chain([50, 60_000, 51]).collect();
    assert_eq!(load(session.as_mut(), false, &unsorted).unwrap(), 10_003);
    let loaded = rows(session.as_mut());
    assert_eq!(loaded.len(), 30_005);
    let expected =
        [SqlValue::Integer(50), SqlValue::Null, SqlValue::Text("\u{e9}\t"), SqlValue::Blob(b"\0\\\n\xff")];
    assert_eq!(loaded[2], format!("{expected:?}"));
    let nowhere = BulkLoad { table: "nowhere", columns: &["id"], sorted: true };
    assert!(session.bulk_load(&nowhere, &mut |_| Ok(())).is_err());
}

fn load(session: &mut dyn SqlSession, sorted: bool, ids: &[i64]) -> Result<u64> {
    let target = BulkLoad { table: "t", columns: &["id", "b", "c"], sorted };
    session.bulk_load(&target, &mut |add| {
        ids.iter().try_for_each(|id| {
            add(&[SqlValue::Integer(*id), SqlValue::Text("\u{e9}\t"), SqlValue::Blob(b"\0\\\n\xff")])
        })
    })
}

/// Checks that a failed load leaves nothing, for stores whose loads are a transaction.
pub fn hold_loads_to_all_or_none(store: &dyn Store) {
    let mut session = store.sql().unwrap();
    let count = session.prepare("SELECT id FROM t").unwrap();
    let rows = |session: &mut dyn SqlSession| session.query(count, &[], &mut |_| ()).unwrap();
    let rows_before = rows(session.as_mut());
    assert!(matches!(load(session.as_mut(), false, &[90_000, 100]), Err(StoreError::Exists)));
    let target = BulkLoad { table: "t", columns: &["id"], sorted: false };
    let failed_load = session.bulk_load(&target, &mut |add| {
        add(&[SqlValue::Integer(90_001)])?;
        Err(StoreError::Engine("no rows".into()))
    });
    assert!(matches!(failed_load, Err(StoreError::Engine(why)) if why == "no rows"));
    assert_eq!(rows(session.as_mut()), rows_before);
}

/// Processes whose working folder, or an open file, lies in a folder.
pub fn servers_in(folder: &Path) -> Vec<PathBuf> {
    let folder = fs::canonicalize(folder).unwrap();
    let own_program = fs::read_link("/proc/self/exe").unwrap();
    let leads_within = |link: PathBuf| fs::read_link(link).is_ok_and(|target| target.starts_with(&folder));
    let is_at_work = |process: &PathBuf| {
        let open = || fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        // This one holds the folder, too, and so do its children until they are another program.
        fs::read_link(process.join("exe")).is_ok_and(|exe| exe != own_program)
            && (leads_within(process.join("cwd")) || open().any(|file| leads_within(file.path())))
    };
    fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path()).filter(is_at_work).collect()
}

/// Kills the server with data below a store's folder, in whose command line a word ends so.
pub fn end_server_with(word: &str, folder: &Path) {
    for entry in servers_in(folder) {
        let words = fs::read_to_string(entry.join("cmdline")).unwrap();
        if words.split('\0').any(|argument| argument.ends_with(word)) {
            let pid: i32 = entry.file_name().unwrap().to_str().unwrap().parse().unwrap();
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
    }
}

pub fn socket_in(folder: &Path) -> PathBuf {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_socket = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("socket-");
    entries.into_iter().find(is_socket).unwrap()
}

/// Checks that a server's data are its user's alone while the folder stays as it is, that `at_work` processes of it end when it is
/// closed, dropped or killed, and that acknowledged writes survive a kill.
pub fn hold_to_its_end(def: &StoreDef, tier: Option<Guarantee>, at_work: std::ops::RangeInclusive<usize>) {
    let Some(folder) = folder_if_here(def) else { return };
    let owner_and_mode = |path: &Path| fs::metadata(path).map(|data| (data.uid(), data.mode())).unwrap();
    let before = owner_and_mode(folder.path());
    let server_count = || servers_in(folder.path()).len();
    let store = opened(def, &folder, tier, &[]);
    let (uid, mode) = owner_and_mode(&folder.path().join(DATA));
    let expected = user_of(def.server.unwrap().known.users).map_or(before.0, |user| user.uid);
    assert_eq!((uid, mode & 0o777), (expected, 0o700));
    assert_eq!(owner_and_mode(folder.path()), before);
    assert!(at_work.contains(&server_count()), "{} are at work", server_count());
    store.close().unwrap();
    assert_eq!(server_count(), 0);
    drop(opened(def, &folder, tier, &[]));
    assert_eq!(server_count(), 0);
    let store = opened(def, &folder, tier, &[]);
    let mut session = store.session().unwrap();
    session.insert(b"key", b"value").unwrap();
    // Its first process is this one's child, and is not reaped yet.
    end_in(folder.path()).unwrap();
    let error = session.insert(b"other", b"value").unwrap_err().to_string();
    assert!(error.contains("whose log ends with: "), "{error}");
    drop(session);
    assert!(store.close().is_err(), "it did not end in order");
    assert_eq!(server_count(), 0);
    let store = opened(def, &folder, tier, &[]);
    assert_eq!(store.count().unwrap(), 1);
}

const VICTIM_STORE: &str = "STOREBENCH_TEST_VICTIM_STORE";
const VICTIM_TIER: &str = "STOREBENCH_TEST_VICTIM_TIER";
const VICTIM_FOLDER: &str = "STOREBENCH_TEST_VICTIM_FOLDER";
const VICTIM_SETTINGS: &str = "STOREBENCH_TEST_VICTIM_SETTINGS";

/// A kill takes what was not handed on, flushed, logged or committed, and nothing else.
#[test]
fn a_kill_takes_what_the_guarantee_says() {
    for (name, tier, survivors) in [
        ("fjall", Guarantee::None, 0),
        ("fjall", Guarantee::Process, 3),
        ("fjall", Guarantee::Power, 3),
        ("redb", Guarantee::None, 0),
        ("redb", Guarantee::Power, 3),
        ("rocksdb", Guarantee::None, 0),
        ("rocksdb", Guarantee::Process, 3),
        ("rocksdb", Guarantee::Power, 3),
        ("sled", Guarantee::Process, 3),
        ("unqlite", Guarantee::None, 0),
        ("unqlite", Guarantee::Power, 3),
    ] {
        let Some(def) = store_if_here(name) else { continue };
        assert_eq!(after_kill(def, tier, &[]), survivors, "{name} {tier}");
    }
}

/// How many of three acknowledged inserts are there after a kill.
pub fn after_kill(def: &StoreDef, tier: Guarantee, settings: &[(&str, &str)]) -> u64 {
    let folder = new_folder();
    let ready = folder.path().join("ready");
    let store = folder.path().join("store");
    fs::create_dir(&store).unwrap();
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "support::testing::victim", "--ignored"])
        .env(VICTIM_STORE, def.name)
        .env(VICTIM_TIER, tier.name())
        .env(VICTIM_FOLDER, folder.path())
        .env(VICTIM_SETTINGS, words(settings))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while !ready.exists() {
        assert!(victim.try_wait().unwrap().is_none(), "the victim died before its writes");
        std::thread::sleep(Duration::from_millis(5));
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
    open(def, &store, Some(tier), false, settings).unwrap().count().unwrap()
}

fn words(settings: &[(&str, &str)]) -> String {
    let words: Vec<String> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    words.join(" ")
}

/// The process that [`after_kill`] kills: writes, says so with a file, and waits.
#[test]
#[ignore = "is run, and killed, by other tests"]
fn victim() {
    let Some(folder) = std::env::var_os(VICTIM_FOLDER).map(PathBuf::from) else { return };
    let name = std::env::var(VICTIM_STORE).unwrap();
    let tier: Guarantee = std::env::var(VICTIM_TIER).unwrap().parse().unwrap();
    let def = crate::STORES.iter().find(|def| def.name == name).unwrap();
    let settings = std::env::var(VICTIM_SETTINGS).unwrap();
    let settings: Vec<(&str, &str)> = settings.split(' ').filter_map(|word| word.split_once('=')).collect();
    let store = open(def, &folder.join("store"), Some(tier), false, &settings).unwrap();
    let mut session = store.session().unwrap();
    for key in [b"a", b"b", b"c"] {
        session.insert(key, b"value").unwrap();
    }
    fs::write(folder.join("ready"), b"").unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

/// Checks that a failed batch leaves nothing, and the session goes on; then writes `large` bytes, more than go out at once.
pub fn hold_batches_to_all_or_none(store: &dyn Store, large: usize) {
    let mut session = store.session().unwrap();
    let keys: Vec<Vec<u8>> = (0..1000_u32).map(|number| number.to_be_bytes().to_vec()).collect();
    // The last is there already: many answers have come by then.
    let mut records: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &b"value"[..])).collect();
    records.push((&keys[0], b"again"));
    assert!(matches!(session.insert_batch(&records), Err(StoreError::Exists)));
    assert_eq!(store.count().unwrap(), 0);
    // The first of many.
    records.rotate_right(1);
    records[1] = records[0];
    assert!(matches!(session.insert_batch(&records), Err(StoreError::Exists)));
    session.insert_batch(&records[2..]).unwrap();
    assert_eq!(store.count().unwrap(), 999);
    session.insert_batch(&[]).unwrap();
    let large = vec![7; large];
    session.insert_batch(&[(&keys[0], &large)]).unwrap();
    assert!(session.get(&keys[0], &mut |value| assert!(value == large)).unwrap());
}
