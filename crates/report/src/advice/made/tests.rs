//! Made questions whose answers are known: made stores of known cost, measured with noise, first all of them and the best again.

use storebench_core::workload::operation::Operation;
use storebench_figures::data::merge::Merged;
use storebench_host::run::Run;
use storebench_model::axis::Axis;
use storebench_model::cell::{Cache, GuaranteeChoice};
use storebench_model::store::{Danger, Guarantee, GuaranteeOffer, Loss, StoreDef, StoreKind};
use storebench_model::stores::NULL;
use storebench_model::units::CountRange;
use storebench_samples::{Sample, blocks};

use crate::advice::question::{Goal, Mix, Question};
use crate::advice::ranking::Candidate;
use crate::advice::tests::question;
use crate::advice::{Advice, sentences};

/// The costs of an operation in nanoseconds, bytes on disk over bytes of values, and MiB of memory.
#[derive(Clone, Copy)]
struct Costs {
    get: f64,
    write: f64,
    space: f64,
    memory_mib: f64,
}

const fn costs(get: f64, write: f64, space: f64, memory_mib: f64) -> Costs {
    Costs { get, write, space, memory_mib }
}

/// The stores: a quick one that a power cut can wreck, a tree, a log, and files. Costs depend on circumstances.
const STORES: [(&str, Costs); 4] = [
    ("map", costs(5e3, 20e3, 1.6, 5.0)),
    ("tree", costs(10e3, 200e3, 1.5, 10.0)),
    ("log", costs(40e3, 30e3, 1.1, 60.0)),
    ("files", costs(80e3, 300e3, 8.0, 2.0)),
];

const HUGE: [(&str, Costs); 4] = [
    ("map", costs(300e3, 500e3, 1.6, 900.0)),
    ("tree", costs(200e3, 400e3, 1.5, 800.0)),
    ("log", costs(120e3, 40e3, 1.1, 90.0)),
    ("files", costs(150e3, 300e3, 1.2, 700.0)),
];

const COLD: [(&str, Costs); 4] = [
    ("map", costs(500e3, 20e3, 1.6, 5.0)),
    ("tree", costs(900e3, 200e3, 1.5, 10.0)),
    ("log", costs(700e3, 30e3, 1.1, 60.0)),
    ("files", costs(300e3, 300e3, 8.0, 2.0)),
];

/// The map offers no more than `process`.
const SYNCED: [(&str, Costs); 3] = [
    ("tree", costs(10e3, 8e6, 1.5, 10.0)),
    ("log", costs(40e3, 4e6, 1.1, 60.0)),
    ("files", costs(80e3, 16e6, 8.0, 2.0)),
];

const TINY: [(&str, Costs); 3] = [
    ("tree", costs(1.00e3, 3.0e3, 30.0, 0.2)),
    ("log", costs(1.01e3, 3.0e3, 2.0, 0.3)),
    ("files", costs(6e3, 18e3, 40.0, 0.1)),
];

fn table() -> Vec<StoreDef> {
    const WRECKED: &[Danger] = &[Danger::new(Loss::Nothing, Loss::Whole, "")];
    const fn at(guarantee: Guarantee, dangers: &'static [Danger]) -> GuaranteeOffer {
        GuaranteeOffer { guarantee, dangers, ..NULL.offers[0] }
    }
    const MAP: &[GuaranteeOffer] = &[at(Guarantee::None, WRECKED), at(Guarantee::Process, WRECKED)];
    const SAFE: &[GuaranteeOffer] = &[
        at(Guarantee::None, Danger::NEWEST),
        at(Guarantee::Process, Danger::NEWEST),
        at(Guarantee::Power, Danger::NOTHING),
    ];
    let engine = |name, offers| StoreDef { name, offers, kind: StoreKind::Engine, ..NULL };
    STORES.iter().map(|(name, _)| engine(name, if *name == "map" { MAP } else { SAFE })).collect()
}

/// The true cost of an operation of the mix, by the goal.
fn truth(costs: &Costs, question: &Question) -> f64 {
    let cost = |operation: Operation| if operation == Operation::Get { costs.get } else { costs.write };
    let speed: f64 = question.mix.shares().iter().map(|(operation, share)| share * cost(*operation)).sum();
    let room = (costs.space * question.values_bytes() / f64::from(1 << 20)).max(1.0);
    let memory = costs.memory_mib.max(1.0);
    match question.goal {
        Goal::Speed => speed,
        Goal::Space => room,
        Goal::Memory => memory,
        Goal::Balance => (speed * room * memory).cbrt(),
    }
}

