//! Colour and pipes.

use std::io::Read;
use std::process::{Command, Stdio};

use storebench_core::error::Exit;

use super::support::{STOREBENCH, Said, Scratch, TINY, said};

/// A directory with one run in it.
fn with_a_run() -> Scratch {
    let scratch = Scratch::in_memory();
    scratch
        .storebench(&format!("run crud --store flat-folder,nested-folder {TINY} --trials 2").replacen(
            "--trials 1",
            "",
            1,
        ))
        .ends(Exit::Success);
    scratch
}

const ESCAPE: char = '\u{1b}';

/// Runs storebench on a terminal of its own.
fn on_a_terminal(scratch: &Scratch, columns: u32, no_colour: Option<&str>, arguments: &str) -> Said {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/integration/cli/on_a_terminal.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(columns.to_string()).arg(STOREBENCH).args(arguments.split_whitespace());
    command.current_dir(scratch.path()).env_remove("NO_COLOR").env("TERM", "xterm-256color");
    if let Some(value) = no_colour {
        command.env("NO_COLOR", value);
    }
    said(&mut command)
}

#[test]
fn colour_is_for_terminals_and_for_those_who_want_it() {
    let scratch = with_a_run();
    for how in ["", "--table"] {
        let arguments = format!("report latest {how}");
        let coloured = on_a_terminal(&scratch, 120, None, &arguments).ends(Exit::Success);
        assert!(coloured.out.contains(ESCAPE), "{coloured}");
        assert!(
            on_a_terminal(&scratch, 120, Some(""), &arguments).out.contains(ESCAPE),
            "an empty NO_COLOR is none"
        );
        let plain = on_a_terminal(&scratch, 120, Some("1"), &arguments).ends(Exit::Success);
        assert!(!plain.out.contains(ESCAPE), "{plain}");
        let piped = scratch.storebench(&arguments).ends(Exit::Success);
        assert!(!piped.out.contains(ESCAPE), "{piped}");
        for columns in [80, 100, 160] {
            let said = on_a_terminal(&scratch, columns, Some("1"), &arguments).ends(Exit::Success);
            let widest = said.out.lines().map(|line| line.trim_end().chars().count()).max().unwrap();
            assert!(widest <= columns as usize, "{widest} of {columns} columns\n{said}");
        }
    }
}

#[test]
fn a_run_on_a_terminal_shows_a_bar_and_ends_with_the_table() {
    let scratch = Scratch::in_memory();
    let arguments = format!("run crud --store flat-folder,nested-folder {TINY}");
    let said = on_a_terminal(&scratch, 100, None, &arguments).ends(Exit::Success);
    assert!(said.out.contains("/2  "), "the bar counts\n{said}");
    assert!(said.out.contains(" left"), "the time left\n{said}");
    assert!(
        said.out.contains("flat-folder/1B..1KiB/20..100/incompressible/process"),
        "what runs now\n{said}"
    );
    assert!(said.out.contains("Winners") && said.out.contains("written: "), "{said}");
}

#[test]
fn a_reader_that_goes_early_is_no_error() {
    let scratch = with_a_run();
    for arguments in ["report latest --json", "report latest --csv", "report latest", "stores", "run --help"]
    {
        // As `| head -1` does: the pipe is closed after a line.
        let mut command = scratch.command(STOREBENCH, arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = [0];
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut first).unwrap();
        drop(out);
        let said = Said::new(&child.wait_with_output().unwrap()).ends(Exit::Success);
        assert!(said.err.is_empty(), "{said}");
        // And when nobody ever read.
        let mut command = scratch.command(STOREBENCH, arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let said = Said::new(&child.wait_with_output().unwrap()).ends(Exit::Success);
        assert!(said.err.is_empty(), "{said}");
    }
}

#[test]
fn a_run_outlives_those_who_watch_it() {
    let scratch = Scratch::in_memory();
    let mut command = scratch.command(STOREBENCH, &format!("run crud --store flat-folder {TINY}"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(scratch.results().trials.len(), 1);
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let scratch = with_a_run();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = scratch.command(STOREBENCH, "report latest --csv");
    said(command.stdout(full)).complains(Exit::DiskFull, &["standard output", "No space left on device"]);
}
