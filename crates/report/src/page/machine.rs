//! The machine, the places, and how to do it again.

use storebench_core::result::{PlaceInfo, Run};
use storebench_core::units::{rough_bytes, three_digits};

use crate::data::merge::Merged;
use crate::data::summary::{rotation, to_the_second};
use crate::markup::{BREAK, Html, code, p, pairs, tag};

/// What was run, where and when, in one line for each run.
pub fn subtitle(merged: &Merged<'_>) -> Html {
    let lines = merged.runs.iter().map(|run| {
        let header = &run.header;
        let machine = &header.environment;
        let cpu = machine.cpu.as_deref().unwrap_or("unknown processor");
        format!(
            "{}: {cpu}, {} cores; study {}, {}",
            header.hardware,
            machine.cores,
            header.study,
            to_the_second(&header.started)
        )
    });
    Html::joined(lines, BREAK)
}

/// Machines and places.
pub fn html(merged: &Merged<'_>) -> Html {
    let several = merged.runs.len() > 1;
    let of_run = |(index, run): (usize, &Run)| {
        let title = if several {
            format!("Run {index}: {}", run.header.hardware)
        } else {
            run.header.hardware.clone()
        };
        (tag("h3").with(title), pairs(environment(run)), places(run))
    };
    Html::of(merged.runs.iter().enumerate().map(of_run).collect::<Vec<_>>())
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
        (tag("h4").with(("Place ", &place.name)), pairs(rows))
    };
    Html::of(run.header.places.iter().map(place).collect::<Vec<_>>())
}

/// The command and the plan of each run.
pub fn again(merged: &Merged<'_>) -> Html {
    let of_run = |run: &Run| {
        (
            p(("The command, with storebench ", &run.header.storebench, ":")),
            code(command(&run.header.command)),
            p((
                "The plan as it was run, with every value. Save it as ",
                tag("code").with("plan.toml"),
                " and run ",
                tag("code").with("storebench run plan.toml"),
                ":",
            )),
            code(&run.header.plan),
        )
    };
    Html::of(merged.runs.iter().map(of_run).collect::<Vec<_>>())
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
