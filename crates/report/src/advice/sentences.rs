//! The sentences of an answer, for terminal and page alike.

use storebench_core::store::{Setting, SettingSource};
use storebench_core::units::{grouped, rough_bytes, three_digits};

use super::Advice;
use super::absent::NO_TURN;
use super::elsewhere::{Elsewhere, Why};
use super::figures::LITTLE_MEMORY;
use super::judge::Candidate;
use super::question::Goal;
use super::turn::Turn;
use crate::column::Unit;
use crate::data::spread;
use crate::stats::{CONFIDENCE, Estimate, MIN_BLOCKS, Ratio, Rule};

/// Other sizes or counts that are named one by one, at most.
const NAMED: usize = 4;

/// The settings that were read back, and those that an engine can't be asked for, on one line.
pub fn settings(store: &Candidate) -> String {
    let one = |setting: &Setting| {
        let given = if setting.source == SettingSource::Given { " (given)" } else { "" };
        format!("{} = {}{given}", setting.name, setting.value)
    };
    let all: Vec<String> = store.settings.iter().map(one).collect();
    if all.is_empty() { "It has no settings.".into() } else { all.join("; ") }
}

/// Where the answer was measured.
pub fn measured(advice: &Advice) -> Vec<String> {
    let (_, size, records) = advice.at;
    let trials = advice.trials();
    let (most, least) = (trials.values().max().copied(), trials.values().min().copied());
    let times = match (least.unwrap_or(0), most.unwrap_or(0)) {
        (1, 1) => "once each".to_owned(),
        (least, most) if least == most => format!("{most} times each"),
        (least, most) => format!("{least} to {most} times each, the best most often"),
    };
    let place = advice.place.as_ref().map_or_else(String::new, |place| {
        let device = place.device.as_ref().map_or_else(String::new, |device| format!(" on {device}"));
        format!(
            ", in {} ({}{device})",
            place.path,
            place.file_system.as_deref().unwrap_or("unknown file system")
        )
    });
    let mut lines = vec![format!(
        "{} store{}, {times}, on {}{place}; {} records of {size}.",
        trials.len(),
        if trials.len() == 1 { "" } else { "s" },
        advice.hardware,
        grouped(records.from),
    )];
    if records.from != advice.question.records {
        lines.push(format!(
            "Asked for were {} records: what changes with their number is not in these figures.",
            grouped(advice.question.records)
        ));
    }
    if size != advice.question.size {
        lines.push(format!("Asked for were records of {}.", advice.question.size));
    }
    if !advice.otherwise.is_empty() {
        let otherwise: Vec<&str> = advice.otherwise.iter().map(String::as_str).collect();
        lines.push(format!("Measured otherwise than for an answer: {}.", otherwise.join(", ")));
    }
    if advice.verdict.out.iter().any(|out| out.why == NO_TURN) {
        lines.push("It is unfinished: not every store had its turn (see below).".into());
    }
    lines
}

/// Time, room and memory of a store.
pub fn costs(advice: &Advice, store: &Candidate) -> Vec<String> {
    let each: Vec<String> = store
        .operations
        .iter()
        .map(|(operation, latency)| {
            format!("{} {}", operation.name(), Unit::Nanoseconds.show(latency.mean.value))
        })
        .collect();
    let mut lines = vec![
        format!(
            "{} an operation ({}).",
            with_interval(&store.speed.mean, Unit::Nanoseconds),
            each.join(", ")
        ),
        format!(
            "{} times the values' bytes on disk; {} of memory at its peak, {}.",
            three_digits(store.space.mean.value),
            rough_bytes(store.memory.mean.value),
            advice.memory.words(),
        ),
    ];
    if promises_more(advice, store) {
        lines.push(format!(
            "Its guarantee is {}, which is more than {}: it offers nothing weaker that would do.",
            store.guarantee, advice.question.guarantee
        ));
    }
    lines
}

fn with_interval(estimate: &Estimate, unit: Unit) -> String {
    let value = unit.show(estimate.value);
    match estimate.interval.filter(|interval| !spread::tells_nothing(interval)) {
        Some(interval) => format!("{value} ({} to {})", unit.show(interval.low), unit.show(interval.high)),
        None => value,
    }
}

