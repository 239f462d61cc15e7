//! Orders stores that did not all run in the same blocks, the best first.
//!
//! A block may be quick or slow for every store. Means of stores that ran in different blocks differ by that as well, so stores are
//! compared within blocks: a figure's logarithm is modelled as the sum of its store's level and its block's, both fitted by least
//! squares (the intra-block analysis of incomplete blocks: F. Yates, *Incomplete randomized blocks*, Annals of Eugenics 7,
//! 1936). If all ran in all blocks, levels are the logarithms of the geometric means.

use std::collections::{BTreeMap, BTreeSet};

use crate::stats::{Better, MIN_BLOCKS, Series};

/// Levels that differ by less are equal: the remainder is rounding.
const LEVEL_TOLERANCE: f64 = 1e-9;

/// The stores' indices, the best first. Stores with enough blocks to win ([`have_enough_blocks`]) come first, each part sorted by
/// level; stores without a figure are left out, and equal ones keep their order.
pub fn ordered<K: Ord>(stores: &[Series<K>], better: Better) -> Vec<usize> {
    let levels = levels(stores);
    let eligible = have_enough_blocks(stores);
    let mut order: Vec<usize> = (0..stores.len()).filter(|index| levels[*index].is_some()).collect();
    // Rounded, so that comparing stays transitive.
    let level = |index: usize| levels[index].map_or(f64::NAN, |level| (level / LEVEL_TOLERANCE).round());
    order.sort_by(|a, b| {
        let (a_level, b_level) = (level(*a), level(*b));
        let by_level =
            if better == Better::Higher { b_level.total_cmp(&a_level) } else { a_level.total_cmp(&b_level) };
        eligible[*b].cmp(&eligible[*a]).then(by_level)
    });
    order
}

/// Which stores have enough blocks to win: as many as an interval needs, or, if no store has that many, as many
/// as any. A store that was given up after the first look does not.
pub fn have_enough_blocks<K>(stores: &[Series<K>]) -> Vec<bool> {
    let most = stores.iter().map(BTreeMap::len).max().unwrap_or(0);
    stores.iter().map(|store| !store.is_empty() && store.len() >= most.min(MIN_BLOCKS)).collect()
}

/// Each store's level: the logarithm of its figure in a typical block, or the figure itself if one isn't positive. `None`
/// for stores without a figure. Levels of stores that no chain of shared blocks connects are their means.
pub fn levels<K: Ord>(stores: &[Series<K>]) -> Vec<Option<f64>> {
    let has_figure = |store: &Series<K>| !store.is_empty() && store.values().all(|value| value.is_finite());
    let measured: Vec<usize> = (0..stores.len()).filter(|index| has_figure(&stores[*index])).collect();
    let positive = measured.iter().all(|index| stores[*index].values().all(|value| *value > 0.0));
    let mut blocks: BTreeMap<&K, Vec<(usize, f64)>> = BTreeMap::new();
    for index in &measured {
        for (block, value) in &stores[*index] {
            blocks.entry(block).or_default().push((*index, if positive { value.ln() } else { *value }));
        }
    }
    let blocks: Vec<Vec<(usize, f64)>> = blocks.into_values().collect();
    let mut levels = vec![None; stores.len()];
    if blocks.iter().all(|block| block.len() == measured.len()) {
        // Means of the same blocks, without the solver's rounding: equal figures stay equal.
        for (position, index) in measured.iter().enumerate() {
            let sum: f64 = blocks.iter().map(|block| block[position].1).sum();
            levels[*index] = Some(sum / blocks.len() as f64);
        }
        return levels;
    }
    for group in connected_groups(&measured, &blocks) {
        let group_blocks: Vec<&Vec<(usize, f64)>> =
            blocks.iter().filter(|block| block.iter().any(|(index, _)| group.contains(index))).collect();
        for (index, level) in fit_group(&group, &group_blocks) {
            levels[index] = Some(level);
        }
    }
    levels
}

