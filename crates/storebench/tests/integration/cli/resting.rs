//! The work that loading left is over before the first operation, unless that is to come at once.

use storebench_core::error::Exit;
use storebench_core::result::Measured;

use super::support::{Scratch, TINY};

/// The measurements of a store that has a second's work to do after it was loaded.
fn measured(study: &str, options: &str) -> Measured {
    let scratch = Scratch::new();
    scratch.faulty(&format!("run {study} --store compacts {options}")).ends(Exit::Success);
    scratch.results().trials.swap_remove(0).measured.unwrap()
}

/// The operations that ran into that work.
fn slowed(measured: &Measured) -> u64 {
    measured.statistics.iter().find(|one| one.name == "slowed").unwrap().value.parse().unwrap()
}

#[test]
fn operations_begin_when_the_store_is_at_rest_or_at_once() {
    let ycsb = "--workload A --records 20 --operations 20 --rounds 1 --guarantee process --trials 1";
    for (study, options) in [("crud", TINY), ("ycsb", ycsb)] {
        let rested = measured(study, options);
        let rest = rested.load.rest.unwrap();
        assert!(rest.at_rest, "{study}: {rest:?}");
        assert_eq!(slowed(&rested), 0, "{study}: {rest:?}");
        let at_once = measured(study, &format!("{options} --after-load at-once"));
        assert_eq!(at_once.load.rest, None, "{study}");
        assert!(slowed(&at_once) > 0, "{study}");
    }
}

#[test]
fn what_began_at_once_is_another_method() {
    let scratch = Scratch::new();
    for more in ["", "--after-load at-once"] {
        scratch.faulty(&format!("run crud --store flat-folder,memory {TINY} {more}")).ends(Exit::Success);
    }
    let runs: Vec<String> = scratch.runs().iter().map(|run| run.display().to_string()).collect();
    let report = scratch.faulty(&format!("report {}", runs.join(" "))).ends(Exit::Success).out;
    assert!(report.contains("after_load=at-once") && report.contains("after_load=rest"), "{report}");
}
