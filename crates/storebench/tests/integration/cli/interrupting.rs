//! Runs that are interrupted and resumed.

use std::fs;
use std::path::Path;

use storebench_core::error::Exit;
use storebench_host::folder;

use super::support::{Scratch, Started, TINY, assert_complete, contents, faulty, skipped, wait_for};

/// Six trials of a good tenth of a second each.
const SLOW: &str = "run crud --store dawdles,flat-folder,null --records 20 --record-size 1B..1KiB --data incompressible \
    --guarantee default --operations 5 --trials 2 --timeout 60s";
const CELLS: usize = 3;
const BLOCKS: u32 = 2;

/// Starts a run and waits until some of its trials have ended and one is under way.
fn started(scratch: &Scratch, arguments: &str) -> Started {
    let started = scratch.start_faulty(arguments);
    wait_for("the first results", || lines(scratch) >= 1 && dawdling(scratch));
    started
}

fn lines(scratch: &Scratch) -> usize {
    let runs = scratch.runs();
    let text = runs.last().and_then(|run| fs::read_to_string(run.join("results.jsonl")).ok());
    text.map_or(0, |text| text.lines().count())
}

/// Whether the trial under way is of the slow store.
fn dawdling(scratch: &Scratch) -> bool {
    let spec = scratch.runs().last().and_then(|run| fs::read_to_string(run.join("trial.json")).ok());
    spec.is_some_and(|text| text.contains("\"dawdles\""))
}

/// Many trials of the slow store alone, of which some have ended.
fn endless(scratch: &Scratch) -> Started {
    started(
        scratch,
        &SLOW.replace("dawdles,flat-folder,null", "dawdles").replace("--trials 2", "--trials 500"),
    )
}

#[test]
fn an_interrupted_run_keeps_its_results_and_is_gone_on_with() {
    for signal in ["INT", "TERM", "HUP"] {
        let scratch = Scratch::in_memory();
        let arguments = SLOW.replace("--operations 5", "--operations 30");
        let run = started(&scratch, &arguments);
        run.signal(signal);
        let said = run.end().ends(Exit::Interrupted);
        scratch.assert_nothing_left();
        let folder = scratch.only_run();
        let shown = folder.strip_prefix(scratch.path()).unwrap().display().to_string();
        assert!(said.err.contains("interrupted; finished results are kept"), "{said}");
        assert!(said.err.contains(&format!("storebench run --resume {shown}")), "{said}");
        assert!(said.out.is_empty(), "no table of half a run: {said}");
        let kept = scratch.results().trials;
        assert!(!kept.is_empty() && kept.len() < CELLS * BLOCKS as usize, "{}", kept.len());
        let resumed = scratch.faulty(&format!("run --resume {shown}")).ends(Exit::Success);
        assert!(resumed.out.contains("flat-folder"), "{resumed}");
        let run = scratch.results();
        assert_complete(&run, CELLS, BLOCKS);
        assert_eq!(run.trials[..kept.len()], kept, "what had ended is not run again");
        scratch.assert_nothing_left();
    }
}

#[test]
fn a_run_whose_program_is_built_anew_stays_with_the_one_it_began_with() {
    let scratch = Scratch::in_memory();
    let program = scratch.join("storebench");
    fs::copy(faulty(), &program).unwrap();
    let run = scratch.start(&program, SLOW);
    wait_for("the first results", || lines(&scratch) >= 1 && dawdling(&scratch));
    fs::remove_file(&program).unwrap();
    fs::write(&program, "another program").unwrap();
    run.end().ends(Exit::Success);
    assert_complete(&scratch.results(), CELLS, BLOCKS);
    scratch.assert_nothing_left();
}

