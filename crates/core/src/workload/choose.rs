//! The choice of records: seeded, so that every store meets the same sequence.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::zipf::Zipf;

/// Chooses records below a count.
#[derive(Debug, Clone)]
pub struct Chooser {
    random: Xoshiro256PlusPlus,
    law: ChoiceLaw,
}

#[derive(Debug, Clone)]
enum ChoiceLaw {
    Uniform,
    Zipfian(Zipf),
}

impl Chooser {
    /// Every record alike.
    pub fn uniform(seed: u64) -> Chooser {
        Chooser { random: Xoshiro256PlusPlus::seed_from_u64(seed), law: ChoiceLaw::Uniform }
    }

    /// Chooses by Zipf's law with `exponent` (YCSB takes 0.99) over `count` records; a hash scatters ranks, so that popular
    /// records are not neighbours. Fails for a count of 0 or an exponent that is not positive.
    pub fn zipfian(seed: u64, count: u64, exponent: f64) -> Result<Chooser, String> {
        let law = Zipf::new(count, exponent)?;
        Ok(Chooser { random: Xoshiro256PlusPlus::seed_from_u64(seed), law: ChoiceLaw::Zipfian(law) })
    }

    /// One record below `count`.
    #[inline]
    pub fn choose_below(&mut self, count: u64) -> u64 {
        let number = match &self.law {
            ChoiceLaw::Uniform => self.random.next_u64(),
            ChoiceLaw::Zipfian(law) => law.rank(&mut self.random).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        };
        ((u128::from(number) * u128::from(count)) >> 64) as u64
    }

    /// Where its sequence is.
    pub(crate) fn position(&self) -> Xoshiro256PlusPlus {
        self.random.clone()
    }

    /// Returns to an earlier position: what came after it comes again.
    pub(crate) fn go_back(&mut self, position: Xoshiro256PlusPlus) {
        self.random = position;
    }

    /// Chooses a record for every place in `chosen`. Reads `known` of all at once, so that memory is waited for once, not for each.
    #[inline]
    pub fn fill(&mut self, chosen: &mut [u64], known: &[u8]) {
        let count = known.len() as u64;
        chosen.fill_with(|| self.choose_below(count));
        let checksum =
            chosen.iter().fold(0, |checksum, index| checksum ^ known.get(*index as usize).unwrap_or(&0));
        std::hint::black_box(checksum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(mut chooser: Chooser) -> Vec<u32> {
        let mut counts = vec![0; 1000];
        (0..200_000).for_each(|_| counts[chooser.choose_below(1000) as usize] += 1);
        counts
    }

    #[test]
    fn uniform_reaches_all_alike() {
        let counts = counts(Chooser::uniform(1));
        assert!(counts.iter().all(|count| (120..290).contains(count)), "{counts:?}");
    }

    #[test]
    fn zipfian_prefers_few_in_the_proportion_of_the_law() {
        let mut counts = counts(Chooser::zipfian(1, 1000, 0.99).unwrap());
        counts.sort_unstable_by(|a, b| b.cmp(a));
        // 1 / H where H is the sum of k^-0.99 over 1..=1000: 0.131 of all for the first rank, half of it for the second.
        assert!((0.12..0.16).contains(&(f64::from(counts[0]) / 200_000.0)), "{}", counts[0]);
        assert!((1.6..2.4).contains(&(f64::from(counts[0]) / f64::from(counts[1]))));
    }
}
