//! Folders of runs that were cut off, damaged, copied, moved or deleted, and what is written in those of others.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use storebench_core::error::Exit;

use super::support::{
    Said, Scratch, TINY, assert_complete, faulty, is_root, outcomes, said, skipped, wait_for,
};

/// A directory with one run of four trials.
fn with_a_run() -> Scratch {
    let scratch = Scratch::in_memory();
    let study =
        TINY.replace("--trials 1", "--trials 2").replace("--guarantee process", "--guarantee default");
    scratch.faulty(&format!("run crud --store flat-folder,null {study}")).ends(Exit::Success);
    scratch
}

fn results(scratch: &Scratch) -> std::path::PathBuf {
    scratch.only_run().join("results.jsonl")
}

#[test]
fn a_result_that_lacks_only_the_end_of_its_line_is_kept() {
    let scratch = with_a_run();
    let whole = fs::read(results(&scratch)).unwrap();
    fs::write(results(&scratch), &whole[..whole.len() - 1]).unwrap();
    let said = scratch.faulty("run --resume latest").ends(Exit::Success);
    assert!(said.err.contains("done: 4 of 4 trials"), "{said}");
    assert_eq!(fs::read(results(&scratch)).unwrap(), whole);
}

#[test]
fn a_damaged_end_is_told_kept_aside_and_run_again() {
    for (end, aside) in [(&b"{\"format\":1,"[..], None), (b"\0\0\0\0", None), (b"\xff\xfe\n\xff", Some(4))] {
        let scratch = with_a_run();
        let whole = fs::read(results(&scratch)).unwrap();
        let three = whole.split_inclusive(|byte| *byte == b'\n').take(3).collect::<Vec<_>>().concat();
        let damaged = [&three, end].concat();
        fs::write(results(&scratch), &damaged).unwrap();
        let shown = scratch.faulty("report latest --table").ends(Exit::Success);
        let note = format!("results.jsonl ends in {} bytes that are no result", end.len());
        assert!(shown.err.contains(&note), "{shown}");
        assert_eq!(fs::read(results(&scratch)).unwrap(), damaged, "a report changes nothing");
        let said = scratch.faulty("run --resume latest").ends(Exit::Success);
        assert!(said.err.contains(&note), "{said}");
        assert_complete(&scratch.results(), 2, 2);
        assert!(fs::read(results(&scratch)).unwrap().starts_with(&three));
        let kept = fs::read(scratch.only_run().join("results.damaged")).ok();
        assert_eq!(kept.map(|bytes| bytes.len()), aside);
    }
}

#[test]
fn a_run_that_git_or_an_editor_went_through_is_resumed() {
    let scratch = with_a_run();
    let whole = fs::read_to_string(results(&scratch)).unwrap();
    let three: Vec<&str> = whole.lines().take(3).collect();
    fs::write(results(&scratch), format!("\n{}\n\n", three.join("\n\n"))).unwrap();
    fs::remove_dir_all(scratch.only_run().join("logs")).unwrap();
    scratch.faulty("run --resume latest").ends(Exit::Success);
    assert_complete(&scratch.results(), 2, 2);
    assert!(scratch.only_run().join("logs").is_dir());
}

#[test]
fn a_line_that_is_there_twice_counts_once() {
    let scratch = with_a_run();
    let before = scratch.faulty("report latest --json").ends(Exit::Success);
    let whole = fs::read_to_string(results(&scratch)).unwrap();
    let second = whole.lines().nth(1).unwrap();
    fs::write(results(&scratch), format!("{whole}{second}\n")).unwrap();
    let after = scratch.faulty("report latest --json").ends(Exit::Success);
    assert!(after.err.contains("line 5 repeats the trial of line 2, and does not count"), "{after}");
    assert_eq!(after.out, before.out);
    let said = scratch.faulty("run --resume latest").ends(Exit::Success);
    assert!(said.err.contains("done: 4 of 4 trials"), "{said}");
}

#[test]
fn copies_of_a_run_are_refused_together() {
    let scratch = with_a_run();
    let run = scratch.only_run();
    assert!(Command::new("cp").arg("-r").args([&run, &scratch.join("copy")]).status().unwrap().success());
    for arguments in ["report latest copy", "compare latest copy", "compare latest,copy latest"] {
        let said = scratch.faulty(arguments);
        if arguments.contains(',') {
            said.complains(Exit::BadValue, &["named twice"]);
        } else {
            said.complains(Exit::BadValue, &["copy are copies of one run, begun 20", "name one of them"]);
        }
    }
    scratch.faulty("report copy").ends(Exit::Success);
}

/// Starts a run of trials that take long, and waits for the first result and for a trial under way.
fn at_work(scratch: &Scratch) -> super::support::Started {
    let study = TINY.replace("--operations 5", "--operations 40").replace("--trials 1", "--trials 50");
    let run = scratch.start_faulty(&format!("run crud --store dawdles,flat-folder {study}"));
    wait_for("the first results", || {
        let run = scratch.runs().last().cloned();
        let length = |name: &str| {
            run.as_ref().and_then(|run| fs::metadata(run.join(name)).ok()).map_or(0, |file| file.len())
        };
        length("results.jsonl") > 0 && length("trial.json") > 0
    });
    run
}

