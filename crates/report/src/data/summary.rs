//! What stands above every report: the machine, who won how often, and what is missing and why.

use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};

use super::builds;
use super::grid::{Grid, Item, Style, wrap};
use super::matrix::{Matrix, Why};
use super::merge::Merged;
use super::names::{HEADING, store_style};
use super::noise::{self, Drift, Outlier};
use super::planned::{self, Unfinished};
use crate::result::{Environment, Failure, Outcome, PlaceInfo, Run};
use crate::units::{grouped, rough_bytes};

/// Kinds of failure, and so on, that are listed before the rest is only counted.
const LISTED: usize = 10;

/// The summary. Each line is ended.
pub(super) fn text(merged: &Merged<'_>, matrices: &[Matrix], style: Style) -> String {
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
    for line in [counts(merged)].into_iter().chain(unfinished(merged)) {
        out.push_str(&wrap(&line, style.width, "  "));
    }
    let doubts = doubt_lines(merged).into_iter().chain(builds::not_ranked(merged));
    for line in doubts.chain(noise_lines(merged)) {
        out.push_str(&wrap(&line, style.width, "  "));
    }
    out.push_str(&wins(matrices, style));
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

/// A time of day without the fraction of its second: `2025-01-02T03:04:05Z`.
pub(super) fn to_the_second(time: &str) -> String {
    match (time.split_once('.'), time.ends_with('Z')) {
        (Some((second, _)), true) => format!("{second}Z"),
        _ => time.to_owned(),
    }
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
    lines
}

/// Whether a place's disk rotates, in words. A virtual machine's disk is whatever its host says, and most say that it
/// rotates.
pub(super) fn rotation(place: &PlaceInfo, environment: &Environment) -> Option<&'static str> {
    let virtual_machine = |text: &String| text.contains("virtual machine") || text.contains("wsl");
    let virtual_machine = environment.virtualisation.as_ref().is_some_and(virtual_machine);
    place.rotates.map(|rotates| match (virtual_machine, rotates) {
        (true, _) => "of what kind, only the host knows",
        (false, true) => "rotating, says the kernel",
        (false, false) => "solid state",
    })
}

fn place(place: &PlaceInfo, environment: &Environment) -> String {
    let mut line = format!("place {}: {}", place.name, place.path);
    line.push_str(&format!(", {}", place.file_system.as_deref().unwrap_or("unknown file system")));
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

/// Figures that can't be as they seem, cell by cell: once each, with the first trial's reason.
pub(super) fn doubt_lines(merged: &Merged<'_>) -> Vec<String> {
    let mut doubted: IndexMap<(String, &str), &str> = IndexMap::new();
    for trial in merged.runs.iter().flat_map(|run| &run.trials) {
        let doubts = trial.ok().into_iter().flat_map(|measured| &measured.doubts);
        for doubt in doubts.filter(|_| !merged.is_harness(&trial.cell.store)) {
            doubted.entry((trial.cell.id(), doubt.figure.as_str())).or_insert(&doubt.reason);
        }
    }
    let line = |((cell, figure), reason): (&(String, &str), &&str)| {
        format!("Doubted, and not ranked: {figure} of {cell}: {reason}.")
    };
    let mut lines: Vec<String> = doubted.iter().take(LISTED).map(line).collect();
    if doubted.len() > LISTED {
        lines.push(format!("And {} more figures that are doubted.", doubted.len() - LISTED));
    }
    lines
}

/// Outliers and drift, run by run.
pub(super) fn noise_lines(merged: &Merged<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, run) in merged.runs.iter().enumerate() {
        let of = if merged.runs.len() > 1 { format!(" of run {index}") } else { String::new() };
        if let Some(Drift { times }) = noise::drift(run) {
            let how = if times.value > 1.0 { "slower" } else { "faster" };
            let percent = (times.value - 1.0).abs() * 100.0;
            lines.push(format!(
                "Drift{of}: the second half of the blocks was {percent:.0} % {how} than the first."
            ));
        }
        let outliers = noise::outliers(run);
        lines.extend(outliers.iter().take(LISTED).map(|outlier| {
            let Outlier { cell, block, operation, times } = outlier;
            format!("Outlier{of}: {cell}, block {block}: {operation} took {times:.2} times its median.")
        }));
        if outliers.len() > LISTED {
            lines.push(format!("And {} more outliers{of}.", outliers.len() - LISTED));
        }
    }
    if !lines.is_empty() {
        lines.push("Nothing was dropped for that; intervals hold it.".into());
    }
    lines
}

