//! Checks claims against the figures of runs.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexSet;
use storebench_model::axis::{Axis, Role};

use super::change::{Change, ComparisonPair, SideFigures};
use super::claim::{Average, Claim};
use super::contest::{StoreComparison, order_series, store_at};
use super::design::Design;
use super::expect::{Expect, MoreAt};
use super::figure::Figure;
use super::pair::CheckOutcome;
use super::pool::{Pool, Scope, average, strictest_terms};
use super::region::canonical;
use super::verdict::{CheckTally, CheckedFigure, Evidence, Finding, Outcome, Verdict};
use crate::column::Unit;
use crate::judge::standing::{FewBlocksRule, Terms};
use crate::layout::Position;
use crate::stats::{Scatter, Series};

/// Checks a claim. `pools` returns the comparable figures, one figure at a time in the same order; `study_stores` names the stores that the
/// study's claims compare; `design` is what it covers in full: with too little of it measured there is no verdict. A finding for each pool
/// that the claim covers, or for each set of pools that differ only in the axis whose values it compares.
pub fn evaluate<'p, K: Ord + Copy + 'p>(
    claim: &Claim,
    study_stores: &[String],
    design: Option<&Design>,
    pools: &dyn Fn(&Figure) -> &'p [Pool<K>],
) -> Vec<Finding> {
    let mut scopes: Vec<(Scope, ScopeChecks)> = Vec::new();
    for figure in &claim.figure {
        let pools = pools(figure);
        let admitted: Vec<&Pool<K>> = pools.iter().filter(|pool| claim.admits(&pool.scope)).collect();
        for (scope, group) in group_pools(claim, &admitted) {
            let stores = compared_stores(claim, study_stores, &group);
            let (stores, without) = split_available(stores, &group);
            let needed = claim.needs(study_stores);
            let (evidence, missing) = match claim.expect.axis() {
                // A store that the claim itself names or averages over can't be left out.
                _ if without.iter().any(|(store, _)| needed.contains(store)) => Default::default(),
                None => check_contests(claim, figure, &stores, &group),
                Some(axis) => check_changes(claim, figure, &stores, &group, axis),
            };
            let index = scopes.iter().position(|(other, _)| *other == scope);
            let index = index.unwrap_or_else(|| {
                scopes.push((scope, ScopeChecks::default()));
                scopes.len() - 1
            });
            let behind =
                group.iter().flat_map(|pool| &pool.behind).filter(|(store, _)| stores.contains(store));
            let behind = behind.map(|(store, how_far)| format!("{store}: {how_far}"));
            let checks = &mut scopes[index].1;
            checks.evidence.extend(evidence);
            checks.crowded |= group.iter().any(|pool| pool.terms.crowded);
            add_new(&mut checks.missing, missing);
            add_new(&mut checks.behind, behind);
            add_new(&mut checks.without, without);
        }
    }
    scopes.into_iter().map(|(scope, checks)| build_finding(claim, design, scope, checks)).collect()
}

#[derive(Default)]
struct ScopeChecks {
    evidence: Vec<Evidence>,
    missing: Vec<String>,
    behind: Vec<String>,
    without: Vec<(String, String)>,
    crowded: bool,
}

fn add_new<T: PartialEq>(items: &mut Vec<T>, additions: impl IntoIterator<Item = T>) {
    for item in additions {
        if !items.contains(&item) {
            items.push(item);
        }
    }
}

fn build_finding(claim: &Claim, design: Option<&Design>, scope: Scope, checks: ScopeChecks) -> Finding {
    let ScopeChecks { evidence, missing, behind, without, crowded } = checks;
    let coverage = design.and_then(|design| design.coverage(claim, &evidence));
    let evidence = match &claim.expect {
        Expect::MoreAt(more) => check_more_at(more, evidence),
        _ => evidence,
    };
    let (tally, leaning) = (CheckTally::count_settled(&evidence), CheckTally::count_leaning(&evidence));
    let so_far = leaning.verdict(claim.share.0);
    let verdict = match &coverage {
        Some(coverage) if !claim.is_covered(coverage) => Verdict::Unknown,
        _ => tally.verdict(claim.share.0),
    };
    Finding { scope, verdict, so_far, coverage, tally, leaning, evidence, missing, without, behind, crowded }
}

