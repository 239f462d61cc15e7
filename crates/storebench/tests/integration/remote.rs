//! Runs on another machine, which here is this one by ssh.

pub mod server;

use std::fs;
use std::path::Path;

use storebench_core::error::Exit;
use storebench_core::measure::environment;
use storebench_host::run::Run;

use self::server::{Server, cut};
use crate::cli::support::{
    STOREBENCH, Said, Scratch, Started, TINY, assert_complete, faulty, said, wait_for,
};

/// Six trials of a good tenth of a second each, and more.
const SLOW: &str = "run crud --store dawdles,flat-folder,null --records 20 --record-size 1B..1KiB --data incompressible \
    --guarantee default --operations 30 --trials 2 --timeout 10m --remote board";
const CELLS: usize = 3;
const BLOCKS: u32 = 2;

fn run(server: &Server, scratch: &Scratch, arguments: &str) -> Said {
    said(&mut server.command(scratch, &arguments.split_whitespace().collect::<Vec<_>>()))
}

/// A run of which some trials have ended, and one is under way.
fn start_slow_run(server: &Server, scratch: &Scratch) -> Started {
    let arguments: Vec<&str> = SLOW.split_whitespace().collect();
    let started = Started::new(&mut server.command(scratch, &arguments));
    wait_for("the first results", || lines(scratch).len() >= 2);
    started
}

/// The results that are here.
fn lines(scratch: &Scratch) -> Vec<String> {
    let runs = scratch.runs();
    let text = runs.last().and_then(|run| fs::read_to_string(run.join("results.jsonl")).ok());
    text.map_or_else(Vec::new, |text| text.split_inclusive('\n').map(str::to_owned).collect())
}

/// Nothing is left there but the program.
#[track_caller]
fn assert_clean(server: &Server, scratch: &Scratch) {
    scratch.assert_nothing_left();
    assert_eq!(server.names("runs"), Vec::<String>::new());
    assert_eq!(server.names("programs").len(), 1);
    let mut folders = server.names("");
    folders.sort();
    assert_eq!(folders, ["programs", "runs"]);
}

#[track_caller]
fn assert_measured_on_board(run: &Run, board: &Path) {
    assert_eq!(run.header.hardware, environment::host_name());
    assert!(Path::new(&run.header.locations[0].path).starts_with(board), "{:?}", run.header.locations);
    assert!(run.header.command.contains(&"board".to_owned()), "{:?}", run.header.command);
}

#[test]
fn a_run_on_another_machine_looks_like_any_other() {
    let scratch = Scratch::new();
    let Some(server) = Server::start(&scratch) else { return };
    let output = run(&server, &scratch, &format!("run crud --store flat-folder,errs {TINY} --remote board"));
    let output = output.ends(Exit::TrialsFailed);
    assert!(
        output.err.contains("copying this program (") && output.err.contains("done: 2 of 2 trials"),
        "{output}"
    );
    assert!(output.out.contains("flat-folder"), "{output}");
    let result = scratch.results();
    assert_complete(&result, 2, 1);
    assert_measured_on_board(&result, &server.board());
    let logs: Vec<_> = fs::read_dir(scratch.only_run().join("logs")).unwrap().collect();
    assert_eq!(logs.len(), 1, "the log of the failed trial: {logs:?}");
    assert!(scratch.only_run().join("report.html").exists());
    assert_clean(&server, &scratch);
    // The list of what would run is asked for, and nothing copied; the program is there already.
    let output =
        run(&server, &scratch, &format!("run crud --store flat-folder {TINY} --remote board --dry-run"));
    let output = output.ends(Exit::Success);
    assert!(output.out.contains("1 cell, each run once") && !output.err.contains("copying"), "{output}");
    assert_eq!(scratch.runs().len(), 1);
    assert_clean(&server, &scratch);
}