/// Stores that share blocks, directly or through others.
fn connected_groups(stores: &[usize], blocks: &[Vec<(usize, f64)>]) -> Vec<BTreeSet<usize>> {
    let mut groups: Vec<BTreeSet<usize>> = stores.iter().map(|index| BTreeSet::from([*index])).collect();
    for block in blocks {
        let in_block = |group: &BTreeSet<usize>| block.iter().any(|(index, _)| group.contains(index));
        let (joined, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(in_block);
        groups = others;
        groups.push(joined.into_iter().flatten().collect());
    }
    groups
}

/// The levels of connected stores. Each block's own level is replaced by the mean distance of its stores from their levels;
/// a linear equation for each store remains.
fn fit_group(stores: &BTreeSet<usize>, blocks: &[&Vec<(usize, f64)>]) -> Vec<(usize, f64)> {
    let position: BTreeMap<usize, usize> =
        stores.iter().enumerate().map(|(row, store)| (*store, row)).collect();
    let size = stores.len();
    // One row for each store, the right-hand side last.
    let mut rows = vec![vec![0.0; size + 1]; size];
    for block in blocks {
        let weight = 1.0 / block.len() as f64;
        let mean = block.iter().map(|(_, value)| value).sum::<f64>() * weight;
        for (store, value) in *block {
            let row = &mut rows[position[store]];
            row[position[store]] += 1.0;
            row[size] += value - mean;
            block.iter().for_each(|(other, _)| row[position[other]] -= weight);
        }
    }
    // Only differences are determined: the first level is 0 until the blocks' mean level is known.
    rows[0] = vec![0.0; size + 1];
    rows[0][0] = 1.0;
    let levels = solve(rows);
    let block_effect = |block: &&Vec<(usize, f64)>| {
        block.iter().map(|(store, value)| value - levels[position[store]]).sum::<f64>() / block.len() as f64
    };
    let mean_effect = blocks.iter().map(block_effect).sum::<f64>() / blocks.len().max(1) as f64;
    position.into_iter().map(|(store, row)| (store, levels[row] + mean_effect)).collect()
}

/// Solves linear equations by elimination with pivots; undetermined unknowns are 0.
fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let size = rows.len();
    for column in 0..size {
        let pivot = (column..size).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()));
        let Some(pivot) = pivot.filter(|pivot| rows[*pivot][column].abs() > f64::EPSILON) else { continue };
        rows.swap(column, pivot);
        let pivot = rows[column].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(other, _)| *other != column) {
            let factor = row[column] / pivot[column];
            row.iter_mut().zip(&pivot).for_each(|(value, pivot)| *value -= factor * pivot);
        }
    }
    let value = |row: usize| rows[row][size] / rows[row][row];
    (0..size).map(|row| if rows[row][row].abs() > f64::EPSILON { value(row) } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use storebench_samples::normal;

    use super::*;

    fn series(values: &[(u32, f64)]) -> Series<u32> {
        values.iter().copied().collect()
    }

    #[test]
    fn stores_that_ran_in_the_same_blocks_are_sorted_by_their_means() {
        let stores = [
            series(&[(0, 3.0), (1, 30.0)]),
            series(&[(0, 1.0), (1, 10.0)]),
            series(&[]),
            series(&[(0, 2.0), (1, 20.0)]),
            series(&[(0, f64::NAN)]),
        ];
        assert_eq!(ordered(&stores, Better::Lower), [1, 3, 0]);
        assert_eq!(ordered(&stores, Better::Higher), [0, 3, 1]);
        let levels = levels(&stores);
        assert!((levels[3].unwrap().exp() - 40f64.sqrt()).abs() < 1e-9 && levels[2].is_none());
    }

    #[test]
    fn a_quick_block_favours_nobody() {
        // The third is worse than both if all ran, in a block that was quick for every store.
        let stores = [
            series(&[(0, 1.0), (1, 10.0), (2, 10.0)]),
            series(&[(0, 1.1), (1, 11.0), (2, 11.0)]),
            series(&[(0, 1.2)]),
        ];
        assert_eq!(ordered(&stores, Better::Lower), [0, 1, 2]);
        let levels = levels(&stores);
        assert!(((levels[2].unwrap() - levels[0].unwrap()).exp() - 1.2).abs() < 1e-9);
    }

    #[test]
    fn stores_are_compared_through_others_that_they_share_blocks_with() {
        // The first and the last share no block; the middle one is twice as slow as the first, and half the last.
        let stores = [series(&[(0, 1.0)]), series(&[(0, 2.0), (1, 200.0)]), series(&[(1, 400.0)])];
        let levels = levels(&stores);
        assert!(((levels[2].unwrap() - levels[0].unwrap()).exp() - 4.0).abs() < 1e-9);
        // Without a connecting one, only means remain.
        assert_eq!(ordered(&[series(&[(0, 5.0)]), series(&[(1, 4.0)])], Better::Lower), [1, 0]);
    }

    #[test]
    fn only_those_with_enough_blocks_come_first() {
        let repeat =
            |value: f64, blocks: u32| (0..blocks).map(|block| (block, value)).collect::<Series<u32>>();
        let stores = [repeat(2.0, 9), repeat(1.0, 1), repeat(1.5, 4), repeat(1.2, 2)];
        assert_eq!(have_enough_blocks(&stores), [true, false, true, false]);
        assert_eq!(ordered(&stores, Better::Lower), [2, 0, 1, 3]);
        // If none has three blocks, those with the most.
        let few = [2, 1, 0].map(|blocks| repeat(1.0, blocks));
        assert_eq!(have_enough_blocks(&few), [true, false, false]);
    }

    #[test]
    fn equal_figures_keep_their_order_and_zeros_have_levels() {
        let flat = |blocks: &[u32]| blocks.iter().map(|block| (*block, 7.3)).collect::<Series<u32>>();
        let stores = [flat(&[0, 1, 2, 5]), flat(&[0, 1, 2]), flat(&[1, 2, 3]), flat(&[0, 1, 2])];
        assert_eq!(ordered(&stores, Better::Lower), [0, 1, 2, 3]);
        let zeros = [series(&[(0, 1.0), (1, 3.0)]), series(&[(0, 0.0), (1, 2.0)])];
        assert_eq!(ordered(&zeros, Better::Lower), [1, 0]);
        assert_eq!(levels(&zeros), [Some(2.0), Some(1.0)]);
        assert!(ordered::<u32>(&[], Better::Lower).is_empty());
    }

    #[test]
    fn noise_is_averaged_over_the_blocks_that_each_ran_in() {
        // Ragged: each store misses every fifth block, each a different one; blocks differ tenfold, stores by 3 %.
        let mut random = fastrand::Rng::with_seed(11);
        let rounds = 500;
        let right = (0..rounds).filter(|_| {
            let mut stores = vec![Series::new(); 4];
            for block in 0..20_u32 {
                let weather = 2.0 * normal(&mut random);
                for (index, store) in stores.iter_mut().enumerate() {
                    let value = (weather + 0.03 * index as f64 + 0.02 * normal(&mut random)).exp();
                    if block % 5 != index as u32 {
                        store.insert(block, value);
                    }
                }
            }
            ordered(&stores, Better::Lower)[0] == 0
        });
        let share = right.count() as f64 / f64::from(rounds);
        assert!(share > 0.95, "{share}");
    }
}
