//! The program as its users meet it, held to its table of stores; all else that it says: cases.rs.

pub mod support;

use storebench::STORES;
use storebench_model::error::Exit;
use storebench_model::store::{Guarantee, StoreKind};

use self::support::{Scratch, TINY, assert_complete, outcomes};

/// The store that no study has unless it is named: most cells are too large for it.
const NAMED_ALONE: &str = "one-file";

#[test]
fn every_store_runs_at_every_guarantee_that_it_offers() {
    let scratch = Scratch::in_memory();
    let arguments = TINY.replace("--guarantee process", "--guarantee process,power,default");
    let output = scratch.storebench(&format!("run crud {arguments}")).ends(Exit::Success);
    let run = scratch.results();
    let built = || STORES.iter().filter(|store| store.runs_by_default() && store.name != NAMED_ALONE);
    let wanted = [Some(Guarantee::Process), Some(Guarantee::Power), None];
    let cells = built().flat_map(|store| wanted.map(|tier| store.resolve(tier))).flatten().count();
    assert_complete(&run, cells, 1);
    assert!(outcomes(&run).iter().all(|(_, outcome)| *outcome == "ok"), "{:?}", outcomes(&run));
    for trial in &run.trials {
        let store = STORES.iter().find(|store| store.name == trial.cell.store()).unwrap();
        let measured = trial.ok().unwrap();
        assert_eq!(Some(measured.guarantee), store.resolve(trial.cell.guarantee().tier()), "{}", store.name);
        assert_eq!(measured.store_version, (store.version)());
        // The build of an engine is known of each.
        let build = measured.store_build.as_ref();
        let assertions = build.and_then(|build| build.assertions);
        assert_eq!(assertions.is_some(), store.kind == StoreKind::Engine, "{}: {build:?}", store.name);
        assert_eq!(measured.operations.iter().map(|operation| operation.count).collect::<Vec<_>>(), [5; 4]);
        assert!(measured.disk.allocated_bytes > 0 && measured.stored.records == 25, "{}", store.name);
        assert!(
            measured.operations.iter().all(|operation| operation.latency.min_ns > 0 && operation.sum_ns > 0)
        );
    }
    scratch.assert_nothing_left();
    let run = scratch.only_run();
    let name = run.strip_prefix(scratch.path()).unwrap().display().to_string();
    for file in ["run.json", "results.jsonl", "report.html"] {
        assert!(output.err.contains(&format!("{name}/{file}")) && run.join(file).exists(), "{output}");
    }
    assert!(output.err.contains(&format!("storebench report {name} --table")), "{output}");
    let table = scratch.storebench("report latest --table").ends(Exit::Success).out;
    for store in built() {
        assert!(table.contains(store.name), "{} is in no table\n{table}", store.name);
    }
}

#[test]
fn stores_are_listed_with_what_they_can() {
    let output = Scratch::in_memory().storebench("stores").ends(Exit::Success);
    let head = output.out.lines().next().unwrap();
    for title in ["store", "kind", "version", "guarantees", "order", "sessions", "codec"] {
        assert!(head.contains(title), "{head}");
    }
    for store in STORES {
        let mut lines = output.out.lines();
        let line = lines.find(|line| line.split_whitespace().next() == Some(store.name)).unwrap();
        if store.open.is_err() {
            assert!(line.starts_with(&format!("{} is not built: ", store.name)), "{output}");
            continue;
        }
        assert!(line.contains(store.kind.name()), "{line}");
        let version = (store.version)();
        let version = version.trim_start_matches("Linux ").split('-').next().unwrap();
        assert!(line.split_whitespace().any(|word| word == version), "{line}");
        assert!(line.contains(&format!("{}*", store.shipped)), "{line}");
        assert!(store.offers.iter().all(|offer| line.contains(offer.guarantee.name())), "{line}");
    }
}
