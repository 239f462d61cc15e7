//! Which block comes next.

use super::spec::Spec;

/// The offsets of one thread's blocks, in order, in endless laps.
#[derive(Debug, Clone)]
pub(super) struct BlockOffsets {
    block: u64,
    law: Law,
}

#[derive(Debug, Clone)]
enum Law {
    /// The thread's own region, again and again.
    Sequential { first: u64, blocks: u64, next: u64 },
    /// Every block once a lap, by all threads together, each lap in another order. The thread takes every `step`-th position.
    Random { shuffle: Shuffle, seed: u64, lap: u64, next: u64, thread: u64, step: u64 },
}

impl BlockOffsets {
    pub(super) fn new(spec: &Spec, thread: u64) -> BlockOffsets {
        let (blocks, threads) = (spec.blocks(), spec.threads());
        let law = if spec.pattern.is_random() {
            let shuffle = Shuffle::new(blocks, spec.seed);
            Law::Random { shuffle, seed: spec.seed, lap: 0, next: thread, thread, step: threads }
        } else {
            // Blocks that are left over go to the first threads, as operations do: as many of them as blocks are a lap.
            let (region, left_over) = (blocks / threads, blocks % threads);
            let first = thread * region + thread.min(left_over);
            Law::Sequential { first, blocks: region + u64::from(thread < left_over), next: 0 }
        };
        BlockOffsets { block: spec.block, law }
    }

    pub(super) fn lap(&self) -> u64 {
        match &self.law {
            Law::Sequential { blocks, .. } => *blocks,
            Law::Random { shuffle, thread, step, .. } => (shuffle.count - thread).div_ceil(*step),
        }
    }

    pub(super) fn fill(&mut self, offsets: &mut [u64]) {
        let block = self.block;
        match &mut self.law {
            Law::Sequential { first, blocks, next } => {
                for offset in offsets {
                    *offset = (*first + *next) * block;
                    *next = (*next + 1) % *blocks;
                }
            }
            Law::Random { shuffle, seed, lap, next, thread, step } => {
                for offset in offsets {
                    if *next >= shuffle.count {
                        *next = *thread;
                        *lap += 1;
                        *shuffle = Shuffle::new(shuffle.count, seed.wrapping_add(*lap));
                    }
                    *offset = shuffle.number_at(*next) * block;
                    *next += *step;
                }
            }
        }
    }
}

/// With fewer the order of small files shows a pattern.
const ROUNDS: usize = 4;

/// The numbers below a count in a seeded order, without a table: a bijection on as many bits as the count has, applied again if
/// it leaves the range (cycle walking; Black and Rogaway, 2002).
#[derive(Debug, Clone)]
struct Shuffle {
    count: u64,
    mask: u64,
    shift: u32,
    rounds: [(u64, u64); ROUNDS],
}

impl Shuffle {
    fn new(count: u64, seed: u64) -> Shuffle {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        let mask = u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0);
        let mut state = seed;
        let rounds = std::array::from_fn(|_| (split_mix(&mut state) | 1, split_mix(&mut state)));
        Shuffle { count, mask, shift: (bits / 2).max(1), rounds }
    }

    fn number_at(&self, position: u64) -> u64 {
        let mut number = position;
        loop {
            // An odd factor, an addend and a shift to the right: each can be undone within the bits of the mask.
            for (factor, addend) in self.rounds {
                number = number.wrapping_mul(factor).wrapping_add(addend) & self.mask;
                number ^= number >> self.shift;
            }
            if number < self.count {
                return number;
            }
        }
    }
}

pub(super) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use storebench_model::axis::device::values::Pattern;

    use super::*;

    fn spec(pattern: Pattern, blocks: u64, threads: u32) -> Spec {
        Spec { block: 512, file: blocks * 512 + 100, threads, ..Spec::small(pattern) }
    }

    fn offsets(route: &mut BlockOffsets, count: u64) -> Vec<u64> {
        let mut offsets = vec![0; count as usize];
        // In unequal pieces: where a quantum ends must not matter.
        offsets.chunks_mut(7).for_each(|piece| route.fill(piece));
        offsets
    }

    #[test]
    fn sequential_blocks_follow_each_other_and_wrap_round_within_the_threads_region() {
        let spec = spec(Pattern::SeqRead, 10, 3);
        let laps: Vec<_> = (0..3)
            .map(|thread| {
                let mut route = BlockOffsets::new(&spec, thread);
                let lap = route.lap();
                offsets(&mut route, lap + 1)
            })
            .collect();
        assert_eq!(laps[0], [0, 512, 1024, 1536, 0], "the first takes what is left over");
        assert_eq!(laps[1], [2048, 2560, 3072, 2048]);
        assert_eq!(laps[2], [3584, 4096, 4608, 3584]);
    }

    #[test]
    fn random_blocks_lie_in_the_file_and_come_once_a_lap_from_all_threads_together() {
        for (blocks, threads) in [(1, 1), (2, 1), (3, 3), (10, 4), (1000, 1), (1024, 3), (4097, 2)] {
            let spec = spec(Pattern::RandRead, blocks, threads);
            let mut routes: Vec<_> = (0..u64::from(threads)).map(|t| BlockOffsets::new(&spec, t)).collect();
            let every_offset: BTreeSet<u64> = (0..blocks).map(|block| block * 512).collect();
            let mut laps = Vec::new();
            for _ in 0..3 {
                let lap: Vec<u64> = routes
                    .iter_mut()
                    .flat_map(|route| {
                        let blocks = route.lap();
                        offsets(route, blocks)
                    })
                    .collect();
                assert_eq!(lap.len() as u64, blocks);
                assert_eq!(lap.iter().copied().collect::<BTreeSet<_>>(), every_offset, "{blocks} {threads}");
                laps.push(lap);
            }
            assert!(blocks < 100 || (laps[0] != laps[1] && laps[1] != laps[2]), "each lap has its own order");
        }
    }

    /// In a random order of n, steps are n / 3 long on average; each tenth of the file gets a tenth of any stretch; and a step
    /// says nothing about the next.
    #[test]
    fn the_order_has_no_pattern() {
        for blocks in [1_000, 65_536, 70_000, 1_000_000] {
            for seed in 0..5 {
                let shuffle = Shuffle::new(blocks, seed);
                let order: Vec<f64> =
                    (0..1000).map(|position| shuffle.number_at(position) as f64 / blocks as f64).collect();
                let steps: Vec<f64> = order.windows(2).map(|pair| pair[1] - pair[0]).collect();
                let length = steps.iter().map(|step| step.abs()).sum::<f64>() / steps.len() as f64;
                assert!((0.28..0.39).contains(&length), "{blocks} {seed}: steps of {length}");
                for tenth in 0..10 {
                    let count = order.iter().filter(|fraction| (**fraction * 10.0) as u32 == tenth).count();
                    assert!((50..=150).contains(&count), "{blocks} {seed}: {count} of 1000 in tenth {tenth}");
                }
                let alike = steps.windows(2).filter(|pair| (pair[0] - pair[1]).abs() < 0.01).count();
                assert!(alike < 50, "{blocks} {seed}: {alike} steps are like the one before");
            }
        }
    }
}
