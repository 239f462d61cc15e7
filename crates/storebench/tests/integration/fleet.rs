//! A plan in parts, on several machines: each part resumes by itself, and what is merged is what one run would have been.

mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use storebench::STORES;
use storebench_core::cell::Axis;
use storebench_core::error::Exit;
use storebench_core::result::Run;
use storebench_host::folder;
use storebench_host::plan::{self, Plan};
use storebench_host::schedule::{self, Room};
use storebench_host::shard::Split;
use storebench_report::layout::Layout;

use crate::cli::support::{Said, Scratch, assert_complete, wait_for};

/// Four positions, at each of which three stores meet under two guarantees, of which each offers one or both.
const PLAN: &str = "run crud --store memory,one-file,flat-folder --records 20,30 --record-size 1B..1KiB,1KiB..2KiB \
    --data incompressible --guarantee none,process --operations 5 --trials 2 --timeout 60s --hardware box";
const BLOCKS: u32 = 2;

/// Runs the plan, or a part of it, into a directory of its own.
fn run(scratch: &Scratch, out: &str, more: &str) -> PathBuf {
    scratch.storebench(&format!("{PLAN} --out {out} {more}")).ends(Exit::Success);
    only(&scratch.join(out))
}

/// The only run in a directory.
fn only(out: &Path) -> PathBuf {
    let folders = fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path());
    let [run] = folders.filter(|path| path.join("run.json").exists()).collect::<Vec<_>>().try_into().unwrap();
    run
}

fn read(path: &Path) -> Run {
    folder::read(path).unwrap()
}

/// Changes a run's header.
fn change(run: &Path, change: impl FnOnce(&mut Value)) {
    let path = run.join("run.json");
    let mut header: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    change(&mut header);
    fs::write(path, serde_json::to_string_pretty(&header).unwrap()).unwrap();
}

fn merge(scratch: &Scratch, runs: &[&PathBuf], out: &str) -> Said {
    let runs: Vec<String> = runs.iter().map(|run| run.display().to_string()).collect();
    scratch.storebench(&format!("merge {} --out {out}", runs.join(" ")))
}

/// Every report that is made of a run, but for the name of its folder.
fn reports(scratch: &Scratch, run: &str) -> Vec<String> {
    let forms = ["", "--table", "--json", "--csv", "--csv-section weakest", "--html -"];
    let said = |form| scratch.storebench(&format!("report {run} {form}")).ends(Exit::Success).out;
    forms.map(said).into()
}

/// The parts of a run that was made whole: each has the trials of its own cells, and the header of a part that was run.
fn carved(scratch: &Scratch, whole: &Path, of: u32) -> Vec<PathBuf> {
    let all = read(whole);
    let part = |number: u32| {
        let shard = format!("{number}/{of}");
        let out = format!("real-{number}");
        let part = read(&run(scratch, &out, &format!("--shard {shard}"))).header;
        let mut header = all.header.clone();
        header.shard = part.shard;
        let left_out: BTreeSet<String> = part.left_out.iter().map(|left| left.cell.id()).collect();
        header.left_out.retain(|left| left_out.contains(&left.cell.id()));
        header.command.extend(["--shard".to_owned(), shard]);
        if number > 1 {
            header.started = format!("2999-01-0{number}T00:00:00Z");
        }
        let folder = scratch.join(&format!("carved-{number}"));
        let own = read(&only(&scratch.join(&out)));
        let own: BTreeSet<String> = own.trials.iter().map(|trial| trial.cell.id()).collect();
        let mut made = folder::RunFolder::create_at(&folder, &header).unwrap();
        let trials: Vec<_> =
            all.trials.iter().filter(|trial| own.contains(&trial.cell.id())).cloned().collect();
        made.append_all(&trials).unwrap();
        folder
    };
    (1..=of).map(part).collect()
}

