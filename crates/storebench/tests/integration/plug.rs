//! A board whose power is cut while a store writes on it: a machine in QEMU (scripts/board.sh), and one that only seems to be cut.

use std::path::{Path, PathBuf};
use std::process::Command;

use storebench_core::error::Exit;

use crate::cli::support::{Scratch, Started, missing, said, skipped, wait_for};
use crate::remote::server::{Server, cut};

/// A machine in QEMU, gone with the test.
struct Board {
    folder: PathBuf,
}

impl Board {
    /// Makes it and turns it on; where that can't be, the test says so.
    fn start(scratch: &Scratch, program: &Path) -> Option<Board> {
        let got = script().arg("get").output().unwrap();
        if !got.status.success() {
            let why = String::from_utf8_lossy(&got.stderr).into_owned();
            let why = format!("{}: scripts/setup.sh test gets it", why.trim());
            if cfg!(target_arch = "x86_64") {
                missing("power cuts of a board", &why);
            } else {
                skipped("power cuts of a board", &why);
            }
            return None;
        }
        let board = Board { folder: scratch.join("board") };
        board.does("make", &[program.to_str().unwrap()]);
        board.does("start", &[]);
        Some(board)
    }

    #[track_caller]
    fn does(&self, what: &str, more: &[&str]) -> String {
        let output = script().arg(what).arg(&self.folder).args(more).output().unwrap();
        assert!(output.status.success(), "board.sh {what}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The program here, whose ssh knows the way to the board.
    fn command(&self, scratch: &Scratch, arguments: &str) -> Command {
        let path = format!("{}:{}", self.folder.join("bin").display(), std::env::var("PATH").unwrap());
        let mut command = scratch.command(env!("CARGO_BIN_EXE_storebench"), arguments);
        command.env("PATH", path);
        command
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        // It is off already, perhaps.
        let _ = script().arg("cut").arg(&self.folder).output();
    }
}

fn script() -> Command {
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/board.sh"))
}

/// The program without its symbols: a slow machine reads all of it.
fn stripped(scratch: &Scratch) -> PathBuf {
    let program = scratch.join("storebench");
    let strip = Command::new("strip").arg("-o").arg(&program).arg(env!("CARGO_BIN_EXE_storebench")).status();
    assert!(strip.unwrap().success());
    program
}

/// A store that writes there until the power is cut, once it has written so much; and what is said when it is back.
fn cut_while_writing(board: &Board, scratch: &Scratch, program: &Path, how: &str) -> String {
    let how = format!(
        "crash pull-the-plug --remote board --remote-program {} --store sqlite --at /data {how}",
        program.display()
    );
    let pulling = Started::new(&mut board.command(scratch, &how));
    let written = || {
        let script = "du -sk /data/storebench-plug-*/store 2>/dev/null || echo 0";
        let told = board.does("ssh", &[script]);
        told.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0)
    };
    wait_for("the store there", || written() > 100);
    board.does("cut", &[]);
    board.does("start", &[]);
    let said = pulling.end().ends(Exit::Success);
    assert!(said.err.contains("cut its power now") && said.err.contains("is gone after"), "{said}");
    said.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_board_whose_power_is_cut_has_what_was_synced() {
    let scratch = Scratch::new();
    let program = stripped(&scratch);
    let Some(board) = Board::start(&scratch, &program) else { return };
    let found = cut_while_writing(&board, &scratch, &program, "");
    assert!(found.contains("at power: all of ") && found.contains("its own check finds no fault"), "{found}");
    // Nothing is left there of what was right.
    assert_eq!(board.does("ssh", &["ls -d /data/storebench-plug-* 2>/dev/null || true"]), "");
    // Without syncs it loses what it acknowledged, and stays there to be looked at.
    let found = cut_while_writing(&board, &scratch, &program, "--set sqlite.synchronous=OFF");
    assert!(
        !found.contains("all of ") && found.contains("stays on board, in /data/storebench-plug-"),
        "{found}"
    );
    let kept = std::fs::read_to_string(scratch.join("storebench-runs/pulls.jsonl")).unwrap();
    let kept: Vec<serde_json::Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(kept.len(), 2);
    assert!(kept[0]["finding"] == "held" && kept[1]["finding"] != "held", "{kept:?}");
    assert!(kept.iter().all(|pull| pull["acknowledged"].as_u64() > Some(0)), "{kept:?}");
}

#[test]
fn a_connection_that_is_lost_is_no_power_cut() {
    let scratch = Scratch::new();
    let Some(server) = Server::start(&scratch) else { return };
    let how = "crash pull-the-plug --remote board --store flat-folder";
    let pulling = Started::new(&mut server.command(&scratch, &how.split(' ').collect::<Vec<_>>()));
    let own = || server.names("").into_iter().find(|name| name.starts_with("storebench-plug-"));
    let records = || own().map_or(0, |own| server.names(&format!("{own}/store")).len());
    wait_for("records there", || records() > 3);
    cut(&pulling);
    let said = pulling.end().ends(Exit::Unreachable);
    assert!(said.err.contains("it has had power all the while"), "{said}");
    wait_for("its end there", || own().is_none());
}

#[test]
fn a_plug_that_can_not_be_pulled_is_told() {
    let scratch = Scratch::in_memory();
    let complains = |arguments: &str, exit, words: &[&str]| {
        let arguments = format!("crash pull-the-plug {arguments}");
        said(&mut scratch.command(env!("CARGO_BIN_EXE_storebench"), &arguments)).complains(exit, words);
    };
    complains("--store sqlite", Exit::BadValue, &["--remote"]);
    complains("--store sqlight --remote board", Exit::BadValue, &["no store sqlight"]);
    complains("--store sqlite --remote board --guarantee none", Exit::BadValue, &["nothing is promised"]);
}
