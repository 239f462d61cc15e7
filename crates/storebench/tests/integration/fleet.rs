//! A plan in parts, on several machines: each part resumes by itself, and what is merged is what one run would have been.

mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use storebench::STORES;
use storebench_core::cell::Axis;
use storebench_core::error::Exit;
use storebench_host::folder;
use storebench_host::plan::{self, Plan};
use storebench_host::run::Run;
use storebench_host::schedule::{self, LocationRoom};
use storebench_host::shard::Split;
use storebench_report::layout::Layout;

use crate::cli::support::{Said, Scratch, assert_complete, wait_for};

/// Four positions, at each of which three stores meet under two guarantees, of which each offers one or both.
const PLAN: &str = "run crud --store memory,one-file,flat-folder --records 20,30 --record-size 1B..1KiB,1KiB..2KiB \
    --data incompressible --guarantee none,process --operations 5 --trials 2 --timeout 10m --hardware box";
const BLOCKS: u32 = 2;

/// Runs the plan, or a part of it, into a separate directory.
fn run(scratch: &Scratch, out: &str, more: &str) -> PathBuf {
    scratch.storebench(&format!("{PLAN} --out {out} {more}")).ends(Exit::Success);
    only_run_in(&scratch.join(out))
}

fn only_run_in(out: &Path) -> PathBuf {
    let folders = fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path());
    let [run] = folders.filter(|path| path.join("run.json").exists()).collect::<Vec<_>>().try_into().unwrap();
    run
}

fn read(path: &Path) -> Run {
    folder::read(path).unwrap()
}

fn merge(scratch: &Scratch, runs: &[&PathBuf], out: &str) -> Said {
    let runs: Vec<String> = runs.iter().map(|run| run.display().to_string()).collect();
    scratch.storebench(&format!("merge {} --out {out}", runs.join(" ")))
}

/// Every report that is made of a run, but for the name of its folder.
fn reports(scratch: &Scratch, run: &str) -> Vec<String> {
    let forms = ["", "--table", "--json", "--csv", "--csv-section weakest", "--html -"];
    let report = |form| scratch.storebench(&format!("report {run} {form}")).ends(Exit::Success).out;
    forms.map(report).into()
}

/// The parts of a run that was made whole: each has the trials of its cells, and the header of a part that was run.
fn carve_parts(scratch: &Scratch, whole: &Path, parts: u32) -> Vec<PathBuf> {
    let whole = read(whole);
    let carve = |number: u32| {
        let shard = format!("{number}/{parts}");
        let out = format!("real-{number}");
        let part_header = read(&run(scratch, &out, &format!("--shard {shard}"))).header;
        let mut header = whole.header.clone();
        header.shard = part_header.shard;
        let left_out: BTreeSet<String> = part_header.left_out.iter().map(|left| left.cell.id()).collect();
        header.left_out.retain(|left| left_out.contains(&left.cell.id()));
        header.command.extend(["--shard".to_owned(), shard]);
        if number > 1 {
            header.started = format!("2999-01-0{number}T00:00:00Z");
        }
        let folder = scratch.join(&format!("carved-{number}"));
        let part_run = read(&only_run_in(&scratch.join(&out)));
        let part_cells: BTreeSet<String> = part_run.trials.iter().map(|trial| trial.cell.id()).collect();
        let mut run_folder = folder::RunFolder::create_at(&folder, &header).unwrap();
        let trials: Vec<_> =
            whole.trials.iter().filter(|trial| part_cells.contains(&trial.cell.id())).cloned().collect();
        run_folder.append_all(&trials).unwrap();
        folder
    };
    (1..=parts).map(carve).collect()
}

#[test]
fn parts_of_one_machine_are_to_the_byte_what_the_run_of_all_is_in_any_order() {
    let scratch = Scratch::in_memory();
    let whole = run(&scratch, "whole", "");
    assert!(!read(&whole).header.left_out.is_empty());
    let parts = carve_parts(&scratch, &whole, 3);
    let [a, b, c] = [0, 1, 2].map(|index| &parts[index]);
    let output = merge(&scratch, &[a, b, c], "one").ends(Exit::Success);
    assert!(output.err.contains("the whole plan, ") && !output.err.contains("missing"), "{output}");
    merge(&scratch, &[c, a, b], "other").ends(Exit::Success);
    merge(&scratch, &[c, a], "two").ends(Exit::Success);
    merge(&scratch, &[&scratch.join("two"), b], "again").ends(Exit::Success);
    assert_eq!(read(&scratch.join("one")), read(&whole));
    for merged in ["other", "again"] {
        for file in ["run.json", "results.jsonl"] {
            let bytes = |folder: &str| fs::read(scratch.join(folder).join(file)).unwrap();
            assert!(bytes("one") == bytes(merged), "{merged}: {file}");
        }
    }
    let whole = reports(&scratch, &whole.display().to_string());
    assert!(reports(&scratch, "one") == whole && reports(&scratch, "again") == whole);
}

