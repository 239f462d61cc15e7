//! The summary of runs in the terminal: the machine, notes, and what is missing and why.

use indexmap::IndexSet;
use storebench_figures::data::builds;
use storebench_figures::data::clients;
use storebench_figures::data::floor;
use storebench_figures::data::matrix::Matrix;
use storebench_figures::data::merge::Merged;
use storebench_figures::data::moment::to_the_second;
use storebench_figures::data::names::{HEADING, LISTED};
use storebench_figures::data::pace;
use storebench_figures::data::preset;
use storebench_figures::data::saturation;
use storebench_figures::data::summary::{
    Lists, MissingFigures, RepeatedEvent, counts, missing_figures, noise_lines, rotation, unfinished,
    warning_lines,
};
use storebench_host::run::Run;
use storebench_model::result::{Environment, LocationInfo};
use storebench_model::units::{rough_bytes, with_commas};

use super::grid::{Style, wrap};

const MOST_NAMED: usize = 2;

/// The summary, including its sections. Each line is ended. `is_whole`: with all warnings, otherwise with the first of each kind.
pub fn text(merged: &Merged<'_>, matrices: &[&Matrix], first: &str, is_whole: bool, style: Style) -> String {
    let mut out = String::new();
    let mut printed: IndexSet<String> = IndexSet::new();
    for (index, run) in merged.runs.iter().enumerate() {
        out.push_str(&heading(index, run, merged.runs.len(), style));
        for line in machine_lines(run) {
            // Runs of one machine give the same line; once is enough.
            if printed.insert(format!("{} {line}", run.header.hardware)) {
                out.push_str(&wrap(&format!("  {line}"), style.width, "    "));
            }
        }
    }
    let limited =
        |lines: Vec<String>| if is_whole { lines } else { first_lines(lines).into_iter().collect() };
    let lines = floor::describe_floors(&merged.floors).into_iter().chain(pace::describe_pace(merged));
    let lines = lines.chain(clients::describe_clients(merged)).chain([counts(merged)]);
    let lines = lines.chain(unfinished(merged)).chain(saturation::describe_saturation(merged));
    let lines = lines.chain(limited(warning_lines(merged))).chain(builds::not_ranked(merged));
    out.extend(lines.chain(limited(noise_lines(merged))).map(|line| wrap(&line, style.width, "  ")));
    out.push_str(first);
    out.push_str(&missing_text(merged, matrices, style));
    out
}

/// The summary at the end of a run: failures with their reasons, and a line for each other note. A report shows them in full.
pub fn notes(merged: &Merged<'_>, matrices: &[&Matrix], style: Style) -> String {
    let missing = missing_figures(merged, matrices.iter().copied());
    let lists =
        [("Left out", "combinations", &missing.left_out), ("Not run", "combinations", &missing.not_run)];
    let lists = lists.into_iter().filter_map(list_line);
    let lines = clients::describe_clients(merged).into_iter().chain([counts(merged)]);
    let lines = lines.chain(unfinished(merged)).chain(lists);
    let lines = lines.chain(saturation::describe_saturation(merged)).chain(builds::not_ranked(merged));
    let lines = lines.chain(first_lines(warning_lines(merged))).chain(first_lines(noise_lines(merged)));
    let lines: String = lines.map(|line| wrap(&line, style.width, "  ")).collect();
    lines + &failed_text(&missing, style)
}

fn first_lines(lines: Vec<String>) -> Option<String> {
    let first = lines.first()?;
    Some(match lines.len() {
        1 => first.clone(),
        count => format!("{first} And {} more: storebench report --table.", with_commas(count as u64 - 1)),
    })
}

/// A list in a line: its first entries, the rest counted. `unit` is the counted noun.
fn list_line((title, unit, list): (&str, &str, &Lists)) -> Option<String> {
    let entries: Vec<String> =
        list.iter().take(MOST_NAMED).map(|(event, repeats)| describe_alike(event, repeats, unit)).collect();
    let more = list.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    (!entries.is_empty()).then(|| format!("{title}: {}{more}.", entries.join("; ")))
}

