//! The page of every study opens short: its answer, and one section below it.

use std::fs;

use super::browser::Browser;
use super::storebench;
use crate::tier;

/// Most pixels of an open page, on a screen of 1,280 by 900.
const MOST: u64 = 4_000;

/// Stores that any build has, in addition to this build's own among these.
const STORES: [&str; 10] = [
    "flat-folder",
    "sqlite",
    "lmdb",
    "fjall",
    "leveldb",
    "libmdbx",
    "nested-folder",
    "redb",
    "sled",
    "unqlite",
];

/// A small run of each study that varies what makes its page long, without the stores.
const STUDIES: [(&str, &str); 9] = [
    ("life", "--records 50 --turnover 1 --trials 1"),
    ("crash", "--place here --records 20 --operations 5 --trials 1"),
    (
        "crud",
        "--records 20,40 --record-size 1B..1KiB,1KiB..2KiB --operations 5 --guarantee none,process,power --trials 1",
    ),
    (
        "ycsb",
        "--workload A,B,C,D,E,F --records 20 --operations 20 --rounds 2 --trials 1 --guarantee process,power",
    ),
    ("replay", "--trace trace.csv --guarantee process,power --trials 1"),
    ("filesystems", "--place here --transactions 2 --statements 5 --trials 1 --guarantee default"),
    (
        "data-size",
        "--data-size 16KiB,32KiB --threads 1 --duration 30ms --machine here --tuning default --trials 1",
    ),
    ("sqlite-settings", "--rows 10 --operations 2 --trials 1"),
    (
        "device",
        "--block-size 4KiB,64KiB --file-size 1MiB --io buffered --sync none,fsync --duration 5ms --trials 1",
    ),
];

const TRACE: &str = "time,operation,key,size\n0,set,a,10\n1,set,b,20\n2,get,a,\n3,get,b,\n4,delete,a,\n";

#[test]
fn the_page_of_every_study_opens_short() {
    let known: Vec<&str> = storebench_host::plan::STUDIES.iter().map(|study| study.name).collect();
    assert!(known.iter().all(|name| STUDIES.iter().any(|(study, _)| study == name)), "{known:?}");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("trace.csv"), TRACE).unwrap();
    let there =
        |name: &&str| storebench::STORES.iter().any(|store| store.name == *name && store.open.is_ok());
    let few = if tier::is_whole() { STORES.len() } else { 4 };
    let stores = STORES[..few].iter().copied().filter(there).collect::<Vec<_>>().join(",");
    let mut browser: Option<Browser> = None;
    for (study, how) in STUDIES {
        let mut arguments = vec!["run", study];
        match study {
            "device" => {}
            "sqlite-settings" | "data-size" if !stores.contains("sqlite") => continue,
            "sqlite-settings" | "data-size" => arguments.extend(["--store", "sqlite"]),
            _ => arguments.extend(["--store", &stores]),
        }
        arguments.extend(how.split_whitespace());
        arguments.extend(["--out", study]);
        storebench(folder.path(), &arguments);
        let page = folder.path().join(format!("{study}.html"));
        storebench(folder.path(), &["report", "latest", "--out", study, "--html", page.to_str().unwrap()]);
        match &mut browser {
            Some(browser) => browser.go(&page, ""),
            None => browser = Browser::open(&page, ""),
        }
        let Some(browser) = &mut browser else { return };
        browser.show_on(1280, 900, false);
        browser.value("new Promise((done) => setTimeout(done, 100))");
        let height = browser.value("document.documentElement.scrollHeight").as_u64().unwrap();
        assert!(height <= MOST, "the page of {study} opens {height} px tall");
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{study}");
    }
}
