//! Zipf's law, without raising a power for each number: ranks are grouped in buckets so narrow that the law is nearly flat within
//! one; a bucket is chosen from an alias table (A. Walker, 1977; M. Vose, 1991), a rank within it by rejection.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

/// Ranks below this have a bucket each.
const SINGLE_RANKS: u64 = 1024;
/// The largest ratio of a wider bucket's last rank to its first.
const MAX_BUCKET_RATIO: f64 = 1.02;

/// Chooses ranks from 1 to a count, with probability in proportion to rank^-exponent.
#[derive(Debug, Clone)]
pub struct Zipf {
    exponent: f64,
    table: Vec<Column>,
    buckets: Vec<Bucket>,
}

/// A column of the alias table: this bucket for numbers below `threshold`, the other one for the rest.
#[derive(Debug, Clone, Copy)]
struct Column {
    threshold: u32,
    alias: u32,
}

#[derive(Debug, Clone)]
struct Bucket {
    first: u64,
    length: u64,
    /// The chance up to which every rank of the bucket is accepted.
    sure_chance: f64,
}

impl Zipf {
    /// The law over `count` ranks. Fails for a count of 0 or an exponent that is not a positive number.
    pub fn new(count: u64, exponent: f64) -> Result<Zipf, String> {
        if count == 0 || !exponent.is_finite() || exponent <= 0.0 {
            return Err(format!(
                "Zipf's law needs records and a positive exponent: {count} and {exponent} are not"
            ));
        }
        let mut buckets = Vec::new();
        let mut weights = Vec::new();
        let mut first = 1;
        while first <= count {
            let last = if first < SINGLE_RANKS {
                first
            } else {
                ((first as f64 * MAX_BUCKET_RATIO) as u64).min(count)
            };
            let sure_chance = (first as f64 / last as f64).powf(exponent);
            buckets.push(Bucket { first, length: last - first + 1, sure_chance });
            weights.push(mass(first, last, exponent));
            first = last + 1;
        }
        Ok(Zipf { exponent, table: alias_table(&weights), buckets })
    }

    #[inline]
    pub fn rank(&self, random: &mut Xoshiro256PlusPlus) -> u64 {
        let number = random.next_u64();
        // The high bits choose the column, the low ones, as good as independent of them, between its two buckets.
        let chosen = scale_below(number, self.table.len() as u64) as usize;
        let column = self.table[chosen];
        let bucket =
            &self.buckets[if number as u32 <= column.threshold { chosen } else { column.alias as usize }];
        if bucket.length == 1 { bucket.first } else { self.random_in_bucket(bucket, random) }
    }

    #[inline]
    fn random_in_bucket(&self, bucket: &Bucket, random: &mut Xoshiro256PlusPlus) -> u64 {
        loop {
            let number = random.next_u64();
            let rank = bucket.first + scale_below(number, bucket.length);
            let chance = f64::from(number as u32) / f64::from(u32::MAX);
            if chance <= bucket.sure_chance
                || chance <= (bucket.first as f64 / rank as f64).powf(self.exponent)
            {
                return rank;
            }
        }
    }
}

#[inline]
fn scale_below(number: u64, limit: u64) -> u64 {
    ((u128::from(number) * u128::from(limit)) >> 64) as u64
}

/// Columns of equal height in which each bucket has the room of its weight, at most two to a column.
fn alias_table(weights: &[f64]) -> Vec<Column> {
    let scale = weights.len() as f64 / weights.iter().sum::<f64>();
    let mut heights: Vec<f64> = weights.iter().map(|weight| weight * scale).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..weights.len()).partition(|bucket| heights[*bucket] < 1.0);
    let mut table: Vec<Column> =
        (0..weights.len()).map(|bucket| Column { threshold: u32::MAX, alias: bucket as u32 }).collect();
    while let (Some(low), Some(high)) = (small.pop(), large.last().copied()) {
        table[low] = Column { threshold: (heights[low] * f64::from(u32::MAX)) as u32, alias: high as u32 };
        heights[high] -= 1.0 - heights[low];
        if heights[high] < 1.0 {
            large.pop();
            small.push(high);
        }
    }
    table
}

/// The sum of rank^-exponent over the ranks; for wide buckets the integral, which differs by less than one in 10^8.
fn mass(first: u64, last: u64, exponent: f64) -> f64 {
    if last - first < 64 {
        return (first..=last).map(|rank| (rank as f64).powf(-exponent)).sum();
    }
    let (lower, upper) = (first as f64 - 0.5, last as f64 + 0.5);
    if (exponent - 1.0).abs() < 1e-9 {
        (upper / lower).ln()
    } else {
        (upper.powf(1.0 - exponent) - lower.powf(1.0 - exponent)) / (1.0 - exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::rand_core::SeedableRng;

    #[test]
    fn buckets_hold_every_rank_once_and_all_of_the_mass() {
        for (count, exponent) in [(1, 0.99), (1023, 0.99), (1_000_003, 0.5), (1_000_003, 1.0), (300_000, 1.5)]
        {
            let law = Zipf::new(count, exponent).unwrap();
            assert_eq!(law.buckets.iter().map(|bucket| bucket.length).sum::<u64>(), count);
            let direct: f64 = (1..=count).map(|rank| (rank as f64).powf(-exponent)).sum();
            let grouped: f64 = law
                .buckets
                .iter()
                .map(|bucket| mass(bucket.first, bucket.first + bucket.length - 1, exponent))
                .sum();
            assert!((grouped / direct - 1.0).abs() < 1e-7, "{count} {exponent}: {grouped} {direct}");
        }
        assert!(Zipf::new(0, 0.99).is_err() && Zipf::new(5, 0.0).is_err() && Zipf::new(5, f64::NAN).is_err());
    }

    #[test]
    fn ranks_fall_as_the_law_says() {
        let (count, draws) = (100_000_u64, 2_000_000_u32);
        let law = Zipf::new(count, 0.99).unwrap();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut counts = vec![0_u32; count as usize + 1];
        (0..draws).for_each(|_| counts[law.rank(&mut random) as usize] += 1);
        let total: f64 = (1..=count).map(|rank| (rank as f64).powf(-0.99)).sum();
        // Groups of ranks, some within one bucket: five standard deviations.
        for (from, to) in
            [(1, 1), (2, 2), (10, 10), (1000, 1030), (50_000, 50_400), (50_400, 50_800), (90_000, 100_000)]
        {
            let share: f64 = (from..=to).map(|rank| (rank as f64).powf(-0.99)).sum::<f64>() / total;
            let expected = share * f64::from(draws);
            let found = f64::from(counts[from as usize..=to as usize].iter().sum::<u32>());
            assert!(
                (found - expected).abs() < 5.0 * expected.sqrt(),
                "{from}..={to}: {found} where {expected:.0} belong"
            );
        }
        assert_eq!(counts[0], 0);
    }
}
