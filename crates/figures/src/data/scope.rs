//! Notes on what figures include, and on everything that is unknown, with the reason.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use storebench_model::result::{Device, Measurements};
use storebench_model::units::{plural, rough_bytes};

use super::merge::Merged;
use super::{disks, machines};
use crate::column::Unit;

/// The notes for the runs, each a sentence or two.
pub fn notes(merged: &Merged<'_>) -> Vec<String> {
    let trials: Vec<(&str, &str, &Measurements)> = merged
        .runs
        .iter()
        .flat_map(|run| run.trials.iter().map(|trial| (run.header.hardware.as_str(), trial)))
        .filter_map(|(hardware, trial)| Some((hardware, trial.cell.store(), trial.ok()?)))
        .collect();
    let mut notes = Vec::new();
    let has_counters =
        |measured: &Measurements| measured.operations.iter().any(|operation| operation.counters.is_some());
    if trials.iter().any(|(_, _, measured)| has_counters(measured)) {
        notes.push(
            "Syncs are calls that wait until data is durable. Time in syncs is the time within them over the sum of the \
             latencies. Both are of the whole process, so an engine's own threads may bring it above 100 %. Written bytes \
             are those of write calls, not of memory maps. Removes have none, because what was removed is put back in \
             between."
                .to_owned(),
        );
    }
    notes.extend(machines::notes(merged));
    notes.extend(rest_notes(&trials));
    notes.extend(disks::notes(merged));
    notes.extend(device_notes(&trials));
    notes.extend(unknown_notes(&trials));
    notes
}

/// The device of the device's figures.
fn device_notes(trials: &[(&str, &str, &Measurements)]) -> Vec<String> {
    let mut devices: BTreeMap<(&str, &str), &Device> = BTreeMap::new();
    for (hardware, _, measured) in trials {
        if let Some(device) = &measured.device {
            devices.insert((hardware, &device.name), device);
        }
    }
    let note = |((hardware, name), device): (&(&str, &str), &&Device)| {
        let scope = if device.shared { "the whole of " } else { "" };
        let mut note = format!(
            "Write amplification is what {scope}{name} ({hardware}) wrote over the bytes of the records handed to the store, \
             keys included: until the last operation returned (burst), and until all was settled and synced."
        );
        if device.shared {
            let other_writes = device.idle_written_bytes_per_s.map_or_else(
                || "how much is unknown".to_owned(),
                |rate| format!("{}/s in the idle second before the run", rough_bytes(rate)),
            );
            note.push_str(&format!(" Others may write to it too: {other_writes}."));
        }
        note
    };
    devices.iter().map(note).collect()
}

/// Stores whose first operations include work left over from loading, though they were given time for it.
fn rest_notes(trials: &[(&str, &str, &Measurements)]) -> Vec<String> {
    let mut stores: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
    for (hardware, store, measured) in trials {
        let Some(rest) = measured.load.rest.filter(|rest| !rest.at_rest) else { continue };
        let (times, took_ns) = stores.entry((hardware, store)).or_default();
        (*times, *took_ns) = (*times + 1, rest.took_ns.max(*took_ns));
    }
    let note = |((hardware, store), (times, took_ns)): ((&str, &str), (u64, u64))| {
        let trials = plural(times, "trial");
        format!(
            "In {trials} on {hardware}, {store} was still at work {} after it had been loaded: its first operations \
             hold some of that.",
            Unit::Nanoseconds.show(took_ns as f64)
        )
    };
    stores.into_iter().map(note).collect()
}

/// Unknown figures, with reasons.
fn unknown_notes(trials: &[(&str, &str, &Measurements)]) -> Vec<String> {
    let mut kinds: IndexMap<(&str, &str, &str), u64> = IndexMap::new();
    for (hardware, _, measured) in trials {
        for unknown in &measured.unknown {
            *kinds.entry((hardware, &unknown.figure, &unknown.reason)).or_default() += 1;
        }
    }
    let note = |((hardware, figure, reason), times): ((&str, &str, &str), u64)| {
        let trials = plural(times, "trial");
        format!("Unknown on {hardware}, in {trials}: {figure} ({reason}).")
    };
    kinds.into_iter().map(note).collect()
}

#[cfg(test)]
mod tests {
    use storebench_host::run::Run;
    use storebench_model::result::{Rest, UnknownFigure};
    use storebench_samples::{Sample, run};

    use super::*;

    fn notes_of(run: Run) -> Vec<String> {
        notes(&Merged::new(&[run], &[]))
    }

    #[test]
    fn what_is_unknown_is_told_once_with_its_reason() {
        let mut run =
            run("box", &[Sample::new("lmdb"), Sample::new("redb"), Sample::new("null").failed("no")]);
        for measured in run.trials.iter_mut().filter_map(|trial| trial.measured.as_mut()) {
            measured.device = None;
            measured.unknown =
                vec![UnknownFigure { figure: "device".into(), reason: "tmpfs has none".into() }];
        }
        let notes = notes_of(run);
        assert!(notes.contains(&"Unknown on box, in 2 trials: device (tmpfs has none).".into()), "{notes:?}");
        assert!(!notes.iter().any(|note| note.contains("Write amplification")), "{notes:?}");
    }

    #[test]
    fn a_store_that_did_not_come_to_rest_is_named() {
        let mut run = run("box", &[Sample::new("lmdb"), Sample::new("leveldb")]);
        assert!(!notes_of(run.clone()).iter().any(|note| note.contains("still at work")));
        run.trials[1].measured.as_mut().unwrap().load.rest =
            Some(Rest { took_ns: 30_000_000_000, at_rest: false });
        let notes = notes_of(run);
        let note = "In 1 trial on box, leveldb was still at work 30.0 s after it had been loaded: its first operations hold \
                    some of that.";
        assert!(notes.contains(&note.to_owned()), "{notes:?}");
    }

    #[test]
    fn where_nothing_was_measured_nothing_is_noted() {
        assert_eq!(notes_of(run("box", &[Sample::new("lmdb").failed("no")])), Vec::<String>::new());
    }
}
