//! The head of every report in the terminal: the machine, who won how often, and what is missing and why.

use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};
use storebench_core::cell::Cell;
use storebench_core::result::{Environment, PlaceInfo};
use storebench_core::units::{grouped, rough_bytes};
use storebench_host::run::Run;

use super::grid::{Grid, Item, Style, wrap};
use crate::data::builds;
use crate::data::clients;
use crate::data::contention;
use crate::data::effects::effects;
use crate::data::floor;
use crate::data::matrix::Matrix;
use crate::data::merge::Merged;
use crate::data::moment::to_the_second;
use crate::data::names::{HEADING, LISTED, store_style};
use crate::data::pace;
use crate::data::saturated;
use crate::data::summary::{Lists, counts, doubt_lines, missing, noise_lines, rotation, unfinished};

/// The summary, with what stands before how often each store won. Each line is ended.
pub fn text(merged: &Merged<'_>, matrices: &[&Matrix], first: &str, style: Style) -> String {
    let mut out = String::new();
    let mut seen: IndexSet<String> = IndexSet::new();
    for (index, run) in merged.runs.iter().enumerate() {
        out.push_str(&heading(index, run, merged.runs.len(), style));
        for line in machine(run) {
            // Runs of one machine say the same of it; once is enough.
            if seen.insert(format!("{} {line}", run.header.hardware)) {
                out.push_str(&wrap(&format!("  {line}"), style.width, "    "));
            }
        }
    }
    let clients = clients::lines(merged);
    for line in floor::lines(&merged.floors).into_iter().chain(pace::line(merged)).chain(clients) {
        out.push_str(&wrap(&line, style.width, "  "));
    }
    for line in [counts(merged)].into_iter().chain(unfinished(merged)) {
        out.push_str(&wrap(&line, style.width, "  "));
    }
    let doubts = doubt_lines(merged).into_iter().chain(builds::not_ranked(merged));
    let crowded = contention::lines(merged).into_iter();
    for line in crowded.chain(saturated::lines(merged)).chain(doubts).chain(noise_lines(merged)) {
        out.push_str(&wrap(&line, style.width, "  "));
    }
    out.push_str(first);
    // Of settings of one store their effects say more than how often each won.
    let stores: IndexSet<&str> = merged.cells().map(Cell::store).collect();
    if stores.len() > 1 || effects(merged).is_empty() {
        out.push_str(&wins(merged, matrices, style));
    }
    out.push_str(&missing_text(merged, matrices, style));
    out
}

fn heading(index: usize, run: &Run, runs: usize, style: Style) -> String {
    let header = &run.header;
    let number = if runs > 1 { format!("run {index}: ") } else { String::new() };
    let text =
        format!("{number}{}, study {}, {}", header.hardware, header.study, to_the_second(&header.started));
    style.paint(HEADING, wrap(&text, style.width, "  ").trim_end()) + "\n"
}

fn machine(run: &Run) -> Vec<String> {
    let Environment { cpu, cores, memory_bytes, kernel, distribution, virtualisation, .. } =
        &run.header.environment;
    let unknown = || "unknown".to_owned();
    let mut lines = vec![format!(
        "{}, {cores} cores, {}; {}, {kernel}; virtualisation: {}",
        cpu.clone().unwrap_or_else(|| "unknown processor".into()),
        memory_bytes.map_or_else(|| "unknown memory".into(), |bytes| rough_bytes(bytes as f64)),
        distribution.clone().unwrap_or_else(|| "unknown distribution".into()),
        virtualisation.clone().unwrap_or_else(unknown),
    )];
    lines.extend(run.header.places.iter().map(|info| place(info, &run.header.environment)));
    lines.extend(settings(run));
    lines
}

/// The settings of stores that hold in the whole run.
fn settings(run: &Run) -> Option<String> {
    let plan = run.plan()?;
    let all = plan.settings.iter().flat_map(|(store, all)| all.iter().map(move |one| (store, one)));
    let all: Vec<String> = all.map(|(store, (name, value))| format!("{store}.{name}={value}")).collect();
    (!all.is_empty()).then(|| format!("settings: {}", all.join(", ")))
}

fn place(place: &PlaceInfo, environment: &Environment) -> String {
    let mut line = format!("place {}: {}", place.name, place.path);
    line.push_str(&format!(", {}", place.file_system.as_deref().unwrap_or("unknown file system")));
    if let Some(driver) = &place.driver {
        line.push_str(&format!(" of its own for each trial, by {driver}"));
    }
    if let Some(device) = &place.device {
        line.push_str(&format!(" on {device}"));
    }
    let known = [place.device_model.as_deref(), rotation(place, environment)];
    let known: Vec<&str> = known.into_iter().flatten().collect();
    if !known.is_empty() {
        line.push_str(&format!(" ({})", known.join(", ")));
    }
    line
}