#[test]
fn a_killed_run_takes_its_trial_with_it_and_is_gone_on_with() {
    let scratch = Scratch::in_memory();
    let run = started(&scratch, &SLOW.replace("--operations 5", "--operations 60"));
    run.signal("KILL");
    assert_eq!(run.end().code, None, "it ended by the signal");
    wait_for("the trial to end", || scratch.processes().is_empty());
    let works = |scratch: &Scratch| {
        let entries = fs::read_dir(scratch.join("storebench-runs")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("storebench-work-")).count()
    };
    assert_eq!(works(&scratch), 1, "a kill leaves the work folder");
    let kept = scratch.results().trials;
    let said = scratch.faulty("run --resume latest").ends(Exit::Success);
    assert!(said.err.contains("deleted ") && said.err.contains("a killed run had left behind"), "{said}");
    let run = scratch.results();
    assert_complete(&run, CELLS, BLOCKS);
    assert_eq!(run.trials[..kept.len()], kept);
    scratch.assert_nothing_left();
    let left: Vec<_> = contents(&scratch.only_run()).into_keys().collect();
    let expected = [".lock", "logs", "report.html", "results.jsonl", "run.json"]
        .map(|name| scratch.only_run().join(name));
    assert_eq!(left, expected);
}

/// The folders that `clean` says it deleted. It tells of cgroups too, which may be those of other tests' killed runs.
fn cleaned(scratch: &Scratch, arguments: &str) -> Vec<String> {
    let said = scratch.faulty(&format!("clean {arguments}")).ends(Exit::Success);
    let lines: Vec<String> = said.out.lines().map(str::to_owned).collect();
    assert!(
        lines.iter().all(|line| line.starts_with("deleted /") || line == "nothing was left behind"),
        "{said}"
    );
    let of_cgroups = |line: &String| line.starts_with("deleted /sys/fs/cgroup/");
    lines.into_iter().filter(|line| line != "nothing was left behind" && !of_cgroups(line)).collect()
}

#[test]
fn what_a_kill_left_is_cleaned_on_request_and_nothing_else() {
    let scratch = Scratch::in_memory();
    scratch.write("disk/photos/holiday.jpg", "picture");
    scratch.write("disk/storebench-work-9/notes.txt", "a user's own, whatever its name");
    let before = contents(&scratch.join("disk"));
    let run = started(&scratch, &format!("{SLOW} --at disk").replace("--operations 5", "--operations 60"));
    assert_eq!(cleaned(&scratch, "disk"), [""; 0], "a run at work keeps its folder");
    run.signal("KILL");
    run.end();
    wait_for("the trial to end", || scratch.processes().is_empty());
    let [deleted] = cleaned(&scratch, "disk").try_into().unwrap();
    assert!(deleted.contains("/disk/storebench-work-"), "{deleted}");
    assert_eq!(contents(&scratch.join("disk")), before);
    assert_eq!(cleaned(&scratch, "disk"), [""; 0]);
    assert_eq!(cleaned(&scratch, ""), [""; 0]);
    scratch.faulty("clean nowhere").complains(Exit::BadValue, &["nowhere", "there is no such directory"]);
    assert_eq!(scratch.runs().len(), 1, "results are never touched");
}

