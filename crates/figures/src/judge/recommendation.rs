//! Decides which stores can be recommended: which have enough blocks, which another beats in everything, which are better otherwise.

use std::collections::BTreeSet;

use super::standing::{Standing, Terms, decide_on, rank_with_leader};
use super::{Verdict, order};
use crate::stats::{Better, MIN_BLOCKS, Ratio, Series, THRESHOLD};

/// The blocks of all figures in a ranking, and the indices of the stores that have them: those measured most `often`, or all that share a
/// block. A store that lacks too many blocks is not ranked, so that no figure of a line contradicts another.
pub fn comparable<K: Ord + Copy>(stores: &[&Series<K>], often: bool) -> (BTreeSet<K>, Vec<usize>) {
    let most = stores.iter().map(|series| series.len()).max().unwrap_or(0);
    // A store that a planned look gave up has three quarters of them at most.
    let needed = match most {
        _ if !often => 1,
        0..=MIN_BLOCKS => most.max(1),
        _ => (most * 3).div_ceil(4),
    };
    let mut kept: Vec<usize> = (0..stores.len()).collect();
    loop {
        let blocks = |index: &usize| stores[*index].keys().copied().collect::<BTreeSet<K>>();
        let shared = kept.iter().map(blocks).reduce(|a, b| &a & &b).unwrap_or_default();
        let fewest = kept.iter().enumerate().rev().min_by_key(|(_, index)| stores[**index].len());
        match fewest.filter(|_| shared.len() < needed && kept.len() > 1) {
            Some((seldom, _)) => drop(kept.remove(seldom)),
            None => return (shared, kept),
        }
    }
}

/// For each store the index of the first other that is no worse in any aim and better in one; tied stores count as
/// alike. An aim is the stores' figures, of which less is better, with the terms of comparison.
pub fn beaten_by<K: Ord + Copy>(aims: &[(Vec<Series<K>>, Terms)]) -> Vec<Option<usize>> {
    let stores = aims.first().map_or(0, |(stores, _)| stores.len());
    let is_better = |a: usize, b: usize| {
        aims.iter().any(|(stores, terms)| {
            let pair = [shared_blocks(&stores[a], &stores[b]), shared_blocks(&stores[b], &stores[a])];
            let standings = decide_on(&pair, Better::Lower, *terms);
            matches!(standings[..], [Standing { index: 0, .. }, Standing { verdict: Verdict::Worse(_), .. }])
        })
    };
    let first =
        |store: usize| (0..stores).find(|other| is_better(*other, store) && !is_better(store, *other));
    (0..stores).map(first).collect()
}

/// Ranks stores for a recommendation by a figure of which less is better: the first is the safest of those that may be the best and that none beats
/// ([`beaten_by`]); of equally safe ones the best.
pub fn ranked<K: Ord, S: Ord>(
    stores: &[Series<K>],
    terms: Terms,
    beaten_by: &[Option<usize>],
    safety: &[S],
) -> Vec<Standing> {
    let standings = decide_on(stores, Better::Lower, terms);
    let good =
        standings.iter().filter(|standing| standing.verdict.wins() && beaten_by[standing.index].is_none());
    // Of equally safe ones the first; among candidates the one that looks better.
    let safety_of = |standing: &&Standing| {
        (!matches!(standing.verdict, Verdict::Candidate(_))).then(|| &safety[standing.index])
    };
    let first = good.rev().max_by_key(safety_of).map(|standing| standing.index);
    rank_with_leader(first, stores, Better::Lower, terms)
}

/// The best of some stores that is better than the figures of `store` (less is better), and the factor. With fewer than
/// [`MIN_BLOCKS`] it is a candidate that looks better by more than [`THRESHOLD`]. A store that leads but is too close to call hides none that is
/// better. `None` if there is none, and if those figures are missing. A store that was given up by the question's own goal may be the best by
/// another: all are compared in the blocks in which it ran.
pub fn better_than<K: Ord + Copy>(
    stores: &[Series<K>],
    store: usize,
    terms: Terms,
) -> Option<(usize, Option<Ratio>)> {
    let levels = order::levels(stores).into_iter().enumerate();
    let mut levels: Vec<(usize, f64)> = levels.filter_map(|(index, level)| Some((index, level?))).collect();
    levels.sort_by(|a, b| a.1.total_cmp(&b.1));
    let by_level: Vec<usize> = levels.into_iter().map(|(index, _)| index).collect();
    let ahead = by_level.iter().position(|index| *index == store)?;
    (0..ahead).find_map(|leader| {
        let by_level = &by_level[leader..];
        let series = by_level.iter().map(|index| shared_blocks(&stores[*index], &stores[by_level[0]]));
        let standings = decide_on(&series.collect::<Vec<_>>(), Better::Lower, terms);
        let first = by_level[standings.first()?.index];
        let standing = standings.iter().find(|standing| by_level[standing.index] == store)?;
        let looks_better = standing.times_worse.is_some_and(|times| times.ratio.value > 1.0 + THRESHOLD);
        let is_worse = matches!(standing.verdict, Verdict::Worse(_));
        (is_worse || matches!(standing.verdict, Verdict::Candidate(_) if looks_better))
            .then_some((first, standing.times_worse))
    })
}

