//! Finds where a gain turns into a loss: with other shares of the operations, and with other records.

use std::collections::BTreeMap;

use storebench_core::workload::operation::Operation;
use storebench_figures::data::merge::BlockKey;
use storebench_figures::stats::{CONFIDENCE, Ratio, Series, compare_at};
use storebench_host::run::Run;
use storebench_model::units::{CountRange, Sizes};

use super::race::{DEFAULT, Kind, RaceResult};
use super::record_shape;
use crate::advice::question::Mix;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct OtherMeasurements {
    /// With other records: their size and number, and the time of an operation as a multiple of the default's.
    pub records: Vec<((Sizes, CountRange), Ratio)>,
    /// With fewer gets than this share the default is faster, in the same trials.
    pub fewer_gets: Option<f64>,
    /// With more gets than this share.
    pub more_gets: Option<f64>,
}

/// The measurements elsewhere, and the computed results for other shares of the same operations.
pub fn measure_elsewhere(
    runs: &[Run],
    races: &[(usize, RaceResult)],
    latencies: &[(Operation, [Series<BlockKey>; 2])],
    mix: &Mix,
    confidence: f64,
) -> OtherMeasurements {
    let other_races: Vec<_> = races.iter().filter(|(_, race)| race.kind == Kind::Beside).collect();
    // Each is a separate statement; all should hold together.
    let shared = 1.0 - (1.0 - CONFIDENCE) / other_races.len().max(1) as f64;
    let measure = |(run, race): &&(usize, RaceResult)| {
        race.arms.get(DEFAULT + 1).filter(|arm| arm.out.is_none())?;
        Some((record_shape(&runs[*run])?, race.ratio(DEFAULT + 1, shared)?))
    };
    let current = (mix.share(Operation::Get) * 100.0).round() as u32;
    let is_slower = |percent: &u32| {
        let mix = mix.with_gets(f64::from(*percent) / 100.0);
        mix.and_then(|mix| ratio(latencies, &mix, confidence)).is_some_and(|ratio| ratio.ratio.value > 1.0)
    };
    let is_slower_now = is_slower(&current);
    OtherMeasurements {
        records: other_races.iter().filter_map(measure).collect(),
        fewer_gets: (0..current).rev().find(|percent| !is_slower_now && is_slower(percent)).map(share),
        more_gets: (current + 1..=100).find(|percent| !is_slower_now && is_slower(percent)).map(share),
    }
}

fn share(percent: u32) -> f64 {
    f64::from(percent) / 100.0
}

fn ratio(latencies: &[(Operation, [Series<BlockKey>; 2])], mix: &Mix, confidence: f64) -> Option<Ratio> {
    let side = |side: usize| -> Option<Series<BlockKey>> {
        let mut sums: BTreeMap<BlockKey, f64> = BTreeMap::new();
        for (operation, share) in mix.shares() {
            let (_, sides) = latencies.iter().find(|(other, _)| other == operation)?;
            for (block, latency) in &sides[side] {
                *sums.entry(*block).or_default() += share * latency;
            }
        }
        Some(sums)
    };
    compare_at(&side(1)?, &side(0)?, confidence)
}