pub(super) fn counts(merged: &Merged<'_>) -> String {
    let (mut ok, mut failed, mut unsupported) = (0, 0, 0);
    for trial in merged.runs.iter().flat_map(|run| &run.trials) {
        match trial.outcome {
            Outcome::Ok => ok += 1,
            Outcome::Failed { .. } => failed += 1,
            Outcome::Unsupported { .. } => unsupported += 1,
        }
    }
    let left_out: usize = merged.runs.iter().map(|run| run.header.left_out.len()).sum();
    if ok + failed + unsupported == 0 {
        return format!("There are no trials yet; {} left out.", combinations(left_out));
    }
    format!(
        "Trials: {} succeeded, {} failed, {} unsupported; {} left out.",
        grouped(ok),
        grouped(failed),
        grouped(unsupported),
        combinations(left_out)
    )
}

/// Which runs have fewer trials than they were to have, and how to go on with them.
pub(super) fn unfinished(merged: &Merged<'_>) -> Vec<String> {
    let several = merged.runs.len() > 1;
    let line = |(index, run): (usize, &Run)| {
        let Unfinished { done, planned, at_least } = planned::unfinished(run)?;
        let of = if several { format!("Run {index}: ") } else { String::new() };
        let least = if at_least { "at least " } else { "" };
        Some(format!(
            "{of}{} of {least}{} trials: the run is not complete. Go on with storebench run --resume RUN.",
            grouped(done),
            grouped(planned)
        ))
    };
    merged.runs.iter().enumerate().filter_map(line).collect()
}

fn combinations(number: usize) -> String {
    format!("{} combination{}", grouped(number as u64), if number == 1 { "" } else { "s" })
}

/// How often a store won alone, and how often with others.
type Wins = (usize, usize);

/// For each matrix, how often each store won at each figure.
fn wins(matrices: &[Matrix], style: Style) -> String {
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
        grid.titled_group(format!("{}, {}", matrix.hardware, matrix.title), rows);
    }
    if !any {
        return String::new();
    }
    let title = style.paint(HEADING, "How often each store won: alone + too close to call");
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

/// Things that happened in the same way: how often, and an example.
pub(super) struct Alike {
    pub(super) times: usize,
    pub(super) example: String,
}

/// What happened, each with its reason.
pub(super) type Lists = IndexMap<String, Alike>;

fn count_in(list: &mut Lists, what: String, example: impl FnOnce() -> String) {
    match list.get_mut(&what) {
        Some(alike) => alike.times += 1,
        None => {
            list.insert(what, Alike { times: 1, example: example() });
        }
    }
}

/// What has no figures.
pub(super) struct Missing {
    pub(super) failed: Lists,
    pub(super) unsupported: Lists,
    pub(super) left_out: Lists,
    pub(super) not_run: Lists,
}

/// What failed, what is unsupported, what was left out and what did not run, each with its reason.
pub(super) fn missing<'m>(merged: &Merged<'_>, matrices: impl IntoIterator<Item = &'m Matrix>) -> Missing {
    let (mut failed, mut unsupported, mut left_out) = (Lists::new(), Lists::new(), Lists::new());
    for (index, run) in merged.runs.iter().enumerate() {
        let of_run = if merged.runs.len() > 1 { format!(" of run {index}") } else { String::new() };
        for trial in &run.trials {
            let (id, store) = (trial.cell.id(), &trial.cell.store);
            match &trial.outcome {
                Outcome::Ok => {}
                Outcome::Failed { reason, message, log } => {
                    let what = format!("{store}, {}: {}", kind(*reason), one_line(message));
                    count_in(&mut failed, what, || format!("{id}, block {}, {log}{of_run}", trial.block));
                }
                Outcome::Unsupported { message } => {
                    count_in(&mut unsupported, format!("{store}: {}", one_line(message)), || id);
                }
            }
        }
        for omitted in &run.header.left_out {
            count_in(&mut left_out, one_line(&omitted.reason), || omitted.cell.id());
        }
    }
    Missing { failed, unsupported, left_out, not_run: not_measured(merged, matrices) }
}

