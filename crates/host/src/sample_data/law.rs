//! The distribution of values' sizes: ranges between quantiles, each with its share and its mean.

use std::collections::BTreeMap;

use storebench_model::units::sizes::{SizePart, WHOLE};
use storebench_model::units::{SizeRange, Sizes};

/// Sizes below this are counted separately, larger ones in steps of this fraction.
const EXACT_BELOW: u64 = 2048;
/// The quantiles at which the distribution is cut.
const CUTS: [f64; 6] = [0.1, 0.25, 0.5, 0.75, 0.9, 0.99];
/// A size with this share of the values is a separate part.
const HEAVY: f64 = 0.1;

/// Counts sizes in bounded memory.
#[derive(Debug, Default)]
pub struct SizeCounter {
    /// By the smallest size of a step: the number of values, and the sum of their sizes.
    by_size: BTreeMap<u64, (u64, u128)>,
    pub count: u64,
    pub bytes: u128,
    pub largest: u64,
}

#[derive(Debug, Clone, Copy)]
struct Group {
    /// Half-open.
    range: SizeRange,
    count: u64,
    bytes: u128,
}

impl SizeCounter {
    pub fn add(&mut self, size: u64) {
        let sums = self.by_size.entry(size - size % step(size)).or_default();
        sums.0 += 1;
        sums.1 += u128::from(size);
        self.count += 1;
        self.bytes += u128::from(size);
        self.largest = self.largest.max(size);
    }

    pub fn mean(&self) -> f64 {
        self.bytes as f64 / self.count.max(1) as f64
    }

    /// The size that a share of the values do not exceed.
    pub fn quantile(&self, share: f64) -> u64 {
        let mut smaller = 0;
        let reached = self.by_size.iter().find(|(_, (count, _))| {
            smaller += count;
            smaller as f64 >= share * self.count as f64
        });
        reached.map_or(self.largest, |(size, _)| (size + step(*size) - 1).min(self.largest))
    }

    /// A distribution like that of these sizes: the same shares between the cuts, and in each the same mean, so the same mean overall.
    /// The largest size is included, unless its share is too small for a part.
    pub fn fit_sizes(&self) -> Option<Sizes> {
        let groups = self.groups();
        let shares = shares(&groups.iter().map(|group| group.count).collect::<Vec<_>>());
        let weighted_groups = groups.iter().zip(shares).filter(|(_, share)| *share > 0);
        let mut parts: Vec<SizePart> =
            weighted_groups.flat_map(|(group, share)| group.parts(share)).collect();
        correct(&mut parts, self.mean());
        Sizes::from_parts(&parts).ok()
    }

    /// The sizes between the cuts; very frequent sizes are separate.
    fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let (mut smaller, mut is_closed) = (0, true);
        for (size, (count, bytes)) in &self.by_size {
            let is_heavy = *count as f64 >= HEAVY * self.count as f64;
            let before = smaller as f64 / self.count as f64;
            smaller += count;
            let after = smaller as f64 / self.count as f64;
            let end = (size + step(*size)).min(self.largest + 1);
            match groups.last_mut().filter(|_| !is_closed && !is_heavy) {
                Some(group) => {
                    group.range.to = end;
                    group.count += count;
                    group.bytes += bytes;
                }
                None => groups.push(Group {
                    range: SizeRange { from: *size, to: end },
                    count: *count,
                    bytes: *bytes,
                }),
            }
            is_closed = is_heavy || CUTS.iter().any(|cut| before < *cut && *cut <= after);
        }
        groups
    }
}

/// The number of sizes in the step of this one.
fn step(size: u64) -> u64 {
    if size < EXACT_BELOW { 1 } else { 1 << (size.ilog2() - (EXACT_BELOW / 2).ilog2()) }
}

impl Group {
    /// One part, or two if the mean is not in the middle: they meet at about the mean.
    fn parts(&self, share: u32) -> Vec<SizePart> {
        let SizeRange { from, to } = self.range;
        // Sizes are whole: an even range from a to before b has its mean half a byte below the middle.
        let mean = self.bytes as f64 / self.count as f64 + 0.5;
        let (low, high) = (from as f64, to as f64);
        let one_part = |to: u64| vec![SizePart { range: SizeRange { from, to }, share }];
        if (mean - (low + high) / 2.0).abs() < 0.5 {
            return one_part(to);
        }
        let lower =
            (f64::from(share) * (high - mean) / (high - low)).round().clamp(1.0, f64::from(share.max(2) - 1));
        let weight = lower / f64::from(share);
        let cut = (2.0 * mean - weight * low - (1.0 - weight) * high).round();
        if share < 2 || cut <= low || cut >= high {
            return one_part((2.0 * mean - low).round().clamp(low + 1.0, high) as u64);
        }
        let (lower, cut) = (lower as u32, cut as u64);
        vec![
            SizePart { range: SizeRange { from, to: cut }, share: lower },
            SizePart { range: SizeRange { from: cut, to }, share: share - lower },
        ]
    }
}

