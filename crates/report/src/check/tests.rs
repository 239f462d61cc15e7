//! Sound runs, and each way to be unsound.

use storebench_core::measure::latency::Latencies;
use storebench_model::result::{Counters, OperationResult};
use storebench_model::stores::NULL;
use storebench_samples::{Sample, blocks};

use super::*;

/// Three trials of two stores, with latencies as a trial writes them.
fn sound() -> Run {
    let block = vec![Sample::new("lmdb"), Sample::new("redb").times(3.0)];
    let mut run = blocks("box", &[block.clone(), block.clone(), block]);
    for measured in run.trials.iter_mut().filter_map(|trial| trial.measured.as_mut()) {
        for operation in &mut measured.operations {
            let mut latencies = Latencies::new().unwrap();
            (0..1_000).for_each(|number| latencies.record(100 + number * number));
            (operation.count, operation.sum_ns, operation.wall_ns) =
                (latencies.count(), latencies.sum_ns(), latencies.sum_ns());
            operation.latency = latencies.summary().unwrap();
        }
    }
    run
}

fn checked(run: &Run, notes: &[String]) -> Vec<Group> {
    let merged = Merged::new(std::slice::from_ref(run), &[NULL]);
    all(&Report::new(&merged), Path::new("here"), notes)
}

/// The lines that are not ok, as `name: state: found`.
fn oddities(groups: &[Group]) -> Vec<String> {
    let lines = groups.iter().flat_map(|group| &group.lines).filter(|line| line.state != State::Ok);
    lines.map(|line| format!("{} {}: {}", line.name, line.state.name(), line.found)).collect()
}

fn after(change: impl Fn(&mut Run)) -> (bool, String) {
    let mut run = sound();
    change(&mut run);
    let groups = checked(&run, &[]);
    (is_sound(&groups), oddities(&groups).join("\n"))
}

#[test]
fn a_run_as_it_was_written_is_sound() {
    let (sound, odd) = after(|_| ());
    assert!(sound && !odd.contains(" no: "), "{odd}");
}

#[test]
fn a_figure_that_was_changed_does_not_follow() {
    fn first(run: &mut Run) -> &mut OperationResult {
        &mut run.trials[0].measured.as_mut().unwrap().operations[0]
    }
    type Change = (&'static str, fn(&mut Run));
    let changes: [Change; 12] = [
        ("p50_ns", |run| first(run).latency.p50_ns /= 2),
        ("p99_ns", |run| first(run).latency.p99_ns = 301),
        ("max_ns", |run| first(run).latency.max_ns = 80_000),
        ("min_ns", |run| first(run).latency.min_ns = 3),
        ("count", |run| first(run).count += 1),
        ("mean_ns", |run| first(run).latency.mean_ns *= 0.9),
        ("mean_ns", |run| first(run).sum_ns = first(run).sum_ns / 10 * 9),
        ("stdev_ns", |run| first(run).latency.stdev_ns *= 1.1),
        ("stdev_ns", |run| first(run).latency.stdev_ns = f64::NAN),
        ("harness_share", |run| first(run).harness_share = Some(1.5)),
        ("wall_ns", |run| {
            (first(run).harness_share, first(run).wall_ns) = (Some(0.0), first(run).sum_ns - 1)
        }),
        ("syncs", |run| {
            let calls = [("fsync".to_owned(), 3), ("msync".to_owned(), 4)].into();
            first(run).counters =
                Some(Counters { syncs: Some(8), syncs_by_call: calls, ..Counters::default() });
        }),
    ];
    for (name, change) in changes {
        let (sound, odd) = after(change);
        let expected = format!("lmdb/1B..1KiB/100..500/incompressible/process, block 0: {name} is");
        assert!(!sound && odd.contains(&expected), "{name}: {odd}");
    }
    let (sound, odd) = after(|run| first(run).latency.histogram = "AAAA".into());
    assert!(!sound && odd.contains("histogram"), "{odd}");
}

#[test]
fn a_trial_that_is_there_twice_is_told() {
    let (sound, odd) = after(|run| run.trials.push(run.trials[0].clone()));
    assert!(!sound && odd.contains("block 0, is there twice"), "{odd}");
}

#[test]
fn what_is_odd_about_the_files_is_no() {
    let groups = checked(&sound(), &["line 3 can't be read".to_owned()]);
    assert!(!is_sound(&groups) && oddities(&groups).join("\n").contains("results no: line 3 can't be read"));
}

#[test]
fn others_that_took_the_processors_make_figures_unsure_and_not_the_run_unsound() {
    let (sound, odd) =
        after(|run| run.trials.iter_mut().for_each(|trial| trial.others_processors = Some(99.0)));
    assert!(sound && odd.contains("other programs hint: Not judged, unless twice as fast, in 1 "), "{odd}");
    assert!(odd.contains("a quarter of a processor"), "{odd}");
    let (sound, odd) =
        after(|run| run.trials.iter_mut().for_each(|trial| trial.others_processors = Some(0.0)));
    assert!(sound && !odd.contains("other programs"), "{odd}");
    let (sound, odd) = after(|run| run.header.environment.load_1min = Some(64.0));
    assert!(sound && odd.contains("load hint: 64"), "{odd}");
}

#[test]
fn what_makes_figures_mean_less_is_a_hint() {
    let (sound, odd) = after(|run| {
        for trial in &mut run.trials {
            trial.measured.as_mut().unwrap().operations[0].harness_share = Some(0.75);
        }
    });
    assert!(sound && odd.contains("harness hint: took at most 75 % of the threads' time"), "{odd}");
    let (sound, odd) = after(|run| {
        run.header.command = ["--remote=me@board", "--data", "a @10KiB"].map(str::to_owned).into();
        run.header.plan = format!("clients = [\"you@alpha\"]\n{}", run.header.plan);
    });
    assert!(sound && odd.contains("names hint: run.json has --remote=me@board; you@alpha"), "{odd}");
    let one = blocks("box", &[vec![Sample::new("lmdb"), Sample::new("redb").times(3.0)]]);
    assert!(oddities(&checked(&one, &[])).join("\n").contains("candidates hint"));
}
