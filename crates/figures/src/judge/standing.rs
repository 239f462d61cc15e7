//! Decides which store is the best, and which are too close to call with it.
//!
//! The best is chosen from the data, and all others are compared with it: among ten equal stores one always looks the best by
//! chance, and the more stores, the better it looks. So the comparisons of a place are judged together. A store is called
//! worse by a one-sided t-test of the logarithms of its ratios to the best, paired by block, at a level that allows for
//! every store that may be the best in truth and for every other that may look better than it: of `k` stores, `m` of which
//! are not yet called worse, the level is `(1 - confidence) / (m (k - 1))`. That is Bonferroni's bound for each store's
//! comparison with all others, as in multiple comparisons with the best (J. Hsu, Multiple Comparisons, 1996, chapter 4), and
//! Holm's step-down procedure (S. Holm, 1979) over the stores. If the scatter of all such figures is known ([`Scatter`]), it
//! moderates the variance of the ratios.
//!
//! Proof: say that `t` stores are truly the best. For one of them to be called worse, the first one must
//! look worse than some other store while all `t` are still left, by a test at a level of at most
//! `(1 - confidence) / (t (k - 1))`; there are `t (k - 1)` such pairs, so that the chance of any is at most
//! `1 - confidence`. The proof does not depend on how the best was chosen, on the stores' scatter, or on how their figures depend
//! on each other. The reported interval is the deciding one: two-sided, at twice that level. Its reported confidence is
//! that of all comparisons together.

use serde::Serialize;

use super::contention::Contention;
use super::{Rule, Verdict, order};
use crate::stats::{
    Better, CONFIDENCE, Estimate, Interval, MIN_BLOCKS, Ratio, Resolution, Scale, Scatter, Series, Summary,
    THRESHOLD, one_sided_p, ratio_at, ratios, standard_error,
};

/// The standing of one store relative to the best.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The store's index in the list given to [`decide`].
    pub index: usize,
    pub figure: Summary,
    /// The factor by which it is worse than the best: over 1 is worse, whichever direction is better. Its interval is
    /// the deciding one; its confidence holds for all comparisons of the place together. `None` for the best
    /// itself and without a ratio.
    pub times_worse: Option<Ratio>,
    pub verdict: Verdict,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contender {
    pub store: String,
    pub figure: Summary,
    /// The factor to the best, as in its [`Standing`].
    pub times_worse: Option<Ratio>,
    #[serde(flatten)]
    pub verdict: Verdict,
}

impl Contender {
    pub fn new(store: String, Standing { figure, times_worse, verdict, .. }: Standing) -> Contender {
        Contender { store, figure, times_worse, verdict }
    }
}

pub fn winners(ranked: &[Contender]) -> impl Iterator<Item = &Contender> {
    ranked.iter().filter(|contender| contender.verdict.wins())
}

/// Whether stores were measured under conditions that allow a verdict.
pub fn is_judged(ranked: &[Contender]) -> bool {
    !ranked.iter().any(|contender| matches!(contender.verdict, Verdict::NotJudged(_)))
}

/// Whether a single store is the best, or the only candidate.
pub fn is_decided(ranked: &[Contender]) -> bool {
    winners(ranked).count() == 1
}

/// Whether too few trials name candidates here. A store that looks further behind than one that is surely worse has no part in that.
pub fn names_candidates(ranked: &[Contender]) -> bool {
    let times = |contender: &Contender| contender.times_worse.map_or(1.0, |times| times.ratio.value);
    let is_surely_worse = |contender: &&Contender| contender.verdict == Verdict::Worse(Rule::Interval);
    let nearest = ranked.iter().filter(is_surely_worse).map(times).fold(f64::INFINITY, f64::min);
    let is_by_few = |contender: &Contender| contender.verdict.rule().is_some_and(Rule::names_candidates);
    ranked.iter().any(|contender| is_by_few(contender) && times(contender) <= nearest)
}

