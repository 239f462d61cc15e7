//! Two stores over several machines. A machine is one observation, however many trials are behind it: the machines that were measured stand
//! for others like them, and differ from each other more than trials do. So the interval of the mean over machines is Student's of their
//! own ratios, equally weighted; that errs on the safe side where some machines were measured better than others (Ibragimov and Müller,
//! Journal of Business and Economic Statistics 28, 2010).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::{IndexMap, IndexSet};
use storebench_core::result::Measured;

use super::looks;
use super::matrix::{Sorted, competing_series, operations};
use super::merge::{BlockKey, Entry, Group, GroupKey, Merged, measured};
use crate::column::MEAN_LATENCY;
use crate::layout::Position;
use crate::stats::trend::Trend;
use crate::stats::{Estimate, Ratio, Series, compare_at, geometric_mean};

/// Machines, of different values of a property, that it takes to say that the property decides.
const FEWEST_TO_TELL: usize = 5;

/// A property of machines that may decide between two stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Property {
    Sync,
    Cores,
    Memory,
}

impl Property {
    const ALL: [Property; 3] = [Property::Sync, Property::Cores, Property::Memory];

    /// More of it, in words.
    pub(crate) fn more(self) -> &'static str {
        match self {
            Property::Sync => "the slower a sync",
            Property::Cores => "the more cores",
            Property::Memory => "the more memory",
        }
    }
}

/// A machine on which both stores were measured.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct On {
    pub(crate) hardware: String,
    /// The other's mean latency over the first's there.
    pub(crate) times: Ratio,
}

/// A comparison's place: what its groups have in common, with the hardware of the first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct At {
    pub(crate) key: GroupKey,
    pub(crate) position: Position,
    pub(crate) operation: String,
}

/// Two stores at one operation and position, on each machine that has both.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pair {
    pub(crate) at: At,
    /// The store with the least latency over the machines.
    pub(crate) store: String,
    pub(crate) other: String,
    pub(crate) machines: Vec<On>,
    /// The mean over machines, with its interval from three on.
    pub(crate) times: Estimate,
    /// The properties with which the ratio rises or falls, and whether it rises.
    pub(crate) decides: Vec<(Property, bool)>,
}

impl Pair {
    /// The machines on which trials tell that the first is faster, that it is slower, and neither.
    pub(crate) fn told(&self) -> [usize; 3] {
        let intervals = self.machines.iter().map(|on| on.times.ratio.interval.filter(|own| !own.is_range()));
        intervals.fold([0; 3], |[faster, slower, neither], interval| match interval {
            Some(interval) if interval.low > 1.0 => [faster + 1, slower, neither],
            Some(interval) if interval.high < 1.0 => [faster, slower + 1, neither],
            _ => [faster, slower, neither + 1],
        })
    }

    /// The least and the greatest of the ratios.
    pub(crate) fn range(&self) -> (f64, f64) {
        let values = self.machines.iter().map(|on| on.times.ratio.value);
        values.fold((f64::INFINITY, 0.0), |(low, high), value| (low.min(value), high.max(value)))
    }
}

/// The figures of a store at an operation and a position, by machine.
type Machines<'a> = IndexMap<Cow<'a, str>, BTreeMap<String, Series<BlockKey>>>;

/// The pairs of the fastest store with each other one, where several machines have both; the nearest first.
pub(crate) fn pairs(merged: &Merged<'_>) -> Vec<Pair> {
    let mut alike: IndexMap<GroupKey, Vec<&Group<'_>>> = IndexMap::new();
    for group in &merged.groups {
        let key = GroupKey { hardware: String::new(), ..group.key.clone() };
        alike.entry(key).or_default().push(group);
    }
    alike.retain(|_, groups| groups.len() > 1);
    let facts = Facts::of(merged);
    alike.into_values().flat_map(|groups| of_groups(merged, &groups, &facts)).collect()
}

fn of_groups(merged: &Merged<'_>, groups: &[&Group<'_>], facts: &Facts) -> Vec<Pair> {
    let sorted: Vec<Sorted<'_, '_>> = groups.iter().map(|group| Sorted::new(merged, group)).collect();
    let positions: BTreeSet<&Position> = sorted.iter().flat_map(|one| one.entries.keys()).collect();
    let names: IndexSet<String> = groups.iter().flat_map(|group| operations(group)).collect();
    let mut pairs = Vec::new();
    for position in positions {
        let looks = |(group, sorted): (&&Group<'_>, &Sorted<'_, '_>)| {
            let here = sorted.entries.get(position).into_iter().flat_map(IndexMap::values).flatten();
            (group.key.hardware.clone(), looks::behind(merged, here))
        };
        let looks = groups.iter().zip(&sorted).map(looks).collect();
        for operation in &names {
            let machines = by_store(merged, groups, &sorted, position, operation);
            let (position, operation) = (position.clone(), operation.clone());
            let at = At { key: groups[0].key.clone(), position, operation };
            pairs.extend(of_stores(&at, &machines, (facts, &looks)));
        }
    }
    pairs
}

