//! Interim analyses: when to examine whether a run knows enough, with which confidence, and what is worth measuring further.
//!
//! Looking after every block, and stopping as soon as an interval happens to exclude 1, stops too early far more often than
//! the interval's confidence says. So the numbers of blocks at which to look are planned, and each look takes an
//! interval whose error is its share of the whole (Bonferroni): whichever look ends the search, its interval holds with
//! [`CONFIDENCE`].
//!
//! If a run continues until its budget is spent, the early looks are strict instead: together they take [`EARLY`] of the error, and
//! the end of measuring, by the last look or by time, has the rest (J. Haybittle, *Repeated assessment of results in clinical trials of
//! cancer treatment*, British Journal of Radiology 44, 1971). So an early look decides what is clear at once, and hardly anything that more
//! trials would have reversed.

use statrs::distribution::{ContinuousCDF, Normal};
use storebench_model::result::RunHeader;

use super::standing::{Contender, Standing, Terms, decide_on};
use super::{Rule, Verdict};
use crate::stats::{Better, CONFIDENCE, MIN_BLOCKS, Ratio, Series, t_quantile};

/// The numbers of blocks at which to look; the last is the maximum. Each look widens intervals, so there are few.
const LOOKS: [u32; 6] = [MIN_BLOCKS as u32, 5, 8, 12, 20, 32];

/// The most blocks of a run: a larger budget does not decide what these leave open.
pub const MOST_BLOCKS: usize = LOOKS[LOOKS.len() - 1] as usize;

/// The looks to plan if there is time for `blocks` blocks: the last is the first that time may not suffice for.
pub fn plan_analyses(blocks: u32) -> &'static [u32] {
    let smaller = LOOKS.iter().take_while(|look| **look < blocks).count();
    &LOOKS[..(smaller + 1).min(LOOKS.len())]
}

/// The looks to plan for a run of at least `blocks` blocks whose time is unknown: the first comes after those.
pub fn plan_open_analyses(blocks: u32) -> Vec<u32> {
    let first = blocks.max(LOOKS[0]);
    std::iter::once(first).chain(LOOKS.into_iter().filter(|look| *look > first)).collect()
}

/// The confidence of each look's interval so that [`CONFIDENCE`] holds at whichever of `looks` looks the search ends.
pub fn confidence(looks: usize) -> f64 {
    1.0 - (1.0 - CONFIDENCE) / looks.max(1) as f64
}

/// Two stores that differ by less are alike, if no precision is asked for.
pub const ALIKE: f64 = 0.03;

/// A pair that even the last look decides with a lower probability is given up.
const WORTH_TRYING: f64 = 0.1;

/// Blocks that are assumed to be enough if too few were seen to estimate.
const USUALLY_ENOUGH: f64 = 5.0;

/// The share of the error that strict early looks take together.
const EARLY: f64 = 0.1;

/// A future look.
#[derive(Debug, Clone, Copy)]
pub struct InterimAnalysis {
    /// The blocks before it.
    pub blocks: u32,
    /// Its confidence.
    pub confidence: f64,
}

/// The confidences of looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnalysisLevels {
    /// Of each early look.
    pub early: f64,
    /// Of the end of measuring, if no early look decided.
    pub end: f64,
}

/// The confidences for figures of these runs.
pub fn levels(runs: &[&RunHeader]) -> AnalysisLevels {
    match runs {
        [run] if run.strict_early && run.interim_analyses.len() > 1 => AnalysisLevels {
            early: 1.0 - (1.0 - CONFIDENCE) * EARLY / (run.interim_analyses.len() - 1) as f64,
            end: 1.0 - (1.0 - CONFIDENCE) * (1.0 - EARLY),
        },
        // Bonferroni's bound holds however each of several runs ended.
        _ => {
            let alike = confidence(count_analyses(runs.iter().map(|run| run.interim_analyses.len())));
            AnalysisLevels { early: alike, end: alike }
        }
    }
}

/// Whether measuring ends after `blocks` blocks: no more are planned, or a look finds the result `clear`.
pub fn is_over(planned: &[u32], blocks: u32, clear: impl FnOnce() -> bool) -> bool {
    planned.last().is_none_or(|last| blocks >= *last) || (planned.contains(&blocks) && clear())
}