/// Whether a store is surely worse than the first by more than [`FAR`], also where nothing is judged.
pub fn is_far(contender: &Contender) -> bool {
    is_beyond_far(contender.times_worse)
}

fn is_beyond_far(times_worse: Option<Ratio>) -> bool {
    times_worse.and_then(|times| times.ratio.interval).is_some_and(|i| !i.is_range() && i.low > FAR)
}

/// Whether anything is won: not if several stores all have the same figure, as is usual for errors.
pub fn is_won(ranked: &[Contender]) -> bool {
    let mut values = ranked.iter().map(|contender| contender.figure.mean.value);
    let first = values.next();
    values.len() == 0 || values.any(|value| Some(value) != first)
}

/// The status of a store among the stores of its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Alone,
    /// Other programs left too few processors for a verdict.
    NotJudged,
    /// It may be the best; there are too few trials to decide.
    Candidate,
    Best,
    /// Too close to call with others.
    Tied,
    Worse,
}

pub fn status(ranked: &[Contender], contender: &Contender) -> Status {
    match () {
        () if ranked.len() < 2 => Status::Alone,
        () if !is_judged(ranked) => Status::NotJudged,
        () if !contender.verdict.wins() => Status::Worse,
        () if names_candidates(ranked) => Status::Candidate,
        () if is_decided(ranked) => Status::Best,
        () => Status::Tied,
    }
}

/// The outcome between two stores that were ranked as a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pair {
    Better,
    /// The best of them is the only candidate, with few trials.
    Candidate,
    /// Trials can't tell which is better.
    Close,
    /// Too few trials leave both as candidates, or other programs left too few processors for a verdict.
    Open,
}

/// The outcome between the best of two and the `other`.
pub fn pair(other: &Contender) -> Pair {
    match other.verdict {
        Verdict::Worse(Rule::Scatter) => Pair::Candidate,
        Verdict::Candidate(_) | Verdict::NotJudged(_) => Pair::Open,
        verdict if verdict.wins() => Pair::Close,
        _ => Pair::Better,
    }
}

/// The terms of comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms {
    /// The probability that no store is called worse that is as good as the best.
    pub confidence: f64,
    /// The smallest difference that counts, mostly the clock's resolution.
    pub resolution: Resolution,
    pub few: FewBlocksRule,
    /// Whether other programs left too few processors: then nothing is judged, unless the best is ahead by [`FAR`].
    pub crowded: bool,
}

/// Under other programs' load, a store is named only if every other's whole interval is above this factor.
const FAR: f64 = 2.0;

/// With fewer shared blocks, stores that are not separated from the best are candidates, and a difference within [`THRESHOLD`] does not count.
pub const ENOUGH_BLOCKS: usize = 5;

/// The rule for stores with few shared blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FewBlocksRule {
    /// With fewer than [`MIN_BLOCKS`] a difference of [`THRESHOLD`]: only a leaning.
    Threshold,
    /// The scatter of all such figures together with that of their own ratios, if known.
    Scatter(Option<Scatter>),
}

impl Terms {
    /// The terms if other programs left too few processors, which matters for times.
    pub fn during(self, contention: Option<Contention>, is_of_time: bool) -> Terms {
        Terms { crowded: self.crowded || (contention.is_some() && is_of_time), ..self }
    }
}

impl Default for Terms {
    fn default() -> Terms {
        let (resolution, few) = (Resolution::default(), FewBlocksRule::Scatter(None));
        Terms { confidence: CONFIDENCE, resolution, few, crowded: false }
    }
}

/// Ranks stores by a figure and decides which are too close to call with the best. The best comes first, then the others, as
/// their figures compare within blocks ([`order::ordered`]); stores without a figure are left out. Empty for
/// [`Better::Neither`].
pub fn decide_on<K: Ord>(stores: &[Series<K>], better: Better, terms: Terms) -> Vec<Standing> {
    rank_with_leader(None, stores, better, terms)
}

