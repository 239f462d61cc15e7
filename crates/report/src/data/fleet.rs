//! Two stores over several machines. A machine is one observation, however many trials are behind it: the machines that were measured stand
//! for others like them, and differ from each other more than trials do. So the interval of the mean over machines is Student's of their
//! own ratios, equally weighted; that errs on the safe side where some machines were measured better than others (Ibragimov and Müller,
//! Journal of Business and Economic Statistics 28, 2010).

pub(crate) mod machine;
pub(crate) mod words;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::{IndexMap, IndexSet};
use storebench_core::result::Measured;

use self::machine::{Known, Machines, Traits};
use super::looks;
use super::matrix::{Sorted, competing_series, operations};
use super::merge::{BlockKey, Group, GroupKey, Merged, measured};
use crate::column::MEAN_LATENCY;
use crate::layout::Position;
use crate::stats::trend::Trend;
use crate::stats::{Estimate, Ratio, Series, compare_at, geometric_mean, median};

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

    /// The machines that have more of it, or less.
    pub(crate) fn with(self, more: bool) -> &'static str {
        match (self, more) {
            (Property::Sync, true) => "slow syncs",
            (Property::Sync, false) => "quick syncs",
            (Property::Cores, true) => "many cores",
            (Property::Cores, false) => "few cores",
            (Property::Memory, true) => "much memory",
            (Property::Memory, false) => "little memory",
        }
    }
}

/// A machine on which both stores were measured.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct On {
    pub(crate) machine: String,
    /// The other's mean latency over the first's there.
    pub(crate) times: Ratio,
}

/// The verdict of one machine's trials on two stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Faster {
    First,
    Other,
    NotTold,
}

impl On {
    /// The faster of the two as far as its trials tell; few have a range alone, which tells nothing.
    pub(crate) fn faster(&self) -> Faster {
        match self.times.ratio.interval.filter(|own| !own.is_range()) {
            Some(interval) if interval.low > 1.0 => Faster::First,
            Some(interval) if interval.high < 1.0 => Faster::Other,
            _ => Faster::NotTold,
        }
    }
}

/// A comparison's place: what its groups have in common, without the machine, and what its combinations have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct At {
    pub(crate) key: GroupKey,
    pub(crate) position: Position,
    pub(crate) operation: String,
}

/// Two stores at one operation, at one position or over several, on each machine that has both.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pair {
    pub(crate) at: At,
    pub(crate) store: String,
    pub(crate) other: String,
    pub(crate) machines: Vec<On>,
    /// The mean over machines, with its interval from three on.
    pub(crate) times: Estimate,
    /// The properties with which the ratio rises or falls, and whether it rises.
    pub(crate) decides: Vec<(Property, bool)>,
    /// The positions over which each machine's ratio is a mean.
    pub(crate) combinations: usize,
    /// Those of them in which the trials of some machine tell that the other is faster.
    pub(crate) other_way: usize,
}

impl Pair {
    /// The number of machines with this verdict.
    pub(crate) fn count(&self, faster: Faster) -> usize {
        self.machines.iter().filter(|on| on.faster() == faster).count()
    }

    /// The least and the greatest of the ratios of the machines that are asked for; `None` of none.
    pub(crate) fn range(&self, asked: impl Fn(&On) -> bool) -> Option<(f64, f64)> {
        let values = self.machines.iter().filter(|on| asked(on)).map(|on| on.times.ratio.value);
        values.fold(None, |range, value| {
            let (low, high) = range.unwrap_or((value, value));
            Some((value.min(low), value.max(high)))
        })
    }
}

/// The comparisons of stores over several machines.
#[derive(Debug, Default)]
pub(crate) struct Fleet {
    /// The fastest store against each other one at each operation and position, the nearest first.
    pub(crate) fastest: Vec<Pair>,
    /// Every two stores at each operation, over all positions that the same machines have. The first is faster on more machines than the
    /// other; where it is on as many, by the mean.
    pub(crate) pairs: Vec<Pair>,
    /// Remarks on what the machines have in common.
    pub(crate) remarks: Vec<String>,
}

/// The figures of a store at an operation and a position, by machine.
type ByMachine = BTreeMap<String, Series<BlockKey>>;

/// Those of each store.
type ByStore<'a> = IndexMap<Cow<'a, str>, ByMachine>;

/// A group of a machine, by the machine's name.
type Named<'m, 'a> = (String, &'m Group<'a>);

