//! The effects of settings: every combination with its guarantee, each value alone, and each pair.

use storebench_figures::column::Unit;
use storebench_figures::data::effects::{
    EffectVerdict, Effects, Interaction, MainEffect, NOT_YET, Settings, SettingsResult, Times,
    describe_guarantee, effects,
};
use storebench_figures::data::merge::Merged;
use storebench_figures::data::spread::describe_after;
use storebench_figures::stats::{Estimate, MIN_BLOCKS};
use storebench_model::units::{rough_ns, three_digits};

use crate::section::{Block, Cell, Column, ColumnRole, FoldState, Section, Shape, Table, Visibility};

pub const SECTION: Section = Section {
    name: "effects",
    title: "What settings are worth",
    link: "What settings are worth",
    shapes: &[&MAIN, &TOGETHER, &COMBINATIONS],
    blocks,
    ..Section::ABOVE
};

const MOST_SHOWN: usize = 8;

const MOST_NAMED: usize = 3;

const HARDWARE: Column = Column::text("hardware");
const METHOD: Column = Column::text("method");
const STORE: Column = Column::text("store");
const AT: Column = Column::text("at");
/// The table of a row in the CSV.
const ROW: Column = Column::text("row").only_csv();
const SETTINGS: Column = Column::text("settings").only_csv();
const BLOCKS: Column = Column::integer("blocks");
const LEAST: Column = Column::real("least", Unit::Count);
const GREATEST: Column = Column::real("greatest", Unit::Count);
const KNOWN: Column = Column::text("known");
const ALL: &str = "all";

const MAIN: Shape = Shape {
    name: "effects",
    columns: &[
        HARDWARE,
        METHOD,
        STORE,
        AT,
        ROW,
        SETTINGS.role(ColumnRole::Group, ""),
        Column::text("setting").only_sql(),
        Column::text("value").only_sql().role(ColumnRole::Line, "setting"),
        Column::text("base"),
        Column::text("guarantee").role(ColumnRole::Line, "guarantee"),
        Column::integer("pairs"),
        Column::text("operation").only_csv().role(ColumnRole::Across, ""),
        // Empty for all operations together.
        Column::text("of").sql("operation").only_sql(),
        BLOCKS,
        Column::estimate("times", Unit::Count).role(ColumnRole::Spread, ""),
        LEAST,
        GREATEST,
        KNOWN,
    ],
};

const TOGETHER: Shape = Shape {
    name: "interactions",
    columns: &[
        HARDWARE,
        METHOD,
        STORE,
        AT,
        ROW,
        SETTINGS.role(ColumnRole::Line, "settings"),
        Column::text("setting").only_sql(),
        Column::text("value").only_sql(),
        Column::text("other_setting").only_sql(),
        Column::text("other_value").only_sql(),
        Column::integer("pairs"),
        Column::text("operation").only_csv(),
        BLOCKS,
        Column::estimate("times", Unit::Count).role(ColumnRole::Line, "times"),
        LEAST,
        GREATEST,
        KNOWN,
    ],
};

const COMBINATIONS: Shape = Shape {
    name: "combinations",
    columns: &[
        HARDWARE,
        METHOD,
        STORE,
        AT,
        ROW,
        SETTINGS,
        BLOCKS.sql("trials"),
        Column::text("cell"),
        Column::text("name").only_sql().role(ColumnRole::Line, ""),
        Column::text("marks"),
        Column::text("guarantee_given").role(ColumnRole::Group, ""),
        Column::text("power_cut"),
        Column::integer("best"),
        Column::estimate("per_second", Unit::Count).role(ColumnRole::Line, "ops/s"),
        Column::estimate("latency_mean", Unit::Nanoseconds).sql("mean").role(ColumnRole::Line, "latency"),
        Column::real("syncs_per_operation", Unit::Count).role(ColumnRole::Line, "syncs/op"),
    ],
};

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    let groups = effects(merged);
    let fold = |(number, effects): (usize, &Effects)| {
        Block::fold(&effects.place.title, FoldState::Part(number), effects_blocks(merged, number, effects))
    };
    groups.iter().enumerate().map(fold).collect()
}

