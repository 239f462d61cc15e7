//! `libmdbx`: a descendant of LMDB, whose file grows and shrinks, and whose commits can be synced later without risk to the rest.

mod ffi;
mod structures;
#[cfg(test)]
mod tests;

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::fs;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::ptr;

use storebench_model::store::{
    AgingRisk, Capabilities, Caution, Danger, Guarantee, HeldReader, Loss, OpenOptions, Result, Session,
    Setting, SettingDef, Store, StoreBuild, StoreDef, StoreError, Threads, Upkeep,
};

use self::structures::{MDBX_chk_callbacks_t, MDBX_envinfo, MDBX_stat, MDBX_val, mdbx_version};
use super::linked::linked;
use super::mapped::{self, Environment, Library, calls, check};
use super::support::{
    GivenSettings, UNORDERED, expect_taken, flag, hold_to_tier, offer, read_back, replace_by_copy, sync_path,
};

pub const LIBMDBX: StoreDef = StoreDef {
    name: "libmdbx",
    summary: "memory-mapped B+tree, copy on write, from LMDB",
    practice: "one file and a lock; it can be backed up while open, but long readers and backups make it grow; several processes can use it",
    cautions: &[Caution {
        of: AgingRisk::Readers,
        says: "while they stay open, read transactions prevent the reuse of pages that newer write transactions have freed, so that the database can grow quickly",
        source: "mdbx.h, MDBX_hsr_func",
    }],
    version: &version,
    capabilities: Capabilities {
        held_reader: true,
        backup: true,
        transactions: true,
        threads: Threads::ManyReadersOneWriter,
        // As LMDB: the one costs nothing, the other a second look.
        notices_existing: true,
        max_key_bytes: 2022,
        max_bytes: SIZE_UPPER as u64,
        ..Capabilities::DEFAULT
    },
    // No `none`: every commit reaches the operating system.
    offers: &[
        offer(Guarantee::Process, "MDBX_SAFE_NOSYNC", UNSYNCED),
        offer(Guarantee::Power, "MDBX_SYNC_DURABLE", Danger::NOTHING),
    ],
    shipped: Guarantee::Power,
    syncs_at_power: 2.0,
    settings: SETTINGS,
    snippet: Some(include_str!("../snippets/libmdbx.c")),
    python: Some(include_str!("../snippets/libmdbx.py")),
    open: Ok(&open),
    ..StoreDef::DEFAULT
};

/// After a power cut it goes back to the last synced commit, whose pages it keeps until then; a database that was never synced
/// has none. With `utterly_nosync` it does not go back.
const UNSYNCED: &[Danger] = &[
    Danger {
        settings: &[("sync_mode", "nometasync")],
        ..Danger::new(Loss::Nothing, Loss::Last, "its meta page is not synced")
    },
    Danger { settings: &[("sync_mode", "utterly_nosync")], ..UNORDERED },
    Danger::new(
        Loss::Nothing,
        Loss::Whole,
        "it goes back to the last commit that was synced; before the first one its pages can be missing",
    ),
];

