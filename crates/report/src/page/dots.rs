//! Charts of the effects of settings: a row for each combination or value, with a dot at its figure, which the page only draws.

use serde::Serialize;
use storebench_figures::column::Unit;
use storebench_figures::data::effects::{
    EffectVerdict, Effects, MainEffect, SettingsResult, describe_guarantee, effects_for_people,
    group_by_guarantee,
};
use storebench_figures::data::merge::Merged;
use storebench_figures::data::spread;
use storebench_figures::stats::{Estimate, Interval, MIN_BLOCKS};
use storebench_model::store::{Guarantee, Loss};
use storebench_model::units::{rough_ns, three_digits};

use super::numbers::rounded;

const DIGITS: i32 = 5;

#[derive(Debug, PartialEq, Serialize)]
pub struct Dots {
    title: String,
    across: &'static str,
    unit: Unit,
    /// Whether 1 is marked, as the base's position.
    from_one: bool,
    /// The heading of the texts at the right end of rows; empty if there are none.
    aside: &'static str,
    whiskers: &'static str,
    /// The machine, the store and the range of trials per row, for the caption.
    hardware: String,
    store: String,
    trials: (usize, usize),
    groups: Vec<Group>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Group {
    name: String,
    /// The index of its colour in the page's palette.
    tone: usize,
    rows: Vec<Dot>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Dot {
    name: String,
    y: f64,
    low: Option<f64>,
    high: Option<f64>,
    /// Whether more blocks may still move it across 1; for a single figure, whether the reach is a range.
    open: bool,
    best: bool,
    named: bool,
    aside: String,
    tip: String,
}

/// The charts of all effects of settings, two for each: every combination, then the main effects.
pub fn dots(merged: &Merged<'_>) -> Vec<Dots> {
    let effects = effects_for_people(merged);
    effects.iter().flat_map(|effects| [combinations(effects), main_effects(effects)]).collect()
}

/// A promise's colour: green if nothing is lost, then teal, blue and amber; violet and red if files can be damaged.
fn tone((tier, power_cut): (Guarantee, Option<Loss>)) -> usize {
    match (tier, power_cut) {
        (Guarantee::None, _) => 6,
        (_, Some(Loss::Whole)) => 3,
        (_, Some(Loss::RarelyWhole | Loss::ByHand | Loss::Torn)) => 2,
        (_, Some(Loss::Newest)) | (Guarantee::Process, None) => 0,
        (_, Some(Loss::Last | Loss::Unfinished)) => 8,
        (_, Some(Loss::Nothing)) | (Guarantee::Power | Guarantee::Node, None) => 1,
    }
}

fn combinations(effects: &Effects) -> Dots {
    // At a fixed rate the speed is equal, so latency is shown.
    let by_speed = effects.points.iter().all(|spot| spot.per_second.is_some());
    let promises = group_by_guarantee(&effects.points);
    let groups = promises.iter().map(|(promise, spots)| Group {
        name: describe_guarantee(*promise),
        tone: tone(*promise),
        rows: spots.iter().map(|spot| settings_dot(effects, spot, by_speed)).collect(),
    });
    let trials = || effects.points.iter().map(|spot| spot.latency_ns.trials);
    Dots {
        title: format!("Speed against what is promised: {}", effects.place.title),
        across: match by_speed {
            true => "operations per second, all operations",
            false => "mean latency of all operations",
        },
        unit: if by_speed { Unit::PerSecond } else { Unit::Nanoseconds },
        from_one: false,
        aside: "syncs each",
        whiskers: whiskers(trials().min()),
        hardware: effects.place.hardware.clone(),
        store: effects.place.store.clone(),
        trials: (trials().min().unwrap_or(0), trials().max().unwrap_or(0)),
        groups: groups.collect(),
    }
}

fn whiskers(fewest: Option<usize>) -> &'static str {
    match fewest {
        Some(fewest) if fewest >= MIN_BLOCKS => "95 % intervals",
        _ => "95 % intervals, or the range of two trials",
    }
}

fn settings_dot(effects: &Effects, spot: &SettingsResult, by_speed: bool) -> Dot {
    let speed = spot.per_second.filter(|_| by_speed).map(|speed| speed.mean);
    let figure = speed.unwrap_or(spot.latency_ns.mean);
    let unit = if speed.is_some() { Unit::PerSecond } else { Unit::Nanoseconds };
    let syncs = spot.syncs_per_operation.map_or_else(|| "–".into(), three_digits);
    let name = label(effects, spot);
    Dot {
        tip: format!(
            "{name}: {}, {} each, {syncs} syncs each",
            describe_estimate(&figure, unit),
            rough_ns(spot.latency_ns.mean.value)
        ),
        y: rounded(figure.value, DIGITS),
        low: figure.interval.map(|interval| rounded(interval.low.max(0.0), DIGITS)),
        high: figure.interval.map(|interval| rounded(interval.high, DIGITS)),
        open: figure.interval.is_none_or(|interval: Interval| interval.is_range()),
        best: spot.best,
        named: !spot.marks.is_empty(),
        aside: syncs,
        name,
    }
}

fn describe_estimate(figure: &Estimate, unit: Unit) -> String {
    unit.show(figure.value) + &spread::describe_after(figure.interval, |value| unit.show(value))
}

/// A combination by its settings, without its store, which is in the title: `journal_mode=WAL (the paper's best)`.
fn label(effects: &Effects, spot: &SettingsResult) -> String {
    let settings = spot.name.strip_prefix(&effects.place.store).unwrap_or(&spot.name).trim_start();
    match (settings, spot.marks.join(", ")) {
        ("", marks) if marks.is_empty() => spot.name.clone(),
        ("", marks) => marks,
        (settings, marks) if marks.is_empty() => settings.to_owned(),
        (settings, marks) => format!("{settings} ({marks})"),
    }
}

fn main_effects(effects: &Effects) -> Dots {
    let groups = effects.main.chunk_by(|a, b| a.setting == b.setting).filter_map(|of_setting| {
        let first = of_setting.first()?;
        let rows: Vec<Dot> = of_setting.iter().filter_map(effect_dot).collect();
        let name = format!("{}, next to {}", first.setting, first.base);
        (!rows.is_empty()).then_some(Group { name, tone: 0, rows })
    });
    let blocks =
        || effects.main.iter().filter_map(|effect| Some(effect.times.last()?.as_ref()?.ratio.blocks));
    Dots {
        title: format!("What each value is worth: {}", effects.place.title),
        across: "mean latency of all operations, times that at the base: further left is faster",
        unit: Unit::Count,
        from_one: true,
        aside: "promises",
        whiskers: "95 % intervals of all values together; hollow and dashed: not known yet, the range of the blocks",
        hardware: effects.place.hardware.clone(),
        store: effects.place.store.clone(),
        trials: (blocks().min().unwrap_or(0), blocks().max().unwrap_or(0)),
        groups: groups.collect(),
    }
}

fn effect_dot(effect: &MainEffect) -> Option<Dot> {
    let times = effect.times.last()?.as_ref()?;
    let reach = times.range();
    let verdict = match times.known {
        EffectVerdict::Less => "faster",
        EffectVerdict::More => "slower",
        EffectVerdict::Alike => "no difference beyond a tenth",
        EffectVerdict::NotYet => "whether it is faster or slower is not known yet",
    };
    Some(Dot {
        tip: format!("{}={}: {}, {verdict}", effect.setting, effect.value, times.text()),
        name: effect.value.clone(),
        y: rounded(times.value(), DIGITS),
        low: reach.map(|(low, _)| rounded(low, DIGITS)),
        high: reach.map(|(_, high)| rounded(high, DIGITS)),
        open: times.known == EffectVerdict::NotYet,
        best: false,
        named: false,
        aside: effect.promise.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use storebench_samples::{factorial, study};

    use super::*;

    #[test]
    fn every_combination_and_every_value_has_a_row() {
        let runs = [factorial()];
        let charts = dots(&Merged::new(&runs, &[]));
        let rows = |chart: &Dots| -> Vec<(String, String, bool)> {
            let dots = chart.groups.iter().flat_map(|group| group.rows.iter().map(move |dot| (group, dot)));
            dots.map(|(group, dot)| (group.name.clone(), dot.name.clone(), dot.best)).collect()
        };
        let row = |group: &str, name: &str, best| (group.to_owned(), name.to_owned(), best);
        assert_eq!(
            rows(&charts[0]),
            [
                row("power", "j=W s=F (the best)", true),
                row("power", "j=D s=F", false),
                row("process", "j=D s=N (the base)", true),
                row("none", "j=W s=N", true),
            ]
        );
        // Four operations with a mean of 0.8875 µs, except for the blocks' noise.
        let base = &charts[0].groups[1].rows[0];
        assert!((base.y / 1e6 - 1.0).abs() < 0.2 && base.low.unwrap() < base.y, "{base:?}");
        assert_eq!(rows(&charts[1]), [row("j, next to D", "W", false), row("s, next to N", "F", false)]);
        assert_eq!((charts[1].groups[1].rows[0].aside.as_str(), charts[1].trials), ("more", (4, 4)));
        assert_eq!(dots(&Merged::new(&[study()], &[])), []);
    }
}
