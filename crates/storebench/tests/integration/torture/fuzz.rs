//! Every reader of files and values that others wrote, called with changed input: none panics. Input that once made one panic, or worse,
//! lies in tests/corpus with samples of what is right; a failure prints the shortest that there is.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::net::{Shutdown, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use storebench::STORES;
use storebench_core::measure::latency;
use storebench_core::trace::{ReaderOptions, Summary};
use storebench_core::workload::cut::step_progress::steps_of;
use storebench_core::workload::ycsb::dialect::belongs;
use storebench_core::workload::ycsb::file;
use storebench_core::workload::ycsb::property::Properties;
use storebench_figures::claims;
use storebench_host::folder;
use storebench_host::plan::Plan;
use storebench_host::saved_states;
use storebench_model::axis::Axis;
use storebench_model::result::BadState;
use storebench_model::sanitize;
use storebench_model::server::running::Address;
use storebench_model::units;
use tempfile::TempDir;

use super::mutations::mutate;
use super::tries_for_a_while;
use crate::cli::support::OWN;

const CASES: u32 = 300;

/// The samples of a reader; storebench's own studies are plans.
fn corpus(reader: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let samples = root.join("tests/corpus").join(reader);
    let folders = [samples].into_iter().chain((reader == "plan").then(|| root.join("../../studies")));
    let entries = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    assert!(!paths.is_empty(), "{reader} has no samples");
    paths.into_iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Calls a reader with its samples, and with what is made of them by a few changes; shrinks what makes it panic.
fn fuzz(reader: &str, read: impl Fn(&[u8])) {
    let samples = corpus(reader);
    samples.iter().for_each(|sample| read(sample));
    tries_for_a_while(1, |random| {
        let seed: [u8; 32] = std::array::from_fn(|_| random.u8(..));
        let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
        let changes = (0..samples.len(), prop::collection::vec(any::<u64>(), 0..6));
        let changed_texts = changes.prop_map(|(sample, changes)| {
            let mut text = samples[sample].clone();
            changes.into_iter().for_each(|seed| mutate(&mut text, &mut fastrand::Rng::with_seed(seed)));
            String::from_utf8_lossy(&text).into_owned()
        });
        let result = runner.run(&changed_texts, |text| {
            read(text.as_bytes());
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("put the input into tests/corpus/{reader}: {error}"));
    });
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn plans_are_read_or_refused() {
    fuzz("plan", |bytes| {
        let text = text(bytes);
        if let Ok(plan) = Plan::parse(&text, "plan.toml") {
            let _ = claims::plan_claims(&text, "plan.toml");
            // It is written into the header of its run, and read from there.
            let written = plan.to_toml().unwrap();
            assert!(Plan::parse(&written, "run.json").is_ok(), "{written}");
        }
    });
}

#[test]
fn machines_are_read_or_refused() {
    fuzz("machine", |bytes| {
        if let Ok(plan) = Plan::parse(&format!("{OWN}\n{}", text(bytes)), "plan.toml") {
            plan.axes.texts(Axis::MACHINE).iter().for_each(|name| drop(plan.machine(name)));
        }
    });
}

#[test]
fn results_are_read_or_refused() {
    let run = TempDir::new().unwrap();
    let header = corpus("header").remove(0);
    fs::write(run.path().join("run.json"), header).unwrap();
    fuzz("results", |bytes| {
        fs::write(run.path().join("results.jsonl"), bytes).unwrap();
        let Ok((run, _)) = folder::read_with_notes(run.path()) else { return };
        for measured in run.trials.iter().filter_map(|trial| trial.measured.as_ref()) {
            for operation in &measured.operations {
                let histogram = &operation.latency.histogram;
                let _ = (latency::decode(histogram), latency::occurrences(histogram));
            }
        }
    });
}

#[test]
fn states_after_power_cuts_are_restored_or_refused() {
    let folder = TempDir::new().unwrap();
    fuzz("state", |bytes| {
        // The state in one line, and the log of its disk.
        let (state, log) =
            bytes.split_at(bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len()));
        let zipped = fs::File::create(folder.path().join("state.gz")).unwrap();
        let mut zipped = GzEncoder::new(zipped, Compression::fast());
        zipped.write_all(log.get(1..).unwrap_or_default()).unwrap();
        zipped.finish().unwrap();
        let Ok(state) = serde_json::from_slice::<BadState>(state) else { return };
        steps_of(&state).into_iter().flatten().for_each(drop);
        let disk = tempfile::tempfile_in(folder.path()).unwrap();
        let _ = state.kept.map(|kept| saved_states::restore(folder.path(), &kept, &disk));
    });
}

#[test]
fn answers_of_servers_are_read_or_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    static ANSWER: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    std::thread::spawn(move || {
        for mut client in listener.incoming().map(Result::unwrap) {
            let answer = ANSWER.lock().unwrap().clone();
            // Whoever has heard enough goes.
            let _ = client.write_all(&answer).and_then(|()| client.shutdown(Shutdown::Write));
            let _ = std::io::copy(&mut client, &mut std::io::sink());
        }
    });
    fuzz("server", |bytes| {
        *ANSWER.lock().unwrap() = bytes.to_vec();
        for server in STORES.iter().filter_map(|store| store.server) {
            let url = format!("{}://{}@127.0.0.1:{port}", server.schemes[0], server.user.unwrap_or("me"));
            let complaint = (server.reach)(&url).map_or_else(|error| error.to_string(), |()| String::new());
            assert!(complaint.chars().count() < 1000, "{complaint}");
        }
    });
}

#[test]
fn headers_are_read_or_refused() {
    let run = TempDir::new().unwrap();
    fs::write(run.path().join("results.jsonl"), "").unwrap();
    fuzz("header", |bytes| {
        fs::write(run.path().join("run.json"), bytes).unwrap();
        let _ = folder::read_with_notes(run.path());
    });
}

#[test]
fn traces_are_read_or_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("trace");
    fuzz("trace", |bytes| {
        fs::write(&path, bytes).unwrap();
        let _ = Summary::read(&path, ReaderOptions::default(), &|| false);
    });
}

