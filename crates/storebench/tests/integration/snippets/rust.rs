//! The code of the engines in Rust is that of the files in `shown`, which are compiled and run. A file names no version, so
//! that it stays as it is with the next one.

use storebench_core::store::{Guarantee, Language};
use storebench_report::advice::snippet;

use super::{def, snippets};
use crate::cli::support::Scratch;

/// A file of code, and what a test does with it: it is in the module, for that what is shown is not public.
macro_rules! shown {
    ($module:ident, $file:literal, |$folder:ident| $run:block) => {
        mod $module {
            include!(concat!("shown/", $file));

            pub const TEXT: &str = include_str!(concat!("shown/", $file));

            pub fn run($folder: &std::path::Path) $run
        }
    };
}

/// Runs a file, and holds what a store shows at a tier to it.
fn check(store: &str, tier: Guarantee, tuned: bool, file: &str, run: fn(&std::path::Path)) {
    run(Scratch::new().path());
    let def = def(store);
    let all = snippets(def);
    let of_tier = all.iter().filter(|shown| shown.tier == tier && shown.tuned.is_empty() != tuned);
    let binding = def.bindings.iter().find(|snippet| snippet.language == Language::Rust);
    let template = binding.map_or(def.snippet, |snippet| Some(snippet.template)).unwrap();
    let mut looked_at = 0;
    for shown in of_tier {
        let text = snippet::fill(template, "VERSION", &shown.settings);
        assert_eq!(text, file, "the file under shown/ is compiled, this is shown:\n{shown}");
        looked_at += 1;
    }
    assert_eq!(looked_at, 2, "for one thread and for two");
}

#[cfg(feature = "redb")]
mod redb_code {
    use redb::{Database, ReadableDatabase};

    use super::*;

    shown!(none, "redb-none.rs", |folder| {
        put(&open_records(folder).unwrap(), b"key", b"value").unwrap();
        super::assert_is_there(folder);
    });
    shown!(power, "redb-power.rs", |folder| {
        put(&open_records(folder).unwrap(), b"key", b"value").unwrap();
        super::assert_is_there(folder);
    });

    fn assert_is_there(folder: &std::path::Path) {
        let database = Database::open(folder.join("records.redb")).unwrap();
        let records: redb::TableDefinition<'_, &[u8], &[u8]> = redb::TableDefinition::new("records");
        let records = database.begin_read().unwrap().open_table(records).unwrap();
        assert_eq!(records.get(&b"key"[..]).unwrap().unwrap().value(), b"value");
    }

    #[test]
    fn redb_takes_the_code_and_it_is_what_is_shown() {
        check("redb", Guarantee::None, false, none::TEXT, none::run);
        check("redb", Guarantee::Power, false, power::TEXT, power::run);
    }
}

#[cfg(feature = "sqlite")]
mod sqlite_code {
    use super::*;

    shown!(none, "sqlite-none.rs", |folder| {
        super::assert_keeps(folder, super::Guarantee::None, open_records, put);
    });
    shown!(process, "sqlite-process.rs", |folder| {
        super::assert_keeps(folder, super::Guarantee::Process, open_records, put);
    });
    shown!(power, "sqlite-power.rs", |folder| {
        super::assert_keeps(folder, super::Guarantee::Power, open_records, put);
    });

    type Open = fn(&std::path::Path) -> rusqlite::Result<rusqlite::Connection>;
    type Put = fn(&rusqlite::Connection, &[u8], &[u8]) -> rusqlite::Result<()>;

    /// Writes by one connection, reads by the next, and finds the settings on both.
    fn assert_keeps(folder: &std::path::Path, tier: Guarantee, open: Open, put: Put) {
        let file = folder.join("records.sqlite");
        let first = open(&file).unwrap();
        put(&first, b"key", b"value").unwrap();
        let second = open(&file).unwrap();
        let sql = "SELECT value FROM records WHERE key = ?1";
        let found: Vec<u8> = second.query_row(sql, [b"key"], |row| row.get(0)).unwrap();
        assert_eq!(found, b"value");
        let of_tier =
            snippets(def("sqlite")).iter().filter(|shown| shown.tier == tier && shown.tuned.is_empty());
        for setting in of_tier.flat_map(|shown| &shown.settings) {
            for connection in [&first, &second] {
                let found = crate::snippets::sqlite::read(connection, &setting.name);
                assert_eq!(found, setting.value, "{} at {tier}", setting.name);
            }
        }
    }

    #[test]
    fn sqlite_takes_the_code_and_it_is_what_is_shown() {
        check("sqlite", Guarantee::None, false, none::TEXT, none::run);
        check("sqlite", Guarantee::Process, false, process::TEXT, process::run);
        check("sqlite", Guarantee::Power, false, power::TEXT, power::run);
    }
}

#[cfg(feature = "fjall")]
mod fjall_code {
    use super::*;

    shown!(none, "fjall-none.rs", |folder| {
        let (_database, records) = open_records(folder.to_str().unwrap()).unwrap();
        put(&records, b"key", b"value").unwrap();
        assert_eq!(&*records.get(b"key").unwrap().unwrap(), b"value");
    });
    shown!(process, "fjall-process.rs", |folder| {
        let (_database, records) = open_records(folder.to_str().unwrap()).unwrap();
        put(&records, b"key", b"value").unwrap();
        assert_eq!(&*records.get(b"key").unwrap().unwrap(), b"value");
    });
    shown!(power, "fjall-power.rs", |folder| {
        let (database, records) = open_records(folder.to_str().unwrap()).unwrap();
        put(&database, &records, b"key", b"value").unwrap();
        assert_eq!(&*records.get(b"key").unwrap().unwrap(), b"value");
    });
    shown!(tuned, "fjall-power-tuned.rs", |folder| {
        let (database, records) = open_records(folder.to_str().unwrap()).unwrap();
        put(&database, &records, b"key", b"value").unwrap();
        assert_eq!(&*records.get(b"key").unwrap().unwrap(), b"value");
        assert_eq!(database.cache_capacity(), 16_777_216);
        assert!(records.is_kv_separated());
    });

    #[test]
    fn fjall_takes_the_code_and_it_is_what_is_shown() {
        check("fjall", Guarantee::None, false, none::TEXT, none::run);
        check("fjall", Guarantee::Process, false, process::TEXT, process::run);
        check("fjall", Guarantee::Power, false, power::TEXT, power::run);
        check("fjall", Guarantee::Power, true, tuned::TEXT, tuned::run);
    }
}
