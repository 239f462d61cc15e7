//! The workload `shop` on every engine with transactions, and on stores that lose what they acknowledged.

mod liar;

use storebench::STORES;
use storebench_core::workload::spec::TrialError;
use storebench_model::result::{Failure, Measurements};
use storebench_model::store::{SettingSource, StoreDef, StoreKind};

use crate::conformance::subject::is_installed;
use crate::tier;
use crate::trial::{Values, with_trial};
use liar::{LIES, Lie, lying};

/// Stores that can take part, and whose needs this machine has.
fn able_stores() -> impl Iterator<Item = &'static StoreDef> {
    let can_take_part = |store: &&StoreDef| {
        let capabilities = &store.capabilities;
        store.open.is_ok()
            && (capabilities.sql || capabilities.order && capabilities.transactions)
            && store.kind != StoreKind::Harness
    };
    STORES.iter().filter(can_take_part).filter(|store| tier::asks_for(store) && is_installed(store))
}

/// A setting by which a store is another.
type ChosenSetting = Option<(&'static str, &'static str)>;

/// A store, and again with each setting.
fn with_settings(store: &'static StoreDef) -> Vec<(&'static StoreDef, ChosenSetting)> {
    match store.name {
        "mariadb" => {
            ["innodb", "rocksdb"].into_iter().map(|engine| (store, Some(("engine", engine)))).collect()
        }
        _ => vec![(store, None)],
    }
}

fn trial(
    store: StoreDef,
    axes: Values<'_>,
    parameters: Values<'_>,
    setting: ChosenSetting,
) -> Result<Measurements, TrialError> {
    let axes = [&[("data_size", "64KiB"), ("guarantee", "default")][..], axes].concat();
    let (folder, settings) = (tempfile::tempdir().unwrap(), Vec::from_iter(setting));
    with_trial("shop", store, &folder, [&axes, parameters, &settings], |trial| {
        (trial.spec.workload.def().run)(trial)
    })
}

#[test]
fn every_store_with_transactions_keeps_all_of_them() {
    for (store, setting) in able_stores().flat_map(with_settings) {
        for (threads, index, order) in
            [("1", "customer", "sorted"), ("3", "customer", "unsorted"), ("2", "none", "sorted")]
        {
            let context = format!("{} {setting:?}, {threads} threads, index {index}, {order}", store.name);
            let axes = [("threads", threads), ("index", index), ("load_order", order)];
            let measured = trial(store.clone(), &axes, &[("operations", "120")], setting)
                .unwrap_or_else(|error| panic!("{context}: {error:?}"));
            let operation =
                |name: &str| measured.operations.iter().find(|record| record.operation == name).unwrap();
            assert_eq!(operation("overall").count, 120, "{context}");
            assert_eq!(operation("overall").epochs.len(), 1, "{context}");
            let bought = operation("buy").count;
            assert!(bought.abs_diff(60) < 9, "{context}: {bought}");
            let audit = measured.audit.unwrap();
            let rows = measured.load.records + bought;
            assert_eq!((audit.records, audit.read_back, audit.reopened), (rows, rows, 2), "{context}");
            if store.kind == StoreKind::Server {
                let isolation = measured
                    .settings
                    .iter()
                    .find(|setting| setting.name.ends_with("transaction_isolation"))
                    .unwrap();
                let level = isolation.value.to_lowercase().replace('-', " ");
                assert_eq!((level.as_str(), isolation.source), ("read committed", SettingSource::ReadBack));
            }
            assert!(measured.load.store_ns > 0 && operation("orders").value_bytes > 0, "{context}");
        }
    }
}

#[test]
fn at_least_one_store_of_each_side_takes_part() {
    let able: Vec<&str> = able_stores().map(|store| store.name).collect();
    let built = |name: &str| STORES.iter().any(|store| store.name == name && store.open.is_ok());
    for name in ["sqlite", "lmdb", "libmdbx", "redb", "sled"] {
        assert!(!built(name) || able.contains(&name), "{name} is not among {able:?}");
    }
}

#[test]
fn what_a_store_loses_or_tears_is_found() {
    for name in ["sqlite", "lmdb"] {
        let store = STORES.iter().find(|store| store.name == name).unwrap();
        if store.open.is_err() {
            println!("skipped: this build has no {name}");
            continue;
        }
        for (lie, parameters, complaint) in LIES {
            let is_honest = *lie == Lie::Nothing || *lie == Lie::LosesEntry && store.capabilities.sql;
            let parameters: Vec<(&str, &str)> =
                parameters.iter().copied().chain([("operations", "200")]).collect();
            let result = trial(lying(store, *lie), &[], &parameters, None);
            match result {
                Ok(_) if is_honest => {}
                Err(TrialError::Failed(stop)) if !is_honest => {
                    assert_eq!(stop.failure, Failure::WrongData, "{name} {lie:?}: {}", stop.message);
                    assert!(stop.message.contains(complaint), "{name} {lie:?}: {}", stop.message);
                }
                other => panic!("{name} {lie:?}: {other:?}"),
            }
        }
    }
}
