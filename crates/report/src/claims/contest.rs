//! Checks that compare stores in one place, or over the mean of places.

use std::collections::BTreeMap;

use super::bounds::Bounds;
use super::expect::{Alike, Behind, Expect, Order, Ratio, Values, Winner};
use super::figure::Figure;
use super::verdict::{Evidence, Outcome, Shown};
use crate::layout::Position;
use crate::stats::{
    self, Better, Estimate, Interval, MIN_BLOCKS, Resolution, Series, Standing, Terms, decide_on,
};

/// The stores that a claim compares, and one figure of each.
#[derive(Debug)]
pub struct Contest<'a, K> {
    /// The figure.
    pub figure: &'a Figure,
    /// Where.
    pub spot: Position,
    /// The number of places that were averaged; `None` for one place.
    pub averaged: Option<usize>,
    /// The stores.
    pub stores: &'a [String],
    /// By the stores' positions; empty where a store has no figure.
    pub series: Vec<Series<K>>,
    /// The resolution of the clock for them.
    pub resolution: Resolution,
    /// The figures that the average had to do without.
    pub missing: Vec<String>,
}

/// The ratio of one figure to another, and the interval that may decide about it.
pub(super) struct Times {
    pub ratio: Estimate,
    pub decides: Option<Interval>,
}

/// `a` over `b`, paired by block; where they share none, the ratio of their means. `None` where one is missing or zero.
pub(super) fn times<K: Ord>(a: &Series<K>, b: &Series<K>) -> Option<Times> {
    if let Some(ratio) = stats::compare(a, b) {
        let decides = ratio.ratio.interval.filter(|_| ratio.blocks >= MIN_BLOCKS);
        return Some(Times { ratio: ratio.ratio, decides });
    }
    let (a, b) = (mean(a)?.value, mean(b)?.value);
    (a > 0.0 && b > 0.0).then(|| Times { ratio: Estimate { value: a / b, interval: None }, decides: None })
}

/// A figure's mean over trials.
pub(super) fn mean<K>(series: &Series<K>) -> Option<Estimate> {
    let values: Vec<f64> = series.values().copied().collect();
    stats::mean(&values).map(|(_, mean)| mean)
}

/// A figure as it is shown.
pub(super) fn shown<K>(who: impl Into<String>, series: &Series<K>) -> Option<Shown> {
    mean(series).map(|mean| Shown { who: who.into(), value: mean.value, interval: mean.interval })
}

/// Whether several outcomes together are what was expected: the worst of them.
pub(super) fn together(outcomes: &[Outcome]) -> Outcome {
    let any = |outcome| outcomes.contains(&outcome);
    match () {
        () if any(Outcome::Disagrees) => Outcome::Disagrees,
        () if any(Outcome::Missing) || outcomes.is_empty() => Outcome::Missing,
        () if any(Outcome::Close) => Outcome::Close,
        () => Outcome::Agrees,
    }
}

/// Whether one of several outcomes is what was expected: the best of them, but for one that is not known.
fn any_of(outcomes: &[Outcome]) -> Outcome {
    let order = [Outcome::Agrees, Outcome::Missing, Outcome::Close];
    order.into_iter().find(|outcome| outcomes.contains(outcome)).unwrap_or(Outcome::Disagrees)
}