/// The positions of the best in the list, and of those that may be as good.
pub fn best<K: Ord>(stores: &[Series<K>], better: Better, terms: Terms) -> Vec<usize> {
    let standings = decide_on(stores, better, terms);
    standings.iter().filter(|standing| standing.verdict.wins()).map(|standing| standing.index).collect()
}

/// The same with a given store in the place of the best: one that is as good, as far as trials show.
pub fn rank_with_leader<K: Ord>(
    leader: Option<usize>,
    stores: &[Series<K>],
    better: Better,
    terms: Terms,
) -> Vec<Standing> {
    if better == Better::Neither {
        return Vec::new();
    }
    let mut ordered = order::ordered(stores, better);
    ordered.sort_by_key(|index| leader.is_some_and(|first| *index != first));
    let mut standings: Vec<Standing> =
        ordered.into_iter().filter_map(|index| unranked_standing(index, &stores[index])).collect();
    let Some((best, others)) = standings.split_first_mut() else { return standings };
    let tests = others
        .iter()
        .map(|other| Test::ratios_to_best(&stores[best.index], &stores[other.index], better, terms.few));
    let tests: Vec<Test> = tests.collect();
    let comparisons = compare_with_best(&tests, terms.confidence);
    for ((other, comparison), test) in others.iter_mut().zip(comparisons).zip(&tests) {
        other.times_worse = comparison.times_worse;
        let (is_worse, rule) = match (comparison.is_worse, test.judged_by) {
            (Some(is_worse), JudgedBy::Scatter(_)) if test.blocks() < ENOUGH_BLOCKS => {
                (is_worse && is_beyond_threshold(best, other, better), Rule::Scatter)
            }
            (Some(is_worse), _) => (is_worse, Rule::Interval),
            (None, JudgedBy::Nothing) => (false, Rule::Open),
            (None, _) => (is_beyond_threshold(best, other, better), Rule::Threshold),
        };
        let is_too_little = is_worse && !is_enough(best, other, rule, better, terms.resolution);
        other.verdict = match terms.resolution.scale {
            _ if !is_too_little => Verdict::from_rule(rule, is_worse),
            Scale::Bytes { .. } => Verdict::Tied(Rule::Little),
            Scale::Nanoseconds | Scale::PerSecond { .. } => Verdict::Tied(Rule::Clock),
        };
    }
    let is_far =
        |other: &Standing| matches!(other.verdict, Verdict::Worse(_)) && is_beyond_far(other.times_worse);
    if terms.crowded && !standings.iter().skip(1).all(is_far) {
        standings.iter_mut().for_each(|standing| standing.verdict = Verdict::NotJudged(Rule::Crowded));
    }
    standings
}

fn unranked_standing<K>(index: usize, series: &Series<K>) -> Option<Standing> {
    let figure = Summary::from_series(series)?;
    Some(Standing { index, figure, times_worse: None, verdict: Verdict::Best })
}

