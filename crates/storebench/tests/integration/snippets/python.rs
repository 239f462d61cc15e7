//! The code in Python runs as it is shown; with a driver, the engine reads back what the store did, as far as the package can ask it.

use std::path::{Path, PathBuf};
use std::process::Command;

use storebench::STORES;
use storebench_model::store::{Guarantee, StoreDef};

use super::{def, engine_settings, left, texts_in_python};
use crate::cli::support::{Scratch, missing};

/// The line before those that run when it is no module.
const MAIN: &str = "if __name__ == \"__main__\":";

/// A Python that has one of these modules: the first of the path, that of the system, whose packages the first may not see, or
/// that of scripts/setup.sh, with packages that the system does not have.
pub fn python_with(modules: &[&str]) -> Option<PathBuf> {
    let has_module = |python: &PathBuf, module: &str| {
        let output = Command::new(python).args(["-c", &format!("import {module}")]).output();
        output.is_ok_and(|output| output.status.success())
    };
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let cache =
        std::env::var_os("XDG_CACHE_HOME").filter(|cache| !cache.is_empty()).map(PathBuf::from).or(home);
    let installed = cache.map(|cache| cache.join("storebench/python/bin/python"));
    let mut pythons = ["python3", "/usr/bin/python3"].into_iter().map(PathBuf::from).chain(installed);
    pythons.find(|python| modules.iter().any(|module| has_module(python, module)))
}

pub fn python_of(store: &str, modules: &[&str], package: &str) -> Option<PathBuf> {
    let python = python_with(modules);
    if python.is_none() {
        missing(&format!("code for {store} in Python"), &format!("needs {package}"));
    }
    python
}

/// A program that runs code in a folder as it is shown.
pub fn shown(python: &Path, text: &str, scratch: &Scratch, folder: &Path) -> Command {
    let mut command = left::in_folder(python, folder);
    command.arg(scratch.write("shown.py", text));
    command
}

/// Runs all code for a store where Python has one of the modules of its package, each of its texts once.
fn check(store: &str, modules: &[&str], package: &str) -> Option<PathBuf> {
    let python = python_of(store, modules, package)?;
    for (text, snippets) in texts_in_python(def(store)) {
        let scratch = Scratch::new();
        left::check(snippets[0], text, |folder| shown(&python, text, &scratch, folder));
    }
    Some(python)
}

/// The same, then with a driver for every number of threads, if there is one.
fn check_with(store: &str, modules: &[&str], package: &str, tell: &str) {
    let Some(python) = check(store, modules, package).filter(|_| !tell.is_empty()) else { return };
    for (text, snippets) in texts_in_python(def(store)) {
        let scratch = Scratch::new();
        scratch.write("shown.py", text);
        let driver = ["from shown import *\n", tell, include_str!("drivers/main.py")].concat();
        let driver = scratch.write("driver.py", driver);
        for shown in snippets {
            let folder = Scratch::new();
            let mut command = Command::new(&python);
            let writes = engine_settings::writes(shown);
            let mut settings = engine_settings::read(shown, command.arg(&driver), folder.path(), writes);
            // The package brings an engine of another version.
            let version = shown.setting("rocksdb_version");
            settings.extend(version.map(|version| ("rocksdb_version".to_owned(), version.to_owned())));
            engine_settings::assert_same(shown, &settings);
        }
    }
}

fn has_main(def: &StoreDef) -> bool {
    def.python.is_some_and(|template| template.contains(MAIN))
}

#[test]
fn every_store_has_code_or_names_the_nearest_that_has_some() {
    for def in STORES.iter().filter(|def| def.runs_by_default() && !has_main(def)) {
        for (text, _) in texts_in_python(def) {
            assert!(text.lines().all(|line| line.starts_with("# ")), "{text}");
            let joined = text.replace("\n# ", " ");
            assert!(joined.contains("has no package for Python. The nearest store that has one"), "{text}");
            let nearest =
                STORES.iter().find(|other| text.contains(&format!("advise --store {}`", other.name)));
            assert!(nearest.is_some_and(|nearest| nearest.open.is_err() || has_main(nearest)), "{text}");
        }
    }
}

#[test]
fn folders_have_the_record_where_the_store_puts_it() {
    for store in ["flat-folder", "nested-folder", "one-file"] {
        check(store, &["sys"], "python3");
        for (text, snippets) in texts_in_python(def(store)) {
            assert_eq!(text.contains("fsync"), snippets[0].tier == Guarantee::Power, "{text}");
        }
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_takes_the_code_and_reads_back_the_same() {
    let Some(python) = check("sqlite", &["sqlite3"], "python3") else { return };
    for (text, snippets) in texts_in_python(def("sqlite")) {
        let scratch = Scratch::new();
        scratch.write("shown.py", text);
        let names: Vec<&str> = snippets[0].settings.iter().map(|setting| setting.name.as_str()).collect();
        let driver = format!(
            "from shown import *\ndb = open_records('records.sqlite')\nfor name in {names:?}:\n    \
             row = db.execute('PRAGMA ' + name).fetchone()\n    print(name, row[0] if row else '', sep='=')\n"
        );
        let driver = scratch.write("driver.py", driver);
        let output = left::run(left::in_folder(&python, scratch.path()).arg(driver), snippets[0]);
        engine_settings::assert_same(snippets[0], &engine_settings::pairs(&output));
    }
}

/// Engines, the modules and the package of each, and how a driver asks it for its settings, as far as it can be asked.
const ENGINES: [(&str, &[&str], &str, &str); 6] = [
    ("libmdbx", &["mdbx"], "the package libmdbx", ""),
    ("lmdb", &["lmdb"], "python3-lmdb", include_str!("drivers/lmdb.py")),
    ("leveldb", &["plyvel"], "python3-plyvel", "\ndef tell(db):\n    return {}\n"),
    ("berkeleydb", &["berkeleydb", "bsddb3"], "python3-bsddb3", include_str!("drivers/berkeleydb.py")),
    ("rocksdb", &["rocksdict"], "the package rocksdict", include_str!("drivers/rocksdb.py")),
    ("unqlite", &["unqlite"], "the package unqlite", ""),
];

#[test]
fn engines_take_the_code_and_read_back_the_same() {
    std::thread::scope(|scope| {
        for (store, modules, package, tell) in ENGINES {
            if def(store).open.is_ok() {
                scope.spawn(move || check_with(store, modules, package, tell));
            }
        }
    });
}
