//! What is in a SQLite file of results.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use storebench_core::error::Exit;

use super::support::{Scratch, TINY};

/// A run of two stores in three trials, at two guarantees, of which one store gives only one.
fn run() -> &'static Scratch {
    static RUN: OnceLock<Scratch> = OnceLock::new();
    RUN.get_or_init(|| {
        let scratch = Scratch::in_memory();
        let study = TINY.replace("--trials 1", "--trials 3").replace("process", "none,process");
        scratch.storebench(&format!("run crud --store flat-folder,sqlite {study}")).ends(Exit::Success);
        scratch
    })
}

fn page() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/exports.md")).unwrap()
}

fn written(name: &str) -> PathBuf {
    let said = run().storebench(&format!("report latest --sqlite {name}")).ends(Exit::Success);
    assert!(said.err.contains(&format!("written: {name}")), "{said}");
    run().join(name)
}

fn opened(name: &str) -> Connection {
    Connection::open_with_flags(written(name), OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

#[test]
fn our_own_file_is_replaced_and_no_other() {
    let scratch = run();
    let path = written("ours.db");
    fs::write(scratch.join("ours.db.part"), "mine").unwrap();
    let first = fs::read(&path).unwrap();
    assert_eq!(fs::read(written("ours.db")).unwrap(), first);
    assert_eq!(fs::read_to_string(scratch.join("ours.db.part")).unwrap(), "mine");
    scratch.write("notes.txt", "mine");
    let theirs = Connection::open(scratch.join("theirs.db")).unwrap();
    theirs.execute_batch("CREATE TABLE t (x)").unwrap();
    for (name, refused) in [("notes.txt", true), ("theirs.db", true), ("storebench-runs", true)] {
        let before = fs::metadata(scratch.join(name)).unwrap().len();
        scratch
            .storebench(&format!("report latest --sqlite {name}"))
            .complains(Exit::NotStorebench, &[name, "was not written by storebench"]);
        assert_eq!((fs::metadata(scratch.join(name)).unwrap().len(), refused), (before, true));
    }
    let nowhere = scratch.storebench("report latest --sqlite nowhere/x.db");
    nowhere.complains(Exit::Failure, &["nowhere/x.db"]);
}

#[test]
fn what_is_in_it_is_what_was_measured() {
    let file = opened("all.db");
    let count = |sql: &str| file.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(file.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap(), "ok");
    let results = run().results();
    assert_eq!(count("SELECT count(*) FROM trials"), results.trials.len() as i64);
    let sum: u64 =
        results.trials.iter().filter_map(|t| t.ok()).flat_map(|m| &m.operations).map(|o| o.sum_ns).sum();
    assert_eq!(count("SELECT sum(sum_ns) FROM results"), sum as i64);
    assert_eq!(count("SELECT count(*) FROM left_out"), results.header.left_out.len() as i64);
    assert!(count("SELECT count(*) FROM left_out") > 0, "flat-folder can't give none");
    // The same figures as in the other reports.
    let said = run().storebench("report latest --json").ends(Exit::Success);
    let report: Value = serde_json::from_str(&said.out).unwrap();
    let mut compared = 0;
    for matrix in report["matrices"].as_array().unwrap() {
        for row in matrix["rows"].as_array().unwrap().iter().filter(|row| row["column"] == "latency_mean") {
            for contender in row["contests"][0]["contenders"].as_array().unwrap() {
                let sql =
                    "SELECT mean_ns FROM latencies WHERE store = ?1 AND guarantee = ?2 AND operation = ?3";
                let keys = [&contender["store"], &matrix["guarantee_asked"], &row["name"]]
                    .map(|v| v.as_str().unwrap());
                let mean: f64 = file.query_row(sql, keys, |row| row.get(0)).unwrap();
                let other = contender["figure"]["mean"]["value"].as_f64().unwrap();
                // Reading JSON may miss the last digit.
                assert!((mean - other).abs() <= 1e-12 * mean, "{mean} {other}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 3 * 4);
    let winners: i64 = report["matrices"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|m| m["rows"].as_array().unwrap())
        .flat_map(|row| row["contests"][0]["contenders"].as_array().unwrap())
        .filter(|contender| contender["wins"] == true)
        .count() as i64;
    assert_eq!(count("SELECT count(*) FROM winners"), winners);
}

#[test]
fn views_take_from_results_what_counts() {
    let scratch = run();
    let from = scratch.only_run();
    let results = fs::read_to_string(from.join("results.jsonl")).unwrap();
    let mut trials: Vec<Value> = results.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let failed = json!({"status": "failed", "reason": "wrong-data", "message": "\"ü\" ≠ \\", "log": "l"});
    trials[0]["outcome"] = failed;
    let reasons = json!([{"figure": "disk", "reason": "\"figure\":\"space\""}]);
    trials[1]["measured"]["unknown"] = reasons;
    let second = json!({"at_s": 3, "count": 7, "p50_ns": 1, "p99_ns": 2, "max_ns": 3});
    trials[2]["measured"]["operations"][1]["series"] = json!([second]);
    let phase = json!({"operation": "get", "count": 5, "cpu_share": 1.0});
    let client = json!({"host": "h", "sessions": 2, "processors": 4, "clock_uncertainty_ns": 1, "late_ns": 2,
        "phases": [phase]});
    trials[2]["measured"]["clients"] = json!([client]);
    let lines: String = trials.iter().map(|trial| format!("{trial}\n")).collect();
    scratch.write("made/results.jsonl", lines);
    scratch.write("made/run.json", fs::read_to_string(from.join("run.json")).unwrap());
    scratch.storebench("report made --sqlite made.db").ends(Exit::Success);
    let file = Connection::open(scratch.join("made.db")).unwrap();
    let row = |sql: &str| -> Vec<SqlValue> {
        let of = |row: &rusqlite::Row<'_>| {
            (0..row.as_ref().column_count()).map(|column| row.get(column)).collect()
        };
        file.query_row(sql, [], of).unwrap()
    };
    let text = |text: &str| SqlValue::Text(text.into());
    let whole = SqlValue::Integer;
    let said = row("SELECT status, message, store_version, settle_ns, files FROM trials WHERE trial = 0");
    let nothing = SqlValue::Null;
    assert_eq!(said, [text("failed"), text("\"ü\" ≠ \\"), nothing.clone(), nothing.clone(), nothing.clone()]);
    assert_eq!(row("SELECT trial, reason FROM failures"), [whole(0), text("wrong-data")]);
    for view in ["operations", "counters", "settings"] {
        let numbers = row(&format!("SELECT sum(trial = 0), sum(trial = 1) > 0 FROM {view}"));
        assert_eq!(numbers, [whole(0), whole(1)], "{view}");
    }
    let unknown = row("SELECT disk_allocated_bytes, files, settle_ns > 0 FROM trials WHERE trial = 1");
    assert_eq!(unknown, [nothing.clone(), nothing.clone(), whole(1)]);
    let operation = trials[2]["measured"]["operations"][1]["operation"].as_str().unwrap();
    assert_eq!(
        row("SELECT * FROM seconds"),
        [whole(2), text(operation), whole(3), whole(7), whole(1), whole(2), whole(3)]
    );
    let clients = row("SELECT host, count, cpu_share, busy_share FROM clients");
    assert_eq!(clients, [text("h"), whole(5), SqlValue::Real(1.0), nothing]);
    let host = "SELECT json_extract(result, '$.measured.clients[0].host') FROM trial_json WHERE trial = 2";
    assert_eq!(row(host), [text("h")]);
}

#[test]
fn the_pages_questions_have_answers() {
    let file = opened("questions.db");
    let page = page();
    let questions: Vec<&str> =
        page.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(questions.len() >= 5, "{}", questions.len());
    for question in questions {
        let mut statement = file.prepare(question).unwrap_or_else(|error| panic!("{question}: {error}"));
        let mut rows = statement.query([]).unwrap();
        let first = rows.next().unwrap_or_else(|error| panic!("{question}: {error}"));
        // Nothing failed here, and no settings were varied.
        let may_be_empty = ["failures", "effects", "combinations"].iter().any(|word| question.contains(word));
        assert!(first.is_some() || may_be_empty, "no answer: {question}");
    }
}

#[test]
fn every_table_view_and_column_is_in_the_reference() {
    let file = opened("described.db");
    let sql = "SELECT s.name, p.name FROM sqlite_schema s JOIN pragma_table_info(s.name) p WHERE s.type IN ('table', 'view')";
    let mut statement = file.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)));
    let mut columns: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (table, column) in rows.unwrap().map(Result::unwrap) {
        columns.entry(table).or_default().insert(column);
    }
    assert_eq!(columns.len(), 41 + 5 + 4, "{:?}", columns.keys());
    let (of_cells, of_figures) = (columns["cells"].clone(), columns["operation_figures"].clone());
    let listed: BTreeMap<String, BTreeSet<String>> = storebench_report::files::sql::tables()
        .into_iter()
        .map(|(table, columns)| (table, columns.into_iter().collect()))
        .collect();
    assert_eq!(listed.keys().collect::<Vec<_>>(), columns.keys().collect::<Vec<_>>());
    for (table, mut listed) in listed {
        // The axes are those of the runs.
        if table == "cells" || listed.remove("all of cells") {
            listed.extend(of_cells.iter().cloned());
        }
        if listed.remove("all of operation_figures") {
            listed.extend(of_figures.iter().cloned());
        }
        assert_eq!(listed, columns[&table], "{table}");
    }
}