fn effects_blocks(merged: &Merged<'_>, number: usize, effects: &Effects) -> Vec<Block> {
    let fold_table = |title: &str, table| Block::fold(title, FoldState::Figures, vec![Block::Table(table)]);
    let mut blocks = vec![
        Block::Chart("dots", 2 * number),
        fold_table("Speed against what is promised", combinations(merged, effects)),
        Block::Note(
            "Over all operations. Marked (*, or bold) is the fastest of all that promise as much or more, or too close to call with it. What \
             stands further down promises less."
                .into(),
        ),
        Block::Chart("dots", 2 * number + 1),
        fold_table("What each setting is worth", main(merged, effects)),
        Block::Note(format!(
            "Mean latency divided by the mean latency at the base value, paired by block; of several pairs of combinations that differ in \
             nothing else, the geometric mean. Intervals, from {MIN_BLOCKS} blocks on, are 95 % for all values of a column together. \
             guarantee: what a power cut and a kill leave, compared with the base value."
        )),
    ];
    if !effects.interactions.is_empty() {
        let contents =
            vec![Block::Table(interactions_table(merged, effects)), Block::Note(together_note(effects))];
        blocks.push(Block::fold("What two settings do together", FoldState::Figures, contents));
    }
    blocks.extend(effects.is_any_open().then(|| Block::Note(NOT_YET.to_owned())));
    blocks
}

/// The settings that change the time of all operations the most, if trials prove it.
pub fn answer(merged: &Merged<'_>) -> Option<String> {
    let groups = effects(merged);
    let mut changes: Vec<(f64, String)> = Vec::new();
    for MainEffect { setting, value, base, times, .. } in groups.iter().flat_map(|effects| &effects.main) {
        let is_change = |times: &&Times| matches!(times.known, EffectVerdict::Less | EffectVerdict::More);
        let Some(times) = times.last().and_then(Option::as_ref).filter(is_change) else { continue };
        let [value, base] = [value, base].map(|value| merged.readable.value(setting, value));
        let words = format!("{setting}={value} takes {} the time of {base}", times.text());
        changes.push((times.ratio.ratio.value.ln().abs(), words));
    }
    changes.sort_by(|a, b| b.0.total_cmp(&a.0));
    let most: Vec<String> = changes.into_iter().take(MOST_NAMED).map(|(_, words)| words).collect();
    (!most.is_empty()).then(|| format!("Worth most: {}.", most.join("; ")))
}

fn scope_cells(effects: &Effects, row: &str) -> Vec<(&'static str, Cell)> {
    let place = &effects.place;
    let texts = [
        ("hardware", place.hardware.as_str()),
        ("method", &place.method),
        ("store", &place.store),
        ("at", &place.at),
        ("row", row),
    ];
    texts.map(|(name, text)| (name, Cell::text(text))).into()
}

fn combinations(merged: &Merged<'_>, effects: &Effects) -> Table {
    let mut table = Table::new(&COMBINATIONS);
    let number = |mean: Estimate| Cell::estimate(mean).with_text(three_digits(mean.value));
    let syncs = |syncs: f64| Cell::real(syncs).with_text(three_digits(syncs));
    for spot in &effects.points {
        let SettingsResult { latency_ns, per_second, tier, power_cut, .. } = spot;
        let mut cells = scope_cells(effects, "combination");
        let Estimate { value, interval } = latency_ns.mean;
        let latency = format!("{}{}", rough_ns(value), describe_after(interval, rough_ns));
        let notes = spot.marks.iter().map(|mark| format!("({mark})")).collect();
        let name = Cell::text(&spot.name).with_text(merged.readable.name(&spot.name));
        cells.extend([
            ("settings", Cell::text(join_settings(&spot.settings))),
            ("blocks", Cell::from_count(latency_ns.trials)),
            ("cell", Cell::text(&spot.cell)),
            ("name", name.with_notes(notes).best(spot.best)),
            ("marks", if spot.marks.is_empty() { Cell::none() } else { Cell::list(spot.marks.clone()) }),
            ("guarantee_given", Cell::text(tier.name()).with_text(describe_guarantee((*tier, *power_cut)))),
            ("power_cut", Cell::or_none(*power_cut, |cut| Cell::text(cut.name()))),
            ("best", Cell::boolean(spot.best)),
            ("per_second", Cell::or_none(per_second.as_ref(), |speed| number(speed.mean))),
            ("latency_mean", Cell::estimate(latency_ns.mean).with_text(latency)),
            ("syncs_per_operation", Cell::or_none(spot.syncs_per_operation, syncs)),
        ]);
        table.push(Visibility::Always, cells);
    }
    table
}

