//! Chooses the trials beyond a run's plan: the pairs that are still undecided, first those that the next blocks are
//! most likely to decide for their time.
//!
//! A pair is examined only after planned numbers of blocks ([`interim`]), with intervals that allow for all of these: a
//! run that stops measuring a store as soon as it happens to look worse would be wrong too often. Between two analyses the
//! measured stores stay the same.

use std::collections::{BTreeMap, BTreeSet};

use storebench_host::run::Run;
use storebench_model::cell::Cell;
use storebench_model::result::RunHeader;
use storebench_model::store::StoreDef;

use super::findings::{are_as_shipped, check_at, scope};
use super::matrix::{Contest, ContestantTrials, SortedTrials, figures};
use super::merge::{Entry, Merged};
use crate::claims::{Claim, Finding, StudyClaims};
use crate::judge::interim::{self, InterimAnalysis};

/// The cells of the next block, as indices into `cells`, in running order; empty if nothing is
/// undecided, or no further analysis is planned. `precision`: each ratio that decides a winner must be known to within this
/// share; without it, a pair is decided once one store is better, or both are alike.
pub fn next(run: &Run, cells: &[Cell], stores: &[StoreDef], precision: Option<f64>) -> Vec<usize> {
    let runs = std::slice::from_ref(run);
    let merged = Merged::new(runs, stores);
    let index_by_id: BTreeMap<String, usize> =
        cells.iter().enumerate().map(|(index, cell)| (cell.id(), index)).collect();
    let mut comparisons: Vec<UndecidedComparison> = Vec::new();
    for group in &merged.groups {
        let sorted = SortedTrials::new(&merged, group);
        let figures = figures(&merged, group);
        for (position, contestants) in &sorted.entries {
            let contests = figures.iter().map(|(name, column)| sorted.early_contest(position, name, column));
            comparisons.extend(UndecidedComparison::find(&run.header, contestants, contests, precision));
        }
    }
    comparisons.sort_by(|a, b| b.worth.total_cmp(&a.worth));
    comparisons.iter().flat_map(|pair| &pair.cells).filter_map(|id| index_by_id.get(id).copied()).collect()
}

/// The cells of the next block if a plan goes on for its claims: at an interim analysis, the cells behind checks that are too close
/// to call; between two analyses, the cells of the block before. Empty if all claims are decided, or no block would decide them.
pub fn for_claims(run: &Run, cells: &[Cell], stores: &[StoreDef], claims: StudyClaims) -> Vec<usize> {
    let analyses = &run.header.interim_analyses;
    let blocks = run.trials.iter().map(|trial| trial.block + 1).max().unwrap_or_default();
    if analyses.last().is_none_or(|last| blocks >= *last) {
        return Vec::new();
    }
    let ids = if analyses.contains(&blocks) {
        close_cells(run, stores, claims)
    } else {
        let last_block = run.trials.iter().filter(|trial| trial.block + 1 == blocks);
        last_block.map(|trial| trial.cell.id()).collect()
    };
    let mut next: Vec<usize> = (0..cells.len()).filter(|index| ids.contains(&cells[*index].id())).collect();
    // No store is always the first of its block.
    let turn = blocks as usize % next.len().max(1);
    next.rotate_left(turn);
    next
}

/// The cells behind checks that are too close to call, by their ids.
fn close_cells(run: &Run, stores: &[StoreDef], claims: StudyClaims) -> BTreeSet<String> {
    let study_stores = claims.among.clone();
    let merged = Merged::new(std::slice::from_ref(run), stores).with_published(vec![claims], Vec::new());
    let studies = check_at(&merged, interim::levels(&[&run.header]).early);
    let checks = studies.iter().flat_map(|study| &study.checked);
    let findings = checks.flat_map(|check| check.findings.iter().map(move |finding| (check.claim, finding)));
    let open_findings: Vec<(&Claim, &Finding)> =
        findings.filter(|(claim, finding)| finding.is_open(claim)).collect();
    let mut ids = BTreeSet::new();
    for group in &merged.groups {
        let group_scope = scope(&group.key);
        for (position, contestants) in &SortedTrials::new(&merged, group).entries {
            for (claim, finding) in &open_findings {
                let compared = claim
                    .expect
                    .axis()
                    .map_or_else(|| group_scope.clone(), |axis| group_scope.without_axis(axis));
                let is_in_scope = compared == finding.scope || are_as_shipped(&compared, &finding.scope);
                if !is_in_scope || !finding.is_close_at(claim, position) {
                    continue;
                }
                let stores = claim.compared(&study_stores);
                let is_compared = |store: &str| stores.is_empty() || stores.iter().any(|name| name == store);
                let chosen = contestants.iter().filter(|(store, _)| is_compared(store));
                ids.extend(chosen.flat_map(|(_, entries)| entries.iter().map(|entry| entry.trial.cell.id())));
            }
        }
    }
    ids
}