/// A store's ratios to the best by block, over 1 if it is worse.
struct Test {
    ratios: Option<Vec<f64>>,
    judged_by: JudgedBy,
    /// The probability of looking this bad if it is as good; `None` with too few blocks.
    p: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum JudgedBy {
    /// By the scatter of its own ratios.
    Ratios,
    /// By the scatter of all such figures as well.
    Scatter(Scatter),
    Threshold,
    /// Not: too little is known.
    Nothing,
}

impl Test {
    fn ratios_to_best<K: Ord>(
        best: &Series<K>,
        other: &Series<K>,
        better: Better,
        few: FewBlocksRule,
    ) -> Test {
        let ratios = match better {
            Better::Higher => ratios(best, other),
            Better::Lower | Better::Neither => ratios(other, best),
        };
        let judged_by = match (&ratios, few) {
            (Some(ratios), FewBlocksRule::Scatter(Some(scatter))) if scatter.tells(ratios.len()) => {
                JudgedBy::Scatter(scatter)
            }
            (Some(ratios), _) if ratios.len() >= MIN_BLOCKS => JudgedBy::Ratios,
            (_, FewBlocksRule::Threshold) => JudgedBy::Threshold,
            // A figure of zero has no ratio: a few trials support it as little as any.
            (None, _) if best.len().min(other.len()) >= MIN_BLOCKS => JudgedBy::Threshold,
            (_, FewBlocksRule::Scatter(_)) => JudgedBy::Nothing,
        };
        let p = ratios.as_ref().and_then(|ratios| match judged_by {
            JudgedBy::Ratios => {
                let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
                let mean = logs.iter().sum::<f64>() / logs.len() as f64;
                Some(one_sided_p(mean, standard_error(&logs, mean), (logs.len() - 1) as f64))
            }
            JudgedBy::Scatter(scatter) => Some(scatter.one_sided(ratios)),
            JudgedBy::Threshold | JudgedBy::Nothing => None,
        });
        Test { ratios, judged_by, p }
    }

    fn blocks(&self) -> usize {
        self.ratios.as_ref().map_or(0, Vec::len)
    }

    /// The mean ratio with the interval by which it is judged, at a confidence.
    fn ratio(&self, confidence: f64) -> Option<Ratio> {
        let ratios = self.ratios.as_ref()?;
        match self.judged_by {
            JudgedBy::Scatter(scatter) => Some(scatter.ratio(ratios, confidence)),
            JudgedBy::Ratios | JudgedBy::Threshold | JudgedBy::Nothing => ratio_at(ratios, confidence),
        }
    }
}

#[derive(Clone, Copy, Default)]
struct BestComparison {
    times_worse: Option<Ratio>,
    /// `None` with too few blocks.
    is_worse: Option<bool>,
}

fn compare_with_best(tests: &[Test], confidence: f64) -> Vec<BestComparison> {
    let stores = tests.len() + 1;
    let mut comparisons = vec![BestComparison::default(); tests.len()];
    let mut order: Vec<(f64, usize)> =
        tests.iter().enumerate().filter_map(|(index, test)| Some((test.p?, index))).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut remaining, mut stopped) = (stores, false);
    for (_, index) in order {
        let level = 1.0 - 2.0 * (1.0 - confidence) / (remaining * (stores - 1)) as f64;
        let ratio = tests[index].ratio(level);
        // Its confidence holds for all together.
        let with_confidence = |i: Interval| Interval { confidence, ..i };
        let ratio = ratio.map(|Ratio { blocks, ratio }| {
            let interval = ratio.interval.map(with_confidence);
            Ratio { blocks, ratio: Estimate { interval, ..ratio } }
        });
        let excludes_one = ratio.and_then(|ratio| ratio.ratio.interval).is_some_and(|i| i.low > 1.0);
        stopped |= !excludes_one;
        remaining -= usize::from(!stopped);
        comparisons[index] = BestComparison { times_worse: ratio, is_worse: Some(!stopped) };
    }
    for (comparison, test) in comparisons.iter_mut().zip(tests).filter(|(_, test)| test.p.is_none()) {
        comparison.times_worse = test.ratio(confidence);
    }
    comparisons
}

fn is_beyond_threshold(best: &Standing, other: &Standing, better: Better) -> bool {
    // If a trial is missing, the means are from other blocks than the common ones.
    if let Some(times) = other.times_worse {
        return times.ratio.value > 1.0 + THRESHOLD;
    }
    let (best, other) = (best.figure.mean.value, other.figure.mean.value);
    match better {
        Better::Higher => best > other * (1.0 + THRESHOLD),
        Better::Lower | Better::Neither => other > best * (1.0 + THRESHOLD),
    }
}

