//! Published findings against real runs.

use serde_json::Value;
use storebench_core::error::Exit;
use storebench_host::plan;

use super::support::Scratch;

fn json(scratch: &Scratch) -> Value {
    let said = scratch.storebench("report latest --json").ends(Exit::Success);
    serde_json::from_str(&said.out).unwrap()
}

#[test]
fn every_claim_of_crud_is_checked_on_a_real_run() {
    let scratch = Scratch::in_memory();
    let study = "--store sqlite,leveldb,rocksdb,berkeleydb,flat-folder,nested-folder --records 100..200 \
                 --record-size 1B..1KiB,10KiB..12KiB --operations 10 --trials 1 --guarantee process";
    let said = scratch.storebench(&format!("run crud {study}")).ends(Exit::Success);
    let number = plan::find("crud").unwrap().claims.len();
    assert!(said.out.contains(&format!("of the {number} ")), "{said}");
    let document = json(&scratch);
    let claims = document["findings"][0]["claims"].as_array().unwrap();
    assert_eq!(claims.len(), number);
    let decided = |claim: &&Value| {
        let findings = claim["findings"].as_array().unwrap();
        findings.iter().any(|finding| finding["measured"].is_string())
    };
    // Claims about more records, two disks and a load can't be.
    assert!(claims.iter().filter(decided).count() >= 30, "{claims:#?}");
    for finding in claims.iter().flat_map(|claim| claim["findings"].as_array().unwrap()) {
        let checks: u64 = finding["checks"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        let missing = finding["missing"].as_array().unwrap();
        assert_eq!(checks > 0, missing.is_empty(), "{finding:#?}");
    }
}
