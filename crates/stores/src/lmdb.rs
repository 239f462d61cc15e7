//! `lmdb`: a memory-mapped B+tree whose pages are never overwritten in place.

use std::ffi::{CString, c_char, c_int, c_uint};
use std::fs;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::ptr;

use lmdb_master_sys as ffi;
use storebench_model::store::{
    AgingRisk, Capabilities, Caution, Danger, Guarantee, HeldReader, Loss, OpenOptions, Result, Session,
    Setting, SettingDef, Store, StoreBuild, StoreDef, StoreError, Threads, Upkeep,
};

use super::compiled;
use super::mapped::{self, Environment, Library, calls, check};
use super::support::{
    GivenSettings, UNORDERED, expect_taken, flag, hold_to_tier, offer, read_back, replace_by_copy, sync_path,
};

pub const LMDB: StoreDef = StoreDef {
    name: "lmdb",
    summary: "memory-mapped B+tree, copy on write",
    practice: "one file and a lock; it can be backed up while open, but long readers and backups make it grow for good; several processes can use it",
    cautions: &[
        Caution {
            of: AgingRisk::Space,
            says: "once a page has been used, the file never shrinks below it",
            source: "H. B. Furuseth and H. Chu, OpenLDAP ITS#7651",
        },
        Caution {
            of: AgingRisk::Readers,
            says: "avoid transactions that live long: read transactions prevent the reuse of freed pages, so that the database can grow quickly",
            source: "lmdb.h, Caveats",
        },
    ],
    version: &version,
    capabilities: Capabilities {
        held_reader: true,
        backup: true,
        transactions: true,
        threads: Threads::ManyReadersOneWriter,
        // MDB_NOOVERWRITE says it at no cost; noticing a missing key on update would take a second look.
        notices_existing: true,
        max_key_bytes: 511,
        max_bytes: MAP_SIZE as u64,
        ..Capabilities::DEFAULT
    },
    // No `none`: every commit reaches the operating system, so nothing that LMDB can be set to survives less than that.
    offers: &[
        offer(Guarantee::Process, "MDB_NOSYNC", UNSYNCED),
        offer(Guarantee::Power, "no flags: each commit is synced", Danger::NOTHING),
    ],
    shipped: Guarantee::Power,
    syncs_at_power: 2.0,
    settings: SETTINGS,
    snippet: Some(include_str!("../snippets/lmdb.c")),
    python: Some(include_str!("../snippets/lmdb.py")),
    open: Ok(&open),
    ..StoreDef::DEFAULT
};

/// Unless data are synced, a power cut can keep a meta page without its pages; if only that is not, the commit before remains.
const UNSYNCED: &[Danger] = &[
    Danger {
        settings: &[("nosync", "false"), ("mapasync", "false")],
        ..Danger::new(Loss::Nothing, Loss::Last, "its meta page is not synced")
    },
    UNORDERED,
];

const SETTINGS: &[SettingDef] = &read_back(
    mapped::READ_BY,
    0,
    [
        SettingDef::new(
            "map_size",
            "a size, a multiple of the system's page",
            if usize::BITS >= 64 { "1 TiB, of addresses alone" } else { "1 GiB, of addresses alone" },
            "how far the file can grow",
        )
        .varying()
        .bytes()
        .capabilities(mapped::limit_bytes),
        SettingDef::new(
            "max_readers",
            "a number",
            "126, or the sessions",
            "how many sessions can read at once",
        )
        .usually("126"),
        flag("nosync", "commits are not synced (MDB_NOSYNC)").guarantee("process"),
        flag("nometasync", "only the data of a commit is synced (MDB_NOMETASYNC)")
            .guarantee("process: a power cut can undo the last commit"),
        flag("writemap", "writes into the map; the file is map_size long, sparse (MDB_WRITEMAP)")
            .tune(&["true"])
            .costing("a stray pointer of the application can write into the records"),
        flag("mapasync", "with writemap, syncs without waiting (MDB_MAPASYNC)")
            .guarantee("process, with writemap"),
        flag("nordahead", "no read-ahead, for data larger than memory (MDB_NORDAHEAD)").tune(&["true"]),
        flag("nomeminit", "unused space in pages is not cleared (MDB_NOMEMINIT)")
            .tune(&["true"])
            .costing("what the memory held before can come into the file"),
    ],
);

