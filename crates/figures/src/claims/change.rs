//! Checks that compare two values of an axis, all other values being equal.

use std::collections::BTreeMap;

use storebench_model::axis::Role;

use super::claim::{Average, Claim};
use super::contest::{checked_figure, store_at};
use super::expect::{Expect, Greatest, MoreWins, Ratio};
use super::figure::Figure;
use super::pair::{CheckOutcome, find_ratio, judge_ratio, mean_on, worst_outcome};
use super::pool::{AveragedColumns, Pool, average};
use super::region::canonical;
use super::verdict::{CheckedFigure, Evidence, Outcome};
use crate::column::Unit;
use crate::judge::standing::{self, FewBlocksRule, Terms};
use crate::layout::Position;
use crate::stats::{Better, Resolution, Scatter, Series};

/// One side of a comparison: the figures, and the value of the axis.
pub(super) struct SideFigures<'p, K> {
    pub pools: Vec<&'p Pool<K>>,
    pub value: String,
}

impl<'p, K> SideFigures<'p, K> {
    fn series(&self, position: Option<&Position>, store: &str) -> Option<&'p Series<K>> {
        let position = position?;
        self.pools.iter().find_map(|pool| {
            let series = pool.cells.get(position)?.get(store)?;
            (!series.is_empty()).then_some(series)
        })
    }
}

/// The positions that differ only in the axis: one with each of its two values.
pub(super) struct ComparisonPair {
    pub spot: Position,
    pub a: Option<Position>,
    pub b: Option<Position>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SideName {
    A,
    B,
}

/// The means over comparisons and stores on both sides, and the number of each.
struct MeanFigures<K> {
    a: Series<K>,
    b: Series<K>,
    positions: Vec<Position>,
    stores: usize,
}

pub(super) struct Change<'p, K> {
    pub claim: &'p Claim,
    pub figure: &'p Figure,
    pub stores: &'p [String],
    pub a: SideFigures<'p, K>,
    pub b: SideFigures<'p, K>,
    pub pairs: Vec<ComparisonPair>,
    pub terms: Terms,
}

type Columns<'p, K> = BTreeMap<(&'p str, SideName), &'p Series<K>>;

impl<'p, K: Ord + Copy> Change<'p, K> {
    /// Checks the expectation; empty if it compares stores.
    pub fn check(&self) -> Vec<Evidence> {
        match &self.claim.expect {
            Expect::Ratio(ratio) => self.check_ratios(ratio),
            Expect::Unchanged(_) => self.check_unchanged(),
            Expect::MoreWins(more) => vec![self.check_more_wins(more)],
            Expect::Greatest(greatest) => vec![self.check_greatest(greatest)],
            _ => Vec::new(),
        }
    }

    fn evidence(&self, spot: &Position, outcome: CheckOutcome, shown: Vec<CheckedFigure>) -> Evidence {
        Evidence::new(self.figure, spot, outcome, shown)
    }

    /// The figures of the stores that have them on both sides.
    fn columns(&self, pair: &ComparisonPair, stores: &'p [String]) -> Columns<'p, K> {
        let columns = stores.iter().filter_map(|store| {
            let (a, b) = (self.a.series(pair.a.as_ref(), store)?, self.b.series(pair.b.as_ref(), store)?);
            Some([((store.as_str(), SideName::A), a), ((store.as_str(), SideName::B), b)])
        });
        columns.flatten().collect()
    }

    /// The figures that a comparison lacks, each with the value of the axis.
    fn missing_figures(&self, pair: &ComparisonPair, stores: &[String]) -> Vec<String> {
        let side = |side: &SideFigures<'p, K>, position: Option<&Position>| {
            let missing_stores = stores.iter().filter(move |store| side.series(position, store).is_none());
            missing_stores
                .map(|store| format!("{}, {}", store_at(store, &pair.spot), side.value))
                .collect::<Vec<_>>()
        };
        [side(&self.a, pair.a.as_ref()), side(&self.b, pair.b.as_ref())].concat()
    }