impl<K: Ord + Copy> Contest<'_, K> {
    /// Checks what is expected of stores; nothing for what compares values of an axis.
    pub(super) fn check(&self, expect: &Expect) -> Vec<Evidence> {
        match expect {
            Expect::Winner(winner) => vec![self.winner(winner)],
            // Who wins each place; the wins are counted when all are there.
            Expect::MoreAt(more) => {
                vec![self.winner(&Winner { stores: more.stores.clone(), within: None })]
            }
            Expect::Alike(alike) => vec![self.alike(alike)],
            Expect::Order(order) => vec![self.order(order)],
            Expect::Behind(behind) => behind.stores.iter().map(|store| self.behind(store, behind)).collect(),
            Expect::Ratio(ratio) => vec![self.ratio(ratio)],
            Expect::Value(values) => values.stores.iter().map(|store| self.value(store, values)).collect(),
            Expect::Unchanged(_) | Expect::MoreWins(_) | Expect::Greatest(_) => Vec::new(),
        }
    }

    fn evidence(&self, outcome: Outcome, shown: Vec<Shown>, times: Option<Estimate>) -> Evidence {
        Evidence {
            figure: self.figure.to_string(),
            unit: self.figure.column.unit,
            spot: self.spot.clone(),
            averaged: self.averaged,
            averaged_stores: None,
            outcome,
            shown,
            times,
            missing: self.missing.clone(),
            covers: Vec::new(),
        }
    }

    fn series(&self, store: &str) -> Option<&Series<K>> {
        let position = self.stores.iter().position(|name| name == store)?;
        self.series.get(position).filter(|series| !series.is_empty())
    }

    fn shown(&self, store: &str) -> Option<Shown> {
        self.series(store).and_then(|series| shown(store, series))
    }

    /// Compared stores without a figure here, and where that is.
    fn lacking<'s>(&self, stores: impl IntoIterator<Item = &'s String>) -> Vec<String> {
        let lacking = stores.into_iter().filter(|store| self.series(store).is_none());
        lacking.map(|store| lacking_at(store, &self.spot)).collect()
    }

    /// Whether the best is one of the stores named: what ties with it must be too.
    pub fn winner(&self, winner: &Winner) -> Evidence {
        let terms = Terms { resolution: self.resolution, ..Terms::default() };
        let standings = decide_on(&self.series, self.figure.column.better, terms);
        let named = |standing: &Standing| winner.stores.contains(&self.stores[standing.index]);
        let present = match winner.within {
            None => by_ties(standings.iter().filter(|standing| standing.wins).map(named)),
            Some(within) => {
                let limit = Bounds::up_to(within);
                let one = |standing: &Standing| self.within(standing, &standings, &limit);
                let outcomes: Vec<Outcome> = standings.iter().filter(|s| named(s)).map(one).collect();
                any_of(&outcomes)
            }
        };
        // A store that is not there can be the best, unless it would only confirm what is known.
        let absent = |is_named: bool| {
            self.stores
                .iter()
                .filter(move |store| winner.stores.contains(store) == is_named)
                .any(|store| self.series(store).is_none())
        };
        let outcome = match present {
            _ if standings.is_empty() => Outcome::Missing,
            Outcome::Agrees if absent(false) => Outcome::Missing,
            Outcome::Disagrees if absent(true) => Outcome::Missing,
            Outcome::Close if absent(true) || absent(false) => Outcome::Missing,
            outcome => outcome,
        };
        let best = standings.first();
        let beside = standings.iter().skip(1).find(|standing| named(standing) != best.is_some_and(named));
        let both = [best, beside].into_iter().flatten();
        let who = both.filter_map(|standing| self.shown(&self.stores[standing.index])).collect();
        let times = beside.and_then(|standing| standing.times_worse).map(|ratio| ratio.ratio);
        let mut evidence = self.evidence(outcome, who, times);
        if outcome == Outcome::Missing {
            evidence.missing.extend(self.lacking(self.stores));
        }
        evidence
    }

    /// Whether a store is at most so many times worse than the best.
    fn within(&self, standing: &Standing, standings: &[Standing], limit: &Bounds) -> Outcome {
        let Some(best) = standings.first().filter(|best| best.index != standing.index) else {
            return Outcome::Agrees;
        };
        let (worse, good) = self.worse_and_good(standing.index, best.index);
        times(worse, good).map_or(Outcome::Missing, |times| limit.judge(times.ratio.value, times.decides))
    }

    /// Two stores' series so that their ratio is above 1 where the first is the worse.
    fn worse_and_good(&self, worse: usize, good: usize) -> (&Series<K>, &Series<K>) {
        match self.figure.column.better {
            Better::Higher => (&self.series[good], &self.series[worse]),
            Better::Lower | Better::Neither => (&self.series[worse], &self.series[good]),
        }
    }

    fn order(&self, order: &Order) -> Evidence {
        let mut pairs: Vec<(&String, &String)> =
            order.stores.iter().zip(order.stores.iter().skip(1)).collect();
        let rest: Vec<&String> = self.stores.iter().filter(|store| !order.stores.contains(store)).collect();
        if let Some(last) = order.stores.last().filter(|_| order.rest_behind) {
            pairs.extend(rest.iter().map(|store| (last, *store)));
        }
        let outcomes: Vec<Outcome> = pairs.iter().map(|(a, b)| self.ahead(a, b)).collect();
        let outcome = together(&outcomes);
        let mut who: Vec<Shown> = order.stores.iter().filter_map(|store| self.shown(store)).collect();
        // Of those that should be behind, those that are not.
        let others = pairs.iter().zip(&outcomes).skip(order.stores.len() - 1);
        let others = others.filter(|(_, found)| **found == outcome && outcome != Outcome::Agrees);
        who.extend(others.filter_map(|((_, store), _)| self.shown(store)));
        let mut evidence = self.evidence(outcome, who, None);
        if outcome == Outcome::Missing {
            let behind = rest.into_iter().filter(|_| order.rest_behind);
            evidence.missing.extend(self.lacking(order.stores.iter().chain(behind)));
        }
        evidence
    }

    /// Whether one store is better than another.
    fn ahead(&self, a: &str, b: &str) -> Outcome {
        let position = |store: &str| self.stores.iter().position(|name| name == store);
        let (Some(a), Some(b)) = (position(a), position(b)) else { return Outcome::Missing };
        let (worse, good) = self.worse_and_good(b, a);
        let can_tell =
            mean(worse).zip(mean(good)).is_none_or(|(a, b)| self.resolution.can_tell(a.value, b.value));
        match times(worse, good) {
            None => Outcome::Missing,
            Some(_) if !can_tell => Outcome::Close,
            Some(Times { decides: Some(interval), .. }) if interval.low <= 1.0 && interval.high >= 1.0 => {
                Outcome::Close
            }
            Some(times) => Bounds::above_one().judge(times.ratio.value, times.decides),
        }
    }

    /// Whether none of the stores is so many times worse than another.
    fn alike(&self, alike: &Alike) -> Evidence {
        let there: Vec<usize> = alike
            .stores
            .iter()
            .filter_map(|store| self.series(store).and(self.stores.iter().position(|known| known == store)))
            .collect();
        let pairs = there.iter().flat_map(|a| there.iter().filter(move |b| *b != a).map(move |b| (*a, *b)));
        let apart: Vec<Times> = pairs
            .filter_map(|(worse, good)| {
                let (worse, good) = self.worse_and_good(worse, good);
                times(worse, good)
            })
            .collect();
        let limit = Bounds::up_to(alike.within);
        let outcomes: Vec<Outcome> =
            apart.iter().map(|times| limit.judge(times.ratio.value, times.decides)).collect();
        let outcome = match together(&outcomes) {
            Outcome::Agrees | Outcome::Close if there.len() < alike.stores.len() => Outcome::Missing,
            outcome => outcome,
        };
        let furthest = apart.iter().max_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value));
        let who = alike.stores.iter().filter_map(|store| self.shown(store)).collect();
        let mut evidence = self.evidence(outcome, who, furthest.map(|times| times.ratio));
        evidence.missing.extend(self.lacking(&alike.stores));
        evidence
    }

    /// Whether a store is worse than every other but those that are expected to be.
    fn behind(&self, store: &String, behind: &Behind) -> Evidence {
        let others = || self.stores.iter().filter(|other| !behind.stores.contains(other));
        let found: Vec<(&String, Outcome)> =
            others().map(|other| (other, self.ahead(other, store))).collect();
        let outcomes: Vec<Outcome> = found.iter().map(|(_, outcome)| *outcome).collect();
        let outcome = together(&outcomes);
        // Of those that decided it the one that it should be furthest ahead of.
        let decided = found.iter().filter(|(_, found)| *found == outcome);
        let nearest = decided.filter_map(|(other, _)| self.shown(other)).reduce(|a, b| self.worse(a, b));
        let who = self.shown(store).into_iter().chain(nearest).collect();
        let mut evidence = self.evidence(outcome, who, None);
        if outcome == Outcome::Missing {
            evidence.missing.extend(self.lacking(others().chain([store])));
        }
        evidence
    }

    /// The worse of two figures.
    fn worse(&self, a: Shown, b: Shown) -> Shown {
        let is_worse = match self.figure.column.better {
            Better::Higher => a.value < b.value,
            Better::Lower | Better::Neither => a.value > b.value,
        };
        if is_worse { a } else { b }
    }

    fn ratio(&self, ratio: &Ratio) -> Evidence {
        let both = self.series(&ratio.of).zip(self.series(&ratio.to));
        let times = both.and_then(|(of, to)| times(of, to));
        let outcome = times
            .as_ref()
            .map_or(Outcome::Missing, |times| ratio.range.judge(times.ratio.value, times.decides));
        let who = [&ratio.of, &ratio.to].into_iter().filter_map(|store| self.shown(store)).collect();
        let mut evidence = self.evidence(outcome, who, times.map(|times| times.ratio));
        evidence.missing.extend(self.lacking([&ratio.of, &ratio.to]));
        evidence
    }

    fn value(&self, store: &String, values: &Values) -> Evidence {
        let series = self.series(store);
        let outcome = series
            .and_then(|series| Some((series.len(), mean(series)?)))
            .map_or(Outcome::Missing, |(trials, mean)| {
                values.range.judge(mean.value, mean.interval.filter(|_| trials >= MIN_BLOCKS))
            });
        let mut evidence = self.evidence(outcome, self.shown(store).into_iter().collect(), None);
        evidence.missing.extend(self.lacking([store]));
        evidence
    }
}

