//! Every command that a page or a help text shows is one that works.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use storebench_model::error::Exit;

use crate::cli::support::{STOREBENCH, Said, Scratch, TINY, another_run, root};
use crate::store_library::example;
use crate::tier;

/// Commands that pages may show and that are not tried: they build, download, or change the reader's shell or system.
const NOT_TRIED: [&str; 16] = [
    ".", "apt-get", "awk", "cat", "cc", "cd", "docker", "export", "git", "kubectl", "nm", "rustup", "source",
    "ssh", "sudo", "tar",
];

/// Languages of blocks that hold commands.
const SHELLS: [&str; 4] = ["sh", "bash", "shell", "console"];

/// The arguments that narrow each study so that it takes a moment, if the command does not say it itself. The last are for all others.
/// Limits of machines are left out, which not every system can hold.
const NARROW: &str = "
    crash --store sqlite --records 20 --guarantee process --operations 5 --trials 1 --cuts 2 --recovery 100
    sqlite-settings --rows 10 --operations 2 --trials 1
    ycsb --store sqlite --workload A --records 20 --guarantee process --operations 5 --trials 1
    life --store sqlite --churn queue --records 50 --guarantee process --turnover 2 --bursts 50% --burst-period 600ms --trials 1
    device --block-size 4KiB --file-size 1MiB --io buffered --sync none --duration 5ms --trials 1
    my-shop.toml --store sqlite --data-size 16KiB --guarantee process --threads 1 --duration 50ms --trials 1
    data-size --store sqlite --data-size 16KiB --guarantee process --threads 1 --duration 50ms --trials 1 --machine here --tuning default
    filesystems --store sqlite,berkeleydb --place ext4:1024,ext4:4096 --transactions 2 --statements 10 --trials 1
    replay --store sqlite,lmdb --trials 1
    other --store sqlite,flat-folder --records 20 --record-size 1B..1KiB --data incompressible --guarantee process --operations 5 --trials 1
";

/// Options whose value is made small whatever it is.
const SHORT: [(&str, &str); 7] = [
    ("--duration", "50ms"),
    ("--recovery", "100"),
    ("--budget", "1s"),
    ("--operations", "5"),
    ("--trials", "1"),
    ("--cuts", "2"),
    ("--faults", "1"),
];

/// Every page: those in the root, and all below docs/.
fn pages() -> Vec<PathBuf> {
    let listed = Command::new("find")
        .args([
            ".", "(", "-path", "./docs/*", "-o", "-path", "./*.md", "-not", "-path", "./*/*", ")", "-name",
            "*.md",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    let mut pages: Vec<_> = String::from_utf8(listed.stdout).unwrap().lines().map(PathBuf::from).collect();
    pages.sort();
    pages
}

/// The commands of a page's blocks of code, with the numbers of their lines.
fn commands(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut fence: Option<&str> = None;
    let (mut paragraph, mut after_blank, mut indented) = ("", true, false);
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fence = if fence.is_some() { None } else { Some(language.trim()) };
            continue;
        }
        let in_list =
            paragraph.starts_with(['-', '*']) || paragraph.starts_with(|c: char| c.is_ascii_digit());
        indented = fence.is_none() && line.starts_with("    ") && !in_list && (after_blank || indented);
        if indented || fence.is_some_and(|language| SHELLS.contains(&language)) {
            let line = line.trim();
            let line = line.strip_prefix("$ ").unwrap_or(line);
            match found.last_mut() {
                Some((_, unfinished)) if unfinished.ends_with('\\') => {
                    unfinished.pop();
                    unfinished.push_str(line);
                }
                _ if line.is_empty() || line.starts_with('#') => {}
                _ => found.push((number, line.to_owned())),
            }
        } else if fence.is_none() && !line.is_empty() && !line.starts_with(' ') {
            paragraph = line;
        }
        after_blank = line.trim().is_empty();
    }
    found
}

#[test]
fn commands_are_found_in_a_page() {
    let page = "text\n\n    one 1\n    two \\\n      2\n\n- item\n\n    no code\n\nmore\n    no code\n\n```sh\n# why\n$ three\n```\n\
        ```toml\nno = 1\n```\n\n    four\n";
    let found: Vec<String> =
        commands(page).into_iter().map(|(number, line)| format!("{number} {line}")).collect();
    assert_eq!(found, ["3 one 1", "4 two 2", "16 three", "22 four"]);
}