    /// The comparisons by the halves of a matrix, such as the kinds of data, which are averaged separately.
    fn pairs_by_half(&self) -> BTreeMap<Position, Vec<&ComparisonPair>> {
        let mut halves: BTreeMap<Position, Vec<&ComparisonPair>> = BTreeMap::new();
        for pair in &self.pairs {
            halves.entry(pair.spot.values_by_role(Role::Half)).or_default().push(pair);
        }
        halves
    }

    fn average(
        &self,
        pairs: &[&ComparisonPair],
        stores: &'p [String],
    ) -> AveragedColumns<(&'p str, SideName), K> {
        // Either position identifies the comparison; both sides exist, so the first one's is used.
        let columns = pairs.iter().filter_map(|pair| Some((pair.a.clone()?, self.columns(pair, stores))));
        average(&columns.collect())
    }

    fn check_ratios(&self, ratio: &'p Ratio) -> Vec<Evidence> {
        let stores = if ratio.stores.is_empty() { self.stores } else { &ratio.stores };
        match self.claim.average {
            Average::None => {
                let pairs = self.pairs.iter();
                pairs.flat_map(|pair| self.check_ratios_at(ratio, pair, stores)).collect()
            }
            Average::Comparisons => self
                .pairs_by_half()
                .iter()
                .flat_map(|(spot, pairs)| self.check_ratios_of_means(ratio, spot, pairs, stores))
                .collect(),
            Average::Stores => self
                .pairs_by_half()
                .iter()
                .map(|(spot, pairs)| self.check_ratio_of_stores(ratio, spot, pairs, stores))
                .collect(),
        }
    }

    /// Checks that `a` is a multiple of `b` within the range; both of one store, or averaged.
    fn check_ratio(
        &self,
        ratio: &Ratio,
        spot: &Position,
        store: Option<&str>,
        (a, b): (&Series<K>, &Series<K>),
        terms: Terms,
    ) -> Evidence {
        let outcome = CheckOutcome::judge(terms, |terms| judge_ratio(find_ratio(a, b, terms), &ratio.range));
        let sides = [(&self.a.value, a), (&self.b.value, b)];
        let describe = |value: &str| store.map_or(value.to_owned(), |store| format!("{store}, {value}"));
        let figures = sides.into_iter().filter_map(|(value, series)| checked_figure(describe(value), series));
        let times = find_ratio(a, b, terms).map(|times| times.ratio);
        Evidence { times, ..self.evidence(spot, outcome, figures.collect()) }
    }