#[test]
fn properties_are_read_or_refused() {
    fuzz("properties", |bytes| {
        let mut properties = Properties::default();
        for line in file::read(&text(bytes)).unwrap_or_default() {
            let _ = belongs(&line.name, &line.value);
            let _ = properties.set(&line.name, &line.value);
        }
    });
}

/// No message repeats what could be a password.
#[test]
fn addresses_are_read_or_refused() {
    fuzz("address", |bytes| {
        for url in text(bytes).lines() {
            let address = Address::read(url, &["postgresql", "postgres"], None);
            if let Ok(address) = &address {
                assert!(!address.user.contains(':'), "{address:?}");
            }
            let complaint = address.map_or_else(|error| error, |_| String::new());
            assert!(!complaint.contains("geheim"), "{complaint}");
            let Some((scheme, _)) = url.split_once("://").filter(|(_, rest)| rest.contains('@')) else {
                continue;
            };
            let shown = sanitize::without_user(url);
            let shown = shown[scheme.len()..].strip_prefix("://...");
            // All up to the last `@` is left out.
            assert!(shown.is_some_and(|rest| rest.matches('@').count() <= 1), "{url}");
        }
    });
}

#[test]
fn values_of_every_axis_are_read_or_refused() {
    fuzz("value", |bytes| {
        for line in text(bytes).lines() {
            let read: BTreeMap<_, _> =
                Axis::all().into_iter().map(|axis| (axis.name(), axis.read(line).is_ok())).collect();
            assert!(!read.is_empty());
            let _ = (units::parse_count(line), units::parse_bytes(line), units::parse_duration(line));
        }
    });
}
