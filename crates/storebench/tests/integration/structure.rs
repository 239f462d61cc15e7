//! The shape of the source: which module may use which, how long a file may be, how comments begin, and what the pages must
//! name.

mod circles;
mod comments;
mod packages;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use storebench::STORES;
use storebench_core::error::Exit;

/// The modules of a crate and what each may use of them, from the bottom up: a module uses only those above it in its list,
/// so there are no circles of modules; those of files inside one are [`circles`]'s. Which crate may use which is cargo's to hold.
type Modules = &'static [(&'static str, &'static [&'static str])];

/// The crate that measures.
const CORE: Modules = &[
    ("shown", &[]),
    ("threads", &[]),
    ("units", &["shown"]),
    ("bounded", &["units"]),
    ("error", &["shown"]),
    ("kernel", &[]),
    ("lifeline", &[]),
    ("simulated", &["lifeline"]),
    ("server", &["lifeline"]),
    ("guard", &["error", "server"]),
    ("store", &["server", "units"]),
    ("library", &["lifeline", "store"]),
    ("stores", &["store"]),
    ("axis", &["error", "shown", "store", "units"]),
    ("cell", &["axis", "units"]),
    ("result", &["axis", "cell", "simulated", "store", "units"]),
    ("machine", &["result", "shown", "units"]),
    ("measure", &["guard", "kernel", "result"]),
    ("record", &["bounded", "cell", "units"]),
    ("kept", &["error", "guard", "result"]),
    ("image", &["axis", "kernel", "server", "simulated"]),
    ("stage", &["error", "guard", "image", "lifeline", "measure", "server", "simulated"]),
    ("background", &["cell", "kernel", "lifeline", "units"]),
    ("place", &["axis", "background", "error", "guard", "image", "kernel", "simulated", "stage"]),
    ("trace", &["bounded", "shown", "units"]),
    (
        "workload",
        &[
            "axis", "cell", "error", "guard", "image", "kernel", "measure", "place", "record", "result",
            "server", "shown", "store", "trace", "units",
        ],
    ),
    (
        "plan",
        &[
            "axis", "bounded", "cell", "error", "machine", "place", "result", "shown", "store", "units",
            "workload",
        ],
    ),
    ("schedule", &["axis", "background", "cell", "plan", "result", "store", "units", "workload"]),
    ("shard", &["axis", "cell", "place", "plan", "result", "schedule", "store", "workload"]),
    ("folder", &["axis", "bounded", "cell", "error", "guard", "result", "shown", "threads", "workload"]),
    ("like", &["bounded", "cell", "error", "shown", "units"]),
    (
        "runner",
        &[
            "background",
            "bounded",
            "cell",
            "error",
            "folder",
            "guard",
            "kept",
            "kernel",
            "library",
            "lifeline",
            "machine",
            "measure",
            "place",
            "plan",
            "record",
            "result",
            "schedule",
            "server",
            "shown",
            "simulated",
            "stage",
            "store",
            "units",
            "workload",
        ],
    ),
];

/// The crate that reads results.
const REPORT: Modules = &[
    ("stats", &[]),
    ("column", &["stats"]),
    ("layout", &[]),
    ("published", &[]),
    ("claims", &["column", "layout", "published", "stats"]),
    ("markup", &[]),
    ("data", &["claims", "column", "layout", "published", "stats"]),
    ("section", &["column", "data", "stats"]),
    ("sections", &["claims", "column", "data", "layout", "section", "stats"]),
    ("report", &["data", "section", "sections"]),
    (
        "terminal",
        &["claims", "column", "data", "layout", "published", "report", "section", "sections", "stats"],
    ),
    (
        "page",
        &[
            "claims",
            "column",
            "data",
            "layout",
            "markup",
            "published",
            "report",
            "section",
            "sections",
            "stats",
        ],
    ),
    ("brief", &["data", "page", "report", "terminal"]),
    ("advice", &["column", "data", "layout", "markup", "page", "stats", "terminal"]),
    ("tuning", &["advice", "column", "data", "layout", "markup", "page", "stats", "terminal"]),
    ("compare", &["column", "data", "layout", "markup", "page", "stats", "terminal"]),
    (
        "site",
        &["claims", "column", "data", "layout", "markup", "page", "report", "section", "sections", "stats"],
    ),
    ("check", &["data", "report", "stats", "terminal"]),
    // `compare` for the figures that are watched.
    ("files", &["column", "compare", "data", "layout", "report", "section", "sections", "stats"]),
];