const SETTINGS: &[SettingDef] = &read_back(
    mapped::READ_BY,
    0,
    [
        SettingDef::new(
            "sync_mode",
            "durable, nometasync, safe_nosync or utterly_nosync",
            "the guarantee's",
            "what of a commit is synced (MDBX_SYNC_DURABLE, ...)",
        )
        .varying()
        .guarantee("durable is power, the others are process"),
        SettingDef::new(
            "sync_bytes",
            "a size, of whole pages",
            "0: before the file would grow",
            "with safe_nosync, how much is written before it syncs",
        )
        .varying()
        .bytes()
        .tune(&["67108864"])
        .costing("a power cut can undo as much"),
        SettingDef::new(
            "size_upper",
            "a size, a multiple of the page",
            if usize::BITS >= 64 { "1 TiB, of addresses alone" } else { "1 GiB, of addresses alone" },
            "how far the file can grow",
        )
        .varying()
        .bytes()
        .capabilities(mapped::limit_bytes),
        SettingDef::new(
            "growth_step",
            "a size, a multiple of the page",
            "as shipped",
            "the steps in which the file grows",
        )
        .varying()
        .bytes(),
        SettingDef::new(
            "pagesize",
            "a size from 256 to 65536, a power of two",
            "the system's page",
            "a page",
        )
        .varying()
        .bytes()
        .capabilities(|value, can| {
            if let Some((page, longest)) =
                value.parse().ok().and_then(|page| Some((page, max_key_bytes(page)?)))
            {
                can.max_key_bytes = longest;
                can.max_bytes = can.max_bytes.min(largest(page) as u64);
            }
        })
        .tune(&["8192", "16384"]),
        SettingDef::new(
            "max_readers",
            "a number",
            "61, or the sessions",
            "how many sessions can read at once, at least",
        )
        .usually("61"),
        flag("writemap", "writes into the map (MDBX_WRITEMAP)")
            .tune(&["true"])
            .costing("a stray pointer of the application can write into the records"),
        flag("nordahead", "no read-ahead, for data larger than memory (MDBX_NORDAHEAD)").tune(&["true"]),
        flag("nomeminit", "unused space in pages is not cleared (MDBX_NOMEMINIT)")
            .tune(&["true"])
            .costing("what the memory held before can come into the file"),
        flag("liforeclaim", "pages that became free last are used first (MDBX_LIFORECLAIM)").tune(&["true"]),
    ],
);

const SYNC_MODES: &[(&str, c_uint)] = &[
    ("durable", 0),
    ("nometasync", ffi::MDBX_NOMETASYNC),
    ("safe_nosync", ffi::MDBX_SAFE_NOSYNC),
    ("utterly_nosync", ffi::MDBX_UTTERLY_NOSYNC),
];

const SYNC_FLAGS: c_uint = ffi::MDBX_NOMETASYNC | ffi::MDBX_UTTERLY_NOSYNC;

const FLAGS: &[(&str, c_uint)] = &[
    ("writemap", ffi::MDBX_WRITEMAP),
    ("nordahead", ffi::MDBX_NORDAHEAD),
    ("nomeminit", ffi::MDBX_NOMEMINIT),
    ("liforeclaim", ffi::MDBX_LIFORECLAIM),
];

/// Addresses only, as LMDB's map.
const SIZE_UPPER: isize = (if usize::BITS >= 64 { 1_i64 << 40 } else { 1 << 30 }) as isize;

/// The default with this page size: a file has at most 2^31 pages.
fn largest(page: isize) -> isize {
    (SIZE_UPPER as i64).min((page as i64).saturating_mul(1 << 31)) as isize
}

/// The library's default, raised for more sessions.
const MAX_READERS: u64 = 61;

