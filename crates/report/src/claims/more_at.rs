//! Checks whether stores win more by one of a claim's figures than by the others.

use super::expect::MoreAt;
use super::pair::CheckOutcome;
use super::verdict::{CheckTally, CheckedFigure, Evidence, Outcome};
use crate::column::Unit;
use crate::layout::Position;

/// Checks whether the stores win a larger share of the combinations by one figure than by the others together, from the checks of
/// the winner of each combination.
pub(super) fn more_at(expected: &MoreAt, checks: Vec<Evidence>) -> Vec<Evidence> {
    if checks.is_empty() {
        return checks;
    }
    let wanted = expected.figure.to_string();
    let missing = checks.iter().flat_map(|check| check.missing.iter().cloned()).collect();
    let (here, others): (Vec<Evidence>, Vec<Evidence>) =
        checks.into_iter().partition(|check| check.figure == wanted);
    let found = CheckOutcome {
        settled: compare(CheckTally::count_settled(&here), CheckTally::count_settled(&others)),
        leaning: compare(CheckTally::count_leaning(&here), CheckTally::count_leaning(&others)),
    };
    let (here, others) = (CheckTally::count_leaning(&here), CheckTally::count_leaning(&others));
    let shown =
        |who: String, tally: CheckTally| CheckedFigure { who, value: certain_share(tally), interval: None };
    vec![Evidence {
        shown: vec![shown(format!("best at {wanted}"), here), shown("at the others".into(), others)],
        figure: wanted,
        unit: Unit::Share,
        spot: Position::default(),
        averaged: None,
        averaged_stores: None,
        outcome: found.settled,
        leaning: found.leaning,
        times: None,
        missing,
        covers: Vec::new(),
    }]
}

fn compare(here: CheckTally, others: CheckTally) -> Outcome {
    match () {
        () if here.total() == 0 || others.total() == 0 => Outcome::Missing,
        () if certain_share(here) > possible_share(others) => Outcome::Agrees,
        () if possible_share(here) <= certain_share(others) => Outcome::Disagrees,
        () if here.missing + others.missing > 0 => Outcome::Missing,
        () => Outcome::Close,
    }
}

/// The share that is certainly won.
fn certain_share(tally: CheckTally) -> f64 {
    share(tally.agree, tally)
}

/// The share that may be won, counting everything open.
fn possible_share(tally: CheckTally) -> f64 {
    share(tally.total() - tally.disagree, tally)
}

fn share(number: usize, tally: CheckTally) -> f64 {
    if tally.total() == 0 { 0.0 } else { number as f64 / tally.total() as f64 }
}
