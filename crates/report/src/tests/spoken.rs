//! Collects the sentences of reports about none, one, two and many in one snapshot, to be read aloud; numbers above two are only many.

use std::fmt::Write as _;

use indexmap::IndexSet;
use storebench_figures::column::COLUMNS;
use storebench_figures::data::merge::Merged;
use storebench_host::run::Run;
use storebench_model::result::{LeftOutCell, LeftOutReason};
use storebench_model::store::Guarantee;
use storebench_model::units::CountRange;
use storebench_samples::{Sample, blocks};

use crate::advice::Advice;
use crate::advice::question::{Goal, Question};
use crate::compare::{Comparison, FIGURES, Side, terminal as compared};
use crate::report::Report;
use crate::terminal::{self, Style};
use crate::tuning::race::Kind;
use crate::tuning::{MADE_STORE, TunedSettings, made_question, made_run};

use super::template::{reads_well, sentences};

/// Wide enough for every sentence to be one line.
const WIDE: Style = Style { width: 10_000, colour: false };

const STORES: [&str; 4] = ["sqlite", "lmdb", "rocksdb", "leveldb"];

/// A made run with one, two or many of each kind.
#[derive(Clone, Copy)]
struct Made {
    stores: usize,
    trials: usize,
    counts: u64,
    /// Trials of the last store that failed or were unsupported, and combinations that were left out.
    failed: usize,
    unsupported: bool,
    left_out: usize,
    /// The factor between successive stores.
    apart: f64,
    /// The scatter of trials.
    scatter: f64,
    tier: &'static str,
}

const PLAIN: Made = Made {
    stores: 3,
    trials: 5,
    counts: 2,
    failed: 0,
    unsupported: false,
    left_out: 0,
    apart: 1.5,
    scatter: 0.02,
    tier: "process",
};

impl Made {
    fn run(self) -> Run {
        let block = |number: usize| {
            let all = (0..self.counts).flat_map(|count| (0..self.stores).map(move |store| (count, store)));
            all.map(|(count, store)| self.sample(number, count, store)).collect::<Vec<_>>()
        };
        let mut run = blocks("box", &(0..self.trials).map(block).collect::<Vec<_>>());
        for number in 0..self.left_out {
            let cell =
                Sample::new("lmdb").records(CountRange::starting_at(10_000_000 + number as u64)).cell();
            run.header.left_out.push(LeftOutCell {
                cell,
                reason: LeftOutReason::Sentence("over the size limit of 10 GiB".into()),
            });
        }
        run
    }

    fn sample(self, block: usize, count: u64, store: usize) -> Sample {
        let noise = 1.0 + self.scatter * ((block * 7 + store * 3) % 5) as f64;
        let sample = Sample::new(STORES[store])
            .guarantee(self.tier)
            .records(CountRange::starting_at(100 * (count + 1)))
            .ns(1000.0 * self.apart.powi(store as i32) * noise);
        match store + 1 == self.stores {
            true if block < self.failed && count == 0 => sample.failed("disk I/O error"),
            true if self.unsupported => sample.unsupported("not in this build"),
            _ => sample,
        }
    }
}

/// Runs that differ from a plain one in one respect each.
fn made_runs() -> Vec<Made> {
    let mut runs = vec![PLAIN];
    runs.extend([1, 2, 4].map(|stores| Made { stores, ..PLAIN }));
    runs.extend([1, 2, 3, 12].map(|trials| Made { trials, ..PLAIN }));
    runs.extend([1, 2, 12].map(|trials| Made { trials, apart: 1.0, scatter: 0.2, ..PLAIN }));
    runs.extend([1, 3].map(|counts| Made { counts, ..PLAIN }));
    runs.extend([1, 3].map(|counts| Made { counts, apart: 1.0, scatter: 0.2, ..PLAIN }));
    runs.extend([1, 2, 5].map(|failed| Made { failed, ..PLAIN }));
    runs.extend([1, 2, 12].map(|left_out| Made { left_out, ..PLAIN }));
    runs.extend(["none", "power", "default"].map(|tier| Made { tier, ..PLAIN }));
    runs.push(Made { unsupported: true, ..PLAIN });
    runs.push(Made { unsupported: true, stores: 1, ..PLAIN });
    runs.push(Made { apart: 1.0001, scatter: 0.0, ..PLAIN });
    runs.push(Made { apart: 40.0, ..PLAIN });
    runs
}