/// Whether the second is separated from the best, if only by the clock's resolution or by too little to matter; or the whole interval
/// says that both are alike to within `precision`, a share of 1.
pub fn is_clear(verdict: Verdict, times_worse: Option<Ratio>, precision: f64) -> bool {
    let interval =
        times_worse.filter(|ratio| ratio.blocks >= MIN_BLOCKS).and_then(|ratio| ratio.ratio.interval);
    matches!(verdict.rule(), Some(Rule::Interval | Rule::Clock | Rule::Little))
        && interval
            .is_some_and(|i| i.low > 1.0 || (i.high <= 1.0 + precision && i.low * (1.0 + precision) >= 1.0))
}

/// The number of looks that figures from several runs allow for, given the looks of each.
pub fn count_analyses(looks: impl Iterator<Item = usize>) -> usize {
    looks.map(|looks| looks.max(1)).product()
}

/// Ranks stores by the early looks; if these leave several candidates for the best, by the end of measuring.
pub fn decide<K: Ord>(
    stores: &[Series<K>],
    better: Better,
    terms: Terms,
    levels: AnalysisLevels,
) -> Vec<Standing> {
    let decide_at = |confidence| decide_on(stores, better, Terms { confidence, ..terms });
    let early = decide_at(levels.early);
    let may_be_best = early.iter().filter(|standing| standing.verdict.wins()).count();
    if levels.end < levels.early && may_be_best != 1 { decide_at(levels.end) } else { early }
}

/// Whether more blocks won't move a store relative to the best: it is clear, or unlikely to become so even at the last of these looks.
pub fn is_beyond(verdict: Verdict, times_worse: Option<Ratio>, precision: f64, looks: &[u32]) -> bool {
    let blocks = looks.last().copied().unwrap_or(0);
    let last = InterimAnalysis { blocks, confidence: confidence(looks.len()) };
    is_clear(verdict, times_worse, precision)
        || (verdict.rule() == Some(Rule::Interval)
            && times_worse.is_some_and(|ratio| chance(ratio, last) < 0.5))
}

/// The stores of the undecided pairs at a place, each with the chance that the next look decides its pair, 1 at most.
/// Pairs that even the last look will hardly decide are left out. `precision`: each ratio that decides a winner must be known to
/// within this share; without it, a pair is decided once one store is better, or both are alike.
pub fn open(
    ranked: &[Contender],
    precision: Option<f64>,
    (next, last): (InterimAnalysis, InterimAnalysis),
) -> Vec<(&str, f64)> {
    let Some((best, others)) = ranked.split_first() else { return Vec::new() };
    let mut chances = Vec::new();
    for (rank, other) in others.iter().enumerate() {
        let is_open = match precision {
            // A winner is decided by the ratio of the second to the best.
            Some(share) => rank == 0 && !is_known(other, share),
            None => other.verdict.wins() && !is_decided(other),
        };
        // No trial can change a figure of zero, which has no ratio.
        let is_judged = !matches!(other.verdict, Verdict::NotJudged(_));
        let Some(ratio) = other.times_worse.filter(|_| is_open && is_judged) else { continue };
        if precision.is_some() || is_worth_trying(ratio, last) {
            let chance = precision.map_or_else(|| chance(ratio, next), |share| nearness(ratio, next, share));
            chances.extend([(best.store.as_str(), chance), (other.store.as_str(), chance)]);
        }
    }
    chances
}

/// Whether the last look may decide a pair.
fn is_worth_trying(ratio: Ratio, last: InterimAnalysis) -> bool {
    chance(ratio, last) >= WORTH_TRYING
}