    /// The terms for means, whose scatter differs from that of single comparisons: only their own counts.
    fn terms_of_means<'s>(&self, means: impl IntoIterator<Item = &'s Series<K>>) -> Terms
    where
        K: 's,
    {
        Terms { few: FewBlocksRule::Scatter(Scatter::from_cells(means)), ..self.terms }
    }

    fn check_ratios_at(&self, ratio: &Ratio, pair: &ComparisonPair, stores: &[String]) -> Vec<Evidence> {
        let check_store = |store: &String| match (
            self.a.series(pair.a.as_ref(), store),
            self.b.series(pair.b.as_ref(), store),
        ) {
            (Some(a), Some(b)) => {
                let covers = pair.a.iter().cloned().collect();
                Evidence { covers, ..self.check_ratio(ratio, &pair.spot, Some(store), (a, b), self.terms) }
            }
            _ => Evidence {
                missing: self.missing_figures(pair, std::slice::from_ref(store)),
                ..self.evidence(&pair.spot, CheckOutcome::MISSING, Vec::new())
            },
        };
        stores.iter().map(check_store).collect()
    }

    fn check_ratios_of_means(
        &self,
        ratio: &Ratio,
        spot: &Position,
        pairs: &[&ComparisonPair],
        stores: &'p [String],
    ) -> Vec<Evidence> {
        let averages: Vec<AveragedColumns<(&'p str, SideName), K>> =
            stores.iter().map(|store| self.average(pairs, std::slice::from_ref(store))).collect();
        let terms = self.terms_of_means(averages.iter().flat_map(|average| average.series.values()));
        let check_store = |(store, average): (&'p String, AveragedColumns<(&'p str, SideName), K>)| {
            let sides =
                (average.series.get(&(store, SideName::A)), average.series.get(&(store, SideName::B)));
            let evidence = match sides {
                (Some(a), Some(b)) => self.check_ratio(ratio, spot, Some(store), (a, b), terms),
                _ => self.evidence(spot, CheckOutcome::MISSING, Vec::new()),
            };
            let missing =
                pairs.iter().flat_map(|pair| self.missing_figures(pair, std::slice::from_ref(store)));
            let averaged = Some(average.positions.len());
            Evidence { averaged, missing: missing.collect(), covers: average.positions, ..evidence }
        };
        stores.iter().zip(averages).map(check_store).collect()
    }

    fn check_ratio_of_stores(
        &self,
        ratio: &Ratio,
        spot: &Position,
        pairs: &[&ComparisonPair],
        stores: &'p [String],
    ) -> Evidence {
        let MeanFigures { a, b, positions: averaged, stores: averaged_stores } =
            self.mean_over_stores(pairs, stores);
        let missing = pairs.iter().flat_map(|pair| self.missing_figures(pair, stores)).collect();
        let mut evidence = self.check_ratio(ratio, spot, None, (&a, &b), self.terms_of_means([&a, &b]));
        if averaged_stores < stores.len() {
            (evidence.outcome, evidence.leaning) = (Outcome::Missing, Outcome::Missing);
        }
        let (averaged, covers) = (Some(averaged.len()), averaged);
        let averaged_stores = Some(averaged_stores);
        Evidence { averaged, averaged_stores, missing, covers, ..evidence }
    }

    /// The means over comparisons and stores; also the number of stores, as one without any figure can't be averaged.
    fn mean_over_stores(&self, pairs: &[&ComparisonPair], stores: &'p [String]) -> MeanFigures<K> {
        let average = self.average(pairs, stores);
        let side = |name: SideName| -> Series<K> {
            let columns: Vec<&Series<K>> =
                average.series.iter().filter(|((_, side), _)| *side == name).map(|(_, s)| s).collect();
            let blocks = columns.first().into_iter().flat_map(|series| series.keys());
            let sum = |block: &K| columns.iter().filter_map(|series| series.get(block)).sum::<f64>();
            blocks.map(|block| (*block, sum(block) / columns.len() as f64)).collect()
        };
        MeanFigures {
            a: side(SideName::A),
            b: side(SideName::B),
            positions: average.positions,
            stores: average.series.len() / 2,
        }
    }

    fn check_unchanged(&self) -> Vec<Evidence> {
        if self.claim.average == Average::None {
            let check_pair = |pair: &ComparisonPair| {
                self.check_unchanged_at(&pair.spot, &self.columns(pair, self.stores), &[pair], self.terms)
            };
            let covers = |pair: &ComparisonPair| pair.a.iter().cloned().collect();
            let pairs = self.pairs.iter();
            return pairs.map(|pair| Evidence { covers: covers(pair), ..check_pair(pair) }).collect();
        }
        let check_half = |(spot, pairs): (&Position, &Vec<&ComparisonPair>)| {
            let average = self.average(pairs, self.stores);
            let columns = average.series.iter().map(|(column, series)| (*column, series)).collect();
            let averaged = Some(average.positions.len());
            let terms = self.terms_of_means(average.series.values());
            let evidence = self.check_unchanged_at(spot, &columns, pairs, terms);
            Evidence { averaged, covers: average.positions, ..evidence }
        };
        self.pairs_by_half().iter().map(check_half).collect()
    }

    fn check_unchanged_at(
        &self,
        spot: &Position,
        columns: &BTreeMap<(&'p str, SideName), &Series<K>>,
        pairs: &[&ComparisonPair],
        terms: Terms,
    ) -> Evidence {
        let lenient = Terms { few: FewBlocksRule::Threshold, crowded: false, ..terms };
        let (Some(a), Some(b)) =
            (self.best(columns, SideName::A, lenient), self.best(columns, SideName::B, lenient))
        else {
            let missing = pairs.iter().flat_map(|pair| self.missing_figures(pair, self.stores)).collect();
            return Evidence { missing, ..self.evidence(spot, CheckOutcome::MISSING, Vec::new()) };
        };
        let outcome = CheckOutcome::judge(terms, |terms| {
            match (self.best(columns, SideName::A, terms), self.best(columns, SideName::B, terms)) {
                (Some(a), Some(b)) if a.iter().any(|store| b.contains(store)) => {
                    if a.len() == 1 && b.len() == 1 { Outcome::Agrees } else { Outcome::Close }
                }
                (Some(_), Some(_)) => Outcome::Disagrees,
                _ => Outcome::Missing,
            }
        });
        let best_figure = |winners: &[&'p str], side, value: &str| {
            let store = winners.first()?;
            checked_figure(format!("{store}, {value}"), columns.get(&(store, side))?)
        };
        let sides =
            [best_figure(&a, SideName::A, &self.a.value), best_figure(&b, SideName::B, &self.b.value)];
        self.evidence(spot, outcome, sides.into_iter().flatten().collect())
    }

    /// The best stores of a side, if all stores have figures.
    fn best(
        &self,
        columns: &BTreeMap<(&'p str, SideName), &Series<K>>,
        side: SideName,
        terms: Terms,
    ) -> Option<Vec<&'p str>> {
        let series = self.stores.iter().map(|store| Some((*columns.get(&(store, side))?).clone()));
        let best = standing::best(&series.collect::<Option<Vec<_>>>()?, self.figure.column.better, terms);
        Some(best.into_iter().map(|index| self.stores[index].as_str()).collect())
    }

    fn check_more_wins(&self, more: &MoreWins) -> Evidence {
        let (mut missing, mut covers) = (Vec::new(), Vec::new());
        for pair in &self.pairs {
            let missing_here = self.missing_figures(pair, self.stores);
            if missing_here.is_empty() {
                covers.extend(pair.a.clone());
            }
            missing.extend(missing_here);
        }
        let outcome =
            CheckOutcome::judge(self.terms, |terms| self.count_wins(more, terms).outcome(self.pairs.len()));
        let wins =
            self.count_wins(more, Terms { few: FewBlocksRule::Threshold, crowded: false, ..self.terms });
        let count = |value: &str, wins: u32| CheckedFigure {
            who: format!("{} wins at {value}", more.store),
            value: wins.into(),
            interval: None,
        };
        let shown = vec![count(&self.a.value, wins.a.1), count(&self.b.value, wins.b.1)];
        Evidence { unit: Unit::Count, missing, covers, ..self.evidence(&Position::default(), outcome, shown) }
    }

    fn count_wins(&self, more: &MoreWins, terms: Terms) -> WinCounts {
        let mut wins = WinCounts::default();
        for pair in &self.pairs {
            let columns = self.columns(pair, self.stores);
            let best = |side| self.best(&columns, side, terms);
            let (Some(a), Some(b)) = (best(SideName::A), best(SideName::B)) else {
                wins.undecided += 1;
                continue;
            };
            for (counts, winners) in [(&mut wins.a, a), (&mut wins.b, b)] {
                let won = winners.contains(&more.store.as_str());
                counts.0 += u32::from(won && winners.len() == 1);
                counts.1 += u32::from(won);
            }
        }
        wins
    }

    fn check_greatest(&self, greatest: &Greatest) -> Evidence {
        let mut pairs_by_value: BTreeMap<Position, Vec<&ComparisonPair>> = BTreeMap::new();
        for pair in &self.pairs {
            pairs_by_value.entry(pair.spot.only_axis(greatest.along)).or_default().push(pair);
        }
        let values: Vec<String> =
            pairs_by_value.keys().map(|spot| spot.text(greatest.along).to_owned()).collect();
        let means: Vec<MeanFigures<K>> =
            pairs_by_value.values().map(|pairs| self.mean_over_stores(pairs, self.stores)).collect();
        let ratios: Vec<Series<K>> = means.iter().map(MeanFigures::ratios).collect();
        // Ratios have no clock resolution.
        let terms = Terms { resolution: Resolution::default(), ..self.terms_of_means(&ratios) };
        let is_complete = means.iter().all(|means| means.stores == self.stores.len() || means.a.is_empty());
        let wanted = canonical(greatest.along, &greatest.value).unwrap_or_default();
        let wanted_ratios =
            values.iter().zip(&ratios).find(|(value, ratios)| **value == wanted && !ratios.is_empty());
        let has_others =
            values.iter().zip(&ratios).any(|(value, ratios)| *value != wanted && !ratios.is_empty());
        let missing = || self.pairs.iter().flat_map(|pair| self.missing_figures(pair, self.stores));
        let (outcome, missing) = match wanted_ratios {
            None => (CheckOutcome::MISSING, vec![format!("{} {wanted}", greatest.along)]),
            _ if !has_others => {
                (CheckOutcome::MISSING, vec![format!("another {} than {wanted}", greatest.along)])
            }
            _ if !is_complete => (CheckOutcome::MISSING, missing().collect()),
            Some((_, series)) => {
                let outcome = CheckOutcome::judge(terms, |terms| {
                    let rank = is_greatest(&values, &ratios, &wanted, terms);
                    worst_outcome([rank, check_range(series, greatest, terms)])
                });
                (outcome, Vec::new())
            }
        };
        let shown = values.iter().zip(&ratios);
        let shown =
            shown.filter_map(|(value, ratios)| checked_figure(format!("times at {value}"), ratios)).collect();
        let covers = means.into_iter().flat_map(|means| means.positions).collect();
        Evidence { unit: Unit::Count, missing, covers, ..self.evidence(&Position::default(), outcome, shown) }
    }
}

