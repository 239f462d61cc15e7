//! The program's words on itself: help, lists, completions, man pages.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use storebench::STORES;
use storebench_core::error::Exit;
use storebench_host::plan::STUDIES;

use super::support::{STOREBENCH, Scratch, said, skipped};

const COMMANDS: [&str; 20] = [
    "run",
    "merge",
    "site",
    "check",
    "report",
    "advise",
    "tune",
    "compare",
    "stores",
    "settings",
    "machines",
    "disks",
    "studies",
    "crash",
    "doctor",
    "trace",
    "generate",
    "clean",
    "completions",
    "man",
];

#[test]
fn help_fits_the_screen_and_shows_by_example() {
    let scratch = Scratch::in_memory();
    for command in COMMANDS.iter().copied().chain(["", "run crud", "run ycsb"]) {
        for how in ["--help", "-h"] {
            let said = scratch.storebench(&format!("{command} {how}")).ends(Exit::Success);
            assert!(said.err.is_empty() && said.out.contains("Usage: storebench"), "{said}");
            fits(&format!("{command} {how}"), &said.out);
            let examples = said.out.split("Examples:").nth(1);
            let needed = ["run", "merge", "site", "check", "report", "compare", ""].contains(&command);
            assert!(!needed || examples.is_some_and(|text| text.contains("\n  storebench ")), "{said}");
        }
    }
    let help = scratch.storebench("--help").ends(Exit::Success).out;
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "{command}\n{help}");
    }
    for exit in Exit::ALL {
        assert!(help.contains(&format!("\n  {:>3}  {}", exit.code(), exit.meaning())), "{exit:?}\n{help}");
    }
    assert!(!help.contains("__"), "what the program says to itself is not shown: {help}");
    assert_eq!(scratch.storebench("help run").ends(Exit::Success).out, scratch.storebench("run --help").out);
}

/// Fails if a line is wider than a terminal.
fn fits(what: &str, text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{what}: {} columns: {line}", line.chars().count());
    }
}

#[test]
fn lists_and_dry_runs_fit_the_screen() {
    let scratch = Scratch::in_memory();
    fs::create_dir_all(scratch.join("a-second-place")).unwrap();
    let every_axis = "--threads 1,4 --rate 5000/s --tuning equal --cache cold --background none,disk:50MiB/s \
        --store lmdb,redb,flat-folder --records 10000..10500 --record-size 10KiB..100KiB,2KiB --guarantee none,power";
    for command in [
        "stores".to_owned(),
        "studies".to_owned(),
        "settings".to_owned(),
        "machines".to_owned(),
        "machines beaglebone-black".to_owned(),
        "disks".to_owned(),
        "disks hdd-7200".to_owned(),
        "run crud --quick --dry-run".to_owned(),
        "run device --quick --dry-run".to_owned(),
        format!("run crud --dry-run {every_axis} --at one=. --at other=a-second-place"),
        "run crud --quick --store fjall --set fjall.data_block_size=4096,65536 --dry-run".to_owned(),
    ] {
        let said = scratch.storebench(&command).ends(Exit::Success);
        assert!(said.out.lines().count() > 10, "{said}");
        fits(&command, &said.out);
    }
}

#[test]
fn stores_are_listed_with_what_they_can() {
    let said = Scratch::in_memory().storebench("stores").ends(Exit::Success);
    let head = said.out.lines().next().unwrap();
    for title in ["store", "kind", "version", "guarantees", "order", "sessions", "codec"] {
        assert!(head.contains(title), "{head}");
    }
    for store in STORES {
        let mut lines = said.out.lines();
        let line = lines.find(|line| line.split_whitespace().next() == Some(store.name)).unwrap();
        if store.open.is_err() {
            assert!(line.starts_with(&format!("{} is not built: ", store.name)), "{said}");
            continue;
        }
        assert!(line.contains(store.kind.name()), "{line}");
        let version = (store.version)();
        let version = version.trim_start_matches("Linux ").split('-').next().unwrap();
        assert!(line.split_whitespace().any(|word| word == version), "{line}");
        assert!(line.contains(&format!("{}*", store.shipped)), "{line}");
        assert!(store.offers.iter().all(|offer| line.contains(offer.guarantee.name())), "{line}");
    }
}

#[test]
fn studies_are_listed_with_their_presets() {
    let said = Scratch::in_memory().storebench("studies").ends(Exit::Success);
    for study in STUDIES {
        assert!(said.out.contains(study.name), "{said}");
    }
    assert!(said.out.contains("--preset quick: engines and folders"), "{said}");
}