#[test]
fn commands_on_pages_work() {
    // The program's own parser accepts all; README's commands run, and in the whole matrix the commands of every page.
    let is_run = |page: &Path| tier::is_whole() || page.ends_with("README.md") && !page.starts_with("./docs");
    let mut tried: BTreeMap<String, String> = BTreeMap::new();
    for page in pages() {
        for (number, line) in commands(&fs::read_to_string(root().join(&page)).unwrap()) {
            let place = format!("{}:{number}: {line}", page.display());
            let words: Vec<&str> = line.split_whitespace().skip_while(|word| is_assignment(word)).collect();
            match words[..] {
                _ if line.contains("libpython-sqlite.so") && example("python-sqlite").is_none() => {}
                // Also as in a package that was unpacked.
                ["storebench" | "bin/storebench", ..] => {
                    let line = line.trim_start_matches("bin/");
                    check_words(line, &place);
                    if is_run(&page) {
                        tried.entry(line.to_owned()).or_insert(place);
                    }
                }
                ["make", "-C", folder, ref rest @ ..] => check_make(&root().join(folder), rest, &place),
                ["make", ref rest @ ..] => check_make(&root(), rest, &place),
                ["cargo", ref rest @ ..] => check_cargo(rest, &place),
                ["sbatch", ref words @ ..] => {
                    let script = words.iter().find(|word| !word.starts_with('-')).unwrap();
                    assert!(root().join(script).exists(), "{place}: there is no such script");
                }
                [script, ..] if ["scripts/", "examples/"].iter().any(|folder| script.starts_with(folder)) => {
                    assert!(root().join(script).exists(), "{place}: there is no such script");
                }
                [name, ..] if NOT_TRIED.contains(&name) => {}
                _ => panic!("{place}: tests/integration/commands.rs does not know what to do with it"),
            }
        }
    }
    assert!(!tried.is_empty());
    try_all(tried.into_iter().collect());
}

#[test]
fn commands_in_help_work() {
    let mut shown = Vec::new();
    for command in [
        "", "run", "merge", "site", "check", "report", "advise", "tune", "compare", "trace", "generate",
        "doctor",
    ] {
        let help = Scratch::in_memory().storebench(&format!("{command} --help")).out;
        let examples = help.split("Examples:\n").nth(1).unwrap();
        for line in examples.lines().take_while(|line| line.starts_with("  ")) {
            // The purpose of a command comes after some blanks.
            let line = line.trim().split("   ").next().unwrap();
            let place = format!("storebench {command} --help: {line}");
            check_words(line, &place);
            shown.push((line.to_owned(), place));
        }
    }
    assert!(shown.len() > 10, "{shown:?}");
    if tier::is_whole() {
        try_all(shown);
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') && !name.is_empty()
    })
}

/// A command of the program's own, without what a shell does with it.
fn check_words(line: &str, place: &str) {
    let (command, _) = without_shell(line);
    let words = command.split_whitespace().skip_while(|word| is_assignment(word));
    let words = words.map(|word| word.trim_matches(['\'', '"']));
    storebench::cli::check_words(words).unwrap_or_else(|why| panic!("{place}: {why}"));
}

/// A target that the Makefile has, and options that it reads.
fn check_make(folder: &Path, words: &[&str], place: &str) {
    let makefile = fs::read_to_string(folder.join("Makefile")).unwrap();
    // The words in quotes are an option's value.
    let line = words.join(" ");
    let outside: String = line.split('\'').step_by(2).collect();
    for word in outside.split_whitespace().take_while(|word| !word.starts_with('#')) {
        let known = match word.split_once('=') {
            Some((option, _)) => makefile.contains(&format!("{option} ?=")),
            None => word == "..." || makefile.contains(&format!("\n{word}:")),
        };
        assert!(known, "{place}: the Makefile knows no {word}");
    }
}

/// Packages, examples and tests that cargo finds.
fn check_cargo(words: &[&str], place: &str) {
    let exists = |path: &str| root().join(path).exists();
    for pair in words.windows(2) {
        let known = match *pair {
            ["-p" | "--package", package] => {
                exists(&format!("crates/{}", package.trim_start_matches("storebench-")))
            }
            ["--example", name] => ["core", "report", "storebench"].iter().any(|package| {
                exists(&format!("crates/{package}/examples/{name}.rs"))
                    || exists(&format!("crates/{package}/examples/{name}/main.rs"))
            }),
            ["--test", name] => exists(&format!("crates/storebench/tests/{name}/main.rs")),
            _ => true,
        };
        assert!(known, "{place}: there is no {} {}", pair[0], pair[1]);
    }
}

