//! What a good adviser would add: differences that do not matter, a store out of proportion, reasons that no benchmark sees.

use indexmap::IndexMap;
use storebench_core::units::{rough_bytes, three_digits};

use super::Advice;
use super::judge::Candidate;
use super::question::Goal;
use crate::column::Unit;

/// Operations that take less are not worth choosing a store by, for all but the busiest applications.
const UNNOTICED_NS: f64 = 20_000.0;
/// A store that takes more times the values' size on disk is out of proportion.
const OUT_OF_PROPORTION: f64 = 4.0;

/// Remarks on the whole answer.
pub fn remarks(advice: &Advice) -> Vec<String> {
    unnoticed(advice).into_iter().chain(disk(advice)).chain(advice.cold.iter().map(cold)).collect()
}

/// Where all that could be chosen answer at once: choose by something else.
fn unnoticed(advice: &Advice) -> Option<String> {
    let quick = |store: &&Candidate| store.speed.mean.value < UNNOTICED_NS;
    let stores: Vec<&str> =
        advice.verdict.ranking.iter().filter(quick).map(|store| store.store.as_str()).collect();
    let by_speed = matches!(advice.question.goal, Goal::Speed | Goal::Balance);
    (by_speed && stores.len() > 1).then(|| {
        format!(
            "{} take less than {} an operation, which few applications notice: choose by safety, disk and ease.",
            stores.join(", "),
            Unit::Nanoseconds.show(UNNOTICED_NS)
        )
    })
}

/// Where the recommended store takes many times the values' size: in bytes, and which store takes the least.
fn disk(advice: &Advice) -> Option<String> {
    let best = advice.verdict.ranking.first()?;
    let times = best.space.mean.value;
    if times < OUT_OF_PROPORTION {
        return None;
    }
    let values = advice.question.records as f64 * advice.question.size.mean();
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

/// Who is best where reads find nothing in memory.
fn cold(cold: &super::cold::Cold) -> String {
    cold.sentence()
}

/// What no benchmark sees, in one line.
pub fn practice(advice: &Advice) -> Vec<String> {
    let mut by_text: IndexMap<&str, Vec<&str>> = IndexMap::new();
    advice.practice.iter().for_each(|(store, practice)| by_text.entry(practice).or_default().push(store));
    let all: Vec<String> =
        by_text.iter().map(|(practice, stores)| format!("{} is {practice}", stores.join(" as "))).collect();
    if all.is_empty() { Vec::new() } else { vec![format!("No benchmark sees: {}.", all.join(". "))] }
}
