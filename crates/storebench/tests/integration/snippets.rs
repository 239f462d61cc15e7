//! The code that `storebench advise` shows: it compiles, with the settings of every tier.

use std::path::{Path, PathBuf};
use std::process::Command;

use storebench::STORES;
use storebench_core::report::advice::snippet;
use storebench_core::store::{Guarantee, StoreDef};

use crate::cli::support::Scratch;
use crate::conformance::subject::Subject;

fn def(name: &str) -> &'static StoreDef {
    STORES.iter().find(|def| def.name == name).unwrap()
}

/// The code for a store at each of its tiers, with the settings that it reads back.
fn snippets(def: &'static StoreDef) -> Vec<(Guarantee, String)> {
    snippets_with(def, None)
}

/// The same, with the engine's caches as shipped or of this size together.
fn snippets_with(def: &'static StoreDef, cache_bytes: Option<u64>) -> Vec<(Guarantee, String)> {
    let of_tier = |tier: Guarantee| {
        let subject = Subject::new(def, Some(tier));
        let store = subject.open_with(|options| options.cache_bytes = cache_bytes).unwrap();
        let settings = store.settings().unwrap();
        drop(store);
        (tier, snippet::fill(def.snippet.unwrap(), &settings))
    };
    def.offers.iter().map(|offer| of_tier(offer.guarantee)).collect()
}

#[test]
fn every_store_that_can_be_recommended_has_one_and_its_settings_fill_it() {
    for def in STORES.iter().filter(|def| def.runs_by_default()) {
        let snippets = snippets(def);
        for (tier, text) in &snippets {
            assert!(text.lines().count() >= 3, "{} {tier}: {text}", def.name);
            assert!(!text.contains("{{"), "{} {tier}: {text}", def.name);
        }
        // What differs between tiers must show.
        for (position, (tier, text)) in snippets.iter().enumerate() {
            let same = snippets[..position].iter().find(|(_, other)| other == text);
            assert!(same.is_none(), "{}: {tier} and {same:?}", def.name);
        }
    }
}

/// Headers of engines that come with their crates.
fn header_folder(krate: &str, header: &str) -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
    let crates = std::fs::read_dir(home.join("registry/src")).ok()?.flatten();
    let crates = crates.filter_map(|index| std::fs::read_dir(index.path()).ok()).flatten().flatten();
    let found = crates.filter(|entry| entry.file_name().to_string_lossy().starts_with(krate));
    found.filter_map(|entry| folder_with(&entry.path(), header)).next()
}

fn folder_with(folder: &Path, header: &str) -> Option<PathBuf> {
    if folder.join(header).exists() {
        return Some(folder.to_path_buf());
    }
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    entries.filter(|entry| entry.path().is_dir()).find_map(|entry| folder_with(&entry.path(), header))
}

#[test]
fn c_compiles() {
    let scratch = Scratch::new();
    let engines = [
        ("leveldb", None),
        ("rocksdb", None),
        ("berkeleydb", None),
        ("lmdb", Some(("lmdb-master-sys-", "lmdb.h"))),
        ("unqlite", Some(("unqlite-", "unqlite.h"))),
    ];
    for (name, header) in engines.into_iter().filter(|(name, _)| def(name).open.is_ok()) {
        let folder = header.map(|(krate, header)| header_folder(krate, header).expect("cargo unpacked it"));
        let caches = [None, Some(64 << 20)];
        for (tier, text) in caches.into_iter().flat_map(|cache| snippets_with(def(name), cache)) {
            let file = scratch.write(&format!("{name}-{tier}.c"), &text);
            let mut compiler = Command::new("cc");
            compiler
                .args(["-std=gnu11", "-Wall", "-Wno-unused-parameter", "-Werror", "-fsyntax-only"])
                .arg(&file);
            if let Some(folder) = &folder {
                compiler.arg("-isystem").arg(folder);
            }
            let output = compiler.output().expect("a C compiler is there, or this would not be built");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name} {tier}:\n{said}\n{text}");
        }
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_takes_its_statements_and_ends_with_the_same_settings() {
    for (tier, text) in snippets(def("sqlite")) {
        let scratch = Scratch::new();
        let connection = rusqlite::Connection::open(scratch.join("records.sqlite")).unwrap();
        connection.execute_batch(&text).unwrap();
        let read = |name: &str| -> String {
            let value = |row: &rusqlite::Row<'_>| row.get::<_, rusqlite::types::Value>(0);
            let value = connection.query_row(&format!("PRAGMA {name}"), [], value).unwrap();
            match value {
                rusqlite::types::Value::Integer(number) => number.to_string(),
                rusqlite::types::Value::Text(text) => text,
                other => panic!("{other:?}"),
            }
        };
        for line in text.lines().filter_map(|line| line.strip_prefix("PRAGMA ")) {
            let (name, value) = line.trim_end_matches(';').split_once(" = ").unwrap();
            assert_eq!(read(name), value, "{tier}: {name}");
        }
    }
}

/// The code of the engines in Rust at `power`, as it is shown.
#[cfg(all(feature = "redb", feature = "fjall"))]
#[allow(dead_code, reason = "it is enough that it compiles")]
mod shown {
    mod redb {
        include!("snippets/redb.rs");
    }
    mod fjall {
        include!("snippets/fjall.rs");
    }
}

#[cfg(all(feature = "redb", feature = "fjall"))]
#[test]
fn rust_compiles_and_is_what_is_shown() {
    for (name, compiled) in
        [("redb", include_str!("snippets/redb.rs")), ("fjall", include_str!("snippets/fjall.rs"))]
    {
        let snippets = snippets(def(name));
        let (_, shown) = snippets.iter().find(|(tier, _)| *tier == Guarantee::Power).unwrap();
        assert_eq!(
            shown, compiled,
            "tests/integration/snippets/{name}.rs is compiled, this is shown:\n{shown}"
        );
    }
}
