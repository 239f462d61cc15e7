//! Decides which figures changed from one run to another, for better or worse.

use serde::Serialize;

use crate::stats::Better;
use crate::stats::unpaired::{Change, LEVEL, holm};

/// The verdict on a figure in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Significantly worse, or exactly if neither side varies.
    Worse,
    /// Significantly better, or exactly if neither side varies.
    Better,
    /// No significant change, which is not the same as none.
    Unclear,
    /// Too few observations on a side.
    TooFew,
    /// A value is zero on one side, so that no ratio exists.
    NoRatio,
}

impl Verdict {
    /// Whether it is marked.
    pub fn is_change(self) -> bool {
        matches!(self, Verdict::Worse | Verdict::Better)
    }

    /// Whether it is worse, and by more than a share even at the end of its interval that is nearer to no change: `weight` has the
    /// logarithm of that end.
    pub fn is_worse_by_more_than(self, share: f64, weight: f64) -> bool {
        self == Verdict::Worse && weight > share.ln_1p()
    }

    /// The word in reports; empty for no claim.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Worse => "worse",
            Verdict::Better => "better",
            Verdict::Unclear | Verdict::TooFew | Verdict::NoRatio => "",
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct ChangedFigure {
    /// The second side over the first; `None` if a value is zero.
    pub change: Option<Change>,
    /// Whether both sides together have two values at most ([`is_coarse`]).
    pub is_coarse: bool,
    pub better: Better,
}

#[derive(Debug, Clone, Copy)]
pub struct JudgedChange {
    pub verdict: Verdict,
    /// The chance of such a change if nothing changed, adjusted for the number of figures.
    pub p_adjusted: Option<f64>,
    /// The smallest increase of the second side that would be marked, as a share; `None` if none would be.
    pub detectable: Option<f64>,
}

pub fn is_coarse<'v>(values: impl Iterator<Item = &'v f64> + Clone) -> bool {
    let Some(first) = values.clone().next() else { return true };
    let mut others = values.filter(|value| *value != first);
    others.next().is_none_or(|second| others.all(|value| value == second))
}

/// The share of the level for coarse figures, if there are any; the t-tests have the rest.
const COARSE_SHARE: f64 = 0.4;

/// Decides what can be claimed of each figure, given their number.
///
/// A figure that is constant on both sides has no t-test, and yet may be marked by chance: a figure with
/// two values may show one in all of BASE and the other in all of NEW. So coarse figures are corrected for their number,
/// too, separately, and share the level with the tests (Bonferroni): both together keep it.
pub fn judge(figures: &[ChangedFigure]) -> Vec<JudgedChange> {
    let any_coarse = figures.iter().any(|figure| figure.is_coarse);
    let share = if any_coarse { COARSE_SHARE } else { 0.0 };
    let tested = adjust_chances(figures, 1.0 - share, |figure| figure.change?.p);
    let exact = adjust_chances(figures, share, |figure| {
        let constant =
            figure.change.filter(|change| change.ratio.value != 1.0).and_then(|change| change.constant);
        figure.is_coarse.then_some(constant.unwrap_or(1.0))
    });
    // The first of Holm's steps, which is the hardest: a single change among all figures.
    let tests =
        figures.iter().filter(|figure| figure.change.is_some_and(|change| change.p.is_some())).count();
    let level = LEVEL * (1.0 - share) / tests.max(1) as f64;
    let coarse = figures.iter().filter(|figure| figure.is_coarse).count() as f64;
    let judge_figure = |(figure, (tested, exact)): (&ChangedFigure, (Option<f64>, Option<f64>))| {
        // A coarse figure that varies is judged by the test, a constant one by the exact chance, if
        // there are enough observations.
        let p_adjusted = tested.or(exact);
        let detectable = figure.change.and_then(|change| match change.constant {
            Some(chance) => (chance * coarse <= LEVEL * share).then_some(0.0),
            None => change.detectable(level),
        });
        JudgedChange { verdict: verdict(figure, p_adjusted), p_adjusted, detectable }
    };
    figures.iter().zip(tested.into_iter().zip(exact)).map(judge_figure).collect()
}

/// The chances of some of the figures, adjusted for their number, at a share of the level.
fn adjust_chances(
    figures: &[ChangedFigure],
    share: f64,
    chance: impl Fn(&ChangedFigure) -> Option<f64>,
) -> Vec<Option<f64>> {
    let chances: Vec<Option<f64>> = figures.iter().map(chance).collect();
    let mut adjusted = holm(&chances.iter().copied().flatten().collect::<Vec<_>>()).into_iter();
    let adjust = |(figure, chance): (&ChangedFigure, &Option<f64>)| {
        let adjusted = chance.and_then(|_| adjusted.next()).map(|p| (p / share).min(1.0));
        figure.change.filter(|change| change.p.is_some() || change.is_exact()).and(adjusted)
    };
    figures.iter().zip(&chances).map(adjust).collect()
}

fn verdict(figure: &ChangedFigure, p_adjusted: Option<f64>) -> Verdict {
    let Some(change) = figure.change else { return Verdict::NoRatio };
    let ratio = change.ratio.value;
    match p_adjusted.is_some_and(|p| p <= LEVEL) {
        true if (ratio > 1.0) == (figure.better == Better::Lower) => Verdict::Worse,
        true => Verdict::Better,
        false if p_adjusted.is_some() || change.constant.is_some() => Verdict::Unclear,
        false => Verdict::TooFew,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::unpaired::change;

    fn figure(base: &[f64], new: &[f64]) -> ChangedFigure {
        let is_coarse = is_coarse(base.iter().chain(new));
        ChangedFigure { change: change(base, new), is_coarse, better: Better::Lower }
    }

    #[test]
    fn a_change_is_marked_where_chance_hardly_makes_it() {
        let steady = [1.0, 1.01, 0.99, 1.02, 0.98];
        let more = steady.map(|value| value * 2.0);
        let figures = [
            figure(&steady, &more),
            figure(&more, &steady),
            figure(&steady, &[0.99, 1.02, 1.0, 0.98, 1.01]),
            figure(&[1.0], &[2.0]),
            figure(&[0.0, 1.0], &[1.0, 2.0]),
        ];
        let verdicts: Vec<Verdict> = judge(&figures).iter().map(|judged| judged.verdict).collect();
        let expected = [Verdict::Worse, Verdict::Better, Verdict::Unclear, Verdict::TooFew, Verdict::NoRatio];
        assert_eq!(verdicts, expected);
    }

    #[test]
    fn what_varies_on_neither_side_needs_more_observations() {
        let verdict = |count: usize| {
            let judged = judge(&[figure(&vec![1.0; count], &vec![2.0; count])]);
            (judged[0].verdict, judged[0].p_adjusted.is_some())
        };
        assert_eq!(verdict(4), (Verdict::Unclear, false));
        assert_eq!(verdict(8), (Verdict::Worse, true));
    }
}
