//! Sampling by whole numbers alone, so that every machine draws the same.

use crate::record::mix;

/// A splitmix64 stream (Steele, Lea, Flood: *Fast Splittable Pseudorandom Number Generators*, 2014).
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        let number = mix(self.0);
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        number
    }

    #[inline]
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        scale((self.next() >> 32) as u32, bound)
    }
}

#[inline]
pub(super) fn scale(draw: u32, bound: u32) -> u32 {
    ((u64::from(draw) * u64::from(bound)) >> 32) as u32
}

/// Walker's alias table, built by Vose's method: a weighted choice for one multiplication and one look-up.
pub(super) struct Alias {
    buckets: Vec<Bucket>,
}

/// Below `share` (of 2^32) a bucket stands for its own index, above for `alias`.
struct Bucket {
    share: u32,
    alias: u16,
}

impl Alias {
    /// At most 65,536 weights, one of them above 0.
    pub(super) fn new(weights: &[u64]) -> Alias {
        let total: u128 = weights.iter().map(|&weight| u128::from(weight)).sum::<u128>().max(1);
        let mut rest: Vec<u128> =
            weights.iter().map(|&weight| u128::from(weight) * weights.len() as u128).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..rest.len()).partition(|&index| rest[index] < total);
        let mut buckets: Vec<Bucket> =
            (0..rest.len()).map(|index| Bucket { share: u32::MAX, alias: index as u16 }).collect();
        while let (Some(&poor), Some(&donor)) = (small.last(), large.last()) {
            small.pop();
            buckets[poor] = Bucket { share: ((rest[poor] << 32) / total) as u32, alias: donor as u16 };
            rest[donor] -= total - rest[poor];
            if rest[donor] < total {
                large.pop();
                small.push(donor);
            }
        }
        Alias { buckets }
    }

    #[inline]
    pub(super) fn pick(&self, draw: u32) -> usize {
        let product = u64::from(draw) * self.buckets.len() as u64;
        let index = (product >> 32) as usize;
        let bucket = &self.buckets[index];
        if (product as u32) < bucket.share { index } else { usize::from(bucket.alias) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_fall_as_their_weights() {
        let weights = [5, 0, 1, 10, 3, 1];
        let alias = Alias::new(&weights);
        let mut counts = [0u32; 6];
        let mut rng = Rng::new(1);
        for _ in 0..200_000 {
            counts[alias.pick(rng.next() as u32)] += 1;
        }
        for (count, weight) in counts.iter().zip(weights) {
            let expected = weight as u32 * 10_000;
            assert!(count.abs_diff(expected) <= 600, "{count} draws where {expected} were due");
        }
        assert_eq!(counts[1], 0);
        let only_one = Alias::new(&[7]);
        assert_eq!((only_one.pick(0), only_one.pick(u32::MAX)), (0, 0));
    }
}
