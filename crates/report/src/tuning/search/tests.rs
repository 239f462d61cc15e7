//! Made stores, whose settings have known effects, tuned repeatedly with different noise.

use storebench_figures::data::merge::BlockKey;
use storebench_figures::judge::interim;
use storebench_figures::judge::settings::Verdict;
use storebench_figures::stats::Ratio;
use storebench_samples::normal;

use super::*;
use crate::tuning::race::Arm;
use crate::tuning::{is_settled, worth};

/// A store whose settings each have two values to try.
struct Made {
    /// The logarithm of the factor of an operation's time with some settings.
    effect: fn(&Settings) -> f64,
    /// The standard deviation of a trial's logarithm.
    noise: f64,
    trials: f64,
    out: fn(&Settings) -> bool,
}

const NEVER: fn(&Settings) -> bool = |_| false;

struct TuningOutcome {
    best: Option<Settings>,
    times: Option<Ratio>,
    raced: Vec<RaceResult>,
    spent: f64,
}

impl TuningOutcome {
    fn is_faster(&self) -> bool {
        self.times.as_ref().is_some_and(|times| Verdict::judge(times) == Verdict::Faster)
    }

    fn has(&self, setting: &str, value: &str) -> bool {
        self.best.as_ref().is_some_and(|best| has(best, setting, value))
    }
}

const SETTINGS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

fn changes() -> Vec<Change> {
    let changes_of =
        |setting: &&str| ["1", "2"].map(|value| Change { setting: (*setting).into(), value: value.into() });
    SETTINGS.iter().flat_map(changes_of).collect()
}

fn has(settings: &Settings, setting: &str, value: &str) -> bool {
    settings.get(setting).is_some_and(|other| other == value)
}

impl Made {
    fn tune(&self, seed: u64) -> TuningOutcome {
        let (mut random, mut raced, mut spent) = (fastrand::Rng::with_seed(seed), Vec::new(), 0.0);
        let time = |spent_s: f64| Time { budget_s: self.trials, spent_s, trial_s: 1.0, race_s: 2.0 };
        let (mut best, mut times) = (None, None);
        while let Some(race) = next(&changes(), &raced, time(spent)) {
            spent += 2.0;
            let result = self.race(&race, raced.len(), &mut spent, &mut random);
            if race.kind == Kind::Proof {
                best = race.arms.last().cloned();
                times = result.ratio(DEFAULT + 1, interim::confidence(race.looks.len()));
            }
            raced.push(result);
        }
        TuningOutcome { best, times, raced, spent }
    }

    fn race(&self, race: &Race, run: usize, spent: &mut f64, random: &mut fastrand::Rng) -> RaceResult {
        let mut result =
            RaceResult { kind: race.kind, arms: race.arms.iter().cloned().map(Arm::new).collect() };
        for block in 0.. {
            let weather = 0.2 * normal(random);
            let alive = result.alive();
            let goes_on = |arm: usize| arm == DEFAULT || arm == result.control() || alive.contains(&arm);
            let go_on: Vec<bool> =
                (0..result.arms.len()).map(|arm| race.kind >= Kind::Proof || goes_on(arm)).collect();
            for (arm, _) in result.arms.iter_mut().zip(go_on).filter(|(_, goes_on)| *goes_on) {
                if *spent >= self.trials * race.until {
                    return result;
                }
                *spent += 1.0;
                let ln = 9.0 + weather + (self.effect)(&arm.settings) + self.noise * normal(random);
                arm.times.insert(BlockKey { run, block }, ln.exp());
                arm.out = (self.out)(&arm.settings).then(|| "it takes too much memory".to_owned());
            }
            let enough = match race.kind {
                Kind::Proof => {
                    interim::is_over(&race.looks, block + 1, || is_settled(&result, race.looks.len()))
                }
                _ => result.is_over(),
            };
            if enough {
                return result;
            }
        }
        result
    }
}

fn share(made: &Made, rounds: u64, is_wanted: impl Fn(&TuningOutcome) -> bool) -> f64 {
    let count = (0..rounds).filter(|round| is_wanted(&made.tune(1000 + round))).count();
    count as f64 / rounds as f64
}

#[test]
fn where_nothing_helps_a_gain_is_told_no_more_often_than_promised() {
    for (noise, trials) in [(0.05, 400.0), (0.3, 250.0)] {
        let made = Made { effect: |_| 0.0, noise, trials, out: NEVER };
        let rate = share(&made, 200, TuningOutcome::is_faster);
        assert!(rate <= 0.05, "noise {noise}: {rate}");
    }
}

#[test]
fn where_everything_costs_the_default_is_kept() {
    let made =
        Made { effect: |settings| 0.2 * settings.len() as f64, noise: 0.05, trials: 400.0, out: NEVER };
    assert_eq!(share(&made, 100, |outcome| outcome.best.is_some()), 0.0);
}

