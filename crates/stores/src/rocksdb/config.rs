//! RocksDB's settings: asked for, set, and read back from the `OPTIONS` file that the engine writes when it opens.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::fs;
use std::path::Path;

use storebench_model::store::{MemoryShare, OpenOptions, Result, Setting, SettingDef, StoreError};

use super::ffi::{self, Functions};
use super::library::LIBRARY_SETTING;
use crate::owned::OwnedPointer;
use crate::support::{GivenSettings, expect_taken};

pub const SETTINGS: &[SettingDef] = &[
    SettingDef::new("write_buffer_size", "a size from 64 KiB to 64 GiB", "67108864", "a memory table")
        .bytes()
        .filled_by_writes()
        .share(MemoryShare::one_in(12, "no share; two memory tables have half as much as blocks", BASICS))
        .read_by("the OPTIONS file that the engine writes")
        .tune(&["8388608", "268435456"]),
    SettingDef::new(
        "block_cache_size",
        "a size up to 1 TiB",
        "8 MiB or more, by version",
        "the cache of blocks",
    )
    .varying()
    .bytes()
    .share(MemoryShare::one_in(3, "about a third; the rest serves the page cache", BASICS))
    .read_by("the cache itself")
    .tune(&["134217728", "536870912"]),
    SettingDef::new("block_size", "a size from 1 KiB to 4 MiB", "4096", "a block of a table file")
        .bytes()
        .read_by("the OPTIONS file that the engine writes")
        .tune(&["1024", "16384", "65536"]),
    SettingDef::new("bloom_bits", "bits a key, 1 to 32", "no filter", "a Bloom filter for each table file")
        .varying()
        .read_by("the OPTIONS file that the engine writes: that there is one, not how large")
        .tune(&["10"]),
    SettingDef::new("max_background_jobs", "1 to 64", "2", "threads that flush and compact")
        .read_by("the OPTIONS file that the engine writes")
        .tune(&["4"])
        .costing("more threads of the machine are busy"),
    SettingDef::new("max_open_files", "20 to 1000000", "all", "files kept open")
        .read_by("the OPTIONS file that the engine writes"),
    SettingDef::new(
        "compaction_style",
        "kCompactionStyleLevel or kCompactionStyleUniversal",
        "kCompactionStyleLevel",
        "how table files are merged",
    )
    .read_by("the OPTIONS file that the engine writes")
    .tune(&["kCompactionStyleUniversal"]),
    SettingDef::new(
        "compression",
        "kSnappyCompression, kLZ4Compression or kZSTD",
        "kSnappyCompression",
        "the codec, if values are compressed",
    )
    .read_by("the OPTIONS file that the engine writes")
    .tune(&["kLZ4Compression", "kZSTD"]),
    LIBRARY_SETTING,
];

const BASICS: &str = "https://github.com/facebook/rocksdb/wiki/Setup-Options-and-Basic-Tuning";

/// Two memory tables, as shipped: one that is filled and one that is flushed.
const MEMORY_TABLES: u64 = 2;

const CODECS: [(&str, c_int); 3] = [
    ("kSnappyCompression", ffi::ROCKSDB_SNAPPY_COMPRESSION),
    ("kLZ4Compression", ffi::ROCKSDB_LZ4_COMPRESSION),
    ("kZSTD", ffi::ROCKSDB_ZSTD_COMPRESSION),
];
const NO_CODEC: (&str, c_int) = ("kNoCompression", ffi::ROCKSDB_NO_COMPRESSION);

const STYLES: [(&str, c_int); 2] = [
    ("kCompactionStyleLevel", ffi::ROCKSDB_LEVEL_COMPACTION),
    ("kCompactionStyleUniversal", ffi::ROCKSDB_UNIVERSAL_COMPACTION),
];