/// A run of `number` blocks of these stores, with a noise of 3 % on every figure and a common noise of each block.
fn measured(question: &Question, stores: &[(&str, Costs)], number: usize, random: &mut fastrand::Rng) -> Run {
    let block: Vec<Sample> = stores.iter().map(|(name, _)| Sample::new(name)).collect();
    let mut run = blocks("box", &vec![block; number]);
    let weather: Vec<f64> = (0..number).map(|_| (0.2 * storebench_samples::normal(random)).exp()).collect();
    for trial in &mut run.trials {
        let (_, costs) = stores.iter().find(|(name, _)| *name == trial.cell.store()).unwrap();
        trial.cell.set(Axis::RECORDS, CountRange::starting_at(question.records).into());
        trial.cell.set(Axis::GUARANTEE, GuaranteeChoice::Tier(question.guarantee).into());
        let cache = if question.cold { Cache::Cold } else { Cache::Warm };
        trial.cell.set(Axis::CACHE, cache.into());
        let mut noisy = |value: f64| value * (0.03 * storebench_samples::normal(random)).exp();
        let measured = trial.measured.as_mut().unwrap();
        measured.guarantee = question.guarantee;
        for operation in &mut measured.operations {
            let cost = if operation.operation == "get" { costs.get } else { costs.write };
            operation.sum_ns = (noisy(cost * weather[trial.block as usize]) * operation.count as f64) as u64;
        }
        measured.memory.peak_above_base_bytes = noisy(costs.memory_mib * f64::from(1 << 20)) as u64;
        measured.disk.allocated_bytes = noisy(costs.space * measured.stored.value_bytes as f64) as u64;
    }
    run
}

/// All stores twice, then the best three that can be recommended and the map five times.
fn answer(question: &Question, stores: &[(&str, Costs)], random: &mut fastrand::Rng) -> Advice {
    let advice =
        |runs: &[Run]| Advice::from_runs(question, &Merged::new(runs, &[NULL]), None, &table()).unwrap();
    let first_run = measured(question, stores, 2, random);
    let first_advice = advice(std::slice::from_ref(&first_run));
    let best: Vec<&str> =
        first_advice.verdict.ranking.iter().take(3).map(|store| store.store.as_str()).collect();
    let again: Vec<(&str, Costs)> =
        stores.iter().filter(|(name, _)| best.contains(name) || *name == "map").copied().collect();
    let again = measured(question, &again, 5, random);
    advice(&[first_run, again])
}

/// Records whose values take some 50 MB.
const MANY_RECORDS: u64 = 100_000;

fn make_question(mix: &str, change: impl Fn(&mut Question)) -> Question {
    let mut question = Question { mix: mix.parse::<Mix>().unwrap(), records: MANY_RECORDS, ..question() };
    change(&mut question);
    question
}

