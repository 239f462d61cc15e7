//! The code in Python runs, writes a record where the store would, and SQLite then has the settings that were read back.

use std::fs;
use std::process::Command;

use storebench::STORES;
use storebench_core::store::Language;

use super::{Shown, snippets};
use crate::cli::support::{Scratch, skipped};

/// What a program in Python prints; `None` where the machine has no Python.
fn run(program: &str, scratch: &Scratch) -> Option<String> {
    let file = scratch.join("shown.py");
    fs::write(&file, program).unwrap();
    let output = match Command::new("python3").arg(&file).arg(scratch.path()).output() {
        Ok(output) => output,
        Err(error) => {
            skipped("code in Python", &format!("needs python3: {error}"));
            return None;
        }
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{program}");
    Some(String::from_utf8(output.stdout).unwrap())
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
        let path = if shown.store == "flat-folder" { "0123456789" } else { "01/23/456789" };
        assert_eq!(fs::read(scratch.join(path)).unwrap(), b"new", "{shown}\n{text}");
        let left = fs::read_dir(scratch.path()).unwrap().flatten();
        assert!(left.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with(".tmp")));
        assert_eq!(text.contains("fsync"), shown.tier == storebench_core::store::Guarantee::Power, "{shown}");
    }
}
