//! Remarks that a good adviser would add: differences that do not matter, a store out of proportion, reasons that no benchmark sees.

use indexmap::IndexMap;
use storebench_figures::column::Unit;
use storebench_figures::column::checks::LITTLE_DISK;
use storebench_figures::data::names::join_with_and;
use storebench_model::store::Guarantee;
use storebench_model::units::{rough_bytes, three_digits};

use super::answer::Advice;
use super::question::Goal;
use super::ranking::Candidate;

/// Operations below this time are no reason to choose a store, except for the busiest applications.
const UNNOTICED_NS: f64 = 20_000.0;
/// The same for synced writes: all stores wait for the disk, and a person does not notice a millisecond.
const UNNOTICED_SYNCED_NS: f64 = 1e6;
/// Synced operations count as alike within this factor.
const ALIKE: f64 = 1.5;
/// A store that takes this many times the values' size on disk is out of proportion.
const OUT_OF_PROPORTION: f64 = 4.0;

pub fn remarks(advice: &Advice) -> Vec<String> {
    let unnoticed = describe_unnoticed(advice).filter(|(_, is_all)| !is_all).map(|(sentence, _)| sentence);
    unnoticed.into_iter().chain(describe_disk(advice)).chain(describe_cold(advice)).collect()
}

/// The remark before all others: the application won't notice which store it has.
pub fn any_will_do(advice: &Advice) -> Option<String> {
    describe_unnoticed(advice).filter(|(_, is_all)| *is_all).map(|(sentence, _)| sentence)
}

/// If several stores answer at once, or wait for the disk alike: choose by something else. Also whether this is true of all measured stores.
fn describe_unnoticed(advice: &Advice) -> Option<(String, bool)> {
    let (stores, claim) = if advice.question.guarantee == Guarantee::Power && advice.question.mix.writes() {
        let claim = format!(
            "answer in under {} and within {ALIKE} times of each other",
            show_ns(UNNOTICED_SYNCED_NS)
        );
        (equally_fast(advice), claim)
    } else {
        let quick = same_records(advice).filter(|store| store.speed.mean.value < UNNOTICED_NS);
        (quick.collect(), format!("answer in under {}", show_ns(UNNOTICED_NS)))
    };
    let names: Vec<&str> = stores.into_iter().map(|store| store.store.as_str()).collect();
    let is_all = names.len() == advice.verdict.ranking.len() + advice.verdict.given_up.len();
    let sentence = match names.len() {
        0 | 1 => return None,
        2 => format!("{} both {claim}", join_with_and(&names)),
        _ if is_all => format!("All {} stores {claim}", names.len()),
        _ => format!("{} all {claim}", join_with_and(&names)),
    };
    advice.question.goal.is_of_time().then(|| {
        (
            format!("{sentence}. Few applications notice the difference: choose by safety, disk and ease."),
            is_all,
        )
    })
}

/// The stores that were measured with the records of the answer, including those given up after a first look.
fn same_records(advice: &Advice) -> impl Iterator<Item = &Candidate> {
    let given_up = advice.verdict.given_up.iter().filter(|store| store.looked_at.is_none());
    advice.verdict.ranking.iter().chain(given_up)
}

/// The recommended store and those about as fast in the same blocks, if an operation takes none of them long.
fn equally_fast(advice: &Advice) -> Vec<&Candidate> {
    let times_the_best = |store: &Candidate| {
        let speed = store.against_best.iter().find(|(goal, _)| *goal == Goal::Speed);
        match speed {
            Some((_, ratio)) => ratio.map(|ratio| ratio.ratio.value),
            None => Some(1.0),
        }
    };
    let short = same_records(advice).filter(|store| store.speed.mean.value < UNNOTICED_SYNCED_NS);
    let mut near: Vec<(f64, &Candidate)> =
        short.filter_map(|store| Some((times_the_best(store)?, store))).collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    let fastest = near.first().map_or(1.0, |(times, _)| *times);
    near.into_iter().filter(|(times, _)| *times < ALIKE * fastest).map(|(_, store)| store).collect()
}

fn show_ns(value: f64) -> String {
    Unit::Nanoseconds.show(value)
}

/// If the recommended store takes many times the values' size: in bytes, and which store takes the least.
fn describe_disk(advice: &Advice) -> Option<String> {
    let best = advice.verdict.ranking.first()?;
    let times = best.space.mean.value;
    let values = advice.question.values_bytes();
    if times < OUT_OF_PROPORTION || times * values < LITTLE_DISK {
        return None;
    }
    let least = advice.verdict.all().min_by(|a, b| a.space.mean.value.total_cmp(&b.space.mean.value))?;
    let least = match least.store == best.store {
        true => String::new(),
        false => format!("; {} takes {} times", least.store, three_digits(least.space.mean.value)),
    };
    Some(format!(
        "{} takes {} times the size of your values, {} for {}{least}.",
        best.store,
        three_digits(times),
        rough_bytes(times * values),
        rough_bytes(values),
    ))
}

/// Which store is best if reads find nothing in memory, or that this is unknown.
fn describe_cold(advice: &Advice) -> Option<String> {
    let question = &advice.question;
    let unknown = || "Reads were measured warm; --cold measures them from disk.".to_owned();
    (question.reads() && !question.cold)
        .then(|| advice.cold.as_ref().map_or_else(unknown, super::cold::ColdReads::sentence))
}

/// The remarks on practice, which no benchmark sees, in one line.
pub fn practice(advice: &Advice) -> Vec<String> {
    let mut by_text: IndexMap<&str, Vec<&str>> = IndexMap::new();
    advice.practice.iter().for_each(|(store, practice)| by_text.entry(practice).or_default().push(store));
    let describe_stores = |stores: &[&str]| match stores {
        [first, others @ ..] if !others.is_empty() => format!("{first}, like {},", others.join(" and ")),
        _ => stores.concat(),
    };
    let describe = |(practice, stores): (&&str, &Vec<&str>)| {
        let stores = describe_stores(stores);
        format!("{stores} is {practice}")
    };
    let sentences = by_text.iter().map(describe).collect::<Vec<_>>().join(". ");
    if sentences.is_empty() { Vec::new() } else { vec![format!("No benchmark sees: {sentences}.")] }
}