/// The probability that a look after more blocks decides a pair with this ratio, if the figures continue to vary as they do: that
/// its interval will exclude 1, or be close enough around 1 to call both alike. The blocks so far are the only knowledge of the ratio, so
/// for a pair with few blocks hardly anything is ruled out (predictive power: D. Spiegelhalter, L. Freedman and P. Blackburn,
/// *Monitoring clinical trials: conditional or predictive power?*, Controlled Clinical Trials 7, 1986).
fn chance(ratio: Ratio, look: InterimAnalysis) -> f64 {
    let Some((error, half_width)) = forecast(ratio, look) else { return 1.0 };
    let (mean, blocks, total_blocks) = (ratio.ratio.value.ln(), ratio.blocks as f64, f64::from(look.blocks));
    // The mean over all blocks may still move this far from the present mean.
    let spread = error * (1.0 - blocks / total_blocks).max(0.0).sqrt();
    let probability_below = |bound: f64| match Normal::new(mean, spread) {
        Ok(means) => means.cdf(bound),
        Err(_) => f64::from(mean < bound),
    };
    let separated = probability_below(-half_width) + 1.0 - probability_below(half_width);
    let margin = (ALIKE.ln_1p() - half_width).max(0.0);
    (separated + probability_below(margin) - probability_below(-margin)).min(1.0)
}

/// The required width, a share of a ratio, relative to the width that a look is likely to find; 1 at most.
fn nearness(ratio: Ratio, look: InterimAnalysis, share: f64) -> f64 {
    forecast(ratio, look).map_or(1.0, |(_, half_width)| (share.ln_1p() / half_width).min(1.0))
}

/// The standard error of a ratio's logarithm, and the half-width of its interval after a look; `None` with too few blocks.
fn forecast(ratio: Ratio, look: InterimAnalysis) -> Option<(f64, f64)> {
    let interval = ratio.ratio.interval.filter(|_| ratio.blocks >= MIN_BLOCKS)?;
    let half_width = (interval.high / ratio.ratio.value).ln();
    let quantile = |blocks: usize, confidence| t_quantile(blocks.max(2) - 1, confidence);
    let error = half_width / quantile(ratio.blocks, interval.confidence);
    let narrower = (ratio.blocks as f64 / f64::from(look.blocks)).sqrt();
    Some((error, error * narrower * quantile(look.blocks as usize, look.confidence)))
}

/// Whether a store is separated from the best, or known to be like it.
fn is_decided(other: &Contender) -> bool {
    is_clear(other.verdict, other.times_worse, ALIKE)
        || matches!(other.verdict, Verdict::Tied(Rule::Clock | Rule::Little))
}

/// Whether the ratio of the second to the best is known to within `share` of itself on either side. A ratio without an interval is
/// unknown; a difference below the clock's resolution is known well enough.
fn is_known(second: &Contender, share: f64) -> bool {
    let Some(ratio) = second.times_worse else { return true };
    if second.verdict == Verdict::Tied(Rule::Clock) && ratio.blocks >= MIN_BLOCKS {
        return true;
    }
    // A range is no interval.
    let interval = ratio.ratio.interval.filter(|_| second.verdict.rule() == Some(Rule::Interval));
    interval.is_some_and(|interval| {
        let value = ratio.ratio.value;
        interval.high - value <= share * value && value - interval.low <= share * value
    })
}

/// The first look that likely separates two stores with this ratio, or shows them alike; `None` if none is planned that late.
pub fn settling_look(ratio: Option<&Ratio>) -> Option<u32> {
    let blocks = ratio.map_or(Some(USUALLY_ENOUGH), blocks_needed)? as u32;
    LOOKS.into_iter().find(|look| *look >= blocks)
}

/// The blocks after which a ratio's interval likely excludes 1, or is narrow enough to call both alike. `None` if beyond counting.
fn blocks_needed(ratio: &Ratio) -> Option<f64> {
    let interval = ratio.ratio.interval.filter(|_| ratio.blocks >= MIN_BLOCKS);
    let Some(interval) = interval else { return Some(USUALLY_ENOUGH) };
    let half = (interval.high / interval.low).ln() / 2.0;
    let enough = ratio.ratio.value.ln().abs().max((1.0 + 2.0 * ALIKE).ln() / 2.0);
    let blocks = (ratio.blocks as f64 * (half / enough).powi(2)).ceil().max(ratio.blocks as f64 + 1.0);
    (blocks.is_finite() && blocks < f64::from(u32::MAX)).then_some(blocks)
}

#[cfg(test)]
mod tests {
    use storebench_samples::normal;

    use super::*;
    use crate::judge::standing::tests::decide_at;
    use crate::stats::{Better, Series, compare_at};