fn report_sentences() -> IndexSet<String> {
    let print = |made: Made| {
        let runs = [made.run()];
        let merged = Merged::new(&runs, &[]);
        let report = Report::new(&merged);
        [terminal::end_text(&report, WIDE), terminal::overview(&report, WIDE), terminal::full(&report, WIDE)]
            .concat()
    };
    made_runs().into_iter().map(print).flat_map(|text| sentences(&text).collect::<Vec<_>>()).collect()
}

fn advice_sentences() -> IndexSet<String> {
    let print = |made: Made, goal: Goal| {
        let guarantee = made.tier.parse().unwrap_or(Guarantee::Process);
        let question = Question { guarantee, goal, stores: None, ..made_question() };
        let runs = [made.run()];
        let advice = Advice::from_runs(&question, &Merged::new(&runs, &[]), None, &[]);
        advice.map_or_else(|uncovered| uncovered.to_string(), |advice| advice.text(None, WIDE))
    };
    let goals = [Goal::Speed, Goal::Space, Goal::Memory, Goal::Balance];
    let texts = made_runs().into_iter().flat_map(|made| goals.map(|goal| print(made, goal)));
    texts.flat_map(|text| sentences(&text).collect::<Vec<_>>()).collect()
}

/// The sentences of tunings: with and without a gain, with one value and several, in one block of trials and in several.
fn tuning_sentences() -> IndexSet<String> {
    const ALL: [(&[(&str, &str)], f64); 4] =
        [(&[], 1000.0), (&[("a", "1")], 700.0), (&[("a", "2")], 1300.0), (&[("b", "1")], 1000.0)];
    const BEST: &[(&str, &str)] = &[("a", "1")];
    let cut = |mut run: Run, blocks: u32| {
        run.trials.retain(|trial| trial.block < blocks);
        run
    };
    let mut tunings: Vec<(Vec<Run>, u64)> = Vec::new();
    for blocks in [1, 2, 3, 8] {
        for values in 1..=ALL.len() {
            let screen = || cut(made_run(Kind::Screen, &ALL[..values], 100), blocks);
            tunings.push((vec![screen()], 100));
            for ns in [650.0, 1000.0, 1600.0] {
                let proof = cut(made_run(Kind::Proof, &[(&[], 1000.0), (BEST, ns)], 100), blocks);
                let beside = |records| made_run(Kind::Beside, &[(&[], 1000.0), (BEST, 2.0 * ns)], records);
                tunings.push((vec![screen(), proof.clone()], 200));
                tunings.push((vec![screen(), proof, beside(1), beside(1000)], 100));
            }
        }
    }
    let print = |(runs, records): (Vec<Run>, u64)| {
        let question = Question { records, ..made_question() };
        let tuned = TunedSettings::from_runs(&question, &Merged::new(&runs, &[]), &MADE_STORE);
        tuned.map_or_else(|why| why.to_string(), |tuned| tuned.text(None, WIDE))
    };
    tunings.into_iter().map(print).flat_map(|text| sentences(&text).collect::<Vec<_>>()).collect()
}

fn comparison_sentences() -> IndexSet<String> {
    let columns: Vec<_> =
        FIGURES.iter().filter_map(|id| COLUMNS.iter().find(|column| column.id == *id)).collect();
    let slower = |made: Made, factor: f64| {
        let mut run = made.run();
        for operation in
            run.trials.iter_mut().filter_map(|trial| trial.measured.as_mut()).flat_map(|m| &mut m.operations)
        {
            operation.sum_ns = (operation.sum_ns as f64 * factor) as u64;
            operation.latency.mean_ns *= factor;
        }
        run
    };
    let mut collected = IndexSet::new();
    for made in made_runs() {
        for factor in [1.0, 1.5] {
            for (base, new) in [(PLAIN, made), (made, PLAIN), (made, made)] {
                let (base, new) = ([base.run()], [slower(new, factor)]);
                let names = ["a-run".to_owned()];
                let [base, new] = [&base, &new].map(|runs| Side { names: &names, runs });
                let comparison = Comparison::new(base, new, &columns, &[], &[]);
                collected.extend(sentences(&compared::text(&comparison, 2, WIDE)));
            }
        }
    }
    collected
}

#[test]
fn sentences_read_well_with_any_number() {
    let mut text = String::new();
    for (title, collected) in [
        ("reports", report_sentences()),
        ("advice", advice_sentences()),
        ("tunings", tuning_sentences()),
        ("comparisons", comparison_sentences()),
    ] {
        let _ = writeln!(text, "# {title}");
        for sentence in collected {
            let _ = writeln!(text, "{sentence}");
        }
    }
    reads_well(&text);
    insta::assert_snapshot!("sentences", text);
}