/// Has a simulated disk count what operations asked for: not every system can have one.
fn count_requests(results: &Path) {
    let counter = |requests: u64| serde_json::json!({"requests": requests, "bytes": requests * 4096});
    let disk = serde_json::json!({"reads": counter(0), "writes": counter(9), "discards": counter(0), "flushes": 5, "seeks": 0, "merges": 0,
        "modelled_ns": 14_000_000});
    let text = fs::read_to_string(results).unwrap();
    let counted = text.lines().map(|line| {
        let mut trial: serde_json::Value = serde_json::from_str(line).unwrap();
        for operation in trial.pointer_mut("/measured/operations").unwrap().as_array_mut().unwrap() {
            operation["counters"]["disk"] = disk.clone();
        }
        format!("{trial}\n")
    });
    fs::write(results, counted.collect::<String>()).unwrap();
}

/// Makes the runs that commands on pages name. Commands that resume or repeat one use it in its place.
fn make_named_runs() -> Scratch {
    let scratch = Scratch::in_memory();
    // Enough trials for a comparison to find something.
    let study = TINY.replace("--trials 1", "--trials 3");
    scratch.storebench(&format!("run crud --store sqlite,flat-folder {study}")).ends(Exit::Success);
    count_requests(&scratch.only_run().join("results.jsonl"));
    for part in [1, 2] {
        let run = format!("run crud --store flat-folder {TINY} --shard {part}/2 --out part-{part}");
        scratch.storebench(&run).ends(Exit::Success);
    }
    scratch
}

/// A directory with all that commands on pages speak of.
fn make_named_files(runs: &Scratch) -> Scratch {
    let scratch = Scratch::in_memory();
    let run = runs.only_run();
    let parts = ["part-1", "part-2"].map(|part| runs.join(part));
    assert!(Command::new("cp").arg("-r").args(parts).arg(scratch.path()).status().unwrap().success());
    let copies = ["storebench-runs/a-run", "ssd-run", "hdd-run", "before-run", "after-run"];
    let sets =
        ["base/1/crud-1", "base/2/crud-2", "base/3/crud-3", "new/1/crud-1", "new/2/crud-2", "new/3/crud-3"];
    for copy in copies.into_iter().chain(sets) {
        let target = scratch.join(copy);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        assert!(Command::new("cp").arg("-r").args([&run, &target]).status().unwrap().success());
        another_run(&target, copy);
    }
    for directory in ["mnt/sd/storebench", "mnt/ssd", "mnt/hdd", "mnt/a", "mnt/b"] {
        fs::create_dir_all(scratch.join(directory)).unwrap();
    }
    scratch.write("workloada", "readproportion=0.5\nupdateproportion=0.5\nrequestdistribution=zipfian\n");
    scratch.write("workloadb", "readproportion=0.95\nupdateproportion=0.05\nrequestdistribution=zipfian\n");
    scratch.write("large.dat", "recordcount=100000\n");
    scratch.write("data.csv", "id,body\n1,one\n2,one and two\n");
    let requests = "time,operation,key,size\n0,get,user:17,\n0.001,set,user:17,412\n0.002,scan,user:,20\n";
    scratch.write("requests.csv", requests);
    scratch.write("cluster12.zst", "0,nz:u:eeW511W3,11,304,1,get,0\n1,nz:u:eeW511W3,11,304,1,set,60\n");
    scratch.write("thumbnails/one", "one");
    scratch.write("books/one.txt", "It was a bright cold day in April. ".repeat(60_000));
    let plan = fs::read_to_string(root().join("studies/crud.toml")).unwrap();
    scratch.write("my-plan.toml", plan);
    let libraries = example("c-log").unwrap();
    fs::create_dir(scratch.join("examples")).unwrap();
    std::os::unix::fs::symlink(libraries.parent().unwrap(), scratch.join("examples/build")).unwrap();
    let page = fs::read_to_string(root().join("docs/shop.md")).unwrap();
    scratch.write("my-shop.toml", page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap());
    scratch
}