/// How sure it is that no other store is better.
pub fn sure(advice: &Advice) -> String {
    let others = advice.verdict.ranking.get(1..).unwrap_or_default();
    let tied: Vec<&str> = others.iter().filter(|o| o.wins).map(|o| o.store.as_str()).collect();
    if !tied.is_empty() {
        return format!(
            "Too close to call with {}: choose by what else matters, or measure longer (--budget).",
            tied.join(", ")
        );
    }
    let Some(second) = others.first() else {
        return "It is the only store that answers the question: nothing was compared.".into();
    };
    let ratio = second.times_worse;
    match (second.rule, ratio.and_then(|ratio| Some((ratio, ratio.ratio.interval?)))) {
        (Some(Rule::Interval), Some((ratio, interval))) => format!(
            "Better than {}, the next, by a factor of {} to {} ({:.0} % confidence{}, {} trials of each side by side).",
            second.store,
            three_digits(interval.low),
            three_digits(interval.high),
            CONFIDENCE * 100.0,
            match advice.verdict.looks {
                1 => String::new(),
                looks => format!(", allowing for {looks} looks"),
            },
            ratio.blocks,
        ),
        (_, _) => match ratio {
            Some(ratio) => format!(
                "Not very: {} is next, {} times as bad, but they were measured side by side {}, fewer times than the \
                 {MIN_BLOCKS} that an interval needs.",
                second.store,
                three_digits(ratio.ratio.value),
                if ratio.blocks == 1 { "once".into() } else { format!("{} times", ratio.blocks) },
            ),
            None => format!(
                "It can't be told: {} is next, but the two were never measured side by side, and figures of different \
                 blocks have no ratio.",
                second.store
            ),
        },
    }
}

fn promises_more(advice: &Advice, store: &Candidate) -> bool {
    store.guarantee > advice.question.guarantee
}

/// A store's name, with its guarantee where that is more than was asked for.
pub fn name(advice: &Advice, store: &Candidate) -> String {
    if promises_more(advice, store) {
        format!("{} ({})", store.store, store.guarantee)
    } else {
        store.store.clone()
    }
}

/// What is to be known of the table of stores.
pub fn notes(advice: &Advice) -> Vec<String> {
    let ranking = &advice.verdict.ranking;
    let mut lines = Vec::new();
    let stronger: Vec<String> = ranking
        .iter()
        .filter(|store| promises_more(advice, store))
        .map(|store| name(advice, store))
        .collect();
    if !stronger.is_empty() {
        lines.push(format!(
            "{}: at a stronger guarantee than {}, which is not among those offered.",
            stronger.join(", "),
            advice.question.guarantee
        ));
    }
    let most = ranking.iter().map(|store| store.speed.trials).max().unwrap_or(0);
    let seldom: Vec<&str> =
        ranking.iter().filter(|store| !store.finalist).map(|store| store.store.as_str()).collect();
    if !seldom.is_empty() {
        lines.push(format!(
            "{}: measured fewer than {} times, too seldom to be the best, and compared by those trials alone.",
            seldom.join(", "),
            most.min(MIN_BLOCKS)
        ));
    }
    lines.push(advice.memory.note().to_owned());
    lines.extend(little_memory(advice));
    lines
}

/// A store's place by the goal; `rank` is its place in the ranking, from 0, and `tie` the words for too close to call.
pub fn times_worse(rank: usize, store: &Candidate, tie: &str) -> String {
    match store.times_worse {
        _ if rank == 0 => "best".to_owned(),
        None => "–".to_owned(),
        Some(ratio) if store.wins => format!("{} ({tie})", three_digits(ratio.ratio.value)),
        Some(ratio) => three_digits(ratio.ratio.value),
    }
}

/// What there is to say of stores that took next to no memory, if any did.
fn little_memory(advice: &Advice) -> Option<String> {
    let little = |store: &Candidate| store.memory.mean.value < LITTLE_MEMORY;
    let any = advice.verdict.ranking.iter().any(little);
    any.then(|| format!("Memory below {} counts as {0} wherever it is compared.", rough_bytes(LITTLE_MEMORY)))
}

/// What a runner-up gives up, and what it gains.
pub fn trade(store: &Candidate) -> String {
    let parts: Vec<String> = store
        .against_best
        .iter()
        .filter_map(|(goal, ratio)| Some(format!("{} {}", times(&(*ratio)?), thing(*goal))))
        .collect();
    let front = match &store.beaten_by {
        None => "on the Pareto front".to_owned(),
        Some(other) => format!("no better than {other} in any of the three"),
    };
    let parts = if parts.is_empty() { "no ratio can be told".into() } else { parts.join(", ") };
    format!("{}: {parts}; {front}.", store.store)
}