#[test]
fn parts_of_one_machine_are_to_the_byte_what_the_run_of_all_is_in_any_order() {
    let scratch = Scratch::in_memory();
    let whole = run(&scratch, "whole", "");
    assert!(!read(&whole).header.left_out.is_empty());
    let parts = carved(&scratch, &whole, 3);
    let [a, b, c] = [0, 1, 2].map(|index| &parts[index]);
    let said = merge(&scratch, &[a, b, c], "one").ends(Exit::Success);
    assert!(said.err.contains("the whole plan, ") && !said.err.contains("missing"), "{said}");
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
    let said = scratch.storebench(&format!("report {}", parts[1].display())).ends(Exit::Success);
    assert!(said.out.contains("This run has part 2/2 of the plan alone, measured on box."), "{said}");
    merge(&scratch, &[&parts[0], &parts[1]], "all").ends(Exit::Success);
    let all = read(&scratch.join("all"));
    assert_complete(&all, cells(&one).len() + cells(&two).len(), BLOCKS);
    assert_eq!(all.header.shard, None);
    let positions: Vec<u64> = all.trials.iter().map(|trial| trial.position).collect();
    assert_eq!(positions, (0..all.trials.len() as u64).collect::<Vec<_>>());
    let blocks: Vec<u32> = all.trials.iter().map(|trial| trial.block).collect();
    assert!(blocks.is_sorted(), "{blocks:?}");
    // Measurements stay as they were.
    for trial in one.trials.iter().chain(&two.trials) {
        let there = all.trials.iter().find(|other| other.cell == trial.cell && other.block == trial.block);
        let there = there.unwrap();
        assert_eq!(
            storebench_core::result::TrialResult { position: trial.position, ..there.clone() },
            *trial
        );
    }
    let beside = scratch.storebench(&format!("report all {}", parts[0].display()));
    beside.complains(Exit::BadValue, &["hold the same trials"]);
}

#[test]
fn logs_of_failed_trials_follow_them() {
    let scratch = Scratch::in_memory();
    let study = "run crud --store lies,null --records 20,30 --record-size 1B..1KiB --data incompressible \
        --guarantee default --operations 5 --trials 1 --timeout 60s --hardware box";
    for part in [1, 2] {
        scratch.faulty(&format!("{study} --out part-{part} --shard {part}/2")).ends(Exit::TrialsFailed);
    }
    let parts = [1, 2].map(|part| only(&scratch.join(&format!("part-{part}"))));
    let runs: Vec<String> = parts.iter().map(|run| run.display().to_string()).collect();
    scratch.faulty(&format!("merge {} --out all", runs.join(" "))).ends(Exit::Success);
    let all = read(&scratch.join("all"));
    let mut seen = BTreeSet::new();
    for trial in &all.trials {
        let storebench_core::result::Outcome::Failed { log, .. } = &trial.outcome else { continue };
        assert_eq!(*log, format!("logs/{:06}.log", trial.position));
        let part = parts.iter().find_map(|part| {
            let there = read(part).trials.into_iter().find(|other| other.cell == trial.cell)?;
            Some(part.join(format!("logs/{:06}.log", there.position)))
        });
        assert_eq!(fs::read(scratch.join("all").join(log)).unwrap(), fs::read(part.unwrap()).unwrap());
        seen.insert(log.clone());
    }
    assert_eq!(seen.len(), 2, "{seen:?}");
}

#[test]
fn machines_stay_apart() {
    let scratch = Scratch::in_memory();
    let parts = [1, 2, 3].map(|part| run(&scratch, &format!("part-{part}"), &format!("--shard {part}/3")));
    change(&parts[1], |header| header["hardware"] = "other/box".into());
    let said = merge(&scratch, &[&parts[0], &parts[1], &parts[2]], "all").ends(Exit::Success);
    assert!(said.err.contains("machine-box: parts 1, 3 of 3, ") && !said.err.contains("missing"), "{said}");
    let names: BTreeSet<_> =
        fs::read_dir(scratch.join("all")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["machine-box".into(), "machine-other_box".into()].into());
    let said = scratch.storebench("report all").ends(Exit::Success);
    for words in
        ["Run 0 has parts 1, 3 of 3 of the plan alone, measured on box.", "part 2/3 of the plan", "other/box"]
    {
        assert!(said.out.contains(words), "{words}: {said}");
    }
    let json: Value = serde_json::from_str(&scratch.storebench("report all --json").out).unwrap();
    let mut positions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for matrix in json["matrices"].as_array().unwrap() {
        let hardware = matrix["hardware"].as_str().unwrap();
        positions.entry(hardware.into()).or_default().insert(matrix["title"].to_string());
    }
    assert_eq!(positions.keys().collect::<Vec<_>>(), ["box", "other/box"]);
    // The reader treats them as the runs that they are, whatever the order.
    let apart =
        scratch.storebench("report all/machine-box all/machine-other_box --table").ends(Exit::Success);
    assert_eq!(scratch.storebench("report all --table").out, apart.out);
    merge(&scratch, &[&parts[2], &parts[1], &parts[0]], "again").ends(Exit::Success);
    assert_eq!(reports(&scratch, "again"), reports(&scratch, "all"));
    scratch
        .storebench("compare all all")
        .complains(Exit::NotStorebench, &["all holds several runs", "machine-box"]);
}

