//! Input that was changed at random: the program ends with a documented exit code, soon, without a panic, and says why in bounded words.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use storebench_model::error::Exit;

use super::{tries, tries_for_a_while};
use crate::cli::support::{OWN, STOREBENCH, Said, Scratch, TINY, root};

/// The most that an answer to bad input may say on standard error, in bytes.
const MOST_WORDS: usize = 20_000;
/// A bound for a machine that does much else; the program takes a hundredth of it.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Runs storebench, and fails unless it ends as it should whatever it was given.
#[track_caller]
fn withstands<'a>(scratch: &Scratch, arguments: impl IntoIterator<Item = &'a str>) -> Said {
    let mut command = Command::new(STOREBENCH);
    command.args(arguments).current_dir(scratch.path()).stdin(Stdio::null());
    let start = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (out, err) =
        (read_in_thread(child.stdout.take().unwrap()), read_in_thread(child.stderr.take().unwrap()));
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if start.elapsed() > MAX_WAIT => child.kill().unwrap(),
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let output = Said { code: status.code(), out: out.join().unwrap(), err: err.join().unwrap() };
    let shown: String = format!("{command:?}").chars().take(2000).collect();
    let codes: Vec<i32> = Exit::ALL.iter().map(|exit| exit.code().into()).collect();
    assert!(output.code.is_some_and(|code| codes.contains(&code)), "{shown}\n{output}");
    assert!(!output.err.contains("panicked at"), "{shown}\n{output}");
    assert!(output.err.len() < MOST_WORDS, "{} bytes\n{shown}", output.err.len());
    for leak in ["struct ", "expected enum", "field `"] {
        assert!(!output.err.contains(leak), "{leak}: {shown}\n{output}");
    }
    let has_control =
        |text: &str| text.chars().any(|letter| letter.is_control() && !matches!(letter, '\n' | '\t'));
    assert!(!has_control(&output.err) && !has_control(&output.out), "escape codes\n{shown}\n{output}");
    output
}

fn read_in_thread(mut stream: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Odd values between blanks, the first of which is empty.
const ODD: &str = " 0 -1 1 18446744073709551615 18446744073709551616 1e308 1e999 inf nan -0 0x10 1.. ..1 1..0 1..1 .. 1B.. 1GiB \
    1GiB..2GiB 16777216TiB 0B 0s 1e300h 0.0001ms 0% 100% 101% 1e-320% closed 0/s 4294967296/s cpu:0 cpu:4294967296 \
    disk:1e30/s memory:100% a,b , ,, = a=b get=1e308,insert=1e308 get=0 ../.. / /dev/null \u{1b}[2J \u{9b}31m é 日本 \
    \u{202e} ' \" ` latest -- - {} %s";

/// A text instead of a value.
fn odd_value(random: &mut fastrand::Rng) -> String {
    let odd: Vec<&str> = ODD.split(' ').collect();
    match random.u8(..8) {
        0 => odd[random.usize(..odd.len())].repeat(random.usize(1..2000)),
        1 => std::iter::repeat_with(|| random.char(..)).filter(|letter| *letter != '\0').take(20).collect(),
        2 => random.u64(..).to_string(),
        _ => odd[random.usize(..odd.len())].to_owned(),
    }
}

fn mutate_copy(text: &[u8], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut text = text.to_vec();
    (0..random.usize(1..6)).for_each(|_| mutate(&mut text, random));
    text
}

/// Changes some bytes of a text: cuts, repeats, replaces, flips.
pub fn mutate(text: &mut Vec<u8>, random: &mut fastrand::Rng) {
    let start = random.usize(..text.len().max(1)).min(text.len());
    let end = (start + random.usize(..80)).min(text.len());
    match random.u8(..6) {
        0 => drop(text.drain(start..end)),
        1 => {
            let piece = text[start..end].repeat(random.usize(1..20));
            text.splice(start..start, piece);
        }
        2 if start < text.len() => text[start] ^= 1 << random.u8(..8),
        3 => text.truncate(start),
        4 => drop(text.splice(start..start, odd_value(random).into_bytes())),
        _ => replace_number(text, start, random),
    }
}

/// Replaces the next number by something odd.
fn replace_number(text: &mut Vec<u8>, offset: usize, random: &mut fastrand::Rng) {
    let Some(start) = text[offset..].iter().position(u8::is_ascii_digit).map(|digit| offset + digit) else {
        return;
    };
    let length = text[start..].iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len() - start);
    let odd = ["0", "-1", "1e308", "4294967296", "18446744073709551615", "\"x\"", "null", "[]", "{}", "true"];
    text.splice(start..start + length, odd[random.usize(..odd.len())].bytes());
}

#[test]
fn mutated_plans_are_read_or_refused() {
    let scratch = Scratch::new();
    let study = fs::read(root().join("studies/crud.toml")).unwrap();
    tries(40, |random| {
        let text = if random.bool() { OWN.as_bytes() } else { &study };
        scratch.write("mutated.toml", mutate_copy(text, random));
        withstands(&scratch, ["run", "mutated.toml", "--dry-run"]);
    });
}

