//! Configuration files of servers: a server with nothing else gives the same guarantee and settings, and takes the code in Python.

use std::collections::BTreeMap;
use std::path::Path;

use storebench_model::store::{Guarantee, Setting, Store, StoreDef};
use storebench_report::advice::snippet;

use super::{def, left, python};
use crate::cli::support::{Scratch, skipped};
use crate::conformance::subject::{Subject, is_installed};
use crate::running_servers::socket_in;

/// The settings of a file that the store takes, in its own words.
fn settings(def: &StoreDef, text: &str) -> BTreeMap<String, String> {
    let setting_name =
        |name: &str| if name == "default_storage_engine" { "engine".into() } else { name.to_owned() };
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| {
        let pair = [" = ", ": ", " "].into_iter().find_map(|sign| line.split_once(sign));
        let (name, value) = pair?;
        let name = setting_name(name.trim_start());
        let setting = def.setting(&name)?;
        let value = value.trim_matches(['\'', '"']);
        let number = value.trim_end_matches(['B', 's']);
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        let value = if setting.is_in_bytes() || is_number { number } else { value };
        Some((name, value.to_owned()))
    });
    pairs.collect()
}

fn check(name: &str, extra_settings: &[(&str, &str)]) {
    let def = def(name);
    if def.open.is_err() || !is_installed(def) {
        skipped(name, &def.missing_need().unwrap_or_default());
        return;
    }
    let extra_settings: BTreeMap<String, String> =
        extra_settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let mut texts = Vec::new();
    // No file makes several machines.
    for offer in def.offers.iter().filter(|offer| offer.guarantee != Guarantee::Node) {
        let subject = Subject::new(def, Some(offer.guarantee));
        let first_store = subject.open_with(|options| options.settings = &extra_settings).unwrap();
        let read_back = first_store.settings().unwrap();
        let text = snippet::fill(def.snippet.unwrap(), &(def.version)(), &read_back);
        assert!(text.lines().next().unwrap().contains(&(def.version)()), "{text}");
        let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 76).collect();
        assert!(long.is_empty() && !text.contains("{{"), "{long:?} in {text}");
        let file_settings = settings(def, &text);
        let least = if def.settings.len() > 7 { 6 } else { 2 };
        assert!(file_settings.len() >= least, "{text}");
        let second_subject = Subject::new(def, None);
        // A socket's path is short.
        let socket_folder = tempfile::tempdir().unwrap();
        let second_store = second_subject.open_with(|options| {
            options.settings = &file_settings;
            options.run_folder = Some(socket_folder.path());
        });
        let second_store = second_store.unwrap();
        assert_eq!(second_store.guarantee(), offer.guarantee, "{text}");
        // A setting that the file does not set is as shipped in both.
        let keep_named = |settings: Vec<Setting>| {
            settings
                .into_iter()
                .filter(|setting| file_settings.contains_key(&setting.name))
                .collect::<Vec<_>>()
        };
        assert_eq!(keep_named(second_store.settings().unwrap()), keep_named(read_back), "{text}");
        assert!(!texts.contains(&text), "what differs between tiers must show: {text}");
        texts.push(text);
        takes_python(def, &*second_store, &socket_in(socket_folder.path()));
    }
}

/// Runs the code in Python against a server, which then has its record.
fn takes_python(def: &StoreDef, server: &dyn Store, socket: &Path) {
    let (modules, package) = match def.name {
        "postgres" => (["psycopg"], "the package psycopg"),
        "redis" => (["redis"], "python3-redis"),
        _ => (["pymysql"], "python3-pymysql"),
    };
    let Some(template) = def.python else { return };
    let Some(python) = python::python_of(def.name, &modules, package) else { return };
    let text = snippet::fill(template, &(def.version)(), &server.settings().unwrap());
    let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 76).collect();
    assert!(long.is_empty() && !text.contains("{{"), "{long:?} in {text}");
    let scratch = Scratch::new();
    let login =
        format!("[client]\nuser = root\nsocket = {}/socket\ndatabase = storebench\n", socket.display());
    scratch.write("records.cnf", login);
    for _ in 0..2 {
        let mut program = python::shown(&python, &text, &scratch, scratch.path());
        left::check_output(
            program
                .env("PGHOST", socket)
                .env("PGUSER", "storebench")
                .env("PGDATABASE", "postgres")
                .env("REDIS_URL", format!("unix://{}/socket", socket.display())),
            &text,
        );
        left::assert_left(server, &text);
    }
}

/// Servers with settings that are not as shipped.
const SERVERS: [(&str, &[(&str, &str)]); 5] = [
    ("postgres", &[("max_wal_size", "67108864")]),
    ("mariadb", &[("engine", "innodb"), ("innodb_buffer_pool_size", "33554432")]),
    ("mariadb", &[("engine", "rocksdb"), ("rocksdb_block_cache_size", "33554432")]),
    ("etcd", &[("snapshot-count", "5000")]),
    ("redis", &[("rdbcompression", "no")]),
];

#[test]
fn a_server_with_the_file_gives_the_same() {
    std::thread::scope(|scope| {
        for (name, settings) in SERVERS {
            scope.spawn(move || check(name, settings));
        }
    });
}