fn describe_alike(event: &str, repeats: &RepeatedEvent, unit: &str) -> String {
    match (repeats.times, repeats.example.as_str()) {
        (_, "") => event.to_owned(),
        (1, example) => format!("{event} ({example})"),
        (times, example) => format!("{event} ({} {unit}; first: {example})", with_commas(times as u64)),
    }
}

fn heading(index: usize, run: &Run, runs: usize, style: Style) -> String {
    let header = &run.header;
    let number = if runs > 1 { format!("run {index}: ") } else { String::new() };
    let preset = header.preset.as_ref().map_or(String::new(), |preset| format!(", preset {preset}"));
    let started = to_the_second(&header.started);
    let text = format!("{number}{}, study {}{preset}, {started}", header.hardware, header.study);
    style.paint(HEADING, wrap(&text, style.width, "  ").trim_end()) + "\n"
}

fn machine_lines(run: &Run) -> Vec<String> {
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
    lines.extend(run.header.locations.iter().map(|info| describe_location(info, &run.header.environment)));
    lines.extend(describe_settings(run));
    lines.extend(preset::describe_preset(run));
    lines
}

fn describe_settings(run: &Run) -> Option<String> {
    let plan = run.plan()?;
    let settings =
        plan.settings.iter().flat_map(|(store, values)| values.iter().map(move |pair| (store, pair)));
    let settings: Vec<String> =
        settings.map(|(store, (name, value))| format!("{store}.{name}={value}")).collect();
    (!settings.is_empty()).then(|| format!("settings: {}", settings.join(", ")))
}

fn describe_location(location: &LocationInfo, environment: &Environment) -> String {
    let mut line = format!("place {}: {}", location.name, location.path);
    line.push_str(&format!(", {}", location.file_system.as_deref().unwrap_or("unknown file system")));
    if let Some(driver) = &location.driver {
        line.push_str(&format!(", new for each trial, by {driver}"));
    }
    if let Some(device) = &location.device {
        line.push_str(&format!(" on {device}"));
    }
    let parts = [location.device_model.as_deref(), rotation(location, environment)];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    if !parts.is_empty() {
        line.push_str(&format!(" ({})", parts.join(", ")));
    }
    line
}

fn missing_text(merged: &Merged<'_>, matrices: &[&Matrix], style: Style) -> String {
    let missing = missing_figures(merged, matrices.iter().copied());
    let mut out = failed_text(&missing, style);
    out.push_str(&list_text("Left out", "combinations", &missing.left_out, style));
    out.push_str(&list_text("Not run", "combinations", &missing.not_run, style));
    out
}

fn failed_text(missing: &MissingFigures, style: Style) -> String {
    let failed = list_text("Failed", "trials", &missing.failed, style);
    failed + &list_text("Unsupported", "trials", &missing.unsupported, style)
}

/// A list under a title; `unit` is the counted noun.
fn list_text(title: &str, unit: &str, list: &Lists, style: Style) -> String {
    if list.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", style.paint(HEADING, title));
    for (event, repeats) in list.iter().take(LISTED) {
        let line = format!("  {}", describe_alike(event, repeats, unit));
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
    use storebench_samples::{Sample, run};

    use super::*;

    #[test]
    fn a_run_that_was_cut_off_says_so() {
        let mut run = run("box", &[Sample::new("lmdb")]);
        let mut plan = storebench_host::plan::find("crud").unwrap();
        plan.axes.cut(storebench_model::cell::Axis::STORE, 2);
        run.header.plan = plan.to_toml().unwrap();
        let runs = [run];
        let text = text(&Merged::new(&runs, &[]), &[], "", true, Style { width: 160, colour: false });
        assert!(text.contains("\n1 of ") && text.contains("storebench run --resume RUN"), "{text}");
    }
}
