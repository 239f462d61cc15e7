//! The sentences that the command line prints, of none, one, two and many: one snapshot. Those of reports and advice: crates/report.

#[path = "../../../report/src/tests/template.rs"]
mod template;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use self::template::{reads_well, sentences};
use crate::cli::support::{Said, Scratch, TINY};

const NUMBERS: [usize; 4] = [0, 1, 2, 12];

/// Units of what is measured: their numbers are never the same.
const UNITS: [&str; 12] =
    ["ns", "µs", "ms", "s", "min", "h", "B", "KiB", "MiB", "GiB", "%", "operations per second"];

/// A trace of a number of operations, each on a separate key; gets come before any write. `back` of them go back in time.
fn trace(operations: usize, gets: bool, late: usize) -> String {
    let mut text = String::from("time_ms,operation,key_hex,size\n");
    for number in 0..operations {
        let time = if number > operations - late.min(operations) { 500 } else { 1000 + number };
        let operation = if gets { "get" } else { "set" };
        // Writing to a string can't fail.
        let _ = writeln!(text, "{time},{operation},{number:04x},10");
    }
    text
}

/// Of traces, with each number of each thing.
fn outputs_of_traces(scratch: &Scratch) -> Vec<Said> {
    let mut outputs = Vec::new();
    for number in NUMBERS {
        for (gets, back) in [(false, 0), (true, 0), (false, 2), (false, 3)] {
            scratch.write("a-trace.csv", trace(number, gets, back));
            outputs.push(scratch.storebench("trace a-trace.csv"));
        }
    }
    outputs
}

/// Values in a file, some of which are empty: each message comes before the error that there is no such store.
fn outputs_of_values(scratch: &Scratch) -> Vec<Said> {
    let try_values = |(values, empty): (usize, usize)| {
        let rows = (0..values).map(|row| format!("{row},{}\n", "a".repeat(100 + row)));
        let rows = rows.chain((0..empty).map(|row| format!("{row},\n")));
        scratch.write("values.csv", format!("id,text\n{}", rows.collect::<String>()));
        scratch.storebench("advise --like values.csv:text --store nosuch")
    };
    [(0, 0), (0, 1), (0, 2), (1, 0), (2, 1), (12, 2)].map(try_values).into()
}

/// Of plans that are not carried out.
fn outputs_of_plans(scratch: &Scratch) -> Vec<Said> {
    let study = TINY.replace("--trials 1", "");
    let plans = [
        "--store sqlite --trials 1",
        "--store lmdb,sqlite --trials 2",
        "--store lmdb,sqlite --trials 3 --budget 1m",
        "--store lmdb,sqlite --trials 3 --precision 5%",
        "--store leveldb,berkeleydb,sqlite --trials 1 --guarantee none",
        "--store leveldb,sqlite --trials 1 --guarantee none",
    ];
    plans.map(|more| scratch.storebench(&format!("run crud --dry-run {study} {more}"))).into()
}

/// Of runs in which none, one and two trials fail, and of what is done with them afterwards.
fn outputs_of_runs(scratch: &Scratch) -> Vec<Said> {
    let study = TINY.replace("--trials 1", "");
    let run = |(store, trials): (&str, u32)| {
        scratch.faulty(&format!("run crud --store {store} {study} --trials {trials}"))
    };
    let mut outputs: Vec<Said> =
        [("flat-folder", 1), ("lies", 1), ("lies", 2), ("refuses", 1), ("refuses", 2)].map(run).into();
    outputs.push(scratch.faulty("run --resume latest"));
    outputs.push(scratch.storebench("clean ."));
    outputs
}

/// Of comparisons by which CI decides.
fn outputs_of_gates() -> Vec<Said> {
    let gates = [
        "before after --fail-above 10%",
        "before slow --fail-above 10%",
        "before slow --fail-above 10% --figure latency_mean",
        "before broken --fail-above 10%",
        "before one --fail-above 10%",
        "before other --fail-above 10%",
    ];
    let scratch = crate::cases::prepared_folder("comparing");
    gates.map(|gate| scratch.storebench(&format!("compare {gate}"))).into()
}

/// Of numbers that are too small or too large.
fn outputs_of_bounds(scratch: &Scratch) -> Vec<Said> {
    let commands = [
        "run crud --records 0",
        "run crud --trials 0",
        "run crud --operations 0",
        "run crud --dry-run --threads 0",
        "run sqlite-settings --rows 100G",
        "advise --records 0 --size 1KiB",
        "advise --records 1P --size 1KiB",
        "generate shop --size 1TiB --out here --threads 0",
    ];
    commands.map(|arguments| scratch.storebench(arguments)).into()
}

/// A text in which wrapped lines are whole again: the next line continues a long one that ends without a full stop.
fn unwrapped(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines().map(str::trim) {
        out.push_str(line);
        let goes_on = line.chars().count() > 55 && !line.ends_with(['.', ':', ')']);
        out.push(if goes_on { ' ' } else { '\n' });
    }
    out
}

fn without_progress(text: &str) -> String {
    text.lines().filter(|line| !line.contains(" left; now ")).map(|line| format!("{line}\n")).collect()
}

/// A sentence in which figures that are measured are `N`, and times are in seconds.
fn without_figures(sentence: &str) -> String {
    let mut sentence = sentence.to_owned();
    for (number, unit) in ["0", "1", "2"].into_iter().flat_map(|number| UNITS.map(|unit| (number, unit))) {
        for end in [" ", ",", ".", ":", ";", ")"] {
            sentence = format!("{sentence} ")
                .replace(&format!(" {number} {unit}{end}"), &format!(" N {unit}{end}"))
                .trim_end()
                .to_owned();
        }
    }
    ["N ms", "N µs", "N ns", "N min N s"]
        .iter()
        .fold(sentence, |sentence, time| sentence.replace(time, "N s"))
}

#[test]
fn the_sentences_of_the_command_line_read_well_with_any_number() {
    let scratch = Scratch::in_memory();
    let mut all = String::new();
    for (title, outputs) in [
        ("traces", outputs_of_traces(&scratch)),
        ("values", outputs_of_values(&scratch)),
        ("plans", outputs_of_plans(&scratch)),
        ("runs", outputs_of_runs(&scratch)),
        ("gates", outputs_of_gates()),
        ("bounds", outputs_of_bounds(&scratch)),
    ] {
        // Reports and comparisons have a separate snapshot.
        let texts = outputs.iter().flat_map(|output| match title {
            "runs" | "gates" => vec![output.err.as_str()],
            _ => vec![output.err.as_str(), output.out.as_str()],
        });
        // Reports of progress depend on the machine's speed; what a run or a gate says is not wrapped.
        let texts: Vec<String> = match title {
            "runs" | "gates" => texts.map(without_progress).collect(),
            _ => texts.map(unwrapped).collect(),
        };
        let distinct: BTreeSet<String> = texts
            .iter()
            .flat_map(|text| sentences(text))
            .map(|sentence| without_figures(&sentence))
            .collect();
        let _ = writeln!(all, "# {title}");
        for sentence in distinct {
            let _ = writeln!(all, "{sentence}");
        }
    }
    reads_well(&all);
    insta::assert_snapshot!("sentences", all);
}
