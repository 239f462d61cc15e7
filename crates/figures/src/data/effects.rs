//! The effects of a store's settings: main effects, interactions of two, and every combination with its guarantee. If runs
//! vary settings, those are compared here whatever they guarantee, and the guarantee of each is shown: the tables of winners
//! rank them.

mod store_contest;
mod times;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use serde::Serialize;
use storebench_model::store::{Guarantee, Loss};
use storebench_model::units::parse_bytes;

pub use self::store_contest::{ContestScope, Settings};
use self::store_contest::{SettingsTrials, StoreContest, contests};
pub use self::times::{EffectVerdict, NOT_YET, Times};
use self::times::{Quotient, average_quotients};
use super::merge::{BlockKey, Merged};
use crate::judge::standing::{self, Terms};
use crate::stats::{Better, CONFIDENCE, Series, Summary};

/// The effects of one store's settings on one machine, at one position.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effects {
    #[serde(flatten)]
    pub place: ContestScope,
    /// The operations, in the order in which they ran.
    pub operations: Vec<String>,
    pub main: Vec<MainEffect>,
    /// The joint effects of two values beyond their separate ones, the greatest first.
    pub interactions: Vec<Interaction>,
    /// Every combination, the safest first, then the fastest.
    pub points: Vec<SettingsResult>,
}

/// The effect of a setting's value, compared with the base's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MainEffect {
    pub setting: String,
    pub value: String,
    /// The value that it is compared with.
    pub base: String,
    /// The number of pairs of combinations that differ in nothing else; their geometric mean counts.
    pub pairs: usize,
    pub promise: &'static str,
    /// The factor to the mean latency at the base, by operation; the last one is of all operations together.
    pub times: Vec<Option<Times>>,
}

/// The factor by which two values together differ from their main effects.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Interaction {
    pub first: (String, String),
    pub second: (String, String),
    /// The number of quadruples of combinations.
    pub pairs: usize,
    /// The factor for the mean latency of all operations; 1 if the two are independent.
    pub times: Times,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettingsResult {
    /// The name under which reports rank it: `sqlite journal_mode=WAL`.
    pub name: String,
    /// The id of its cell; of the first, if there are several.
    pub cell: String,
    /// Its settings: the plan's, overridden by its own.
    pub settings: Settings,
    /// The names that the plan gives it: `the base`, or a point's name.
    pub marks: Vec<String>,
    pub tier: Guarantee,
    /// The loss that a power cut can cause, if known.
    pub power_cut: Option<Loss>,
    /// Syncs of an operation, over all operations.
    pub syncs_per_operation: Option<f64>,
    /// Mean latency of an operation, over all operations, in nanoseconds.
    pub latency_ns: Summary,
    /// Operations per second, over all operations; `None` at a fixed rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_second: Option<Summary>,
    /// Whether it is the fastest, or tied with it, among all that guarantee as much or more.
    pub best: bool,
}

impl Effects {
    pub fn is_any_open(&self) -> bool {
        let main = self.main.iter().flat_map(|effect| &effect.times).flatten();
        let mut effects = main.chain(self.interactions.iter().map(|interaction| &interaction.times));
        effects.any(|times| times.known == EffectVerdict::NotYet)
    }
}

/// The effects of settings, in all runs that vary them.
pub fn effects(merged: &Merged<'_>) -> Vec<Effects> {
    contests(merged).iter().filter_map(contest_effects).collect()
}

/// The effects of settings, with readable values.
pub fn effects_for_people(merged: &Merged<'_>) -> Vec<Effects> {
    let readable = &merged.readable;
    let mut effects = effects(merged);
    let shorten = |setting: &str, value: &mut String| *value = readable.value(setting, value).into_owned();
    for table in &mut effects {
        for effect in &mut table.main {
            shorten(&effect.setting, &mut effect.value);
            shorten(&effect.setting, &mut effect.base);
        }
        let pairs = table.interactions.iter_mut().flat_map(|effect| [&mut effect.first, &mut effect.second]);
        for (setting, value) in pairs {
            shorten(setting, value);
        }
        for point in &mut table.points {
            point.name = readable.name(&point.name).into_owned();
        }
    }
    effects
}

fn contest_effects(contest: &StoreContest<'_>) -> Option<Effects> {
    let levels = levels(contest);
    if contest.combinations.len() < 2 || levels.is_empty() {
        return None;
    }
    let operations = contest.operations();
    let figures: Vec<Option<&str>> =
        operations.iter().map(|name| Some(name.as_str())).chain([None]).collect();
    let mut main: Vec<MainEffect> = Vec::new();
    // Each interval allows for all values of the table.
    let confidence = shared_confidence(levels.values().map(|levels| levels.len() - 1).sum());
    for (setting, values) in &levels {
        let base = contest.base_of(setting, values);
        for value in sort_values(values).into_iter().filter(|value| **value != base) {
            main.extend(main_effect(contest, setting, value, &base, &figures, confidence));
        }
    }
    Some(Effects {
        place: contest.place.clone(),
        interactions: interactions(contest, &levels),
        points: points(contest),
        operations,
        main,
    })
}

