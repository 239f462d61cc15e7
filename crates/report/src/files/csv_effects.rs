//! What settings are worth as CSV: a row for each combination of settings, for each value of a setting and operation, and for each
//! two values together. The column `row` says which; columns that a row has nothing for are empty.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::data::effects::{Effects, Interaction, MainEffect, Settings, Spot, Times, effects};
use crate::data::merge::Merged;
use crate::stats::Estimate;

const HEADER: [&str; 29] = [
    "hardware",
    "method",
    "store",
    "at",
    "row",
    "settings",
    "base",
    "promise",
    "pairs",
    "operation",
    "blocks",
    "times",
    "times_low",
    "times_high",
    "least",
    "greatest",
    "known",
    "cell",
    "marks",
    "guarantee_given",
    "power_cut",
    "best",
    "per_second",
    "per_second_low",
    "per_second_high",
    "latency_mean_ns",
    "latency_mean_low_ns",
    "latency_mean_high_ns",
    "syncs_per_operation",
];

/// A row by the names of its columns.
type Row = BTreeMap<&'static str, String>;

/// Writes the rows; the header alone where no settings were varied.
///
/// # Errors
/// What the writer gives.
pub fn write(merged: &Merged<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(HEADER)?;
    for one in &effects(merged) {
        for row in rows(one) {
            writer.write_record(HEADER.map(|name| row.get(name).map_or("", String::as_str)))?;
        }
    }
    writer.flush()
}

fn rows(effects: &Effects) -> Vec<Row> {
    let place = &effects.place;
    let at = |kind: &str| -> Row {
        let texts = [("hardware", &place.hardware), ("method", &place.method), ("store", &place.store)];
        let mut row: Row = texts.map(|(name, text)| (name, text.clone())).into();
        row.extend([("at", place.at.clone()), ("row", kind.to_owned())]);
        row
    };
    let mut all: Vec<Row> = Vec::new();
    all.extend(effects.points.iter().map(|spot| combination(at("combination"), spot)));
    for effect in &effects.main {
        let operations = effects.operations.iter().map(String::as_str).chain(["all"]);
        let there = operations.zip(&effect.times).filter_map(|(name, times)| Some((name, times.as_ref()?)));
        all.extend(there.map(|(name, times)| main(at("effect"), effect, name, times)));
    }
    all.extend(effects.interactions.iter().map(|one| together(at("interaction"), one)));
    all
}

fn combination(mut row: Row, spot: &Spot) -> Row {
    row.extend([
        ("settings", joined(&spot.settings)),
        ("cell", spot.cell.clone()),
        ("marks", spot.marks.join("; ")),
        ("guarantee_given", spot.tier.name().to_owned()),
        ("power_cut", spot.power_cut.map_or_else(String::new, |cut| cut.name().to_owned())),
        ("best", u8::from(spot.best).to_string()),
        ("blocks", spot.latency_ns.trials.to_string()),
    ]);
    let names = ["latency_mean_ns", "latency_mean_low_ns", "latency_mean_high_ns"];
    estimate(&mut row, names, &spot.latency_ns.mean);
    if let Some(speed) = &spot.per_second {
        estimate(&mut row, ["per_second", "per_second_low", "per_second_high"], &speed.mean);
    }
    row.extend(spot.syncs_per_operation.map(|syncs| ("syncs_per_operation", syncs.to_string())));
    row
}

fn main(mut row: Row, effect: &MainEffect, operation: &str, times: &Times) -> Row {
    row.extend([
        ("settings", pair(&effect.setting, &effect.value)),
        ("base", effect.base.clone()),
        ("promise", effect.promise.to_owned()),
        ("pairs", effect.pairs.to_string()),
        ("operation", operation.to_owned()),
    ]);
    with_times(row, times)
}

fn together(mut row: Row, one: &Interaction) -> Row {
    let values = [&one.first, &one.second].map(|(setting, value)| pair(setting, value));
    row.extend([
        ("settings", values.join("; ")),
        ("pairs", one.pairs.to_string()),
        ("operation", "all".to_owned()),
    ]);
    with_times(row, &one.times)
}

fn with_times(mut row: Row, times: &Times) -> Row {
    row.extend([
        ("blocks", times.ratio.blocks.to_string()),
        ("least", times.least.to_string()),
        ("greatest", times.greatest.to_string()),
        ("known", times.known.name().to_owned()),
    ]);
    estimate(&mut row, ["times", "times_low", "times_high"], &times.ratio.ratio);
    row
}

fn estimate(row: &mut Row, names: [&'static str; 3], estimate: &Estimate) {
    row.insert(names[0], estimate.value.to_string());
    if let Some(interval) = estimate.interval {
        row.insert(names[1], interval.low.to_string());
        row.insert(names[2], interval.high.to_string());
    }
}

fn pair(setting: &str, value: &str) -> String {
    format!("{setting}={value}")
}

fn joined(settings: &Settings) -> String {
    settings.iter().map(|(name, value)| pair(name, value)).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::effects::tests::factorial;
    use crate::data::samples;

    #[test]
    fn combinations_effects_and_interactions_have_rows() {
        let runs = [factorial()];
        let merged = Merged::new(&runs, &[]);
        let all: Vec<Row> = effects(&merged).iter().flat_map(rows).collect();
        assert!(all.iter().flat_map(BTreeMap::keys).all(|name| HEADER.contains(name)));
        let mut out = Vec::new();
        write(&merged, &mut out).unwrap();
        let mut reader = csv::Reader::from_reader(out.as_slice());
        let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
        let of = |kind: &str| rows.iter().filter(|row| row["row"] == kind).collect::<Vec<_>>();
        assert_eq!(["combination", "effect", "interaction"].map(|kind| of(kind).len()), [4, 2 * 5, 1]);
        let best = &of("combination")[0];
        assert_eq!((best["settings"].as_str(), best["marks"].as_str()), ("j=W; s=F", "the best"));
        assert_eq!((best["best"].as_str(), best["guarantee_given"].as_str()), ("1", "power"));
        let last = of("effect")[4];
        assert_eq!(
            (last["settings"].as_str(), last["operation"].as_str(), last["promise"].as_str()),
            ("j=W", "all", "less")
        );
        assert!((last["times"].parse::<f64>().unwrap() - 0.612).abs() < 0.001);
        assert_eq!(of("interaction")[0]["settings"], "j=W; s=F");
    }

    #[test]
    fn where_no_settings_were_varied_there_is_a_header_alone() {
        let mut out = Vec::new();
        write(&Merged::new(&[samples::study()], &[]), &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap().lines().count(), 1);
    }
}