impl<K: Ord + Copy> MeanFigures<K> {
    fn ratios(&self) -> Series<K> {
        let ratio = |(block, a): (&K, &f64)| Some((*block, a / self.b.get(block).filter(|b| **b > 0.0)?));
        self.a.iter().filter_map(ratio).collect()
    }
}

/// The wins of a store on either side, alone, and alone or tied; and the comparisons with missing figures.
#[derive(Default)]
struct WinCounts {
    a: (u32, u32),
    b: (u32, u32),
    undecided: u32,
}

impl WinCounts {
    /// Whether it wins more often on the first side.
    fn outcome(&self, pairs: usize) -> Outcome {
        match self.undecided {
            _ if pairs == self.undecided as usize => Outcome::Missing,
            _ if self.a.0 > self.b.1 + self.undecided => Outcome::Agrees,
            _ if self.a.1 + self.undecided <= self.b.0 => Outcome::Disagrees,
            0 => Outcome::Close,
            _ => Outcome::Missing,
        }
    }
}

/// Whether the ratio is greatest at one value.
fn is_greatest<K: Ord>(values: &[String], ratios: &[Series<K>], wanted: &str, terms: Terms) -> Outcome {
    let best = standing::best(ratios, Better::Higher, terms).into_iter();
    let best: Vec<&str> = best.map(|index| values[index].as_str()).collect();
    match best.as_slice() {
        [only] if *only == wanted => Outcome::Agrees,
        several if several.contains(&wanted) => Outcome::Close,
        _ => Outcome::Disagrees,
    }
}

/// Whether it is as great there as it should be.
fn check_range<K>(ratios: &Series<K>, greatest: &Greatest, terms: Terms) -> Outcome {
    let Some(range) = &greatest.range else { return Outcome::Agrees };
    mean_on(ratios, terms).map_or(Outcome::Missing, |(mean, rule)| range.judge(mean.value, rule))
}