/// A question by its name, its stores, and those that answer it.
type Known = (&'static str, Question, &'static [(&'static str, Costs)], &'static [&'static str]);

fn questions() -> Vec<Known> {
    vec![
        ("reads, mostly", make_question("get=95,update=5", |_| ()), &STORES, &["tree"]),
        ("writes, mostly", make_question("get=20,update=80", |_| ()), &STORES, &["log"]),
        ("read-only", make_question("get=1", |_| ()), &STORES, &["map"]),
        ("the disk is small", make_question("get=80,update=20", |q| q.goal = Goal::Space), &STORES, &["log"]),
        (
            "memory is small",
            make_question("get=20,update=80", |q| q.max_memory_bytes = Some(8 << 20)),
            &STORES,
            &["files"],
        ),
        (
            "the least memory",
            make_question("get=80,update=20", |q| q.goal = Goal::Memory),
            &STORES,
            &["files"],
        ),
        (
            "nothing need survive",
            make_question("get=50,update=50", |q| q.guarantee = Guarantee::None),
            &STORES,
            &["map"],
        ),
        ("synced", make_question("get=50,update=50", |q| q.guarantee = Guarantee::Power), &SYNCED, &["log"]),
        ("huge", make_question("get=80,update=20", |q| q.records = 10_000_000), &HUGE, &["log"]),
        ("cold", make_question("get=95,insert=5", |q| q.cold = true), &COLD, &["files"]),
        ("tiny", make_question("get=90,update=10", |q| q.records = 50), &TINY, &["tree", "log"]),
        // Neither takes 1 MiB: disk space decides nothing, and the quickest comes first.
        (
            "tiny, and the disk is small",
            make_question("get=90,update=10", |q| (q.records, q.goal) = (50, Goal::Space)),
            &TINY,
            &["tree", "log"],
        ),
        ("all three", make_question("get=80,update=20", |q| q.goal = Goal::Balance), &STORES, &["tree"]),
    ]
}

#[test]
fn made_questions_get_the_answers_that_are_known() {
    let mut random = fastrand::Rng::with_seed(12);
    for (name, question, stores, known) in questions() {
        for round in 0..5 {
            let advice = answer(&question, stores, &mut random);
            let best = advice.verdict.ranking[0].store.as_str();
            assert!(known.contains(&best), "{name}, round {round}: {best} and not {known:?}");
        }
    }
}

#[test]
fn nothing_is_recommended_that_is_beaten_by_more_than_its_interval_says() {
    let mut random = fastrand::Rng::with_seed(5);
    let (mut covered, mut total) = (0, 0);
    for (_, question, stores, _) in questions() {
        let cost = |store: &str| truth(&stores.iter().find(|(name, _)| *name == store).unwrap().1, &question);
        for _ in 0..20 {
            let advice = answer(&question, stores, &mut random);
            let [best, others @ ..] = advice.verdict.ranking.as_slice() else { panic!() };
            for other in others {
                let Some(interval) = other.times_worse.and_then(|ratio| ratio.ratio.interval) else {
                    continue;
                };
                let true_ratio = cost(&other.store) / cost(&best.store);
                total += 1;
                covered += usize::from(interval.low <= true_ratio || other.verdict.wins());
            }
        }
    }
    assert!(total > 300 && covered as f64 >= 0.95 * f64::from(total), "{covered} of {total}");
}

/// Runs for the fastest gave up the smallest and the least demanding after a look, with all records or with half of them.
#[test]
fn runs_that_were_made_for_the_fastest_answer_by_any_goal() {
    let mut random = fastrand::Rng::with_seed(3);
    let known =
        [(Goal::Speed, "tree"), (Goal::Space, "log"), (Goal::Memory, "files"), (Goal::Balance, "tree")];
    for records in [MANY_RECORDS, MANY_RECORDS / 2] {
        let mut asked = make_question("get=95,update=5", |question| question.records = records);
        let first_run = measured(&asked, &STORES, 2, &mut random);
        asked.records = MANY_RECORDS;
        let again = measured(&asked, &STORES[..2], 5, &mut random);
        let runs = [first_run, again];
        for (goal, known) in known {
            asked.goal = goal;
            let advice = Advice::from_runs(&asked, &Merged::new(&runs, &[NULL]), None, &table()).unwrap();
            let best = &advice.verdict.ranking[0];
            assert_eq!(best.store, known, "{goal:?}, looked at with {records} records");
            let smaller = |store: &&Candidate| store.is_better_at(goal);
            assert_eq!(advice.verdict.given_up.iter().find(smaller).map(|store| &store.store), None);
        }
    }
}

/// The remarks on stores of which the last was given up after the first look, given the nanoseconds of an operation.
fn remarks_for(question: &Question, times: &[(&str, f64)]) -> String {
    let tier = match question.guarantee {
        Guarantee::Power => "power",
        _ => "process",
    };
    let block = |times: &[(&str, f64)]| -> Vec<Sample> {
        times.iter().map(|(store, ns)| Sample::new(store).guarantee(tier).ns(*ns)).collect()
    };
    let again = block(&times[..times.len() - 1]);
    let runs = [
        blocks("box", &[block(times)]),
        blocks("box", &[again.clone(), again.clone(), again.clone(), again]),
    ];
    let advice = Advice::from_runs(question, &Merged::new(&runs, &[NULL]), None, &[]).unwrap();
    assert_eq!(advice.verdict.given_up.len(), 1);
    all_remarks(&advice)
}

/// The remark that may come first, and the others.
fn all_remarks(advice: &Advice) -> String {
    let first = crate::advice::remarks::any_will_do(advice);
    first.into_iter().chain(crate::advice::remarks::remarks(advice)).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_store_that_was_given_up_is_named_where_the_difference_does_not_matter() {
    let asked = make_question("insert=1", |question| question.records = 100);
    let remarks = remarks_for(&asked, &[("tree", 2e3), ("log", 25e3), ("files", 15e3)]);
    assert!(remarks.contains("tree and files both answer in under 20.0 µs. Few"), "{remarks}");
}

#[test]
fn synced_writes_are_alike_within_a_millisecond_and_half() {
    let asked = make_question("insert=1", |question| {
        question.records = 100;
        question.guarantee = Guarantee::Power;
    });
    let remarks = remarks_for(&asked, &[("tree", 500e3), ("log", 800e3), ("map", 600e3), ("files", 700e3)]);
    let alike = "tree, map and files all answer in under 1.00 ms and within 1.5 times of each other. Few";
    assert!(remarks.contains(alike), "{remarks}");
    let slow = remarks_for(&asked, &[("tree", 1.1e6), ("log", 1.2e6), ("map", 1.3e6)]);
    assert!(!slow.contains("Few applications"), "{slow}");
}

#[test]
fn where_the_difference_does_not_matter_that_is_said() {
    let mut random = fastrand::Rng::with_seed(7);
    let (_, question, stores, _) = questions().into_iter().find(|(name, ..)| *name == "tiny").unwrap();
    let advice = answer(&question, stores, &mut random);
    let remarks = all_remarks(&advice);
    assert!(remarks.starts_with("All ") && remarks.contains("answer in under 20.0 µs."), "{remarks}");
    assert!(!remarks.contains("times the size of your values"), "less than 1 MiB: {remarks}");
    let confidence = sentences::describe_confidence(&advice);
    assert!(confidence.starts_with("Too close to call with "), "{confidence}");
    // With many records the same difference is mentioned.
    let advice = answer(&Question { records: MANY_RECORDS, ..question }, stores, &mut random);
    if advice.verdict.ranking[0].store == "tree" {
        let remarks = crate::advice::remarks::remarks(&advice).join(" ");
        assert!(remarks.contains("times the size of your values"), "{remarks}");
        assert!(remarks.contains("; log takes "), "{remarks}");
    }
}