/// Checks whether the stores win a larger share of the combinations by one figure than by the others, from the checks of winners.
fn check_more_at(expected: &MoreAt, checks: Vec<Evidence>) -> Vec<Evidence> {
    if checks.is_empty() {
        return checks;
    }
    let figure = expected.figure.to_string();
    let missing = checks.iter().flat_map(|check| check.missing.iter().cloned()).collect();
    let (at_figure, at_others): (Vec<Evidence>, Vec<Evidence>) =
        checks.into_iter().partition(|check| check.figure == figure);
    let outcome = CheckOutcome {
        settled: compare_shares(CheckTally::count_settled(&at_figure), CheckTally::count_settled(&at_others)),
        leaning: compare_shares(CheckTally::count_leaning(&at_figure), CheckTally::count_leaning(&at_others)),
    };
    let (at_figure, at_others) =
        (CheckTally::count_leaning(&at_figure), CheckTally::count_leaning(&at_others));
    let describe_share =
        |who: String, tally: CheckTally| CheckedFigure { who, value: certain_share(tally), interval: None };
    let shown = vec![
        describe_share(format!("best at {figure}"), at_figure),
        describe_share("at the others".into(), at_others),
    ];
    let evidence = Evidence::new(&expected.figure, &Position::default(), outcome, shown);
    vec![Evidence { unit: Unit::Share, missing, ..evidence }]
}

fn compare_shares(at_figure: CheckTally, at_others: CheckTally) -> Outcome {
    match () {
        () if at_figure.total() == 0 || at_others.total() == 0 => Outcome::Missing,
        () if certain_share(at_figure) > possible_share(at_others) => Outcome::Agrees,
        () if possible_share(at_figure) <= certain_share(at_others) => Outcome::Disagrees,
        () if at_figure.missing + at_others.missing > 0 => Outcome::Missing,
        () => Outcome::Close,
    }
}

/// The share that is certainly won.
fn certain_share(tally: CheckTally) -> f64 {
    share(tally.agree, tally)
}

/// The share that may be won, counting everything open.
fn possible_share(tally: CheckTally) -> f64 {
    share(tally.total() - tally.disagree, tally)
}

fn share(number: usize, tally: CheckTally) -> f64 {
    if tally.total() == 0 { 0.0 } else { number as f64 / tally.total() as f64 }
}

/// The pools of one finding: single ones, or those that differ only in the compared axis.
fn group_pools<'p, K>(claim: &Claim, pools: &[&'p Pool<K>]) -> Vec<(Scope, Vec<&'p Pool<K>>)> {
    let mut groups: Vec<(Scope, Vec<&Pool<K>>)> = Vec::new();
    for pool in pools {
        let scope =
            claim.expect.axis().map_or_else(|| pool.scope.clone(), |axis| pool.scope.without_axis(axis));
        match groups.iter_mut().find(|(other, _)| *other == scope) {
            Some((_, group)) => group.push(pool),
            None => groups.push((scope, vec![pool])),
        }
    }
    groups
}

/// Splits stores into those available in these pools, and the others with reasons.
fn split_available<K>(stores: Vec<String>, pools: &[&Pool<K>]) -> (Vec<String>, Vec<(String, String)>) {
    let find_reason =
        |store: &String| pools.iter().flat_map(|pool| &pool.cannot).find(|(name, _)| name == store);
    let without = stores.iter().filter_map(|store| find_reason(store).cloned()).collect();
    (stores.into_iter().filter(|store| find_reason(store).is_none()).collect(), without)
}

/// The compared stores: those named, or all that ran.
fn compared_stores<K>(claim: &Claim, study_stores: &[String], pools: &[&Pool<K>]) -> Vec<String> {
    let claimed = claim.compared(study_stores);
    if !claimed.is_empty() {
        return claimed.to_vec();
    }
    let stores = pools.iter().flat_map(|pool| &pool.stores).cloned().chain(claim.expect.stores());
    stores.collect::<IndexSet<String>>().into_iter().collect()
}

