//! The sentences of an answer, for terminal and page alike.

use super::Advice;
use super::judge::Candidate;
use super::question::Goal;
use super::turn::Turn;
use crate::report::column::Unit;
use crate::stats::{CONFIDENCE, Estimate, MIN_BLOCKS, Ratio, Rule};
use crate::units::{grouped, rough_bytes, three_digits};

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
    lines
}

/// Time, room and memory of a store.
pub fn costs(store: &Candidate) -> Vec<String> {
    let each: Vec<String> = store
        .operations
        .iter()
        .map(|(operation, latency)| {
            format!("{} {}", operation.name(), Unit::Nanoseconds.show(latency.mean.value))
        })
        .collect();
    vec![
        format!(
            "{} an operation ({}).",
            with_interval(&store.speed.mean, Unit::Nanoseconds),
            each.join(", ")
        ),
        format!(
            "{} times the values' bytes on disk; {} of memory at its peak.",
            three_digits(store.space.mean.value),
            rough_bytes(store.memory.mean.value)
        ),
    ]
}

fn with_interval(estimate: &Estimate, unit: Unit) -> String {
    let value = unit.show(estimate.value);
    match estimate.interval {
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
        _ => format!(
            "Not very: {} is next, {}, but they were measured side by side {}, fewer times than the {MIN_BLOCKS} that an \
             interval needs.",
            second.store,
            ratio.map_or("and can't be compared by a ratio".into(), |r| {
                format!("{} times as bad", three_digits(r.ratio.value))
            }),
            match ratio.map_or(0, |ratio| ratio.blocks) {
                1 => "once".into(),
                blocks => format!("{blocks} times"),
            },
        ),
    }
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
        Some(other) => format!("behind {other} in all three"),
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
    let turns = &advice.turns;
    let mut lines: Vec<String> = turns.turns.iter().map(turn).collect();
    if turns.sizes.is_empty() && turns.counts.is_empty() {
        lines.push("Other record sizes and counts were not measured: there was no time for them.".into());
    }
    let quiet = |what: &str, all: Vec<String>, turned: bool| {
        (!all.is_empty() && !turned).then(|| format!("Not {what}, as far as measured ({}).", all.join(", ")))
    };
    let size = turns.turns.iter().any(|turn| matches!(turn, Turn::Size(..)));
    let count = turns.turns.iter().any(|turn| matches!(turn, Turn::Records(..)));
    let sizes = turns.sizes.iter().map(ToString::to_string).collect();
    let counts = turns.counts.iter().map(|count| grouped(count.from)).collect();
    lines.extend(quiet("another record size", sizes, size));
    lines.extend(quiet("another number of records", counts, count));
    lines
}

fn turn(turn: &Turn) -> String {
    let by = |ratio: &Option<Ratio>| {
        ratio.map_or_else(String::new, |r| format!(", {} times as good", three_digits(r.ratio.value)))
    };
    let percent = |share: &f64| format!("{:.0} %", share * 100.0);
    match turn {
        Turn::Goal(goal, store, ratio) => {
            let what = match goal {
                Goal::Speed => "For speed",
                Goal::Space => "For the least room on disk",
                Goal::Memory => "For the least memory",
                Goal::Balance => "For a balance of the three",
            };
            format!("{what}: {store}{}.", by(ratio))
        }
        Turn::FewerGets(share, store) => {
            format!("With gets below {} of the operations: {store}.", percent(share))
        }
        Turn::MoreGets(share, store) => {
            format!("With gets above {} of the operations: {store}.", percent(share))
        }
        Turn::Size(size, store, ratio, even) => {
            let even = even.map(|bytes| format!("; alike at about {}", rough_bytes(bytes)));
            format!("With records of {size}: {store}{}{}.", by(ratio), even.unwrap_or_default())
        }
        Turn::Records(count, store, ratio, even) => {
            let even = even.map(|count| format!("; alike at about {}", grouped(count.round() as u64)));
            format!("With {} records: {store}{}{}.", grouped(count.from), by(ratio), even.unwrap_or_default())
        }
    }
}
