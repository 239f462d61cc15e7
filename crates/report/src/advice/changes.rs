//! The changes of a question that would change its answer, as sentences.

use storebench_figures::stats::{MIN_BLOCKS, Ratio};
use storebench_model::units::{Sizes, plural, rough_bytes, with_commas};

use super::answer::Advice;
use super::other_store::{OtherStore, OtherStoreReason};
use super::question::Goal;
use super::ratios::{better, times_measured};
use super::sensitivity::AnswerChange;

const MOST_NAMED: usize = 4;

/// The changes that would change the answer, or those that were tried without effect.
pub fn changes(advice: &Advice) -> Vec<String> {
    let Some(best) = advice.verdict.ranking.first().map(|best| best.store.as_str()) else {
        return Vec::new();
    };
    let turns = &advice.turns;
    let mut lines: Vec<String> =
        turns.turns.iter().map(|change| describe_change(advice, change, best)).collect();
    let has_size = turns.turns.iter().any(|turn| matches!(turn, AnswerChange::Size(..)));
    let has_count = turns.turns.iter().any(|turn| matches!(turn, AnswerChange::Records(..)));
    let sizes: Vec<String> = turns.sizes.iter().map(Sizes::describe).collect();
    let counts: Vec<String> = turns.counts.iter().map(|count| with_commas(count.from)).collect();
    let lacking = match (sizes.is_empty() && !has_size, counts.is_empty() && !has_count) {
        (false, false) => None,
        (true, true) => Some("record sizes or counts"),
        (true, false) => Some("record sizes"),
        (false, true) => Some("numbers of records"),
    };
    lines.extend(lacking.map(|what| format!("No other {what} were measured with {best} and another store.")));
    let prefix = format!("Still {best}, as far as the trials show,");
    if !sizes.is_empty() {
        let (sizes, points) = list_few(&sizes);
        lines.push(format!("{prefix} with records of {sizes}{points}."));
    }
    if !counts.is_empty() {
        let (counts, points) = list_few(&counts);
        lines.push(format!("{prefix} with {counts} records{points}."));
    }
    lines
}

/// Names in order: all, or the first and the last, and their number.
fn list_few(names: &[String]) -> (String, String) {
    match names {
        [first, .., last] if names.len() > MOST_NAMED => {
            (format!("{first} to {last}"), format!(" (at {} points)", names.len()))
        }
        _ => (names.join(", "), String::new()),
    }
}

/// The store to take with other records, and why; `format_point` formats the point at which both are alike.
fn describe_other_store(
    other: &OtherStore,
    (best, goal): (&str, Goal),
    format_point: fn(f64) -> String,
    cost: &str,
) -> String {
    let trials = times_measured(other.trials);
    let store = other.store.as_deref().map(|store| name_candidate(store, other.trials));
    match (&other.why, store) {
        (OtherStoreReason::Beaten(times, equal_at), Some(store)) => {
            let times =
                times.map_or_else(String::new, |ratio| format!(", {}", better(goal, ratio.ratio.value)));
            let equal_at = equal_at.filter(|_| other.trials >= MIN_BLOCKS);
            let equal_at = equal_at
                .map_or_else(String::new, |equal_at| format!("; equal at about {}", format_point(equal_at)));
            format!("{store}{times} ({trials}{cost}){equal_at}.")
        }
        (OtherStoreReason::Out(why), Some(store)) => {
            format!("{best} is ruled out ({why}): {store} ({trials}{cost}).")
        }
        (OtherStoreReason::Out(why), None) => {
            format!("{best} is ruled out ({why}), and so is every other store measured.")
        }
        (OtherStoreReason::Beaten(..), None) => format!("not {best}."),
    }
}

fn name_candidate(store: &str, trials: usize) -> String {
    if trials < MIN_BLOCKS { format!("a candidate is {store}") } else { store.to_owned() }
}

/// The factor by which another store is better by a goal, how often that was measured, and what the store risks.
fn describe_instead(store: &str, goal: Goal, ratio: Option<&Ratio>, cost: &str) -> String {
    match ratio {
        Some(ratio) => {
            let better = better(goal, ratio.ratio.value);
            let store = name_candidate(store, ratio.blocks);
            format!("{store}, {better} ({}{cost})", times_measured(ratio.blocks))
        }
        None => format!("{store} (never measured side by side{cost})"),
    }
}

/// The damage of a power cut to a store that another question recommends, if known and not nothing.
fn describe_cost(advice: &Advice, turn: &AnswerChange) -> String {
    let danger = turn.store().and_then(|store| advice.dangers.get(store));
    match danger.filter(|_| advice.question.mix.writes()) {
        Some(danger) => format!("; a power cut {}", danger.power_cut),
        None => String::new(),
    }
}

fn describe_change(advice: &Advice, turn: &AnswerChange, best: &str) -> String {
    let cost = describe_cost(advice, turn);
    let describe = |other: &OtherStore, format_point: fn(f64) -> String| {
        describe_other_store(other, (best, advice.question.goal), format_point, &cost)
    };
    match turn {
        AnswerChange::Goal(goal, store, ratio) => {
            let intro = match goal {
                Goal::Speed => "For speed",
                Goal::Space => "For the least disk",
                Goal::Memory => "For the least memory",
                Goal::Balance => "For a balance of the three",
            };
            format!("{intro}: {}.", describe_instead(store, *goal, ratio.as_ref(), &cost))
        }
        AnswerChange::Gets(share, other) => {
            format!("With {share} % gets: {}", describe(other, |point: f64| format!("{point:.0} %")))
        }
        AnswerChange::Size(size, other) => {
            format!("With records of {}: {}", size.describe(), describe(other, rough_bytes))
        }
        AnswerChange::Records(count, other) => {
            let sentence = describe(other, |count: f64| with_commas(count.round() as u64));
            format!("With {}: {sentence}", plural(count.from, "record"))
        }
    }
}