fn missing_text(merged: &Merged<'_>, matrices: &[Matrix], style: Style) -> String {
    let missing = missing(merged, matrices);
    let mut out = list("Failed", "trials", &missing.failed, style);
    out.push_str(&list("Unsupported", "trials", &missing.unsupported, style));
    out.push_str(&list("Left out", "combinations", &missing.left_out, style));
    out.push_str(&list("Not run", "combinations", &missing.not_run, style));
    out
}

fn kind(failure: Failure) -> &'static str {
    match failure {
        Failure::Store => "error",
        Failure::WrongData => "wrong data",
        Failure::Unsynced => "not synced",
        Failure::DiskFull => "disk full",
        Failure::OutOfMemory => "out of memory",
        Failure::Crashed => "crashed",
        Failure::TimedOut => "timed out",
        Failure::Harness => "harness failed",
    }
}

/// Messages of engines may hold line ends, which would break the list.
fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
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
        out.push_str(&wrap(&format!("  and {more} more kinds; --csv-long lists all"), style.width, "    "));
    }
    out
}

/// Stores that never ran, and places in matrices where a store that ran elsewhere did not.
fn not_measured<'m>(merged: &Merged<'_>, matrices: impl IntoIterator<Item = &'m Matrix>) -> Lists {
    let mut lists = Lists::new();
    for run in merged.runs {
        for store in &run.header.stores {
            let known = run.trials.iter().any(|trial| trial.cell.store == store.name)
                || run.header.left_out.iter().any(|l| l.cell.store == store.name);
            if !known {
                count_in(&mut lists, format!("{}: no trial ran", store.name), String::new);
            }
        }
    }
    for matrix in matrices {
        // A trial that succeeds has a figure for memory, so these rows tell which trials there are.
        let rows = matrix.rows.iter().filter(|row| row.figure.name == "memory");
        for (row, contest) in rows.flat_map(|row| row.contests.iter().enumerate().map(move |c| (row, c))) {
            let (column, contest) = contest;
            for absent in contest.absent.iter().filter(|absent| absent.why == Why::NotMeasured) {
                let place = &matrix.columns[column];
                let what = format!("{}: {}, {}", absent.store, matrix.hardware, matrix.title);
                count_in(&mut lists, what, || {
                    format!(
                        "{}, {} records, {}",
                        row.record_size,
                        grouped(place.records.from),
                        place.data.name()
                    )
                });
            }
        }
    }
    lists
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{Sample, run};

    #[test]
    fn a_run_that_was_cut_off_says_so() {
        let mut run = run("box", &[Sample::new("lmdb")]);
        let mut plan = crate::plan::find("crud").unwrap();
        plan.axes.store.truncate(2);
        run.header.plan = plan.to_toml().unwrap();
        let runs = [run];
        let text = text(&Merged::new(&runs, &[]), &[], Style { width: 160, colour: false });
        assert!(text.contains("\n1 of ") && text.contains("storebench run --resume RUN"), "{text}");
    }

    #[test]
    fn a_store_alone_wins_nothing() {
        let runs = [run("box", &[Sample::new("lmdb")])];
        let merged = Merged::new(&runs, &[]);
        let matrices = crate::report::matrix::matrices(&merged);
        assert_eq!(wins(&matrices, Style { width: 80, colour: false }), "");
    }

    #[test]
    fn a_time_of_day_needs_no_nanoseconds() {
        assert_eq!(to_the_second("2026-11-21T23:03:15.807887989Z"), "2026-11-21T23:03:15Z");
        assert_eq!(to_the_second("2025-01-02T03:04:05Z"), "2025-01-02T03:04:05Z");
    }

    #[test]
    fn a_virtual_disk_is_not_said_to_rotate() {
        let Run { mut header, .. } = run("box", &[Sample::new("lmdb")]);
        let mut told = |virtualisation: &str, rotates| {
            header.environment.virtualisation = Some(virtualisation.into());
            header.places[0].rotates = rotates;
            rotation(&header.places[0], &header.environment)
        };
        assert_eq!(told("none", Some(true)), Some("rotating, says the kernel"));
        assert_eq!(told("docker", Some(false)), Some("solid state"));
        assert_eq!(told("virtual machine (QEMU)", Some(true)), Some("of what kind, only the host knows"));
        assert_eq!(told("virtual machine (QEMU)", None), None);
    }
}