/// The command with what a page names replaced by what is there, and narrowed so that it takes a moment.
fn substitute_names(command: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let asks_for_advice = command.contains(" advise ") || command.contains(" tune ");
    let is_generate = command.contains(" generate ");
    let mut given = command.split_whitespace();
    while let Some(word) = given.next() {
        if ["--remote", "--url", "--clients"].contains(&word) {
            // The other machine is this one, and its server a private one; what the way there does is tested with the runs on others.
            given.next();
            continue;
        }
        let previous = words.last().map(String::as_str);
        let short = SHORT.iter().find(|(option, _)| previous == Some(option));
        let word = match word {
            _ if previous == Some("--text") => "books",
            _ if is_generate && previous == Some("--size") => "64KiB",
            // As many as the run that is there has.
            _ if asks_for_advice && previous == Some("--records") => "20",
            _ if asks_for_advice && previous == Some("--size") => "100B",
            _ if short.is_some() => short.unwrap().1,
            // Each trial with a load waits for the load first: one store is enough to see that the command runs.
            _ if previous == Some("--store")
                && (command.contains("--background") || command.contains("disturbed")) =>
            {
                word.split(',').next().unwrap()
            }
            "RUN" => "latest",
            word if word.starts_with("storebench-runs/") => "storebench-runs/a-run",
            word => word,
        };
        words.push(word.replace("/mnt/", "mnt/"));
    }
    let has_option = |option: &str| words.iter().any(|word| word == option);
    let is_advice = words[1] == "advise" && !has_option("--from");
    let is_study = words[1] == "run" && !has_option("--resume") && !has_option("--dry-run");
    let find_narrowing =
        |study: &str| NARROW.lines().find_map(|line| line.trim().strip_prefix(study)?.strip_prefix(' '));
    let narrow =
        words.get(2).and_then(|study| find_narrowing(study)).or_else(|| find_narrowing("other")).unwrap();
    let narrow: Vec<&str> = narrow.split(' ').collect();
    let narrow = narrow.chunks(2).map(|pair| (pair[0], pair[1]));
    let narrow = narrow.filter(|(option, _)| is_study && !has_option(option));
    let narrow = narrow.filter(|(option, _)| *option != "--operations" || !has_option("--duration"));
    // It has no weaker guarantee than the one that the study asks for.
    let narrow = narrow.filter(|(option, _)| *option != "--guarantee" || !has_option("etcd"));
    let additions: String = narrow.map(|(option, value)| format!(" {option} {value}")).collect();
    let advice = [("--store", "sqlite,flat-folder"), ("--budget", "1s")];
    let advice = advice.iter().filter(|(option, _)| is_advice && !has_option(option));
    let additions =
        advice.fold(additions, |additions, (option, value)| format!("{additions} {option} {value}"));
    let additions =
        if words[1] == "tune" && !has_option("--budget") { additions + " --budget 1s" } else { additions };
    // It takes half of the budget for each of two things: of a second, a busy machine has nothing left for the other.
    let line = words.join(" ") + &additions;
    if is_advice && has_option("--tune") { line.replace("--budget 1s", "--budget 10s") } else { line }
}

/// Tries commands side by side, as most of their time is spent waiting for a disk.
fn try_all(commands: Vec<(String, String)>) {
    // Narrowed, some are alike.
    let scripts: BTreeMap<String, String> =
        commands.into_iter().map(|(line, place)| (script(&line), place)).collect();
    let commands = Mutex::new(scripts.into_iter());
    let runs = make_named_runs();
    let files = make_named_files(&runs);
    let next = || commands.lock().unwrap().next();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((script, place)) = next() {
                    try_out(&script, &place, &files);
                }
            });
        }
    });
}

/// A command, and what a shell does with it.
fn without_shell(line: &str) -> (&str, &str) {
    let end = [" | ", " > ", " >", " && ", " ; ", " #"].iter().filter_map(|mark| line.find(mark)).min();
    line.split_at(end.unwrap_or(line.len()))
}

/// A line as it is run: its command is narrowed, and what it is piped into stays.
fn script(line: &str) -> String {
    let (command, rest) = without_shell(line);
    format!("{}{rest}", substitute_names(command))
}

/// Runs a command line as a shell does.
fn try_out(script: &str, place: &str, files: &Scratch) {
    let scratch = Scratch::in_memory();
    let source = format!("{}/.", files.path().display());
    assert!(Command::new("cp").args(["-a", &source]).arg(scratch.path()).status().unwrap().success());
    let path =
        format!("{}:{}", Path::new(STOREBENCH).parent().unwrap().display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash")
        .args(["-o", "pipefail", "-c", script])
        .env("PATH", path)
        .current_dir(scratch.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let output = Said::new(&output);
    // Not every system lets its users limit a trial.
    let unlimited = script.contains("--machine") && output.err.contains("can't be limited here");
    // Nor lets them mount, or has all that every study needs.
    let is_in_image = ["--place", "run crash"].iter().any(|word| script.contains(word));
    let unmounted = is_in_image && output.err.contains("no cell can run");
    let incomplete =
        script.contains("storebench doctor") && output.code == Some(Exit::Incomplete.code().into());
    // Nor room for ten million records.
    let too_large = output.err.contains("no cell can run") && output.err.contains(" of disk, and ");
    let code = match () {
        () if too_large => Exit::DiskFull,
        () if unlimited || unmounted => Exit::Nothing,
        () if incomplete => Exit::Incomplete,
        () => Exit::Success,
    };
    assert_eq!(output.code, Some(code.code().into()), "{place}\ntried as: {script}\n{output}");
}