#[test]
fn what_differs_is_refused_by_name() {
    let scratch = Scratch::in_memory();
    let one = run(&scratch, "part-1", "--shard 1/2");
    let whole = run(&scratch, "whole", "");
    merge(&scratch, &[&one, &whole], "all").complains(Exit::BadValue, &["has a whole plan", "--shard"]);
    let stores = "--store memory,one-file,flat-folder";
    for (number, was, is, words) in [
        (1, "--trials 2", "--trials 2 --seed 7", ["plan, seed: ", "7 in"]),
        (2, "--trials 2", "--trials 3", ["plan, trials: 2 in", "3 in"]),
        (3, stores, "--store memory,one-file", ["store flat-folder: ", "takes no part"]),
    ] {
        let out = format!("unlike-{number}");
        scratch.storebench(&format!("{} --out {out} --shard 2/2", PLAN.replace(was, is))).ends(Exit::Success);
        merge(&scratch, &[&one, &only(&scratch.join(&out))], "all").complains(Exit::Unlike, &words);
    }
    let two = run(&scratch, "part-2", "--shard 2/2");
    let three = run(&scratch, "part-3", "--shard 3/3");
    merge(&scratch, &[&one, &three], "all").complains(Exit::Unlike, &["number of parts: 2 in"]);
    for (key, value, word) in [
        ("storebench", Value::from("0.0.9"), "storebench: "),
        (
            "shard",
            serde_json::json!({"parts": [2], "of": 2, "combinations": 9, "split": "x"}),
            "split of the plan",
        ),
    ] {
        let whole = fs::read(two.join("run.json")).unwrap();
        change(&two, |header| header[key] = value);
        merge(&scratch, &[&one, &two], "all").complains(Exit::Unlike, &[word]);
        fs::write(two.join("run.json"), whole).unwrap();
    }
    // Two machines that are alike in all but their identity, and two that are not.
    for (part, id) in [(&one, "a1"), (&two, "b7")] {
        change(part, |header| header["environment"]["machine_id"] = id.into());
    }
    let words = ["two machines are called box", "identity: a1 in", "b7 in"];
    merge(&scratch, &[&one, &two], "all").complains(Exit::Unlike, &words);
    change(&two, |header| {
        header["environment"]["machine_id"] = "a1".into();
        header["environment"]["cores"] = 4096.into();
    });
    let words = ["two machines are called box", "processors: "];
    merge(&scratch, &[&one, &two], "all").complains(Exit::Unlike, &words);
    assert!(!scratch.join("all").exists());
    let left: Vec<_> =
        scratch.contents().into_keys().filter(|path| path.to_string_lossy().contains("merging")).collect();
    assert!(left.is_empty(), "{left:?}");
    fs::create_dir(scratch.join("there")).unwrap();
    merge(&scratch, &[&one], "there").ends(Exit::Success);
    merge(&scratch, &[&one], "there").complains(Exit::BadValue, &["already exists"]);
}

#[test]
fn a_part_that_is_there_twice_is_a_copy_or_an_error() {
    let scratch = Scratch::in_memory();
    let one = run(&scratch, "part-1", "--shard 1/2");
    let again = run(&scratch, "again", "--shard 1/2");
    merge(&scratch, &[&one, &again], "all")
        .complains(Exit::BadValue, &["the same part", "different results"]);
    let copy = scratch.join("copy");
    fs::create_dir(&copy).unwrap();
    for file in ["run.json", "results.jsonl"] {
        fs::copy(one.join(file), copy.join(file)).unwrap();
    }
    let said = merge(&scratch, &[&one, &copy], "all").ends(Exit::Success);
    assert!(said.err.contains("is a copy of"), "{said}");
    let third = run(&scratch, "third", "--shard 1/3");
    merge(&scratch, &[&one, &third], "thirds").complains(Exit::Unlike, &["number of parts: 2 in", "3 in"]);
    // Results of another part among its own, and parts that no plan has.
    let two = run(&scratch, "part-2", "--shard 2/2");
    let theirs = fs::read_to_string(two.join("results.jsonl")).unwrap();
    let own = fs::read_to_string(copy.join("results.jsonl")).unwrap();
    fs::write(copy.join("results.jsonl"), own + theirs.lines().next().unwrap() + "\n").unwrap();
    merge(&scratch, &[&copy], "odd").complains(Exit::NotStorebench, &["is part 1/2", "which is in part 2"]);
    fs::copy(one.join("run.json"), copy.join("run.json")).unwrap();
    change(&copy, |header| header["shard"]["of"] = u32::MAX.into());
    merge(&scratch, &[&copy], "odd").complains(Exit::NotStorebench, &["parts that no plan has"]);
    assert_eq!(read(&scratch.join("all")).trials.len(), read(&one).trials.len());
}

