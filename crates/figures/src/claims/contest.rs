//! Checks of stores against each other: in one comparison, or averaged over several.

use std::collections::BTreeMap;

use super::bounds::Bounds;
use super::expect::{Alike, Behind, Expect, Order, Ratio, Values, Winner};
use super::figure::Figure;
use super::pair::{
    CheckOutcome, best_outcome, compare, find_ratio, judge_ratio, mean, mean_on, worst_outcome,
};
use super::verdict::{CheckedFigure, Evidence, Outcome};
use crate::judge::standing::{self, FewBlocksRule, Standing, Terms, decide_on};
use crate::layout::Position;
use crate::stats::{Better, Estimate, Series};

/// The stores that a claim compares, and one figure of each.
#[derive(Debug)]
pub struct StoreComparison<'a, K> {
    pub figure: &'a Figure,
    pub spot: Position,
    /// The number of averaged comparisons; `None` for a single one.
    pub averaged: Option<usize>,
    pub stores: &'a [String],
    /// By the stores' positions; empty for a store without a figure.
    pub series: Vec<Series<K>>,
    pub terms: Terms,
    /// Figures that are missing from the average.
    pub missing: Vec<String>,
}

pub(super) fn checked_figure<K>(who: impl Into<String>, series: &Series<K>) -> Option<CheckedFigure> {
    mean(series).map(|mean| CheckedFigure { who: who.into(), value: mean.value, interval: mean.interval })
}

