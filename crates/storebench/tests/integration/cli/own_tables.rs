//! Workloads and axes besides crud's: a user's own program, workloads without a store, and settings that are swept.

use std::collections::BTreeSet;

use storebench_core::error::Exit;

use super::support::{Said, Scratch, example, said};
use crate::html::browser::Browser;

/// A plan of the workload that `examples/own_workload.rs` adds, with a claim about it.
const SAVING: &str = r#"
format = 1
name = "saving"
title = "How long does it take to save settings?"
workload = "replace"
trials = 2
operations = 20
seed = 1
size_limit = "1GiB"
timeout = "1m"

[axes]
way = ["in-place", "rename"]
lines = ["10", "1000"]

[[claim]]
says = "Both ways take less than a minute"
source = "a colleague, over lunch"
figure = ["replace"]
at.lines = ["10"]
expect.value = { stores = ["in-place", "rename"], range = "..60s" }
"#;

fn own(scratch: &Scratch, arguments: &str) -> Said {
    said(&mut scratch.command(example("own_workload"), arguments))
}

#[test]
fn a_workload_and_axes_of_ones_own_are_everywhere_that_ours_are() {
    let scratch = Scratch::in_memory();
    scratch.write("mine.toml", SAVING);
    let help = own(&scratch, "run mine.toml --help").ends(Exit::Success);
    assert!(help.out.contains("--way <NAME,...>") && help.out.contains("in-place, rename"), "{}", help.out);
    let dry = own(&scratch, "run mine.toml --dry-run --lines 10,20").ends(Exit::Success);
    assert!(dry.out.contains("rename/20") && dry.out.contains("4 cells"), "{}", dry.out);
    own(&scratch, "run mine.toml --way backwards").complains(Exit::BadValue, &["backwards", "in-place"]);
    let ran = own(&scratch, "run mine.toml").ends(Exit::Success);
    for word in ["10 lines", "1000 lines", "replace", "take this one"] {
        assert!(ran.out.contains(word), "{word} is missing: {}", ran.out);
    }
    let table = own(&scratch, "report latest --table").ends(Exit::Success).out;
    assert!(table.contains("in-place") && table.contains("rename"), "{table}");
    // A figure that it does not name as a headline is in the table alone.
    assert!(!ran.out.contains("\nmemory") && table.contains("peak"), "{}{table}", ran.out);
    // This process does not know the axes that the program adds.
    let results = std::fs::read_to_string(scratch.only_run().join("results.jsonl")).unwrap();
    let cells: BTreeSet<&str> =
        results.lines().filter_map(|line| line.split("\"cell\":").nth(1)?.split('}').next()).collect();
    assert_eq!(cells.len(), 4, "{cells:?}");
    assert!(cells.contains("{\"way\":\"rename\",\"lines\":\"1000\""), "{cells:?}");
    let json = own(&scratch, "report latest --json").ends(Exit::Success).out;
    assert!(json.contains("\"lines\": \"1000\"") || json.contains("\"lines\":\"1000\""), "{json}");
    assert!(json.contains("Both ways take less than a minute"), "{json}");
    #[cfg(feature = "sqlite")]
    it_is_found_in_sql(&scratch);
    its_filter_works_in_a_browser(&scratch);
}

#[cfg(feature = "sqlite")]
fn it_is_found_in_sql(scratch: &Scratch) {
    own(scratch, "report latest --sqlite all.db").ends(Exit::Success);
    let database = rusqlite::Connection::open(scratch.join("all.db")).unwrap();
    let count = "SELECT count(*) FROM cells WHERE way = 'rename' AND lines = '1000'";
    assert_eq!(database.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
}

/// The page's list for the program's own axis.
#[allow(clippy::print_stdout, reason = "a test that is skipped says so")]
fn its_filter_works_in_a_browser(scratch: &Scratch) {
    let Some(mut browser) = Browser::open(&scratch.only_run().join("report.html"), "") else {
        println!("skipped: needs chromium");
        return;
    };
    let (rows, all) = ("#table tbody tr", 4);
    let shown = browser.text("#table .content");
    assert_eq!((browser.count(rows), shown.contains("1000")), (all, true), "{shown}");
    browser.choose("#choose-lines", "10 lines");
    let shown = browser.text("#table .content");
    assert_eq!((browser.count(rows), shown.contains("1000")), (all / 2, false), "{shown}");
    assert!(browser.value("location.hash").as_str().unwrap().contains("lines="));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
