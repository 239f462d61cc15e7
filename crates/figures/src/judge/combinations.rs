//! Decides which store is best over several combinations, such as of record size and count; each is a ranking, the best first.

use indexmap::IndexMap;

use super::Rule;
use super::standing::{Contender, is_decided, winners};
use crate::stats::geometric_mean;

/// A store within this factor of the best is near it.
const NEAR_FACTOR: f64 = 1.2;

pub fn contender<'a>(ranked: &'a [Contender], store: &str) -> Option<&'a Contender> {
    ranked.iter().find(|contender| contender.store == store)
}

/// The factor by which a store is worse than the best; 1 for the best itself.
pub fn times_worse(ranked: &[Contender], store: &str) -> Option<f64> {
    match ranked.iter().position(|contender| contender.store == store)? {
        0 => Some(1.0),
        position => Some(ranked[position].times_worse?.ratio.value),
    }
}

/// Whether a store is, or may be, the best.
pub fn is_won_by(ranked: &[Contender], store: &str) -> bool {
    contender(ranked, store).is_some_and(|contender| contender.verdict.wins())
}

/// Whether a store is, or may be, the best, or is hardly worse.
fn is_near(ranked: &[Contender], store: &str) -> bool {
    is_won_by(ranked, store) || times_worse(ranked, store).is_some_and(|times| times <= NEAR_FACTOR)
}

/// What several combinations show together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CombinedVerdict {
    /// In some, a single store is the best.
    Decided,
    /// The scatter of trials is unknown in all.
    Open,
    /// No stores can be separated in any.
    Alike,
    /// In each, several stores may be the best.
    Close,
}

pub fn combine_verdicts(rankings: &[&[Contender]]) -> CombinedVerdict {
    let is_open = |contender: &Contender| matches!(contender.verdict.rule(), None | Some(Rule::Open));
    let contenders = || rankings.iter().flat_map(|ranked| ranked.iter());
    match () {
        () if rankings.iter().any(|ranked| winners(ranked).count() < 2) => CombinedVerdict::Decided,
        () if contenders().all(is_open) => CombinedVerdict::Open,
        () if contenders().all(|contender| contender.verdict.wins()) => CombinedVerdict::Alike,
        () => CombinedVerdict::Close,
    }
}

/// Whether so many combinations won are enough to be preferred: at least half.
pub fn is_won_mostly(won: usize, total: usize) -> bool {
    won * 2 >= total
}

/// Whether a preferred store is the best alone in more than half, or is preferred for being near the best throughout: in the rest
/// another may look better.
fn is_sure(rankings: &[&[Contender]], store: &str) -> bool {
    let won: Vec<_> = rankings.iter().filter(|ranked| is_won_by(ranked, store)).collect();
    let alone = won.iter().filter(|ranked| is_decided(ranked)).count();
    won.len() * 2 < rankings.len() || alone * 2 > rankings.len()
}

/// The stores tied with a preferred one, the most frequent first.
fn rivals<'a>(rankings: &[&'a [Contender]], store: &str) -> Vec<&'a str> {
    let mut tally: IndexMap<&str, usize> = IndexMap::new();
    for ranked in rankings.iter().filter(|ranked| is_won_by(ranked, store)) {
        let others = winners(ranked).filter(|winner| winner.store != store);
        others.for_each(|winner| *tally.entry(&winner.store).or_default() += 1);
    }
    tally.sort_by_cached_key(|_, times| std::cmp::Reverse(*times));
    tally.into_keys().collect()
}

/// Of the stores that win at least half of the combinations the one nearest to the best over all; or else the one that stays near the
/// best; `None` if none does.
fn preferred_store<'a>(rankings: &[&'a [Contender]]) -> Option<&'a str> {
    let frequent = in_half(rankings, |_, contender| contender.verdict.wins());
    if let Some(first) = frequent.first() {
        return nearest_store(rankings, &frequent).map(|(store, _)| store).or(Some(first));
    }
    let measured = in_half(rankings, |ranked, contender| times_worse(ranked, &contender.store).is_some());
    let (store, times) = nearest_store(rankings, &measured)?;
    let factors: Vec<f64> = rankings.iter().filter_map(|ranked| times_worse(ranked, store)).collect();
    (times <= NEAR_FACTOR && geometric_mean(&factors).is_some_and(|mean| mean.value <= NEAR_FACTOR))
        .then_some(store)
}

/// The preferred store, and the stores tied with it over all combinations: in some, and hardly worse than the best in any. There are none
/// if the preferred one is the best alone in most. `None` if none is preferred.
pub fn leaders<'a>(rankings: &[&'a [Contender]]) -> Option<(&'a str, Vec<&'a str>)> {
    let first = preferred_store(rankings)?;
    let mut close = rivals(rankings, first);
    close.retain(|store| rankings.iter().all(|ranked| is_near(ranked, store)));
    Some((first, if is_sure(rankings, first) { Vec::new() } else { close }))
}

/// The stores that are wanted in at least half of the combinations.
fn in_half<'a>(
    rankings: &[&'a [Contender]],
    is_wanted: impl Fn(&[Contender], &Contender) -> bool,
) -> Vec<&'a str> {
    let mut tally: IndexMap<&str, usize> = IndexMap::new();
    for ranked in rankings {
        let wanted = ranked.iter().filter(|contender| is_wanted(ranked, contender));
        wanted.for_each(|contender| *tally.entry(&contender.store).or_default() += 1);
    }
    tally.retain(|_, times| is_won_mostly(*times, rankings.len()));
    tally.into_keys().collect()
}

