//! The machine, the places, and how to do it again.

use storebench_core::result::{PlaceInfo, Run};
use storebench_core::units::{rough_bytes, three_digits};

use super::markup::{element, escape, pairs};
use crate::data::merge::Merged;
use crate::data::summary::{rotation, to_the_second};

/// What was run, where and when, in one line for each run.
pub fn subtitle(merged: &Merged<'_>) -> String {
    let lines: Vec<String> = merged
        .runs
        .iter()
        .map(|run| {
            let header = &run.header;
            let machine = &header.environment;
            let cpu = machine.cpu.as_deref().unwrap_or("unknown processor");
            escape(&format!(
                "{}: {cpu}, {} cores; study {}, {}",
                header.hardware,
                machine.cores,
                header.study,
                to_the_second(&header.started)
            ))
        })
        .collect();
    lines.join("<br>")
}

/// Machines and places.
pub fn html(merged: &Merged<'_>) -> String {
    let several = merged.runs.len() > 1;
    let of_run = |(index, run): (usize, &Run)| {
        let title = if several {
            format!("Run {index}: {}", run.header.hardware)
        } else {
            run.header.hardware.clone()
        };
        format!("{}{}{}", element("h3", &title), pairs(&environment(run)), places(run))
    };
    merged.runs.iter().enumerate().map(of_run).collect()
}

fn environment(run: &Run) -> Vec<(String, String)> {
    let machine = &run.header.environment;
    let unknown = || "unknown".to_owned();
    let text = |value: &Option<String>| value.clone().unwrap_or_else(unknown);
    let rows = [
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
    ];
    rows.map(|(name, value)| (name.to_owned(), value)).into()
}

fn places(run: &Run) -> String {
    let place = |place: &PlaceInfo| {
        let unknown = || "unknown".to_owned();
        let rotation = rotation(place, &run.header.environment);
        let device = [place.device.as_deref(), place.device_model.as_deref(), rotation];
        let device: Vec<&str> = device.into_iter().flatten().collect();
        let rows = [
            ("directory", place.path.clone()),
            ("file system", place.file_system.clone().unwrap_or_else(unknown)),
            ("mount options", place.mount_options.clone().unwrap_or_else(unknown)),
            ("device", if device.is_empty() { unknown() } else { device.join(", ") }),
            ("free at the start", rough_bytes(place.free_bytes as f64)),
        ];
        let rows: Vec<_> = rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        format!("{}{}", element("h4", &format!("Place {}", place.name)), pairs(&rows))
    };
    run.header.places.iter().map(place).collect()
}

/// The command and the plan of each run.
pub fn again(merged: &Merged<'_>) -> String {
    let of_run = |run: &Run| {
        format!(
            "<p>The command, with storebench {}:</p><div class=\"code\"><pre tabindex=\"0\">{}</pre></div>\
             <p>The plan as it was run, everything resolved; save it as <code>plan.toml</code> and run it with \
             <code>storebench run plan.toml</code>:</p><div class=\"code\"><pre tabindex=\"0\">{}</pre></div>",
            escape(&run.header.storebench),
            escape(&command(&run.header.command)),
            escape(&run.header.plan)
        )
    };
    merged.runs.iter().map(of_run).collect()
}

/// A command line that a shell reads back as the same words.
fn command(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    let quoted = words.iter().map(|word| match !word.is_empty() && word.chars().all(plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
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
    }
}