impl<K: Ord + Copy> StoreComparison<'_, K> {
    /// Checks an expectation about stores; empty for one that compares values of an axis.
    pub(super) fn check(&self, expect: &Expect) -> Vec<Evidence> {
        match expect {
            Expect::Winner(winner) => vec![self.winner(winner)],
            // The winner of each comparison; wins are counted at the end.
            Expect::MoreAt(more) => {
                vec![self.winner(&Winner { stores: more.stores.clone(), within: None })]
            }
            Expect::Alike(alike) => vec![self.check_alike(alike)],
            Expect::Order(order) => vec![self.check_order(order)],
            Expect::Behind(behind) => {
                behind.stores.iter().map(|store| self.check_behind(store, behind)).collect()
            }
            Expect::Ratio(ratio) => vec![self.check_ratio(ratio)],
            Expect::Value(values) => {
                values.stores.iter().map(|store| self.check_value(store, values)).collect()
            }
            Expect::Unchanged(_) | Expect::MoreWins(_) | Expect::Greatest(_) => Vec::new(),
        }
    }

    fn evidence(
        &self,
        outcome: CheckOutcome,
        shown: Vec<CheckedFigure>,
        times: Option<Estimate>,
    ) -> Evidence {
        let evidence = Evidence::new(self.figure, &self.spot, outcome, shown);
        Evidence { averaged: self.averaged, times, missing: self.missing.clone(), ..evidence }
    }

    fn series(&self, store: &str) -> Option<&Series<K>> {
        let position = self.stores.iter().position(|name| name == store)?;
        self.series.get(position).filter(|series| !series.is_empty())
    }

    fn checked_figure(&self, store: &str) -> Option<CheckedFigure> {
        self.series(store).and_then(|series| checked_figure(store, series))
    }

    /// Compared stores without a figure here, with their positions.
    fn missing_figures<'s>(&self, stores: impl IntoIterator<Item = &'s String>) -> Vec<String> {
        let missing_stores = stores.into_iter().filter(|store| self.series(store).is_none());
        missing_stores.map(|store| store_at(store, &self.spot)).collect()
    }

    /// Judges a check if all of these stores have a figure here. If one is missing, it is open.
    fn judge_all<'s>(
        &self,
        mut stores: impl Iterator<Item = &'s String>,
        judge: impl Fn(Terms) -> Outcome,
    ) -> CheckOutcome {
        match stores.all(|store| self.series(store).is_some()) {
            true => CheckOutcome::judge(self.terms, judge),
            false => CheckOutcome::MISSING,
        }
    }

    /// Checks that the best is one of the named stores, and so are all that tie with it.
    pub fn winner(&self, winner: &Winner) -> Evidence {
        let better = self.figure.column.better;
        let standings = decide_on(&self.series, better, self.lenient_terms());
        let is_named = |standing: &Standing| winner.stores.contains(&self.stores[standing.index]);
        let outcome = match winner.within {
            _ if standings.is_empty() || self.series.iter().any(BTreeMap::is_empty) => CheckOutcome::MISSING,
            // If only named stores are measured, one of them is always the best.
            _ if self.stores.iter().all(|store| winner.stores.contains(store)) => CheckOutcome::MISSING,
            None => CheckOutcome::judge(self.terms, |terms| {
                let best = standing::best(&self.series, better, terms).into_iter();
                judge_winners(best.map(|index| winner.stores.contains(&self.stores[index])))
            }),
            Some(within) => CheckOutcome::judge(self.terms, |terms| {
                best_outcome(winner.stores.iter().map(|store| self.is_within(store, within, terms)))
            }),
        };
        let best = standings.first();
        let contrast =
            standings.iter().skip(1).find(|standing| is_named(standing) != best.is_some_and(is_named));
        let shown = [best, contrast].into_iter().flatten();
        let figures =
            shown.filter_map(|standing| self.checked_figure(&self.stores[standing.index])).collect();
        let times = contrast.and_then(|standing| standing.times_worse).map(|ratio| ratio.ratio);
        let mut evidence = self.with_missing(self.evidence(outcome, figures, times), self.stores);
        if evidence.outcome == Outcome::Missing && evidence.missing.is_empty() {
            evidence.missing.push(format!("another than {}", winner.stores.join(", ")));
        }
        evidence
    }

    /// The evidence, with the missing stores if they leave it open.
    fn with_missing<'s>(
        &self,
        mut evidence: Evidence,
        stores: impl IntoIterator<Item = &'s String>,
    ) -> Evidence {
        if evidence.outcome == Outcome::Missing {
            evidence.missing.extend(self.missing_figures(stores));
        }
        evidence
    }

    /// Whether a store is at most `within` times worse than every other.
    fn is_within(&self, store: &str, within: f64, terms: Terms) -> Outcome {
        let Some(index) = self.stores.iter().position(|name| name == store) else { return Outcome::Missing };
        let limit = Bounds::up_to(within);
        let others = (0..self.series.len()).filter(|other| *other != index);
        worst_outcome(std::iter::once(Outcome::Agrees).chain(others.map(|other| {
            let (worse, good) = self.worse_and_good(index, other);
            judge_ratio(find_ratio(worse, good, terms), &limit)
        })))
    }

    /// Two stores' series, ordered so that their ratio is above 1 if the first is worse.
    fn worse_and_good(&self, worse: usize, good: usize) -> (&Series<K>, &Series<K>) {
        match self.figure.column.better {
            Better::Higher => (&self.series[good], &self.series[worse]),
            Better::Lower | Better::Neither => (&self.series[worse], &self.series[good]),
        }
    }

    fn check_order(&self, order: &Order) -> Evidence {
        let mut pairs: Vec<(&String, &String)> =
            order.stores.iter().zip(order.stores.iter().skip(1)).collect();
        let rest: Vec<&String> = self.stores.iter().filter(|store| !order.stores.contains(store)).collect();
        if let Some(last) = order.stores.last().filter(|_| order.rest_behind) {
            pairs.extend(rest.iter().map(|store| (last, *store)));
        }
        let last = if order.rest_behind { rest } else { Vec::new() };
        let compared_stores = || order.stores.iter().chain(last.iter().copied());
        let outcome = self.judge_all(compared_stores(), |terms| {
            worst_outcome(pairs.iter().map(|(a, b)| self.judge_ahead(a, b, terms)))
        });
        let mut figures: Vec<CheckedFigure> =
            order.stores.iter().filter_map(|store| self.checked_figure(store)).collect();
        // Stores that should be behind and are not.
        let others = pairs.iter().skip(order.stores.len() - 1);
        let others = others.filter(|(a, b)| {
            !matches!(outcome.leaning, Outcome::Agrees | Outcome::Missing)
                && self.judge_ahead(a, b, self.lenient_terms()) == outcome.leaning
        });
        figures.extend(others.filter_map(|(_, store)| self.checked_figure(store)));
        self.with_missing(self.evidence(outcome, figures, None), compared_stores())
    }

    fn lenient_terms(&self) -> Terms {
        Terms { few: FewBlocksRule::Threshold, crowded: false, ..self.terms }
    }

    fn judge_ahead(&self, a: &str, b: &str, terms: Terms) -> Outcome {
        match self.series(a).zip(self.series(b)) {
            Some((a, b)) => compare(a, b, self.figure.column.better, terms),
            None => Outcome::Missing,
        }
    }

    /// Checks that no store is more than `within` times worse than another.
    fn check_alike(&self, alike: &Alike) -> Evidence {
        let index_of =
            |store: &String| self.series(store).and(self.stores.iter().position(|name| name == store));
        let indices: Vec<usize> = alike.stores.iter().filter_map(index_of).collect();
        let pairs = indices.iter().flat_map(|a| indices.iter().map(move |b| (*a, *b)));
        let pairs: Vec<(usize, usize)> = pairs.filter(|(a, b)| a != b).collect();
        let compare = |(worse, good): &(usize, usize), terms| {
            let (worse, good) = self.worse_and_good(*worse, *good);
            find_ratio(worse, good, terms)
        };
        let limit = Bounds::up_to(alike.within);
        let outcome = self.judge_all(alike.stores.iter(), |terms| {
            worst_outcome(pairs.iter().map(|pair| judge_ratio(compare(pair, terms), &limit)))
        });
        let ratios = pairs.iter().filter_map(|pair| compare(pair, self.terms)).map(|times| times.ratio);
        let furthest = ratios.max_by(|a, b| a.value.total_cmp(&b.value));
        let figures = alike.stores.iter().filter_map(|store| self.checked_figure(store)).collect();
        self.with_missing(self.evidence(outcome, figures, furthest), &alike.stores)
    }

    /// Checks that a store is worse than all others except the expected ones.
    fn check_behind(&self, store: &String, behind: &Behind) -> Evidence {
        let others = || self.stores.iter().filter(|other| !behind.stores.contains(other));
        let outcome = self.judge_all(others().chain([store]), |terms| {
            worst_outcome(others().map(|other| self.judge_ahead(other, store, terms)))
        });
        let by_worse = |a: &CheckedFigure, b: &CheckedFigure| match self.figure.column.better {
            Better::Higher => b.value.total_cmp(&a.value),
            Better::Lower | Better::Neither => a.value.total_cmp(&b.value),
        };
        // Among the stores that settled it, the one with the smallest distance.
        let deciding_stores =
            others().filter(|other| self.judge_ahead(other, store, self.lenient_terms()) == outcome.leaning);
        let nearest = deciding_stores.filter_map(|other| self.checked_figure(other)).max_by(by_worse);
        let figures = self.checked_figure(store).into_iter().chain(nearest).collect();
        self.with_missing(self.evidence(outcome, figures, None), others().chain([store]))
    }

    fn check_ratio(&self, ratio: &Ratio) -> Evidence {
        let series = self.series(&ratio.of).zip(self.series(&ratio.to));
        let compare =
            |terms| series.and_then(|(numerator, denominator)| find_ratio(numerator, denominator, terms));
        let outcome = CheckOutcome::judge(self.terms, |terms| judge_ratio(compare(terms), &ratio.range));
        let figures =
            [&ratio.of, &ratio.to].into_iter().filter_map(|store| self.checked_figure(store)).collect();
        let evidence = self.evidence(outcome, figures, compare(self.terms).map(|times| times.ratio));
        self.with_missing(evidence, [&ratio.of, &ratio.to])
    }

    fn check_value(&self, store: &String, values: &Values) -> Evidence {
        let outcome = CheckOutcome::judge(self.terms, |terms| {
            let mean = self.series(store).and_then(|series| mean_on(series, terms));
            mean.map_or(Outcome::Missing, |(mean, rule)| values.range.judge(mean.value, rule))
        });
        let evidence = self.evidence(outcome, self.checked_figure(store).into_iter().collect(), None);
        self.with_missing(evidence, [store])
    }
}

/// Checks that the winners are the named ones; each item says whether a winner is named.
fn judge_winners(are_named: impl Iterator<Item = bool>) -> Outcome {
    let are_named: Vec<bool> = are_named.collect();
    match (are_named.iter().all(|is_named| *is_named), are_named.contains(&true)) {
        (true, _) => Outcome::Agrees,
        (false, true) => Outcome::Close,
        (false, false) => Outcome::Disagrees,
    }
}

/// `sqlite at 1B..1KiB, 100 records, compressible`
pub(super) fn store_at(store: &str, spot: &Position) -> String {
    let spot = spot.to_string();
    if spot.is_empty() { store.to_owned() } else { format!("{store} at {spot}") }
}

/// A contest's series, in the order of the stores.
pub(super) fn order_series<K: Ord + Copy>(
    stores: &[String],
    series_by_store: &BTreeMap<&str, &Series<K>>,
) -> Vec<Series<K>> {
    let series =
        |store: &String| series_by_store.get(store.as_str()).map_or_else(Series::new, |s| (*s).clone());
    stores.iter().map(series).collect()
}
