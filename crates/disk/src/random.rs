//! Random numbers from a seed, the same on every machine and in every version: SplitMix64 (Steele, Lea and Flood, Fast Splittable
//! Pseudorandom Number Generators, 2014).

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    pub fn seeded(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below another, each about as often.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.number()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in (0, 1].
    fn share(&mut self) -> f64 {
        ((self.number() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// A number of the normal distribution with mean 0 and deviation 1 (Box and Muller, 1958).
    pub fn normal(&mut self) -> f64 {
        let (radius, angle) = (self.share(), self.share());
        (-2.0 * radius.ln()).sqrt() * (2.0 * std::f64::consts::PI * angle).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_published_stream() {
        // The first numbers of SplitMix64 with seed 1234567, as its authors' implementation prints them.
        let mut random = Random::seeded(1_234_567);
        let first = [random.number(), random.number(), random.number()];
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn numbers_are_spread_as_they_should_be() {
        let mut random = Random::seeded(7);
        let mut tenths = [0; 10];
        (0..100_000).for_each(|_| tenths[random.below(10) as usize] += 1);
        assert!(tenths.iter().all(|count| (9_500..10_500).contains(count)), "{tenths:?}");
        let normal: Vec<f64> = (0..100_000).map(|_| random.normal()).collect();
        let mean = normal.iter().sum::<f64>() / 1e5;
        let deviation = (normal.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e5).sqrt();
        assert!(mean.abs() < 0.02 && (deviation - 1.0).abs() < 0.02, "{mean} {deviation}");
    }
}
