//! Falls in words.

use std::borrow::Cow;

use storebench_core::units::three_digits;

use super::{Fall, Sizes, StoreFalls};
use crate::data::readable::Readable;
use crate::data::spread;
use crate::stats::cliff::Cliff;
use crate::stats::{Interval, Ratio};

/// The legend of tables of falls.
pub const LEGEND: &str = "Sizes are data over memory. Cliff: between which two sizes throughput falls more steeply than elsewhere, at 95 %; \
                          none: no step is steeper than the rest, or it falls by less than 5 %; \
                          not known: too few sizes or blocks. Falls by: from the first size to the last, paired by block.";

/// A size: `0.75x`.
pub fn size(times: f64) -> String {
    format!("{times}x")
}

/// Where a figure falls: `1.25x to 1.5x`.
pub fn cliff(cliff: Cliff) -> String {
    match cliff {
        Cliff::At { low, high } => format!("{} to {}", size(low), size(high)),
        Cliff::None => "none".to_owned(),
        Cliff::Unknown => "not known".to_owned(),
    }
}

/// By how much it falls: `78.2 % [70.1 %, 84.0 %]`.
pub fn falls_by(kept: &Ratio) -> String {
    let percent = |share: f64| format!("{} %", three_digits(share * 100.0));
    let lost = |Interval { low, high, confidence }| Interval { low: 1.0 - high, high: 1.0 - low, confidence };
    format!(
        "{}{}",
        percent(1.0 - kept.ratio.value),
        spread::describe_after(kept.ratio.interval.map(lost), percent)
    )
}

/// Which store falls last, which least, and which do not fall.
pub fn sentences(sizes: &Sizes, falls: &StoreFalls, readable: &Readable) -> Vec<String> {
    let named = |which: fn(&Fall) -> bool| -> Vec<Cow<'_, str>> {
        falls.stores.iter().filter(|fall| which(fall)).map(|fall| readable.name(&fall.store)).collect()
    };
    let told = |what: &str, names: Vec<Cow<'_, str>>| match names.as_slice() {
        [] => None,
        [one] => Some(format!("{what}: {one}.")),
        several => Some(format!("{what}: {} (too close to call).", several.join(", "))),
    };
    let without = named(|fall| fall.cliff == Cliff::None);
    let largest = falls.stores.iter().flat_map(|fall| &fall.sizes).map(|at| at.times).reduce(f64::max);
    let without = largest.filter(|_| !without.is_empty());
    let without = without.map(|largest| {
        let names = named(|fall| fall.cliff == Cliff::None).join(", ");
        format!("No cliff up to {}: {names}.", size(largest))
    });
    let last = told("Falls last", named(|fall| fall.falls_last));
    let least = sizes.inside.zip(sizes.outside).and(told("Falls least", named(|fall| fall.falls_least)));
    [without, last, least].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::merge::Merged;
    use crate::data::sizes::{sizes, tests::outgrown};
    use crate::stats::{Series, compare};

    #[test]
    fn cliffs_and_falls_say_how_sure_they_are() {
        assert_eq!(cliff(Cliff::At { low: 0.75, high: 1.25 }), "0.75x to 1.25x");
        assert_eq!([cliff(Cliff::None), cliff(Cliff::Unknown)], ["none", "not known"]);
        let of = |values: [f64; 2]| values.into_iter().enumerate().collect::<Series<usize>>();
        let kept = compare(&of([20.0, 45.0]), &of([100.0, 100.0])).unwrap();
        assert_eq!(falls_by(&kept), "70.0 % (55.0 %..80.0 %)");
    }

    #[test]
    fn sentences_name_the_last_and_the_least() {
        let runs = [outgrown()];
        let all = sizes(&Merged::new(&runs, &[]));
        let said = sentences(&all[0], all[0].headline().unwrap(), &Readable::default());
        assert_eq!(said, ["No cliff up to 4x: sqlite.", "Falls last: redb.", "Falls least: sqlite."]);
    }
}