/// `None` is the engine's default.
pub struct Config {
    codec: (&'static str, c_int),
    write_buffer_size: Option<u64>,
    block_cache_size: Option<u64>,
    block_size: Option<u64>,
    /// The engine reads back that there is a filter, but not how large.
    pub bloom_bits: Option<u32>,
    max_background_jobs: Option<u32>,
    max_open_files: Option<u32>,
    compaction_style: Option<(&'static str, c_int)>,
}

impl Config {
    /// Splits the total cache as for LevelDB: half for blocks, the rest for the two memory tables.
    pub fn new(given: &GivenSettings<'_>, options: &OpenOptions<'_>) -> Result<Config> {
        let memory_table =
            options.cache_bytes.map(|total| (total / 2 / MEMORY_TABLES).clamp(64 << 10, 1 << 36));
        let blocks = options
            .cache_bytes
            .zip(memory_table)
            .map(|(total, table)| total.saturating_sub(MEMORY_TABLES * table));
        let codec = named(given, "compression", CODECS)?.unwrap_or(CODECS[0]);
        Ok(Config {
            codec: if options.compression { codec } else { NO_CODEC },
            write_buffer_size: given.number("write_buffer_size", 64 << 10..=1 << 36)?.or(memory_table),
            block_cache_size: given.number("block_cache_size", 0..=1 << 40)?.or(blocks),
            block_size: given.number("block_size", 1 << 10..=4 << 20)?,
            bloom_bits: given.number32("bloom_bits", 1..=32)?,
            max_background_jobs: given.number32("max_background_jobs", 1..=64)?,
            max_open_files: given.number32("max_open_files", 20..=1_000_000)?,
            compaction_style: named(given, "compaction_style", STYLES)?,
        })
    }

    pub fn options(&self, c: &Functions) -> Result<OwnedPointer<ffi::Options>> {
        // SAFETY: the options are ours to free, and each call stores a value in them.
        unsafe {
            let owned = OwnedPointer::new((c.rocksdb_options_create)(), c.rocksdb_options_destroy)?;
            let options = owned.as_ptr();
            (c.rocksdb_options_set_create_if_missing)(options, 1);
            (c.rocksdb_options_set_compression)(options, self.codec.1);
            if let Some(bytes) = self.write_buffer_size {
                (c.rocksdb_options_set_write_buffer_size)(options, size(bytes));
            }
            if let Some(jobs) = self.max_background_jobs {
                (c.rocksdb_options_set_max_background_jobs)(options, int(jobs));
            }
            if let Some(files) = self.max_open_files {
                (c.rocksdb_options_set_max_open_files)(options, int(files));
            }
            if let Some((_, style)) = self.compaction_style {
                (c.rocksdb_options_set_compaction_style)(options, style);
            }
            self.set_table(c, options)?;
            Ok(owned)
        }
    }

    /// # Safety
    /// `options` is valid.
    unsafe fn set_table(&self, c: &Functions, options: *mut ffi::Options) -> Result<()> {
        // SAFETY: the caller's promise. The table's options are copied by the last call, the cache is shared with them,
        // and the filter is theirs from then on.
        unsafe {
            let owned = OwnedPointer::new(
                (c.rocksdb_block_based_options_create)(),
                c.rocksdb_block_based_options_destroy,
            )?;
            let table = owned.as_ptr();
            if let Some(bytes) = self.block_size {
                (c.rocksdb_block_based_options_set_block_size)(table, size(bytes));
            }
            if let Some(bits) = self.bloom_bits {
                let filter = (c.rocksdb_filterpolicy_create_bloom)(f64::from(bits));
                (c.rocksdb_block_based_options_set_filter_policy)(table, filter);
            }
            if let Some(bytes) = self.block_cache_size {
                let cache =
                    OwnedPointer::new((c.rocksdb_cache_create_lru)(size(bytes)), c.rocksdb_cache_destroy)?;
                (c.rocksdb_block_based_options_set_block_cache)(table, cache.as_ptr());
            }
            (c.rocksdb_options_set_block_based_table_factory)(options, table);
        }
        Ok(())
    }

    /// Compares with the engine's `OPTIONS` file and cache. Fails with [`StoreError::SettingNotTaken`] for the first difference.
    pub fn check(&self, read_back: &[Setting]) -> Result<()> {
        let text = |number: Option<u64>| number.map(|number| number.to_string());
        for (name, wanted) in [
            ("write_buffer_size", text(self.write_buffer_size)),
            ("block_cache_size", text(self.block_cache_size)),
            ("block_size", text(self.block_size)),
            ("max_background_jobs", text(self.max_background_jobs.map(u64::from))),
            ("max_open_files", text(self.max_open_files.map(u64::from))),
            ("compression", Some(self.codec.0.to_owned())),
            ("compaction_style", self.compaction_style.map(|(word, _)| word.to_owned())),
        ] {
            let Some(wanted) = wanted else { continue };
            let found = read_back.iter().find(|setting| setting.name == name);
            let found = found.map_or_else(|| "nothing".into(), |setting| setting.value.clone());
            expect_taken(name, &wanted, &found)?;
        }
        Ok(())
    }
}

/// The setting as an entry of a table of words and their numbers.
fn named<const N: usize>(
    given: &GivenSettings<'_>,
    name: &str,
    table: [(&'static str, c_int); N],
) -> Result<Option<(&'static str, c_int)>> {
    let word = given.word(name, &table.map(|(word, _)| word))?;
    Ok(table.into_iter().find(|(known, _)| Some(*known) == word))
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Settings' ranges are within `c_int`.
fn int(number: u32) -> c_int {
    c_int::try_from(number).unwrap_or(c_int::MAX)
}

pub fn read_back(folder: &Path) -> Result<Vec<Setting>> {
    const REPORTED: [&str; 13] = [
        "rocksdb_version",
        "compression",
        "bottommost_compression",
        "write_buffer_size",
        "max_write_buffer_number",
        "block_size",
        "filter_policy",
        "compaction_style",
        "max_background_jobs",
        "max_open_files",
        "manual_wal_flush",
        "wal_recovery_mode",
        "use_fsync",
    ];
    let options = latest_options(folder)?;
    Ok(REPORTED
        .into_iter()
        .filter_map(|name| options.get(name).map(|value| Setting::read_back(name, value)))
        .collect())
}

/// The lines `name=value` of the newest `OPTIONS-…` file. There is one column family and one kind of table, so each name is there once.
fn latest_options(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut latest: Option<(u64, std::path::PathBuf)> = None;
    for entry in fs::read_dir(folder).map_err(StoreError::io(format!("reading {}", folder.display())))? {
        let entry = entry.map_err(StoreError::io(format!("reading {}", folder.display())))?;
        let name = entry.file_name();
        let digits = name.to_str().and_then(|name| name.strip_prefix("OPTIONS-"));
        let number = digits.and_then(|digits| digits.parse().ok());
        if let Some(number) = number
            && latest.as_ref().is_none_or(|(highest, _)| number > *highest)
        {
            latest = Some((number, entry.path()));
        }
    }
    let (_, path) = latest.ok_or_else(|| {
        StoreError::Engine(format!("RocksDB wrote no OPTIONS file into {}", folder.display()))
    })?;
    let text = fs::read_to_string(&path).map_err(StoreError::io(format!("reading {}", path.display())))?;
    Ok(text
        .lines()
        .filter_map(|line| line.trim().split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect())
}