fn times(ratio: &Ratio) -> String {
    let value = three_digits(ratio.ratio.value);
    let interval = ratio.ratio.interval.filter(|_| ratio.blocks >= MIN_BLOCKS);
    match interval.map(|interval| (three_digits(interval.low), three_digits(interval.high))) {
        Some((low, high)) if low != high => format!("{value} ({low} to {high}) times"),
        _ => format!("{value} times"),
    }
}

fn thing(goal: Goal) -> &'static str {
    match goal {
        Goal::Speed => "the time",
        Goal::Space => "the room on disk",
        Goal::Memory => "the memory",
        Goal::Balance => "all three together",
    }
}

/// What would change the answer, or what was looked at in vain.
pub fn changes(advice: &Advice) -> Vec<String> {
    let Some(best) = advice.verdict.ranking.first().map(|best| best.store.as_str()) else {
        return Vec::new();
    };
    let turns = &advice.turns;
    let mut lines: Vec<String> = turns.turns.iter().map(|change| turn(change, best)).collect();
    let size = turns.turns.iter().any(|turn| matches!(turn, Turn::Size(..)));
    let count = turns.turns.iter().any(|turn| matches!(turn, Turn::Records(..)));
    let sizes: Vec<String> = turns.sizes.iter().map(ToString::to_string).collect();
    let counts: Vec<String> = turns.counts.iter().map(|count| grouped(count.from)).collect();
    match (sizes.is_empty() && !size, counts.is_empty() && !count) {
        (true, true) => lines.push(format!(
            "Neither other record sizes nor other counts were measured with {best} and others."
        )),
        (true, false) => lines.push(format!("Other record sizes were not measured with {best} and others.")),
        (false, true) => {
            lines.push(format!("Other numbers of records were not measured with {best} and others."))
        }
        (false, false) => {}
    }
    if !sizes.is_empty() {
        let (sizes, points) = a_few(&sizes);
        lines.push(format!("Still {best} with records of {sizes}, as far as measured{points}."));
    }
    if !counts.is_empty() {
        let (counts, points) = a_few(&counts);
        lines.push(format!("Still {best} with {counts} records, as far as measured{points}."));
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
fn elsewhere(there: &Elsewhere, best: &str, alike: fn(f64) -> String) -> String {
    let trials = match there.trials {
        1 => "measured once".to_owned(),
        2 => "measured twice".to_owned(),
        trials => format!("measured {trials} times"),
    };
    match (&there.why, there.store.as_deref()) {
        (Why::Beaten(times, even), Some(store)) => {
            let times = times_as_good(times.as_ref());
            let even = even.map_or_else(String::new, |even| format!("; alike at about {}", alike(even)));
            format!("{store}{times} ({trials}){even}.")
        }
        (Why::Out(why), Some(store)) => format!("{best} is out of the question ({why}): {store} ({trials})."),
        (Why::Out(why), None) => {
            format!("{best} is out of the question ({why}), and so is every other that was measured.")
        }
        (Why::Beaten(..), None) => format!("not {best}."),
    }
}

/// How much better another store is, where there is a ratio.
fn times_as_good(ratio: Option<&Ratio>) -> String {
    ratio.map_or_else(String::new, |r| format!(", {} times as good", three_digits(r.ratio.value)))
}

fn turn(turn: &Turn, best: &str) -> String {
    let percent = |share: &f64| format!("{:.0} %", share * 100.0);
    match turn {
        Turn::Goal(goal, store, ratio) => {
            let what = match goal {
                Goal::Speed => "For speed",
                Goal::Space => "For the least room on disk",
                Goal::Memory => "For the least memory",
                Goal::Balance => "For a balance of the three",
            };
            format!("{what}: {store}{}.", times_as_good(ratio.as_ref()))
        }
        Turn::FewerGets(share, store) => {
            format!("With gets below {} of the operations: {store}.", percent(share))
        }
        Turn::MoreGets(share, store) => {
            format!("With gets above {} of the operations: {store}.", percent(share))
        }
        Turn::Size(size, there) => {
            format!("With records of {size}: {}", elsewhere(there, best, rough_bytes))
        }
        Turn::Records(count, there) => {
            let alike = |count: f64| grouped(count.round() as u64);
            format!("With {} records: {}", grouped(count.from), elsewhere(there, best, alike))
        }
    }
}
