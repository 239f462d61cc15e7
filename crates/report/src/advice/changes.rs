//! What would change an answer, in sentences.

use storebench_core::units::{grouped, rough_bytes};

use super::Advice;
use super::elsewhere::{Elsewhere, Why};
use super::question::Goal;
use super::ratios::better;
use super::turn::Turn;
use crate::stats::Ratio;

/// Other sizes or counts that are named one by one, at most.
const NAMED: usize = 4;

/// What would change the answer, or what was looked at in vain.
pub fn changes(advice: &Advice) -> Vec<String> {
    let Some(best) = advice.verdict.ranking.first().map(|best| best.store.as_str()) else {
        return Vec::new();
    };
    let turns = &advice.turns;
    let mut lines: Vec<String> =
        turns.turns.iter().map(|change| turn(change, best, advice.question.goal)).collect();
    let size = turns.turns.iter().any(|turn| matches!(turn, Turn::Size(..)));
    let count = turns.turns.iter().any(|turn| matches!(turn, Turn::Records(..)));
    let sizes: Vec<String> = turns.sizes.iter().map(ToString::to_string).collect();
    let counts: Vec<String> = turns.counts.iter().map(|count| grouped(count.from)).collect();
    match (sizes.is_empty() && !size, counts.is_empty() && !count) {
        (true, true) => lines
            .push(format!("No other record sizes or counts were measured with {best} and another store.")),
        (true, false) => {
            lines.push(format!("No other record sizes were measured with {best} and another store."))
        }
        (false, true) => {
            lines.push(format!("No other numbers of records were measured with {best} and another store."))
        }
        (false, false) => {}
    }
    if !sizes.is_empty() {
        let (sizes, points) = a_few(&sizes);
        lines.push(format!("Still {best} with records of {sizes}{points}."));
    }
    if !counts.is_empty() {
        let (counts, points) = a_few(&counts);
        lines.push(format!("Still {best} with {counts} records{points}."));
    }
    lines
}

/// Names that are in order: all, or the first and the last of many, and how many there are.
fn a_few(names: &[String]) -> (String, String) {
    match names {
        [first, .., last] if names.len() > NAMED => {
            (format!("{first} to {last}"), format!(" (at {} points)", names.len()))
        }
        _ => (names.join(", "), String::new()),
    }
}

/// What is taken elsewhere, and why; `alike` shows where both are alike.
fn elsewhere(there: &Elsewhere, (best, asked): (&str, Goal), alike: fn(f64) -> String) -> String {
    let trials = match there.trials {
        1 => "measured once".to_owned(),
        2 => "measured twice".to_owned(),
        trials => format!("measured {trials} times"),
    };
    match (&there.why, there.store.as_deref()) {
        (Why::Beaten(times, even), Some(store)) => {
            let times = better_by(asked, times.as_ref());
            let even = even.map_or_else(String::new, |even| format!("; equal at about {}", alike(even)));
            format!("{store}{times} ({trials}){even}.")
        }
        (Why::Out(why), Some(store)) => format!("{best} is ruled out ({why}): {store} ({trials})."),
        (Why::Out(why), None) => {
            format!("{best} is ruled out ({why}), and so is every other store measured.")
        }
        (Why::Beaten(..), None) => format!("not {best}."),
    }
}

/// How much better another store is by a goal, where there is a ratio.
fn better_by(goal: Goal, ratio: Option<&Ratio>) -> String {
    ratio.map_or_else(String::new, |ratio| format!(", {}", better(goal, ratio.ratio.value)))
}

fn turn(turn: &Turn, best: &str, asked: Goal) -> String {
    let percent = |share: &f64| format!("{:.0} %", share * 100.0);
    match turn {
        Turn::Goal(goal, store, ratio) => {
            let what = match goal {
                Goal::Speed => "For speed",
                Goal::Space => "For the least disk",
                Goal::Memory => "For the least memory",
                Goal::Balance => "For a balance of the three",
            };
            format!("{what}: {store}{}.", better_by(*goal, ratio.as_ref()))
        }
        Turn::FewerGets(share, store) => {
            format!("With fewer than {} gets: {store}.", percent(share))
        }
        Turn::MoreGets(share, store) => {
            format!("With more than {} gets: {store}.", percent(share))
        }
        Turn::Size(size, there) => {
            format!("With records of {size}: {}", elsewhere(there, (best, asked), rough_bytes))
        }
        Turn::Records(count, there) => {
            let alike = |count: f64| grouped(count.round() as u64);
            format!("With {} records: {}", grouped(count.from), elsewhere(there, (best, asked), alike))
        }
    }
}