/// The comparisons of stores that several machines have.
pub(crate) fn fleet(merged: &Merged<'_>) -> Fleet {
    let machines = Machines::of(merged);
    let mut alike: IndexMap<GroupKey, Vec<Named<'_, '_>>> = IndexMap::new();
    for group in &merged.groups {
        let (name, key) = machines.shared(group);
        let groups = alike.entry(key).or_default();
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) if machines.started(known) < machines.started(group) => *known = group,
            Some(_) => {}
            None => groups.push((name, group)),
        }
    }
    alike.retain(|_, groups| groups.len() > 1);
    let mut fleet = Fleet::default();
    alike.iter().for_each(|(key, groups)| of_groups(merged, (key, groups), &mut fleet));
    let compared: BTreeSet<&String> =
        fleet.pairs.iter().flat_map(|pair| &pair.machines).map(|on| &on.machine).collect();
    let mut known: Vec<Known> = Vec::new();
    for (name, group) in alike.values().flatten().filter(|(name, _)| compared.contains(name)) {
        if let Some(traits) = Traits::of(merged, group).filter(|_| known.iter().all(|one| one.name != *name))
        {
            known.push(Known { name: name.clone(), hardware: group.key.hardware.clone(), traits });
        }
    }
    let narrow = "intervals over machines are narrower than for machines at large";
    let of_type = machine::of_one_type(&known).into_iter().map(|words| format!("{words}: {narrow}."));
    let of_host = machine::of_one_host(&known).into_iter().map(|words| format!("{words}."));
    Fleet { remarks: of_type.chain(of_host).collect(), ..fleet }
}

fn of_groups(merged: &Merged<'_>, (key, groups): (&GroupKey, &[Named<'_, '_>]), fleet: &mut Fleet) {
    let sorted: Vec<Sorted<'_, '_>> = groups.iter().map(|(_, group)| Sorted::new(merged, group)).collect();
    let positions: BTreeSet<&Position> = sorted.iter().flat_map(|one| one.entries.keys()).collect();
    let names: IndexSet<String> = groups.iter().flat_map(|(_, group)| operations(group)).collect();
    let facts = Facts::of(merged, groups, &sorted);
    let looks = |(name, group): &Named<'_, '_>| (name.clone(), looks::behind(merged, group.trials.iter()));
    let looks = groups.iter().map(looks).collect();
    let mut over: IndexMap<&str, Vec<(Position, ByStore<'_>)>> = IndexMap::new();
    for position in positions {
        for operation in &names {
            let stores = by_store(merged, groups, &sorted, (position, operation));
            over.entry(operation).or_default().push((position.clone(), stores));
        }
    }
    let at = |position: &Position, operation: &str| At {
        key: key.clone(),
        position: position.clone(),
        operation: operation.to_owned(),
    };
    let told = |places: &[(Position, ByStore<'_>)]| {
        let stores: BTreeSet<&str> =
            places.iter().flat_map(|(_, stores)| stores.keys()).map(|store| &**store).collect();
        Told { facts: &facts, looks: &looks, rivals: stores.len() * stores.len().saturating_sub(1) / 2 }
    };
    let mut pairs = Vec::new();
    for (operation, places) in &over {
        of_all(&|position| at(position, operation), places, &told(places), &mut pairs);
    }
    // Those of the same combinations stand together.
    pairs.sort_by(|one: &Pair, next| one.at.position.cmp(&next.at.position));
    fleet.pairs.extend(pairs);
    // Position by position, as tables are read.
    for index in 0..over.values().map(Vec::len).max().unwrap_or(0) {
        for (operation, places) in &over {
            let place = &places[index];
            let told = told(std::slice::from_ref(place));
            fleet.fastest.extend(of_fastest(&at(&place.0, operation), &place.1, &told));
        }
    }
}

/// The latencies of each store that competes there.
fn by_store<'a>(
    merged: &Merged<'_>,
    groups: &[Named<'_, '_>],
    sorted: &'a [Sorted<'_, '_>],
    (position, operation): (&Position, &str),
) -> ByStore<'a> {
    let mut stores = ByStore::new();
    for ((name, _), sorted) in groups.iter().zip(sorted) {
        for (store, entries) in sorted.entries.get(position).into_iter().flatten() {
            let series = competing_series(entries, operation, &MEAN_LATENCY);
            if !merged.is_harness(store) && !series.is_empty() {
                let machines = stores.entry(Cow::Borrowed(&**store)).or_default();
                machines.insert(name.clone(), series);
            }
        }
    }
    stores
}