/// Millionths for these counts, which add up to [`WHOLE`].
fn shares(counts: &[u64]) -> Vec<u32> {
    let total: u128 = counts.iter().map(|count| u128::from(*count)).sum();
    let (mut smaller, mut before) = (0_u128, 0);
    let share_of_count = |count: &u64| {
        smaller += u128::from(*count);
        let after = ((smaller * u128::from(WHOLE) + total / 2) / total.max(1)) as u32;
        let share = after - before;
        before = after;
        share
    };
    counts.iter().map(share_of_count).collect()
}

/// Removes the error of rounding from the mean, at the largest sizes: there it moves the
/// smallest part of the values by the smallest part of their size.
fn correct(parts: &mut [SizePart], mean: f64) {
    let mean_of_parts: f64 =
        parts.iter().map(|part| f64::from(part.share) / f64::from(WHOLE) * part.range.mean()).sum();
    let largest = parts.iter_mut().max_by(|a, b| a.range.mean().total_cmp(&b.range.mean()));
    let Some(SizePart { range, share }) = largest else { return };
    let move_by = (mean - mean_of_parts) * f64::from(WHOLE) / f64::from(*share);
    let to = range.to as f64 + (2.0 * move_by).round();
    if to > range.from as f64 {
        range.to = to as u64;
    } else {
        // The range is too narrow to lose this much at its upper end.
        let shift = ((-move_by).round() as u64).min(range.from.saturating_sub(1));
        *range = SizeRange { from: range.from - shift, to: range.to - shift };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn count_sizes(sizes: impl IntoIterator<Item = u64>) -> SizeCounter {
        let mut counted = SizeCounter::default();
        sizes.into_iter().for_each(|size| counted.add(size));
        counted
    }

    #[test]
    fn few_sizes_are_taken_as_they_are() {
        let law = |sizes: &[(u64, usize)]| {
            let values = sizes.iter().flat_map(|(size, times)| std::iter::repeat_n(*size, *times));
            count_sizes(values).fit_sizes().unwrap().to_string()
        };
        assert_eq!(law(&[(700, 50)]), "700B");
        assert_eq!(law(&[(500, 900), (200 << 10, 100)]), "90%:500B+10%:200KiB");
        assert_eq!(law(&[(1, 1), (2, 1)]), "50%:1B+50%:2B");
        assert_eq!(law(&[(1, 1)]), "1B");
        assert_eq!(law(&[(1, 1), (2, 1), (3, 1)]), "33.3333%:1B+33.3334%:2B+33.3333%:3B");
    }

    /// A share is whole millionths. The rounding error of a large size is corrected there, and not by changing all small ones.
    #[test]
    fn one_large_size_leaves_the_many_small_ones_as_they_are() {
        for many in [1227, 1228, 1500, 1999] {
            let law = count_sizes(std::iter::repeat_n(1, many).chain([8 << 20])).fit_sizes().unwrap();
            assert!(law.cumulative_share(1) >= f64::from(WHOLE) * 0.999, "{many}: {law}");
            assert!((law.span().to as f64 / f64::from(8 << 20) - 1.0).abs() < 1e-3, "{many}: {law}");
        }
    }

    proptest! {
        /// Files' sizes are spread over many powers of two; those of rows are few.
        #[test]
        fn the_law_has_the_mean_of_the_values_and_their_shares(
            sizes in proptest::collection::vec((0_u32..30, 0_u64..1 << 20).prop_map(|(power, low)| (1 << power) + low % (1 << power)), 1..3000),
            often in proptest::collection::vec((1_u64..100_000, 0_usize..2000), 0..4),
        ) {
            let mut values = sizes;
            values.extend(often.iter().flat_map(|(size, times)| std::iter::repeat_n(*size, *times)));
            let counted = count_sizes(values.iter().copied());
            let law = counted.fit_sizes().unwrap();
            let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
            prop_assert!((law.mean() - mean).abs() <= 0.5 + mean * 1e-6, "{mean}: {law}");
            prop_assert!(law.span().from >= *values.iter().min().unwrap() / 1000 * 999, "{law}");
            // Nowhere is the distribution further from the values than a part between two cuts, which may end with a size that nearly
            // a tenth of them have. Neighbouring sizes count as one.
            values.sort_unstable();
            let fitted_share = |size: u64| law.cumulative_share(size) / f64::from(WHOLE);
            let is_last = |(index, size): &(usize, &u64)| values.get(index + 1) != Some(*size);
            for (index, size) in values.iter().enumerate().filter(is_last) {
                let true_share = (index + 1) as f64 / values.len() as f64;
                let (low, high) = (fitted_share(size - size / 400), fitted_share(size + size / 400));
                prop_assert!(
                    low - 0.35 < true_share && true_share < high + 0.35,
                    "{size}: {true_share} against {low} to {high}: {law}"
                );
            }
        }
    }
}