const FLAGS: &[(&str, c_uint)] = &[
    ("nosync", ffi::MDB_NOSYNC),
    ("nometasync", ffi::MDB_NOMETASYNC),
    ("writemap", ffi::MDB_WRITEMAP),
    ("mapasync", ffi::MDB_MAPASYNC),
    ("nordahead", ffi::MDB_NORDAHEAD),
    ("nomeminit", ffi::MDB_NOMEMINIT),
];

/// Addresses only: the file grows as it is written, and a mapped page counts as memory once it is touched. A 32-bit process has
/// few addresses, so there the limit is real.
const MAP_SIZE: usize = (if usize::BITS >= 64 { 1_u64 << 40 } else { 1 << 30 }) as usize;

/// LMDB's default, raised for more sessions.
const MAX_READERS: c_uint = 126;

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    let given = GivenSettings::new(options, SETTINGS)?;
    let map_size = given.parse("map_size", "a number of bytes")?.unwrap_or(MAP_SIZE);
    let sessions = c_uint::try_from(options.sessions).unwrap_or(c_uint::MAX);
    let max_readers = given.parse("max_readers", "a number")?.unwrap_or(MAX_READERS.max(sessions));
    let mut flags = if options.guarantee == Some(Guarantee::Process) { ffi::MDB_NOSYNC } else { 0 };
    for (name, flag) in FLAGS {
        match given.flag(name)? {
            Some(true) => flags |= flag,
            Some(false) => flags &= !flag,
            None => {}
        }
    }
    // The engine reads the flag back all the same.
    if flags & ffi::MDB_MAPASYNC != 0 && flags & ffi::MDB_WRITEMAP == 0 {
        return Err(given.refuse("mapasync", "of any use without writemap=true"));
    }
    let guarantee = hold_to_tier(options, tier_of(flags))?;
    let environment =
        open_environment(options.directory, flags, map_size, max_readers).map_err(|error| match error {
            StoreError::Engine(text) => StoreError::Engine(format!("{text} (with map_size={map_size})")),
            other => other,
        })?;
    let info = environment.info()?;
    expect_taken("map_size", &map_size, &info.me_mapsize)?;
    expect_taken("max_readers", &max_readers, &info.me_maxreaders)?;
    let known_flags = FLAGS.iter().fold(0, |flags_so_far, (_, flag)| flags_so_far | flag);
    expect_taken("flags", &flags, &(environment.flags()? & known_flags))?;
    if guarantee == Guarantee::Power {
        // LMDB syncs what is in its file, but not the folder that it made the file in.
        sync_path(options.directory)?;
    }
    Ok(Box::new(LmdbStore { environment, guarantee, folder: options.directory.into() }))
}

/// Unless both data and meta page are synced, a power cut can undo a commit; after a kill all of it is in the page cache.
fn tier_of(flags: c_uint) -> Guarantee {
    let async_map = ffi::MDB_WRITEMAP | ffi::MDB_MAPASYNC;
    let is_synced = flags & (ffi::MDB_NOSYNC | ffi::MDB_NOMETASYNC) == 0 && flags & async_map != async_map;
    if is_synced { Guarantee::Power } else { Guarantee::Process }
}

struct LmdbStore {
    environment: Environment<Lmdb>,
    guarantee: Guarantee,
    folder: PathBuf,
}

impl Store for LmdbStore {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        mapped::session(&self.environment)
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn count(&self) -> Result<u64> {
        Ok(self.environment.statistics()?.ms_entries as u64)
    }

    fn settle(&self) -> Result<()> {
        self.environment.sync()
    }

