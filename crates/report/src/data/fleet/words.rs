//! The verdicts of several machines on two stores, in words.

use storebench_core::units::{counted, grouped, three_digits};

use super::{Faster, Pair};
use crate::data::merge::Merged;
use crate::data::names::joined;
use crate::data::spread;
use crate::layout::words::position_in_full;
use crate::stats::MIN_BLOCKS;

/// Comparisons that are told in a sentence each.
const TOLD: usize = 10;

/// A ratio of the other store to the first: `2.78x`, or `1/1.99x` where it is less than 1, as small ratios are hard to read.
pub(crate) fn times(value: f64) -> String {
    match three_digits(1.0 / value) {
        turned if value < 1.0 && turned != three_digits(1.0) => format!("1/{turned}x"),
        _ => format!("{}x", three_digits(value.max(1.0))),
    }
}

/// The mean over machines with its interval, or the range of two.
pub(crate) fn mean(pair: &Pair) -> String {
    format!("{}{}", times(pair.times.value), spread::after(pair.times.interval, times))
}

/// On which part of the machines: `on most machines (7 of 9)`.
pub(crate) fn on(some: usize, all: usize) -> String {
    let which = match some {
        some if some == all => "all",
        some if 2 * some > all => "most",
        0 => "none",
        _ => "some",
    };
    match which {
        "none" => format!("on none of {}", counted(all, "machine")),
        which => format!("on {which} machines ({some} of {all})"),
    }
}

/// The properties of machines that go with the ratio: `the slower a sync, the more`.
pub(crate) fn goes_with(pair: &Pair) -> Option<String> {
    let one = pair.decides.iter().map(|(property, rises)| {
        format!("{}, the {}", property.more(), if *rises { "more" } else { "less" })
    });
    (!pair.decides.is_empty()).then(|| one.collect::<Vec<_>>().join("; "))
}

/// The same in a column: `slow syncs`.
pub(crate) fn more_with(pair: &Pair) -> String {
    let one = pair.decides.iter().map(|(property, rises)| property.with(*rises));
    one.collect::<Vec<_>>().join(", ")
}

/// The place of a comparison, without the machine.
pub(crate) fn place(merged: &Merged<'_>, pair: &Pair, with_position: bool) -> String {
    let position = if with_position { position_in_full(&pair.at.position) } else { String::new() };
    let several = pair.combinations > 1;
    let over = if several { format!("over {} combinations", pair.combinations) } else { String::new() };
    joined([merged.label(&pair.at.key).as_str(), &position, &over])
}

/// A sentence for each comparison of two stores, those with a verdict first, and of these those that are furthest apart; then how many there are beside.
pub(crate) fn sentences(merged: &Merged<'_>, pairs: &[Pair]) -> Vec<String> {
    let differs = pairs.windows(2).any(|two| two[0].at.position != two[1].at.position);
    let mut sorted: Vec<&Pair> = pairs.iter().collect();
    let apart = |pair: &Pair| pair.times.value.ln().abs();
    // Verdicts come before what no machine tells.
    let is_told = |pair: &Pair| pair.count(Faster::First) > 0;
    sorted.sort_by(|one, next| {
        is_told(next).cmp(&is_told(one)).then_with(|| apart(next).total_cmp(&apart(one)))
    });
    let told = sorted.iter().take(TOLD).map(|pair| sentence(merged, pair, differs));
    let more = pairs.len().saturating_sub(TOLD);
    let rest = (more > 0).then(|| {
        format!(
            "{} more {} in the table of every two stores (--table). {}",
            grouped(more as u64),
            if more == 1 { "is" } else { "are" },
            summed(pairs)
        )
    });
    told.chain(rest).collect()
}

/// The number of comparisons in which one store is faster on all, most, some and none of the machines.
fn summed(pairs: &[Pair]) -> String {
    let mut counts = [0; 4];
    for pair in pairs {
        let (some, all) = (pair.count(Faster::First), pair.machines.len());
        let place = [some == all, 2 * some > all, some > 0, true].into_iter().position(|is_so| is_so);
        counts[place.unwrap_or(3)] += 1;
    }
    let [all, most, some, none] = counts;
    format!(
        "Of all {} one store is faster on all machines in {all}, on most in {most}, on some in {some}, on none in {none}.",
        counted(pairs.len(), "comparison")
    )
}

/// `insert at power: lmdb beats sqlite on all machines (9 of 9), by 1.40 to 6.20 times; mean 2.78x [1.90x, 4.10x]; the slower a sync, the
/// more.`
fn sentence(merged: &Merged<'_>, pair: &Pair, with_position: bool) -> String {
    let place = place(merged, pair, with_position);
    let at = if place.is_empty() { String::new() } else { format!(" at {place}") };
    format!("{}{at}: {}.", pair.at.operation, verdict(merged, pair))
}

fn verdict(merged: &Merged<'_>, pair: &Pair) -> String {
    let [store, other] = [&pair.store, &pair.other].map(|name| merged.readable.name(name));
    let machines = pair.machines.len();
    let [faster, slower, not_told] =
        [Faster::First, Faster::Other, Faster::NotTold].map(|faster| pair.count(faster));
    let mean = mean(pair);
    let mut parts = Vec::new();
    if faster == 0 {
        parts.push(format!(
            "none of {} tells {store} from {other} by its own trials",
            counted(machines, "machine")
        ));
        let interval = pair.times.interval.filter(|_| machines >= MIN_BLOCKS);
        parts.push(match interval {
            Some(interval) if !interval.contains(1.0) => {
                format!("all together do, {store} is faster: mean {mean}")
            }
            Some(_) => format!("nor do all together: mean {mean}"),
            None => format!("mean {mean}"),
        });
    } else {
        parts.push(format!("{store} beats {other} {}, {}", on(faster, machines), by(pair, Faster::First)));
        parts.extend(
            (slower > 0).then(|| format!("{other} beats {store} on {slower}, {}", by(pair, Faster::Other))),
        );
        parts.extend((not_told > 0).then(|| format!("on {not_told} the trials can't tell")));
        parts.extend((machines >= MIN_BLOCKS).then(|| format!("mean {mean}")));
    }
    let (combinations, other_way) = (pair.combinations, pair.other_way);
    parts.extend((other_way > 0).then(|| {
        format!("in {other_way} of the {combinations} combinations {other} is faster on some machine")
    }));
    parts.extend(goes_with(pair));
    parts.join("; ")
}

/// By how many times a store is faster, on those machines that tell it.
fn by(pair: &Pair, faster: Faster) -> String {
    let Some((low, high)) = pair.range(|on| on.faster() == faster) else { return String::new() };
    let ends = if faster == Faster::Other { [1.0 / high, 1.0 / low] } else { [low, high] };
    let [low, high] = ends.map(three_digits);
    if low == high { format!("by {low} times") } else { format!("by {low} to {high} times") }
}