fn blames_no_store(said: &Said) {
    assert!(!said.err.contains("failed: "), "{said}");
    let last = said.err.lines().last().unwrap();
    assert!(last.starts_with("storebench: "), "{said}");
}

#[test]
fn a_run_whose_folder_is_moved_ends_and_says_where_it_is_now() {
    let scratch = Scratch::in_memory();
    let run = at_work(&scratch);
    let elsewhere = scratch.join("elsewhere");
    fs::rename(scratch.only_run(), &elsewhere).unwrap();
    let said = run.end().ends(Exit::NotStorebench);
    blames_no_store(&said);
    for words in ["was moved to", "elsewhere while the run was at work", "storebench run --resume /"] {
        assert!(said.err.contains(words), "{said}");
    }
    scratch.assert_nothing_left();
    let kept = storebench_host::folder::read(&elsewhere).unwrap();
    assert!(
        !kept.trials.is_empty() && outcomes(&kept).iter().all(|(_, outcome)| *outcome == "ok"),
        "{kept:?}"
    );
}

#[test]
fn a_run_whose_folder_is_deleted_ends_and_promises_nothing() {
    let scratch = Scratch::in_memory();
    let run = at_work(&scratch);
    let folder = scratch.only_run();
    wait_for("the folder to go", || fs::remove_dir_all(&folder).is_ok());
    let said = run.end().ends(Exit::NotStorebench);
    blames_no_store(&said);
    // Its files go first, so that the run may miss one of them before it misses the folder.
    assert!(said.err.contains("was deleted") && said.err.contains("while the run was at work"), "{said}");
    assert!(!said.err.contains("is kept"), "{said}");
    scratch.assert_nothing_left();
}

#[test]
fn a_work_folder_that_is_deleted_is_no_failure_of_the_store() {
    let scratch = Scratch::in_memory();
    let run = at_work(&scratch);
    wait_for("a trial's folder to go", || {
        let Ok(entries) = fs::read_dir(scratch.join("storebench-runs")) else { return false };
        let mut paths = entries.map(|entry| entry.unwrap().path());
        let work = paths.find(|path| path.to_string_lossy().contains("storebench-work-"));
        work.is_some_and(|work| fs::rename(&work, scratch.join("moved")).is_ok())
    });
    let said = run.end();
    blames_no_store(&said);
    assert!(said.code != Some(Exit::TrialsFailed.code().into()), "{said}");
    let kept = scratch.results();
    assert!(outcomes(&kept).iter().all(|(_, outcome)| *outcome == "ok"), "{said}\n{:?}", outcomes(&kept));
}

/// A text that would clear a terminal, name its window, and colour what follows; as JSON writes it.
const CODES: &str = r"\u001b[2J\u001b]0;owned\u0007\u009b31m\u001b[31m";

fn no_codes(said: &Said) {
    let code =
        |text: &str| text.chars().find(|letter| letter.is_control() && *letter != '\n' && *letter != '\t');
    assert_eq!((code(&said.out), code(&said.err)), (None, None), "{said}");
}

#[test]
fn escape_codes_of_a_run_do_not_reach_the_terminal() {
    let scratch = Scratch::in_memory();
    scratch.faulty(&format!("run crud --store flat-folder,errs,refuses {TINY}")).ends(Exit::TrialsFailed);
    let run = scratch.only_run();
    let header = fs::read_to_string(run.join("run.json")).unwrap();
    let results = fs::read_to_string(run.join("results.jsonl")).unwrap();
    let with = |text: &str, at: &[&str]| {
        at.iter().fold(text.to_owned(), |text, at| {
            assert!(text.contains(at), "{at} is not in {text}");
            text.replace(at, &format!("{at}{CODES}"))
        })
    };
    let header = with(&header, &["\"hardware\": \"", "\"kernel\": \"", "\"title\": \"", "\"started\": \""]);
    let results = with(&results, &["\"message\":\"", "\"name\":\"", "\"value\":\"", "\"store_version\":\""]);
    fs::write(run.join("run.json"), header).unwrap();
    fs::write(run.join("results.jsonl"), results).unwrap();
    for form in ["", "--table", "--csv", "--json", "--published"] {
        no_codes(&scratch.faulty(&format!("report latest {form}")).ends(Exit::Success));
    }
    // In a broken file, and in the plan that a run was made with.
    fs::write(run.join("results.jsonl"), "{\"format\":1,\"\u{1b}[31m\u{9b}\":1}\n").unwrap();
    no_codes(&scratch.faulty("report latest").ends(Exit::NotStorebench));
    let plan = super::plans::OWN.replace("Folders for", r"\u001b[31mFolders for");
    scratch.write("mine.toml", plan);
    let said = scratch.faulty("run mine.toml").ends(Exit::BadPlan);
    assert!(said.err.contains("title holds the control character U+001B"), "{said}");
    no_codes(&said);
    no_codes(&scratch.faulty("run \u{1b}[31mcrud"));
}

