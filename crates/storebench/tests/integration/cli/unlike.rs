//! Reports and answers of runs that did not do the same.

use std::fs;
use std::sync::OnceLock;

use storebench_core::error::Exit;

use super::support::{Scratch, TINY};

const TUNED: &str = "sqlite.page_size=65536";
const PLAIN: &str = "sqlite.page_size not set";

/// Two runs of the same cells: `plain`, and `tuned`, with another page size.
fn runs() -> &'static Scratch {
    static RUNS: OnceLock<Scratch> = OnceLock::new();
    RUNS.get_or_init(|| {
        let scratch = Scratch::in_memory();
        for (name, set) in [("plain", ""), ("tuned", "--set sqlite.page_size=65536")] {
            scratch.storebench(&format!("run crud --store sqlite,lmdb {TINY} {set}")).ends(Exit::Success);
            fs::rename(scratch.only_run(), scratch.join(name)).unwrap();
        }
        scratch
    })
}

#[test]
fn every_report_shows_them_side_by_side_and_says_in_what_they_differ() {
    let said = |form: &str| {
        let said = runs().storebench(&format!("report plain tuned {form}")).ends(Exit::Success);
        assert!(said.out.contains(TUNED) && said.out.contains(PLAIN), "{form}: {said}");
        said.out
    };
    for form in ["", "--table", "--json"] {
        said(form);
    }
    let csv = said("--csv");
    let gets: Vec<&str> = csv.lines().filter(|line| line.contains(",SQLite3,get,")).collect();
    assert_eq!(gets.len(), 2, "{csv}");
    // Five operations in one trial: nothing was added up.
    assert!(gets.iter().all(|line| line.split(',').nth(6) == Some("5")), "{gets:?}");
    runs().storebench("report plain tuned --html both.html").ends(Exit::Success);
    let page = fs::read_to_string(runs().join("both.html")).unwrap();
    assert!(page.contains(TUNED) && page.contains(PLAIN));
    // One of them alone differs from nothing.
    let alone = runs().storebench("report tuned").ends(Exit::Success);
    assert!(!alone.out.contains("page_size"), "{alone}");
}

#[cfg(feature = "sqlite")]
#[test]
fn tables_name_the_method_and_views_do_not_mix_it() {
    runs().storebench("report plain tuned --sqlite both.db").ends(Exit::Success);
    let file = rusqlite::Connection::open(runs().join("both.db")).unwrap();
    for (sql, rows) in [
        ("SELECT count(DISTINCT method) FROM trials", 2),
        ("SELECT count(DISTINCT method) FROM contests", 2),
        ("SELECT count(*) FROM latencies WHERE store = 'sqlite' AND operation = 'get' AND trials = 1", 2),
        ("SELECT count(*) FROM spaces WHERE store = 'lmdb' AND trials = 1", 2),
        (
            "SELECT count(*) FROM figures WHERE method LIKE '%page_size=65536' AND operation = 'get' AND figure = 'latency_mean'",
            2,
        ),
    ] {
        let found: i64 = file.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(found, rows, "{sql}");
    }
}

#[test]
fn no_answer_is_made_of_both_and_one_says_what_was_done_otherwise() {
    let ask = "advise --records 20 --size 1B..1KiB --from";
    let said = runs().storebench(&format!("{ask} plain --from tuned"));
    said.complains(Exit::Nothing, &["an answer of its own", TUNED, PLAIN]);
    let tuned = runs().storebench(&format!("{ask} tuned")).ends(Exit::Success);
    let words: Vec<&str> = tuned.out.split_whitespace().collect();
    let otherwise = format!("Not measured as `advise` measures: each operation on its own, {TUNED}.");
    assert!(words.join(" ").contains(&otherwise), "{tuned}");
    let plain = runs().storebench(&format!("{ask} plain")).ends(Exit::Success);
    assert!(!plain.out.contains(TUNED), "{plain}");
}
