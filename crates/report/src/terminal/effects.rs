//! What settings are worth, in the terminal.

use storebench_core::units::{rough_ns, three_digits};

use super::grid::{Grid, Item, Style, wrap};
use crate::data::effects::{
    Effects, MainEffect, NOT_YET, Spot, Times, by_promise, effects_for_people, promise_in_words,
};
use crate::data::merge::Merged;
use crate::data::names::HEADING;
use crate::data::spread;
use crate::stats::MIN_BLOCKS;

/// So many interactions are shown.
const SHOWN: usize = 8;

/// Columns that the figures beside a name take at most.
const FIGURES: usize = 44;

/// Main effects, interactions, and every combination with what it promises; empty where no settings were varied. Each line is
/// ended.
pub fn text(merged: &Merged<'_>, style: Style) -> String {
    effects_for_people(merged).iter().map(|one| of(one, style)).collect()
}

fn of(effects: &Effects, style: Style) -> String {
    let heading = |text: &str| {
        let text = wrap(&format!("{text}: {}", effects.place.title), style.width, "  ");
        style.paint(HEADING, text.trim_end())
    };
    let mut out =
        format!("\n{}\n{}", heading("Speed against what is promised"), spots(effects, style).render(style));
    let note = "Over all operations. *: the fastest of all that promise as much or more, or too close to call with it. What \
                stands further down promises less.";
    out.push_str(&wrap(note, style.width, "  "));
    out.push_str(&format!("\n{}\n{}", heading("What each setting is worth"), main(effects).render(style)));
    let note = format!(
        "Mean latency divided by the mean latency at the base value, paired by block; of several pairs of combinations that differ in \
         nothing else, the geometric mean. Intervals, from {MIN_BLOCKS} blocks on, are 95 % for all values of a column together. \
         Promise: what a power cut and a kill leave, beside the base value's."
    );
    out.push_str(&wrap(&note, style.width, "  "));
    if !effects.interactions.is_empty() {
        out.push_str(&format!(
            "\n{}\n{}",
            heading("What two settings do together"),
            together(effects, style).render(style)
        ));
        out.push_str(&wrap(&together_note(effects), style.width, "  "));
    }
    if effects.is_any_open() {
        out.push_str(&wrap(NOT_YET, style.width, "  "));
    }
    out
}

/// A name in lines that leave room for the figures beside it.
fn broken(name: &str, style: Style) -> Vec<String> {
    wrap(name, style.width.saturating_sub(FIGURES), "  ").lines().map(str::to_owned).collect()
}

fn times(times: Option<&Times>) -> Item {
    Item::new(times.map_or_else(|| "-".into(), Times::text)).right()
}

fn main(effects: &Effects) -> Grid {
    let mut grid = Grid::new(1);
    let operations = effects.operations.iter().map(String::as_str).chain(["all"]);
    let heads = ["setting", "promise"].into_iter().map(Item::new);
    grid.head(heads.chain(operations.map(|name| Item::new(name).right())).collect());
    for of_setting in effects.main.chunk_by(|a, b| a.setting == b.setting) {
        let row = |effect: &MainEffect| {
            let labels = [Item::new(&*effect.value), Item::new(effect.promise)];
            labels.into_iter().chain(effect.times.iter().map(|one| times(one.as_ref()))).collect()
        };
        let title = of_setting
            .first()
            .map_or_else(String::new, |first| format!("{}, from {}", first.setting, first.base));
        grid.titled_group(title, of_setting.iter().map(row).collect());
    }
    grid
}

fn together(effects: &Effects, style: Style) -> Grid {
    let mut grid = Grid::new(1);
    grid.head(vec![Item::new("settings"), Item::new("times").right()]);
    let name = |(setting, value): &(String, String)| format!("{setting}={value}");
    let shown = effects.interactions.iter().take(SHOWN);
    let row = |one: &crate::data::effects::Interaction| {
        let settings = format!("{} {}", name(&one.first), name(&one.second));
        vec![Item::lines(broken(&settings, style)), times(Some(&one.times))]
    };
    grid.group(shown.map(row).collect());
    grid
}