/// Whether a store that is not ranked beats the recommended one in the blocks of both.
pub fn gains(times_worse: Option<Ratio>) -> bool {
    times_worse.is_some_and(|ratio| ratio.ratio.value < 1.0)
}

/// A store's figures in the blocks in which another ran.
fn shared_blocks<K: Ord + Copy>(series: &Series<K>, other: &Series<K>) -> Series<K> {
    let shared = series.iter().filter(|(block, _)| other.contains_key(block));
    shared.map(|(block, value)| (*block, *value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[(u32, f64)]) -> Series<u32> {
        values.iter().copied().collect()
    }

    fn blocks(count: u32, figure: f64) -> Series<u32> {
        (0..count).map(|block| (block, figure * f64::from(block + 1))).collect()
    }

    #[test]
    fn who_was_measured_too_seldom_is_not_ranked() {
        let (often, nearly, seldom) = (blocks(8, 1.0), blocks(6, 1.0), blocks(5, 1.0));
        let all = [&often, &nearly, &seldom];
        assert_eq!(comparable(&all, true), ((0..6).collect(), vec![0, 1]));
        assert_eq!(comparable(&all, false), ((0..5).collect(), vec![0, 1, 2]));
        // Stores that share no block with the others are not ranked either.
        let elsewhere = series(&[(9, 1.0)]);
        assert_eq!(comparable(&[&blocks(1, 1.0), &elsewhere], false), (BTreeSet::from([0]), vec![0]));
    }

    #[test]
    fn a_store_is_beaten_by_one_that_is_no_worse_in_any_aim() {
        let aim = |figures: [f64; 3]| (figures.map(|figure| blocks(3, figure)).to_vec(), Terms::default());
        let (speed, space) = (aim([1.0, 2.0, 2.0]), aim([5.0, 5.0, 1.0]));
        assert_eq!(beaten_by(&[speed, space]), [None, Some(0), None]);
        assert_eq!(beaten_by::<u32>(&[]), []);
    }

    #[test]
    fn of_those_that_tie_one_that_none_beats_comes_first() {
        // Both are equally quick, as far as trials show; the second takes less disk space.
        let speed = [series(&[(0, 1.0), (1, 1.0), (2, 1.0)]), series(&[(0, 1.3), (1, 0.9), (2, 1.0)])];
        let space = vec![blocks(3, 7.0), blocks(3, 1.0)];
        let terms = Terms::default();
        let beaten = beaten_by(&[(speed.to_vec(), terms), (space, terms)]);
        let order = |beaten: &[Option<usize>], safety: [u32; 2]| {
            let ranked = ranked(&speed, terms, beaten, &safety);
            ranked.iter().map(|standing| (standing.index, standing.verdict.wins())).collect::<Vec<_>>()
        };
        let [one, other] = [(0, true), (1, true)];
        assert_eq!((beaten[0], order(&[None, None], [1, 1])), (Some(1), vec![one, other]));
        assert_eq!(order(&beaten, [1, 0]), [other, one]);
        assert_eq!(order(&[None, None], [0, 1]), [other, one], "the safer one");
    }

    #[test]
    fn another_is_better_where_both_ran() {
        // The first was measured in all blocks, the second in those that were slow for all.
        let stores = [
            series(&[(0, 1.0), (1, 1.0), (2, 90.0), (3, 90.0), (4, 90.0)]),
            series(&[(2, 9.0), (3, 9.0), (4, 9.0)]),
        ];
        let (better, times) = better_than(&stores, 0, Terms::default()).unwrap();
        assert_eq!((better, times.unwrap().ratio.value.round()), (1, 10.0));
        assert_eq!(better_than(&stores, 1, Terms::default()), None);
        // A third with too wide a scatter hides neither.
        let wide = series(&[(2, 0.1), (3, 90.0), (4, 30.0)]);
        assert_eq!(better_than(&[&stores[..], &[wide]].concat(), 0, Terms::default()).unwrap().0, 1);
        assert!(gains(crate::stats::compare(&stores[1], &stores[0])));
        assert!(!gains(times) && !gains(None));
    }
}