#[test]
fn plans_without_measure_are_refused_at_once() {
    let scratch = Scratch::new();
    let list = |word: &str| format!("[{}]", vec![word; 100_000].join(","));
    let names: Vec<String> = (0..40_000).map(|n| format!("\"store-{n}\"")).collect();
    let long = "x".repeat(900_000);
    let claim = "[[claim]]\nsays = \"a\"\nsource = \"b\"\nfigure = [\"get\"]\nexpect.winner = { stores = [\"flat-folder\"] }\n";
    for (original, replacement) in [
        ("[\"insert\", \"get\"]", &*list("\"insert\"")),
        ("[\"flat-folder\", \"nested-folder\"]", &format!("[{}]", names.join(","))),
        ("trials = 2", &format!("trials = 2\nclaims_among = [{}]", names.join(","))),
        ("trials = 2", &format!("trials = 2\nclaims_among = [\"{}\"]", &long[..400_000])),
        ("trials = 2", &format!("trials = \"{long}\"")),
        ("trials = 2", &format!("{long} = 2")),
        ("trials = 2", &format!("trials = {}", "[".repeat(100_000))),
        ("\"flat-folder\"", &format!("\"{long}\"")),
        ("\"crud\"", &format!("\"{}\"", "`x".repeat(400_000))),
        ("guarantee = [\"process\"]", &format!("trials = 1\n{}", claim.repeat(8_000))),
        ("guarantee = [\"process\"]", &format!("trials = 1\n{claim}at = 5\n")),
        ("guarantee = [\"process\"]", &"#".repeat(5_000_000)),
    ] {
        assert!(OWN.contains(original), "{original}");
        scratch.write("odd.toml", OWN.replacen(original, replacement, 1));
        withstands(&scratch, ["run", "odd.toml", "--dry-run"]);
    }
    withstands(&scratch, ["run", "/dev/zero"]);
}

fn with_a_run() -> &'static Scratch {
    static RUN: OnceLock<Scratch> = OnceLock::new();
    RUN.get_or_init(|| {
        let scratch = Scratch::new();
        let study = TINY.replace("--trials 1", "--trials 3 --shard 1/1");
        scratch.storebench(&format!("run crud --store sqlite,flat-folder {study}")).ends(Exit::Success);
        scratch
    })
}

#[test]
fn mutated_runs_are_read_or_refused() {
    let scratch = Scratch::new();
    let run = with_a_run().only_run();
    let files = ["run.json", "results.jsonl"].map(|name| (name, fs::read(run.join(name)).unwrap()));
    let forms = " --table --csv --json --published --html compare --resume check site merge";
    let forms: Vec<&str> = forms.split(' ').collect();
    tries_for_a_while(60, |random| {
        let changed = random.usize(..files.len());
        for (index, (name, text)) in files.iter().enumerate() {
            let text = if index == changed { mutate_copy(text, random) } else { text.clone() };
            scratch.write(&format!("mutated/{name}"), text);
        }
        match forms[random.usize(..forms.len())] {
            "" => withstands(&scratch, ["report", "mutated"]),
            "--html" => withstands(&scratch, ["report", "mutated", "--html", "mutated/page.html"]),
            "check" => withstands(&scratch, ["check", "mutated"]),
            form @ ("site" | "merge") => {
                let _ = fs::remove_dir_all(scratch.join("made"));
                withstands(&scratch, [form, "mutated", "--out", "made"])
            }
            "compare" => withstands(&scratch, ["compare", &run.display().to_string(), "mutated", "--unlike"]),
            // With another plan it might go on for ever.
            "--resume" if changed == 0 => return,
            "--resume" => withstands(&scratch, ["run", "--resume", "mutated"]),
            form => withstands(&scratch, ["report", "mutated", form]),
        };
    });
}

/// What the process says that has loaded it: a library may have written that itself.
const ANSWER: &str = r#"{"Ok":[{"name":"mine","summary":"a \u001b[31mlog","practice":"","version":"1.0","codec":null,"flags":1,
    "max_key_bytes":64,"max_bytes":1000,"sessions":0,"shipped":1,"settings":[{"name":"sync","values":"none, all","default":"none",
    "help":"waits","promise":"","tune":"all","in_bytes":false}],"offers":[{"tier":1,"atomic_replace":true,"kill_costs":0,
    "power_cut_costs":6,"settings":"as it is","why":""}]}]}"#;

#[test]
fn mutated_answers_of_libraries_are_read_or_refused() {
    let scratch = Scratch::new();
    let mut build = Command::new("sh");
    build.args(["-euc", ". \"$CASES/helpers.sh\"; library ANSWERS_ASK"]).current_dir(scratch.path());
    build.env("CASES", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/integration/cases"));
    assert!(build.status().unwrap().success());
    let library = scratch.join("libanswers_ask.so").display().to_string();
    scratch.write("answer.json", ANSWER);
    scratch.storebench(&format!("settings mine --store-library {library}")).ends(Exit::Success);
    tries_for_a_while(40, |random| {
        scratch.write("answer.json", mutate_copy(ANSWER.as_bytes(), random));
        withstands(&scratch, ["settings", "mine", "--store-library", &library]);
    });
}

#[test]
fn odd_values_on_the_command_line_are_taken_or_refused() {
    let scratch = Scratch::new();
    let options = "--store --record-size --records --data --guarantee --threads --rate --tuning --cache --background \
        --trials --operations --order --duration --warm-up --precision --budget --set --equal-cache --seed \
        --size-limit --timeout --visit --compression --text --at --hardware --preset --out";
    let options: Vec<&str> = options.split(' ').collect();
    let advice =
        ["--records", "--size", "--mix", "--threads", "--guarantee", "--max-memory", "--optimize", "--store"];
    tries(120, |random| {
        let value = odd_value(random);
        let short: String = value.chars().filter(|letter| *letter != '/').take(100_000).collect();
        if random.u8(..4) == 0 {
            let option = advice[random.usize(..advice.len())];
            let run = with_a_run().only_run().display().to_string();
            withstands(&scratch, ["advise", "--from", &run, &format!("{option}={value}")]);
        } else {
            // Directories are looked into and made in here.
            let option = options[random.usize(..options.len())];
            let value = if ["--out", "--at", "--text"].contains(&option) { &short } else { &value };
            withstands(&scratch, ["run", "crud", "--quick", "--dry-run", &format!("{option}={value}")]);
        }
    });
}