#[test]
fn a_file_where_a_directory_is_wanted_is_told_with_advice() {
    let scratch = Scratch::in_memory();
    scratch.write("file", "text");
    for out in ["file", "file/runs"] {
        for command in ["run crud", "advise --records 100 --size 1KiB"] {
            scratch
                .storebench(&format!("{command} --out {out}"))
                .complains(Exit::BadValue, &["file is a file, not a directory: name another"]);
        }
    }
    assert_eq!(fs::read_to_string(scratch.join("file")).unwrap(), "text");
}

/// A command that can have no thread but its first.
fn with_one_thread(program: &Path, scratch: &Scratch, arguments: &str) -> Option<Said> {
    let mut command = Command::new("setpriv");
    if is_root() {
        // Limits don't hold for root; reading a directory of root's is all that is needed of it.
        command.args(["--reuid=65534", "--clear-groups"]);
        command.args(["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]);
    }
    command.args(["prlimit", "--nproc=1"]).arg(program).args(arguments.split_whitespace());
    let tried = Command::new("setpriv").args(["prlimit", "--version"]).output();
    if !tried.is_ok_and(|tried| tried.status.success()) {
        skipped("a report without threads", "needs setpriv and prlimit of util-linux");
        return None;
    }
    Some(said(command.current_dir(scratch.path())))
}

#[test]
fn a_report_needs_no_second_thread() {
    let scratch = with_a_run();
    let usual = scratch.faulty("report latest --json").ends(Exit::Success);
    let Some(alone) = with_one_thread(&faulty(), &scratch, "report latest --json") else { return };
    assert_eq!(alone.ends(Exit::Success).out, usual.out);
    let run = with_one_thread(&faulty(), &scratch, "report latest --html /dev/null").unwrap();
    run.ends(Exit::Success);
}

#[test]
fn too_many_combinations_are_refused_with_their_arithmetic() {
    let scratch = Scratch::in_memory();
    let list =
        |count: u32, unit: &str| (1..=count).map(|n| format!("{n}{unit}")).collect::<Vec<_>>().join(",");
    let arguments = format!("run crud --threads {} --rate {} --dry-run", list(1024, ""), list(3000, "/s"));
    scratch.storebench(&arguments).complains(
        Exit::BadValue,
        &[
            "1,024 thread counts x 3,000 rates = ",
            "combinations are too many: at most 100,000",
            "narrow the axes",
        ],
    );
}

#[test]
fn compression_beside_the_axes_of_an_older_plan_is_read_as_an_axis() {
    let scratch = Scratch::in_memory();
    // The many are more than the size limit.
    let study = TINY.replace("--records 20", "--records 20,1G");
    scratch.faulty(&format!("run crud --store flat-folder {study} --compression on,off")).ends(Exit::Success);
    let cells: Vec<String> = scratch.results().trials.iter().map(|trial| trial.cell.id()).collect();
    assert_eq!(cells.iter().filter(|cell| cell.ends_with("/compression=on")).count(), 1, "{cells:?}");
    assert_eq!(cells.len(), 2);

    // As versions wrote it in which all cells of a run had one value.
    let run = scratch.only_run();
    let header = fs::read_to_string(run.join("run.json")).unwrap();
    let before = header.replace("compression = [\\\"on\\\", \\\"off\\\"]\\n", "");
    let before = before.replace("format = 1\\n", "format = 1\\ncompression = \\\"on\\\"\\n");
    let mut before: Value = serde_json::from_str(&before).unwrap();
    let left_out = before["left_out"].as_array_mut().unwrap();
    left_out.retain(|left_out| left_out["cell"]["compression"] == "on");
    assert_eq!(left_out.len(), 1, "{left_out:?}");
    left_out[0]["cell"].as_object_mut().unwrap().remove("compression");
    let before = before.to_string();
    assert!(!before.contains("[\\\"on\\\"") && before.contains("compression = \\\"on\\\""), "{header}");
    let results = fs::read_to_string(run.join("results.jsonl")).unwrap();
    let lines = results.lines().filter(|line| line.contains("\"compression\":\"on\""));
    let old: String = lines.map(|line| line.replace(",\"compression\":\"on\"", "") + "\n").collect();
    assert!(!old.is_empty() && !old.contains("compression\":"), "{results}");
    fs::write(run.join("run.json"), before).unwrap();
    fs::write(run.join("results.jsonl"), old).unwrap();
    let read: Vec<String> = scratch.results().trials.iter().map(|trial| trial.cell.id()).collect();
    assert!(read.len() == 1 && cells.contains(&read[0]), "{read:?} of {cells:?}");
    let left_out = &scratch.results().header.left_out;
    assert!(left_out[0].cell.id().ends_with("/compression=on"), "{left_out:?}");
    let resumed = scratch.faulty("run --resume latest").ends(Exit::Success);
    assert!(resumed.err.contains("done: 1 of 1 trial"), "{resumed}");
}