/// The content of the ledger of the only work folder of a run, a line for each thing.
fn held(scratch: &Scratch) -> Vec<serde_json::Value> {
    let entries = fs::read_dir(scratch.join("storebench-runs")).unwrap().map(|entry| entry.unwrap().path());
    let ledgers = entries.map(|path| path.join(".storebench-work")).find(|path| path.exists());
    let text = ledgers.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    // The last may be half written.
    text.lines().skip(1).filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[test]
fn a_killed_runs_stage_is_given_back_by_the_next_run() {
    let scratch = Scratch::in_memory();
    let arguments = format!("{SLOW} --background cpu").replace("--operations 5", "--operations 60");
    let run = started(&scratch, &arguments);
    wait_for("the trial's load", || held(&scratch).iter().any(|thing| !thing["process"]["pid"].is_null()));
    run.signal("KILL");
    assert_eq!(run.end().code, None, "it ended by the signal");
    let left = held(&scratch);
    let names: Vec<&str> = left.iter().filter_map(|thing| thing["name"].as_str()).collect();
    assert!(names.len() == 2 && names[0] == "background" && names[1].starts_with("trial-"), "{left:?}");
    let groups: Vec<&str> = left.iter().filter_map(|thing| thing["folder"].as_str()).collect();
    if groups.is_empty() {
        skipped("a cgroup that a killed run left", "needs the right to make cgroups");
    }
    assert!(groups.iter().all(|group| group.starts_with("/sys/fs/cgroup/")), "{left:?}");
    scratch.faulty("run --resume latest").ends(Exit::Success);
    assert!(!groups.iter().any(|group| Path::new(group).exists()), "{groups:?}");
    scratch.assert_nothing_left();
}

#[test]
fn a_line_that_was_cut_off_in_writing_is_run_again() {
    let scratch = Scratch::in_memory();
    scratch.faulty(SLOW).ends(Exit::Success);
    let results = scratch.only_run().join("results.jsonl");
    let whole = fs::read(&results).unwrap();
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let torn = [lines[..3].concat(), lines[3][..lines[3].len() / 2].to_vec()].concat();
    fs::write(&results, &torn).unwrap();
    let shown = scratch.faulty("report latest --table").ends(Exit::Success);
    assert!(shown.out.contains("3 succeeded"), "{shown}");
    assert_eq!(fs::read(&results).unwrap(), torn, "a report changes nothing");
    scratch.faulty("run --resume latest").ends(Exit::Success);
    assert_complete(&scratch.results(), CELLS, BLOCKS);
    assert!(fs::read(&results).unwrap().starts_with(&lines[..3].concat()));
}

#[test]
fn a_run_at_work_is_left_alone() {
    let scratch = Scratch::in_memory();
    let run = endless(&scratch);
    let folder = scratch.only_run();
    let shown = folder.display().to_string();
    scratch
        .faulty(&format!("run --resume {shown}"))
        .complains(Exit::Busy, &["another storebench is using", &shown, "wait for it"]);
    let report = scratch.faulty("report latest --table").ends(Exit::Success);
    assert!(report.out.contains("dawdles"), "what it has so far can be shown: {report}");
    run.signal("INT");
    run.end().ends(Exit::Interrupted);
    assert!(!folder::read(&folder).unwrap().trials.is_empty());
    scratch.assert_nothing_left();
}

#[test]
fn a_run_is_gone_on_with_by_path_by_name_and_as_the_latest() {
    let scratch = Scratch::in_memory();
    scratch.faulty(&format!("run crud --store flat-folder {TINY}")).ends(Exit::Success);
    let folder = scratch.only_run();
    let name = Path::new(folder.file_name().unwrap()).display().to_string();
    let before = fs::read(folder.join("results.jsonl")).unwrap();
    for meant in [format!("storebench-runs/{name}"), name, "latest".into()] {
        let said = scratch.faulty(&format!("run --resume {meant}")).ends(Exit::Success);
        assert!(said.err.contains("done: 1 of 1 trial") && said.out.contains("flat-folder"), "{said}");
    }
    assert_eq!(fs::read(folder.join("results.jsonl")).unwrap(), before, "nothing is left to run");
}

#[test]
fn failures_of_before_count_when_a_run_is_gone_on_with() {
    let scratch = Scratch::in_memory();
    scratch.faulty(&format!("run crud --store errs,flat-folder {TINY}")).ends(Exit::TrialsFailed);
    let said = scratch.faulty("run --resume latest").ends(Exit::TrialsFailed);
    assert!(said.err.contains("1 trial failed"), "{said}");
    assert_complete(&scratch.results(), 2, 1);
}

#[test]
fn a_run_whose_place_has_gone_says_so() {
    let scratch = Scratch::in_memory();
    fs::create_dir(scratch.join("disk")).unwrap();
    scratch.faulty(&format!("run crud --store flat-folder {TINY} --at disk")).ends(Exit::Success);
    fs::remove_dir(scratch.join("disk")).unwrap();
    scratch
        .faulty("run --resume latest")
        .complains(Exit::BadValue, &["the place of the run", "disk", "there is no such directory"]);
}