#[test]
fn what_parts_have_run_is_the_whole_each_cell_once() {
    let scratch = Scratch::in_memory();
    let parts = [1, 2].map(|part| run(&scratch, &format!("part-{part}"), &format!("--shard {part}/2")));
    let [one, two] = [0, 1].map(|index| read(&parts[index]));
    let cells = |run: &Run| run.trials.iter().map(|trial| trial.cell.id()).collect::<BTreeSet<_>>();
    assert!(cells(&one).is_disjoint(&cells(&two)));
    assert_complete(&one, cells(&one).len(), BLOCKS);
    let output = scratch.storebench(&format!("report {}", parts[1].display())).ends(Exit::Success);
    assert!(output.out.contains("This run has part 2/2 of the plan alone, measured on box."), "{output}");
    merge(&scratch, &[&parts[0], &parts[1]], "all").ends(Exit::Success);
    let merged = read(&scratch.join("all"));
    assert_complete(&merged, cells(&one).len() + cells(&two).len(), BLOCKS);
    assert_eq!(merged.header.shard, None);
    let positions: Vec<u64> = merged.trials.iter().map(|trial| trial.position).collect();
    assert_eq!(positions, (0..merged.trials.len() as u64).collect::<Vec<_>>());
    let blocks: Vec<u32> = merged.trials.iter().map(|trial| trial.block).collect();
    assert!(blocks.is_sorted(), "{blocks:?}");
    // Measurements stay as they were.
    for trial in one.trials.iter().chain(&two.trials) {
        let merged_trial =
            merged.trials.iter().find(|other| other.cell == trial.cell && other.block == trial.block);
        let merged_trial = merged_trial.unwrap();
        assert_eq!(
            storebench_core::result::TrialResult { position: trial.position, ..merged_trial.clone() },
            *trial
        );
    }
    let report = scratch.storebench(&format!("report all {}", parts[0].display()));
    report.complains(Exit::BadValue, &["hold the same trials"]);
}

#[test]
fn a_part_that_was_killed_is_resumed_by_the_same_command() {
    let scratch = Scratch::in_memory();
    let command = format!("{PLAN} --trials 6 --shard 1/2").replace("--trials 2 ", "");
    let started = scratch.start(crate::cli::support::STOREBENCH, &command);
    wait_for("two trials", || {
        scratch.runs().first().is_some_and(|run| folder::read(run).is_ok_and(|run| run.trials.len() >= 2))
    });
    started.signal("KILL");
    started.end();
    wait_for("its trial to end", || scratch.processes().is_empty());
    let before = scratch.results();
    let output = scratch.storebench(&command).ends(Exit::Success);
    assert!(output.err.contains("part 1/2 is resumed, in storebench-runs/crud-part-1-2-"), "{output}");
    let run = scratch.results();
    let cells: BTreeSet<_> = run.trials.iter().map(|trial| trial.cell.id()).collect();
    assert_complete(&run, cells.len(), 6);
    assert_eq!(run.trials[..before.trials.len()], before.trials, "what had ended is not run again");
    let output = scratch.storebench(&command).ends(Exit::Success);
    assert!(output.err.contains("part 1/2 is finished, in"), "{output}");
    assert_eq!(scratch.results(), run);
    // Another part, another plan and another machine are separate runs.
    for (number, other) in [
        command.replace("1/2", "2/2"),
        command.replace("--operations 5", "--operations 6"),
        command.replace("--hardware box", "--hardware other"),
    ]
    .into_iter()
    .enumerate()
    {
        scratch.storebench(&other).ends(Exit::Success);
        assert_eq!(scratch.runs().len(), number + 2);
    }
}

#[test]
fn all_that_meets_in_a_report_is_in_one_part() {
    let scratch = Scratch::in_memory();
    let sample = read(&run(&scratch, "part-1", "--shard 1/5"));
    let mut plans: Vec<Plan> = plan::STUDIES.iter().map(|study| plan::find(study.name).unwrap()).collect();
    let mut transposed = plan::find("crud").unwrap();
    (transposed.compare, transposed.rows) = (vec![Axis::DATA], vec![Axis::STORE]);
    plans.push(transposed);
    for plan in plans {
        let rooms = [LocationRoom::unbounded("here"), LocationRoom::unbounded("ssd")];
        let split = Split::new(&plan, STORES, &rooms, 7).unwrap();
        let (cells, _) = schedule::cells(&plan, STORES, &rooms, &|_| None).unwrap();
        let mut sample = sample.clone();
        sample.header.plan = plan.to_toml().unwrap();
        let layout = Layout::from_runs([&sample]);
        let mut parts: BTreeMap<String, BTreeSet<Option<u32>>> = BTreeMap::new();
        for cell in &cells {
            parts.entry(layout.position(cell).to_string()).or_default().insert(split.part_of(cell));
        }
        let split_positions: Vec<_> = parts.iter().filter(|(_, parts)| parts.len() > 1).collect();
        assert!(split_positions.is_empty(), "{}: {split_positions:?}", plan.name);
    }
}
