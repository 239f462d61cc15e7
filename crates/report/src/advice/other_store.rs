//! Other sizes and counts of records: the nearest in each direction at which another store is better.

use storebench_figures::stats::{Ratio, compare};

use super::figures::StoreFigures;
use super::record_shape::RecordShape;
use super::sensitivity::{RecommendedStanding, SensitivityContext};

#[derive(Debug, Clone, PartialEq)]
pub struct OtherStore {
    /// The store that is best there; `None` if no measured store answers the question.
    pub store: Option<String>,
    pub why: OtherStoreReason,
    /// Trials of the recommended store or of the other there, whichever are fewer.
    pub trials: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub enum OtherStoreReason {
    /// The other is better: its factor; and where both are alike, if between there and the nearest place where it isn't.
    Beaten(Option<Ratio>, Option<f64>),
    /// It is ruled out there: it failed, or takes too much memory.
    Out(String),
}

/// Walks along an axis in each direction, up to the first place at which another store is better: the places at which the recommended
/// store is best, in the axis's order, and those where the walk ended. Places without a figure of it are skipped.
pub(super) fn walk_outward(
    context: &SensitivityContext<'_, '_, '_>,
    start: (f64, RecordShape),
    mut points: Vec<(f64, RecordShape)>,
) -> (Vec<RecordShape>, Vec<(RecordShape, OtherStore)>) {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let below: Vec<_> = points.iter().rev().filter(|point| point.0 < start.0).copied().collect();
    let above: Vec<_> = points.iter().filter(|point| point.0 > start.0).copied().collect();
    let (mut best_at, mut changes) = (Vec::new(), Vec::new());
    for side in [below, above] {
        let mut previous = start;
        for point in side {
            match context.standing_at(point.1) {
                RecommendedStanding::Unknown => {}
                RecommendedStanding::Best => {
                    best_at.push(point);
                    previous = point;
                }
                RecommendedStanding::Beaten(store, times) => {
                    changes.push((point.1, better_store(context, previous, point, store, times)));
                    break;
                }
                RecommendedStanding::Out(why, store) => {
                    let figures = context.question_figures(point.1);
                    let trials = store.as_deref().and_then(|store| figures.get(store)).map_or(0, |s| s.len());
                    changes.push((point.1, OtherStore { store, why: OtherStoreReason::Out(why), trials }));
                    break;
                }
            }
        }
    }
    best_at.sort_by(|a, b| a.0.total_cmp(&b.0));
    (best_at.into_iter().map(|(_, position)| position).collect(), changes)
}

fn better_store(
    context: &SensitivityContext<'_, '_, '_>,
    previous: (f64, RecordShape),
    point: (f64, RecordShape),
    store: String,
    times: Option<Ratio>,
) -> OtherStore {
    let (near, far) = (context.question_figures(previous.1), context.question_figures(point.1));
    let ratio = |figures: &StoreFigures<'_>| {
        compare(figures.get(store.as_str())?, figures.get(context.best)?).map(|ratio| ratio.ratio.value)
    };
    let equal_at = ratio(&near).zip(ratio(&far)).and_then(|(a, b)| crossing_point(previous.0, point.0, a, b));
    let trials =
        [store.as_str(), context.best].into_iter().filter_map(|store| far.get(store)).map(|s| s.len());
    let trials = trials.min().unwrap_or(0);
    OtherStore { store: Some(store), why: OtherStoreReason::Beaten(times, equal_at), trials }
}

/// Where a ratio that is `a` at `from` and `b` at `to` crosses 1, if between them, with both axes logarithmic.
fn crossing_point(from: f64, to: f64, a: f64, b: f64) -> Option<f64> {
    (a > 1.0 && b < 1.0).then(|| (from.ln() + (to / from).ln() * a.ln() / (a / b).ln()).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lines_cross_where_their_ratio_is_one() {
        assert!((crossing_point(1.0, 100.0, 2.0, 0.5).unwrap() - 10.0).abs() < 1e-9);
        assert!((crossing_point(1000.0, 10.0, 10.0, 0.1).unwrap() - 100.0).abs() < 1e-9);
        assert_eq!(crossing_point(1.0, 2.0, 0.9, 0.5), None);
        assert_eq!(crossing_point(1.0, 2.0, 1.5, 1.2), None);
    }
}
