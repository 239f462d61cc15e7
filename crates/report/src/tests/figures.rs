//! How figures are shown: widths, marks, and what is left unsaid.

use storebench_figures::column::Column;
use storebench_figures::data::merge::Merged;
use storebench_figures::data::spread::LEGEND;
use storebench_host::run::Run;
use storebench_model::cell::Background;
use storebench_model::stores::NULL;
use storebench_model::units::CountRange;
use storebench_samples::{Sample, blocks, run};
use unicode_width::UnicodeWidthStr;

use crate::advice::Advice;
use crate::advice::tests::question;
use crate::compare::{self, Comparison, Side};
use crate::report::Report;
use crate::terminal::grid::Style;
use crate::terminal::{self, section};

/// A store without and with a load, which makes it `times` slower.
fn loaded_pair(store: &str, records: u64, ns: f64, times: f64) -> [Sample; 2] {
    let sample = Sample::new(store).records(CountRange::starting_at(records));
    [sample.clone().ns(ns), sample.background(Background::Cpu(2)).ns(ns * times)]
}

#[test]
fn what_a_load_costs_fits_any_width() {
    let stores = [("sqlite", 9_000.0, 1.31), ("nested-folder", 40_000.0, 2.4), ("rocksdb", 3_000.0, 12.75)];
    let samples: Vec<Vec<Sample>> = (0..3)
        .map(|block| {
            let wobble = |index: usize| 1.0 + ((block * 31 + index * 17) % 7) as f64 / 50.0;
            let of_store = |(index, (store, ns, times)): (usize, (&str, f64, f64))| {
                let small = loaded_pair(store, 100, ns, times * wobble(index));
                let large = loaded_pair(store, 100_000, ns * 5.0, times * wobble(index + 1));
                let video = Sample::new(store).background(Background::Video).ns(ns * 1.05 * wobble(index));
                [&small[..], &large, &[video]].concat()
            };
            stores.into_iter().enumerate().flat_map(of_store).collect()
        })
        .collect();
    let runs = [blocks("mybox", &samples)];
    let merged = Merged::new(&runs, &[NULL]);
    for width in [80, 100, 160] {
        let load = crate::sections::find("load").unwrap();
        let style = Style { width, colour: false };
        let text = section::text(load, Report::new(&merged).blocks(load), style, false);
        assert!(text.lines().all(|line| line.width() <= width), "{text}");
        insta::assert_snapshot!(format!("slowdown_{width}"), text);
    }
}

/// Two blocks of everything whose figures differ ten thousand times, under two guarantees and with a load.
fn noisy_run() -> Run {
    let block = |times: f64| -> Vec<Sample> {
        let samples_of = |store: &str, ns: f64| {
            let sample = Sample::new(store).ns(ns * times);
            let power = sample.clone().guarantee("power");
            [sample.clone(), power, sample.background(Background::Cpu(1))]
        };
        [samples_of("lmdb", 1e3), samples_of("redb", 7e3), samples_of("sqlite", 2e3)].concat()
    };
    // A block that is worse for one store is better for the next, so that ratios differ widely, too.
    let mut run = blocks("box", &[block(1.0), block(1e4)]);
    for trial in run.trials.iter_mut().filter(|trial| trial.cell.store() == "redb") {
        trial.block = 1 - trial.block;
    }
    run
}

/// Numbers with more than `digits` digits, with the text before them.
fn long_numbers(text: &str, digits: usize) -> Vec<String> {
    let is_digit = |c: char| c.is_ascii_digit() || c == ',';
    let words = text.split(|c: char| !is_digit(c));
    let long_words = words.filter(|word| word.chars().filter(char::is_ascii_digit).count() > digits);
    long_words.map(str::to_owned).collect()
}

