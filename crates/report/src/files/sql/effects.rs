//! What settings are worth: every combination, main effects and interactions of two.

use super::{Field, Tables, integer, optional, real, text, truth};
use crate::data::effects::{Effects, Interaction, MainEffect, Spot, Times, Where, effects};
use crate::data::merge::Merged;
use crate::stats::Interval;

type Result = std::result::Result<(), super::SqlError>;

pub fn write(merged: &Merged<'_>, tables: &mut Tables<'_>) -> Result {
    effects(merged).iter().try_for_each(|one| of(one, tables))
}

fn of(effects: &Effects, tables: &mut Tables<'_>) -> Result {
    let place = &effects.place;
    effects.points.iter().try_for_each(|spot| combination(place, spot, tables))?;
    for effect in &effects.main {
        let operations = effects.operations.iter().map(|name| Some(name.as_str())).chain([None]);
        for (operation, times) in operations.zip(&effect.times) {
            let Some(times) = times else { continue };
            tables.insert("effects", main(place, effect, operation, times))?;
        }
    }
    effects.interactions.iter().try_for_each(|one| tables.insert("interactions", together(place, one)))
}

fn at(place: &Where) -> Vec<Field<'static>> {
    let Where { hardware, method, store, at, .. } = place;
    vec![("hardware", text(hardware)), ("method", text(method)), ("store", text(store)), ("at", text(at))]
}

fn combination(place: &Where, spot: &Spot, tables: &mut Tables<'_>) -> Result {
    let low = |interval: Option<Interval>| optional(interval.map(|interval| interval.low), real);
    let high = |interval: Option<Interval>| optional(interval.map(|interval| interval.high), real);
    let (latency, speed) = (spot.latency_ns.mean, spot.per_second.map(|speed| speed.mean));
    let of_speed = speed.and_then(|speed| speed.interval);
    let marks = Some(spot.marks.join(", ")).filter(|marks| !marks.is_empty());
    let mut fields = at(place);
    fields.extend([
        ("cell", text(&spot.cell)),
        ("name", text(&spot.name)),
        ("marks", optional(marks, |marks| text(&marks))),
        ("guarantee_given", text(spot.tier.name())),
        ("power_cut", optional(spot.power_cut, |cut| text(cut.name()))),
        ("best", truth(spot.best)),
        ("trials", integer(spot.latency_ns.trials as u64)),
        ("per_second", optional(speed.map(|speed| speed.value), real)),
        ("per_second_low", low(of_speed)),
        ("per_second_high", high(of_speed)),
        ("mean_ns", real(latency.value)),
        ("mean_low_ns", low(latency.interval)),
        ("mean_high_ns", high(latency.interval)),
        ("syncs_per_operation", optional(spot.syncs_per_operation, real)),
    ]);
    tables.insert("combinations", fields)
}

fn main(place: &Where, effect: &MainEffect, operation: Option<&str>, times: &Times) -> Vec<Field<'static>> {
    let mut fields = at(place);
    fields.extend([
        ("setting", text(&effect.setting)),
        ("value", text(&effect.value)),
        ("base", text(&effect.base)),
        ("promise", text(effect.promise)),
        ("pairs", integer(effect.pairs as u64)),
        ("operation", optional(operation, text)),
    ]);
    fields.extend(ratio(times));
    fields
}

fn together(place: &Where, one: &Interaction) -> Vec<Field<'static>> {
    let mut fields = at(place);
    fields.extend([
        ("setting", text(&one.first.0)),
        ("value", text(&one.first.1)),
        ("other_setting", text(&one.second.0)),
        ("other_value", text(&one.second.1)),
        ("pairs", integer(one.pairs as u64)),
    ]);
    fields.extend(ratio(&one.times));
    fields
}

fn ratio(times: &Times) -> [Field<'static>; 7] {
    let interval = times.ratio.ratio.interval;
    [
        ("blocks", integer(times.ratio.blocks as u64)),
        ("times", real(times.value())),
        ("times_low", optional(interval.map(|interval| interval.low), real)),
        ("times_high", optional(interval.map(|interval| interval.high), real)),
        ("least", real(times.least)),
        ("greatest", real(times.greatest)),
        ("known", text(times.known.name())),
    ]
}