#[test]
fn a_lost_connection_loses_and_doubles_nothing() {
    let scratch = Scratch::new();
    let Some(server) = Server::start(&scratch) else { return };
    let run_there = start_slow_run(&server, &scratch);
    cut(&run_there);
    let output = run_there.end().ends(Exit::Unreachable);
    let folder = scratch.only_run();
    let name = folder.file_name().unwrap().to_str().unwrap();
    assert!(output.err.contains("the connection is lost"), "{output}");
    assert!(
        output
            .err
            .contains(&format!("resume with: storebench run --resume storebench-runs/{name} --remote board")),
        "{output}"
    );
    // The run there ends too, and keeps its results.
    wait_for("the run there to end", || scratch.processes().is_empty());
    scratch.assert_nothing_left();
    assert_eq!(server.names("runs").len(), 1);
    // A result that never came here is fetched, not measured again.
    let kept = lines(&scratch);
    fs::write(folder.join("results.jsonl"), kept[..1].concat()).unwrap();
    let resume = format!("run --resume {name} --remote board");
    run(&server, &scratch, &resume).ends(Exit::Success);
    assert_complete(&scratch.results(), CELLS, BLOCKS);
    assert!(lines(&scratch).concat().starts_with(&kept.concat()), "what was measured stays as it is");
    assert_clean(&server, &scratch);
}

#[test]
fn ctrl_c_stops_the_run_there_and_leaves_nothing() {
    let scratch = Scratch::new();
    let Some(server) = Server::start(&scratch) else { return };
    let run_there = start_slow_run(&server, &scratch);
    run_there.signal("INT");
    let output = run_there.end().ends(Exit::Interrupted);
    assert!(output.err.contains("interrupted; finished results are kept. Resume with:"), "{output}");
    assert!(output.err.contains("--remote board"), "{output}");
    assert_clean(&server, &scratch);
    let kept = lines(&scratch).concat();
    assert!(lines(&scratch).len() < CELLS * BLOCKS as usize);
    // Its results are of another machine: here it is not resumed.
    scratch.faulty("run --resume latest").complains(Exit::BadValue, &["is a run on board", "--remote board"]);
    run(&server, &scratch, "run --resume latest --remote board").ends(Exit::Success);
    assert_complete(&scratch.results(), CELLS, BLOCKS);
    assert!(lines(&scratch).concat().starts_with(&kept));
    assert_clean(&server, &scratch);
}