#[test]
fn what_is_missing_is_told_and_the_rest_is_merged() {
    let scratch = Scratch::in_memory();
    let [one, three] =
        [1, 3].map(|part| run(&scratch, &format!("part-{part}"), &format!("--shard {part}/3")));
    let results = three.join("results.jsonl");
    let text = fs::read_to_string(&results).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(&results, lines[..lines.len() - 1].concat()).unwrap();
    let said = merge(&scratch, &[&one, &three], "some").ends(Exit::Success);
    assert!(said.err.contains("missing: part 2/3: ") && said.err.contains("memory/1"), "{said}");
    assert!(said.err.contains("missing: trials of part 3/3") && said.err.contains("1 cell ("), "{said}");
    let report = scratch.storebench("report some").ends(Exit::Success);
    assert!(report.out.contains("This run has parts 1, 3 of 3 of the plan alone"), "{report}");
    assert!(report.out.contains("the run is incomplete"), "{report}");
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
    let said = scratch.storebench(&command).ends(Exit::Success);
    assert!(said.err.contains("part 1/2 is resumed, in storebench-runs/crud-part-1-2-"), "{said}");
    let run = scratch.results();
    let cells: BTreeSet<_> = run.trials.iter().map(|trial| trial.cell.id()).collect();
    assert_complete(&run, cells.len(), 6);
    assert_eq!(run.trials[..before.trials.len()], before.trials, "what had ended is not run again");
    let said = scratch.storebench(&command).ends(Exit::Success);
    assert!(said.err.contains("part 1/2 is finished, in"), "{said}");
    assert_eq!(scratch.results(), run);
    // Another part, another plan and another machine are runs of their own.
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
fn a_part_without_work_ends_well() {
    let scratch = Scratch::in_memory();
    for _ in 0..2 {
        let said = scratch.storebench(&format!("{PLAN} --shard 5/5")).ends(Exit::Success);
        assert!(said.err.contains("part 5/5 has nothing to measure"), "{said}");
        assert!(read(&scratch.only_run()).trials.is_empty());
    }
    scratch.storebench("report latest").complains(Exit::Nothing, &["nothing to measure in this part"]);
    scratch.storebench("run --resume latest").ends(Exit::Success);
    let one = run(&scratch, "part-1", "--shard 1/5");
    merge(&scratch, &[&one, &scratch.only_run()], "with").ends(Exit::Success);
    let said = merge(&scratch, &[&one], "without").ends(Exit::Success);
    assert!(said.err.contains("missing: part 2/5") && !said.err.contains("part 5/5"), "{said}");
    let listed = scratch.storebench(&format!("{PLAN} --shard 5/5 --dry-run")).ends(Exit::Success);
    assert!(listed.out.contains("part 5/5: 0 of 4 positions, 0.0 %"), "{listed}");
}

#[test]
fn a_part_is_listed_and_one_that_is_none_is_an_error() {
    let scratch = Scratch::in_memory();
    let said = scratch.storebench(&format!("{PLAN} --shard 1/2 --dry-run")).ends(Exit::Success);
    assert!(said.out.starts_with("part 1/2: 2 of 4 positions, "), "{said}");
    assert!(scratch.runs().is_empty());
    for (shard, word) in [("0/3", "numbered from 1"), ("4/3", "the last is 3/3"), ("half", "like 3/8")] {
        scratch.storebench(&format!("run crud --shard {shard}")).complains(Exit::BadValue, &[word]);
    }
    scratch.storebench("run --resume latest --shard 1/2").complains(Exit::Usage, &["--shard"]);
    scratch.storebench("run crud --remote board --shard 1/2").complains(Exit::Usage, &["--remote"]);
}

#[test]
fn all_that_meets_in_a_report_is_in_one_part() {
    let scratch = Scratch::in_memory();
    let mut sample = read(&run(&scratch, "part-1", "--shard 1/5"));
    let mut plans: Vec<Plan> = plan::STUDIES.iter().map(|study| plan::find(study.name).unwrap()).collect();
    let mut moved = plan::find("crud").unwrap();
    (moved.compare, moved.rows) = (vec![Axis::DATA], vec![Axis::STORE]);
    plans.push(moved);
    for plan in plans {
        let rooms = [Room::unbounded("here"), Room::unbounded("ssd")];
        let split = Split::new(&plan, STORES, &rooms, 7).unwrap();
        let (cells, _) = schedule::cells(&plan, STORES, &rooms, &|_| None).unwrap();
        sample.header.plan = plan.to_toml().unwrap();
        let layout = Layout::of([&sample]);
        let mut parts: BTreeMap<String, BTreeSet<Option<u32>>> = BTreeMap::new();
        for cell in &cells {
            parts.entry(layout.position(cell).to_string()).or_default().insert(split.part_of(cell));
        }
        let apart: Vec<_> = parts.iter().filter(|(_, parts)| parts.len() > 1).collect();
        assert!(apart.is_empty(), "{}: {apart:?}", plan.name);
    }
}