/// The crate of simulated disks.
const DISK: Modules = &[
    ("names", &[]),
    ("holes", &[]),
    ("request", &[]),
    ("random", &[]),
    ("device", &["request"]),
    ("pace", &["device", "request"]),
    ("fixed", &["device", "request"]),
    ("flash", &["device", "request"]),
    ("network", &["device", "random", "request"]),
    ("rotating", &["device", "request"]),
    ("disks", &["device", "fixed", "flash", "network", "rotating"]),
    ("figures", &["disks", "pace", "random", "request"]),
    ("counts", &["device", "names", "request"]),
    ("transit", &[]),
    ("fault", &["request"]),
    ("image", &["fault", "holes"]),
    ("log", &["request"]),
    ("estimate", &["device", "request"]),
    ("cut", &["log", "random", "request"]),
    ("server", &["counts", "device", "estimate", "fault", "image", "log", "names", "request"]),
    ("daemon", &["counts", "cut", "disks", "estimate", "fault", "image", "log", "server"]),
];

/// The modules of `storebench_core` that read results: nothing of them can run a trial.
const READS: [&str; 11] =
    ["axis", "cell", "error", "machine", "measure", "plan", "result", "shown", "store", "units", "workload"];

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

/// The same without comments.
fn without_comments(path: &Path) -> String {
    let text = without_tests(path);
    text.lines().filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect()
}

/// Checks that each module of a list may use only those above it.
fn check_order(modules: Modules) {
    for (position, (module, may_use)) in modules.iter().enumerate() {
        let is_above = |name: &&str| modules[..position].iter().any(|(above, _)| above == name);
        assert!(may_use.iter().all(is_above), "{module} stands before something that it may use");
    }
}

/// The modules that a text names after the name of their crate.
fn used(text: &str, crate_name: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for piece in text.split(&format!("{crate_name}::")).skip(1) {
        assert!(
            !piece.starts_with('{'),
            "write one `use {crate_name}::...` for each module: {}",
            piece.lines().next().unwrap()
        );
        let is_name = |letter: &char| letter.is_ascii_lowercase() || *letter == '_';
        found.insert(piece.chars().take_while(is_name).collect());
    }
    found
}

/// The files of a crate, each with its module's name and its name below `src`.
fn sources(name: &str) -> impl Iterator<Item = (PathBuf, String, String)> {
    let source = root().join("crates").join(name).join("src");
    files(&source, ".rs").into_iter().filter_map(move |path| {
        let name = path.strip_prefix(&source).unwrap().display().to_string();
        let module = name.split('/').next().unwrap().trim_end_matches(".rs").to_owned();
        (!["lib", "tests"].contains(&module.as_str())).then_some((path, module, name))
    })
}

#[test]
fn modules_use_only_what_lies_below_them() {
    let mut wrong = Vec::new();
    for (crate_name, modules) in [("disk", DISK), ("core", CORE), ("report", REPORT)] {
        check_order(modules);
        for (path, module, name) in sources(crate_name) {
            let Some((_, may_use)) = modules.iter().find(|(known, _)| *known == module) else {
                wrong.push(format!(
                    "{name}: tests/integration/structure.rs does not say what {module} may use"
                ));
                continue;
            };
            let text = without_tests(&path);
            let bad = used(&text, "crate")
                .into_iter()
                .filter(|used| *used != module && !may_use.contains(&used.as_str()));
            wrong.extend(bad.map(|used| format!("{name}: {module} must not use {used}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_reads_results_can_run_no_trial() {
    let mut wrong = Vec::new();
    for (path, _, name) in sources("report") {
        let used = used(&without_tests(&path), "storebench_core");
        wrong.extend(
            used.into_iter()
                .filter(|used| !READS.contains(&used.as_str()))
                .map(|used| format!("{name}: {used}")),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// All knowledge of a server comes with its store's entry: its programs and users, its leftovers, its protocol.
#[test]
fn what_measures_names_no_server() {
    const NAMES: [&str; 10] = [
        "postgres",
        "postmaster",
        "initdb",
        "pgsql",
        "mariadb",
        "mysql",
        "innodb",
        "myrocks",
        "redis",
        "etcd",
    ];
    let source = root().join("crates/core/src");
    let paths = files(&source, "");
    assert!(paths.iter().any(|path| path.ends_with("server.rs")), "{source:?} is not the source");
    let mut wrong = Vec::new();
    for path in paths {
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).to_lowercase();
        let text = format!("{}\n{text}", path.strip_prefix(&source).unwrap().display());
        let named = NAMES.iter().filter(|name| text.contains(*name));
        wrong.extend(named.map(|name| format!("{}: {name}", path.display())));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn crates_depend_on_those_below_them() {
    for (name, below) in
        [("disk", &[][..]), ("core", &["storebench-disk"][..]), ("report", &["storebench-core"])]
    {
        let manifest = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
        let (_, dependencies) = manifest.split_once("\n[dependencies]").unwrap();
        let ours: Vec<&str> = dependencies
            .lines()
            .filter_map(|line| line.split(['.', ' ', '=']).next())
            .filter(|name| name.starts_with("storebench"))
            .collect();
        assert_eq!(ours, below, "{name}");
    }
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
