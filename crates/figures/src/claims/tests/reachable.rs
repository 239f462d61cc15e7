//! Checks every claim of every study with figures made to support and to contradict it: a claim that can get a verdict can get either, and one
//! that can't leans neither way. With the cells of each preset, and without unavailable or unrequested stores.

use std::collections::BTreeMap;

use storebench_host::plan::paired::{Step, steps};
use storebench_host::plan::{Plan, STUDIES, find};
use storebench_model::axis::Value;
use storebench_model::cell::Cell;

use super::*;
use crate::layout::Layout;
use crate::stats::Better;

/// The cells of a plan, excluding only those that are too large.
fn cells(plan: &Plan) -> Vec<Cell> {
    let mut cells = vec![Cell::default()];
    let axes = Axis::all().into_iter().filter(|axis| plan.workload.def().axes.contains(axis));
    for steps in steps(&plan.paired, axes, |axis| plan.axes.values(axis).into_owned()) {
        let apply_step = |cell: &Cell, step: &Step| {
            step.iter().fold(cell.clone(), |cell, (axis, value)| cell.with(*axis, value.clone()))
        };
        let expand = |cell: Cell| steps.iter().map(|step| apply_step(&cell, step)).collect::<Vec<_>>();
        cells = cells.into_iter().flat_map(expand).collect();
    }
    let variants = |cell: Cell| {
        let expand = |variant: Vec<(Axis, Value)>| {
            variant.into_iter().fold(cell.clone(), |cell, (axis, value)| cell.with(axis, value))
        };
        plan.variants(cell.store()).into_iter().map(expand).collect::<Vec<_>>()
    };
    let is_small =
        |cell: &Cell| !plan.axes.names(Axis::RECORDS) || cell.expected_bytes(1000) < plan.size_limit.0 as f64;
    cells.into_iter().flat_map(variants).filter(is_small).collect()
}

fn layout(plan: &Plan, cells: &[Cell]) -> Layout {
    let axes = plan.workload.def().axes.iter().copied();
    let axes = axes.chain(cells.iter().flat_map(Cell::values).map(|(axis, _)| axis));
    Layout::from_axes(plan.compare.clone(), axes.collect::<Vec<_>>())
}

fn contestants(plan: &Plan) -> Vec<String> {
    let cells = cells(plan);
    let layout = layout(plan, &cells);
    cells.iter().map(|cell| layout.contestant(cell).into_owned()).collect()
}

/// A number within a range, or outside of it.
fn in_range(range: &Bounds, within: bool) -> f64 {
    match (range.low, range.high, within) {
        (Some(low), Some(high), true) if low > 0.0 => (low * high).sqrt(),
        (Some(low), Some(high), true) => (low + high) / 2.0,
        (Some(low), None, true) => low * 2.0,
        (_, Some(high), true) => high / 2.0,
        (_, Some(high), false) => high * 3.0 + 1.0,
        (Some(low), None, false) => low / 3.0,
        (None, None, _) => 1.0,
    }
}

/// The figure of a contestant in a cell if a claim is right, or wrong.
fn figure_of(claim: &Claim, figure: &Figure, contestant: &str, cell: &Cell, is_right: bool) -> f64 {
    let rank = |stores: &[String]| stores.iter().position(|store| store == contestant);
    let is_at = |axis: Axis, text: &str| axis.read(text).unwrap().text() == cell.text(axis);
    let (good, bad) = if is_right { (1.0, 10.0) } else { (10.0, 1.0) };
    let cost_if = |is_good: bool| if is_good { good } else { bad };
    let scaled = |times: f64| if is_right { 1.0 } else { times };
    let cost = match &claim.expect {
        Expect::Winner(Winner { stores, .. }) => cost_if(rank(stores).is_some()),
        Expect::Behind(Behind { stores }) => cost_if(rank(stores).is_none()),
        Expect::Order(Order { stores, .. }) => {
            let place = rank(stores).map_or(1e6, |place| 2f64.powi(place as i32));
            if is_right { place } else { 1.0 / place }
        }
        Expect::Alike(Alike { stores, .. }) if rank(stores) == Some(0) => 1.0,
        Expect::Alike(_) => scaled(9.0),
        Expect::Unchanged(Unchanged { axis, between: [a, _] }) if contestant == "sqlite" => {
            if is_at(*axis, a) { 1.0 } else { scaled(10.0) }
        }
        Expect::MoreWins(more) if more.store == contestant => cost_if(is_at(more.axis, &more.at)),
        Expect::MoreAt(more) if rank(&more.stores).is_some() => cost_if(*figure == more.figure),
        Expect::Unchanged(_) | Expect::MoreWins(_) | Expect::MoreAt(_) => 5.0,
        // Figures themselves, regardless of direction.
        Expect::Ratio(Ratio { axis, of, range, .. }) => {
            let is_of = axis.map_or(of == contestant, |axis| is_at(axis, of));
            return if is_of { in_range(range, is_right) } else { 1.0 };
        }
        Expect::Value(values) => return in_range(&values.range, is_right),
        Expect::Greatest(greatest) => {
            let greatest_ratio = greatest.range.as_ref().map_or(4.0, |range| in_range(range, true));
            let is_greatest = is_at(greatest.along, &greatest.value) == is_right;
            let ratio = if is_greatest { greatest_ratio } else { greatest_ratio / 4.0 };
            return if is_at(greatest.axis, &greatest.of) { ratio } else { 1.0 };
        }
    };
    if figure.column.better == Better::Higher { 1.0 / cost } else { cost }
}