fn open(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    let given = GivenSettings::new(options, SETTINGS)?;
    let size = |name: &str, default: isize| -> Result<isize> {
        let bytes = given.parse(name, "a number of bytes")?.unwrap_or(default);
        if bytes == 0 || bytes < -1 { Err(given.refuse(name, "a number of bytes")) } else { Ok(bytes) }
    };
    let page = size("pagesize", -1)?;
    if page != -1 && max_key_bytes(page).is_none() {
        return Err(given.refuse("pagesize", "a power of two from 256 to 65536"));
    }
    let default = if page == -1 { SIZE_UPPER } else { largest(page) };
    let sizes = Sizes {
        upper: size("size_upper", default)?,
        growth_step: size("growth_step", -1)?,
        page,
        unsynced: given.parse("sync_bytes", "a number of bytes")?.unwrap_or(0),
    };
    let max_readers =
        given.parse("max_readers", "a number")?.unwrap_or(MAX_READERS.max(options.sessions as u64));
    let mut flags = sync_mode(options, &given)?;
    for (name, flag) in FLAGS {
        if given.flag(name)? == Some(true) {
            flags |= flag;
        }
    }
    let tier = if flags & SYNC_FLAGS == 0 { Guarantee::Power } else { Guarantee::Process };
    let guarantee = hold_to_tier(options, tier)?;
    let environment =
        open_environment(options.directory, flags, &sizes, max_readers).map_err(|error| match error {
            StoreError::Engine(text) => StoreError::Engine(format!(
                "{text} (with size_upper={}, growth_step={}, pagesize={})",
                sizes.upper, sizes.growth_step, sizes.page
            )),
            other => other,
        })?;
    let info = environment.info()?;
    expect_taken("size_upper", &(sizes.upper as u64), &info.mi_geo.upper)?;
    if sizes.growth_step != -1 {
        expect_taken("growth_step", &(sizes.growth_step as u64), &info.mi_geo.grow)?;
    }
    if sizes.page != -1 {
        expect_taken("pagesize", &(sizes.page as u64), &u64::from(info.mi_dxb_pagesize))?;
    }
    expect_taken("sync_bytes", &sizes.unsynced, &environment.unsynced()?)?;
    // It has as many as fill a page.
    expect_taken("max_readers", &true, &(u64::from(info.mi_maxreaders) >= max_readers))?;
    let flags_taken = environment.flags()?;
    expect_taken("sync_mode", &name_of(flags), &name_of(flags_taken))?;
    let known_flags = FLAGS.iter().fold(0, |flags_so_far, (_, flag)| flags_so_far | flag);
    expect_taken("flags", &(flags & known_flags), &(flags_taken & known_flags))?;
    if guarantee == Guarantee::Power {
        // It syncs what is in its file, but not the folder that it made the file in.
        sync_path(options.directory)?;
    }
    Ok(Box::new(Libmdbx { environment, guarantee, folder: options.directory.into() }))
}

fn sync_mode(options: &OpenOptions<'_>, given: &GivenSettings<'_>) -> Result<c_uint> {
    let Some(text) = given.text("sync_mode") else {
        return Ok(if options.guarantee == Some(Guarantee::Process) { ffi::MDBX_SAFE_NOSYNC } else { 0 });
    };
    let mode = SYNC_MODES.iter().find(|(name, _)| *name == text);
    mode.map(|(_, flags)| *flags)
        .ok_or_else(|| given.refuse("sync_mode", "durable, nometasync, safe_nosync or utterly_nosync"))
}

/// The word for the way to sync in these flags: the last whose flags are all set, as the library adds the flags of the safer ones.
fn name_of(flags: c_uint) -> &'static str {
    SYNC_MODES.iter().rfind(|(_, mode)| flags & mode == *mode).map_or("durable", |(name, _)| name)
}

struct Libmdbx {
    environment: Environment<Mdbx>,
    guarantee: Guarantee,
    folder: PathBuf,
}

impl Store for Libmdbx {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        mapped::session(&self.environment)
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn count(&self) -> Result<u64> {
        Ok(self.environment.statistics()?.ms_entries)
    }

    fn settle(&self) -> Result<()> {
        self.environment.sync()
    }