    #[test]
    fn looks_are_as_many_as_there_is_time_for() {
        for (blocks, looks) in [(0, &[3][..]), (3, &[3]), (10, &[3, 5, 8, 12]), (1_000, &LOOKS)] {
            assert_eq!(plan_analyses(blocks), looks);
        }
        for (blocks, looks) in [(1, &LOOKS[..]), (4, &[4, 5, 8, 12, 20, 32]), (40, &[40])] {
            assert_eq!(plan_open_analyses(blocks), looks);
        }
        assert!((confidence(1) - 0.95).abs() < 1e-12 && (confidence(5) - 0.99).abs() < 1e-12);
    }

    #[test]
    fn alike_is_what_lies_within_the_margin_with_all_of_its_interval() {
        let clear = |low: f64, high: f64| {
            let interval = Some(crate::stats::Interval { low, high, confidence: CONFIDENCE });
            let ratio = crate::stats::Estimate { value: (low * high).sqrt(), interval };
            is_clear(Verdict::Tied(Rule::Interval), Some(Ratio { blocks: 5, ratio }), 0.03)
        };
        assert!(clear(0.98, 1.02) && clear(1.01, 1.06));
        assert!(!clear(1.00, 1.06) && !clear(0.66, 6.7) && !clear(0.95, 1.01));
    }

    #[test]
    fn between_looks_nothing_ends() {
        let planned = [3, 5, 8];
        let ends: Vec<u32> = (1..=9).filter(|blocks| is_over(&planned, *blocks, || true)).collect();
        assert_eq!(ends, [3, 5, 8, 9]);
        let ends: Vec<u32> = (1..=9).filter(|blocks| is_over(&planned, *blocks, || false)).collect();
        assert_eq!(ends, [8, 9]);
    }

    /// The share of searches among equal stores that call one better than the next, with these looks.
    fn called_better(stores: usize, planned: &[u32], confidence: f64) -> f64 {
        let mut random = fastrand::Rng::with_seed(5);
        let rounds = 2_000;
        let called = (0..rounds).filter(|_| {
            let mut series: Vec<Series<u32>> = vec![Series::new(); stores];
            for blocks in 1.. {
                let weather = normal(&mut random);
                for store in &mut series {
                    store.insert(blocks, (weather + 0.1 * normal(&mut random)).exp());
                }
                let second = || decide_at(&series, Better::Lower, confidence).swap_remove(1);
                let clear = || {
                    let second = second();
                    is_clear(second.verdict, second.times_worse, 0.03)
                };
                if is_over(planned, blocks, clear) {
                    return !second().verdict.wins();
                }
            }
            false
        });
        called.count() as f64 / f64::from(rounds)
    }

    /// The same for a run with a budget, which gives up what the last look will hardly decide.
    fn called_worse_by_strict_looks(stores: usize) -> f64 {
        let planned = plan_open_analyses(8);
        let mut run = storebench_samples::blocks("box", &[]);
        run.header.interim_analyses.clone_from(&planned);
        run.header.strict_early = true;
        let AnalysisLevels { early, end } = levels(&[&run.header]);
        let last = InterimAnalysis { blocks: planned[planned.len() - 1], confidence: end };
        let mut random = fastrand::Rng::with_seed(8);
        let rounds = 1_000;
        let called = (0..rounds).filter(|_| {
            let mut series: Vec<Series<u32>> = vec![Series::new(); stores];
            for blocks in 1..=last.blocks {
                for store in &mut series {
                    store.insert(blocks, (0.1 * normal(&mut random)).exp());
                }
                if !planned.contains(&blocks) {
                    continue;
                }
                let others = |at: f64| decide_at(&series, Better::Lower, at).into_iter().skip(1);
                if others(early).any(|other| !other.verdict.wins()) {
                    return true;
                }
                let goes_on = |ratio: Ratio| blocks < last.blocks && is_worth_trying(ratio, last);
                if !others(early).any(|other| other.times_worse.is_some_and(goes_on)) {
                    return others(end).any(|other| !other.verdict.wins());
                }
            }
            false
        });
        called.count() as f64 / f64::from(rounds)
    }