/// The looks that the figures of each machine allow for.
type Looks = BTreeMap<String, usize>;

/// By what it is told on a machine which store is faster.
#[derive(Clone, Copy)]
struct Told<'a> {
    facts: &'a Facts,
    looks: &'a Looks,
    /// The comparisons that are made of a machine's figures: of every two stores.
    rivals: usize,
}

impl Told<'_> {
    /// The confidence of one comparison, so that all of a machine at an operation hold together (Bonferroni).
    fn confidence(&self, machine: &str) -> f64 {
        let looks = self.looks.get(machine).copied().unwrap_or(1);
        1.0 - (1.0 - looks::confidence(looks)) / self.rivals.max(1) as f64
    }
}

/// The pairs of the fastest of these stores.
fn of_fastest(at: &At, stores: &ByStore<'_>, told: &Told<'_>) -> Vec<Pair> {
    // Only where all are can their means be compared.
    let everywhere: BTreeSet<&String> = stores.values().flat_map(BTreeMap::keys).collect();
    let mean = |machines: &ByMachine| {
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
    let mut pairs: Vec<Pair> =
        others.filter_map(|(other, machines)| pair(at, (first, own), (other, machines), told)).collect();
    pairs.sort_by(|a, b| a.times.value.total_cmp(&b.times.value));
    pairs
}

/// Every two of the stores at an operation, over the positions that the same machines have of both.
fn of_all(
    at: &dyn Fn(&Position) -> At,
    places: &[(Position, ByStore<'_>)],
    told: &Told<'_>,
    pairs: &mut Vec<Pair>,
) {
    let names: IndexSet<&str> =
        places.iter().flat_map(|(_, stores)| stores.keys()).map(|store| &**store).collect();
    for (index, a) in names.iter().enumerate() {
        for b in names.iter().skip(index + 1) {
            let mut by_machines: BTreeMap<Vec<&String>, Vec<Place<'_>>> = BTreeMap::new();
            for (position, stores) in places {
                let (Some(own), Some(others)) = (stores.get(*a), stores.get(*b)) else { continue };
                let both = own.keys().filter(|machine| others.contains_key(*machine)).collect();
                by_machines.entry(both).or_default().push((position, [own, others]));
            }
            // Each part is a comparison of its own.
            let told = Told { rivals: told.rivals * by_machines.len(), ..*told };
            for places in by_machines.into_values() {
                let whole = over(at, [a, b], &places, &told);
                // Without a block that has all of them they stand alone.
                let alone = places.iter().filter(|_| whole.is_none());
                pairs.extend(alone.filter_map(|place| {
                    let told = Told { rivals: told.rivals * places.len(), ..told };
                    over(at, [a, b], std::slice::from_ref(place), &told)
                }));
                pairs.extend(whole);
            }
        }
    }
}

/// A position, and the figures of two stores there.
type Place<'p> = (&'p Position, [&'p ByMachine; 2]);

/// Two stores over some positions, the one first that is faster on more machines.
fn over(
    at: &dyn Fn(&Position) -> At,
    [a, b]: [&str; 2],
    places: &[Place<'_>],
    told: &Told<'_>,
) -> Option<Pair> {
    let [own, others] = [0, 1].map(|which| {
        let all: Vec<&ByMachine> = places.iter().map(|(_, figures)| figures[which]).collect();
        averaged(&all)
    });
    let at = at(&in_common(places)?);
    let one = pair(&at, (a, &own), (b, &others), told)?;
    let counts = [Faster::First, Faster::Other].map(|faster| one.count(faster));
    let is_first = counts[0] > counts[1] || (counts[0] == counts[1] && one.times.value >= 1.0);
    let (pair, first) = if is_first { (one, 0) } else { (pair(&at, (b, &others), (a, &own), told)?, 1) };
    // Each position is a comparison of its own.
    let told = Told { rivals: told.rivals * places.len(), ..*told };
    let is_other_way = |(_, figures): &&Place<'_>| {
        let on = |(machine, own): (&String, &Series<BlockKey>)| {
            let times = compare_at(figures[1 - first].get(machine)?, own, told.confidence(machine))?;
            Some(On { machine: machine.clone(), times }.faster() == Faster::Other)
        };
        figures[first].iter().filter_map(on).any(|is_other| is_other)
    };
    let other_way = if places.len() > 1 { places.iter().filter(is_other_way).count() } else { 0 };
    Some(Pair { combinations: places.len(), other_way, ..pair })
}

/// The values that positions have in common; `None` of none.
fn in_common(places: &[Place<'_>]) -> Option<Position> {
    let (first, _) = places.first()?;
    let differs = |axis: &_| places.iter().any(|(place, _)| place.value(*axis) != first.value(*axis));
    let differing: Vec<_> = first.axes().filter(differs).collect();
    Some(differing.into_iter().fold((*first).clone(), |common, axis| common.without(axis)))
}

/// The geometric mean of a store's figures over positions, on each machine in each block that has all of them.
fn averaged(places: &[&ByMachine]) -> ByMachine {
    let Some(first) = places.first() else { return ByMachine::new() };
    let mean = |machine: &String, block: &BlockKey| {
        let values = places.iter().map(|place| place.get(machine)?.get(block).copied());
        geometric_mean(&values.collect::<Option<Vec<f64>>>()?).map(|mean| mean.value)
    };
    let of_machine = |(machine, series): (&String, &Series<BlockKey>)| {
        let means = series.keys().filter_map(|block| Some((*block, mean(machine, block)?)));
        (machine.clone(), means.collect())
    };
    first.iter().map(of_machine).collect()
}

fn pair(
    at: &At,
    (store, own): (&str, &ByMachine),
    (other, others): (&str, &ByMachine),
    told: &Told<'_>,
) -> Option<Pair> {
    let on = |(machine, series): (&String, &Series<BlockKey>)| {
        let times = compare_at(series, own.get(machine)?, told.confidence(machine))?;
        Some(On { machine: machine.clone(), times })
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
        combinations: 1,
        other_way: 0,
    })
}

/// The properties of each machine, as far as they are known.
#[derive(Debug, Default)]
struct Facts(BTreeMap<String, [Option<u64>; Property::ALL.len()]>);

/// The mean time of a sync by store, position and operation, in nanoseconds.
type Syncs<'a> = BTreeMap<(&'a str, &'a Position, &'a str), f64>;

impl Facts {
    fn of(merged: &Merged<'_>, groups: &[Named<'_, '_>], sorted: &[Sorted<'_, '_>]) -> Facts {
        let all: Vec<Syncs<'_>> = sorted.iter().map(syncs).collect();
        // A machine that did other work has other syncs.
        let is_everywhere = |which: &&_| all.iter().all(|own| own.contains_key(*which));
        let shared: Vec<_> = all.first().into_iter().flat_map(BTreeMap::keys).filter(is_everywhere).collect();
        let facts = |((name, group), own): (&Named<'_, '_>, &Syncs<'_>)| {
            let times: Vec<f64> = shared.iter().filter_map(|which| own.get(*which).copied()).collect();
            let sync_ns = median(&times).map(|median| median.value as u64);
            let traits = Traits::of(merged, group);
            let cores = traits.as_ref().map(|traits| traits.cores);
            (name.clone(), [sync_ns, cores, traits.and_then(|traits| traits.memory_bytes)])
        };
        Facts(groups.iter().zip(&all).map(facts).collect())
    }

    /// The properties along which the ratio rises or falls: machines of the same value are one, of their mean.
    fn decides(&self, machines: &[On]) -> Vec<(Property, bool)> {
        let trend = |(place, property): (usize, Property)| {
            let mut by_value: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
            for on in machines {
                let value = self.0.get(&on.machine)?[place]?;
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

/// The mean time of a sync in each operation of each store of a machine, where there were any.
fn syncs<'a>(sorted: &'a Sorted<'_, '_>) -> Syncs<'a> {
    let mut sums: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    for (position, stores) in &sorted.entries {
        for (store, entries) in stores {
            for one in
                measured(entries).into_iter().flat_map(|(_, measured): (_, &Measured)| &measured.operations)
            {
                let counted = one.counters.as_ref().and_then(|own| own.syncs.zip(own.sync_ns));
                if let Some((syncs, ns)) = counted.filter(|(syncs, _)| *syncs > 0) {
                    let sum = sums.entry((&**store, position, one.operation.as_str())).or_default();
                    *sum = (sum.0 + syncs, sum.1 + ns);
                }
            }
        }
    }
    sums.into_iter().map(|(which, (syncs, ns))| (which, ns as f64 / syncs as f64)).collect()
}

#[cfg(test)]
mod tests;