#[derive(Clone, Copy)]
struct Lacking<'a> {
    /// A part of the names of unavailable contestants.
    cannot: &'a str,
    /// A part of the names of contestants that were not asked for.
    unasked: &'a str,
    trials: u32,
}

fn pools(
    plan: &Plan,
    cells: &[Cell],
    claim: &Claim,
    figure: &Figure,
    is_right: bool,
    lacking: Lacking<'_>,
) -> Vec<Pool<u32>> {
    let layout = layout(plan, cells);
    let mut pools: Vec<Pool<u32>> = Vec::new();
    let matches = |name: &str, part: &str| !part.is_empty() && name.contains(part);
    for cell in cells {
        let contestant = layout.contestant(cell).into_owned();
        if matches(&contestant, lacking.unasked) {
            continue;
        }
        let scope = Scope {
            hardware: "box".into(),
            guarantee: Some((cell.guarantee(), cell.guarantee().tier())),
            facets: layout.facets(cell),
            method: String::new(),
        };
        let index = pools.iter().position(|pool| pool.scope == scope).unwrap_or_else(|| {
            pools.push(Pool { scope, ..pool("none", &[]) });
            pools.len() - 1
        });
        let pool = &mut pools[index];
        if !pool.stores.contains(&contestant) {
            pool.stores.push(contestant.clone());
            if matches(&contestant, lacking.cannot) {
                pool.cannot.push((contestant.clone(), "it can't be had".into()));
            }
        }
        let figures = pool.cells.entry(layout.position(cell)).or_default();
        if !matches(&contestant, lacking.cannot) {
            let value = figure_of(claim, figure, &contestant, cell, is_right);
            let wobble = |block: u32| 1.0 + 1e-6 * f64::from(block % 3);
            let series = (0..lacking.trials).map(|block| (block, value * wobble(block))).collect();
            figures.insert(contestant, series);
        }
    }
    pools
}

/// Whether each of a study's claims comes out both ways or neither; returns the claims with a verdict, and the rest.
fn both_ways(plan: &Plan, origin: &str, lacking: Lacking<'_>) -> [Vec<String>; 2] {
    let study = run_claims(&plan.name, &plan.to_toml().unwrap(), origin).unwrap().unwrap();
    let cells = cells(plan);
    let [mut judged, mut open] = [Vec::new(), Vec::new()];
    for claim in &study.claims {
        let findings = |is_right| {
            let figure_pools = |figure: &Figure| pools(plan, &cells, claim, figure, is_right, lacking);
            let by_figure: BTreeMap<String, Vec<Pool<u32>>> =
                claim.figure.iter().map(|figure| (figure.to_string(), figure_pools(figure))).collect();
            evaluate(claim, &study.among, study.design.as_ref(), &|figure| &by_figure[&figure.to_string()])
        };
        let [supported, refuted] = [true, false].map(findings);
        assert_eq!(supported.len(), refuted.len());
        let mut has_verdict = false;
        for (supported, refuted) in supported.iter().zip(&refuted) {
            let verdicts = [supported.verdict, refuted.verdict];
            let Finding { scope, coverage, .. } = supported;
            let context = format!("{origin}: {}: {:?} {coverage:?}", claim.says, scope.facets);
            let so_far = [supported.so_far, refuted.so_far];
            for pair in [verdicts, so_far] {
                assert!(
                    [[Verdict::Reproduced, Verdict::NotReproduced], [Verdict::Unknown; 2]].contains(&pair),
                    "{context}: {verdicts:?}, so far {so_far:?} {:#?}",
                    refuted.evidence.first()
                );
            }
            has_verdict |= supported.verdict == Verdict::Reproduced;
        }
        if has_verdict { &mut judged } else { &mut open }.push(claim.says.clone());
    }
    [judged, open]
}

