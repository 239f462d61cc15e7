use storebench_host::run::Run;
use storebench_model::cell::Data;
use storebench_model::result::{LeftOutCell, LeftOutReason, Requests};
use storebench_model::store::Setting;
use storebench_model::units::{CountRange, SizeRange};
use storebench_samples::normal;
use storebench_samples::{Sample, blocks, run};
use unicode_width::UnicodeWidthStr;

use super::run_differences::tests::run_with_flags;
use super::*;
use crate::terminal::grid::Style;

fn columns(names: &[&str]) -> Vec<&'static Column> {
    let find = |name: &&str| comparable().find(|column| column.id == *name).unwrap();
    names.iter().map(find).collect()
}

/// Names for runs, by side.
fn names(side: &str, runs: &[Run]) -> Vec<String> {
    (1..=runs.len()).map(|number| format!("{side}-{number}")).collect()
}

fn compare<T>(base: &[Run], new: &[Run], read: impl FnOnce(&Comparison<'_>) -> T) -> T {
    compare_by(&FIGURES, base, new, read)
}

fn compare_by<T>(figures: &[&str], base: &[Run], new: &[Run], read: impl FnOnce(&Comparison<'_>) -> T) -> T {
    let (a, b) = (names("before", base), names("after", new));
    let (base, new) = (Side { names: &a, runs: base }, Side { names: &b, runs: new });
    read(&Comparison::new(base, new, &columns(figures), &["null"], &[]))
}

/// A run of some cells whose figures are to be drawn.
fn blank(trials: usize) -> Run {
    let sample = |number: u64| Sample::new("lmdb").records(CountRange::starting_at(100 * (number + 1)));
    blocks("box", &vec![(0..8).map(sample).collect(); trials])
}

/// Causes of differences between trials of the same build.
#[derive(Clone, Copy)]
struct Noise {
    /// The standard deviation of a run's slowness, as a logarithm.
    run: f64,
    /// The share of disturbed trials, slower by a half to fourfold.
    disturbed: f64,
}

const QUIET: Noise = Noise { run: 0.0, disturbed: 0.0 };

/// Draws a run's figures anew, with noise at each level. Files are of one size, except in two cells, whose stores tidied up in half of the
/// trials. `slower`: the factor by which the first cell's operations slow down.
fn draw(run: &mut Run, random: &mut fastrand::Rng, noise: Noise, slower: f64) {
    let weather = noise.run * normal(random);
    let last = run.trials.iter().map(|trial| trial.block).max().unwrap() as usize;
    let blocks: Vec<f64> = (0..=last).map(|_| 0.03 * normal(random)).collect();
    for trial in &mut run.trials {
        let disturbed = if random.f64() < noise.disturbed { 1.5 + 2.5 * random.f64() } else { 1.0 };
        let level = weather + blocks[trial.block as usize] + 0.05 * normal(random);
        let cell = trial.cell.records().from / 100;
        let times = if cell == 1 { slower } else { 1.0 };
        let measured = trial.measured.as_mut().unwrap();
        let mut draw_value =
            |value: f64, spread: f64| (value * (level + spread * normal(random)).exp() * disturbed) as u64;
        for operation in &mut measured.operations {
            operation.sum_ns = draw_value(1e7 * times, 0.03);
            operation.latency.p99_ns = draw_value(5e4 * times, 0.25);
        }
        measured.load.store_ns = draw_value(2e8, 0.05);
        measured.memory.peak_above_base_bytes = draw_value(4e6, 0.01);
        let tidied = cell <= 2 && random.bool();
        measured.disk.allocated_bytes = if tidied { 40_960 } else { 81_920 };
    }
}

#[test]
fn what_could_be_seen_is_seen_and_what_could_not_is_not() {
    let mut random = fastrand::Rng::with_seed(7);
    let (mut base, mut new) = (blank(8), blank(8));
    // Gets of the cell that becomes slower: the smallest change that would be marked, and whether it was.
    let mut look = |slower: f64| {
        draw(&mut base, &mut random, QUIET, 1.0);
        draw(&mut new, &mut random, QUIET, slower);
        compare(std::slice::from_ref(&base), std::slice::from_ref(&new), |comparison| {
            let is_it = |figure: &&FigureChange| {
                figure.figure == "latency_mean"
                    && figure.operation.as_deref() == Some("get")
                    && figure.cell.records().from == 100
            };
            let figure = comparison.figures.iter().find(is_it).unwrap();
            let unseen = |f: &&FigureChange| !f.is_significant() && f.detectable != Some(0.0);
            assert_eq!(comparison.blind_to(0.0).len(), comparison.figures.iter().filter(unseen).count());
            (figure.detectable.unwrap(), figure.verdict == Verdict::Worse)
        })
    };
    let least = (0..50).map(|_| look(1.0).0).sum::<f64>() / 50.0;
    assert!((0.05..0.4).contains(&least), "{least}");
    let mut marked = |share: f64| (0..50).filter(|_| look(1.0 + share).1).count();
    let (half, twice) = (marked(least / 3.0), marked(least * 2.0));
    assert!(half <= 10 && twice >= 45, "{half} and {twice} of 50, from {least} on");
}

/// The share of pairs of sides with any mark though nothing has changed.
fn false_marks(runs: usize, trials: usize, noise: Noise, rounds: u32) -> f64 {
    let mut random = fastrand::Rng::with_seed(11);
    let mut sides = [vec![blank(trials); runs], vec![blank(trials); runs]];
    let marked = (0..rounds).filter(|_| {
        sides.iter_mut().flatten().for_each(|run| draw(run, &mut random, noise, 1.0));
        compare(&sides[0], &sides[1], |comparison| {
            comparison.figures.iter().any(FigureChange::is_significant)
        })
    });
    marked.count() as f64 / f64::from(rounds)
}

/// Two standard deviations of a share of 5 % among 800.
const ROUNDS: u32 = 800;
const MAX_SHARE: f64 = 0.05 + 0.0154;

#[test]
fn the_same_build_twice_is_marked_no_more_often_than_promised() {
    for trials in [3, 5, 10] {
        for disturbed in [0.0, 0.05] {
            let share = false_marks(1, trials, Noise { run: 0.0, disturbed }, ROUNDS);
            assert!(share <= MAX_SHARE, "{trials} trials, {disturbed} disturbed: {share}");
        }
    }
}

#[test]
fn runs_that_differ_as_a_whole_look_like_changes_until_there_are_several_of_each() {
    let noise = Noise { run: 0.1, disturbed: 0.02 };
    let single = false_marks(1, 5, noise, 200);
    assert!(single > 0.3, "docs/compare.md says what trials of one run can't know: {single}");
    let several = false_marks(5, 2, noise, ROUNDS);
    assert!(several <= MAX_SHARE, "{several}");
}

#[test]
fn a_real_change_is_found_and_nothing_else() {
    let mut random = fastrand::Rng::with_seed(5);
    let (mut base, mut new) = (blank(10), blank(10));
    let (mut found, mut others) = (0, 0);
    for _ in 0..200 {
        draw(&mut base, &mut random, QUIET, 1.0);
        draw(&mut new, &mut random, QUIET, 1.3);
        compare(std::slice::from_ref(&base), std::slice::from_ref(&new), |comparison| {
            let (slowed, unchanged): (Vec<&FigureChange>, Vec<_>) =
                comparison.figures.iter().partition(|figure| figure.cell.records().from == 100);
            let is_worse = |f: &&&FigureChange| f.verdict == Verdict::Worse && f.figure == "latency_mean";
            found += slowed.iter().filter(is_worse).count();
            others += usize::from(unchanged.iter().any(|figure| figure.is_significant()));
        });
    }
    assert!(found > 4 * 200 * 9 / 10, "of four operations 200 times: {found}");
    assert!(f64::from(others as u32) / 200.0 <= 0.08, "{others}");
}

/// Cells of three stores before and after: one much slower, one quicker in one size, one unchanged; one failed, one new.
fn changed() -> [Run; 2] {
    let side = |new: bool| {
        let of_block = |block: usize| {
            let wobble = |index: usize| 1.0 + ((block * 7 + index * 3) % 5) as f64 / 200.0;
            let mut samples = Vec::new();
            for (index, (store, ns, now)) in
                [("sqlite", 9e3, 1.4), ("nested-folder", 4e4, 1.0), ("redb", 2e3, 0.3)]
                    .into_iter()
                    .enumerate()
            {
                for (from, to) in [(1, 1024), (1024, 10_240)] {
                    let now = if new && (from == 1 || store == "sqlite") { now } else { 1.0 };
                    let sample = Sample::new(store).size(SizeRange { from, to });
                    let sample = sample.records(CountRange::starting_at(1000));
                    samples.push(sample.ns(ns * now * wobble(index + from as usize + usize::from(new) * 2)));
                }
            }
            let fjall = Sample::new("fjall");
            samples.push(if new { fjall.failed("No space left on device") } else { fjall });
            samples.push(Sample::new("null").ns(20.0));
            if new {
                samples.push(Sample::new("lmdb").data(Data::Compressible));
            }
            samples
        };
        blocks("mybox", &(0..6).map(of_block).collect::<Vec<_>>())
    };
    let [base, mut new] = [side(false), side(true)];
    let redb = new.header.stores.iter_mut().find(|store| store.name == "redb").unwrap();
    redb.version = "2.0.0".into();
    new.header.environment.kernel = "Linux 6.2.0".into();
    for trial in new.trials.iter_mut().filter(|trial| trial.cell.store() == "redb") {
        trial.measured.as_mut().unwrap().settings = vec![Setting::read_back("page_size", 8192)];
    }
    [base, new]
}

fn compare_changed<T>(read: impl FnOnce(&Comparison<'_>) -> T) -> T {
    let [base, new] = changed();
    compare(&[base], &[new], read)
}

#[test]
fn what_matters_most_comes_first() {
    compare_changed(|comparison| {
        let first = &comparison.figures[0];
        assert_eq!((first.cell.store(), first.verdict), ("redb", Verdict::Better));
        assert!((first.change.unwrap().ratio.value - 0.3).abs() < 0.02);
        let split = comparison.figures.iter().position(|figure| !figure.is_significant()).unwrap();
        assert!(comparison.figures[split..].iter().all(|figure| !figure.is_significant()));
        for part in [&comparison.figures[..split], &comparison.figures[split..]] {
            assert!(part.windows(2).all(|pair| pair[0].weight >= pair[1].weight));
        }
        let worse = comparison.figures.iter().filter(|figure| figure.verdict == Verdict::Worse);
        let worse: Vec<&str> = worse.map(|figure| figure.cell.store()).collect();
        assert!(!worse.is_empty() && worse.iter().all(|store| *store == "sqlite"), "{worse:?}");
    });
}

#[test]
fn many_flags_of_a_build_take_no_more_than_a_line() {
    let (many, one) = (run_with_flags("-DA -DB -DC -DD -DE -DF"), run_with_flags("-O2"));
    let lines = compare(&many, &one, words::circumstances);
    let expected = "noted: builds of engines: lmdb built with -DA, -DB, -DC, -DD and 2 more in BASE, lmdb built with -O2 in NEW";
    assert!(lines.iter().any(|line| line == expected), "{lines:?}");
}

#[test]
fn cells_of_one_side_and_broken_ones_are_told() {
    compare_changed(|comparison| {
        let broken: Vec<&str> = comparison.broken.iter().map(|broken| broken.cell.store()).collect();
        assert_eq!(broken, ["fjall"]);
        assert_eq!(comparison.broken[0].reason, "failed (store): No space left on device");
        let only: Vec<(&str, &str)> = comparison.only.iter().map(|o| (o.cell.store(), o.side)).collect();
        assert_eq!(only, [("fjall", "BASE"), ("lmdb", "NEW")]);
        let controls: Vec<&str> = comparison.controls.iter().map(|control| control.cell.store()).collect();
        assert!(!controls.is_empty() && controls.iter().all(|store| *store == "null"), "{controls:?}");
        assert!(comparison.figures.iter().all(|figure| figure.cell.store() != "null"));
        let setting = &comparison.settings[0];
        let values = [setting.base.as_deref(), setting.new.as_deref()];
        assert_eq!((setting.store.as_str(), values), ("redb", [Some("4096"), Some("8192")]));
        assert_eq!((comparison.settings.len(), setting.cells), (1, 2));
    });
    let mut new = run("box", &[Sample::new("redb")]);
    new.header.left_out.push(LeftOutCell {
        cell: Sample::new("lmdb").cell(),
        reason: LeftOutReason::Sentence("too large".into()),
    });
    let other = compare(&[run("box", &[Sample::new("lmdb"), Sample::new("redb")])], &[new], |comparison| {
        comparison.only.clone()
    });
    assert_eq!(other[0].other, "left out: too large");
}

#[test]
fn what_never_varies_and_is_another_now_is_told_and_fails() {
    let side = |bytes: u64, trials: usize| {
        let mut run = blank(trials);
        draw(&mut run, &mut fastrand::Rng::with_seed(bytes), QUIET, 1.0);
        for trial in &mut run.trials {
            trial.measured.as_mut().unwrap().disk.allocated_bytes = bytes;
        }
        run
    };
    compare(&[side(4096, 5)], &[side(40_960, 5)], |comparison| {
        let disk: Vec<_> = comparison.figures.iter().filter(|f| f.figure == "disk_allocated").collect();
        assert!(disk.len() == 8 && disk.iter().all(|figure| figure.verdict == Verdict::Worse));
        assert_eq!((comparison.exact(), comparison.worse_by_more_than(8.9).len()), (8, 8));
        let text = terminal::text(comparison, 6, Style { width: 160, colour: false });
        assert!(text.contains("8 worse") && text.contains("×10.0"), "{text}");
        assert!(text.contains("8 figures are the same in all trials of a side"), "{text}");
    });
    compare(&[side(4096, 5)], &[side(4096, 5)], |comparison| {
        assert!(comparison.figures.iter().all(|figure| !figure.is_significant()));
    });
    // With three on each side, two random sizes separate like this once in 32 times.
    compare(&[side(4096, 3)], &[side(40_960, 3)], |comparison| {
        assert!(comparison.figures.iter().all(|figure| !figure.is_significant()));
    });
}

/// The share of comparisons of a build with itself with any mark, if each of a hundred cells has one of two sizes by chance.
fn marked_by_chance(trials: usize) -> f64 {
    let mut random = fastrand::Rng::with_seed(trials as u64);
    let cells: Vec<Sample> = (0..100).map(|index| Sample::new(&format!("store-{index}"))).collect();
    let run = blocks("box", &vec![cells; trials]);
    let mut sides = [[run.clone()], [run]];
    let rounds = 200;
    let marked = (0..rounds).filter(|_| {
        for trial in sides.iter_mut().flatten().flat_map(|run| &mut run.trials) {
            trial.measured.as_mut().unwrap().disk.allocated_bytes = if random.bool() { 4096 } else { 8192 };
        }
        compare_by(&["disk_allocated"], &sides[0], &sides[1], |found| {
            found.figures.iter().any(FigureChange::is_significant)
        })
    });
    marked.count() as f64 / f64::from(rounds)
}

#[test]
fn exact_changes_are_corrected_for_their_number_too() {
    // A hundred random sizes: each separates by chance once in 512 times.
    let share = marked_by_chance(5);
    assert!(share <= 0.08, "{share}");
}

#[test]
fn more_failures_and_what_is_no_longer_supported_are_told() {
    let side =
        |of_block: &dyn Fn(usize) -> Vec<Sample>| blocks("box", &(0..5).map(of_block).collect::<Vec<_>>());
    let base =
        side(&|_| vec![Sample::new("lmdb"), Sample::new("redb"), Sample::new("fjall").failed("before")]);
    let new = side(&|block| {
        let lmdb = if block < 2 { Sample::new("lmdb").failed("crashed") } else { Sample::new("lmdb") };
        vec![lmdb, Sample::new("redb").unsupported("no more"), Sample::new("fjall").failed("still")]
    });
    compare(&[base], &[new], |comparison| {
        let broken = comparison.broken.iter();
        let broken = broken.map(|b| (b.cell.store(), b.failed, b.trials, b.failed_in_base));
        assert_eq!(broken.collect::<Vec<_>>(), [("lmdb", 2, 5, 0), ("redb", 0, 0, 0)]);
        let text = terminal::text(comparison, 6, Style { width: 160, colour: false });
        assert!(text.contains("2 of 5 trials, none in BASE; failed (store): crashed"), "{text}");
        assert!(text.contains("Failures: 2 cells"), "{text}");
    });
}

#[test]
fn a_default_that_became_another_tier_is_not_compared() {
    let base = run("box", &[Sample::new("sqlite").guarantee("default").tier(Guarantee::Power)]);
    let new = run("box", &[Sample::new("sqlite").guarantee("default").tier(Guarantee::Process)]);
    compare(&[base], &[new], |comparison| {
        assert!(comparison.figures.is_empty());
        let reasons: Vec<(&str, Guarantee)> =
            comparison.only.iter().map(|only| (only.other.as_str(), only.guarantee)).collect();
        let other = "gave another guarantee";
        assert_eq!(reasons, [(other, Guarantee::Power), (other, Guarantee::Process)]);
    });
}

#[test]
fn one_trial_each_claims_nothing_and_says_so() {
    let [base, new] = [1000.0, 9000.0].map(|ns| run("box", &[Sample::new("lmdb").ns(ns)]));
    compare(&[base], &[new], |comparison| {
        assert_eq!((comparison.tested(), comparison.count(Verdict::TooFew)), (0, comparison.figures.len()));
        assert!(comparison.worse_by_more_than(0.01).is_empty());
        let text = terminal::text(comparison, usize::MAX, Style { width: 100, colour: false });
        assert!(text.contains("Nothing can be called significant here") && text.contains("×9.00"), "{text}");
    });
}

#[test]
fn a_limit_is_passed_by_the_whole_interval() {
    let side = |times: f64| {
        let of_block =
            |block: u32| vec![Sample::new("lmdb").ns(1e4 * times * (1.0 + f64::from(block % 3) / 100.0))];
        blocks("box", &(0..8).map(of_block).collect::<Vec<_>>())
    };
    compare(&[side(1.0)], &[side(1.2)], |comparison| {
        let worst = comparison.figures.iter().find(|figure| figure.figure == "latency_mean").unwrap();
        let interval = worst.change.unwrap().ratio.interval.unwrap();
        assert!(interval.low < 1.195 && interval.low > 1.1, "{interval:?}");
        assert!(worst.is_worse_by_more_than(interval.low - 1.0 - 1e-6));
        assert!(!worst.is_worse_by_more_than(interval.low - 1.0 + 1e-6));
        assert!(!worst.is_worse_by_more_than(0.2), "beyond the estimate");
    });
    compare(&[side(1.2)], &[side(1.0)], |comparison| assert!(comparison.worse_by_more_than(0.01).is_empty()));
}

#[test]
fn more_is_better_where_it_is() {
    let [base, new] = changed();
    compare_by(&["throughput", "space_efficiency"], &[base], &[new], |found| {
        let rates: Vec<_> = found.figures.iter().filter(|figure| figure.figure == "throughput").collect();
        let verdict_of = |store: &str| rates.iter().find(|rate| rate.cell.store() == store).unwrap().verdict;
        assert_eq!((verdict_of("sqlite"), verdict_of("redb")), (Verdict::Worse, Verdict::Better));
    });
}

#[test]
fn terminal_snapshots() {
    compare_changed(|comparison| {
        for width in [80, 100, 160] {
            let text = terminal::text(comparison, 6, Style { width, colour: false });
            assert!(text.lines().all(|line| line.width() <= width), "{text}");
            insta::assert_snapshot!(format!("compare_{width}"), text);
        }
        let text = terminal::text(comparison, 6, Style { width: 100, colour: true });
        insta::assert_snapshot!("compare_100_colour", text.replace("\u{1b}[", "‹"));
    });
}

#[test]
fn markdown_snapshot() {
    compare_changed(|comparison| insta::assert_snapshot!("compare_markdown", markdown::text(comparison)));
}

#[test]
fn json_has_everything() {
    let document = compare_changed(|comparison| {
        let mut out = Vec::new();
        json::write(comparison, &mut out).unwrap();
        let document: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(document["figures"].as_array().unwrap().len(), comparison.figures.len());
        document
    });
    let first = &document["figures"][0];
    assert_eq!((&first["verdict"], &first["cell"]["store"]), (&"better".into(), &"redb".into()));
    let ratio = &first["change"]["ratio"];
    assert!(ratio["interval"]["low"].as_f64() < ratio["value"].as_f64());
    assert_eq!(document["base"][0]["name"], "before-1");
    assert_eq!(document["versions"].as_array().unwrap().len(), 5);
}

#[test]
fn the_page_stands_alone_and_takes_no_name_for_markup() {
    let evil = "<script>alert(1)</script>{{others}}|`@you`";
    let side = |ns: f64| {
        let of_block =
            |block: u32| vec![Sample::new(evil).ns(ns + f64::from(block)), Sample::new("x").ns(10.0)];
        let mut run = blocks(evil, &(0..5).map(of_block).collect::<Vec<_>>());
        run.header.study = evil.into();
        run.trials[0].measured.as_mut().unwrap().settings.push(Setting::read_back(evil, ns));
        run
    };
    compare(&[side(1e3)], &[side(2e3)], |comparison| {
        let page = html::text(comparison);
        for tag in ["<script", "<link rel=\"stylesheet", "<img", "@import", "url(", "{{"] {
            assert!(!page.replace("{{others}}", "").contains(tag), "{tag}");
        }
        assert!(page.matches("&lt;script&gt;alert(1)").count() > 4 && page.contains("class=\"worse\""));
        assert_eq!(page.matches("<svg").count(), comparison.figures.len());
        let text = markdown::text(comparison);
        assert!(text.contains("`` <script>alert(1)</script>{{others}}\\|`@you` ``"), "{text}");
    });
}

/// A run on a simulated disk with this number of flushes per insert, more in some blocks than in others; times are of one build.
fn with_flushes(trials: usize, flushes: f64, random: &mut fastrand::Rng) -> Run {
    let mut run = blank(trials);
    draw(&mut run, random, Noise { run: 0.0, disturbed: 0.1 }, 1.0);
    for trial in &mut run.trials {
        for operation in &mut trial.measured.as_mut().unwrap().operations {
            let of_block = 1000 + 37 * u64::from(trial.block);
            let asked = Requests { flushes: (of_block as f64 * flushes) as u64, ..Requests::default() };
            operation.counters.as_mut().unwrap().disk = Some(asked);
        }
    }
    run
}

/// The numbers of marked figures, among those named and among all others.
fn marked(base: Run, new: Run) -> [usize; 2] {
    let named = ["latency_mean", "latency_p99", "disk_flushes_per_operation"];
    compare_by(&named, &[base], &[new], |comparison| {
        // Counts differ between blocks; their ratio is constant.
        let rules = words::rules(comparison).join(" ");
        assert!(!rules.contains("the same in all trials"), "{rules}");
        assert_eq!(rules.contains("in the same ratio in every block"), comparison.exact() > 0, "{rules}");
        let count = |exact: bool| {
            let figures = comparison.figures.iter().filter(|figure| figure.is_worse_by_more_than(0.05));
            figures.filter(|figure| (figure.figure == "disk_flushes_per_operation") == exact).count()
        };
        [count(true), count(false)]
    })
}

#[test]
fn one_flush_more_is_found_where_times_see_nothing_and_none_where_there_is_none() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut run = |flushes| with_flushes(10, flushes, &mut random);
    let all = 8 * 4;
    assert_eq!(marked(run(2.0), run(3.0)), [all, 0]);
    assert_eq!(marked(run(2.0), run(2.0)), [0, 0]);
    assert_eq!(marked(run(0.0), run(1.0)), [all, 0], "from none");
    assert_eq!(marked(run(0.0), run(0.0)), [0, 0]);
    assert_eq!(marked(run(1.0), run(0.0)), [0, 0], "fewer are better");
    // Another seed is other work: blocks are no pairs, and their scatter counts.
    let mut other = run(2.0);
    other.header.plan.push_str("seed = 99\n");
    assert_eq!(marked(run(2.0), other), [0, 0]);
}