fn main(merged: &Merged<'_>, effects: &Effects) -> Table {
    let operations = || effects.operations.iter().map(String::as_str).chain([ALL]);
    let mut table = Table::new(&MAIN).with_columns(operations().map(str::to_owned).collect());
    for effect in &effects.main {
        let MainEffect { setting, value, base, .. } = effect;
        let readable = |value: &str| merged.readable.value(setting, value).into_owned();
        for (operation, times) in operations().zip(&effect.times) {
            let Some(times) = times else { continue };
            let mut cells = scope_cells(effects, "effect");
            let group = format!("{setting}, from {}", readable(base));
            cells.extend([
                ("settings", Cell::text(pair(setting, value)).with_text(group)),
                ("setting", Cell::text(setting)),
                ("value", Cell::text(value).with_text(readable(value))),
                ("base", Cell::text(base)),
                ("guarantee", Cell::text(effect.promise)),
                ("pairs", Cell::from_count(effect.pairs)),
                ("operation", Cell::text(operation)),
                ("of", Cell::or_none(Some(operation).filter(|name| *name != ALL), Cell::text)),
            ]);
            cells.extend(times_cells(times));
            table.push(Visibility::Always, cells);
        }
    }
    table
}

fn interactions_table(merged: &Merged<'_>, effects: &Effects) -> Table {
    let mut table = Table::new(&TOGETHER);
    for (number, interaction) in effects.interactions.iter().enumerate() {
        let Interaction { first, second, pairs, times } = interaction;
        let readable =
            |(setting, value): &(String, String)| pair(setting, &merged.readable.value(setting, value));
        let settings = [first, second].map(|(setting, value)| pair(setting, value)).join("; ");
        let mut cells = scope_cells(effects, "interaction");
        cells.extend([
            ("settings", Cell::text(settings).with_text(format!("{} {}", readable(first), readable(second)))),
            ("setting", Cell::text(&first.0)),
            ("value", Cell::text(&first.1)),
            ("other_setting", Cell::text(&second.0)),
            ("other_value", Cell::text(&second.1)),
            ("pairs", Cell::from_count(*pairs)),
            ("operation", Cell::text(ALL)),
        ]);
        cells.extend(times_cells(times));
        table.push(if number < MOST_SHOWN { Visibility::Always } else { Visibility::Closer }, cells);
    }
    table
}

fn together_note(effects: &Effects) -> String {
    let more = effects.interactions.len().saturating_sub(MOST_SHOWN);
    let more = if more > 0 { format!(" --table shows {more} smaller ones.") } else { String::new() };
    format!(
        "Mean latency with both settings, divided by what their two effects multiplied would give: ×1 where neither changes the \
         effect of the other.{more}"
    )
}

fn times_cells(times: &Times) -> [(&'static str, Cell); 5] {
    [
        ("blocks", Cell::from_count(times.ratio.blocks)),
        ("times", Cell::estimate(times.ratio.ratio).with_text(times.text())),
        ("least", Cell::real(times.least)),
        ("greatest", Cell::real(times.greatest)),
        ("known", Cell::text(times.known.name())),
    ]
}

fn pair(setting: &str, value: &str) -> String {
    format!("{setting}={value}")
}

fn join_settings(settings: &Settings) -> String {
    settings.iter().map(|(name, value)| pair(name, value)).collect::<Vec<_>>().join("; ")
}
