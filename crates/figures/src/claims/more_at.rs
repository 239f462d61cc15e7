//! Checks whether stores win more by one of a claim's figures than by the others.

use super::expect::MoreAt;
use super::pair::CheckOutcome;
use super::verdict::{CheckTally, CheckedFigure, Evidence, Outcome};
use crate::column::Unit;
use crate::layout::Position;

/// Checks whether the stores win a larger share of the combinations by one figure than by the others, from the checks of winners.
pub(super) fn more_at(expected: &MoreAt, checks: Vec<Evidence>) -> Vec<Evidence> {
    if checks.is_empty() {
        return checks;
    }
    let figure = expected.figure.to_string();
    let missing = checks.iter().flat_map(|check| check.missing.iter().cloned()).collect();
    let (at_figure, at_others): (Vec<Evidence>, Vec<Evidence>) =
        checks.into_iter().partition(|check| check.figure == figure);
    let outcome = CheckOutcome {
        settled: compare(CheckTally::count_settled(&at_figure), CheckTally::count_settled(&at_others)),
        leaning: compare(CheckTally::count_leaning(&at_figure), CheckTally::count_leaning(&at_others)),
    };
    let (at_figure, at_others) =
        (CheckTally::count_leaning(&at_figure), CheckTally::count_leaning(&at_others));
    let describe_share =
        |who: String, tally: CheckTally| CheckedFigure { who, value: certain_share(tally), interval: None };
    let shown = vec![
        describe_share(format!("best at {figure}"), at_figure),
        describe_share("at the others".into(), at_others),
    ];
    let evidence = Evidence::new(&expected.figure, &Position::default(), outcome, shown);
    vec![Evidence { unit: Unit::Share, missing, ..evidence }]
}

fn compare(at_figure: CheckTally, at_others: CheckTally) -> Outcome {
    match () {
        () if at_figure.total() == 0 || at_others.total() == 0 => Outcome::Missing,
        () if certain_share(at_figure) > possible_share(at_others) => Outcome::Agrees,
        () if possible_share(at_figure) <= certain_share(at_others) => Outcome::Disagrees,
        () if at_figure.missing + at_others.missing > 0 => Outcome::Missing,
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
