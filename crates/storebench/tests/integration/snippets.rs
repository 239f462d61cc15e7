//! The code that `storebench advise` shows, for every store at each of its tiers, for one thread and two, as shipped and with other settings:
//! it is compiled and run as it is shown, ends with the same settings, and leaves records that the store's own adapter reads.

mod c;
mod configuration;
mod engine_settings;
mod left;
pub mod python;
mod rust;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use storebench::STORES;
use storebench_model::store::{Guarantee, Setting, Store, StoreDef, StoreKind, Threads};
use storebench_report::advice::snippet;

use crate::cli::support::Scratch;
use crate::conformance::subject::Subject;

/// A setting, its value, and what the code must say of it; if that is empty, the value.
type AskedSetting = (&'static str, &'static str, &'static str);

/// Settings in addition to the shipped ones: of libmdbx as many readers as its pages have room for, of UnQLite its cache alone.
const TUNED: &str = "
    sqlite: page_size=8192; auto_vacuum=INCREMENTAL > auto_vacuum = 2; mmap_size=1048576
    leveldb: write_buffer_size=1048576; block_cache_size=2097152; block_size=8192; max_file_size=4194304; max_open_files=500; bloom_bits=10
    rocksdb: write_buffer_size=1048576; block_cache_size=2097152; block_size=8192; bloom_bits=10; max_background_jobs=3; max_open_files=500; compaction_style=kCompactionStyleUniversal > rocksdb_universal_compaction
    berkeleydb: pagesize=8192; cachesize=1048576
    lmdb: map_size=1073741824; max_readers=200; nordahead=true > MDB_NORDAHEAD; nomeminit=true > MDB_NOMEMINIT; writemap=true > MDB_WRITEMAP
    libmdbx: sync_bytes=1048576; size_upper=1073741824; growth_step=4194304; pagesize=8192; max_readers=200 > 238; writemap=true > MDBX_WRITEMAP; nordahead=true > MDBX_NORDAHEAD; nomeminit=true > MDBX_NOMEMINIT; liforeclaim=true > MDBX_LIFORECLAIM
    redb: cache_size=67108864; two_phase_commit=true > set_two_phase_commit(true); quick_repair=true > set_quick_repair(true)
    fjall: cache_size=16777216; max_memtable_size=8388608; max_journaling_size=134217728; data_block_size=8192; kv_separation=true > with_kv_separation; worker_threads=2
    sled: cache_capacity=16777216; flush_every_ms=100
    unqlite:
    flat-folder: write=rename > temporary name
    nested-folder: levels=1; level_bytes=3; write=overwrite > open, write
";

/// Settings that are for tiers with a log alone.
const LOG_SETTINGS: &str = "
    sqlite: wal_autocheckpoint=500; journal_size_limit=65536
    berkeleydb: lg_max=1048576; lg_bsize=65536; checkpoint_kbyte=1024
";

fn settings_of_store(tables: &[&'static str], store: &str) -> Vec<AskedSetting> {
    let lines = tables.iter().flat_map(|table| table.lines()).filter_map(|line| line.trim().split_once(':'));
    let lists = lines.filter(|(name, _)| *name == store).flat_map(|(_, list)| list.split(';'));
    let settings = lists.map(str::trim).filter(|item| !item.is_empty()).map(|item| {
        let (setting, expected) = item.split_once(" > ").unwrap_or((item, ""));
        let (name, value) = setting.split_once('=').unwrap();
        (name, value, expected)
    });
    settings.collect()
}

fn def(name: &str) -> &'static StoreDef {
    STORES.iter().find(|def| def.name == name).unwrap()
}

struct Shown {
    store: &'static str,
    tier: Guarantee,
    threads: usize,
    is_tuned: bool,
    /// The settings that it is asked for, and what the code must say of them; nothing as shipped.
    tuned: Vec<AskedSetting>,
    /// The settings that the store reads back.
    settings: Vec<Setting>,
    text: String,
    /// The same in Python.
    python: Option<String>,
}

impl Shown {
    fn new(def: &'static StoreDef, tier: Guarantee, threads: usize, is_tuned: bool) -> Shown {
        let tuned = match (is_tuned, tier) {
            (false, _) => Vec::new(),
            (true, Guarantee::None) => settings_of_store(&[TUNED], def.name),
            (true, _) => settings_of_store(&[TUNED, LOG_SETTINGS], def.name),
        };
        let mut shown = Shown {
            store: def.name,
            tier,
            threads,
            is_tuned,
            tuned,
            settings: Vec::new(),
            text: String::new(),
            python: None,
        };
        let settings = shown.open(Scratch::in_memory().path()).settings().unwrap();
        let version = (def.version)();
        shown.text = snippet::fill(def.snippet.unwrap(), &version, &settings);
        shown.python = def.python.map(|template| snippet::fill(template, &version, &settings));
        shown.settings = settings;
        shown
    }

    fn open(&self, folder: &Path) -> Box<dyn Store> {
        let def = def(self.store);
        let asked = self.tuned.iter().map(|(name, value, _)| ((*name).to_owned(), (*value).to_owned()));
        let subject = Subject::with(def, Some(self.tier), asked.collect());
        let store = subject.open_with(|options| {
            options.directory = folder;
            options.sessions = self.threads;
            options.compression = self.is_tuned && def.capabilities.compression.is_some();
            options.cache_bytes = self.is_tuned.then_some(64 << 20);
        });
        store.unwrap_or_else(|error| panic!("{subject}: {error}\n{self}"))
    }

    /// The code in both languages.
    fn all_text(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.text.as_str()).chain(self.python.as_deref())
    }

    fn setting(&self, name: &str) -> Option<&str> {
        let setting = self.settings.iter().find(|setting| setting.name == name)?;
        Some(&setting.value)
    }
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Shown { store, tier, threads, tuned, text, .. } = self;
        let tuned = if tuned.is_empty() { "" } else { ", tuned" };
        write!(f, "{store} {tier}, {threads} threads{tuned}:\n{text}")
    }
}