    fn compact(&mut self) -> Result<Option<&'static str>> {
        replace_by_copy(&self.folder, FILE, |folder| self.environment.copy(folder, ffi::MDBX_CP_COMPACT))?;
        Ok(Some("MDBX_CP_COMPACT"))
    }

    fn hold_reader(&self) -> Result<Option<Box<dyn HeldReader + '_>>> {
        Ok(Some(Box::new(self.environment.hold()?)))
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        let info = self.environment.info()?;
        let flags = self.environment.flags()?;
        let mut settings = vec![
            Setting::read_back("sync_mode", name_of(flags)),
            Setting::read_back("sync_bytes", self.environment.unsynced()?),
            Setting::read_back("size_upper", info.mi_geo.upper),
            Setting::read_back("growth_step", info.mi_geo.grow),
            Setting::read_back("pagesize", info.mi_dxb_pagesize),
            Setting::read_back("max_readers", info.mi_maxreaders),
            Setting::unverified("cache", "the operating system's page cache"),
        ];
        settings.extend(FLAGS.iter().map(|(name, flag)| Setting::read_back(*name, flags & flag != 0)));
        Ok(settings)
    }

    fn build(&self) -> Option<StoreBuild> {
        Some(linked!("LIBMDBX").build(ffi::mdbx_env_create as *const c_void))
    }

    fn verify(&mut self) -> Result<bool> {
        self.environment.verify().map(|()| true)
    }

    fn back_up(&self, to: &Path) -> Result<Option<&'static str>> {
        fs::create_dir(to).map_err(StoreError::engine)?;
        self.environment.copy(to, 0)?;
        Ok(Some("mdbx_env_copy"))
    }

    /// The last page ever used moves when free pages do not suffice.
    fn upkeep(&self) -> Result<Vec<Upkeep>> {
        Ok(vec![Upkeep::done("file growth", self.environment.info()?.mi_last_pgno)])
    }

    fn statistics(&self) -> Result<Vec<Setting>> {
        let info = self.environment.info()?;
        let statistics = self.environment.statistics()?;
        Ok(vec![
            Setting::read_back("depth", statistics.ms_depth),
            Setting::read_back("branch_pages", statistics.ms_branch_pages),
            Setting::read_back("leaf_pages", statistics.ms_leaf_pages),
            Setting::read_back("overflow_pages", statistics.ms_overflow_pages),
            Setting::read_back("last_page", info.mi_last_pgno),
            Setting::read_back("last_transaction", info.mi_recent_txnid),
            Setting::read_back("file_bytes", info.mi_geo.current),
        ])
    }

    fn close(self: Box<Self>) -> Result<()> {
        // Closing syncs what was not; dropping the environment does that, but can't say whether it worked.
        self.environment.sync()
    }
}

/// Limits the library to warnings. It logs more from its loading on, even in every process that is started: under a lock that
/// another thread may hold during the fork, where the child then waits for ever.
pub fn make_quiet() {
    const WARNINGS: c_int = 2;
    const UNCHANGED: c_int = -1;
    unsafe extern "C" {
        // Its logger takes a `va_list`, for which Rust has no name.
        fn mdbx_setup_debug(level: c_int, flags: c_int, logger: *const c_void) -> c_int;
    }
    // SAFETY: the flags and the logger stay as they are, which -1 stands for.
    unsafe { mdbx_setup_debug(WARNINGS, UNCHANGED, ptr::without_provenance(usize::MAX)) };
}

const FILE: &str = "mdbx.dat";

pub struct Mdbx;

fn version() -> String {
    // SAFETY: a constant of the library.
    let version = unsafe { &mdbx_version };
    format!("{}.{}.{}", version.major, version.minor, version.patch)
}

/// Sizes in bytes; -1 is the library's own choice.
struct Sizes {
    upper: isize,
    growth_step: isize,
    page: isize,
    /// Bytes that commits write before a sync, if not synced at once; 0: until the file would have to grow.
    unsynced: u64,
}

/// Opens or makes an environment that nothing in this process has open. Read transactions belong to their session, not their thread.
fn open_environment(
    directory: &Path,
    flags: c_uint,
    sizes: &Sizes,
    max_readers: u64,
) -> Result<Environment<Mdbx>> {
    make_quiet();
    let path = CString::new(directory.as_os_str().as_encoded_bytes()).map_err(StoreError::engine)?;
    let flags = flags | ffi::MDBX_NOSTICKYTHREADS;
    let Sizes { upper, growth_step, page, unsynced } = *sizes;
    // SAFETY: a place for the new handle, which was just made when it is opened; the path ends in a zero byte.
    unsafe {
        Environment::new(
            |env| ffi::mdbx_env_create(env),
            |env| {
                check::<Mdbx>(ffi::mdbx_env_set_geometry(env, -1, -1, upper, growth_step, -1, page))?;
                check::<Mdbx>(ffi::mdbx_env_set_option(env, ffi::MDBX_opt_max_readers, max_readers))?;
                check::<Mdbx>(ffi::mdbx_env_open(env, path.as_ptr(), flags, 0o600))?;
                check::<Mdbx>(ffi::mdbx_env_set_option(env, ffi::MDBX_opt_sync_bytes, unsynced))
            },
        )
    }
}