/// Whether a store is worse than the best by enough: at the nearer end of its interval, if the interval decided.
fn is_enough(best: &Standing, other: &Standing, rule: Rule, better: Better, resolution: Resolution) -> bool {
    let good = best.figure.mean.value;
    let times = other.times_worse.map(|times| match (rule, times.ratio.interval) {
        (Rule::Interval, Some(interval)) => interval.low,
        _ => times.ratio.value,
    });
    let worse = match (times, better) {
        (None, _) => other.figure.mean.value,
        (Some(times), Better::Higher) => good / times,
        (Some(times), Better::Lower | Better::Neither) => good * times,
    };
    resolution.can_tell(worse, good)
}

#[cfg(test)]
pub mod tests {
    use storebench_samples::normal;

    use super::*;
    use crate::stats::{compare, t_quantile};

    fn series(values: &[f64]) -> Series<usize> {
        values.iter().copied().enumerate().collect()
    }

    fn decide<K: Ord>(stores: &[Series<K>], better: Better) -> Vec<Standing> {
        decide_on(stores, better, Terms::default())
    }

    pub fn decide_at<K: Ord>(stores: &[Series<K>], better: Better, confidence: f64) -> Vec<Standing> {
        decide_on(stores, better, Terms { confidence, ..Terms::default() })
    }

    /// Three blocks of stores, each with its figure in all blocks.
    pub fn contest(stores: &[(&str, f64)]) -> Vec<Contender> {
        let figures = stores.iter().map(|(_, figure)| series(&[*figure, figure * 2.0, figure * 3.0]));
        let contender = |standing: Standing| Contender::new(stores[standing.index].0.to_owned(), standing);
        decide(&figures.collect::<Vec<_>>(), Better::Lower).into_iter().map(contender).collect()
    }

    #[test]
    fn a_store_is_alone_a_candidate_the_best_tied_or_worse() {
        let statuses = |stores: &[(&str, f64)]| {
            let ranked = contest(stores);
            ranked.iter().map(|contender| status(&ranked, contender)).collect::<Vec<_>>()
        };
        assert_eq!(statuses(&[("a", 1.0)]), [Status::Alone]);
        assert_eq!(statuses(&[("a", 1.0), ("b", 2.0)]), [Status::Best, Status::Worse]);
        assert_eq!(statuses(&[("a", 1.0), ("b", 1.0)]), [Status::Tied, Status::Tied]);
        let mut few = contest(&[("a", 1.0), ("b", 1.0)]);
        few[1].verdict = Verdict::Candidate(Rule::Open);
        assert_eq!(status(&few, &few[0]), Status::Candidate);
        assert!(!is_won(&few) && is_won(&few[..1]));
        assert!(names_candidates(&few) && !names_candidates(&contest(&[("a", 1.0), ("b", 1.0)])));
        // What looks further behind than one that is surely worse decides nothing.
        let mut behind = contest(&[("a", 1.0), ("b", 2.0), ("c", 4.0)]);
        behind[2].verdict = Verdict::Worse(Rule::Scatter);
        assert_eq!(status(&behind, &behind[0]), Status::Best);
        behind.iter_mut().for_each(|contender| contender.verdict = Verdict::Worse(Rule::Scatter));
        assert!(names_candidates(&behind));
    }

    #[test]
    fn of_two_one_is_better_or_the_only_candidate_or_neither() {
        let mut two = contest(&[("a", 1.0), ("b", 2.0)]);
        let mut outcome = |verdict| {
            two[1].verdict = verdict;
            pair(&two[1])
        };
        assert_eq!(outcome(Verdict::Worse(Rule::Interval)), Pair::Better);
        assert_eq!(outcome(Verdict::Worse(Rule::Scatter)), Pair::Candidate);
        assert_eq!(outcome(Verdict::Tied(Rule::Clock)), Pair::Close);
        assert_eq!(outcome(Verdict::NotJudged(Rule::Crowded)), Pair::Open);
    }

    fn winners_of(standings: &[Standing]) -> Vec<usize> {
        standings.iter().filter(|standing| standing.verdict.wins()).map(|standing| standing.index).collect()
    }