#[test]
fn completions_are_scripts_that_their_shells_accept() {
    for shell in ["bash", "zsh", "fish"] {
        let scratch = Scratch::in_memory();
        let said = scratch.storebench(&format!("completions {shell}")).ends(Exit::Success);
        let script = scratch.write("script", &said.out);
        match Command::new(shell).arg("-n").arg(script).stdin(Stdio::null()).output() {
            Ok(output) => assert!(output.status.success(), "{shell}: {output:?}"),
            Err(error) => skipped(&format!("syntax of the {shell} completions"), &error.to_string()),
        }
    }
    let scratch = Scratch::in_memory();
    scratch.write("script", scratch.storebench("completions bash").out);
    let program = Path::new(STOREBENCH).parent().unwrap().display().to_string();
    let complete = format!(
        "PATH={program}:$PATH; source ./script; COMP_WORDS=(storebench run --store sqlite,lev); COMP_CWORD=3; \
         _clap_complete_storebench storebench sqlite,lev --store; echo ${{COMPREPLY[@]}}"
    );
    let said = said(Command::new("bash").args(["-c", &complete]).current_dir(scratch.path()));
    assert_eq!(said.out, "sqlite,leveldb\n", "{said}");
}

#[test]
fn every_shell_is_told_how_words_end() {
    let scratch = Scratch::in_memory();
    let told = |shell: &str, words: &str| {
        let mut command = scratch.command(STOREBENCH, &format!("-- storebench {words}"));
        let index = words.split(' ').count().to_string();
        command.env("STOREBENCH_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", index).env("_CLAP_IFS", "\n");
        let said = said(&mut command).ends(Exit::Success);
        let first = |line: &str| line.split(['\t', ':']).next().unwrap_or_default().to_owned();
        said.out.lines().map(first).collect::<Vec<_>>()
    };
    for shell in ["bash", "zsh", "fish"] {
        for (words, whole) in [
            ("rep", "report"),
            ("run --record-si", "--record-size"),
            ("run --store lev", "leveldb"),
            ("run --store sqlite,lev", "sqlite,leveldb"),
            ("advise --store sqlite,lev", "sqlite,leveldb"),
            ("run --guarantee process,po", "process,power"),
            ("run cru", "crud"),
            ("studies yc", "ycsb"),
            ("settings lev", "leveldb"),
            ("disks hdd-54", "hdd-5400"),
            ("machines beagle", "beaglebone-black"),
        ] {
            assert_eq!(told(shell, words), [whole], "{shell}: {words}");
        }
        let commands = told(shell, "r");
        assert!(commands.iter().all(|command| COMMANDS.contains(&command.as_str())), "{commands:?}");
    }
}

#[test]
fn man_pages_are_there_for_every_command_and_render() {
    let scratch = Scratch::in_memory();
    scratch.storebench("man pages/man1").ends(Exit::Success);
    let entries = fs::read_dir(scratch.join("pages/man1")).unwrap();
    let mut pages: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    pages.sort();
    let mut expected: Vec<String> =
        COMMANDS.iter().map(|command| format!("storebench-{command}.1")).collect();
    expected.extend(STUDIES.iter().map(|study| format!("storebench-run-{}.1", study.name)));
    expected
        .extend(["storebench.1", "storebench-crash-show.1", "storebench-crash-export.1"].map(String::from));
    expected.sort();
    assert_eq!(pages, expected);
    for page in pages {
        let Some(shown) = rendered(&scratch.join("pages/man1").join(&page)) else {
            return skipped("rendering the man pages", "there is neither man nor mandoc");
        };
        let name = page.strip_suffix(".1").unwrap();
        fits(&page, &shown);
        assert!(shown.contains("NAME") && shown.contains(name) && shown.contains("SYNOPSIS"), "{shown}");
    }
    let shown = rendered(&scratch.join("pages/man1/storebench-run.1")).unwrap();
    assert!(shown.contains("SYNOPSIS\n       storebench run [OPTIONS] [STUDY]\n"), "{shown}");
    let example = "\n  storebench run crud --quick --operations 10 --trials 2      on a slow disk\n";
    assert!(shown.contains("--trials") && shown.contains(example), "{shown}");
    assert!(!shown.contains("--file-size"), "{shown}");
    let shown = rendered(&scratch.join("pages/man1/storebench-run-crud.1")).unwrap();
    assert!(shown.contains("SYNOPSIS\n       storebench run crud [OPTIONS]\n"), "{shown}");
    assert!(shown.contains("--warm-up") && !shown.contains("--file-size"), "{shown}");
}

/// A man page as a reader sees it; neither program finds fault with it.
fn rendered(page: &Path) -> Option<String> {
    let mut man = Command::new("man");
    man.args(["--warnings", "-P", "cat", "-l"]).arg(page).env("MANWIDTH", "80").env("LC_ALL", "C.UTF-8");
    let mut mandoc = Command::new("mandoc");
    mandoc.args(["-T", "utf8"]).arg(page);
    // A container's `man` may be a stand-in that shows nothing but where the pages have gone.
    let shows = |command: &mut Command| {
        let output = command.stdin(Stdio::null()).output().ok()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        if out.contains("has been minimized") {
            return None;
        }
        assert!(output.status.success() && err.is_empty(), "{}: {err}", page.display());
        // Bold letters are printed over themselves.
        Some(out.split('\u{8}').fold(String::new(), |mut text, piece| {
            text.pop();
            text + piece
        }))
    };
    shows(&mut man).or_else(|| shows(&mut mandoc))
}