#[test]
fn no_text_prints_an_absurd_uncertainty() {
    let runs = [noisy_run()];
    let merged = Merged::new(&runs, &[NULL]);
    let style = Style { width: 160, colour: false };
    let names = ["run".to_owned()];
    let sides = [Side { names: &names, runs: &runs }; 2];
    let figures: Vec<&Column> = compare::comparable().collect();
    let comparison = Comparison::new(sides[0], sides[1], &figures, &[], &[]);
    let advice = Advice::from_runs(&question(), &merged, None, &[]).unwrap();
    let texts = [
        terminal::overview(&Report::new(&merged), style),
        terminal::full(&Report::new(&merged), style),
        compare::terminal::text(&comparison, usize::MAX, style),
        compare::markdown::text(&comparison),
        advice.text(None, style),
        advice.html(None).into_string(),
    ];
    for text in &texts {
        assert_eq!(long_numbers(text, 8), Vec::<String>::new(), "{text}");
    }
    // Each report explains its marks once.
    let mut page = Vec::new();
    crate::page::write(&Report::new(&merged), None, &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    for text in texts[1..4].iter().chain([&page]) {
        assert_eq!(text.matches("(a..b)").count(), 1, "{text}");
    }
    // The load's cost: both blocks are equally slower.
    assert!(texts[0].contains("×1.00"), "{}", texts[0]);
    let [_, full, compared, ..] = &texts;
    assert!(compared.contains("(×0.000100..×10,000)"), "{compared}");
    assert!(compared.contains("too few for an interval"), "{compared}");
    assert!(full.contains(" (1.00 µs..10.0 ms)") && full.contains(LEGEND), "{full}");
    let starts_interval = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit() || c == '<' || c == '>');
    assert!(!full.split('±').skip(1).any(starts_interval), "{full}");
}

#[test]
fn a_store_that_is_not_ranked_is_shown_with_its_reason_and_its_figures() {
    let samples = [Sample::new("rocksdb").ns(1.0).distributed(true), Sample::new("lmdb")];
    let runs = [run("box", &samples)];
    let merged = Merged::new(&runs, &[]);
    let style = Style { width: 200, colour: false };
    let sentence = "Not ranked: rocksdb (the distribution's library, built with assertions).";
    let report = Report::new(&merged);
    let (overview, full) = (terminal::overview(&report, style), terminal::full(&report, style));
    assert!(overview.contains(sentence) && !overview.contains("rocksdb 1"), "{overview}");
    assert!(full.contains(sentence), "{full}");
    let line = full.lines().find(|line| line.contains("rocksdb (not ranked)")).unwrap();
    assert!(line.contains("1.00 ns") && !line.contains('*'), "{line}");
    let clean = [run("box", &[Sample::new("rocksdb").distributed(false), Sample::new("lmdb")])];
    let full = terminal::full(&Report::new(&Merged::new(&clean, &[])), style);
    assert!(!full.to_lowercase().contains("not ranked"), "{full}");
}

#[test]
fn what_no_pair_of_a_plan_has_is_not_said_to_be_missing() {
    let sample = |store: &str, size: &str, records: &str| {
        Sample::new(store).size(size.parse().unwrap()).records(records.parse().unwrap())
    };
    let pairs = ["lmdb", "sqlite"]
        .map(|store| [sample(store, "100B..1KiB", "10000"), sample(store, "10KiB..100KiB", "1000")]);
    let mut run = run("box", &pairs.concat());
    let mut plan = storebench_host::plan::find("crud").unwrap();
    let mut overview = |plan: &storebench_host::plan::Plan| {
        run.header.plan = plan.to_toml().unwrap();
        let runs = [Run::new(run.header.clone(), run.trials.clone())];
        let merged = Merged::new(&runs, &[]);
        terminal::overview(&Report::new(&merged), Style { width: 100, colour: false })
    };
    let whole_text = overview(&plan);
    assert!(whole_text.contains("Not run\n  lmdb: "), "{whole_text}");
    plan.apply_preset("quick").unwrap();
    let paired = overview(&plan);
    assert!(!paired.contains("Not run\n"), "{paired}");
}