struct UndecidedComparison {
    /// The ids of its cells that continue.
    cells: Vec<String>,
    /// How much the next analysis can decide per second of measuring.
    worth: f64,
}

impl UndecidedComparison {
    /// The contestants that continue at a position; `None` if none does.
    fn find(
        header: &RunHeader,
        contestants: &ContestantTrials<'_>,
        contests: impl Iterator<Item = Contest>,
        precision: Option<f64>,
    ) -> Option<UndecidedComparison> {
        let analyses = &header.interim_analyses;
        let blocks = contestants.values().map(|entries| entries.len()).max()? as u32;
        let (last, next) = (*analyses.last()?, analyses.iter().find(|planned| **planned > blocks));
        let next = *next.filter(|_| blocks < last)?;
        let levels = interim::levels(&[header]);
        let analysis_at = |blocks| InterimAnalysis {
            blocks,
            confidence: if blocks < last { levels.early } else { levels.end },
        };
        let (next, last) = (analysis_at(next), analysis_at(last));
        // A store that an earlier analysis gave up has fewer trials.
        let is_measured = |entries: &[Entry<'_>]| entries.len() as u32 == blocks;
        let mut chances: BTreeMap<String, f64> = BTreeMap::new();
        for contest in contests {
            for (store, chance) in interim::open(&contest.contenders, precision, (next, last)) {
                let best_chance = chances.entry(store.to_owned()).or_insert(chance);
                *best_chance = best_chance.max(chance);
            }
        }
        let continues = |store: &str| !analyses.contains(&blocks) || chances.contains_key(store);
        let continuing =
            contestants.iter().filter(|(store, entries)| is_measured(entries) && continues(store));
        let (mut cells, mut took_s) = (Vec::new(), 0.0);
        for (_, entries) in continuing {
            let Some(entry) = entries.first() else { continue };
            cells.push(entry.trial.cell.id());
            took_s += entries.iter().map(|entry| entry.trial.took_s()).sum::<f64>() / entries.len() as f64;
        }
        // No store is always the first of its block.
        let turn = blocks as usize % cells.len().max(1);
        cells.rotate_left(turn);
        let worth = chances.values().sum::<f64>() / took_s.max(f64::MIN_POSITIVE);
        (!cells.is_empty()).then_some(UndecidedComparison { cells, worth })
    }
}

#[cfg(test)]
mod tests {
    use storebench_model::store::{Danger, Guarantee, GuaranteeOffer, Loss};
    use storebench_model::units::CountRange;
    use storebench_samples::{Sample, blocks};

    use super::*;
    use crate::claims;

    /// A store, its time in ns, and the share and steps by which that varies from block to block.
    type Noisy = (&'static str, f64, f64, usize);

    const LMDB: Noisy = ("lmdb", 1000.0, 0.01, 1);
    const REDB: Noisy = ("redb", 1010.0, 0.01, 3);
    const SQLITE: Noisy = ("sqlite", 3000.0, 0.01, 2);

    /// The stores of the next block after so many blocks, given what is known of the stores.
    fn next_stores(
        table: &[StoreDef],
        count: usize,
        stores: &[Noisy],
        precision: Option<f64>,
    ) -> Vec<&'static str> {
        const KNOWN: [&str; 3] = ["lmdb", "redb", "sqlite"];
        let block = |number: usize| {
            let time = |(_, ns, share, step): &Noisy| noisy(*ns, *share, *step)(number);
            stores.iter().map(|store| Sample::new(store.0).ns(time(store))).collect()
        };
        let mut run = blocks("box", &(0..count).map(block).collect::<Vec<_>>());
        run.header.interim_analyses = interim::plan_open_analyses(1);
        let cells: Vec<Cell> = run.trials.iter().take(stores.len()).map(|trial| trial.cell.clone()).collect();
        let mut next: Vec<&str> = next(&run, &cells, table, precision)
            .into_iter()
            .filter_map(|index| KNOWN.into_iter().find(|store| *store == cells[index].store()))
            .collect();
        next.sort_unstable();
        next
    }

    /// Varies by this share from block to block, differently for each store.
    fn noisy(ns: f64, share: f64, step: usize) -> impl Fn(usize) -> f64 {
        move |block| ns * (1.0 + share * ((block * step) % 5) as f64)
    }