#[test]
fn folders_there_may_have_any_name() {
    let scratch = Scratch::new();
    let Some(server) = Server::start(&scratch) else { return };
    let odd_folder = scratch.join("it's \"my\" $HOME; touch oops \\ board");
    let place = scratch.join("SD card's *");
    fs::create_dir(&place).unwrap();
    let (location, study) =
        (format!("sd={}", place.display()), format!("run crud --store flat-folder {TINY} --remote board"));
    let mut arguments: Vec<&str> = study.split_whitespace().collect();
    arguments.extend(["--remote-dir", odd_folder.to_str().unwrap(), "--at", &location]);
    said(&mut server.command(&scratch, &arguments)).ends(Exit::Success);
    assert_eq!(scratch.results().header.locations[0].path, place.display().to_string());
    let mut folders: Vec<_> =
        fs::read_dir(&odd_folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    folders.sort();
    assert_eq!(folders, ["programs", "runs"]);
    assert!(server.names("").is_empty(), "the usual folder is not used");
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
    scratch.assert_nothing_left();
    let output = run(&server, &scratch, &format!("{study} --at sd"));
    output.complains(Exit::BadValue, &["--at sd", "on the other machine", "in full"]);
    let output = run(&server, &scratch, "run replay --trace requests.csv --remote board");
    output.complains(Exit::BadValue, &["--trace requests.csv", "on the other machine", "in full"]);
}

#[test]
fn property_files_are_read_here_and_traces_there() {
    let scratch = Scratch::new();
    let Some(server) = Server::start(&scratch) else { return };
    scratch.write("mine", "recordcount=20\noperationcount=5\nreadproportion=1\nupdateproportion=0\n");
    let ycsb =
        "run ycsb --store flat-folder --guarantee process --trials 1 --timeout 10m -P mine --remote board";
    run(&server, &scratch, ycsb).ends(Exit::Success);
    assert_complete(&scratch.results(), 1, 1);
    assert_clean(&server, &scratch);
    fs::remove_dir_all(scratch.only_run()).unwrap();
    let requests = "time,operation,key,size\n0,get,user:17,\n0.001,set,user:17,412\n";
    let trace = scratch.write("on the board.csv", requests);
    let replay =
        "run replay --store flat-folder --guarantee process --trials 1 --timeout 10m --remote board --trace";
    let mut arguments: Vec<&str> = replay.split_whitespace().collect();
    arguments.push(trace.to_str().unwrap());
    let output = said(&mut server.command(&scratch, &arguments)).ends(Exit::Success);
    assert!(output.err.contains("reading the trace"), "{output}");
    assert_complete(&scratch.results(), 1, 1);
    assert_clean(&server, &scratch);
    let output = run(&server, &scratch, "run ycsb -P nowhere --remote board");
    output.complains(Exit::BadPlan, &["the property file nowhere can't be read"]);
}

#[test]
fn a_program_that_was_changed_there_never_runs() {
    let scratch = Scratch::new();
    let Some(server) = Server::start(&scratch) else { return };
    let study = format!("run crud --store flat-folder {TINY} --remote board");
    run(&server, &scratch, &study).ends(Exit::Success);
    let program = server.board().join("programs").join(&server.names("programs")[0]);
    let trap = scratch.join("trap");
    fs::write(&program, format!("#!/bin/sh\ntouch '{}'\n", trap.display())).unwrap();
    let output = run(&server, &scratch, &study).ends(Exit::Success);
    assert!(output.err.contains("copying this program"), "{output}");
    assert!(!trap.exists());
    assert_eq!(fs::read(&program).unwrap(), fs::read(faulty()).unwrap());
    assert_clean(&server, &scratch);
}

#[test]
fn what_can_not_be_reached_or_run_says_so() {
    let scratch = Scratch::new();
    let Some(server) = Server::start(&scratch) else { return };
    let study = format!("run crud --store flat-folder {TINY} --remote");
    run(&server, &scratch, &format!("{study}=-oProxyCommand=true"))
        .complains(Exit::BadValue, &["it is not a host"]);
    run(&server, &scratch, &format!("{study} nobody@board")).ends(Exit::Unreachable);
    let output = run(&server, &scratch, &format!("{study} board --remote-program /bin/true"));
    let output = output.ends(Exit::Unreachable);
    assert!(output.err.contains("no program runs there: /bin/true:"), "{output}");
    let output = run(&server, &scratch, &format!("{study} board --store sqllite"));
    output.ends(Exit::UnknownStore);
    assert!(scratch.runs().is_empty());
    scratch.faulty(&format!("run crud --store flat-folder {TINY}")).ends(Exit::Success);
    run(&server, &scratch, "run --resume latest --remote board")
        .complains(Exit::BadValue, &["resume it without --remote"]);
    scratch.assert_nothing_left();
}

/// A phone by adb, which here is a script that does what adb does, and this machine.
#[test]
fn a_run_on_a_phone_looks_like_any_other() {
    let scratch = Scratch::new();
    let adb = "#!/bin/sh\nif [ \"$1\" = kill-server ]; then echo end >>ended; exit; fi\n[ \"$1 $2 $3 $4\" = '-s 1234 shell -T' ] && [ $# -eq 5 ] || { echo \"odd: $*\" >&2; exit 9; }\n\
        exec env -i \"PATH=$PATH\" sh -c \"$5\"\n";
    let adb = scratch.write("bin/adb", adb);
    fs::set_permissions(&adb, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let run_with_adb = |arguments: &str| {
        let path = format!("{}:{}", adb.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let mut command = scratch.command(STOREBENCH, "");
        command
            .args(arguments.split_whitespace())
            .env("PATH", path)
            .env("XDG_CACHE_HOME", scratch.join("cache"));
        said(&mut command)
    };
    let phone = scratch.join("phone");
    let study =
        format!("run crud --store flat-folder {TINY} --remote adb:1234 --remote-dir {}", phone.display());
    // The programs of this system need its C library, which a phone has not.
    run_with_adb(&study).complains(Exit::BadValue, &["linux-musl` builds one"]);
    let run = run_with_adb(&format!("{study} --remote-program {}", STOREBENCH));
    assert!(run.ends(Exit::Success).err.contains("to adb:1234"), "it was copied");
    let result = scratch.results();
    assert_complete(&result, 1, 1);
    assert!(Path::new(&result.header.locations[0].path).starts_with(&phone), "{:?}", result.header.locations);
    let refused = run_with_adb(&study.replace("adb:1234", "adb:"));
    refused.complains(Exit::Unreachable, &["odd: shell -T"]);
    // Once for each of them.
    assert_eq!(fs::read_to_string(scratch.join("ended")).unwrap(), "end\nend\nend\n");
    let refused = run_with_adb(&study.replace("adb:1234", "me:secret@board")).ends(Exit::BadValue);
    assert!(refused.err.contains("...@board") && !refused.err.contains("secret"), "{refused}");
    scratch.assert_nothing_left();
}