/// Whether those that win, of whom each is named or not, are those that were named.
fn by_ties(named: impl Iterator<Item = bool>) -> Outcome {
    let named: Vec<bool> = named.collect();
    match (named.iter().all(|named| *named), named.contains(&true)) {
        (true, _) => Outcome::Agrees,
        (false, true) => Outcome::Close,
        (false, false) => Outcome::Disagrees,
    }
}

/// `sqlite at 1B..1KiB, 100 records, compressible`
pub(super) fn lacking_at(store: &str, spot: &Position) -> String {
    let spot = spot.to_string();
    if spot.is_empty() { store.to_owned() } else { format!("{store} at {spot}") }
}

/// A contest's series, in the order of the stores.
pub(super) fn in_order<K: Ord + Copy>(stores: &[String], of: &BTreeMap<&str, &Series<K>>) -> Vec<Series<K>> {
    stores.iter().map(|store| of.get(store.as_str()).map_or_else(Series::new, |s| (*s).clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_store_of_several_is_enough_and_one_that_is_close_may_be_it() {
        let [agrees, disagrees] = [Outcome::Agrees, Outcome::Disagrees];
        for (outcomes, whole) in [
            (vec![disagrees, agrees], agrees),
            (vec![disagrees, Outcome::Close], Outcome::Close),
            (vec![Outcome::Close, Outcome::Missing], Outcome::Missing),
            (vec![disagrees, disagrees], disagrees),
            (vec![], disagrees),
        ] {
            assert_eq!(any_of(&outcomes), whole, "{outcomes:?}");
        }
    }
}
