//! The settings that the engine reports once code has run, compared with what the store read back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use storebench_model::store::{Guarantee, SettingSource};

use super::{Shown, left};

/// The cache that Berkeley DB reads back is what it was asked for, rounded.
const CACHE_ROUNDING: u64 = 16 << 10;

/// The lines `name=value` of a text.
pub fn pairs(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.trim().split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Writes of each thread: few where each waits for the disk.
pub fn writes(shown: &Shown) -> u32 {
    if shown.tier == Guarantee::Power { 10 } else { 200 }
}

/// The settings that the engine reports once a program with a driver has run with an empty folder.
pub fn read(shown: &Shown, program: &mut Command, folder: &Path, writes: u32) -> BTreeMap<String, String> {
    let numbers = [shown.threads.to_string(), writes.to_string()];
    let mut settings = pairs(&left::run(program.arg(folder).args(numbers), shown));
    if let Some(options) = files(folder, "OPTIONS-").last() {
        settings.extend(pairs(&fs::read_to_string(options).unwrap()));
    }
    settings
}

/// The files of a folder whose names begin so, the last in order of name last.
pub fn files(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    let mut files: Vec<PathBuf> = named.map(|entry| entry.path()).collect();
    files.sort();
    files
}

/// Fails unless every setting that the store read back is also reported here.
pub fn assert_same(shown: &Shown, settings: &BTreeMap<String, String>) {
    for setting in shown.settings.iter().filter(|setting| setting.source == SettingSource::ReadBack) {
        let value = settings.get(&setting.name).unwrap_or_else(|| panic!("no {} of {shown}", setting.name));
        if setting.name == "cachesize" {
            let [value, expected] = [value, &setting.value].map(|bytes| bytes.parse::<u64>().unwrap());
            assert!(value.abs_diff(expected) <= CACHE_ROUNDING, "cachesize: {value}, {shown}");
        } else if setting.name == "filter_policy" {
            // RocksDB's C interface reports the policy's name without its bits.
            assert_eq!(value.split(':').next(), setting.value.split(':').next(), "filter_policy: {shown}");
        } else {
            assert_eq!(*value, setting.value, "{}: {shown}", setting.name);
        }
    }
}