/// The latencies of each store that competes there.
fn by_store<'a>(
    merged: &Merged<'_>,
    groups: &[&Group<'_>],
    sorted: &'a [Sorted<'_, '_>],
    position: &Position,
    operation: &str,
) -> Machines<'a> {
    let mut stores = Machines::new();
    for (group, sorted) in groups.iter().zip(sorted) {
        for (store, entries) in sorted.entries.get(position).into_iter().flatten() {
            let series = competing_series(entries, operation, &MEAN_LATENCY);
            if !merged.is_harness(store) && !series.is_empty() {
                let machines = stores.entry(Cow::Borrowed(&**store)).or_default();
                machines.insert(group.key.hardware.clone(), series);
            }
        }
    }
    stores
}

/// The looks that the figures of each machine allow for.
type Looks = BTreeMap<String, usize>;

/// By what it is told on a machine which store is faster.
struct Told<'a> {
    facts: &'a Facts,
    looks: &'a Looks,
    /// The stores that the fastest is compared with.
    rivals: usize,
}

impl Told<'_> {
    /// The confidence of one comparison, so that all of a machine at an operation and a position hold together (Bonferroni).
    fn confidence(&self, hardware: &str) -> f64 {
        let looks = self.looks.get(hardware).copied().unwrap_or(1);
        1.0 - (1.0 - looks::confidence(looks)) / self.rivals.max(1) as f64
    }
}

/// The pairs of the fastest of these stores.
fn of_stores(at: &At, stores: &Machines<'_>, (facts, looks): (&Facts, &Looks)) -> Vec<Pair> {
    // Only where all are can their means be compared.
    let everywhere: BTreeSet<&String> = stores.values().flat_map(BTreeMap::keys).collect();
    let mean = |machines: &BTreeMap<String, Series<BlockKey>>| {
        let means = machines
            .values()
            .filter_map(|series| Some(geometric_mean(&series.values().copied().collect::<Vec<_>>())?.value));
        geometric_mean(&means.collect::<Vec<_>>()).map(|mean| mean.value)
    };
    let whole = stores.iter().filter(|(_, machines)| machines.len() == everywhere.len());
    let fastest = whole
        .filter_map(|(store, machines)| Some((mean(machines)?, store, machines)))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let Some((_, first, own)) = fastest else { return Vec::new() };
    let others = stores.iter().filter(|(store, _)| *store != first);
    let told = Told { facts, looks, rivals: stores.len() - 1 };
    let mut pairs: Vec<Pair> =
        others.filter_map(|(other, machines)| pair(at, (first, own), (other, machines), &told)).collect();
    pairs.sort_by(|a, b| a.times.value.total_cmp(&b.times.value));
    pairs
}

fn pair(
    at: &At,
    (store, own): (&str, &BTreeMap<String, Series<BlockKey>>),
    (other, others): (&str, &BTreeMap<String, Series<BlockKey>>),
    told: &Told<'_>,
) -> Option<Pair> {
    let on = |(hardware, series): (&String, &Series<BlockKey>)| {
        let times = compare_at(series, own.get(hardware)?, told.confidence(hardware))?;
        Some(On { hardware: hardware.clone(), times })
    };
    let machines: Vec<On> = others.iter().filter_map(on).collect();
    let ratios: Vec<f64> = machines.iter().map(|on| on.times.ratio.value).collect();
    (machines.len() > 1).then_some(())?;
    Some(Pair {
        at: at.clone(),
        store: store.to_owned(),
        other: other.to_owned(),
        times: geometric_mean(&ratios)?,
        decides: told.facts.decides(&machines),
        machines,
    })
}

/// The properties of each machine, as far as they are known.
#[derive(Debug, Default)]
struct Facts(BTreeMap<String, [Option<u64>; Property::ALL.len()]>);

impl Facts {
    fn of(merged: &Merged<'_>) -> Facts {
        let mut facts = Facts::default();
        for run in merged.runs {
            let environment = &run.header.environment;
            let of = facts.0.entry(run.header.hardware.clone()).or_default();
            of[1] = of[1].or(Some(u64::from(environment.cores)));
            of[2] = of[2].or(environment.memory_bytes);
        }
        for group in &merged.groups {
            if let Some(of) = facts.0.get_mut(&group.key.hardware) {
                of[0] = of[0].or(sync_ns(&group.trials));
            }
        }
        facts
    }

    /// The properties along which the ratio rises or falls: machines of the same value are one, of their mean.
    fn decides(&self, machines: &[On]) -> Vec<(Property, bool)> {
        let trend = |(place, property): (usize, Property)| {
            let mut by_value: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
            for on in machines {
                let value = self.0.get(&on.hardware)?[place]?;
                by_value.entry(value).or_default().push(on.times.ratio.value);
            }
            let means: Option<Vec<f64>> =
                by_value.values().map(|ratios| Some(geometric_mean(ratios)?.value.ln())).collect();
            let trend = Trend::of(&[means.filter(|means| means.len() >= FEWEST_TO_TELL)?])?;
            trend.is_told.then_some((property, trend.per_step > 0.0))
        };
        Property::ALL.into_iter().enumerate().filter_map(trend).collect()
    }
}