/// `a=2` and `c=1` help, `b=1` costs; all others do nothing.
const PLAIN: fn(&Settings) -> f64 = |settings| {
    let times = |setting, value, ln: f64| if has(settings, setting, value) { ln } else { 0.0 };
    times("a", "2", -0.25) + times("c", "1", -0.1) + times("b", "1", 0.3) + times("a", "1", -0.1)
};

#[test]
fn what_helps_is_found_and_the_told_interval_holds_the_truth() {
    let made = Made { effect: PLAIN, noise: 0.05, trials: 400.0, out: NEVER };
    let rounds = 100;
    let found =
        share(&made, rounds, |outcome| outcome.is_faster() && outcome.has("a", "2") && outcome.has("c", "1"));
    assert!(found >= 0.9, "{found}");
    let holds = share(&made, rounds, |outcome| {
        let truth = outcome.best.as_ref().map_or(1.0, |best| PLAIN(best).exp());
        let interval = outcome.times.and_then(|times| times.ratio.interval);
        interval.is_some_and(|interval| interval.contains(truth))
    });
    assert!(holds >= 0.93, "the interval allows for every look, and for the choice: {holds}");
    let idle = share(&made, rounds, |outcome| outcome.best.as_ref().is_some_and(|best| best.len() > 3));
    assert!(idle <= 0.2, "settings that do nothing are mostly taken away: {idle}");
}

#[test]
fn single_values_are_called_better_or_worse_together_no_more_often_than_promised() {
    let made = Made { effect: |_| 0.0, noise: 0.1, trials: 500.0, out: NEVER };
    let wrong = share(&made, 150, |outcome| {
        let screened = screened(&outcome.raced).unwrap();
        (1..screened.arms.len()).any(|arm| {
            let times = screened.ratio(arm, worth::confidence(screened.arms.len() - 1));
            times.is_some_and(|times| matches!(Verdict::judge(&times), Verdict::Faster | Verdict::Slower))
        })
    });
    assert!(wrong <= 0.05, "{wrong}");
}

#[test]
fn of_two_that_do_the_same_one_is_taken_and_two_that_harm_each_other_are_not() {
    let redundant = Made {
        effect: |settings| if has(settings, "a", "1") || has(settings, "b", "1") { -0.3 } else { 0.0 },
        noise: 0.03,
        trials: 500.0,
        out: NEVER,
    };
    let is_one =
        |outcome: &TuningOutcome| outcome.is_faster() && outcome.has("a", "1") != outcome.has("b", "1");
    let one = share(&redundant, 60, is_one);
    assert!(one >= 0.8, "{one}");
    let harmful = Made {
        effect: |settings| match (has(settings, "a", "1"), has(settings, "b", "1")) {
            (true, true) => 0.2,
            (true, false) | (false, true) => -0.2,
            (false, false) => 0.0,
        },
        ..redundant
    };
    let one = share(&harmful, 60, is_one);
    assert!(one >= 0.9, "{one}");
}

#[test]
fn what_helps_only_beside_another_is_found_among_the_neighbours() {
    let made = Made {
        effect: |settings| match (has(settings, "a", "1"), has(settings, "b", "2")) {
            (true, true) => -0.5,
            (true, false) => -0.2,
            (false, _) => 0.0,
        },
        noise: 0.03,
        trials: 500.0,
        out: NEVER,
    };
    let both = share(&made, 60, |outcome| outcome.has("a", "1") && outcome.has("b", "2"));
    assert!(both >= 0.9, "{both}");
}

#[test]
fn what_can_t_be_taken_is_never_chosen_and_the_time_is_kept() {
    let made = Made {
        effect: PLAIN,
        noise: 0.05,
        trials: 300.0,
        out: |settings| has(settings, "a", "2") || settings.len() > 2,
    };
    for seed in 0..20 {
        let outcome = made.tune(seed);
        let best = outcome.best.clone().unwrap_or_default();
        assert!(!has(&best, "a", "2") && best.len() <= 2, "{best:?}");
        assert!(outcome.spent <= made.trials * 1.05, "{}", outcome.spent);
    }
    // If the default itself is unusable, the best usable settings are taken.
    let made = Made { out: Settings::is_empty, effect: |settings| 0.1 * settings.len() as f64, ..made };
    assert!(made.tune(1).best.is_some_and(|best| best.len() == 1));
}

#[test]
fn without_values_to_try_there_is_nothing_to_measure() {
    let time = Time { budget_s: 100.0, spent_s: 0.0, trial_s: 1.0, race_s: 1.0 };
    assert_eq!(next(&[], &[], time), None);
}