    #[test]
    fn strict_early_looks_leave_the_last_nearly_all_of_the_error() {
        let mut run = storebench_samples::blocks("box", &[]);
        run.header.interim_analyses = vec![8, 12, 20, 32];
        assert_eq!(levels(&[&run.header]), AnalysisLevels { early: confidence(4), end: confidence(4) });
        let alike = run.header.clone();
        run.header.strict_early = true;
        let strict = levels(&[&run.header]);
        assert!((strict.early - (1.0 - 0.005 / 3.0)).abs() < 1e-12 && (strict.end - 0.955).abs() < 1e-12);
        // Whichever looks of two runs are combined.
        assert_eq!(levels(&[&run.header, &alike]).end, confidence(16));
        run.header.interim_analyses = vec![40];
        assert_eq!(levels(&[&run.header]), AnalysisLevels { early: CONFIDENCE, end: CONFIDENCE });
    }

    #[test]
    fn equal_stores_are_called_better_no_more_often_than_the_confidence_allows() {
        for blocks in [10, 16, 100] {
            let planned = plan_analyses(blocks);
            for stores in [2, 4] {
                let share = called_better(stores, planned, confidence(planned.len()));
                assert!(share <= 0.05, "{stores} stores, {blocks} blocks: {share}");
            }
        }
        for stores in [2, 4, 10] {
            let share = called_worse_by_strict_looks(stores);
            assert!(share <= 0.05, "{stores} stores, strict early looks: {share}");
        }
        // The fault that this prevents: a look after every block, each as if it were the only one.
        let every: Vec<u32> = (3..=16).collect();
        let share = called_better(2, &every, CONFIDENCE);
        assert!(share > 0.15, "{share}");
    }

    #[test]
    fn a_look_decides_as_many_pairs_as_was_foretold() {
        const BLOCKS: usize = 8;
        const LOOK: usize = 32;
        let confidence = confidence(plan_open_analyses(1).len());
        let mut random = fastrand::Rng::with_seed(4);
        let (mut foretold, mut came) = (0.0, 0.0);
        for _ in 0..4_000 {
            // The prior takes all differences as equally likely.
            let apart = random.f64() * 3.0 - 1.5;
            let logs: Vec<f64> = (0..LOOK).map(|_| apart + normal(&mut random)).collect();
            let ratio = |blocks: usize| {
                let series =
                    |logs: &[f64]| logs.iter().map(|log| log.exp()).enumerate().collect::<Series<usize>>();
                compare_at(&series(&logs[..blocks]), &series(&vec![0.0; blocks]), confidence).unwrap()
            };
            foretold += chance(ratio(BLOCKS), InterimAnalysis { blocks: LOOK as u32, confidence });
            let interval = ratio(LOOK).ratio.interval.unwrap();
            came += f64::from(u8::from(interval.low > 1.0 || interval.high < 1.0));
        }
        assert!((0.95..1.05).contains(&(foretold / came)), "{foretold} foretold, {came} came");
    }

    #[test]
    fn a_pair_is_settled_by_the_look_that_narrows_its_interval_enough() {
        let ratio = |value: f64, times: f64, blocks: usize| {
            let interval =
                crate::stats::Interval { low: value / times, high: value * times, confidence: 0.95 };
            Ratio { blocks, ratio: crate::stats::Estimate { value, interval: Some(interval) } }
        };
        // The interval is as wide as the ratio's distance from 1 after (ln 1.2 / ln 1.1)² = 3.66 times the blocks.
        assert_eq!(blocks_needed(&ratio(1.1, 1.2, 3)), Some(11.0));
        assert_eq!(settling_look(Some(&ratio(1.1, 1.2, 3))), Some(12));
        assert_eq!(settling_look(Some(&ratio(1.0, 1.4, 5))), None, "a hundred times the blocks");
        assert_eq!(settling_look(None), Some(5));
        let is_beyond = |ratio| is_beyond(Verdict::Tied(Rule::Interval), Some(ratio), ALIKE, &LOOKS);
        assert!(is_beyond(ratio(1.0, 1.01, 5)) && is_beyond(ratio(1.001, 3.0, 12)));
        assert!(!is_beyond(ratio(1.1, 1.2, 3)));
    }
}