    #[test]
    fn what_is_told_is_measured_no_further_and_the_undecided_pair_is() {
        let all = [LMDB, REDB, SQLITE];
        let coarse = [("lmdb", 1000.0, 0.9, 1), ("redb", 1001.0, 0.9, 3)];
        let alike = [("lmdb", 1000.0, 0.05, 1), ("redb", 1040.0, 0.1, 3)];
        let exact = [("lmdb", 1000.0, 0.002, 1), ("redb", 1500.0, 0.0, 1)];
        let rough = [("lmdb", 1000.0, 0.2, 1), ("redb", 1500.0, 0.0, 1)];
        let precise = Some(0.05);
        type Case<'a> = (usize, &'a [Noisy], Option<f64>, &'a [&'a str], &'a str);
        let cases: [Case<'_>; 9] = [
            (5, &all, None, &["lmdb", "redb"], "the pair is too close to call"),
            (4, &all, None, &["lmdb", "redb", "sqlite"], "no analysis is planned"),
            (32, &all, None, &[], "the last analysis is over"),
            (5, &[LMDB, SQLITE], None, &[], "it is decided"),
            (12, &coarse, None, &[], "no budget decides it"),
            (5, &alike, None, &["lmdb", "redb"], "4 % apart, with as much noise, is not given up"),
            (2, &exact, precise, &["lmdb", "redb"], "two blocks are not enough"),
            (5, &exact, precise, &[], "the precision is reached"),
            (5, &rough, precise, &["lmdb", "redb"], "the precision is not reached"),
        ];
        for (count, stores, precision, expected, why) in cases {
            assert_eq!(next_stores(&[], count, stores, precision), expected, "{why}");
        }
    }

    #[test]
    fn a_riskier_store_is_no_rival() {
        const WHOLE: &[Danger] = &[Danger::new(Loss::Nothing, Loss::Whole, "it is made")];
        const OFFERS: &[GuaranteeOffer] =
            &[GuaranteeOffer::replacing_values(Guarantee::Process, "as made", WHOLE)];
        let table = [StoreDef { name: "lmdb", offers: OFFERS, ..StoreDef::DEFAULT }];
        assert_eq!(next_stores(&table, 5, &[LMDB, REDB, SQLITE], None), Vec::<&str>::new());
    }

    #[test]
    fn a_claim_that_is_decided_or_lacks_a_store_is_measured_no_further() {
        const NONE: [usize; 0] = [];
        let next = |count: usize, winner: &str, redb_ns: f64| {
            let (first, second) = (noisy(1000.0, 0.01, 1), noisy(redb_ns, 0.01, 3));
            let block = |number| [("lmdb", first(number)), ("redb", second(number)), ("sqlite", 5000.0)];
            let block = |number| block(number).map(|(store, ns)| Sample::new(store).ns(ns)).to_vec();
            let mut run = blocks("box", &(0..count).map(block).collect::<Vec<_>>());
            (run.header.interim_analyses, run.header.strict_early) = (interim::plan_open_analyses(3), true);
            let cells: Vec<Cell> = run.trials.iter().take(3).map(|trial| trial.cell.clone()).collect();
            let claim = format!(
                "[[claim]]\nsays = \"x\"\nsource = \"1\"\nfigure = [\"get\"]\namong = [\"redb\", \"{winner}\"]\n\
                 expect.winner = {{ stores = [\"{winner}\"] }}"
            );
            let claims = claims::run_claims("another", &claim, "test").unwrap().unwrap();
            let mut next = for_claims(&run, &cells, &[], claims);
            next.sort_unstable();
            next
        };
        assert_eq!(next(3, "lmdb", 1010.0), [0, 1], "too close to call, and SQLite is no matter");
        assert_eq!(next(4, "lmdb", 1010.0), [0, 1, 2], "no analysis is planned");
        assert_eq!(next(3, "lmdb", 3000.0), NONE, "it holds");
        assert_eq!(next(3, "lmdb", 300.0), NONE, "it does not");
        assert_eq!(next(3, "fjall", 1010.0), NONE, "no block brings what did not run");
        assert_eq!(next(32, "lmdb", 1010.0), NONE, "the last analysis is over");
    }

    #[test]
    fn where_the_next_block_decides_more_for_its_time_comes_first() {
        let sample = |store: &str, ns: f64, records: u64| {
            Sample::new(store).ns(ns).records(CountRange::starting_at(records))
        };
        let near = [noisy(1000.0, 0.03, 1), noisy(1030.0, 0.03, 3)];
        let block = |number: usize| {
            vec![
                // The second is 3 % worse, with as much noise.
                sample("lmdb", near[0](number), 100),
                sample("redb", near[1](number), 100),
                // 6 % worse: an analysis at 8 blocks will decide.
                sample("lmdb", near[0](number), 5_000),
                sample("redb", near[1](number) * 1.03, 5_000),
            ]
        };
        let mut run = blocks("box", &(0..5).map(block).collect::<Vec<_>>());
        run.header.interim_analyses = interim::plan_open_analyses(1);
        let cells: Vec<Cell> = run.trials.iter().take(4).map(|trial| trial.cell.clone()).collect();
        let first = |run: &Run| next(run, &cells, &[], None).first().map(|index| index / 2);
        assert_eq!(first(&run), Some(1));
        // If it takes a hundred times as long it comes last.
        for trial in run.trials.iter_mut().filter(|trial| trial.cell == cells[2] || trial.cell == cells[3]) {
            trial.wall_s *= 100.0;
        }
        assert_eq!(first(&run), Some(0));
    }
}
