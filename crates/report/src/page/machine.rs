//! The machine, the places, and how to repeat the run.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use storebench_figures::data::merge::Merged;
use storebench_figures::data::moment::to_the_second;
use storebench_figures::data::preset;
use storebench_figures::data::summary::rotation;
use storebench_host::run::Run;
use storebench_model::result::{LocationInfo, RunHeader};
use storebench_model::sanitize::{mount_options, without_names};
use storebench_model::units::{rough_bytes, three_digits};

use crate::markup::{BREAK, Html, Tag, code, folded, p, pairs, tag};

/// A line for each machine: its processor, the studies that ran there, and when the first of them began; and what their presets lack.
pub fn subtitle(merged: &Merged<'_>) -> Html {
    let mut lines: IndexMap<String, (Vec<String>, String)> = IndexMap::new();
    for run in merged.runs {
        let header = &run.header;
        let machine = &header.environment;
        let cpu = machine.cpu.as_deref().unwrap_or("unknown processor");
        let machine = format!("{}: {cpu}, {} cores", header.hardware, machine.cores);
        let (studies, _) =
            lines.entry(machine).or_insert_with(|| (Vec::new(), to_the_second(&header.started)));
        let study =
            header.preset.iter().fold(header.study.clone(), |study, preset| format!("{study} {preset}"));
        if !studies.contains(&study) {
            studies.push(study);
        }
    }
    let presets: BTreeSet<String> = merged.runs.iter().filter_map(preset::describe_preset).collect();
    let line = |(machine, (studies, started)): (String, (Vec<String>, String))| {
        let noun = if studies.len() == 1 { "study" } else { "studies" };
        format!("{machine}; {noun} {}, {started}", studies.join(", "))
    };
    Html::join(lines.into_iter().map(line).chain(presets), BREAK)
}

pub fn html(merged: &Merged<'_>) -> Html {
    let mut machines: IndexMap<String, Vec<usize>> = IndexMap::new();
    for (index, run) in merged.runs.iter().enumerate() {
        machines.entry(machine(run)).or_default().push(index);
    }
    let has_several = machines.len() > 1;
    let describe_machine = |runs: Vec<usize>| {
        let run = &merged.runs[runs[0]];
        let numbers = runs.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let title = match has_several {
            true => format!("Run {numbers}: {}", run.header.hardware),
            false => run.header.hardware.clone(),
        };
        (tag("h3").with(title), pairs(environment(run)), places(run))
    };
    Html::new(machines.into_values().map(describe_machine).collect::<Vec<_>>())
}

/// A machine with its places, as a text that is equal for runs of the same.
fn machine(run: &Run) -> String {
    let RunHeader { hardware, storebench, environment, .. } = &run.header;
    let places = run.header.locations.iter().map(|place| (&place.name, &place.path, &place.file_system));
    format!(
        "{hardware} {storebench} {:?} {:?} {:?} {} {:?}",
        environment.cpu,
        environment.memory_bytes,
        environment.cores,
        environment.kernel,
        places.collect::<Vec<_>>()
    )
}

fn environment(run: &Run) -> [(&'static str, String); 11] {
    let machine = &run.header.environment;
    let unknown = || "unknown".to_owned();
    let text = |value: &Option<String>| value.clone().unwrap_or_else(unknown);
    [
        ("storebench", run.header.storebench.clone()),
        ("started", to_the_second(&run.header.started)),
        ("processor", text(&machine.cpu)),
        ("logical processors", machine.cores.to_string()),
        ("memory", machine.memory_bytes.map_or_else(unknown, |bytes| rough_bytes(bytes as f64))),
        ("kernel", machine.kernel.clone()),
        ("distribution", text(&machine.distribution)),
        ("virtualisation", text(&machine.virtualisation)),
        ("frequency governor", text(&machine.governor)),
        ("load average at the start", machine.load_1min.map_or_else(unknown, |load| load.to_string())),
        ("clock", format!("{}, {} ns a reading", machine.clock, three_digits(machine.clock_ns))),
    ]
}

fn places(run: &Run) -> Html {
    let place = |place: &LocationInfo| {
        let unknown = || "unknown".to_owned();
        let rotation = rotation(place, &run.header.environment);
        let device = [place.device.as_deref(), place.device_model.as_deref(), rotation];
        let device: Vec<&str> = device.into_iter().flatten().collect();
        let rows = [
            ("directory", place.path.clone()),
            ("file system", place.file_system.clone().unwrap_or_else(unknown)),
            ("mount options", place.mount_options.as_deref().map_or_else(unknown, mount_options)),
            ("mounted by", place.driver.clone().unwrap_or_else(|| "the user".into())),
            ("device", if device.is_empty() { unknown() } else { device.join(", ") }),
            ("free at the start", rough_bytes(place.free_bytes as f64)),
        ];
        (tag("h4").with(("Place ", &place.name)), pairs(rows))
    };
    Html::new(run.header.locations.iter().map(place).collect::<Vec<_>>())
}

pub fn repeat_section(merged: &Merged<'_>) -> Html {
    let mut commands: IndexMap<&[String], Vec<&Run>> = IndexMap::new();
    merged.runs.iter().for_each(|run| commands.entry(&run.header.command).or_default().push(run));
    let describe_command = |(words, runs): (&[String], Vec<&Run>)| {
        let has_several = runs.len() > 1;
        let head = p(("The command, with storebench ", &runs[0].header.storebench, ":"));
        let several = has_several.then(|| p("Its plans, one after the other:"));
        let plans: Vec<Tag> = runs.into_iter().map(|run| plan(run, has_several)).collect();
        (head, code(command(words)), several, plans)
    };
    Html::new(commands.into_iter().map(describe_command).collect::<Vec<_>>())
}

/// The plan of a run, folded: it can be long.
fn plan(run: &Run, has_several: bool) -> Tag {
    let title = "The plan as it was run, with every value";
    let started = to_the_second(&run.header.started);
    let summary = if has_several { format!("{title}: {started}") } else { title.to_owned() };
    let [file, run_it] = ["plan.toml", "storebench run plan.toml"].map(|text| tag("code").with(text));
    let steps = p(("Save it as ", file, " and run ", run_it, ":"));
    folded(summary, (steps, code(without_names(&run.header.plan))))
}

/// A command line that a shell reads back as the same words, without user names.
pub(crate) fn command(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    let quoted = words.iter().map(|word| without_names(word)).map(|word| {
        match !word.is_empty() && word.chars().all(is_plain) {
            true => word,
            false => format!("'{}'", word.replace('\'', "'\\''")),
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_pasted() {
        let words = ["storebench", "run", "my plan.toml", "it's", "--at=ssd=/a"].map(str::to_owned);
        assert_eq!(command(&words), "storebench run 'my plan.toml' 'it'\\''s' --at=ssd=/a");
        let words =
            ["--remote=me@board", "me@alpha,you@beta", "redis.url=redis://me@box:1"].map(str::to_owned);
        assert_eq!(command(&words), "--remote=...@board ...@alpha,...@beta redis.url=redis://...@box:1");
    }
}
