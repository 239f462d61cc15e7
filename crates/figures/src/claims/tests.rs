//! Claims as plans write them, and the verdicts on made figures of each kind.

mod coverage;
mod reachable;

use storebench_model::cell::{Axis, Data, GuaranteeChoice};
use storebench_model::store::Guarantee;
use storebench_model::units::{CountRange, SizeRange};

use super::bounds::Bounds;
use super::design::Design;
use super::expect::*;
use super::pool::Cells;
use super::*;
use crate::judge::standing::Terms;
use crate::layout::Position;
use crate::stats::Series;

fn claim(rest: &str) -> Claim {
    let text = format!("says = \"x\"\nsource = \"1\"\nfigure = [\"insert\"]\n{rest}\n");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// A figure over three blocks, with almost no scatter.
fn steady(value: f64) -> Series<u32> {
    [(0, value), (1, value * 1.002), (2, value * 0.998)].into()
}

/// A figure with a wide scatter.
fn shaky(value: f64) -> Series<u32> {
    [(0, value * 3.0), (1, value), (2, value / 3.0)].into()
}

const SMALL: SizeRange = SizeRange { from: 1, to: 1024 };
const LARGE: SizeRange = SizeRange { from: 1024, to: 10240 };

fn position(record_size: SizeRange, records: u64, data: Data) -> Position {
    Position::from_values([
        (Axis::DATA, data.into()),
        (Axis::RECORD_SIZE, record_size.into()),
        (Axis::RECORDS, CountRange::starting_at(records).into()),
    ])
}

fn spot() -> Position {
    position(SMALL, 100, Data::Incompressible)
}

/// The stores' figures in one place.
type SpotFigures<'a> = (Position, &'a [(&'a str, Series<u32>)]);

type OwnedFigures = (Position, Vec<(&'static str, Series<u32>)>);

type Figures<'a> = &'a [SpotFigures<'a>];

fn pool(background: &str, figures: Figures<'_>) -> Pool<u32> {
    let mut cells: Cells<u32> = Cells::new();
    let mut stores: Vec<String> = Vec::new();
    for (position, figures) in figures {
        for (store, series) in *figures {
            if !stores.iter().any(|name| name == store) {
                stores.push((*store).to_owned());
            }
            cells.entry(position.clone()).or_default().insert((*store).to_owned(), series.clone());
        }
    }
    let tier = Guarantee::Process;
    let scope = Scope {
        hardware: "box".into(),
        guarantee: Some((GuaranteeChoice::Tier(tier), Some(tier))),
        facets: vec![(Axis::BACKGROUND, background.into())],
        method: String::new(),
    };
    Pool { scope, stores, terms: Terms::default(), cannot: Vec::new(), behind: Vec::new(), cells }
}

fn judge(claim: &Claim, pools: &[Pool<u32>]) -> Finding {
    assert_eq!(claim.check(&["insert"], &[]), Ok(()));
    let mut findings = evaluate(claim, &[], None, &|_| pools);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    findings.remove(0)
}

fn verdict(rest: &str, figures: Figures<'_>) -> Verdict {
    judge(&claim(rest), &[pool("none", figures)]).verdict
}

/// The verdicts on a claim, pool by pool.
fn verdicts(rest: &str, pools: &[Pool<u32>]) -> Vec<Verdict> {
    evaluate(&claim(rest), &[], None, &|_| pools).into_iter().map(|finding| finding.verdict).collect()
}

/// Figures of two stores at one value of an axis that distinguishes groups.
fn pool_at(axis: Axis, value: &str, [a, b]: [f64; 2]) -> Pool<u32> {
    let mut pool = pool("none", &[(spot(), &[("a", steady(a)), ("b", steady(b))])]);
    pool.scope.facets = vec![(axis, value.into())];
    pool
}

const A_WINS: &str = "expect.winner = { stores = [\"a\"] }";

#[test]
fn a_winner_is_the_best_alone() {
    let two = |a, b| verdict(A_WINS, &[(spot(), &[("a", a), ("b", b)])]);
    assert_eq!(two(steady(1.0), steady(2.0)), Verdict::Reproduced);
    assert_eq!(two(steady(2.0), steady(1.0)), Verdict::NotReproduced);
    assert_eq!(two(steady(1.0), shaky(1.1)), Verdict::Unknown);
    let alone = verdict(
        "among = [\"a\", \"b\"]\nexpect.winner = { stores = [\"a\"] }",
        &[(spot(), &[("a", steady(1.0))])],
    );
    assert_eq!(alone, Verdict::Unknown);
}

#[test]
fn more_is_better_where_the_column_says_so() {
    let text = "says = \"x\"\nsource = \"1\"\nfigure = [\"space\"]\nexpect.winner = { stores = [\"a\"] }\n";
    let claim: Claim = toml::from_str(text).unwrap();
    let pools = [pool("none", &[(spot(), &[("a", steady(2.0)), ("b", steady(1.0))])])];
    assert_eq!(judge(&claim, &pools).verdict, Verdict::Reproduced);
}

#[test]
fn an_absent_store_leaves_a_check_open_to_both_sides() {
    let among = "among = [\"a\", \"b\", \"c\"]\n";
    let two = |expect: &str, a: f64, b: f64| {
        let pools = [pool("none", &[(spot(), &[("a", steady(a)), ("b", steady(b))])])];
        judge(&claim(&format!("{among}{expect}")), &pools)
    };
    for expect in [
        "expect.winner = { stores = [\"a\"] }",
        "expect.winner = { stores = [\"a\", \"c\"] }",
        "expect.winner = { stores = [\"a\"], within = 1.5 }",
        "expect.order = { stores = [\"a\", \"b\"], rest_behind = true }",
        "expect.order = { stores = [\"a\", \"b\", \"c\"] }",
        "expect.behind = { stores = [\"b\"] }",
        "expect.alike = { stores = [\"a\", \"b\", \"c\"], within = 1.1 }",
    ] {
        for (a, b) in [(1.0, 2.0), (2.0, 1.0)] {
            let finding = two(expect, a, b);
            assert_eq!((finding.verdict, finding.so_far), (Verdict::Unknown, Verdict::Unknown), "{expect}");
            let missing = &finding.evidence[0].missing;
            assert_eq!(missing, &["c at 1B..1KiB, 100 records, incompressible"], "{expect}");
        }
    }
    // A store without figures is as absent as one that is not in the run.
    let empty = verdict(A_WINS, &[(spot(), &[("a", steady(1.0)), ("b", Series::new())])]);
    assert_eq!(empty, Verdict::Unknown);
}

#[test]
fn a_claim_is_judged_without_what_cannot_be_had_or_left_out_with_the_reason() {
    let two = |expect: &str, a: f64, b: f64| {
        let mut pool = pool("none", &[(spot(), &[("a", steady(a)), ("b", steady(b))])]);
        pool.stores.push("c".into());
        pool.cannot = vec![("c".into(), "this kernel has no c".into())];
        judge(&claim(&format!("among = [\"a\", \"b\", \"c\"]\n{expect}")), &[pool])
    };
    for expect in [
        "expect.winner = { stores = [\"a\"] }",
        "expect.order = { stores = [\"a\", \"b\"], rest_behind = true }",
        "expect.behind = { stores = [\"b\"] }",
    ] {
        let (supported, refuted) = (two(expect, 1.0, 2.0), two(expect, 2.0, 1.0));
        assert_eq!(supported.verdict, Verdict::Reproduced, "{expect}");
        assert_eq!(refuted.verdict, Verdict::NotReproduced, "{expect}");
        assert_eq!(supported.without, [("c".to_owned(), "this kernel has no c".to_owned())]);
    }
    let finding = two("expect.winner = { stores = [\"a\", \"c\"] }", 1.0, 2.0);
    assert_eq!((finding.verdict, finding.cannot_be_measured()), (Verdict::Unknown, true));
    assert_eq!(finding.without, [("c".to_owned(), "this kernel has no c".to_owned())]);
}

#[test]
fn one_trial_gives_no_verdict_and_says_what_it_looks_like() {
    let once = |value: f64| Series::from([(0, value)]);
    for rest in [
        A_WINS,
        "expect.winner = { stores = [\"a\"], within = 1.5 }",
        "expect.order = { stores = [\"a\", \"b\"] }",
        "expect.behind = { stores = [\"b\"] }",
        "expect.ratio = { of = \"b\", to = \"a\", range = \"1.5..\" }",
        "expect.value = { stores = [\"a\"], range = \"..1.5ns\" }",
        "average = \"comparisons\"\nexpect.winner = { stores = [\"a\"] }",
    ] {
        let judge_pair = |a, b| {
            let finding =
                judge(&claim(rest), &[pool("none", &[(spot(), &[("a", once(a)), ("b", once(b))])])]);
            (finding.verdict, finding.so_far, finding.tally.close)
        };
        assert_eq!(judge_pair(1.0, 2.0), (Verdict::Unknown, Verdict::Reproduced, 1), "{rest}");
        assert_eq!(judge_pair(2.0, 1.0), (Verdict::Unknown, Verdict::NotReproduced, 1), "{rest}");
    }
}

#[test]
fn trials_of_other_cells_tell_how_far_two_of_one_lie_apart() {
    // Two trials each; trials of the same cell differ by 1 %, in eight cells.
    let twice = |value: f64| Series::from([(0, value), (1, value * 1.01)]);
    let figures = [("a", twice(1.0)), ("b", twice(2.0))];
    let places = [(SMALL, 100), (SMALL, 1000), (LARGE, 100), (LARGE, 1000)]
        .map(|(size, records)| (position(size, records, Data::Incompressible), &figures[..]));
    let verdict_for =
        |winner: &str| verdict(&format!("expect.winner = {{ stores = [\"{winner}\"] }}"), &places);
    assert_eq!((verdict_for("a"), verdict_for("b")), (Verdict::Reproduced, Verdict::NotReproduced));
    // Alone they say nothing.
    assert_eq!(verdict(A_WINS, &places[..1]), Verdict::Unknown);
}

#[test]
fn claims_use_the_interim_analyses_that_were_planned() {
    let near: [(&str, Series<u32>); 2] =
        [("a", [(0, 1.0), (1, 1.01), (2, 0.99)].into()), ("b", [(0, 1.03), (1, 1.035), (2, 1.03)].into())];
    for expect in [A_WINS, "expect.order = { stores = [\"a\", \"b\"] }"] {
        let verdict_after = |analyses: usize| {
            let mut pool = pool("none", &[(spot(), &near)]);
            pool.terms.confidence = crate::judge::interim::confidence(analyses);
            judge(&claim(expect), &[pool]).verdict
        };
        assert_eq!((verdict_after(1), verdict_after(6)), (Verdict::Reproduced, Verdict::Unknown));
    }
}

#[test]
fn nearly_the_best_is_enough_where_it_is_allowed() {
    let verdict_of = |a| {
        let figures = [("a", a), ("b", steady(1.0))];
        verdict("expect.winner = { stores = [\"a\"], within = 2.0 }", &[(spot(), &figures)])
    };
    assert_eq!(verdict_of(steady(1.9)), Verdict::Reproduced);
    assert_eq!(verdict_of(steady(2.1)), Verdict::NotReproduced);
    assert_eq!(verdict_of(shaky(2.0)), Verdict::Unknown);
}

#[test]
fn a_share_of_the_places_is_enough_where_it_is_said() {
    let places: [SpotFigures<'_>; 3] = [
        (spot(), &[("a", steady(1.0)), ("b", steady(2.0))]),
        (position(LARGE, 100, Data::Incompressible), &[("a", steady(1.0)), ("b", steady(2.0))]),
        (position(LARGE, 1000, Data::Incompressible), &[("a", steady(2.0)), ("b", steady(1.0))]),
    ];
    assert_eq!(verdict(A_WINS, &places), Verdict::NotReproduced);
    assert_eq!(verdict(&format!("share = \"60%\"\n{A_WINS}"), &places), Verdict::Reproduced);
    assert_eq!(verdict(&format!("at.records = [\"1000..5000\"]\n{A_WINS}"), &places), Verdict::NotReproduced);
    assert_eq!(verdict(&format!("at.record_size = [\"1B..1KiB\"]\n{A_WINS}"), &places), Verdict::Reproduced);
    let nowhere =
        judge(&claim(&format!("at.record_size = [\"1MiB..2MiB\"]\n{A_WINS}")), &[pool("none", &places)]);
    assert_eq!((nowhere.verdict, nowhere.tally.total()), (Verdict::Unknown, 0));
    assert_eq!(nowhere.missing, ["a combination: record_size 1MiB..2MiB"]);
}

#[test]
fn an_average_is_of_places_and_largest_figures_weigh_most() {
    let places: [SpotFigures<'_>; 3] = [
        (spot(), &[("a", steady(1.0)), ("b", steady(2.0))]),
        (position(SMALL, 1000, Data::Incompressible), &[("a", steady(1.0)), ("b", steady(2.0))]),
        (position(LARGE, 100, Data::Incompressible), &[("a", steady(100.0)), ("b", steady(50.0))]),
    ];
    let averaged = claim(&format!("average = \"comparisons\"\n{A_WINS}"));
    let finding = judge(&averaged, &[pool("none", &places)]);
    assert_eq!((finding.verdict, finding.tally.total()), (Verdict::NotReproduced, 1));
    assert_eq!(finding.evidence[0].averaged, Some(3));
    let shown: Vec<f64> = finding.evidence[0].shown.iter().map(|shown| shown.value).collect();
    assert!((shown[0] - 18.0).abs() < 0.01 && (shown[1] - 34.0).abs() < 0.01, "{shown:?}");
}

#[test]
fn stores_follow_one_another() {
    let order = |rest_behind: bool, values: [f64; 3]| {
        let [a, b, c] = values.map(steady);
        let rest = format!("expect.order = {{ stores = [\"a\", \"b\"], rest_behind = {rest_behind} }}");
        verdict(&rest, &[(spot(), &[("a", a), ("b", b), ("c", c)])])
    };
    assert_eq!(order(false, [1.0, 2.0, 0.5]), Verdict::Reproduced);
    assert_eq!(order(true, [1.0, 2.0, 0.5]), Verdict::NotReproduced);
    assert_eq!(order(true, [1.0, 2.0, 3.0]), Verdict::Reproduced);
    assert_eq!(order(false, [2.0, 1.0, 3.0]), Verdict::NotReproduced);
    assert_eq!(order(true, [1.0, 1.0, 3.0]), Verdict::NotReproduced);
    let partial = verdict("expect.order = { stores = [\"a\", \"b\"] }", &[(spot(), &[("a", steady(1.0))])]);
    assert_eq!(partial, Verdict::Unknown);
}

#[test]
fn stores_behind_are_worse_than_all_others() {
    let behind = "among = [\"a\", \"b\", \"c\", \"d\"]\nexpect.behind = { stores = [\"c\", \"d\"] }";
    let verdict_of =
        |a, c, d| verdict(behind, &[(spot(), &[("a", steady(a)), ("b", steady(1.0)), ("c", c), ("d", d)])]);
    assert_eq!(verdict_of(2.0, steady(3.0), steady(4.0)), Verdict::Reproduced);
    // Neither their order nor that of the others matters.
    assert_eq!(verdict_of(0.5, steady(4.0), steady(3.0)), Verdict::Reproduced);
    assert_eq!(verdict_of(3.5, steady(3.0), steady(4.0)), Verdict::NotReproduced);
    assert_eq!(verdict_of(2.0, shaky(2.0), steady(4.0)), Verdict::Unknown);
    let text = format!("share = \"50%\"\n{behind}");
    let half = verdict(
        &text,
        &[(spot(), &[("a", steady(3.5)), ("b", steady(1.0)), ("c", steady(3.0)), ("d", steady(4.0))])],
    );
    assert_eq!(half, Verdict::Reproduced);
    // Nothing is known of absent stores.
    let absent = verdict(behind, &[(spot(), &[("a", steady(1.0)), ("c", steady(3.0)), ("d", steady(4.0))])]);
    assert_eq!(absent, Verdict::Unknown);
    let result = claim("among = [\"c\"]\nexpect.behind = { stores = [\"c\"] }").check(&["insert"], &[]);
    assert!(result.unwrap_err().contains("names all that are compared"));
}

#[test]
fn ratios_and_values_lie_within_a_range() {
    let figures: Figures<'_> = &[(spot(), &[("a", steady(1000.0)), ("b", steady(2500.0))])];
    let ratio = |range: &str| {
        verdict(&format!("expect.ratio = {{ of = \"b\", to = \"a\", range = \"{range}\" }}"), figures)
    };
    assert_eq!(ratio("2..3"), Verdict::Reproduced);
    assert_eq!(ratio("..2"), Verdict::NotReproduced);
    let unsure: Figures<'_> = &[(spot(), &[("a", steady(1000.0)), ("b", shaky(2500.0))])];
    let at_least = "expect.ratio = { of = \"b\", to = \"a\", range = \"2..\" }";
    assert_eq!(verdict(at_least, unsure), Verdict::Unknown);
    let value = |range: &str| {
        verdict(&format!("expect.value = {{ stores = [\"a\", \"b\"], range = \"{range}\" }}"), figures)
    };
    assert_eq!(value("..3µs"), Verdict::Reproduced);
    assert_eq!(value("2µs.."), Verdict::NotReproduced);
    let unknown = verdict("expect.value = { stores = [\"x\"], range = \"1ns..\" }", figures);
    assert_eq!(unknown, Verdict::Unknown);
}

/// Both kinds of data in one place.
fn kinds(size: SizeRange, plain: f64, text: f64) -> [OwnedFigures; 2] {
    [(Data::Incompressible, plain), (Data::Compressible, text)].map(|(data, value)| {
        (position(size, 100, data), vec![("a", steady(value)), ("b", steady(value * 10.0))])
    })
}

fn pool_of_places(places: &[OwnedFigures]) -> Pool<u32> {
    let places: Vec<SpotFigures<'_>> =
        places.iter().map(|(position, figures)| (position.clone(), figures.as_slice())).collect();
    pool("none", &places)
}

#[test]
fn a_store_is_compared_with_itself_at_another_value_of_an_axis() {
    let ratio = "expect.ratio = { axis = \"data\", of = \"compressible\", to = \"incompressible\", range = \"1.5..\" }";
    let pools = [pool_of_places(&[kinds(SMALL, 1.0, 2.0), kinds(LARGE, 10.0, 11.0)].concat())];
    let by_store = judge(&claim(ratio), &pools);
    assert_eq!(by_store.verdict, Verdict::NotReproduced);
    assert_eq!((by_store.tally.agree, by_store.tally.disagree), (2, 2));
    let averaged = judge(&claim(&format!("average = \"stores\"\n{ratio}")), &pools);
    assert_eq!((averaged.tally.total(), averaged.evidence[0].averaged_stores), (1, Some(2)));
    // (2 + 20 + 11 + 110) / (1 + 10 + 10 + 100)
    let times = averaged.evidence[0].times.unwrap().value;
    assert!((times - 143.0 / 121.0).abs() < 1e-3, "{times}");
    let partial = judge(&claim(ratio), &[pool_of_places(&kinds(SMALL, 1.0, 2.0)[..1])]);
    assert_eq!((partial.verdict, partial.missing), (Verdict::Unknown, vec!["data compressible".into()]));
}

#[test]
fn a_ratio_is_greatest_somewhere() {
    let judge_at = |value: &str, range: &str, pools: &[Pool<u32>]| {
        let rest = format!(
            "expect.greatest = {{ axis = \"data\", of = \"compressible\", to = \"incompressible\", \
             along = \"record_size\", value = \"{value}\"{range} }}"
        );
        judge(&claim(&rest), pools)
    };
    let pools = [pool_of_places(&[kinds(SMALL, 1.0, 3.0), kinds(LARGE, 10.0, 20.0)].concat())];
    assert_eq!(judge_at("1B..1KiB", "", &pools).verdict, Verdict::Reproduced);
    assert_eq!(judge_at("1KiB..10KiB", "", &pools).verdict, Verdict::NotReproduced);
    assert_eq!(judge_at("1B..1KiB", ", range = \"4..\"", &pools).verdict, Verdict::NotReproduced);
    let equal = [pool_of_places(&[kinds(SMALL, 1.0, 2.0), kinds(LARGE, 10.0, 20.0)].concat())];
    assert_eq!(judge_at("1B..1KiB", "", &equal).verdict, Verdict::Unknown);
    let only = judge_at("1B..1KiB", "", &[pool_of_places(&kinds(SMALL, 1.0, 2.0))]);
    assert_eq!(only.verdict, Verdict::Unknown);
    assert_eq!(only.evidence[0].missing, ["another record_size than 1B..1KiB"]);
    let absent = judge_at("1MiB..2MiB", "", &pools);
    assert_eq!(absent.evidence[0].missing, ["record_size 1MiB..2MiB"]);
}

const SAME: &str = "expect.unchanged = { axis = \"background\", between = [\"none\", \"video\"] }";

#[test]
fn winners_stay_the_same_under_a_load_or_change() {
    let judge_under = |video: &[(&str, Series<u32>)]| {
        let idle = pool("none", &[(spot(), &[("a", steady(1.0)), ("b", steady(2.0))])]);
        judge(&claim(SAME), &[idle, pool("video", &[(spot(), video)])])
    };
    let stays = judge_under(&[("a", steady(10.0)), ("b", steady(20.0))]);
    assert_eq!((stays.verdict, stays.scope.facets.len()), (Verdict::Reproduced, 0));
    assert_eq!(stays.evidence[0].shown[1].who, "a, video");
    assert_eq!(judge_under(&[("a", steady(20.0)), ("b", steady(10.0))]).verdict, Verdict::NotReproduced);
    assert_eq!(judge_under(&[("a", steady(1.0)), ("b", shaky(1.0))]).verdict, Verdict::Unknown);
    let lacks = judge_under(&[("a", steady(1.0))]);
    assert_eq!(lacks.verdict, Verdict::Unknown);
    assert_eq!(lacks.evidence[0].missing, ["b at 1B..1KiB, 100 records, incompressible, video"]);
    let never = judge(&claim(SAME), &[pool("none", &[(spot(), &[("a", steady(1.0))])])]);
    assert_eq!((never.verdict, never.missing), (Verdict::Unknown, vec!["background video".into()]));
}

#[test]
fn wins_are_counted_on_both_sides() {
    let claim =
        claim("expect.more_wins = { store = \"a\", axis = \"background\", at = \"video\", than = \"none\" }");
    let second_spot = position(LARGE, 100, Data::Incompressible);
    let count = |idle: [f64; 2], video: [f64; 2]| {
        let side = |background: &str, [first, second]: [f64; 2]| {
            pool(
                background,
                &[
                    (spot(), &[("a", steady(first)), ("b", steady(2.0))]),
                    (second_spot.clone(), &[("a", steady(second)), ("b", steady(2.0))]),
                ],
            )
        };
        judge(&claim, &[side("none", idle), side("video", video)])
    };
    let more = count([3.0, 1.0], [1.0, 1.0]);
    assert_eq!(more.verdict, Verdict::Reproduced);
    assert_eq!(more.evidence[0].shown.iter().map(|s| s.value).collect::<Vec<_>>(), [2.0, 1.0]);
    assert_eq!(count([1.0, 3.0], [3.0, 1.0]).verdict, Verdict::NotReproduced);
    assert_eq!(count([3.0, 3.0], [2.0, 3.0]).verdict, Verdict::Unknown);
}

#[test]
fn groups_are_judged_by_themselves_and_may_be_left_aside() {
    let pools_at = |axis: Axis, values: [&str; 2]| {
        [pool_at(axis, values[0], [1.0, 2.0]), pool_at(axis, values[1], [2.0, 1.0])]
    };
    let loads = pools_at(Axis::BACKGROUND, ["none", "video"]);
    let machines = pools_at(Axis::MACHINE, ["here", "small-board"]);
    let [yes, no] = [Verdict::Reproduced, Verdict::NotReproduced];
    for (at, pools, expected) in [
        ("", &loads, &[yes, no][..]),
        ("at.background = [\"video\"]", &loads, &[no]),
        ("at.place = [\"hdd\"]", &loads, &[yes, no]),
        ("at.guarantee = [\"power\"]", &loads, &[]),
        ("at.machine = [\"here\"]", &machines, &[yes]),
        ("at.machine = [\"small-board\"]", &machines, &[no]),
        ("at.machine = [\"here\", \"small-board\"]", &machines, &[yes, no]),
        ("at.machine = [\"laptop-hdd\"]", &machines, &[]),
    ] {
        assert_eq!(verdicts(&format!("{at}\n{A_WINS}"), pools), expected, "{at}");
    }
}

#[test]
fn disks_cross_with_file_systems_and_may_be_left_out() {
    let slow_on_hdd =
        |place: &str| pool_at(Axis::PLACE, place, if place == "hdd" { [2.0, 1.0] } else { [1.0, 2.0] });
    let pools = ["hdd", "ssd", "ntfs:4096@hdd", "ntfs:4096@ssd"].map(slow_on_hdd);
    // A simulated disk counts as well, whatever its place.
    let simulated =
        [("hdd-7200", [2.0, 1.0]), ("sata-ssd", [1.0, 2.0]), ("here", [2.0, 1.0])].map(|(disk, figures)| {
            let mut pool = pool_at(Axis::PLACE, "here", figures);
            pool.scope.facets.push((Axis::DISK, disk.into()));
            pool
        });
    let [yes, no] = [Verdict::Reproduced, Verdict::NotReproduced];
    // The winner stays the same separately on each file system.
    let unchanged = "expect.unchanged = { axis = \"place\", between = [\"hdd\", \"ssd\"] }";
    for (rest, pools, expected) in [
        (format!("at.place = [\"hdd\"]\n{A_WINS}"), &pools[..], &[no, yes][..]),
        (format!("at.place = [\"ntfs:4096\"]\n{A_WINS}"), &pools, &[yes, yes]),
        (format!("except.place = [\"hdd\"]\n{A_WINS}"), &pools, &[yes, yes]),
        (unchanged.to_owned(), &pools, &[no, yes]),
        (format!("at.place = [\"hdd\"]\n{A_WINS}"), &simulated, &[no]),
        (format!("at.place = [\"ssd\"]\n{A_WINS}"), &simulated, &[yes]),
        (format!("except.place = [\"hdd\"]\n{A_WINS}"), &simulated, &[yes, no]),
        (unchanged.to_owned(), &simulated, &[no]),
    ] {
        assert_eq!(verdicts(&rest, pools), expected, "{rest}");
    }
}

#[test]
fn what_makes_no_sense_is_told() {
    for (rest, words) in [
        ("expect.winner = { stores = [] }", "names no store"),
        ("expect.winner = { stores = [\"a\", \"a\"] }", "names a twice"),
        ("expect.winner = { stores = [\"a\"], within = 0.5 }", "1 or more"),
        ("among = [\"b\"]\nexpect.winner = { stores = [\"a\"] }", "not among those compared: b"),
        ("expect.order = { stores = [\"a\"] }", "two stores or more"),
        ("expect.ratio = { of = \"a\", to = \"a\", range = \"1..\" }", "both \"a\""),
        ("expect.ratio = { of = \"a\", to = \"b\", range = \"1ms..\" }", "none of ratios"),
        ("expect.ratio = { of = \"a\", to = \"b\", stores = [\"a\"], range = \"1..\" }", "no axis"),
        ("expect.value = { stores = [\"a\"], range = \"50%..\" }", "not the unit of insert"),
        ("expect.unchanged = { axis = \"background\", between = [\"none\", \"vidio\"] }", "\"vidio\""),
        (
            "expect.unchanged = { axis = \"data\", between = [\"compressible\", \"compressible\"] }",
            "both values",
        ),
        ("expect.unchanged = { axis = \"store\", between = [\"a\", \"b\"] }", "leave axis out"),
        (&format!("at.background = [\"none\"]\n{SAME}"), "leave it out of at"),
        ("at.data = [\"compressible\", \"compressible\"]\nexpect.winner = { stores = [\"a\"] }", "twice"),
        ("except.records = [\"100..500\"]\nexpect.winner = { stores = [\"a\"] }", "lies within a table"),
        ("average = \"stores\"\nexpect.winner = { stores = [\"a\"] }", "leaves no store"),
        (
            "expect.greatest = { axis = \"data\", of = \"compressible\", to = \"incompressible\", along = \"data\", value = \"compressible\" }",
            "along = \"data\"",
        ),
    ] {
        let claim = claim(rest);
        let result = claim.check(&["insert"], &[]).and_then(|()| claim.check_axes(&[Axis::STORE]));
        let message = result.unwrap_err();
        assert!(message.contains(words), "{rest}: {message}");
    }
    let mut inserts = claim(A_WINS);
    inserts.figure = vec!["inserts".parse().unwrap()];
    assert!(inserts.check(&["insert"], &[]).unwrap_err().contains("did you mean insert?"));
    inserts.figure = vec!["insert syncs_per_operation".parse().unwrap()];
    assert!(inserts.check(&["insert"], &[]).unwrap_err().contains("no store is the best by"));
    inserts.figure.clear();
    assert!(inserts.check(&["insert"], &[]).unwrap_err().contains("figure is empty"));
    let strange = Claim { says: " ".into(), ..claim(A_WINS) };
    assert!(strange.check(&["insert"], &[]).unwrap_err().contains("says is empty"));
}

#[test]
fn expectations_can_be_read() {
    let rest = "share = \"75%\"\nat = { record_size = [\"1B..1KiB\"], place = [\"hdd\"] }\nexpect.winner = { stores = [\"a\", \"b\"] }";
    let words = "a or b the best by insert, at record_size 1B..1KiB, place hdd, in 75% of the checks";
    assert_eq!(claim(rest).describe(), words);
    let rest = "average = \"comparisons\"\nexpect.order = { stores = [\"a\", \"b\"], rest_behind = true }";
    let words = "by insert, the best first: a, b, all others behind, by the mean over combinations";
    assert_eq!(claim(rest).describe(), words);
}