    fn compact(&mut self) -> Result<Option<&'static str>> {
        replace_by_copy(&self.folder, FILE, |folder| self.environment.copy(folder, ffi::MDB_CP_COMPACT))?;
        Ok(Some("MDB_CP_COMPACT"))
    }

    fn hold_reader(&self) -> Result<Option<Box<dyn HeldReader + '_>>> {
        Ok(Some(Box::new(self.environment.hold()?)))
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        let info = self.environment.info()?;
        let flags = self.environment.flags()?;
        let mut settings = vec![
            Setting::read_back("map_size", info.me_mapsize),
            Setting::read_back("max_readers", info.me_maxreaders),
            Setting::read_back("page_size", self.environment.statistics()?.ms_psize),
            Setting::unverified("cache", "the operating system's page cache"),
        ];
        settings.extend(FLAGS.iter().map(|(name, flag)| Setting::read_back(*name, flags & flag != 0)));
        Ok(settings)
    }

    fn build(&self) -> Option<StoreBuild> {
        Some(compiled::lmdb())
    }

    fn back_up(&self, to: &Path) -> Result<Option<&'static str>> {
        fs::create_dir(to).map_err(StoreError::engine)?;
        self.environment.copy(to, 0)?;
        sync_path(&to.join(FILE)).and_then(|()| sync_path(to))?;
        Ok(Some("mdb_env_copy2"))
    }

    /// The last page ever used moves when free pages do not suffice.
    fn upkeep(&self) -> Result<Vec<Upkeep>> {
        Ok(vec![Upkeep::done("file growth", self.environment.info()?.me_last_pgno as u64)])
    }

    fn statistics(&self) -> Result<Vec<Setting>> {
        let info = self.environment.info()?;
        let statistics = self.environment.statistics()?;
        Ok(vec![
            Setting::read_back("depth", statistics.ms_depth),
            Setting::read_back("branch_pages", statistics.ms_branch_pages),
            Setting::read_back("leaf_pages", statistics.ms_leaf_pages),
            Setting::read_back("overflow_pages", statistics.ms_overflow_pages),
            Setting::read_back("last_page", info.me_last_pgno),
            Setting::read_back("last_transaction", info.me_last_txnid),
        ])
    }

    fn close(self: Box<Self>) -> Result<()> {
        // LMDB's close can't fail; dropping the environment is all there is.
        Ok(())
    }
}

const FILE: &str = "data.mdb";

pub struct Lmdb;

fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: three places for three numbers; the text that is returned as well is not used.
    unsafe { ffi::mdb_version(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

/// Opens an environment that nothing in this process has open. Read transactions belong to their session, not their thread.
fn open_environment(
    directory: &Path,
    flags: c_uint,
    map_size: usize,
    max_readers: c_uint,
) -> Result<Environment<Lmdb>> {
    let path = CString::new(directory.as_os_str().as_encoded_bytes()).map_err(StoreError::engine)?;
    // SAFETY: a place for the new handle, which was just made when it is opened; the path ends in a zero byte.
    unsafe {
        Environment::new(
            |env| ffi::mdb_env_create(env),
            |env| {
                check::<Lmdb>(ffi::mdb_env_set_mapsize(env, map_size as ffi::mdb_size_t))?;
                check::<Lmdb>(ffi::mdb_env_set_maxreaders(env, max_readers))?;
                check::<Lmdb>(ffi::mdb_env_open(env, path.as_ptr(), flags | ffi::MDB_NOTLS, 0o600))
            },
        )
    }
}

impl Environment<Lmdb> {
    fn flags(&self) -> Result<c_uint> {
        let mut flags = 0;
        // SAFETY: the environment is open.
        check::<Lmdb>(unsafe { ffi::mdb_env_get_flags(self.as_ptr(), &mut flags) })?;
        Ok(flags)
    }

    fn info(&self) -> Result<ffi::MDB_envinfo> {
        let mut info = MaybeUninit::uninit();
        // SAFETY: the environment is open, and fills in the structure when it reports success.
        unsafe {
            check::<Lmdb>(ffi::mdb_env_info(self.as_ptr(), info.as_mut_ptr()))?;
            Ok(info.assume_init())
        }
    }

    fn statistics(&self) -> Result<ffi::MDB_stat> {
        let mut statistics = MaybeUninit::uninit();
        // SAFETY: the environment is open, and fills in the structure when it reports success.
        unsafe {
            check::<Lmdb>(ffi::mdb_env_stat(self.as_ptr(), statistics.as_mut_ptr()))?;
            Ok(statistics.assume_init())
        }
    }

    fn copy(&self, folder: &Path, flags: c_uint) -> Result<()> {
        let target = CString::new(folder.as_os_str().as_encoded_bytes()).map_err(StoreError::engine)?;
        // SAFETY: the environment is open; the path ends in a zero byte.
        check::<Lmdb>(unsafe { ffi::mdb_env_copy2(self.as_ptr(), target.as_ptr(), flags) })
    }
}

// SAFETY: these are LMDB's functions, whose documentation promises what the trait asks for: with `MDB_NOTLS`, transactions
// belong to no thread.
unsafe impl Library for Lmdb {
    type Env = ffi::MDB_env;
    type Txn = ffi::MDB_txn;
    type Cursor = ffi::MDB_cursor;
    type Val = ffi::MDB_val;

    const NAME: &'static str = "LMDB";
    const KEYS: &'static str = "1 to 511 bytes";

    const NOT_FOUND: c_int = ffi::MDB_NOTFOUND;
    const KEY_EXISTS: c_int = ffi::MDB_KEYEXIST;
    const BAD_SIZE: c_int = ffi::MDB_BAD_VALSIZE;

    const READ_ONLY: c_uint = ffi::MDB_RDONLY;
    const NO_OVERWRITE: c_uint = ffi::MDB_NOOVERWRITE;
    const APPEND: c_uint = ffi::MDB_APPEND;
    const FIRST: c_uint = ffi::MDB_FIRST;
    const SET_RANGE: c_uint = ffi::MDB_SET_RANGE;
    const NEXT: c_uint = ffi::MDB_NEXT;

    fn val(bytes: &[u8]) -> Self::Val {
        ffi::MDB_val { mv_size: bytes.len(), mv_data: bytes.as_ptr().cast_mut().cast() }
    }

    fn parts(val: &Self::Val) -> (*const u8, usize) {
        (val.mv_data.cast(), val.mv_size)
    }

    calls! {
        fn text(code: c_int) -> *const c_char = ffi::mdb_strerror(code);
        fn env_sync(env: *mut Self::Env) -> c_int = ffi::mdb_env_sync(env, 1);
        fn env_close(env: *mut Self::Env) = ffi::mdb_env_close(env);
        fn begin(env: *mut Self::Env, flags: c_uint, txn: *mut *mut Self::Txn) -> c_int =
            ffi::mdb_txn_begin(env, ptr::null_mut(), flags, txn);
        fn commit(txn: *mut Self::Txn) -> c_int = ffi::mdb_txn_commit(txn);
        fn abort(txn: *mut Self::Txn) = ffi::mdb_txn_abort(txn);
        fn reset(txn: *mut Self::Txn) = ffi::mdb_txn_reset(txn);
        fn renew(txn: *mut Self::Txn) -> c_int = ffi::mdb_txn_renew(txn);
        fn open_unnamed(txn: *mut Self::Txn, database: *mut c_uint) -> c_int =
            ffi::mdb_dbi_open(txn, ptr::null(), 0, database);
        fn put(
            txn: *mut Self::Txn,
            database: c_uint,
            key: *mut Self::Val,
            value: *mut Self::Val,
            flags: c_uint
        ) -> c_int =
            ffi::mdb_put(txn, database, key, value, flags);
        fn get(txn: *mut Self::Txn, database: c_uint, key: *mut Self::Val, value: *mut Self::Val) -> c_int =
            ffi::mdb_get(txn, database, key, value);
        fn delete(txn: *mut Self::Txn, database: c_uint, key: *mut Self::Val) -> c_int =
            ffi::mdb_del(txn, database, key, ptr::null_mut());
        fn cursor_open(txn: *mut Self::Txn, database: c_uint, cursor: *mut *mut Self::Cursor) -> c_int =
            ffi::mdb_cursor_open(txn, database, cursor);
        fn cursor_renew(txn: *mut Self::Txn, cursor: *mut Self::Cursor) -> c_int =
            ffi::mdb_cursor_renew(txn, cursor);
        fn cursor_get(
            cursor: *mut Self::Cursor,
            key: *mut Self::Val,
            value: *mut Self::Val,
            step: c_uint
        ) -> c_int =
            ffi::mdb_cursor_get(cursor, key, value, step);
        fn cursor_close(cursor: *mut Self::Cursor) = ffi::mdb_cursor_close(cursor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::testing::{new_folder, opened, refused, setting};

    #[test]
    fn a_flag_that_does_nothing_by_itself_is_refused() {
        let error = refused(&LMDB, &new_folder(), None, &[("mapasync", "true")]);
        assert!(error.to_string().contains("without writemap=true"), "{error}");
    }

    #[test]
    fn flags_are_read_back_and_decide_the_tier() {
        let folder = new_folder();
        let store = opened(&LMDB, &folder, Some(Guarantee::Process), &[("nordahead", "true")]);
        assert_eq!(setting(&*store, "nosync"), "true");
        assert_eq!(setting(&*store, "nordahead"), "true");
        assert_eq!(setting(&*store, "nometasync"), "false");
        let mapped = [("map_size", "16777216"), ("writemap", "true"), ("mapasync", "true")];
        assert_eq!(opened(&LMDB, &new_folder(), None, &mapped).guarantee(), Guarantee::Process);
        assert_eq!(opened(&LMDB, &new_folder(), None, &mapped[..2]).guarantee(), Guarantee::Power);
    }
}
