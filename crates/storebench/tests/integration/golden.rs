//! Everything that `report` makes of the runs in `tests/golden`, to the byte: a change that is not meant to alter an output alters none.
//! `STOREBENCH_GOLDEN=write` writes what is expected anew, for a change that is meant to alter it.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::read::{GzDecoder, ZlibDecoder};
use flate2::write::GzEncoder;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::Value;
use storebench_host::plan::STUDIES;
use storebench_model::error::Exit;

use crate::cli::support::{STOREBENCH, Scratch, said};

fn golden_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn outputs(scratch: &Scratch, run: &str) -> Vec<(&'static str, String)> {
    let report = |more: &str| {
        let mut command = scratch.command(STOREBENCH, &format!("report {run} {more}"));
        said(command.env("COLUMNS", "100")).ends(Exit::Success).out
    };
    report("--html page.html --sqlite all.db");
    vec![
        ("overview.txt", report("")),
        ("table.txt", report("--table")),
        ("figures.csv", report("--csv")),
        ("report.json.gz", lines(&report("--json"))),
        ("page.json.gz", lines(&page_data(&fs::read_to_string(scratch.join("page.html")).unwrap()))),
        ("rows.txt.gz", rows(&scratch.join("all.db"))),
    ]
}

fn page_data(page: &str) -> String {
    let data = page.split("id=\"data\">").nth(1).unwrap().split('<').next().unwrap();
    let bytes = BASE64.decode(data).unwrap();
    let mut json = String::new();
    ZlibDecoder::new(bytes.as_slice()).read_to_string(&mut json).unwrap();
    json
}

/// A document with a line for each value, so that a difference can be read.
fn lines(json: &str) -> String {
    let value: Value = serde_json::from_str(json).unwrap();
    serde_json::to_string_pretty(&value).unwrap() + "\n"
}

/// The rows of each table and view, sorted; not the results themselves, as JSON, from which the views take theirs.
fn rows(database: &Path) -> String {
    let database = Connection::open(database).unwrap();
    let names = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')
        AND name NOT IN ('run_json', 'trial_json', 'phase_json', 'operation_figures') ORDER BY name";
    let mut names = database.prepare(names).unwrap();
    let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut out = String::new();
    for name in names {
        let mut select = database.prepare(&format!("SELECT * FROM \"{name}\"")).unwrap();
        let columns = select.column_names().collect::<Vec<_>>().join(" | ");
        let count = select.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            let cells = (0..count).map(|column| cell(row.get_ref(column).unwrap()));
            Ok(cells.collect::<Vec<_>>().join(" | "))
        };
        let mut rows: Vec<String> = select.query_map([], row).unwrap().map(Result::unwrap).collect();
        rows.sort_unstable();
        out += &format!("{name}\n{columns}\n{}\n\n", rows.join("\n"));
    }
    out
}

fn cell(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".into(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => bytes.escape_ascii().to_string(),
    }
}

/// The text of a file, or nothing if there is none.
fn read(path: &Path) -> String {
    let Ok(mut file) = fs::File::open(path) else { return String::new() };
    let mut text = String::new();
    if path.extension().is_some_and(|end| end == "gz") {
        GzDecoder::new(file).read_to_string(&mut text).unwrap();
    } else {
        file.read_to_string(&mut text).unwrap();
    }
    text
}

fn write(path: &Path, text: &str) {
    let file = fs::File::create(path).unwrap();
    if path.extension().is_some_and(|end| end == "gz") {
        let mut packed = GzEncoder::new(file, Compression::best());
        packed.write_all(text.as_bytes()).unwrap();
        packed.finish().unwrap();
    } else {
        fs::write(path, text).unwrap();
    }
}

#[test]
fn stored_runs_are_reported_as_before() {
    let runs: Vec<_> =
        fs::read_dir(golden_folder()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(STUDIES.iter().all(|study| runs.iter().any(|run| run.as_os_str() == study.name)), "{runs:?}");
    let is_rewritten = std::env::var("STOREBENCH_GOLDEN").is_ok_and(|word| word == "write");
    let mut different = Vec::new();
    for run in runs {
        let run = run.to_str().unwrap();
        let folder = golden_folder().join(run);
        let scratch = Scratch::in_memory();
        for file in ["run.json", "results.jsonl.gz"] {
            scratch.write(&format!("{run}/{file}"), fs::read(folder.join(file)).unwrap());
        }
        for (name, text) in outputs(&scratch, run) {
            let path = folder.join("expected").join(name);
            if is_rewritten {
                write(&path, &text);
            }
            let expected = read(&path);
            let difference = expected.lines().zip(text.lines()).find(|(before, now)| before != now);
            if let Some((before, now)) = difference {
                different.push(format!("{run}/{name}:\n  before: {before}\n  now:    {now}"));
            } else if text != expected {
                different.push(format!("{run}/{name}: {} bytes, {} before", text.len(), expected.len()));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
