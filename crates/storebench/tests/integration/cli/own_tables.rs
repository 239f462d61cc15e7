//! Workloads and axes beside crud's: those of a program of one's own, those without a store, and settings that are swept.

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
    for word in ["10 lines", "1000 lines", "replace", "How often each way won"] {
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

#[test]
fn a_setting_of_several_values_makes_variants_of_its_store() {
    let scratch = Scratch::in_memory();
    let narrow =
        "--records 10 --record-size 10B --data incompressible --guarantee process --operations 5 --trials 1";
    let sweep = format!("run crud --store fjall,flat-folder {narrow} --set fjall.data_block_size=4096,65536");
    let ran = scratch.storebench(&sweep).ends(Exit::Success);
    assert!(ran.out.contains("fjall data_block_size="), "{}", ran.out);
    let ids: BTreeSet<String> = scratch.results().trials.iter().map(|trial| trial.cell.id()).collect();
    assert_eq!(ids.len(), 3, "{ids:?}");
    let swept = ids.iter().filter(|id| id.contains("/fjall.data_block_size=")).count();
    assert_eq!(swept, 2, "{ids:?}");
    for (wrong, words) in [
        ("--store flat-folder --set fjall.data_block_size=1,2", ["fjall.data_block_size", "takes no part"]),
        ("--store fjall --set fjall.block=1,2", ["no setting \"block\"", "data_block_size"]),
        ("--store fjall --set fjall.data_block_size=4096,", ["empty", "4096,8192"]),
        ("--store fjall --set fjall.data_block_size=1,1", ["twice", "fjall.data_block_size"]),
    ] {
        scratch.storebench(&format!("run crud {wrong}")).complains(Exit::BadValue, &words);
    }
}

#[test]
fn one_file_is_read_and_written_without_a_store() {
    let scratch = Scratch::in_memory();
    let narrow =
        "--file-size 1MiB --block-size 4KiB,64KiB --io buffered --duration 20ms --sync none,fdatasync";
    let ran = scratch.storebench(&format!("run device --quick {narrow} --cache warm")).ends(Exit::Success);
    for word in ["4KiB", "64KiB", "1MiB file", "sync fdatasync", "a read has nothing to sync"] {
        assert!(ran.out.contains(word), "{word} is missing: {}", ran.out);
    }
    // Which pattern wins is the disk's affair: all are in the table.
    let table = scratch.storebench("report latest --table").ends(Exit::Success).out;
    for pattern in ["seq-read", "seq-write", "rand-read", "rand-write"] {
        assert!(table.contains(pattern), "{pattern} is missing: {table}");
    }
    let run = scratch.results();
    // Four patterns without a sync, two with one; two block sizes.
    assert_eq!(run.trials.len(), 12);
    for trial in &run.trials {
        let measured = trial.ok().unwrap();
        let names: Vec<&str> = measured.operations.iter().map(|done| done.operation.as_str()).collect();
        let expected: &[&str] = match trial.cell.id() {
            id if id.contains("read") => &["read"],
            id if id.contains("fdatasync") => &["write", "sync"],
            _ => &["write"],
        };
        assert_eq!(names, expected, "{}", trial.cell.id());
        assert!(measured.operations[0].count > 0 && measured.disk.files == 1, "{measured:?}");
    }
    scratch.assert_nothing_left();
    for (option, says) in [
        ("--store lmdb", "--store is an option of the studies crud, crash, data-size"),
        ("--order get", "--order is an option of the studies crud, crash, not of device"),
    ] {
        let words = [says, "see storebench run device --help"];
        scratch.storebench(&format!("run device {option}")).complains(Exit::Usage, &words);
    }
}
