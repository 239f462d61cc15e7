//! Whole runs, undisturbed and disturbed.

use storebench_core::cell::Background;
use storebench_core::result::TrialResult;

use super::support::Scratch;

#[test]
fn a_run_with_and_without_loads_shows_what_they_cost() {
    let scratch = Scratch::new();
    let arguments = "--store memory,flat-folder --operations 50 --background none,cpu,disk:1MiB/s --trials 2";
    let output = scratch.run(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    scratch.assert_nothing_runs();
    let run = scratch.results();
    assert_eq!(run.trials.len(), 2 * 3 * 2);
    for trial in &run.trials {
        check(trial);
    }
    let files = |load: Background| {
        let trials = run.trials.iter().filter(|trial| trial.cell.store == "flat-folder");
        let of_load = trials.filter(|trial| trial.cell.background == load);
        of_load.map(|trial| trial.measured.as_ref().unwrap().disk.files).collect::<Vec<_>>()
    };
    assert_eq!(
        files(Background::None),
        files(Background::Disk(1 << 20)),
        "the load's file is not the store's"
    );
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("What a load in the background costs"), "{shown}");
    assert!(shown.contains("background disk:1MiB/s") && shown.contains("background cpu"), "{shown}");
}

fn check(trial: &TrialResult) {
    match (trial.cell.background, &trial.background) {
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
        let output = scratch.run(&format!("--background {load}")).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("disk:50MiB/s") && said.contains("memory:25%"), "{said}");
    }
}