/// The number of a store's wins alone, and of those with others.
type Wins = (usize, usize);

/// For each matrix, how often each store won at each figure.
fn wins(merged: &Merged<'_>, matrices: &[&Matrix], style: Style) -> String {
    let figures: IndexSet<&str> =
        matrices.iter().flat_map(|matrix| &matrix.rows).map(|row| row.figure.name.as_str()).collect();
    let mut grid = Grid::new(1);
    let heads = figures.iter().map(|name| Item::new(*name).right());
    grid.head([Item::new("")].into_iter().chain(heads).collect());
    let mut any = false;
    for matrix in matrices {
        let mut tally: IndexMap<&str, BTreeMap<&str, Wins>> = IndexMap::new();
        for row in &matrix.rows {
            // One store alone wins nothing.
            for contest in row.contests.iter().filter(|contest| contest.contenders.len() > 1) {
                let shared = contest.winners().count() > 1;
                for winner in contest.winners() {
                    let wins = tally.entry(&winner.store).or_default().entry(&row.figure.name).or_default();
                    if shared { wins.1 += 1 } else { wins.0 += 1 }
                }
            }
        }
        if tally.is_empty() {
            continue;
        }
        any = true;
        tally.sort_by_cached_key(|_, wins| std::cmp::Reverse(wins.values().fold((0, 0), add)));
        let mut rows = Vec::new();
        for (store, wins) in &tally {
            let items = figures.iter().map(|figure| wins_item(wins.get(figure).copied()));
            let name = Item::new(*store).painted(store_style(store));
            rows.push([name].into_iter().chain(items).collect());
        }
        grid.titled_group(matrix.name(), rows);
    }
    if !any {
        return String::new();
    }
    let (one, _) = merged.layout.ranked(merged.cells());
    let title = format!("How often each {one} won: alone + too close to call");
    let title = style.paint(HEADING, &title);
    format!("\n{title}\n{}", grid.render(style))
}

fn add(a: Wins, b: &Wins) -> Wins {
    (a.0 + b.0, a.1 + b.1)
}

fn wins_item(wins: Option<Wins>) -> Item {
    let text = match wins.unwrap_or_default() {
        (0, 0) => "·".to_owned(),
        (alone, 0) => alone.to_string(),
        (alone, shared) => format!("{alone} + {shared}"),
    };
    Item::new(text).right()
}

fn missing_text(merged: &Merged<'_>, matrices: &[&Matrix], style: Style) -> String {
    let missing = missing(merged, matrices.iter().copied());
    let mut out = list("Failed", "trials", &missing.failed, style);
    out.push_str(&list("Unsupported", "trials", &missing.unsupported, style));
    out.push_str(&list("Left out", "combinations", &missing.left_out, style));
    out.push_str(&list("Not run", "combinations", &missing.not_run, style));
    out
}

/// A list under a title; `unit` is what there are several of.
fn list(title: &str, unit: &str, list: &Lists, style: Style) -> String {
    if list.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", style.paint(HEADING, title));
    for (what, alike) in list.iter().take(LISTED) {
        let line = match (alike.times, alike.example.as_str()) {
            (_, "") => format!("  {what}"),
            (1, example) => format!("  {what} ({example})"),
            (times, example) => format!("  {what} ({} {unit}; first: {example})", grouped(times as u64)),
        };
        out.push_str(&wrap(&line, style.width, "    "));
    }
    if list.len() > LISTED {
        let more = list.len() - LISTED;
        out.push_str(&wrap(&format!("  and {more} more kinds; --json lists all"), style.width, "    "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples::{Sample, run};

    #[test]
    fn a_run_that_was_cut_off_says_so() {
        let mut run = run("box", &[Sample::new("lmdb")]);
        let mut plan = storebench_host::plan::find("crud").unwrap();
        plan.axes.cut(storebench_core::cell::Axis::STORE, 2);
        run.header.plan = plan.to_toml().unwrap();
        let runs = [run];
        let text = text(&Merged::new(&runs, &[]), &[], "", Style { width: 160, colour: false });
        assert!(text.contains("\n1 of ") && text.contains("storebench run --resume RUN"), "{text}");
    }

    #[test]
    fn a_store_alone_wins_nothing() {
        let runs = [run("box", &[Sample::new("lmdb")])];
        let merged = Merged::new(&runs, &[]);
        let matrices = crate::data::matrix::matrices(&merged);
        assert_eq!(
            wins(&merged, &matrices.iter().collect::<Vec<_>>(), Style { width: 80, colour: false }),
            ""
        );
    }
}