/// In bytes; `None` if it has no such pages.
fn max_key_bytes(page: isize) -> Option<usize> {
    // SAFETY: it only calculates.
    usize::try_from(unsafe { ffi::mdbx_limits_keysize_max(page, 0) }).ok()
}

impl Environment<Mdbx> {
    fn copy(&self, folder: &Path, flags: c_uint) -> Result<()> {
        let target = folder.join(FILE);
        let target = CString::new(target.as_os_str().as_encoded_bytes()).map_err(StoreError::engine)?;
        // SAFETY: the environment is open; the path ends in a zero byte.
        check::<Mdbx>(unsafe { ffi::mdbx_env_copy(self.as_ptr(), target.as_ptr(), flags) })
    }

    fn flags(&self) -> Result<c_uint> {
        let mut flags = 0;
        // SAFETY: the environment is open.
        check::<Mdbx>(unsafe { ffi::mdbx_env_get_flags(self.as_ptr(), &mut flags) })?;
        Ok(flags)
    }

    fn unsynced(&self) -> Result<u64> {
        let mut bytes = 0;
        // SAFETY: the environment is open.
        check::<Mdbx>(unsafe {
            ffi::mdbx_env_get_option(self.as_ptr(), ffi::MDBX_opt_sync_bytes, &mut bytes)
        })?;
        Ok(bytes)
    }

    fn info(&self) -> Result<MDBX_envinfo> {
        let mut info = MDBX_envinfo::default();
        // SAFETY: the environment is open; the library writes as much as the given size, or refuses it.
        check::<Mdbx>(unsafe {
            ffi::mdbx_env_info_ex(self.as_ptr(), ptr::null(), &mut info, size_of::<MDBX_envinfo>())
        })?;
        Ok(info)
    }

    fn statistics(&self) -> Result<MDBX_stat> {
        let mut statistics = MDBX_stat::default();
        // SAFETY: the transaction is live; as in `info`.
        let code = self.with_reader(|txn, database| unsafe {
            ffi::mdbx_dbi_stat(txn, database, &mut statistics, size_of::<MDBX_stat>())
        })?;
        check::<Mdbx>(code)?;
        Ok(statistics)
    }

    fn verify(&self) -> Result<()> {
        let callbacks = MDBX_chk_callbacks_t::default();
        let mut context = MaybeUninit::zeroed();
        // SAFETY: the environment is open, none of the functions has to be there, and a context of zeroes is what the library
        // asks for; it fills it in.
        let (code, problems) = unsafe {
            let (flags, verbosity) = (ffi::MDBX_CHK_READWRITE, ffi::MDBX_chk_error);
            let code =
                ffi::mdbx_env_chk(self.as_ptr(), &callbacks, context.as_mut_ptr(), flags, verbosity, 0);
            (code, context.assume_init_ref().result.total_problems)
        };
        check::<Mdbx>(code)?;
        match problems {
            0 => Ok(()),
            problems => Err(StoreError::Engine(format!("mdbx_env_chk finds problems: {problems}"))),
        }
    }
}

// SAFETY: these are libmdbx's functions, whose documentation promises what the trait asks for: with `MDBX_NOSTICKYTHREADS`,
// transactions belong to no thread.
unsafe impl Library for Mdbx {
    type Env = ffi::MDBX_env;
    type Txn = ffi::MDBX_txn;
    type Cursor = ffi::MDBX_cursor;
    type Val = MDBX_val;

