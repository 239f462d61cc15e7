//! Effects of settings that were put into made runs.

use storebench_model::store::{SettingDef, StoreDef, StoreKind};
use storebench_model::stores::NULL;
use storebench_samples::{FACTORIAL_PLAN, Sample, blocks, factorial};

use super::*;

fn near(times: &Times, value: f64) -> bool {
    (times.value() / value - 1.0).abs() < 1e-9
}

#[test]
fn main_effects_and_interactions_are_those_that_were_put_in() {
    let runs = [factorial()];
    let found = effects(&Merged::new(&runs, &[]));
    assert_eq!(found.len(), 1);
    let words = |effect: &MainEffect| {
        format!("{} {} {} {}", effect.setting, effect.value, effect.pairs, effect.promise)
    };
    assert_eq!(found[0].main.iter().map(words).collect::<Vec<_>>(), ["j W 2 less", "s F 2 more"]);
    let overall_times = |effect: &MainEffect| effect.times.last().unwrap().unwrap();
    assert!(near(&overall_times(&found[0].main[0]), (0.5_f64 * 0.75).sqrt()), "{:?}", found[0].main[0].times);
    assert!(near(&overall_times(&found[0].main[1]), (3.0_f64 * 4.5).sqrt()));
    assert_eq!(found[0].interactions.len(), 1);
    assert!(near(&found[0].interactions[0].times, 1.5));
    assert_eq!(found[0].interactions[0].times.ratio.blocks, 4);
}

/// If the plan itself gives no value.
#[test]
fn values_are_compared_with_what_is_shipped() {
    let mut run = factorial();
    run.header.plan = FACTORIAL_PLAN.replace("[settings.sqlite]\nj = \"D\"\ns = \"N\"\n", "");
    let runs = [run];
    const SETTINGS: &[SettingDef] = &[SettingDef::new("j", "D or W", "W", "")];
    let stores = [StoreDef { name: "sqlite", kind: StoreKind::Engine, settings: SETTINGS, ..NULL }];
    let merged = Merged::new(&runs, &[]);
    let bases = |merged: &Merged<'_>| -> Vec<String> {
        effects(merged)[0].main.iter().map(|effect| effect.base.clone()).collect()
    };
    assert_eq!(bases(&merged), ["D", "F"], "the first of each");
    assert_eq!(bases(&Merged::new(&runs, &stores)), ["W", "F"]);
}

#[test]
fn combinations_stand_by_what_they_promise_and_the_best_of_each_is_marked() {
    let runs = [factorial()];
    let found = effects(&Merged::new(&runs, &[]));
    let points: Vec<(&str, Vec<String>, bool)> =
        found[0].points.iter().map(|point| (point.name.as_str(), point.marks.clone(), point.best)).collect();
    assert_eq!(
        points,
        [
            ("sqlite j=W s=F", vec!["the best".to_owned()], true),
            ("sqlite j=D s=F", vec![], false),
            // A combination that guarantees less is the best only if it is faster than all that guarantee as much or more.
            ("sqlite j=D s=N", vec!["the base".to_owned()], true),
            ("sqlite j=W s=N", vec![], true),
        ]
    );
    assert_eq!(group_by_guarantee(&found[0].points).len(), 3);
}

#[test]
fn each_guarantee_asked_for_is_a_separate_contest() {
    let block = |times: f64| {
        let samples_of = |guarantee: &str, ns: f64| {
            let sample = Sample::new("sqlite").guarantee(guarantee);
            [sample.clone().ns(ns * times), sample.ns(ns * times * 2.0).setting("sqlite.j", "W")]
        };
        [samples_of("process", 1e3), samples_of("power", 1e6)].concat()
    };
    let mut run = blocks("box", &[block(1.0), block(1.1), block(0.9)]);
    run.header.plan = FACTORIAL_PLAN.replace("j = \"D\"\ns = \"N\"\n", "");
    let runs = [run];
    let found = effects(&Merged::new(&runs, &[]));
    let titles: Vec<&str> = found.iter().map(|effects| effects.place.at.as_str()).collect();
    assert_eq!(found.len(), 2, "{titles:?}");
    assert!(titles.iter().any(|at| at.ends_with("guarantee power")), "{titles:?}");
    for effects in &found {
        assert!(near(effects.main[0].times.last().unwrap().as_ref().unwrap(), 2.0), "{effects:?}");
        let speeds: Vec<f64> =
            effects.points.iter().map(|spot| spot.per_second.unwrap().mean.value).collect();
        assert!((speeds[0] / speeds[1] - 2.0).abs() < 1e-6, "{speeds:?}");
    }
}

#[test]
fn values_that_are_numbers_stand_in_their_order() {
    let sort = |values: &[&str]| -> Vec<String> {
        let values: BTreeSet<String> = values.iter().map(|value| (*value).to_owned()).collect();
        sort_values(&values).into_iter().cloned().collect()
    };
    let sorted = sort(&["20000", "1", "as shipped", "200", "4KiB"]);
    assert_eq!(sorted, ["1", "200", "4KiB", "20000", "as shipped"]);
}