/// The confidence of one of several intervals that hold together (Bonferroni).
fn shared_confidence(intervals: usize) -> f64 {
    1.0 - (1.0 - CONFIDENCE) / intervals.max(1) as f64
}

/// The values of each setting that has several.
fn levels(contest: &StoreContest<'_>) -> BTreeMap<String, BTreeSet<String>> {
    let names: BTreeSet<&String> = contest.combinations.keys().flat_map(BTreeMap::keys).collect();
    let levels_of = |name: &String| -> BTreeSet<String> {
        contest.combinations.keys().map(|settings| level(settings, name).to_owned()).collect()
    };
    let levels = names.into_iter().map(|name| (name.clone(), levels_of(name)));
    levels.filter(|(_, values)| values.len() > 1).collect()
}

/// Values, by size if they are numbers.
fn sort_values(values: &BTreeSet<String>) -> Vec<&String> {
    let number =
        |value: &String| value.parse::<f64>().or_else(|_| parse_bytes(value).map(|bytes| bytes as f64));
    let mut values: Vec<&String> = values.iter().collect();
    values.sort_by(|a, b| match (number(a), number(b)) {
        (Ok(a), Ok(b)) => a.total_cmp(&b),
        (a, b) => a.is_err().cmp(&b.is_err()),
    });
    values
}

fn level<'s>(settings: &'s Settings, name: &str) -> &'s str {
    settings.get(name).map_or(AS_SHIPPED, String::as_str)
}

/// The value shown for a setting that was not given.
const AS_SHIPPED: &str = "as shipped";

/// The settings with one of them at another value.
fn with_setting(settings: &Settings, name: &str, value: &str) -> Settings {
    let mut settings = settings.clone();
    match value {
        AS_SHIPPED => drop(settings.remove(name)),
        value => drop(settings.insert(name.to_owned(), value.to_owned())),
    }
    settings
}

fn main_effect(
    contest: &StoreContest<'_>,
    setting: &str,
    value: &str,
    base: &str,
    figures: &[Option<&str>],
    confidence: f64,
) -> Option<MainEffect> {
    let matching = contest.combinations.iter().filter(|(settings, _)| level(settings, setting) == value);
    let pairs: Vec<(&SettingsTrials<'_>, &SettingsTrials<'_>)> = matching
        .filter_map(|(settings, combination)| {
            Some((combination, contest.combinations.get(&with_setting(settings, setting, base))?))
        })
        .collect();
    if pairs.is_empty() {
        return None;
    }
    let times_of = |figure: &Option<&str>| {
        let quotients = pairs
            .iter()
            .map(|(a, b)| Quotient { above: vec![a.series(*figure)], below: vec![b.series(*figure)] });
        average_quotients(&quotients.collect::<Vec<_>>(), confidence)
    };
    Some(MainEffect {
        setting: setting.to_owned(),
        value: value.to_owned(),
        base: base.to_owned(),
        pairs: pairs.len(),
        promise: guarantee_change(&pairs),
        times: figures.iter().map(times_of).collect(),
    })
}

/// The change of guarantee, in words, from the second to the first of each pair.
fn guarantee_change(pairs: &[(&SettingsTrials<'_>, &SettingsTrials<'_>)]) -> &'static str {
    let changes: BTreeSet<Ordering> =
        pairs.iter().map(|(a, b)| a.weakest_guarantee().cmp(&b.weakest_guarantee())).collect();
    match (changes.contains(&Ordering::Less), changes.contains(&Ordering::Greater)) {
        (false, false) => "the same",
        (true, false) => "less",
        (false, true) => "more",
        (true, true) => "more or less",
    }
}