    const NAME: &'static str = "libmdbx";
    const KEYS: &'static str = "up to 2022 bytes, with pages of 4 KiB";

    const NOT_FOUND: c_int = ffi::MDBX_NOTFOUND;
    const KEY_EXISTS: c_int = ffi::MDBX_KEYEXIST;
    const BAD_SIZE: c_int = ffi::MDBX_BAD_VALSIZE;

    const READ_ONLY: c_uint = ffi::MDBX_RDONLY;
    const NO_OVERWRITE: c_uint = ffi::MDBX_NOOVERWRITE;
    const APPEND: c_uint = ffi::MDBX_APPEND;
    const FIRST: c_uint = ffi::MDBX_FIRST;
    const SET_RANGE: c_uint = ffi::MDBX_SET_RANGE;
    const NEXT: c_uint = ffi::MDBX_NEXT;

    fn val(bytes: &[u8]) -> Self::Val {
        MDBX_val { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() }
    }

    fn parts(val: &Self::Val) -> (*const u8, usize) {
        (val.iov_base.cast(), val.iov_len)
    }

    calls! {
        fn text(code: c_int) -> *const c_char = ffi::mdbx_strerror(code);
        fn env_sync(env: *mut Self::Env) -> c_int = match ffi::mdbx_env_sync_ex(env, true, false) {
            ffi::MDBX_RESULT_TRUE => 0,
            code => code,
        };
        fn env_close(env: *mut Self::Env) = { ffi::mdbx_env_close_ex(env, false); };
        fn begin(env: *mut Self::Env, flags: c_uint, txn: *mut *mut Self::Txn) -> c_int =
            ffi::mdbx_txn_begin_ex(env, ptr::null_mut(), flags as c_int, txn, ptr::null_mut());
        fn commit(txn: *mut Self::Txn) -> c_int = ffi::mdbx_txn_commit_ex(txn, ptr::null_mut());
        fn abort(txn: *mut Self::Txn) = { ffi::mdbx_txn_abort_ex(txn, ptr::null_mut()); };
        fn reset(txn: *mut Self::Txn) = { ffi::mdbx_txn_reset(txn); };
        fn renew(txn: *mut Self::Txn) -> c_int = ffi::mdbx_txn_renew(txn);
        fn open_unnamed(txn: *mut Self::Txn, database: *mut c_uint) -> c_int =
            ffi::mdbx_dbi_open(txn, ptr::null(), 0, database);
        fn put(
            txn: *mut Self::Txn,
            database: c_uint,
            key: *mut Self::Val,
            value: *mut Self::Val,
            flags: c_uint
        ) -> c_int =
            ffi::mdbx_put(txn, database, key, value, flags);
        fn get(txn: *mut Self::Txn, database: c_uint, key: *mut Self::Val, value: *mut Self::Val) -> c_int =
            ffi::mdbx_get(txn, database, key, value);
        fn delete(txn: *mut Self::Txn, database: c_uint, key: *mut Self::Val) -> c_int =
            ffi::mdbx_del(txn, database, key, ptr::null());
        fn cursor_open(txn: *mut Self::Txn, database: c_uint, cursor: *mut *mut Self::Cursor) -> c_int =
            ffi::mdbx_cursor_open(txn, database, cursor);
        fn cursor_renew(txn: *mut Self::Txn, cursor: *mut Self::Cursor) -> c_int =
            ffi::mdbx_cursor_renew(txn, cursor);
        fn cursor_get(
            cursor: *mut Self::Cursor,
            key: *mut Self::Val,
            value: *mut Self::Val,
            step: c_uint
        ) -> c_int =
            ffi::mdbx_cursor_get(cursor, key, value, step);
        fn cursor_close(cursor: *mut Self::Cursor) = ffi::mdbx_cursor_close(cursor);
    }
}
