//! Whole runs, undisturbed and disturbed.

use storebench_core::cell::Background;
use storebench_core::error::Exit;
use storebench_core::result::TrialResult;

use super::support::SMALL;
use crate::cli::support::Scratch;

#[test]
fn a_run_with_and_without_loads_shows_what_they_cost() {
    let scratch = Scratch::new();
    let arguments = "--store memory,flat-folder --operations 50 --background none,cpu,disk:1MiB/s --trials 2";
    let said = scratch.storebench(&format!("{SMALL} {arguments}")).ends(Exit::Success);
    scratch.assert_nothing_left();
    let run = scratch.results();
    assert_eq!(run.trials.len(), 2 * 3 * 2);
    for trial in &run.trials {
        check(trial);
    }
    let files = |load: Background| {
        let trials = run.trials.iter().filter(|trial| trial.cell.store() == "flat-folder");
        let of_load = trials.filter(|trial| trial.cell.background() == load);
        of_load.map(|trial| trial.measured.as_ref().unwrap().disk.files).collect::<Vec<_>>()
    };
    assert_eq!(
        files(Background::None),
        files(Background::Disk(1 << 20)),
        "the load's file is not the store's"
    );
    let shown = said.out;
    assert!(shown.contains("What a load in the background costs"), "{shown}");
    assert!(shown.contains("background disk:1MiB/s") && shown.contains("background cpu"), "{shown}");
}

fn check(trial: &TrialResult) {
    match (trial.cell.background(), &trial.background) {
        (Background::None, report) => assert_eq!(*report, None),
        (load, Some(report)) => {
            let unit = if load == Background::Cpu(1) { "CPU seconds" } else { "bytes" };
            assert_eq!(report.unit, unit);
            assert!(report.progress > 0.0 && report.at_work_share >= 0.9, "{report:?}");
            assert!(report.at_work_share <= 1.0, "{report:?}");
        }
        (_, None) => panic!("nothing is known of the load: {trial:?}"),
    }
}

#[test]
fn nonsense_is_refused_with_what_can_be_said() {
    let scratch = Scratch::new();
    for load in ["gpu", "cpu:0", "disk:1KiB/s", "memory:95%"] {
        scratch
            .storebench(&format!("{SMALL} --background {load}"))
            .complains(Exit::BadValue, &[load, "disk:50MiB/s", "memory:25%"]);
    }
}
