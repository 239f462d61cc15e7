//! Which record a request is for, and how long a scan is: seeded, so that every store meets the same sequence. Zipf's law is
//! exact, over as many ranks as there will ever be records; missing records are drawn again. So `latest` has at any moment the
//! law over the records that are there: one cut off at a rank is the law over fewer ranks.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::definition::{Distribution, LengthLaw, LengthRange};
use super::rank_scatter::RankScatter;
use super::record_key::hash_number;
use crate::workload::zipf::Zipf;

pub(crate) const EXPONENT: f64 = 0.99;

/// The item count of YCSB's own zipfian law, whatever the number of records (`ScrambledZipfianGenerator.ITEM_COUNT`).
const ITEMS: u64 = 10_000_000_000;

/// The records that requests can be for.
#[derive(Debug, Clone, Copy)]
pub struct KeySpace {
    pub loaded: u64,
    /// All that there can be.
    pub max_records: u64,
}

/// Chooses records, for one of several threads.
#[derive(Debug, Clone)]
pub struct RecordChooser {
    random: Xoshiro256PlusPlus,
    law: Law,
}

/// A distribution, with what drawing from it needs.
#[derive(Debug, Clone)]
enum Law {
    Uniform { count: u64 },
    Zipfian { ranks: Zipf, rank_scatter: RankScatter },
    Scrambled { ranks: Zipf, count: u64 },
    Latest { ranks: Zipf },
    Hotspot { hot: u64, count: u64, requests: f64 },
    Exponential { mean: f64 },
    Sequential { next: u64, step: u64, count: u64 },
}

impl RecordChooser {
    /// The law for one thread of several. `seed` is the trial's: all threads find the same records popular.
    pub(crate) fn new(
        distribution: Distribution,
        space: KeySpace,
        seed: u64,
        (thread, threads): (u64, u64),
    ) -> Result<RecordChooser, String> {
        let count = space.loaded.max(1);
        let ranks = || Zipf::new(space.max_records.max(1), EXPONENT);
        let law = match distribution {
            Distribution::Uniform => Law::Uniform { count },
            Distribution::Zipfian => {
                let rank_scatter = RankScatter::new(seed, space.max_records.max(1));
                Law::Zipfian { ranks: ranks()?, rank_scatter }
            }
            Distribution::ZipfianYcsb => {
                // It allows for twice as many inserts as are expected.
                let max_records = count + 2 * space.max_records.saturating_sub(count);
                Law::Scrambled { ranks: Zipf::new(ITEMS, EXPONENT)?, count: max_records }
            }
            Distribution::Latest => Law::Latest { ranks: ranks()? },
            Distribution::Hotspot { data, requests } => {
                Law::Hotspot { hot: (count as f64 * data) as u64, count, requests }
            }
            Distribution::Exponential { percentile, share } => {
                let favored = (count as f64 * share).max(f64::MIN_POSITIVE);
                Law::Exponential { mean: favored / -(1.0 - percentile / 100.0).ln() }
            }
            Distribution::Sequential => Law::Sequential { next: thread % count, step: threads, count },
        };
        let thread_seed = seed ^ thread.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Ok(RecordChooser { random: Xoshiro256PlusPlus::seed_from_u64(thread_seed), law })
    }

    /// The next record, of which `live` are there, no fewer than were loaded.
    #[inline]
    pub fn next(&mut self, live: u64) -> u64 {
        let random = &mut self.random;
        match &mut self.law {
            Law::Uniform { count } => random_below(random, *count),
            Law::Zipfian { ranks, rank_scatter } => loop {
                let record = rank_scatter.scatter(ranks.rank(random) - 1);
                if record < live {
                    return record;
                }
            },
            Law::Scrambled { ranks, count } => loop {
                let record = hash_number(ranks.rank(random) - 1) % *count;
                if record < live {
                    return record;
                }
            },
            Law::Latest { ranks } => loop {
                let back = ranks.rank(random);
                if back <= live {
                    return live - back;
                }
            },
            Law::Hotspot { hot, count, requests } => {
                let is_hot = *hot == *count || (*hot > 0 && random_fraction(random) < *requests);
                if is_hot { random_below(random, *hot) } else { *hot + random_below(random, *count - *hot) }
            }
            Law::Exponential { mean } => loop {
                let back = (-(1.0 - random_fraction(random)).ln() * *mean) as u64;
                if back < live {
                    return live - 1 - back;
                }
            },
            Law::Sequential { next, step, count } => {
                let record = *next;
                *next = (*next + *step) % *count;
                record
            }
        }
    }

    /// One of `count` items, all equally likely.
    pub fn choose_index(&mut self, count: u64) -> u64 {
        random_below(&mut self.random, count)
    }
}

/// A number below a count, from the high bits of a random one.
#[inline]
fn random_below(random: &mut Xoshiro256PlusPlus, count: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(count)) >> 64) as u64
}

/// A number in [0, 1).
#[inline]
fn random_fraction(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

#[derive(Debug, Clone)]
pub(crate) struct LengthChooser {
    random: Xoshiro256PlusPlus,
    span: LengthRange,
    ranks: Option<Zipf>,
}

impl LengthChooser {
    pub(crate) fn new(span: LengthRange, seed: u64) -> Result<LengthChooser, String> {
        let zipfian = span.law == LengthLaw::Zipfian;
        let ranks = zipfian.then(|| Zipf::new(span.most - span.least + 1, EXPONENT)).transpose()?;
        Ok(LengthChooser { random: Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x5ca1_ab1e), span, ranks })
    }

    #[inline]
    pub fn draw(&mut self) -> u64 {
        let LengthRange { least, most, law } = self.span;
        match (&self.ranks, law) {
            (Some(ranks), _) => least + ranks.rank(&mut self.random) - 1,
            (None, LengthLaw::Constant) => most,
            (None, _) => least + random_below(&mut self.random, most - least + 1),
        }
    }
}

#[cfg(test)]
mod tests;