/// The best overall among some stores, and its factor to the best: a geometric mean over the combinations in which all of them have a
/// figure, so that missing figures favour none. Combinations differ, so there is no interval.
fn nearest_store<'a>(rankings: &[&'a [Contender]], stores: &[&'a str]) -> Option<(&'a str, f64)> {
    let ratios = |ranked: &&[Contender]| -> Option<Vec<f64>> {
        stores.iter().map(|store| times_worse(ranked, store)).collect()
    };
    let shared: Vec<Vec<f64>> = rankings.iter().filter_map(ratios).collect();
    let mean = |(index, store): (usize, &&'a str)| {
        let factors: Vec<f64> = shared.iter().map(|ratios| ratios[index]).collect();
        Some((*store, geometric_mean(&factors)?.value))
    };
    stores.iter().enumerate().filter_map(mean).min_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Verdict;
    use crate::judge::standing::tests::contest;

    /// Three combinations, at the figures of these stores.
    fn three(figures: [[(&str, f64); 2]; 3]) -> Vec<Vec<Contender>> {
        figures.into_iter().map(|stores| contest(&stores)).collect()
    }

    fn slices(rankings: &[Vec<Contender>]) -> Vec<&[Contender]> {
        rankings.iter().map(Vec::as_slice).collect()
    }

    #[test]
    fn who_wins_half_is_preferred_and_who_stays_near_where_none_does() {
        let lmdb = three([
            [("lmdb", 1.0), ("redb", 2.0)],
            [("lmdb", 1.0), ("redb", 2.0)],
            [("redb", 1.0), ("lmdb", 5.0)],
        ]);
        let lmdb = slices(&lmdb);
        assert_eq!((preferred_store(&lmdb), is_sure(&lmdb, "lmdb")), (Some("lmdb"), true));
        assert!(is_sure(&lmdb, "redb") && rivals(&lmdb, "lmdb").is_empty());
        let half = [contest(&[("lmdb", 1.0), ("redb", 2.0)]), contest(&[("redb", 1.0), ("lmdb", 1.0)])];
        assert!(!is_sure(&slices(&half), "lmdb") && !is_sure(&slices(&half[1..]), "lmdb"));
        assert_eq!((times_worse(lmdb[2], "lmdb"), is_won_by(lmdb[2], "lmdb")), (Some(5.0), false));
        let others = [
            contest(&[("a", 1.0), ("near", 1.1), ("b", 3.0)]),
            contest(&[("b", 1.0), ("near", 1.1), ("a", 3.0)]),
            contest(&[("c", 1.0), ("near", 1.1), ("a", 3.0), ("b", 3.0)]),
        ];
        let others = slices(&others);
        assert!(preferred_store(&others) == Some("near") && is_sure(&others, "near"));
        assert!(is_near(others[0], "near") && !is_near(others[0], "b"));
        let oftener = [
            contest(&[("often", 1.0), ("nearer", 1.4)]),
            contest(&[("often", 1.0), ("nearer", 1.0)]),
            contest(&[("often", 1.0), ("nearer", 1.0)]),
            contest(&[("best", 1.0), ("nearer", 2.0), ("often", 9.0)]),
        ];
        assert_eq!(preferred_store(&slices(&oftener)), Some("nearer"), "wins half, and is nearer in all");
    }

    #[test]
    fn leaders_are_close_in_all_combinations() {
        let rankings = [
            contest(&[("a", 1.0), ("b", 1.0), ("c", 1.0)]),
            contest(&[("a", 1.0), ("b", 1.1), ("c", 3.0)]),
            contest(&[("a", 1.0), ("b", 1.0), ("c", 1.0)]),
        ];
        // The last ties in two, and is far behind in one.
        assert_eq!(leaders(&slices(&rankings)), Some(("a", vec!["b"])));
        assert_eq!(leaders(&slices(&rankings[1..2])), Some(("a", vec![])), "a is best by itself");
        assert_eq!(leaders(&[]), None);
    }

    #[test]
    fn stores_that_tie_everywhere_are_alike_and_those_of_too_few_trials_open() {
        let mut rankings = three([[("lmdb", 1.0), ("redb", 1.0)]; 3]);
        assert_eq!(combine_verdicts(&slices(&rankings)), CombinedVerdict::Alike);
        assert_eq!(rivals(&slices(&rankings), "lmdb"), ["redb"]);
        rankings.push(contest(&[("lmdb", 1.0), ("redb", 1.0), ("sqlite", 9.0)]));
        assert_eq!(combine_verdicts(&slices(&rankings)), CombinedVerdict::Close);
        rankings.push(contest(&[("lmdb", 1.0), ("redb", 9.0)]));
        assert_eq!(combine_verdicts(&slices(&rankings)), CombinedVerdict::Decided);
        let mut open = contest(&[("lmdb", 1.0), ("redb", 1.0)]);
        open[1].verdict = Verdict::Candidate(Rule::Open);
        assert_eq!(combine_verdicts(&[&open]), CombinedVerdict::Open);
    }
}