fn together_note(effects: &Effects) -> String {
    let more = effects.interactions.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" {more} smaller ones are left out.") } else { String::new() };
    format!(
        "Mean latency with both settings, divided by what their two effects multiplied would give: ×1 where neither changes the \
         effect of the other.{more}"
    )
}

fn spots(effects: &Effects, style: Style) -> Grid {
    let mut grid = Grid::new(1);
    // At a fixed rate all do as many: then latency alone tells.
    let with_speed = effects.points.iter().any(|spot| spot.per_second.is_some());
    let heads = with_speed.then_some("ops/s").into_iter().chain(["latency", "syncs/op"]);
    grid.head([Item::new("")].into_iter().chain(heads.map(|head| Item::new(head).right())).collect());
    for (promise, spots) in by_promise(&effects.points) {
        let rows = spots.iter().map(|spot| one_spot(spot, with_speed, style)).collect();
        grid.titled_group(promise_in_words(promise), rows);
    }
    grid
}

fn one_spot(spot: &Spot, with_speed: bool, style: Style) -> Vec<Item> {
    let latency = &spot.latency_ns.mean;
    let reach =
        spread::text(latency.interval, rough_ns).map_or_else(String::new, |reach| format!(" {reach}"));
    let best = if spot.best { "*" } else { "" };
    let or_none = |figure: Option<f64>| Item::new(figure.map_or_else(|| "-".into(), three_digits)).right();
    let name = broken(&format!("{}{best}", spot.name), style);
    let marks = spot.marks.iter().flat_map(|mark| broken(&format!("  ({mark})"), style));
    let mut row = vec![Item::lines(name.into_iter().chain(marks).collect())];
    row.extend(with_speed.then(|| or_none(spot.per_second.map(|speed| speed.mean.value))));
    row.push(Item::new(format!("{}{reach}", rough_ns(latency.value))).right());
    row.push(or_none(spot.syncs_per_operation));
    row
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;
    use crate::data::effects::tests::factorial;
    use crate::data::samples;

    #[test]
    fn effects_and_combinations_are_told_with_what_is_promised() {
        let runs = [factorial()];
        for width in [80, 160] {
            let text = text(&Merged::new(&runs, &[]), Style { width, colour: false });
            for part in [
                "j, from D",
                "×0.612",
                "×1.5",
                "sqlite j=W s=F*",
                "the best",
                "the base",
                "power",
                "syncs/op",
                "ops/s",
            ] {
                assert!(text.contains(part), "{part}: {text}");
            }
            let (power, none) = (text.find("\npower").unwrap(), text.find("\nnone").unwrap());
            assert!(power < none, "the safest first: {text}");
        }
    }

    #[test]
    fn long_names_break_into_lines_that_fit() {
        let mut run = factorial();
        run.header.plan = run.header.plan.replace("the best", &"a point with a long name ".repeat(3));
        let runs = [run];
        let merged = Merged::new(&runs, &[]);
        let mut all = effects_for_people(&merged);
        all[0].place.title = "a title of many words ".repeat(6);
        for spot in &mut all[0].points {
            spot.name = format!("{} journal_mode=WAL locking_mode=EXCLUSIVE synchronous=FULL", spot.name);
        }
        all[0].interactions[0].first = ("journal_mode".into(), "WAL".into());
        all[0].interactions[0].second = ("auto_vacuum_and_more".into(), "INCREMENTAL_AND_MORE".into());
        for width in [80, 100] {
            let text = of(&all[0], Style { width, colour: false });
            assert!(text.lines().all(|line| line.width() <= width), "{text}");
            assert!(text.contains("locking_mode=EXCLUSIVE"), "{text}");
        }
    }

    #[test]
    fn where_no_settings_were_varied_nothing_is_said() {
        assert_eq!(text(&Merged::new(&[samples::study()], &[]), Style { width: 80, colour: false }), "");
    }
}