    #[test]
    fn a_store_that_is_better_where_both_ran_is_not_called_worse() {
        // The second lacks the block in which both would have been quick.
        let first = Series::from([(0, 10.0), (1, 50.0), (2, 50.0)]);
        let second = Series::from([(1, 45.0), (2, 45.0)]);
        let standings = decide(&[first, second], Better::Lower);
        assert_eq!((standings[0].index, standings[1].verdict.rule()), (0, Some(Rule::Open)));
        assert!(standings[1].times_worse.unwrap().ratio.value < 1.0 && standings[1].verdict.wins());
    }

    #[test]
    fn three_blocks_decide_by_interval_where_pairs_agree() {
        // The second is always 3 % slower, though blocks differ a hundredfold; the third varies too much to decide.
        let stores = [series(&[1.0, 10.0, 100.0]), series(&[1.03, 10.31, 102.9]), series(&[0.5, 30.0, 80.0])];
        let standings = decide(&stores, Better::Lower);
        assert_eq!(winners_of(&standings), [0, 2]);
        assert!(standings[1..].iter().all(|standing| standing.verdict.rule() == Some(Rule::Interval)));
    }

    #[test]
    fn few_trials_name_candidates_also_of_a_figure_of_zero() {
        for trials in 1..MIN_BLOCKS {
            let figures = |figure: f64| series(&vec![figure; trials]);
            for stores in [[figures(1.0), figures(5.0)], [figures(0.0), figures(5.0)]] {
                let second = decide(&stores, Better::Lower)[1].verdict;
                assert_eq!(second, Verdict::Candidate(Rule::Open), "{trials} trials of {stores:?}");
            }
        }
    }

    #[test]
    fn where_others_took_the_processors_only_what_is_far_behind_is_told() {
        let judge = |times: f64| {
            let stores = [series(&[1.0, 1.01, 0.99]), series(&[times, times * 1.02, times * 0.99])];
            let terms = Terms { crowded: true, ..Terms::default() };
            let standings = decide_on(&stores, Better::Lower, terms);
            (standings[0].verdict, standings[1].verdict, standings[1].times_worse.unwrap().ratio.interval)
        };
        let not_judged = Verdict::NotJudged(Rule::Crowded);
        let (best, other, interval) = judge(1.8);
        assert_eq!((best, other), (not_judged, not_judged));
        assert!(interval.is_some_and(|interval| interval.low > 1.0), "it is shown all the same");
        assert_eq!((judge(8.0).0, judge(8.0).1), (Verdict::Best, Verdict::Worse(Rule::Interval)));
    }

    #[test]
    fn fewer_blocks_decide_by_threshold_where_likeness_is_asked_for() {
        let terms = Terms { few: FewBlocksRule::Threshold, ..Terms::default() };
        let decide = |stores: &[Series<usize>], better| decide_on(stores, better, terms);
        let stores = [series(&[1.06]), series(&[1.0]), series(&[1.05]), series(&[])];
        let standings = decide(&stores, Better::Lower);
        assert_eq!(winners_of(&standings), [1, 2]);
        assert_eq!(standings.len(), 3);
        assert!(standings[1..].iter().all(|standing| standing.verdict.rule() == Some(Rule::Threshold)));
        assert_eq!(standings[0].verdict.rule(), None);
        let higher = decide(&stores, Better::Higher);
        assert_eq!(winners_of(&higher), [0, 2]);
        assert!(higher[2].times_worse.unwrap().ratio.value > 1.0);
    }

    #[test]
    fn nothing_wins_by_a_figure_without_a_direction() {
        assert!(decide(&[series(&[1.0])], Better::Neither).is_empty());
        assert!(decide::<u32>(&[], Better::Lower).is_empty());
    }

    #[test]
    fn a_figure_of_zero_is_decided_by_threshold() {
        let standings = decide(&[series(&[0.0; 4]), series(&[1.0; 4])], Better::Lower);
        assert_eq!(winners_of(&standings), [0]);
        assert_eq!(standings[1].verdict.rule(), Some(Rule::Threshold));
    }

