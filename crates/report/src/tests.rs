mod figures;
mod findings;
mod spoken;
mod template;

use storebench_figures::data::merge::Merged;
use storebench_host::run::Run;
use storebench_samples::{Sample, blocks};

use crate::files;
use crate::page;
use crate::report::Report;
use crate::terminal::{self, Style};

const TUNED: &str = "sqlite.page_size=65536";
const PLAIN: &str = "sqlite.page_size not set";

/// Two runs of the same cells, of which the second set a setting, and took three times as long.
fn unlike() -> [Run; 2] {
    let run = |ns: f64, plan: &str| {
        let block = |noise: f64| vec![Sample::new("sqlite").ns(ns * noise), Sample::new("lmdb").ns(900.0)];
        let mut run = blocks("box", &[block(1.0), block(1.01), block(0.99)]);
        run.header.plan = plan.into();
        run
    };
    let tuned = "operations = 1000\n[settings.sqlite]\npage_size = \"65536\"\n";
    [run(1000.0, "operations = 1000\n"), run(3000.0, tuned)]
}

fn text(runs: &[Run], write: impl Fn(&Merged<'_>, &mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&Merged::new(runs, &[]), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn every_output_keeps_runs_of_another_method_apart_and_says_in_what_they_differ() {
    let style = Style { width: 100, colour: false };
    let runs = unlike();
    let merged = Merged::new(&runs, &[]);
    assert_eq!(merged.groups.len(), 2);
    assert!(merged.groups.iter().all(|group| group.trials.len() == 6));
    let outputs = [
        ("terminal", terminal::overview(&Report::new(&merged), style)),
        ("table", terminal::full(&Report::new(&merged), style)),
        ("page", text(&runs, |merged, out| page::write(&Report::new(merged), None, out))),
        ("csv", text(&runs, files::csv::write)),
        ("json", text(&runs, |merged, out| files::json::write(&Report::new(merged), out))),
    ];
    for (name, output) in outputs {
        assert!(output.contains(TUNED) && output.contains(PLAIN), "{name}: {output}");
    }
}

#[test]
fn no_output_averages_runs_of_another_method() {
    let runs = unlike();
    let csv = text(&runs, files::csv::write);
    let inserts: Vec<&str> = csv.lines().filter(|line| line.contains(",SQLite3,insert,")).collect();
    assert_eq!(inserts.len(), 2, "{csv}");
    assert!(inserts.iter().all(|line| line.split(',').count() == 11), "{inserts:?}");
    let merged = Merged::new(&runs, &[]);
    let matrices = storebench_figures::data::matrix::matrices(&merged);
    let best = matrices.iter().map(|matrix| &matrix.rows[0].contests[0].contenders[0].store);
    assert_eq!(best.collect::<Vec<_>>(), ["lmdb", "lmdb"]);
}

#[test]
fn runs_of_one_method_are_put_together_as_before() {
    let [first, _] = unlike();
    let mut seeded = first.clone();
    seeded.header.plan.push_str("seed = 7\ntrials = 9\n");
    let runs = [first, seeded];
    let merged = Merged::new(&runs, &[]);
    assert_eq!((merged.groups.len(), merged.groups[0].key.method.as_str()), (1, ""));
    let csv = text(&runs, files::csv::write);
    assert!(csv.contains("box,SQLite3,insert,"), "{csv}");
}