/// The checks of single comparisons or their means; and the parts of the region that don't exist.
fn check_contests<K: Ord + Copy>(
    claim: &Claim,
    figure: &Figure,
    stores: &[String],
    pools: &[&Pool<K>],
) -> (Vec<Evidence>, Vec<String>) {
    let mut places: BTreeMap<Position, BTreeMap<&str, &Series<K>>> = BTreeMap::new();
    for (position, cells) in pools.iter().flat_map(|pool| &pool.cells) {
        if claim.at.holds(position) {
            let series = places.entry(position.clone()).or_default();
            let measured = cells.iter().filter(|(store, s)| stores.contains(store) && !s.is_empty());
            series.extend(measured.map(|(store, series)| (store.as_str(), series)));
        }
    }
    if places.is_empty() {
        return (Vec::new(), vec![format!("a combination: {}", claim.at.places_in_words())]);
    }
    let terms = strictest_terms(pools);
    let mut evidence = Vec::new();
    if claim.average == Average::None {
        for (position, series) in &places {
            let spot = position.clone();
            let series = order_series(stores, series);
            let contest =
                StoreComparison { figure, spot, averaged: None, stores, series, terms, missing: Vec::new() };
            evidence.extend(note_combinations(vec![position.clone()], contest.check(&claim.expect)));
        }
        return (evidence, Vec::new());
    }
    let halves: BTreeSet<Position> =
        places.keys().map(|position| position.values_by_role(Role::Half)).collect();
    for half in halves {
        let half_places = places.iter().filter(|(position, _)| position.values_by_role(Role::Half) == half);
        let averages =
            average(&half_places.map(|(position, series)| (position.clone(), series.clone())).collect());
        let series: BTreeMap<&str, &Series<K>> =
            averages.series.iter().map(|(store, s)| (*store, s)).collect();
        let contest = StoreComparison {
            figure,
            spot: half,
            averaged: Some(averages.positions.len()),
            stores,
            series: order_series(stores, &series),
            terms: Terms {
                few: FewBlocksRule::Scatter(Scatter::from_cells(averages.series.values())),
                ..terms
            },
            missing: averages.missing.iter().map(|(position, store)| store_at(store, position)).collect(),
        };
        evidence.extend(note_combinations(averages.positions, contest.check(&claim.expect)));
    }
    (evidence, Vec::new())
}

fn note_combinations(places: Vec<Position>, evidence: Vec<Evidence>) -> impl Iterator<Item = Evidence> {
    evidence.into_iter().map(move |evidence| Evidence { covers: places.clone(), ..evidence })
}

/// The checks between two values of an axis.
fn check_changes<K: Ord + Copy>(
    claim: &Claim,
    figure: &Figure,
    stores: &[String],
    pools: &[&Pool<K>],
    axis: Axis,
) -> (Vec<Evidence>, Vec<String>) {
    let Some((a, b)) = claim.expect.sides() else { return Default::default() };
    // Both were checked when the plan was read.
    let to_canonical = |text: &str| canonical(axis, text).unwrap_or_else(|_| text.to_owned());
    let (a, b) = (to_canonical(a), to_canonical(b));
    let first = pools.iter().find_map(|pool| pool.cells.keys().next());
    let is_within = first.map_or(axis.role(), |position| position.role(axis)).is_within();
    let pools_with = |value: &str| -> Vec<&Pool<K>> {
        let fits = |pool: &&&Pool<K>| is_within || pool.scope.is_at(axis, value);
        pools.iter().filter(fits).copied().collect()
    };
    let side_a = SideFigures { pools: pools_with(&a), value: a.clone() };
    let side_b = SideFigures { pools: pools_with(&b), value: b.clone() };
    let mut pairs: BTreeMap<Position, ComparisonPair> = BTreeMap::new();
    for (side, value, is_a) in [(&side_a, &a, true), (&side_b, &b, false)] {
        let positions = side.pools.iter().flat_map(|pool| pool.cells.keys());
        for position in positions.filter(|position| claim.at.holds(position)) {
            if is_within && position.text(axis) != value {
                continue;
            }
            let spot = position.without_axis(axis);
            let pair = pairs.entry(spot.clone()).or_insert(ComparisonPair { spot, a: None, b: None });
            *(if is_a { &mut pair.a } else { &mut pair.b }) = Some(position.clone());
        }
    }
    let (lacks_a, lacks_b) =
        (pairs.values().all(|pair| pair.a.is_none()), pairs.values().all(|pair| pair.b.is_none()));
    let region = claim.at.places_in_words();
    let region = if region.is_empty() { region } else { format!(" ({region})") };
    let lacking = [(lacks_a, &a), (lacks_b, &b)].into_iter().filter(|(lacks, _)| *lacks);
    let missing: Vec<String> = lacking.map(|(_, value)| format!("{axis} {value}{region}")).collect();
    if !missing.is_empty() {
        return (Vec::new(), missing);
    }
    let pairs = pairs.into_values().collect();
    let terms = strictest_terms(pools);
    (Change { claim, figure, stores, a: side_a, b: side_b, pairs, terms }.check(), Vec::new())
}