    #[test]
    fn a_higher_confidence_takes_a_wider_interval() {
        // The 99.5 % quantile with two degrees of freedom is 9.9248, from tables.
        assert!((t_quantile(2, 0.99) - 9.924_843).abs() < 1e-5);
        let stores = [series(&[1.0, 1.0, 1.0]), series(&[1.1, 1.2, 1.15])];
        assert_eq!(winners_of(&decide(&stores, Better::Lower)), [0]);
        let standings = decide_at(&stores, Better::Lower, 0.999);
        assert_eq!(winners_of(&standings), [0, 1]);
        assert_eq!(standings[1].times_worse.unwrap().ratio.interval.unwrap().confidence, 0.999);
        let summary = Summary::at_confidence(&[1.0, 2.0, 3.0], 0.999).unwrap().mean.interval.unwrap();
        assert_eq!(summary.confidence, 0.999);
        assert!(summary.high > Summary::from_values(&[1.0, 2.0, 3.0]).unwrap().mean.interval.unwrap().high);
    }

    /// The share of simulated places that call a store worse among the first `equal`, which are truly the best.
    /// Blocks move all stores alike, and far more than stores vary within them.
    fn wrong_share(stores: usize, equal: usize, blocks: usize, spread: fn(usize) -> f64) -> f64 {
        let mut random = fastrand::Rng::with_seed((stores * 1000 + equal * 100 + blocks) as u64);
        let rounds = 4_000;
        let wrong = (0..rounds).filter(|_| {
            let weather: Vec<f64> = (0..blocks).map(|_| normal(&mut random)).collect();
            let store = |index: usize, random: &mut fastrand::Rng| -> Series<usize> {
                let effect = if index < equal { 0.0 } else { 1.0 };
                let draw = |w: &f64, random: &mut _| (effect + w + spread(index) * normal(random)).exp();
                weather.iter().map(|w| draw(w, random)).enumerate().collect()
            };
            let all: Vec<Series<usize>> = (0..stores).map(|index| store(index, &mut random)).collect();
            decide(&all, Better::Lower)
                .iter()
                .any(|standing| standing.index < equal && !standing.verdict.wins())
        });
        wrong.count() as f64 / f64::from(rounds)
    }

    #[test]
    fn of_equal_stores_none_is_called_worse_but_in_a_twentieth_of_places() {
        let alike: fn(usize) -> f64 = |_| 0.05;
        let unlike: fn(usize) -> f64 = |index| 0.01 * 1.5f64.powi(index as i32);
        for blocks in [3, 5, 10, 20] {
            for (stores, equal, spread) in
                [(10, 10, alike), (10, 10, unlike), (3, 3, alike), (10, 2, alike), (10, 5, unlike)]
            {
                let share = wrong_share(stores, equal, blocks, spread);
                assert!(share <= 0.055, "{stores} stores, {equal} of them best, {blocks} blocks: {share}");
            }
        }
        // Two stores are one comparison, which costs nothing.
        assert!((wrong_share(2, 2, 5, alike) - 0.05).abs() < 0.01);
    }

    #[test]
    fn a_store_that_is_clearly_worse_is_told() {
        // Of ten stores one is 1.5 times as slow as the others, which are equal; figures vary by 3 % within a block.
        let detection_share = |blocks: usize, times: f64| {
            let mut random = fastrand::Rng::with_seed(blocks as u64);
            let rounds = 500;
            let detected = (0..rounds).filter(|_| {
                let mut all = vec![Series::new(); 10];
                for block in 0..blocks {
                    let weather = normal(&mut random);
                    for (index, store) in all.iter_mut().enumerate() {
                        let factor = if index == 7 { times } else { 1.0 };
                        store.insert(block, factor * (weather + 0.03 * normal(&mut random)).exp());
                    }
                }
                decide(&all, Better::Lower)
                    .iter()
                    .any(|standing| standing.index == 7 && !standing.verdict.wins())
            });
            detected.count() as f64 / f64::from(rounds)
        };
        for (blocks, times, least) in [(3, 3.0, 0.8), (5, 1.5, 0.95), (10, 1.15, 0.95), (20, 1.1, 0.95)] {
            let share = detection_share(blocks, times);
            assert!(share >= least, "{blocks} blocks, {times} times: {share}");
        }
    }

