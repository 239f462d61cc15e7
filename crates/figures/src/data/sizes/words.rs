//! Falls in words.

use std::borrow::Cow;

use storebench_model::units::three_digits;

use super::{Fall, Sizes, StoreFalls};
use crate::data::readable::Readable;
use crate::data::spread;
use crate::stats::cliff::Cliff;
use crate::stats::{Interval, Ratio};

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
    let reach = spread::describe_after(kept.ratio.interval.map(lost), percent);
    format!("{}{reach}", percent(1.0 - kept.ratio.value))
}

/// Which store falls last, which least, and which do not fall.
pub fn sentences(sizes: &Sizes, falls: &StoreFalls, readable: &Readable) -> Vec<String> {
    let names = |is_wanted: fn(&Fall) -> bool| -> Vec<Cow<'_, str>> {
        falls.stores.iter().filter(|fall| is_wanted(fall)).map(|fall| readable.name(&fall.store)).collect()
    };
    let sentence = |words: &str, names: Vec<Cow<'_, str>>| match names.as_slice() {
        [] => None,
        [store] => Some(format!("{words}: {store}.")),
        several => Some(format!("{words}: {} (too close to call).", several.join(", "))),
    };
    let without_cliff = names(|fall| fall.cliff == Cliff::None);
    let largest = falls.stores.iter().flat_map(|fall| &fall.sizes).map(|size| size.times).reduce(f64::max);
    let largest = largest.filter(|_| !without_cliff.is_empty());
    let list = without_cliff.join(", ");
    let no_cliff = largest.map(|largest| format!("No cliff up to {}: {list}.", size(largest)));
    let last = sentence("Falls last", names(|fall| fall.falls_last));
    let least = sizes.inside.zip(sizes.outside).and(sentence("Falls least", names(|fall| fall.falls_least)));
    [no_cliff, last, least].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use storebench_samples::outgrown;

    use super::*;
    use crate::data::merge::Merged;
    use crate::data::sizes::sizes;
    use crate::stats::{Series, compare};

    #[test]
    fn cliffs_and_falls_say_how_sure_they_are() {
        assert_eq!(cliff(Cliff::At { low: 0.75, high: 1.25 }), "0.75x to 1.25x");
        assert_eq!([cliff(Cliff::None), cliff(Cliff::Unknown)], ["none", "not known"]);
        let series = |values: [f64; 2]| values.into_iter().enumerate().collect::<Series<usize>>();
        let kept = compare(&series([20.0, 45.0]), &series([100.0, 100.0])).unwrap();
        assert_eq!(falls_by(&kept), "70.0 % (55.0 %..80.0 %)");
    }

    #[test]
    fn sentences_name_the_last_and_the_least() {
        let runs = [outgrown()];
        let sizes_found = sizes(&Merged::new(&runs, &[]));
        let lines = sentences(&sizes_found[0], sizes_found[0].headline().unwrap(), &Readable::default());
        assert_eq!(lines, ["No cliff up to 4x: sqlite.", "Falls last: redb.", "Falls least: sqlite."]);
    }
}
