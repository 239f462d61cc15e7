//! Scatters ranks over the key space without collisions: a seeded permutation of the numbers below a count. YCSB takes the
//! remainder of a hash, so that several ranks fall on one record and some records have none. Here steps that can each be undone
//! (adding, multiplying by an odd number, folding high bits onto low ones) mix a number of as many bits as the count needs; a
//! result beyond the count is mixed again.

#[derive(Debug, Clone)]
pub(crate) struct RankScatter {
    count: u64,
    mask: u64,
    shift: u32,
    offsets: [u64; ROUNDS],
}

const ROUNDS: usize = 3;
/// Odd numbers without a pattern in their bits.
const FACTORS: [u64; ROUNDS] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

impl RankScatter {
    pub fn new(seed: u64, count: u64) -> RankScatter {
        let bits = (u64::BITS - count.saturating_sub(1).leading_zeros()).max(1);
        let offsets = std::array::from_fn(|round| seed.rotate_left(21 * round as u32) ^ FACTORS[round]);
        RankScatter { count, mask: u64::MAX >> (u64::BITS - bits), shift: bits.div_ceil(2), offsets }
    }

    #[inline]
    pub fn scatter(&self, number: u64) -> u64 {
        let mut position = number;
        loop {
            for (offset, factor) in self.offsets.iter().zip(FACTORS) {
                position = position.wrapping_add(*offset).wrapping_mul(factor) & self.mask;
                position ^= position >> self.shift;
            }
            if position < self.count {
                return position;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_place_of_its_own() {
        for count in [1, 2, 3, 7, 8, 9, 1000, 1024, 1025, 100_003] {
            for seed in [0, 1, 136] {
                let rank_scatter = RankScatter::new(seed, count);
                let mut taken = vec![false; count as usize];
                for number in 0..count {
                    let position = rank_scatter.scatter(number) as usize;
                    let is_taken = std::mem::replace(&mut taken[position], true);
                    assert!(!is_taken, "{count} {seed}: {position} twice");
                }
            }
        }
    }

    #[test]
    fn neighbours_are_scattered_and_seeds_differ() {
        let rank_scatter = RankScatter::new(136, 1_000_000);
        let other = RankScatter::new(137, 1_000_000);
        let is_near = |n: &u64| rank_scatter.scatter(*n).abs_diff(rank_scatter.scatter(n + 1)) < 10_000;
        let near_pairs = (0..1000).filter(is_near).count();
        // One in fifty pairs of random places is so near.
        assert!((5..50).contains(&near_pairs), "{near_pairs}");
        assert!((0..1000).filter(|n| rank_scatter.scatter(*n) == other.scatter(*n)).count() < 10);
        let halves = (0..1000).filter(|n| rank_scatter.scatter(*n) < 500_000).count();
        assert!((420..580).contains(&halves), "{halves}");
    }
}
