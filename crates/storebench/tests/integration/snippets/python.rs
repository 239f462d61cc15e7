//! The code in Python runs, writes a record where the store would, and SQLite then has the settings that were read back.

use std::fs;
use std::process::Command;

use storebench::STORES;
use storebench_core::store::Language;

use super::{Shown, snippets};
use crate::cli::support::{Scratch, skipped};

/// The output of a program in Python; `None` where the machine has no Python.
fn run(program: &str, scratch: &Scratch) -> Option<String> {
    let Some(python) = python_with("sys") else {
        skipped("code in Python", "needs python3");
        return None;
    };
    Some(run_by(python, program, scratch, &[]))
}

/// A Python that has a module: the first of the path, or that of the system, whose packages the first may not see.
fn python_with(module: &str) -> Option<&'static str> {
    let has = |python: &&str| {
        let found = Command::new(python).args(["-c", &format!("import {module}")]).output();
        found.is_ok_and(|output| output.status.success())
    };
    ["python3", "/usr/bin/python3"].into_iter().find(has)
}

/// The output of a program that is given a folder and more.
fn run_by(python: &str, program: &str, scratch: &Scratch, arguments: &[String]) -> String {
    let file = scratch.join("shown.py");
    fs::write(&file, program).unwrap();
    let output = Command::new(python).arg(&file).arg(scratch.path()).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{program}");
    String::from_utf8(output.stdout).unwrap()
}

fn of_python() -> impl Iterator<Item = (&'static Shown, &'static str)> {
    let built = STORES.iter().filter(|def| def.runs_by_default());
    let all = built.flat_map(snippets);
    all.filter_map(|shown| Some((shown, shown.binding(Language::Python)?)))
}

#[test]
fn what_is_shown_has_no_gaps_and_fits_76_columns() {
    let mut number = 0;
    for (shown, text) in of_python() {
        assert!(!text.contains("{{") && text.starts_with("# "), "{shown}\n{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 76), "{shown}\n{text}");
        number += 1;
    }
    assert!(number >= 4, "both folders at two tiers");
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_has_the_settings_that_were_read_back() {
    for (shown, text) in of_python().filter(|(shown, _)| shown.store == "sqlite") {
        let scratch = Scratch::new();
        let names: Vec<&str> = shown.settings.iter().map(|setting| setting.name.as_str()).collect();
        let driver = format!(
            "\nimport sys\ndb = open_records(sys.argv[1] + '/records.sqlite')\nput(db, b'key', b'value')\n\
             for name in {names:?}:\n    row = db.execute('PRAGMA ' + name).fetchone()\n    print(name, '' if row is None else row[0])\n"
        );
        let Some(said) = run(&(text.to_owned() + &driver), &scratch) else { return };
        for setting in &shown.settings {
            let line = format!("{} {}", setting.name, setting.value);
            assert!(
                said.lines().any(|said| said.trim_end() == line.trim_end()),
                "{line} is not in {said}\n{text}"
            );
        }
        let connection = rusqlite::Connection::open(scratch.join("records.sqlite")).unwrap();
        let found: Vec<u8> = connection.query_row("SELECT value FROM records", [], |row| row.get(0)).unwrap();
        assert_eq!(found, b"value");
    }
}

#[test]
fn folders_have_the_record_where_the_store_puts_it() {
    for (shown, text) in of_python().filter(|(shown, _)| shown.store.ends_with("-folder")) {
        let scratch = Scratch::new();
        let driver =
            "\nimport sys\nput(sys.argv[1], '0123456789', b'old')\nput(sys.argv[1], '0123456789', b'new')\n";
        if run(&(text.to_owned() + driver), &scratch).is_none() {
            return;
        }
        let path = match shown.setting("levels").unwrap() {
            "0" => "0123456789",
            "1" => "012/3456789",
            _ => "01/23/456789",
        };
        assert_eq!(fs::read(scratch.join(path)).unwrap(), b"new", "{shown}\n{text}");
        let left = fs::read_dir(scratch.path()).unwrap().flatten();
        assert!(left.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with(".tmp")));
        assert_eq!(text.contains("fsync"), shown.tier == storebench_core::store::Guarantee::Power, "{shown}");
    }
}

/// Runs all code for an engine with a driver, where Python has one of the modules of its bindings.
#[cfg(any(feature = "berkeleydb", feature = "leveldb", feature = "lmdb"))]
fn check(store: &str, modules: &[&str], package: &str, driver: &str) {
    let Some(python) = modules.iter().find_map(|module| python_with(module)) else {
        return skipped(&format!("code for {store} in Python"), &format!("needs {package}"));
    };
    let mut number = 0;
    for (shown, text) in of_python().filter(|(shown, _)| shown.store == store) {
        let scratch = Scratch::new();
        let program = [text, driver, include_str!("drivers/main.py")].concat();
        let writes = super::told::writes(shown);
        let said = run_by(python, &program, &scratch, &[shown.threads.to_string(), writes.to_string()]);
        super::told::assert_same(shown, &super::told::pairs(&said));
        number += 1;
    }
    assert!(number >= 4, "two tiers, one thread and two");
}

#[cfg(feature = "lmdb")]
#[test]
fn lmdb_takes_the_code_and_reads_back_the_same() {
    check("lmdb", &["lmdb"], "python3-lmdb", include_str!("drivers/lmdb.py"));
}

#[cfg(feature = "leveldb")]
#[test]
fn leveldb_takes_the_code() {
    check("leveldb", &["plyvel"], "python3-plyvel", include_str!("drivers/leveldb.py"));
}

#[cfg(feature = "berkeleydb")]
#[test]
fn berkeleydb_takes_the_code_and_reads_back_the_same() {
    check("berkeleydb", &["berkeleydb", "bsddb3"], "python3-bsddb3", include_str!("drivers/berkeleydb.py"));
}
