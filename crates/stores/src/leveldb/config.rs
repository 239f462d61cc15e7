//! LevelDB's settings. The engine can be asked for none of them after opening.

use std::ffi::c_int;
use std::fmt::Display;

use storebench_core::store::{MemoryShare, OpenOptions, Result, Setting, SettingDef};

use super::ffi;
use crate::owned::OwnedPointer;
use crate::support::GivenSettings;

pub const SETTINGS: &[SettingDef] = &[
    SettingDef::new("write_buffer_size", "a size from 64 KiB to 1 GiB", "4194304", "the memory table")
        .bytes()
        .filled_by_writes()
        .share(MemoryShare::one_in(16, "no share; half of a quarter is for two memory tables", CACHE))
        .tune(&["16777216", "67108864"]),
    SettingDef::new("block_cache_size", "a size up to 1 TiB", "8388608", "the cache of blocks")
        .bytes()
        .share(MemoryShare::one_in(
            8,
            "no share; a quarter for all caches, half of it for blocks, as shipped",
            CACHE,
        ))
        .tune(&["67108864", "536870912"]),
    SettingDef::new("block_size", "a size from 1 KiB to 4 MiB", "4096", "a block of a table file")
        .bytes()
        .tune(&["1024", "16384"]),
    SettingDef::new("max_file_size", "a size from 1 MiB to 1 GiB", "2097152", "a table file")
        .bytes()
        .tune(&["16777216"]),
    SettingDef::new("max_open_files", "74 to 50000", "1000", "files kept open"),
    SettingDef::new("bloom_bits", "bits a key, 1 to 32", "no filter", "a Bloom filter for each table file")
        .varying()
        .tune(&["10"]),
];

const CACHE: &str = "https://github.com/google/leveldb/blob/main/doc/index.md#cache";

/// `None` is the engine's default.
pub struct Config {
    compression: bool,
    write_buffer_size: Option<u64>,
    block_cache_size: Option<u64>,
    block_size: Option<u64>,
    max_file_size: Option<u64>,
    max_open_files: Option<u32>,
    bloom_bits: Option<u32>,
}

impl Config {
    /// Splits the total cache as LevelDB does as shipped (8 MiB of blocks, two memory tables of 4 MiB): half for blocks, a
    /// quarter for each memory table.
    pub fn new(options: &OpenOptions<'_>) -> Result<Config> {
        let given = GivenSettings::new(options, SETTINGS)?;
        let memory_table = options.cache_bytes.map(|total| (total / 4).clamp(64 << 10, 1 << 30));
        let blocks =
            options.cache_bytes.zip(memory_table).map(|(total, table)| total.saturating_sub(2 * table));
        Ok(Config {
            compression: options.compression,
            write_buffer_size: given.number("write_buffer_size", 64 << 10..=1 << 30)?.or(memory_table),
            block_cache_size: given.number("block_cache_size", 0..=1 << 40)?.or(blocks),
            block_size: given.number("block_size", 1 << 10..=4 << 20)?,
            max_file_size: given.number("max_file_size", 1 << 20..=1 << 30)?,
            max_open_files: given.number32("max_open_files", 74..=50_000)?,
            bloom_bits: given.number32("bloom_bits", 1..=32)?,
        })
    }

    pub fn settings(&self) -> Vec<Setting> {
        fn setting<T: Display>(name: &str, value: Option<T>) -> Setting {
            value.map_or_else(|| Setting::as_shipped(name), |value| Setting::unverified(name, value))
        }
        vec![
            Setting::unverified("compression", if self.compression { "snappy" } else { "none" }),
            setting("write_buffer_size", self.write_buffer_size),
            setting("block_cache_size", self.block_cache_size),
            setting("block_size", self.block_size),
            setting("max_file_size", self.max_file_size),
            setting("max_open_files", self.max_open_files),
            setting("bloom_bits", self.bloom_bits),
        ]
    }
}

pub type Helpers = (Option<OwnedPointer<ffi::Cache>>, Option<OwnedPointer<ffi::FilterPolicy>>);

/// # Safety
/// `options` is valid, and what is given back outlives the database that is opened with it.
pub unsafe fn set(options: *mut ffi::Options, config: &Config) -> Result<Helpers> {
    let bytes = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    // The settings' ranges are within `c_int`.
    let int = |number: u32| c_int::try_from(number).unwrap_or(c_int::MAX);
    // SAFETY: the caller's promise; each call stores a value in the options.
    unsafe {
        ffi::leveldb_options_set_create_if_missing(options, 1);
        ffi::leveldb_options_set_compression(options, c_int::from(config.compression));
        if let Some(number) = config.write_buffer_size {
            ffi::leveldb_options_set_write_buffer_size(options, bytes(number));
        }
        if let Some(number) = config.block_size {
            ffi::leveldb_options_set_block_size(options, bytes(number));
        }
        if let Some(number) = config.max_file_size {
            ffi::leveldb_options_set_max_file_size(options, bytes(number));
        }
        if let Some(number) = config.max_open_files {
            ffi::leveldb_options_set_max_open_files(options, int(number));
        }
        let cache = match config.block_cache_size {
            None => None,
            Some(number) => {
                let cache = OwnedPointer::new(
                    ffi::leveldb_cache_create_lru(bytes(number)),
                    ffi::leveldb_cache_destroy,
                )?;
                ffi::leveldb_options_set_cache(options, cache.as_ptr());
                Some(cache)
            }
        };
        let filter = match config.bloom_bits {
            None => None,
            Some(bits) => {
                let filter = ffi::leveldb_filterpolicy_create_bloom(int(bits));
                let filter = OwnedPointer::new(filter, ffi::leveldb_filterpolicy_destroy)?;
                ffi::leveldb_options_set_filter_policy(options, filter.as_ptr());
                Some(filter)
            }
        };
        Ok((cache, filter))
    }
}