    #[test]
    fn the_interval_that_is_told_is_the_one_that_decides() {
        let mut random = fastrand::Rng::with_seed(4);
        let (mut ties, mut separated) = (0, 0);
        for _ in 0..300 {
            let draw = |index: usize, random: &mut fastrand::Rng| -> Series<usize> {
                let scale = 1.02f64.powi(index as i32);
                (0..5).map(|block| (block, scale * (0.02 * normal(random)).exp())).collect()
            };
            let all: Vec<Series<usize>> = (0..6).map(|index| draw(index, &mut random)).collect();
            let standings = decide(&all, Better::Lower);
            let mut levels: Vec<f64> = Vec::new();
            for standing in &standings[1..] {
                let times = standing.times_worse.unwrap().ratio;
                let interval = times.interval.unwrap();
                assert_eq!(standing.verdict.wins(), interval.low <= 1.0, "{standing:?}");
                assert_eq!(standing.verdict.rule(), Some(Rule::Interval));
                assert_eq!(interval.confidence, CONFIDENCE);
                // The ratio of its width to a single interval's shows the number of comparisons.
                let alone = compare(&all[standing.index], &all[standings[0].index]).unwrap().ratio;
                let width = |i: Interval| (i.high / i.low).ln();
                levels.push(width(interval) / width(alone.interval.unwrap()));
                if standing.verdict.wins() { ties += 1 } else { separated += 1 }
            }
            levels.sort_by(f64::total_cmp);
            let factor =
                |comparisons: f64| t_quantile(4, 1.0 - 0.1 / comparisons) / t_quantile(4, CONFIDENCE);
            // Six stores, and five that each may look better.
            assert!((levels[4] - factor(30.0)).abs() < 1e-9, "{levels:?}");
            assert!(levels[0] >= factor(10.0) - 1e-9, "two stores are left at the end: {levels:?}");
        }
        assert!(ties > 100 && separated > 100, "{ties} and {separated}");
    }

    #[test]
    fn what_the_clock_cannot_tell_is_a_tie() {
        let resolution = Resolution { fixed_ns: 10.0, ..Resolution::default() };
        let decide_second = |stores: &[Series<usize>], better| {
            decide_on(stores, better, Terms { resolution, ..Terms::default() }).swap_remove(1)
        };
        let wobble = [1.0, 1.01, 0.99];
        let figures = |ns: f64| series(&wobble.map(|wobble| ns * wobble));
        // 2 % at 250 ns: separated by the interval, not by the clock; 2 % at 25 µs by both.
        let close = [figures(250.0), figures(255.0)];
        assert_eq!(decide(&close, Better::Lower)[1].verdict.rule(), Some(Rule::Interval));
        assert!(!decide(&close, Better::Lower)[1].verdict.wins());
        let second = decide_second(&close, Better::Lower);
        assert_eq!((second.verdict.wins(), second.verdict.rule()), (true, Some(Rule::Clock)));
        let second = decide_second(&[figures(25_000.0), figures(25_500.0)], Better::Lower);
        assert_eq!((second.verdict.wins(), second.verdict.rule()), (false, Some(Rule::Interval)));
        // A store that is tied already keeps its own rule.
        let varied = [series(&[100.0, 104.0, 99.0]), series(&[104.0, 99.0, 103.0])];
        assert_eq!(decide_second(&varied, Better::Lower).verdict.rule(), Some(Rule::Interval));
    }
}