fn interactions(contest: &StoreContest<'_>, levels: &BTreeMap<String, BTreeSet<String>>) -> Vec<Interaction> {
    let mut found: Vec<(Interaction, Vec<Quotient>)> = Vec::new();
    for (first, first_values) in levels {
        for (second, second_values) in
            levels.range::<String, _>((std::ops::Bound::Excluded(first), std::ops::Bound::Unbounded))
        {
            let bases = (contest.base_of(first, first_values), contest.base_of(second, second_values));
            for a in first_values.iter().filter(|value| **value != bases.0) {
                for b in second_values.iter().filter(|value| **value != bases.1) {
                    let quotients = corner_quotients(contest, (first, a, &bases.0), (second, b, &bases.1));
                    if let Some(times) = average_quotients(&quotients, CONFIDENCE) {
                        let (first, second) = ((first.clone(), a.clone()), (second.clone(), b.clone()));
                        found.push((Interaction { first, second, pairs: quotients.len(), times }, quotients));
                    }
                }
            }
        }
    }
    let confidence = shared_confidence(found.len());
    let recompute = |(interaction, quotients): (Interaction, Vec<Quotient>)| {
        Some(Interaction { times: average_quotients(&quotients, confidence)?, ..interaction })
    };
    let mut interactions: Vec<Interaction> = found.into_iter().filter_map(recompute).collect();
    let size = |interaction: &Interaction| interaction.times.value().ln().abs();
    interactions.sort_by(|a, b| size(b).total_cmp(&size(a)));
    interactions
}

/// All combinations of the other settings that have the four corners: both values, and neither over each alone.
fn corner_quotients(
    contest: &StoreContest<'_>,
    (first, a, a_base): (&str, &str, &str),
    (second, b, b_base): (&str, &str, &str),
) -> Vec<Quotient> {
    let has_both = |settings: &Settings| level(settings, first) == a && level(settings, second) == b;
    let with_both = contest.combinations.iter().filter(|(settings, _)| has_both(settings));
    let corners = |(settings, both_set): (&Settings, &SettingsTrials<'_>)| {
        let corner = |settings: &Settings| contest.combinations.get(settings).map(|found| found.series(None));
        let only_first = corner(&with_setting(settings, second, b_base))?;
        let only_second = corner(&with_setting(settings, first, a_base))?;
        let neither = corner(&with_setting(&with_setting(settings, first, a_base), second, b_base))?;
        Some(Quotient { above: vec![both_set.series(None), neither], below: vec![only_first, only_second] })
    };
    with_both.filter_map(corners).collect()
}

fn points(contest: &StoreContest<'_>) -> Vec<SettingsResult> {
    let measured: Vec<(&Settings, &SettingsTrials<'_>)> =
        contest.combinations.iter().filter(|(_, combination)| !combination.series(None).is_empty()).collect();
    let is_best = |candidate: &SettingsTrials<'_>| {
        let rivals = measured.iter().map(|(_, combination)| *combination);
        let is_rival =
            |rival: &&SettingsTrials<'_>| rival.weakest_guarantee() >= candidate.weakest_guarantee();
        let rivals: Vec<&SettingsTrials<'_>> = rivals.filter(is_rival).collect();
        let series: Vec<Series<BlockKey>> = rivals.iter().map(|rival| rival.series(None)).collect();
        let best = standing::best(&series, Better::Lower, Terms::default());
        best.into_iter().any(|index| std::ptr::eq(rivals[index], candidate))
    };
    let build_result = |(settings, combination): &(&Settings, &SettingsTrials<'_>)| {
        let (tier, power_cut) = combination.weakest_guarantee();
        Some(SettingsResult {
            name: combination.name.clone(),
            cell: combination.cell.id(),
            settings: (*settings).clone(),
            marks: contest.plan_names(settings),
            tier,
            power_cut,
            syncs_per_operation: combination.syncs_per_operation(),
            latency_ns: Summary::from_series(&combination.series(None))?,
            per_second: Summary::from_values(&combination.per_second()),
            best: is_best(combination),
        })
    };
    let mut results: Vec<SettingsResult> = measured.iter().filter_map(build_result).collect();
    results.sort_by(|a, b| {
        let guarantee = |result: &SettingsResult| (result.tier, result.power_cut);
        guarantee(b).cmp(&guarantee(a)).then(a.latency_ns.mean.value.total_cmp(&b.latency_ns.mean.value))
    });
    results
}

/// The combinations of settings by guarantee, the safest first.
pub fn group_by_guarantee(
    results: &[SettingsResult],
) -> IndexMap<(Guarantee, Option<Loss>), Vec<&SettingsResult>> {
    let mut by_guarantee: IndexMap<_, Vec<&SettingsResult>> = IndexMap::new();
    for result in results {
        by_guarantee.entry((result.tier, result.power_cut)).or_default().push(result);
    }
    by_guarantee
}

/// A guarantee in words: `power: a power cut costs nothing`.
pub fn describe_guarantee((tier, power_cut): (Guarantee, Option<Loss>)) -> String {
    match power_cut {
        Some(power_cut) => format!("{tier}: a power cut {power_cut}"),
        None => tier.to_string(),
    }
}

#[cfg(test)]
mod tests;