const ALL: Lacking<'_> = Lacking { cannot: "", unasked: "", trials: 3 };

/// Every study and preset with claims, with the places and loads that some claims need.
fn plans() -> Vec<(String, Plan)> {
    let mut plans = Vec::new();
    for study in STUDIES.iter().filter(|study| study.text.contains("[[claim]]")) {
        let plain = find(study.name).unwrap();
        for preset in plain.presets.keys() {
            let mut plan = plain.clone();
            plan.apply_preset(preset).unwrap();
            plans.push((format!("{} --preset {preset}", study.name), plan));
        }
        plans.push((study.name.to_owned(), plain));
    }
    plans
}

#[test]
fn what_gets_a_verdict_can_get_either_in_every_study_and_preset() {
    for (origin, plan) in plans() {
        both_ways(&plan, &origin, ALL);
        // One trial settles nothing, and leans either way.
        let [judged, _] = both_ways(&plan, &origin, Lacking { trials: 1, ..ALL });
        assert!(judged.is_empty(), "{origin}: {judged:?}");
    }
}

#[test]
fn what_lacks_opens_no_claim_to_one_side_alone() {
    for (origin, plan) in plans() {
        let names = contestants(&plan);
        for part in ["vfat", "ext2:2048", "rocksdb", "berkeleydb", "WAL"] {
            if names.iter().any(|name| name.contains(part)) {
                both_ways(&plan, &origin, Lacking { cannot: part, ..ALL });
                both_ways(&plan, &origin, Lacking { unasked: part, ..ALL });
            }
        }
    }
}

#[test]
fn the_studies_in_full_judge_their_claims() {
    let judge_study = |name: &str, changes: &[(Axis, &[&str])], preset: Option<&str>| {
        let mut plan = find(name).unwrap();
        preset.into_iter().for_each(|preset| plan.apply_preset(preset).unwrap());
        for (axis, values) in changes {
            plan.axes.set(*axis, values.iter().map(|text| axis.read(text).unwrap()));
        }
        both_ways(&plan, name, ALL)
    };
    // With a video and on two disks all of the paper's claims on them have a verdict, and those on NTFS on NTFS.
    let disks =
        [(Axis::PLACE, ["ssd", "hdd", "ntfs:4096"].as_slice()), (Axis::BACKGROUND, &["none", "video"])];
    let [_, undecided] = judge_study("crud", &disks, None);
    assert_eq!(undecided.len(), 2, "{undecided:?}");
    let [judged, _] = judge_study("crud", &[], Some("fasterthanfs"));
    assert_eq!(judged, undecided, "SQLite's documentation");
    let [_, undecided] = judge_study("filesystems", &[], None);
    let others = ["mode", "ext4's", "Btrfs", "compression"];
    let is_other = |says: &String| others.iter().any(|word| says.contains(word));
    assert!(undecided.len() == 11 && undecided.iter().all(is_other), "{undecided:?}");
    let [judged, _] = judge_study("filesystems", &[], Some("quick"));
    assert!(judged.is_empty(), "{judged:?}");
    // As in the paper, too: its data were loaded unsorted.
    for preset in [None, Some("paper-full")] {
        let [_, undecided] = judge_study("data-size", &[], preset);
        let others = ["index", "orders", "Sorting"];
        assert!(undecided.iter().all(|says| others.iter().any(|word| says.contains(word))), "{undecided:?}");
    }
    for name in ["ycsb", "sqlite-settings"] {
        assert_eq!(judge_study(name, &[], None)[1], Vec::<String>::new());
    }
}

#[test]
fn the_presets_called_paper_judge_most_claims() {
    let expected = [("crud", 13), ("ycsb", 0), ("filesystems", 9), ("data-size", 7), ("sqlite-settings", 0)];
    for (name, count) in expected {
        let mut plan = find(name).unwrap();
        plan.apply_preset("paper").unwrap();
        let [_, undecided] = both_ways(&plan, name, ALL);
        assert_eq!(undecided.len(), count, "{name}: {undecided:#?}");
    }
}
