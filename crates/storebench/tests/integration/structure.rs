//! The shape of the source: which module may use which, how long a file may be, and what the pages must name.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use storebench::STORES;
use storebench_core::error::Exit;

/// The modules of core and what each may use, from the bottom up: a module uses only those above it in this list, so
/// there are no circles. `report` never uses `runner`, and nothing uses `report` but `cli`.
const MODULES: &[(&str, &[&str])] = &[
    ("shown", &[]),
    ("threads", &[]),
    ("units", &["shown"]),
    ("stats", &[]),
    ("error", &[]),
    ("guard", &["error"]),
    ("lifeline", &[]),
    ("store", &[]),
    ("stores", &["store"]),
    ("cell", &["shown", "store", "units"]),
    ("result", &["cell", "store"]),
    ("measure", &["guard", "result"]),
    ("record", &["cell", "units"]),
    ("stage", &["error", "guard", "lifeline", "measure"]),
    ("place", &["error", "guard", "stage"]),
    ("background", &["cell", "lifeline", "units"]),
    ("workload", &["cell", "guard", "measure", "record", "result", "shown", "store", "units"]),
    ("column", &["result", "stats", "units"]),
    ("claims", &["cell", "column", "error", "stats", "store", "units"]),
    ("plan", &["cell", "claims", "error", "shown", "store", "units", "workload"]),
    ("published", &["cell", "error", "units"]),
    // `workload` for what it reads back.
    ("estimate", &["cell", "place", "store", "workload"]),
    ("schedule", &["background", "cell", "estimate", "plan", "result", "store", "units"]),
    ("folder", &["cell", "error", "guard", "result", "shown", "threads"]),
    // `measure` for the histograms that results hold.
    ("like", &["cell", "error", "shown", "units"]),
    (
        "report",
        &[
            "cell",
            "claims",
            "column",
            "measure",
            // For how many trials a run was to have.
            "plan",
            "published",
            "result",
            "shown",
            "stats",
            "store",
            "units",
            "workload",
        ],
    ),
    (
        "runner",
        &[
            "background",
            "cell",
            "error",
            "estimate",
            "folder",
            "guard",
            "lifeline",
            "measure",
            "place",
            "plan",
            "record",
            "result",
            "schedule",
            "shown",
            "stage",
            "store",
            "units",
            "workload",
        ],
    ),
    ("crash_writer", &["store"]),
    (
        "cli",
        &[
            "background",
            "cell",
            "claims",
            "crash_writer",
            "error",
            "like",
            "estimate",
            "folder",
            "lifeline",
            "measure",
            "place",
            "plan",
            "published",
            "record",
            "report",
            "result",
            "runner",
            "schedule",
            "shown",
            "store",
            "units",
            "workload",
        ],
    ),
];

const MOST_LINES: usize = 600;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Files below a folder whose names end like this.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, end));
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A source file without its tests, which may use whatever they like.
fn without_tests(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let is_test = path.ends_with("tests.rs") || path.ends_with("samples.rs");
    if is_test { String::new() } else { text.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned() }
}

/// The modules of the same crate that a text names.
fn used(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for piece in text.split("crate::").skip(1) {
        assert!(
            !piece.starts_with('{'),
            "write one `use crate::...` for each module: {}",
            piece.lines().next().unwrap()
        );
        let is_name = |letter: &char| letter.is_ascii_lowercase() || *letter == '_';
        found.insert(piece.chars().take_while(is_name).collect());
    }
    found
}

#[test]
fn modules_use_only_what_lies_below_them() {
    for (position, (module, may_use)) in MODULES.iter().enumerate() {
        let above: Vec<_> = MODULES[..position].iter().map(|(name, _)| *name).collect();
        assert!(
            may_use.iter().all(|name| above.contains(name)),
            "{module} stands before something that it may use"
        );
    }
    let source = root().join("crates/core/src");
    let mut wrong = Vec::new();
    for path in files(&source, ".rs") {
        let name = path.strip_prefix(&source).unwrap().display().to_string();
        let module = name.split('/').next().unwrap().trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let Some((_, may_use)) = MODULES.iter().find(|(known, _)| *known == module) else {
            wrong.push(format!("{name}: tests/integration/structure.rs does not say what {module} may use"));
            continue;
        };
        let text = without_tests(&path);
        let bad = used(&text).into_iter().filter(|used| used != module && !may_use.contains(&used.as_str()));
        wrong.extend(bad.map(|used| format!("{name}: {module} must not use {used}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn core_knows_nothing_of_the_stores_crate() {
    let manifest = fs::read_to_string(root().join("crates/core/Cargo.toml")).unwrap();
    let dependencies = manifest.split("dependencies]").skip(1).collect::<String>();
    assert!(!dependencies.contains("storebench"), "{dependencies}");
}

#[test]
fn files_are_small_rooms() {
    let mut large = Vec::new();
    for path in [".rs", ".py"].iter().flat_map(|end| files(&root().join("crates"), end)) {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        if lines > MOST_LINES {
            large.push(format!("{}: {lines} lines", path.display()));
        }
    }
    assert!(large.is_empty(), "more than {MOST_LINES} lines: {large:#?}");
}

#[test]
fn the_page_of_exit_codes_lists_them_all() {
    let page = fs::read_to_string(root().join("docs/exit-codes.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")).map(|line| line.split(" | "));
    let listed: Vec<(String, String)> = rows
        .filter_map(|mut row| Some((row.next()?.to_owned(), row.next()?.to_owned())))
        .filter(|(code, _)| code.bytes().all(|byte| byte.is_ascii_digit()))
        .collect();
    let expected: Vec<(String, String)> =
        Exit::ALL.iter().map(|exit| (exit.code().to_string(), format!("`{exit:?}`"))).collect();
    assert_eq!(listed, expected);
}

#[test]
fn the_pages_tell_of_every_store() {
    let pages: String =
        files(&root().join("docs"), ".md").iter().map(|page| fs::read_to_string(page).unwrap()).collect();
    let words: BTreeSet<&str> =
        pages.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-').collect();
    for store in STORES {
        assert!(words.contains(store.name), "docs/ do not tell of {}", store.name);
    }
}