/// The mean time of a sync in these trials' operations.
fn sync_ns(trials: &[Entry<'_>]) -> Option<u64> {
    let counters = |measured: &Measured| {
        let all = measured.operations.iter().filter_map(|one| one.counters.as_ref());
        all.fold((0, 0), |(syncs, ns), one| (syncs + one.syncs.unwrap_or(0), ns + one.sync_ns.unwrap_or(0)))
    };
    let all = measured(trials).into_iter().map(|(_, measured)| counters(measured));
    let (syncs, ns) = all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (syncs > 0).then(|| ns / syncs)
}

#[cfg(test)]
mod tests {
    use storebench_core::result::{Counters, Run};

    use super::*;
    use crate::data::samples::{Sample, blocks};
    use crate::stats::cliff::normal;

    /// Three blocks on a machine with so many cores and so slow syncs, where the second store takes so many times as long.
    fn machine(name: &str, cores: u32, sync_ns: u64, times: f64) -> Run {
        let block = |noise: f64| {
            vec![Sample::new("lmdb").ns(1000.0), Sample::new("sqlite").ns(1000.0 * times * noise)]
        };
        let mut run = blocks(name, &[block(1.0), block(1.02), block(0.99)]);
        run.header.environment.cores = cores;
        for measured in run.trials.iter_mut().filter_map(|trial| trial.measured.as_mut()) {
            for one in &mut measured.operations {
                one.counters =
                    Some(Counters { syncs: Some(10), sync_ns: Some(10 * sync_ns), ..Counters::default() });
            }
        }
        run
    }

    fn found(runs: &[Run]) -> Vec<Pair> {
        pairs(&Merged::new(runs, &["null"]))
    }

    #[test]
    fn each_machine_counts_once_and_what_they_share_is_told() {
        let times = [1.5, 2.0, 3.0, 0.5, 1.001];
        let runs: Vec<Run> = (0..)
            .zip(times)
            .map(|(number, times)| machine(&format!("box {number}"), 4, 1_000, times))
            .collect();
        let all = found(&runs);
        let get = all.iter().find(|pair| pair.at.operation == "get").unwrap();
        assert_eq!((get.store.as_str(), get.other.as_str(), get.machines.len()), ("lmdb", "sqlite", 5));
        assert_eq!(get.told(), [3, 1, 1]);
        let (least, most) = get.range();
        assert!((least / 0.5 - 1.0).abs() < 0.02 && (most / 3.0 - 1.0).abs() < 0.02);
        let mean = (times.iter().map(|times| times.ln()).sum::<f64>() / 5.0).exp();
        assert!((get.times.value / mean - 1.0).abs() < 0.02, "{get:?}");
        assert!(get.times.interval.unwrap().low < 1.0, "one of five goes the other way");
        assert_eq!(get.decides, []);
        assert!(found(&runs[..1]).is_empty(), "one machine says nothing of others");
        assert!(found(&runs[..2]).iter().all(|pair| pair.times.interval.unwrap().is_range()));
    }

    #[test]
    fn a_planted_property_is_found_and_no_other() {
        let run = |(number, sync_ns): (u32, u64)| {
            machine(&format!("box {number}"), 2 + number % 2, sync_ns, (sync_ns as f64).sqrt() / 10.0)
        };
        let runs: Vec<Run> = (0..).zip([1_000, 200, 50_000, 9_000, 700]).map(run).collect();
        assert!(found(&runs).iter().all(|pair| pair.decides == [(Property::Sync, true)]));
        assert!(found(&runs[..4]).iter().all(|pair| pair.decides.is_empty()), "too few");
    }

    /// Machines differ at random, and are measured with errors of very different sizes: the interval holds the true mean in 95 of 100
    /// cases at least.
    #[test]
    fn the_interval_over_machines_covers_the_mean_of_all_machines() {
        let mut random = fastrand::Rng::with_seed(33);
        for count in [3, 9] {
            let mut covers = 0;
            for _ in 0..2_000 {
                let ratio = |number: i32| {
                    let error = if number % 2 == 0 { 0.02 } else { 0.8 };
                    (0.3 * normal(&mut random) + error * normal(&mut random)).exp()
                };
                let ratios: Vec<f64> = (0..count).map(ratio).collect();
                let interval = geometric_mean(&ratios).unwrap().interval.unwrap();
                covers += u32::from(interval.low < 1.0 && interval.high > 1.0);
            }
            // Two standard errors of a share of 2,000 are a hundredth.
            assert!(covers >= 1_880, "{covers} of 2,000 with {count} machines");
        }
    }
}