static SNIPPETS: LazyLock<BTreeMap<&str, Vec<Shown>>> = LazyLock::new(|| {
    let built = STORES.iter().filter(|def| def.runs_by_default() && def.snippet.is_some());
    built.map(|def| (def.name, make_snippets(def))).collect()
});

fn make_snippets(def: &'static StoreDef) -> Vec<Shown> {
    let threads: &[usize] = if def.capabilities.threads == Threads::One { &[1] } else { &[1, 2] };
    let has_settings = TUNED.lines().any(|line| line.trim().starts_with(&format!("{}:", def.name)));
    let is_tuned: &[bool] = if has_settings { &[false, true] } else { &[false] };
    let tiers = def.offers.iter().map(|offer| offer.guarantee);
    let cases = tiers.flat_map(|tier| threads.iter().map(move |threads| (tier, *threads)));
    cases
        .flat_map(|(tier, threads)| is_tuned.iter().map(move |tuned| Shown::new(def, tier, threads, *tuned)))
        .collect()
}

fn snippets(def: &StoreDef) -> &'static [Shown] {
    &SNIPPETS[def.name]
}

/// The texts for a store in one of its languages, each with all that show it.
fn group_by_text(
    def: &StoreDef,
    text: impl Fn(&'static Shown) -> Option<&'static str>,
) -> BTreeMap<&'static str, Vec<&'static Shown>> {
    let mut texts: BTreeMap<&str, Vec<&Shown>> = BTreeMap::new();
    for shown in snippets(def) {
        texts.entry(text(shown).unwrap()).or_default().push(shown);
    }
    texts
}

fn texts_in_own_language(def: &StoreDef) -> BTreeMap<&'static str, Vec<&'static Shown>> {
    group_by_text(def, |shown| Some(&shown.text))
}

fn texts_in_python(def: &StoreDef) -> BTreeMap<&'static str, Vec<&'static Shown>> {
    group_by_text(def, |shown| shown.python.as_deref())
}

#[test]
fn every_store_that_can_be_recommended_has_one_and_its_settings_fill_it() {
    for def in STORES.iter().filter(|def| def.runs_by_default()) {
        let snippets = snippets(def);
        for shown in snippets {
            assert!(shown.text.lines().count() >= 3, "{shown}");
            assert!(shown.all_text().all(|text| !text.contains("{{")), "{shown}");
            for (name, value, expected) in &shown.tuned {
                let expected = if expected.is_empty() { value } else { expected };
                assert!(shown.text.contains(expected), "{name}={value}: {shown}");
            }
        }
        // A difference between tiers must show.
        for (position, snippet) in snippets.iter().enumerate() {
            let twin = snippets[..position]
                .iter()
                .find(|other| other.tier != snippet.tier && other.text == snippet.text);
            assert!(twin.is_none(), "the same code for {snippet} and for {}", twin.unwrap());
        }
    }
}

/// A terminal of 80 columns and a page have room for that.
#[test]
fn no_line_is_longer_than_76_columns() {
    for def in STORES.iter().filter(|def| def.runs_by_default()) {
        for shown in snippets(def) {
            let lines = shown.all_text().flat_map(str::lines);
            let long: Vec<_> = lines.filter(|line| line.chars().count() > 76).collect();
            assert!(long.is_empty(), "{long:#?} in {shown}");
        }
    }
}

#[test]
fn the_version_that_was_measured_is_named() {
    let engines = STORES.iter().filter(|def| def.runs_by_default() && def.kind == StoreKind::Engine);
    for def in engines {
        for shown in snippets(def) {
            for text in shown.all_text() {
                let first = text.lines().next().unwrap();
                assert!(first.contains(&(def.version)()), "{text} of {shown}");
            }
        }
    }
}
